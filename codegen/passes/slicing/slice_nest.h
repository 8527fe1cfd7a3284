// A `for` that carries large tiles, done once for each slice: the loops change places. Internal to codegen/passes.
//
//   if (WhyNotNest(loop).empty() && WordsOfNest(loop) > words) …
//
// Before:                                             After:
//   %sum = for %i … iter_values(%t = %zeros) {          for %s in (0 to 4) {
//     %x = load_view_tko weak %a[%i]  (32x1024)           %part = for %i … iter_values(%t = zeros) {
//     continue addf %t, %x                                  %x = load_view_tko weak %a.slice[%i, %s]  (32x256)
//   }                                                       continue addf %t, %x
//   %all = reduce %sum dim=0 …                            }
//   store_view_tko weak %all, %b[0]                       store_view_tko weak (reduce %part dim=0 …), %b.slice[%s]
//                                                       }
//
// Such a loop loads and computes, and nothing else: what it loads may be loaded later, and parts of it again. Scalars and small tiles of the
// body are computed again for each slice. It stays whole if it stores, updates memory, holds products or branches, if a scalar that it carries is
// needed after it, or if it scans along the dimension of the slices.
#ifndef TILE_CODEGEN_PASSES_SLICING_SLICE_NEST_H_
#define TILE_CODEGEN_PASSES_SLICING_SLICE_NEST_H_

#include <cstdint>
#include <string>

#include "codegen/passes/slicing/slice_code.h"
#include "ir/module.h"

namespace tile::codegen {

// "": slices can go through the `for`.
std::string WhyNotNest(const ir::Op& loop);
// Registers over all threads of the tiles that it carries, and of those that an iteration loads; 0: it carries none.
int64_t WordsOfNest(const ir::Op& loop);

// The value is an argument of the block, or is computed in it.
bool StandsIn(const ir::Value& v, const ir::Block& body);
// The operation of the block that this one is, or stands in.
const ir::Op* AtIn(const ir::Block& block, const ir::Op& op);
// Tokens of outside that the token of the body waits for.
Values OuterTokens(ir::Value* token, const ir::Block& body);

// The loop goes, unless somebody uses what it computes. What waited for it by a token waits for what it waited for.
void EraseNest(ir::Module* module, ir::Op* loop);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_SLICING_SLICE_NEST_H_
