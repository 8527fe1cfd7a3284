#include "codegen/plan/staging/staging.h"

#include <algorithm>
#include <vector>

#include "codegen/gpu/op_views.h"
#include "codegen/target/decisions.h"
#include "ir/check.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr int64_t kSlotAlignment = 1024;  // of what is swizzled by 128 bytes
constexpr int64_t kLineBytes = 128;       // of all banks
constexpr int kRowBitsOfThread = 2;       // a thread multiplies so many neighbouring rows: MmaResultLayout

// The operand of a product that a result of a fetch is.
template <typename Tile>
Tile OperandThatIs(const Value* result, std::optional<Tile> (*find)(const Op&, int)) {
  const Op& mma = *result->uses()->owner;
  return find(mma, mma.operand(0) == result ? 0 : 1).value();
}

// What was decided about result i.
StagedTile StagedResult(const Op& fetch, int i) {
  const auto swizzles = DecisionOf<Decision::kSwizzle>(fetch), rotations = DecisionOf<Decision::kRowRotation>(fetch);
  TILE_CHECK(swizzles && rotations, "nobody decided how a stage lies");
  const auto at = static_cast<size_t>(i);
  return {OperandThatIs(fetch.result(i), LoadedOperandOf), static_cast<int>((*swizzles)[at]),
          static_cast<int>((*rotations)[at])};
}

}  // namespace

std::optional<StagedTile> StageOperand(const Op& mma, int operand) {
  const std::optional<LoadedOperand> loaded = LoadedOperandOf(mma, operand);
  if (!loaded) return std::nullopt;
  StagedTile s{*loaded};
  s.swizzle = static_cast<int>(std::min<int64_t>(kLineBytes, s.inner() * s.element_bits / 8));
  if (ReadsCopy(mma)) return s;
  if (const ir::Elem elem = mma.operand(operand)->type().elem(); elem == ir::Elem::kF32 || elem == ir::Elem::kF64) {
    // For fma. Lanes read neighbours of one k, which need no swizzle, or several k of rows that are four apart: chunks
    // change places with their numbers.
    if (!s.k_major) s.swizzle = 16;
    if (s.k_major) s.turned = std::min(kRowBitsOfThread, __builtin_ctzll(static_cast<uint64_t>(s.mn)));
  } else if (s.element_bits == 32 && !s.k_major) {
    // mma.sync reads these across, element by element: eight neighbours, two pieces of 16 bytes, of each of four k. So
    // every second row's number swaps pieces.
    s.turned = std::max(0, __builtin_ctzll(static_cast<uint64_t>(s.k)) - 1);
  }
  return s;
}

const Op* StageTileOf(const Value* v) {
  if (gpu::HeldWordsOp::Is(v->def()) || ir::FToFOp::Is(v->def())) return StageTileOf(v->def()->operand(0));
  if (gpu::PieceOp::Is(v->def()) && v->index() == 0) return v->def()->region(0)->back()->operand(0)->def();
  return gpu::StageTileOp::Is(v->def()) ? v->def() : nullptr;
}

StagedTile StoredTile(const Op& stage_tile, bool lhs) {
  const gpu::StageTileOp tile(stage_tile);
  const ir::Type type = stage_tile.result(0)->type();
  StagedTile t;
  t.lhs = lhs;
  t.k_major = (tile.dim() == 1) == t.lhs;
  t.element_bits = t.loaded_bits = ir::MemoryBits(type.elem());
  t.mn = type.shape()[t.lhs ? 0 : 1];
  t.k = type.shape()[t.lhs ? 1 : 0];
  t.contiguous = static_cast<int>(tile.dim());
  t.other = 1 - t.contiguous;
  t.swizzle = static_cast<int>(tile.swizzle());
  if (const auto rotation = DecisionOf<Decision::kRowRotation>(stage_tile)) t.turned = static_cast<int>((*rotation)[0]);
  return t;
}

StagedTile TileOfCopy(const Op& copy_async) {
  const Op& yield = *copy_async.region(0)->back();
  const StagedTile place = StoredTile(*yield.operand(1)->def(), true);
  // As an operand of which the place's rows go along K.
  StagedTile t{LoadedOperandOf(yield.operand(0), place.contiguous == 1).value()};
  t.swizzle = place.swizzle;
  t.turned = place.turned;
  return t;
}

CopiedPart PartOfCopy(const Op& copy_async) {
  const int64_t part = StoredTile(*copy_async.region(0)->back()->operand(1)->def(), true).inner();
  const auto offsets = DecisionOf<Decision::kOffsets>(copy_async);
  return {static_cast<int>(offsets ? (*offsets)[0] / part : 0),
          static_cast<int>(TileOfCopy(copy_async).inner() / part)};
}

