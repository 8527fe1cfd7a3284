#include "codegen/plan/staging/loaded_operand.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "codegen/analysis/view_dim.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/staging/pointer_copy.h"
#include "ir/float.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Value;

constexpr int64_t kLeastRowBytes = 16;   // what cp.async and TMA move at once
constexpr int64_t kSlotAlignment = 128;  // a line of all banks

// The value inside of a fetch that a result stands for.
const Value* Inside(const Value* v) { return IsFetch(v->def()) ? v->def()->region(0)->back()->operand(v->index()) : v; }

// A conversion after which elements lie where they were, or take twice the place, which was kept for them.
bool IsDoneInPlace(const Op& op) {
  if (op.opcode() != Opcode::kFToF) return false;
  const int from = ir::MemoryBits(op.operand(0)->type().elem()), to = ir::MemoryBits(op.result(0)->type().elem());
  return from == to || (from == 8 && to == 16);
}

// Finds the load and the conversion, and which dimension of the load's tile each dimension of the value runs along;
// false if something else happens to it.
bool TraceToLoad(const Value* v, LoadedOperand* s, std::vector<int>* dims) {
  std::vector<const Op*> chain;
  const Op* def = v->def();
  for (; def != nullptr; def = def->operand(0)->def()) {
    if (def->opcode() == Opcode::kPermute || def->opcode() == Opcode::kReshape) {
      chain.push_back(def);
    } else if (IsDoneInPlace(*def) && s->rounded == nullptr) {
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

// Finds the tile's dimensions along which memory is known to be contiguous; null: the load brings no tile that can be moved to shared memory.
std::function<bool(int)> UnitDims(const Op& load) {
  if (ir::OrderingOf(load) != ir::MemoryOrdering::kWeak) return nullptr;
  if (ir::LoadPtrOp::Is(&load)) {
    const std::optional<PointerCopy> copy = PointerCopyOf(load);
    if (!copy) return nullptr;
    return [dim = copy->dim](int d) { return d == dim; };
  }
  const ir::Type view = ir::LoadViewOp(load).view()->type(), tensor = view.tensor();
  if (!view.is_grid_view() || tensor->space != ir::MemorySpace::kGlobal) return nullptr;
  if (view->padding && ir::PaddingBits(view.elem(), *view->padding) != 0) return nullptr;
  return [view](int d) { return d >= 0 && HasUnitStride(view, d); };
}

}  // namespace

std::optional<LoadedOperand> LoadedOperandOf(const Op& mma, int operand) {
  return LoadedOperandOf(mma.operand(operand), operand == 0);
}

std::optional<LoadedOperand> LoadedOperandOf(const Value* v, bool lhs) {
  LoadedOperand s;
  std::vector<int> dims;
  if (v->type().rank() != 2 || !TraceToLoad(Inside(v), &s, &dims)) return std::nullopt;
  const std::function<bool(int)> is_unit = UnitDims(*s.load);
  if (is_unit == nullptr) return std::nullopt;
  s.lhs = lhs;
  s.loaded_bits = ir::MemoryBits(s.load->result(0)->type().elem());
  s.element_bits = std::max(s.loaded_bits, ir::MemoryBits(v->type().elem()));
  if (s.loaded_bits < 8) return std::nullopt;
  const int k_dim = s.lhs ? dims[1] : dims[0], mn_dim = s.lhs ? dims[0] : dims[1];
  s.k = v->type().shape()[s.lhs ? 1 : 0];
  s.mn = v->type().shape()[s.lhs ? 0 : 1];
  s.k_major = is_unit(k_dim);
  if (!s.k_major && !is_unit(mn_dim)) return std::nullopt;
  s.contiguous = s.k_major ? k_dim : mn_dim;
  s.other = s.k_major ? mn_dim : k_dim;
  if (s.inner() * s.loaded_bits / 8 < kLeastRowBytes) return std::nullopt;
  return s;
}

bool LoadedOperand::tma_converts() const {
  return rounded == nullptr || (rounded->operand(0)->type().elem() == ir::Elem::kF32 &&
                                rounded->result(0)->type().elem() == ir::Elem::kTF32 &&
                                ir::FToFOp(*rounded).rounding() == ir::Rounding::kNearestEven);
}

int64_t LoadedOperand::slot_bytes() const { return (bytes() + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment; }

}  // namespace tile::codegen
