#include "codegen/plan/staging/share_loads.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/target/tuning.h"
#include "ir/loops.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

// Bits: the block's place in dimensions 0, 1, 2 of the grid; kUnknown: what may be different for other reasons.
constexpr uint32_t kUnknown = 8;

constexpr int kDepth = 64;

class Dependence {
 public:
  // Each value is followed once: what all of them depend on is asked for.
  uint32_t Of(const Value* v, int depth = 0) {
    if (depth > kDepth) return kUnknown;
    if (!seen_.insert(v).second) return 0;
    const Op* def = v->def();
    if (def == nullptr) return OfArgument(v, depth);
    if (ir::GetTileBlockIdOp::Is(def)) return 1u << v->index();
    if (!def->info()->has(ir::kPure) || def->num_regions() > 0) return kUnknown;
    uint32_t all = 0;
    for (int i = 0; i < def->num_operands(); ++i) all |= Of(def->operand(i), depth + 1);
    return all;
  }

 private:
  uint32_t OfArgument(const Value* v, int depth) {
    const Op* parent = v->block()->parent();
    if (parent == nullptr) return 0;  // a parameter
    if (v->index() != 0) return kUnknown;
    if (const auto loop = ir::As<ir::ForOp>(parent)) {
      uint32_t all = 0;
      for (const Value* bound : ir::BoundsOf(*loop)) all |= Of(bound, depth + 1);
      return all;
    }
    const Op* loop = parent->parent();
    return loop != nullptr && FetchIn(*loop) == parent ? Of(parent->operand(0), depth + 1) : kUnknown;
  }

  absl::flat_hash_set<const Value*> seen_;
};

}  // namespace

Sharing FindSharing(const ir::Function& function) {
  const Op* loop = nullptr;
  int loops = 0;
  ir::Walk(function.body(), [&](Op* op) {
    if (!ir::ForOp::Is(op) || FetchIn(*op) == nullptr) return;
    loop = op;
    ++loops;
  });
  Sharing best;
  if (loops != 1 || loop->parent() != nullptr) return best;
  uint32_t bounds = 0;
  Dependence of_bounds;
  for (const Value* v : ir::BoundsOf(ir::ForOp(loop))) bounds |= of_bounds.Of(v);
  const StageLayout stage = StageOf(*FetchIn(*loop));
  int64_t operations = 0, bits = 16;
  for (const Op* op : *loop->region(0)) {
    if (!IsProduct(*op) || FetchOf(*op) == nullptr) continue;
    bits = std::max<int64_t>(bits, ir::MemoryBits(op->operand(0)->type().elem()));
    operations += 2 * op->result(0)->type().num_elements() * ir::ProductOp(op).lhs()->type().shape().back();
  }
  // Products take as much longer as their elements are wider.
  if (operations * bits >= 16 * tuning::kOperationsPerByte * stage.bytes) return best;
  int64_t most = 0;
  for (int dim : {1, 0}) {
    const uint32_t mask = 1u << dim | kUnknown;
    if ((bounds & mask) != 0) continue;
    Sharing s;
    s.dim = dim;
    int64_t bytes = 0;
    for (const StagedTile& tile : stage.tiles) {
      const ir::LoadViewOp load(tile.load);
      Dependence of_load;
      uint32_t depends = of_load.Of(load.view());
      for (const Value* index : load.index()) depends |= of_load.Of(index);
      if ((depends & mask) != 0) continue;
      s.loads.insert(tile.load);
      bytes += tile.bytes();
    }
    if (bytes <= most) continue;
    most = bytes;
    best = std::move(s);
  }
  return best;
}

}  // namespace tile::codegen
