#include "codegen/plan/staging.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "codegen/analysis/view_dim.h"
#include "codegen/plan/pointer_copy.h"
#include "codegen/target/decisions.h"
#include "codegen/target/gpu_ops.h"
#include "ir/check.h"
#include "ir/float.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Value;

constexpr int64_t kSlotAlignment = 1024;  // of what is swizzled by 128 bytes
constexpr int64_t kLineBytes = 128;       // of all banks
constexpr int kRowBitsOfThread = 2;       // a thread multiplies so many neighbouring rows: MmaResultLayout

// The value inside of a fetch that a result stands for.
const Value* Inside(const Value* v) { return IsFetch(v->def()) ? v->def()->region(0)->back()->operand(v->index()) : v; }

// A conversion after which elements lie where they were.
bool KeepsSize(const Op& op) {
  return op.opcode() == Opcode::kFToF &&
         ir::MemoryBits(op.operand(0)->type().elem()) == ir::MemoryBits(op.result(0)->type().elem());
}

// Finds the load and the conversion, and which dimension of the load's tile each dimension of the value runs along;
// false if something else happens to it.
bool TraceToLoad(const Value* v, StagedTile* s, std::vector<int>* dims) {
  std::vector<const Op*> chain;
  const Op* def = v->def();
  for (; def != nullptr; def = def->operand(0)->def()) {
    if (def->opcode() == Opcode::kPermute || def->opcode() == Opcode::kReshape) {
      chain.push_back(def);
    } else if (KeepsSize(*def) && s->rounded == nullptr) {
      s->rounded = def;
    } else {
      break;
    }
  }
  if (!ir::LoadViewOp::Is(def) && !ir::LoadPtrOp::Is(def)) return false;
  s->load = def;
  dims->clear();
  const ir::Type tile = def->result(0)->type();
  for (int d = 0; d < tile.rank(); ++d) dims->push_back(tile.shape()[d] == 1 ? -1 : d);
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    const Op* op = *it;
    std::vector<int> next;
    if (const auto permute = ir::As<ir::PermuteOp>(op)) {
      for (int64_t d : permute->permutation()) next.push_back((*dims)[static_cast<size_t>(d)]);
    } else {
      // Only dimensions of size 1 may come or go.
      std::vector<int> real;
      for (int d : *dims) {
        if (d >= 0) real.push_back(d);
      }
      size_t at = 0;
      for (int64_t size : op->result(0)->type().shape()) {
        if (size == 1) {
          next.push_back(-1);
          continue;
        }
        if (at == real.size() || tile.shape()[static_cast<size_t>(real[at])] != size) return false;
        next.push_back(real[at++]);
      }
      if (at != real.size()) return false;
    }
    *dims = std::move(next);
  }
  return true;
}

// Finds the tile's dimensions along which memory is known to be contiguous; null: the load brings no tile that can lie in a stage.
std::function<bool(int)> UnitDims(const Op& load) {
  if (ir::OrderingOf(load) != ir::MemoryOrdering::kWeak) return nullptr;
  if (ir::LoadPtrOp::Is(&load)) {
    const std::optional<PointerCopy> copy = PointerCopyOf(load);
    if (!copy) return nullptr;
    return [dim = copy->dim](int d) { return d == dim; };
  }
  const ir::Type view = ir::LoadViewOp(load).view()->type(), tensor = view.tensor();
  if (view.kind() != ir::TypeKind::kPartitionView || tensor->space != ir::MemorySpace::kGlobal) return nullptr;
  if (view->padding && ir::PaddingBits(view.elem(), *view->padding) != 0) return nullptr;
  return [view](int d) { return d >= 0 && HasUnitStride(view, d); };
}

