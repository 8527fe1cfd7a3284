// Loads through tiles of pointers that cp.async can bring to a stage of shared memory: which neighbours move together, and in
// which thread.
//
//   absl::StatusOr<PointerCopy> copy = PlanPointerCopy(module, &facts, load);   // the message says which fact is missing
//   Decide(module, load, *copy);                                                // once, by the pass that copies ahead
//   if (auto copy = PointerCopyOf(*load)) …                                     // from then on
//   Layout lies = CopyLayout(shape, copy->dim, other, element_bits, num_warps);
//
// cp.async moves 16, 8 or 4 bytes from an address that is a multiple of as many, or writes zeros in their place. So the facts must
// say, of the pointers, that they are neighbours in aligned groups, and of the mask, that it is equal for such a group; nothing is
// tested at run time. What a mask leaves out must be zero. Pure functions, except Decide.
#ifndef TILE_CODEGEN_PLAN_STAGING_POINTER_COPY_H_
#define TILE_CODEGEN_PLAN_STAGING_POINTER_COPY_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "codegen/analysis/facts.h"
#include "codegen/layout/layout.h"
#include "ir/module.h"

namespace tile::codegen {

struct PointerCopy {
  int dim = 0;     // of the load's tile, along which elements are neighbours
  int bytes = 16;  // of a copy: 4, 8, 16
};

// Of a load_ptr_tko of the module.
absl::StatusOr<PointerCopy> PlanPointerCopy(const ir::Module& module, Facts* facts, const ir::Op& load);
void Decide(ir::Module* module, ir::Op* load, const PointerCopy& copy);
// Nullopt: nobody decided so, or it is another operation.
std::optional<PointerCopy> PointerCopyOf(const ir::Op& load);

// Which thread copies what to a stage: neighbouring lanes take neighbouring vectors of 16 bytes along dimension `contiguous`, then
// along `other` (-1: there is none). A tile with fewer vectors than threads is held several times.
Layout CopyLayout(absl::Span<const int64_t> shape, int contiguous, int other, int element_bits, int num_warps);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_STAGING_POINTER_COPY_H_
