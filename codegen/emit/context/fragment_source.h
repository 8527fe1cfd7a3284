// Operands of matrix instructions, word by word, wherever they come from. Internal to codegen/emit.
//
//   FragmentSource& a = …;               // its fragments are MmaLayout(tile, operand) of the product's plan
//   a.Write(scratch);                    // if scratch_bytes() > 0: memory of the product, a barrier behind it
//   a.Word(0)                            // i32: registers 0 and 1 of that layout, if they have 16 bits
//
// A source emits its code when it is asked: what a step along K needs is read just before, so that it takes few registers.
// Not thread-safe.
#ifndef TILE_CODEGEN_EMIT_CONTEXT_FRAGMENT_SOURCE_H_
#define TILE_CODEGEN_EMIT_CONTEXT_FRAGMENT_SOURCE_H_

#include <cstdint>
#include <memory>

#include "codegen/emit/context/emitter.h"
#include "codegen/layout/shared.h"

namespace tile::codegen {

class FragmentSource {
 public:
  virtual ~FragmentSource() = default;
  // Shared memory that Write fills, a multiple of 128; 0: none, and no barrier is needed before Word.
  virtual uint64_t scratch_bytes() const { return 0; }
  virtual void Write(llvm::Value* /*scratch*/) {}
  // 32 bits: neighbouring registers of the fragment layout from register w * (32 / element bits) on, the first lowest.
  virtual llvm::Value* Word(int w) = 0;
};

// One of so many equal parts of an operand along K, its dimension `dim`.
struct PartAlongK {
  int dim = 0;
  int64_t parts = 1, number = 0;
};
// The tile's registers, or those of a part, whose fragments the layout is then; through shared memory of the product.
std::unique_ptr<FragmentSource> FragmentsThroughShared(Emitter& e, const ir::Value* v, const Layout& fragment,
                                                       const PartAlongK& part = {});

// A tile that is in shared memory already, from `base` on, each element where the map says.
std::unique_ptr<FragmentSource> FragmentsInShared(Emitter& e, ir::Elem elem, const SharedMap& map, llvm::Value* base,
                                                  const Layout& fragment);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_FRAGMENT_SOURCE_H_