std::optional<StagedTile> StagedOperandOf(const Op& mma, int operand) {
  const Value* v = mma.operand(operand);
  if (const Op* tile = StageTileOf(v)) {
    StagedTile stored = StoredTile(*tile, operand == 0);
    if (ir::FToFOp::Is(v->def())) stored.rounded = v->def();
    return stored;
  }
  return IsFetch(v->def()) ? std::optional(StagedResult(*v->def(), v->index())) : std::nullopt;
}

StagedTile TileOfLoad(const Op& tma_load) {
  const gpu::TmaLoadOp load(tma_load);
  const ir::Type view = load.view()->type();
  const auto size = [&](int64_t dim) { return dim < 0 ? 1 : view.shape()[static_cast<size_t>(dim)]; };
  StagedTile t;
  t.lhs = t.k_major = true;
  t.element_bits = t.loaded_bits = ir::MemoryBits(view.elem());
  t.contiguous = static_cast<int>(load.dims()[0]);
  t.other = static_cast<int>(load.dims()[1]);
  t.k = size(t.contiguous);
  t.mn = size(t.other);
  t.swizzle = static_cast<int>(load.swizzle());
  return t;
}

bool StagedTile::fits_tma() const { return swizzle >= 32 && chunk_bytes() % kSlotAlignment == 0; }

StagedTile StagedTile::AsLoaded() const {
  StagedTile loaded = *this;
  loaded.element_bits = loaded_bits;
  loaded.rounded = nullptr;
  loaded.swizzle = static_cast<int>(std::min<int64_t>(kLineBytes, inner() * loaded_bits / 8));
  return loaded;
}

StagedTile StagedTile::Part(int parts) const {
  StagedTile part = *this;
  (k_major ? part.k : part.mn) /= parts;
  return part;
}

Gf2Map StagedTile::Map(int from_contiguous, int from_other, int bits) const {
  const SharedMap stored = TmaSwizzle({rows(), inner()}, element_bits, swizzle);
  const int inner_bits = __builtin_ctzll(static_cast<uint64_t>(inner()));
  const int row_bits = stored.index.in_bits() - inner_bits;
  Masks columns;
  for (int i = 0; i < bits; ++i) {
    Mask at = 0;
    if (i >= from_contiguous && i < from_contiguous + inner_bits) at = Mask{1} << (i - from_contiguous);
    if (i >= from_other && i < from_other + row_bits)
      at = Mask{1} << ((i - from_other + row_bits - turned) % row_bits + inner_bits);
    columns.push_back(stored.index.Apply(at));
  }
  return Gf2Map(std::move(columns), stored.index.out_bits());
}

SharedMap StagedTile::OperandMap() const {
  // The operand is m x k or k x n: its last dimension has the low bits.
  const bool contiguous_last = k_major == lhs;
  const int last = __builtin_ctzll(static_cast<uint64_t>(lhs ? k : mn)),
            first = __builtin_ctzll(static_cast<uint64_t>(lhs ? mn : k));
  return {contiguous_last ? Map(0, last, first + last) : Map(last, 0, first + last), element_bits};
}

const Op* FetchOf(const Op& mma) {
  const Op* fetch = mma.operand(0)->def();
  return IsGpuOp(fetch, GpuOpcode::kFetchAhead) && mma.operand(1)->def() == fetch ? fetch : nullptr;
}

const Op* CopyOf(const Op& mma, int operand) {
  const Op* copy = mma.operand(operand)->def();
  return IsGpuOp(copy, GpuOpcode::kCopyAhead) ? copy : nullptr;
}

bool ReadsCopy(const Op& op) { return IsGpuOp(&op, GpuOpcode::kConvertLayout) && CopyOf(op, 0) != nullptr; }

namespace {

const Op* FindIn(const Op& loop, GpuOpcode code) {
  // Conversions of what is carried may stand before it.
  for (const Op* op : *loop.region(0)) {
    if (IsGpuOp(op, code)) return op;
  }
  return nullptr;
}

}  // namespace

const Op* FetchIn(const Op& loop) { return FindIn(loop, GpuOpcode::kFetchAhead); }
const Op* CopyIn(const Op& loop) { return FindIn(loop, GpuOpcode::kCopyAhead); }

namespace {

// An address that is computed from that of an overlay_stages.
bool IsOverlaid(const Value* address) {
  const Op* def = address->def();
  if (gpu::OverlayStagesOp::Is(def)) return true;
  return ir::AddiOp::Is(def) && (IsOverlaid(def->operand(0)) || IsOverlaid(def->operand(1)));
}

}  // namespace

