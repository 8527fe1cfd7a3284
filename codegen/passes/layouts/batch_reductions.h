// Places reductions one after another if their parts are in several warps and they do not need each other's results.
// The warps then exchange the parts of all of them at once, with one pair of barriers (Decision::kBatched,
// emit/lower/lower_reduce.cc).
//
//   %a = reduce %x …                  %y2 = mulf %y, %y
//   %u = divf %a, %n                  %a = reduce %x …
//   %y2 = mulf %y, %y                 %b = reduce %y2 … {batched}
//   %b = reduce %y2 …                 %u = divf %a, %n
//
// What a later reduction needs is moved in front of the first one, if it has no effect and reads no memory. Behind the pass `layouts`,
// which says where parts lie. Not thread-safe with other changes of the module.
#ifndef TILE_CODEGEN_PASSES_LAYOUTS_BATCH_REDUCTIONS_H_
#define TILE_CODEGEN_PASSES_LAYOUTS_BATCH_REDUCTIONS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status BatchReductions(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_LAYOUTS_BATCH_REDUCTIONS_H_
