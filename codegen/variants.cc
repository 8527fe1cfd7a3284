#include "codegen/variants.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/passes/canonical/assume_aligned.h"
#include "codegen/plan/tma/host_integer.h"

namespace tile::codegen {
namespace {

using host::Const;
using host::Grid;
using host::Node;

void RequireNothing(const Compiled&, Joining, ir::Image*) {}
bool AlwaysUseful(const Compiled&, const ImagesSoFar&) { return true; }
bool OtherGrids(const ImagesSoFar& all) { return all.joining != Joining::kNever; }

// --- by descriptors --------------------------------------------------------------------------------------------------

bool TriedResizedK(const ImagesSoFar&) { return true; }
constexpr auto UsefulResizedK = AlwaysUseful;
constexpr auto RequireResizedK = RequireNothing;

bool TriedDescriptors(const ImagesSoFar& all) {
  const Compiled& first = *all.Of(VariantId::kResizedK);
  return !first.maps.empty() && first.widens_k;
}
constexpr auto UsefulDescriptors = AlwaysUseful;
constexpr auto RequireDescriptors = RequireNothing;

// Code without descriptors needs no other image beside it.
bool TriedGeneral(const ImagesSoFar& all) {
  const Compiled* last = all.Of(VariantId::kDescriptors);
  if (last == nullptr) last = all.Of(VariantId::kResizedK);
  return !last->maps.empty();
}
constexpr auto UsefulGeneral = AlwaysUseful;
constexpr auto RequireGeneral = RequireNothing;

// --- other grids -----------------------------------------------------------------------------------------------------

// The multiprocessor with most blocks ends sooner than with the program's own blocks.
ir::ImageRequirement EndsSooner(const Compiled& compiled) {
  const ir::ExprNode times = Node(ir::ExprOp::kMul);
  const auto cycles = [&](int64_t parts, int64_t joined, int64_t each, ir::Expr* e) {
    e->insert(e->end(), {Grid(0), Grid(1), times, Grid(2), times, Const(parts), times, Node(ir::ExprOp::kNumSms),
                         Const(joined), times, Node(ir::ExprOp::kCeilDiv), Const(each), times});
  };
  ir::Expr sooner;
  cycles(compiled.parts, compiled.joined[0] * compiled.joined[1], compiled.joined_cycles[1], &sooner);
  cycles(1, 1, compiled.joined_cycles[0], &sooner);
  sooner.push_back(Node(ir::ExprOp::kLess));
  return {std::move(sooner), absl::StrCat("the multiprocessor with most blocks ends sooner if blocks are ",
                                          compiled.parts > 1 ? "done in parts" : "joined")};
}

void RequireRegroupedGrid(const Compiled& compiled, Joining joining, ir::Image* image) {
  for (int d = 0; d < 2; ++d) {
    const int64_t joined = compiled.joined[static_cast<size_t>(d)];
    if (joined == 1) continue;
    image->requirements.push_back({{Grid(d), Const(joined), Node(ir::ExprOp::kMod), Const(0), Node(ir::ExprOp::kEqual)},
                                   absl::StrCat("the grid's size in dimension ", d, " is a multiple of ", joined)});
    if (const int64_t least = compiled.joined_least; least > 0 && joining == Joining::kWhereFaster) {
      image->requirements.push_back(
          {{Const(least - 1), Grid(d), Node(ir::ExprOp::kLess)},
           absl::StrCat("the grid's size in dimension ", d, " is at least ", least, ", so that joining blocks pays")});
    }
  }
  if (joining == Joining::kWhereFaster) image->requirements.push_back(EndsSooner(compiled));
}

constexpr auto TriedCoarsened = OtherGrids;
bool UsefulCoarsened(const Compiled& c, const ImagesSoFar&) { return !c.maps.empty() && (c.persistent || c.chain); }
constexpr auto RequireCoarsened = RequireRegroupedGrid;

constexpr auto TriedSplit = OtherGrids;
bool UsefulSplit(const Compiled& c, const ImagesSoFar&) { return (!c.maps.empty() && c.persistent) || c.makes_maps; }
constexpr auto RequireSplit = RequireRegroupedGrid;

constexpr auto TriedOneTileBlocks = OtherGrids;
constexpr auto UsefulOneTileBlocks = AlwaysUseful;
// Fewer blocks than multiprocessors are as good in a persistent loop.
void RequireOneTileBlocks(const Compiled& compiled, Joining joining, ir::Image* image) {
  if (joining != Joining::kWhereFaster) return;
  image->requirements.push_back({host::Join({Node(ir::ExprOp::kNumSms)}, compiled.spread, Node(ir::ExprOp::kLess)),
                                 "there are more tiles than multiprocessors"});
}

// --- alignment -------------------------------------------------------------------------------------------------------

// Images by descriptors require alignment already.
bool TriedAligned(const ImagesSoFar& all) {
  const Compiled& first = *all.Of(VariantId::kResizedK);
  const bool others = !first.maps.empty() || first.cluster_dim >= 0 || all.Of(VariantId::kCoarsened) != nullptr ||
                      all.Of(VariantId::kSplit) != nullptr;
  return !others && DependsOnAlignment(all.function);
}
bool UsefulAligned(const Compiled& c, const ImagesSoFar& all) {
  return !c.requirements.empty() && c.ptx != all.Of(VariantId::kResizedK)->ptx;
}
constexpr auto RequireAligned = RequireNothing;

#define TILE_PERMISSIONS(...) \
  { __VA_ARGS__ }
constexpr Variant kVariants[] = {
#define TILE_VARIANT(Name, place, most_spills, permissions, name, purpose)             \
  {VariantId::k##Name,           name,        purpose,      place,        most_spills, \
   TILE_PERMISSIONS permissions, Tried##Name, Useful##Name, Require##Name},
#include "codegen/variants.def"
};
#undef TILE_PERMISSIONS

}  // namespace

absl::Span<const Variant> AllVariants() { return kVariants; }

}  // namespace tile::codegen