// All of StageOperand but how the tile lies, which follows from the program.
std::optional<StagedTile> FindStaged(const Op& mma, int operand) {
  StagedTile s;
  std::vector<int> dims;
  const Value* v = mma.operand(operand);
  if (v->type().rank() != 2 || !TraceToLoad(Inside(v), &s, &dims)) return std::nullopt;
  const std::function<bool(int)> is_unit = UnitDims(*s.load);
  if (is_unit == nullptr) return std::nullopt;
  s.lhs = operand == 0;
  s.element_bits = ir::MemoryBits(s.load->result(0)->type().elem());
  if (s.element_bits < 8) return std::nullopt;
  const int k_dim = s.lhs ? dims[1] : dims[0], mn_dim = s.lhs ? dims[0] : dims[1];
  s.k = v->type().shape()[s.lhs ? 1 : 0];
  s.mn = v->type().shape()[s.lhs ? 0 : 1];
  s.k_major = is_unit(k_dim);
  if (!s.k_major && !is_unit(mn_dim)) return std::nullopt;
  s.contiguous = s.k_major ? k_dim : mn_dim;
  s.other = s.k_major ? mn_dim : k_dim;
  return s;
}

// The operand of a product that result i of a fetch is.
std::optional<StagedTile> FindStagedResult(const Op& fetch, int i, std::optional<StagedTile> (*find)(const Op&, int)) {
  const Op& mma = *fetch.result(i)->uses()->owner;
  return find(mma, mma.operand(0) == fetch.result(i) ? 0 : 1);
}

}  // namespace

std::optional<StagedTile> StageOperand(const Op& mma, int operand) {
  std::optional<StagedTile> staged = FindStaged(mma, operand);
  if (!staged) return std::nullopt;
  StagedTile& s = *staged;
  s.swizzle = static_cast<int>(std::min<int64_t>(kLineBytes, s.inner() * s.element_bits / 8));
  if (s.swizzle < 16) return std::nullopt;
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
  return staged;
}

bool StagedTile::fits_tma() const { return swizzle >= 32 && chunk_bytes() % kSlotAlignment == 0; }

bool StagedTile::tma_converts() const {
  return rounded == nullptr || (rounded->operand(0)->type().elem() == ir::Elem::kF32 &&
                                rounded->result(0)->type().elem() == ir::Elem::kTF32 &&
                                ir::FToFOp(*rounded).rounding() == ir::Rounding::kNearestEven);
}

int64_t StagedTile::slot_bytes() const { return (bytes() + kLineBytes - 1) / kLineBytes * kLineBytes; }

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

bool StageLayout::shares_slot(size_t i) const {
  return std::find(offsets.begin(), offsets.begin() + static_cast<int64_t>(i), offsets[i]) !=
         offsets.begin() + static_cast<int64_t>(i);
}

StageLayout PlanStage(const Op& fetch) {
  StageLayout stage;
  for (int i = 0; i < fetch.num_results(); ++i) {
    StagedTile tile = *FindStagedResult(fetch, i, StageOperand);
    if (IsGpuOp(&fetch, GpuOpcode::kFetchAhead)) tile.turned = 0;  // TMA keeps the order of rows
    const auto same =
        std::find_if(stage.tiles.begin(), stage.tiles.end(), [&](const StagedTile& t) { return tile.lies_like(t); });
    const bool shared = same != stage.tiles.end();
    stage.offsets.push_back(shared ? stage.offsets[static_cast<size_t>(same - stage.tiles.begin())] : stage.bytes);
    stage.tiles.push_back(tile);
    if (!shared) stage.bytes += tile.slot_bytes();
  }
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
  const auto swizzles = DecisionOf<Decision::kSwizzle>(fetch), rotations = DecisionOf<Decision::kRowRotation>(fetch),
             offsets = DecisionOf<Decision::kOffsets>(fetch);
  TILE_CHECK(swizzles && rotations && offsets, "nobody decided how a stage lies");
  StageLayout stage;
  for (int i = 0; i < fetch.num_results(); ++i) {
    const auto u = static_cast<size_t>(i);
    StagedTile tile = *FindStagedResult(fetch, i, FindStaged);
    tile.swizzle = static_cast<int>((*swizzles)[u]);
    tile.turned = static_cast<int>((*rotations)[u]);
    stage.offsets.push_back((*offsets)[u]);
    stage.bytes = std::max(stage.bytes, stage.offsets.back() + tile.slot_bytes());
    stage.tiles.push_back(tile);
  }
  return stage;
}

}  // namespace tile::codegen
