#include "codegen/plan/staging/conversion_buffers.h"

#include <algorithm>
#include <utility>

#include "codegen/layout/access.h"
#include "codegen/layout/algebra.h"
#include "codegen/layout/shared.h"
#include "codegen/target/decisions.h"

namespace tile::codegen {
namespace {

constexpr int kVectorBits = 4;  // 16 elements, the vector of a thread
constexpr int kLaneBits = 5;
constexpr int kPhaseBits = 3;    // lanes that read or write 16 bytes at once
constexpr int kLineRowBits = 3;  // rows that a swizzle tells apart

void DecidePlaces(ir::Module* module, ir::Op* copy, int places) {
  Decide<Decision::kConversionBuffers>(module, copy, places);
  Decide(module, copy, PlanStage(*copy));
}

// Vectors to lanes, then warps, then registers, in this order.
Layout Dealt(absl::Span<const int64_t> shape, const Masks& vectors, int inner_shift, int num_warps) {
  Masks registers, lanes, warps;
  for (int i = 0; i < kVectorBits; ++i) registers.push_back(Mask{1} << (inner_shift + i));
  const auto warp_bits = static_cast<size_t>(__builtin_ctz(static_cast<unsigned>(num_warps)));
  for (Mask vector : vectors) {
    Masks& to = lanes.size() < kLaneBits ? lanes : warps.size() < warp_bits ? warps : registers;
    to.push_back(vector);
  }
  lanes.resize(kLaneBits, 0);
  warps.resize(warp_bits, 0);
  return Layout::FromBases(Shape(shape.begin(), shape.end()), std::move(registers), std::move(lanes), std::move(warps));
}

int64_t Wavefronts(const StagedTile& tile, const Layout& layout) {
  int64_t all = 0;
  for (const StagedTile& lies : {tile.AsLoaded(), tile}) {
    const Layout in_shared = InShared(lies, layout);
    all += QuickWavefronts(in_shared, Vectorise(in_shared, lies.element_bits, 0, 1 << kVectorBits), lies.element_bits);
  }
  return all;
}

}  // namespace

void WidenApart(ir::Module* module, ir::Op* copy) { DecidePlaces(module, copy, kConversionBuffers); }
void WidenInPlace(ir::Module* module, ir::Op* copy) { DecidePlaces(module, copy, 0); }

bool BringsToWiden(const ir::Op& copy) {
  const StageLayout stage = StageOf(copy);
  return std::any_of(stage.tiles.begin(), stage.tiles.end(), [](const StagedTile& t) { return t.widens(); });
}

Layout InShared(const StagedTile& tile, const Layout& layout) {
  const int rows = tile.other >= 0 ? layout.dim_shift(tile.other) : layout.offset_bits();
  return Compose(tile.Map(layout.dim_shift(tile.contiguous), rows, layout.offset_bits()), layout);
}

// Lanes of a phase have vectors of one row or of two, whose numbers differ such that the swizzle puts them into other banks.
Layout WideningLayout(const StagedTile& tile, absl::Span<const int64_t> shape, int num_warps) {
  const Layout whole = Layout::Replicated(shape, num_warps);
  const int inner_shift = whole.dim_shift(tile.contiguous);
  Masks inner, rows;
  for (int i = kVectorBits; i < whole.dim_bits(tile.contiguous); ++i) inner.push_back(Mask{1} << (inner_shift + i));
  for (int i = 0; tile.other >= 0 && i < whole.dim_bits(tile.other); ++i)
    rows.push_back(Mask{1} << (whole.dim_shift(tile.other) + i));
  Masks in_order = inner;
  in_order.insert(in_order.end(), rows.begin(), rows.end());
  Layout best = Dealt(shape, in_order, inner_shift, num_warps);
  int64_t least = Wavefronts(tile, best);
  const size_t of_row = std::min<size_t>(inner.size(), kPhaseBits - 1);
  const size_t row_bits = std::min<size_t>(rows.size(), kLineRowBits);
  for (Mask distance = 1; distance < Mask{1} << row_bits; ++distance) {
    Mask other = 0;
    for (size_t i = 0; i < row_bits; ++i) other ^= (distance >> i & 1) != 0 ? rows[i] : 0;
    Masks vectors(inner.begin(), inner.begin() + static_cast<int64_t>(of_row));
    vectors.push_back(other);
    const auto last =
        static_cast<size_t>(63 - __builtin_clzll(distance));  // which the others and the distance give, too
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i != last) vectors.push_back(rows[i]);
    }
    vectors.insert(vectors.end(), inner.begin() + static_cast<int64_t>(of_row), inner.end());
    Layout layout = Dealt(shape, vectors, inner_shift, num_warps);
    if (const int64_t n = Wavefronts(tile, layout); n < least) least = n, best = std::move(layout);
  }
  return best;
}

Layout WideningLayout(const StagedTile& tile, int num_warps) {
  return WideningLayout(tile, tile.load->result(0)->type().shape(), num_warps);
}

}  // namespace tile::codegen
