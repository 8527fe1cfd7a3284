#include "codegen/passes/pipeline/fetch_ahead.h"

#include <algorithm>
#include <utility>

#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/ops.h"
#include "codegen/passes/move_loads.h"
#include "codegen/passes/pipeline/resize_k.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/schedule.h"
#include "codegen/plan/staging/producer_slice.h"
#include "codegen/plan/staging/share_loads.h"
#include "codegen/plan/tensor_memory.h"
#include "codegen/plan/tma/device_tensor_map.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "codegen/target/decisions.h"
#include "codegen/target/tuning.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Opcode;

struct Product {
  ProductOperand lhs, rhs;

  const Op& mma() const { return *lhs.mma; }
};

// Whether it can be, once TMA brings both operands.
bool WouldReadStages(const Target& target, int num_warps, const Product& p) {
  return p.lhs.tile && p.rhs.tile && PlanFetched(target, num_warps, p.mma(), *p.lhs.tile, *p.rhs.tile);
}

// Where descriptors are the kernel's own, the producer makes them for 8-bit elements only. Grouped products of four and sixteen pairs took 9 to 24 %
// less time so in e5m2, and 6 to 32 % more in f16 than with copies that warp 0 of the others begins, for reasons that were not found.
absl::Status WhyNotByProducer(const StagedTile& tile, const Op& loop) {
  if (!HostKnows(tile) && tile.element_bits > 8)
    return absl::FailedPreconditionError(
        "the kernel would make descriptors, which is slower beside a producer but for 8-bit elements");
  return WhyNotMapped(tile, loop);
}

// A return in an if: the producer, which goes on, would wait for stages that nobody frees.
bool EndsEarly(const ir::Function& function) {
  bool early = false;
  ir::Walk(function.body(), [&](const Op* op) { early = early || (ir::ReturnOp::Is(op) && op->parent() != nullptr); });
  return early;
}

class Loop {
 public:
  Loop(ir::Module* module, Op* loop) : module_(module), loop_(loop), loads_(module, loop, {.outside = IsSliceable}) {}

  // Products whose operands can be fetched ahead, for the pass to choose from.
  std::vector<Product> Find(const Target& target, int num_warps, Trace* trace) const {
    std::vector<Product> products;
    for (Op* op : *loop_->region(0)) {
      if (!IsProduct(*op)) continue;
      const Product product = {{op, 0}, {op, 1}};
      std::string why;
      if (!WouldReadStages(target, num_warps > 0 ? num_warps : PreferredWarps(target, *op), product)) {
        why =
            "no instruction multiplies these tiles from shared memory: it needs operands that are nothing but loaded, of "
            "f16 or bf16, of 8-bit floats or tf32 (f32 rounded to the nearest) if one of them lies along K, or others "
            "along K; results in f32 or i32, 64 rows and more (of 8-bit floats at most 128 x 256)";
        if (StagedKindOn(target)->sums_in_columns())
          why += "; and sums that begin with zero, go around the loop and are read after it";
      } else {
        why = WhyNot(product.lhs);
        if (why.empty()) why = WhyNot(product.rhs);
      }
      if (TakesFetch(*module_, *op, "fetch-ahead", "operands are", std::move(why), trace)) products.push_back(product);
    }
    return products;
  }

  // Returns the fetch_ahead.
  Op* Rewrite(const std::vector<Product>& products) {
    std::vector<ProductOperand> operands;
    for (const Product& p : products) operands.insert(operands.end(), {p.lhs, p.rhs});
    return loads_.Move(GpuOpcode::kFetchAhead, operands);
  }

 private:
  // Why an operand, which has a tile, can't be fetched ahead; "" if it can.
  std::string WhyNot(const ProductOperand& operand) const {
    std::string why(WhyNotByProducer(*operand.tile, *loop_).message());
    if (why.empty()) why = loads_.WhyNot(operand);
    if (why.empty() && EndsEarly(*loop_->block()->function())) return "the kernel may end before the loop";
    if (!why.empty() || IsSliceableLoop(*loop_)) return why;
    return "where the loop begins or ends, or how often it runs, does not follow from parameters, block numbers, induction variables and "
           "loads of scalars that nothing orders";
  }

  ir::Module* module_;
  Op* loop_;
  LoopLoads loads_;
};

// Makes iterations so small that enough of them fit into shared memory.
void SplitForStages(const Target& target, ir::Module* module, Op* mma) {
  const std::optional<LoadedProduct> loaded = LoadedProductOf(*mma);
  if (!loaded) return;
  const int64_t room = target.shared_bytes_of(1) / tuning::kFetchStages;
  int parts = 1;
  while (loaded->slot_bytes() / parts > room && CanNarrowK(*mma, 2 * parts)) parts *= 2;
  if (parts > 1) NarrowK(module, mma, parts);
}

