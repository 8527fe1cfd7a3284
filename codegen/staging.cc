#include "codegen/staging.h"

#include <algorithm>
#include <vector>

#include "codegen/gpu_ops.h"
#include "ir/float.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Value;

constexpr int64_t kSlotAlignment = 1024;  // of what is swizzled by 128 bytes

bool IsFetch(const Op* op) {
  return op != nullptr && IsGpuOp(*op->info()) && static_cast<int>(op->opcode()) == static_cast<int>(GpuOpcode::kFetchAhead);
}

// The value inside of a fetch_ahead that a result stands for.
const Value* Inside(const Value* v) {
  return IsFetch(v->def()) ? v->def()->region(0)->back()->operand(v->index()) : v;
}

// Which dimension of the load's tile each dimension of the value runs along; false if something else happens to it.
bool TraceToLoad(const Value* v, const Op** load, std::vector<int>* dims) {
  std::vector<const Op*> chain;
  const Op* def = v->def();
  while (def != nullptr && (def->opcode() == Opcode::kPermute || def->opcode() == Opcode::kReshape)) {
    chain.push_back(def);
    def = def->operand(0)->def();
  }
  if (def == nullptr || def->opcode() != Opcode::kLoadView) return false;
  *load = def;
  dims->clear();
  const ir::Type tile = def->result("tile")->type();
  for (int d = 0; d < tile.rank(); ++d) dims->push_back(tile.shape()[d] == 1 ? -1 : d);
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    const Op* op = *it;
    std::vector<int> next;
    if (op->opcode() == Opcode::kPermute) {
      for (int64_t d : op->attr("permutation").ints()) next.push_back((*dims)[static_cast<size_t>(d)]);
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

}  // namespace

std::optional<StagedTile> StageOperand(const Op& mma, int operand) {
  StagedTile s;
  std::vector<int> dims;
  const Value* v = mma.operand(operand);
  if (v->type().rank() != 2 || !TraceToLoad(Inside(v), &s.load, &dims)) return std::nullopt;
  const ir::Type view = s.load->operand("view")->type(), tensor = view.tensor();
  if (view.kind() != ir::TypeKind::kPartitionView || tensor->space != ir::MemorySpace::kGlobal) return std::nullopt;
  if (s.load->attr("ordering").as_enum<ir::MemoryOrdering>() != ir::MemoryOrdering::kWeak) return std::nullopt;
  if (view->padding && ir::PaddingBits(view.elem(), *view->padding) != 0) return std::nullopt;
  s.lhs = operand == 0;
  s.element_bits = ir::MemoryBits(view.elem());
  if (s.element_bits < 8) return std::nullopt;
  const int k_dim = s.lhs ? dims[1] : dims[0], mn_dim = s.lhs ? dims[0] : dims[1];
  s.k = v->type().shape()[s.lhs ? 1 : 0];
  s.mn = v->type().shape()[s.lhs ? 0 : 1];
  // The tile's dimension along which memory is known to be contiguous.
  const auto is_unit = [&](int d) {
    if (d < 0) return false;
    const auto u = static_cast<size_t>(d);
    return tensor->strides[view->dim_map.empty() ? u : static_cast<size_t>(view->dim_map[u])] == 1;
  };
  s.k_major = is_unit(k_dim);
  if (!s.k_major && !is_unit(mn_dim)) return std::nullopt;
  s.contiguous = s.k_major ? k_dim : mn_dim;
  s.other = s.k_major ? mn_dim : k_dim;
  s.swizzle = static_cast<int>(std::min<int64_t>(128, s.inner() * s.element_bits / 8));
  if (s.swizzle < 32 || s.chunk_bytes() % kSlotAlignment != 0) return std::nullopt;
  return s;
}

const Op* FetchOf(const Op& mma) {
  const Op* fetch = mma.operand(0)->def();
  return IsFetch(fetch) && mma.operand(1)->def() == fetch ? fetch : nullptr;
}

const Op* FetchIn(const Op& loop) {
  // Conversions of what is carried may stand before it.
  for (const Op* op : *loop.region(0)) {
    if (IsFetch(op)) return op;
  }
  return nullptr;
}

StageLayout LayoutStage(const Op& fetch) {
  StageLayout stage;
  for (int i = 0; i < fetch.num_results(); ++i) {
    // The product that reads it.
    const ir::Use* use = fetch.result(i)->uses();
    const Op& mma = *use->owner;
    stage.tiles.push_back(*StageOperand(mma, mma.operand(0) == fetch.result(i) ? 0 : 1));
    stage.offsets.push_back(stage.bytes);
    stage.bytes += stage.tiles.back().bytes();
  }
  return stage;
}

}  // namespace tile::codegen
