// Copies: several registers, lanes or warps may hold one element. What has an effect, or what may give each asker another
// answer (a strong load, an atomic), is done for the first copy only, and its answer handed to the others.
//
//   Copies copies(layout);
//   for (int r : copies.firsts()) out[r] = … predicated on e.threads().HoldsFirstCopy(layout) …;
//   out = copies.Share(e, out);       // all copies, the same values
#ifndef TILE_CODEGEN_EMIT_CONTEXT_COPIES_H_
#define TILE_CODEGEN_EMIT_CONTEXT_COPIES_H_

#include <vector>

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

class Copies {
 public:
  explicit Copies(const Layout& layout);

  // Registers that repeat no earlier one.
  const std::vector<int>& firsts() const { return firsts_; }
  // Threads hold copies of other threads' elements.
  bool across_threads() const { return lane_mask_ != 0 || warp_mask_ != 0; }

  // Fills registers that repeat others; the rest of `r` is given.
  Registers Repeat(Registers r) const;
  // The values of the first copies in all copies. By shuffles if each copy is a lane away, else through shared memory.
  Registers Share(Emitter& e, Registers r) const;

 private:
  const Layout& layout_;
  std::vector<int> firsts_;
  std::vector<int> same_as_;  // per register the first that holds its element in the same thread
  Mask lane_mask_, warp_mask_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_COPIES_H_