// Rows along K shorter than those of 128 bytes, as TMA and instructions that read stages move them best, are joined, as far as enough iterations fit then. Where the
// hardware's sums are short, they are added to the others in f32 less often so: after 128 steps along K.
bool JoinForRows(const Target& target, ir::Module* module, ir::Function* function, Op* mma) {
  const std::optional<LoadedProduct> loaded = LoadedProductOf(*mma);
  if (!loaded) return false;
  const LoadedOperand& lhs = loaded->operands[0];
  const int64_t room = target.shared_bytes_of(1) / tuning::kFetchStages;
  int factor = 1;
  while (lhs.k * lhs.element_bits / 8 * factor < tuning::kRowBytes && loaded->slot_bytes() * factor * 2 <= room)
    factor *= 2;
  return factor > 1 && WidenK(module, function, mma, factor);
}

}  // namespace

bool WouldReadStages(const Target& target, int num_warps, Op* mma) {
  return WouldReadStages(target, num_warps, Product{{mma, 0}, {mma, 1}});
}

bool WouldFetch(const Target& target, int num_warps, ir::Module* module, Op* mma) {
  Op* loop = mma->parent();
  if (loop == nullptr || loop->opcode() != Opcode::kFor) return false;
  const std::vector<Product> products = Loop(module, loop).Find(target, num_warps, nullptr);
  return std::any_of(products.begin(), products.end(), [&](const Product& p) { return &p.mma() == mma; });
}

bool FetchAhead(const Target& target, int num_warps, bool widens_k, ir::Module* module, ir::Function* function,
                Trace* trace) {
  if (!MultipliesFromTma(target) || num_warps % StagedKindOn(target)->group_warps() != 0) return false;
  std::vector<std::pair<Op*, std::vector<Product>>> loops;
  ir::Walk(function->body(), [&](Op* op) {
    if (op->opcode() != Opcode::kFor || op->region(0) == nullptr) return;
    for (const auto& [other, products] : loops) {
      if (StandsInOrHolds(op, other)) return;  // one ring at a time
    }
    std::vector<Product> products = Loop(module, op).Find(target, num_warps, trace);
    if (!products.empty()) loops.emplace_back(op, std::move(products));
  });
  int warps = num_warps;
  if (warps == 0) {
    for (const auto& [loop, products] : loops) {
      for (const Product& p : products) warps = std::max(warps, PreferredWarps(target, p.mma()));
    }
  }
  const bool in_columns = StagedKindOn(target)->sums_in_columns();
  int64_t columns = 0;  // of tensor memory, of all sums
  const auto stays_behind = [&](const Product& p) {
    if (!WouldReadStages(target, warps, p)) return true;
    if (!in_columns) return false;
    const int64_t with_it = columns + ColumnsOf(p.mma().result(0)->type());
    if (with_it <= Target::kColumns) columns = with_it;
    return with_it > Target::kColumns;
  };
  std::vector<Op*> fetches;
  for (auto& [loop, products] : loops) {
    products.erase(std::remove_if(products.begin(), products.end(), stays_behind), products.end());
    if (products.empty()) continue;
    if (products.size() == 1) {
      Op* mma = products[0].lhs.mma;
      const bool joined = widens_k && loops.size() == 1 && JoinForRows(target, module, function, mma);
      if (!joined) SplitForStages(target, module, mma);
      products = {{{mma, 0}, {mma, 1}}};
    }
    fetches.push_back(Loop(module, loop).Rewrite(products));
  }
  DecideStages(module, function);
  bool all_known = true;
  for (const Op* fetch : fetches) {
    for (const StagedTile& tile : StageOf(*fetch).tiles) all_known = all_known && HostKnows(tile);
  }
  const Sharing sharing = target.has(kCluster) && all_known && !in_columns ? FindSharing(*function) : Sharing();
  for (Op* fetch : fetches) {
    Decide<Decision::kNeedsWarps>(module, fetch, warps);
    if (sharing.dim >= 0) Decide<Decision::kSharedDim>(module, fetch, sharing.dim);
    for (const StagedTile& tile : StageOf(*fetch).tiles) {
      for (Op* load : *fetch->region(0)) {
        if (load != tile.load) continue;
        if (!HostKnows(tile)) {
          Decide<Decision::kDeviceTensorMap>(module, load, true);
          continue;
        }
        Decide<Decision::kTensorMap>(module, load, NumTensorMaps(*function));
        if (sharing.loads.contains(load)) Decide<Decision::kMulticast>(module, load, kClusterBlocks);
      }
    }
  }
  return !fetches.empty();
}

absl::Status FetchAhead(Program& p) {
  ir::Module* module = p.module.get();
  if (p.candidate.ahead == Ahead::kTma &&
      FetchAhead(p.target, p.candidate.num_warps, p.permissions.may(May::kResizeK), module, p.function, &p.trace()))
    Decide<Decision::kMostStages>(module, KernelOp(module, p.function), p.candidate.most_stages);
  return absl::OkStatus();
}

}  // namespace tile::codegen