bool CopiesAhead(const Op& loop) {
  for (const Op* op : *loop.region(0)) {
    const Op* tile = gpu::PieceOp::Is(op) ? StageTileOf(op->result(0)) : op;
    if (gpu::StageTileOp::Is(tile) && IsOverlaid(gpu::StageTileOp(tile).address())) return true;
  }
  return CopyIn(loop) != nullptr;
}

int StageLayout::pieces() const {
  int all = 0;
  for (size_t i = 0; i < tiles.size(); ++i) all += pieces(i);
  return all;
}

bool StageLayout::shares_slot(size_t i) const {
  return std::find(offsets.begin(), offsets.begin() + static_cast<int64_t>(i), offsets[i]) !=
         offsets.begin() + static_cast<int64_t>(i);
}

namespace {

int64_t RoundUp(int64_t bytes, int64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

// Of all tiles, as they are loaded and as they are read.
int64_t AlignmentOf(const StageLayout& stage) {
  int64_t most = 1;
  for (size_t i = 0; i < stage.tiles.size(); ++i)
    most = std::max({most, stage.tiles[i].alignment(), stage.InStage(i).alignment()});
  return most;
}

// The places behind the stages.
void PlaceWidened(const Op& fetch, StageLayout* stage) {
  stage->conversion_buffers = static_cast<int>(DecisionOf<Decision::kConversionBuffers>(fetch).value_or(0));
  for (size_t i = 0; i < stage->tiles.size(); ++i) {
    const bool wide = stage->widens_apart(i);
    if (wide) stage->wide_bytes = RoundUp(stage->wide_bytes, stage->tiles[i].alignment());
    stage->wide_offsets.push_back(wide ? stage->wide_bytes : -1);
    if (wide) stage->wide_bytes += stage->tiles[i].slot_bytes();
  }
  stage->wide_bytes = RoundUp(stage->wide_bytes, AlignmentOf(*stage));
}

}  // namespace

StageLayout PlanStage(const Op& fetch) {
  StageLayout stage;
  for (int i = 0; i < fetch.num_results(); ++i) {
    stage.tiles.push_back(OperandThatIs(fetch.result(i), StageOperand));
    if (IsGpuOp(&fetch, GpuOpcode::kFetchAhead)) stage.tiles.back().turned = 0;  // TMA keeps the order of rows
  }
  PlaceWidened(fetch, &stage);
  for (size_t i = 0; i < stage.tiles.size(); ++i) {
    const StagedTile& tile = stage.tiles[i];
    const auto end = stage.tiles.begin() + static_cast<int64_t>(i);
    const auto same = std::find_if(stage.tiles.begin(), end, [&](const StagedTile& t) { return tile.lies_like(t); });
    const bool shared = same != end;
    if (!shared) stage.bytes = RoundUp(stage.bytes, stage.InStage(i).alignment());
    stage.offsets.push_back(shared ? stage.offsets[static_cast<size_t>(same - stage.tiles.begin())] : stage.bytes);
    if (!shared) stage.bytes += stage.InStage(i).slot_bytes();
  }
  stage.bytes = RoundUp(stage.bytes, AlignmentOf(stage));
  return stage;
}

void Decide(ir::Module* module, Op* fetch, const StageLayout& stage) {
  std::vector<int64_t> swizzles, rotations;
  for (const StagedTile& tile : stage.tiles) {
    swizzles.push_back(tile.swizzle);
    rotations.push_back(tile.turned);
  }
  Decide<Decision::kSwizzle>(module, fetch, swizzles);
  Decide<Decision::kRowRotation>(module, fetch, rotations);
  Decide<Decision::kOffsets>(module, fetch, stage.offsets);
}

void DecideStages(ir::Module* module, ir::Function* function) {
  ir::Walk(function->body(), [&](Op* op) {
    if (IsFetch(op) && !DecisionOf<Decision::kOffsets>(*op)) Decide(module, op, PlanStage(*op));
  });
}

StageLayout StageOf(const Op& fetch) {
  const auto offsets = DecisionOf<Decision::kOffsets>(fetch);
  TILE_CHECK(offsets, "nobody decided how a stage lies");
  StageLayout stage;
  stage.piece_bytes = DecisionOf<Decision::kPieceBytes>(fetch).value_or(0);
  for (int i = 0; i < fetch.num_results(); ++i) {
    stage.tiles.push_back(StagedResult(fetch, i));
    stage.offsets.push_back((*offsets)[static_cast<size_t>(i)]);
  }
  PlaceWidened(fetch, &stage);
  for (size_t i = 0; i < stage.tiles.size(); ++i)
    stage.bytes = std::max(stage.bytes, stage.offsets[i] + stage.InStage(i).slot_bytes());
  stage.bytes = RoundUp(stage.bytes, AlignmentOf(stage));
  return stage;
}

}  // namespace tile::codegen
