// Addresses and indices from integers that wrapped around, for --check=full: `offset x, i * n` where i * n does not fit
// i32 reads some element of x, only not the one that was meant. That is defined, so it is a warning.
//
// An element is marked when addi, subi, muli, negi, shli or trunci, without an overflow promise, give a result that
// fits neither as signed nor as unsigned number. Marks go with the values (check_poison.h), through sums and products,
// selects, reshapes and loops. What bounds a value drops them (andi, remi, shri, mini and the like: hashes and random
// numbers wrap and mean it), and so do memory, reductions and scans. A mark that reaches the address of an active
// element, an index of a view, or the base or a stride of a tensor_view is told, once for each operation that wrapped.
//
// Only operations whose results can reach an address are looked at, which the program's text tells; bodies of reduce
// and scan are not. Not thread-safe.
#ifndef TILE_VM_CHECK_CHECK_WRAPS_H_
#define TILE_VM_CHECK_CHECK_WRAPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "vm/check/check_poison.h"

namespace tile::vm {

class Wraps {
 public:
  explicit Wraps(const Code& code);

  // Before an instruction, by its number; the shadow holds the marks of the block. False after a trap of the operation
  // itself.
  bool Before(BlockState& b, size_t instr, const InstrNote& note, FrameShadow& marks);

 private:
  // An operation that wrapped, and how it first did.
  struct Source {
    const ir::Op* op;
    std::string text;
  };
  struct Part {
    bool may_wrap = false, addresses = false;
  };

  void MarkWrapped(BlockState& b, const OpPlaces& o, FrameShadow& marks);
  void WarnOfUse(BlockState& b, const OpPlaces& o, const FrameShadow& marks);
  uint8_t Number(const ir::Op& op, absl::FunctionRef<std::string()> text);

  const Code& code_;
  Poison flow_;
  std::vector<Part> parts_;      // by instruction
  std::vector<Source> sources_;  // by mark; 0 is unused
};

}  // namespace tile::vm

#endif  // TILE_VM_CHECK_CHECK_WRAPS_H_
