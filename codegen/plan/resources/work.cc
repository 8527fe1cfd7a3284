#include "codegen/plan/resources/work.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/op_rules.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/view_dim.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"
#include "ir/passes/fold.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Value;

constexpr int64_t kSampledBlocks = 64;
constexpr double kWarp = 32, kAccessBytes = 16;
constexpr double kAccessInstructions = 4;  // of a vector: its address, its predicate, itself

double ElementsOf(ir::Type t) { return t.is_tile() ? static_cast<double>(t.num_elements()) : 0; }
double BytesOf(ir::Type t) { return ElementsOf(t) * ir::MemoryBits(t.elem()) / 8; }

// Warp instructions for each 32 elements, and of them results of special functions.
struct Cost {
  double instructions = 1, specials = 0;
};
Cost CostOf(const Op& op) {
  switch (op.info()->family) {
    case ir::Family::kMath: return {2, 1};
    case ir::Family::kConvert: return {0.5, 0};
    default: break;
  }
  if (op.opcode() == Opcode::kDivf) return {4, 1};
  if (op.opcode() == Opcode::kDivi || op.opcode() == Opcode::kRemi) return {16, 1};
  const ir::Type t = op.result(0)->type();
  return {t.is_tile() && !t.element().is_pointer() && ir::MemoryBits(t.elem()) == 64 ? 2.0 : 1.0, 0};
}

// Values of integer scalars in one block.
class Scalars {
 public:
  explicit Scalars(const LaunchSizes& sizes) : sizes_(sizes) {}

  void Begin(int64_t block) {
    known_.clear();
    for (size_t d = 0; d < 3; ++d) {
      block_[d] = block % sizes_.grid[d];
      block /= sizes_.grid[d];
    }
  }
  void Set(const Value* v, std::optional<int64_t> x) { known_[v] = x; }

  std::optional<int64_t> Of(const Value* v) {
    if (const auto it = known_.find(v); it != known_.end()) return it->second;
    return known_[v] = Evaluate(v);
  }

  std::optional<int64_t> TensorSize(const Value* tensor, size_t dim) {
    const auto make = ir::As<ir::MakeTensorViewOp>(MakerOf(tensor));
    if (!make) return std::nullopt;
    const auto& shape = make->result()->type()->shape;
    if (dim >= shape.size()) return std::nullopt;
    if (shape[dim] != ir::kDynamic) return shape[dim];
    const auto open = std::count(shape.begin(), shape.begin() + static_cast<int64_t>(dim), ir::kDynamic);
    return Of(make->dynamic_shape()[static_cast<size_t>(open)]);
  }

 private:
  std::optional<int64_t> Evaluate(const Value* v) {
    const Op* def = v->def();
    if (!v->type().is_scalar() || v->type().element().is_pointer()) return std::nullopt;
    if (def == nullptr) {
      const auto i = static_cast<size_t>(v->index());
      return v->block()->parent() == nullptr && i < sizes_.params.size() ? sizes_.params[i] : std::nullopt;
    }
    const auto dim = static_cast<size_t>(v->index());
    if (ir::GetTileBlockIdOp::Is(def)) return block_[dim];
    if (ir::GetNumTileBlocksOp::Is(def)) return sizes_.grid[dim];
    if (ir::AssumeOp::Is(def)) return Of(def->operand(0));
    if (ir::GetIndexSpaceShapeOp::Is(def)) {
      const ir::Type view = def->operand(0)->type();
      if (view.kind() != ir::TypeKind::kPartitionView) return std::nullopt;
      const std::optional<int64_t> size = TensorSize(def->operand(0), TensorDim(view, v->index()));
      const int64_t tile = view.shape()[dim];
      return size ? std::optional((*size + tile - 1) / tile) : std::nullopt;
    }
    if (ir::GetTensorShapeOp::Is(def)) return TensorSize(def->operand(0), dim);
    if (!def->info()->has(ir::kPure) || def->num_regions() > 0) return std::nullopt;
    if (ir::SelectOp::Is(def)) {
      const std::optional<int64_t> condition = Of(def->operand(0));
      return condition ? Of(def->operand(*condition != 0 ? 1 : 2)) : std::nullopt;
    }
    std::vector<uint64_t> operands;
    for (int i = 0; i < def->num_operands(); ++i) {
      const std::optional<int64_t> x = Of(def->operand(i));
      if (!x) return std::nullopt;
      const int width = ir::MemoryBits(def->operand(i)->type().elem());
      operands.push_back(static_cast<uint64_t>(*x) & (width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1));
    }
    if (const auto constant = ir::As<ir::ConstantOp>(def)) {
      const ir::Dense& d = constant->value();
      if (ir::IsFloat(d.elem)) return std::nullopt;
      return Signed(FirstOf(d), v->type());
    }
    const std::optional<uint64_t> folded = ir::FoldInteger(*def, operands);
    return folded ? std::optional(Signed(*folded, v->type())) : std::nullopt;
  }

  static uint64_t FirstOf(const ir::Dense& d) {
    uint64_t bits = 0;
    const size_t bytes = std::min<size_t>({8, d.bytes.size(), static_cast<size_t>(ir::StorageBytes(d.elem))});
    for (size_t i = 0; i < bytes; ++i) bits |= uint64_t{static_cast<uint8_t>(d.bytes[i])} << (8 * i);
    return bits;
  }
  static int64_t Signed(uint64_t bits, ir::Type t) {
    const int width = ir::MemoryBits(t.elem());
    return width >= 64 ? static_cast<int64_t>(bits) : static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
  }

  const LaunchSizes& sizes_;
  std::array<int64_t, 3> block_ = {};
  absl::flat_hash_map<const Value*, std::optional<int64_t>> known_;
};

class Counter {
 public:
  Counter(const ir::Function& function, const Schedule& schedule, const LaunchSizes& sizes)
      : function_(function),
        schedule_(schedule),
        scalars_(sizes),
        grid_(sizes.grid[0] * sizes.grid[1] * sizes.grid[2]) {}

  Work Run() {
    const int64_t samples = std::max<int64_t>(1, std::min(grid_, kSampledBlocks));
    for (int64_t i = 0; i < samples; ++i) {
      // Spread over the grid, from the middle of each part.
      scalars_.Begin(std::max<int64_t>(0, (2 * i + 1) * grid_ / (2 * samples)));
      Block(*function_.body(), 1.0 / static_cast<double>(samples), false);
    }
    return std::move(work_);
  }

 private:
  void Unknown(const Op& op, absl::string_view what) {
    std::string line = absl::StrCat(function_.module()->Where(op.loc, op.pos), ": ", op.info()->mnemonic, ": ", what);
    if (told_.insert(line).second) work_.unknown.push_back(std::move(line));
  }

  // `ahead`: what is loaded was asked for an iteration ago.
  void Block(const ir::Block& block, double times, bool ahead) {
    bool waits = false;
    for (const Op* op : block) {
      waits = waits || (op->info()->is_load() && !op->result(0)->type().is_scalar());
      Visit(*op, times, ahead);
    }
    // Loads of a block are on their way together.
    if (waits && !ahead) work_.waits += times;
  }

  void Visit(const Op& op, double times, bool ahead) {
    if (IsFetch(&op)) {
      return Block(*op.region(0), times, true);
    }
    if (ir::ForOp::Is(&op)) return For(ir::ForOp(op), times);
    if (op.info()->has(ir::kLoop)) {
      Unknown(op, "how often it runs; counted as once");
      return Block(*op.region(0), times, false);
    }
    if (ir::IfOp::Is(&op)) return If(op, times, ahead);
    if (IsProduct(op) || op.info()->family == ir::Family::kMma) return Product(op, times);
    if (op.info()->has(ir::kElementBody)) {  // reduce, scan
      const double n = ElementsOf(op.operand(0)->type());
      int each = -1;  // the yield is none
      for (auto it = op.region(0)->begin(); it != op.region(0)->end(); ++it) ++each;
      work_.instructions += times * (n / kWarp * std::max(1, each) + 10 * schedule_.num_warps);
      return;
    }
    if (op.info()->family == ir::Family::kMemory || op.info()->family == ir::Family::kView ||
        op.info()->family == ir::Family::kAtomic)
      return Access(op, times);
    if (op.num_results() == 0 || op.result(0)->type().is_scalar() || !op.result(0)->type().is_tile()) return;
    if (IsGpuOp(&op, GpuOpcode::kConvertLayout)) {
      work_.instructions += times * 2 * BytesOf(op.result(0)->type()) / (kWarp * 4);
      return;
    }
    if (RuleOf(op).registers != RegisterRule::kOwn) return;  // nothing moves
    const Cost cost = CostOf(op);
    const double n = ElementsOf(op.result(0)->type());
    work_.instructions += times * n / kWarp * cost.instructions;
    work_.specials += times * n * cost.specials;
  }

  void For(const ir::ForOp& loop, double times) {
    const std::optional<int64_t> lower = scalars_.Of(loop.lower_bound()), upper = scalars_.Of(loop.upper_bound()),
                                 step = scalars_.Of(loop.step());
    const ir::Block& body = *loop.op().region(0);
    if (!lower || !upper || !step || *step <= 0) {
      Unknown(loop.op(), "how often it runs; counted as once");
      scalars_.Set(body.arg(0), std::nullopt);
      return Block(body, times, false);
    }
    const int64_t trips = *upper > *lower ? (*upper - *lower + *step - 1) / *step : 0;
    if (trips == 0) return;
    scalars_.Set(body.arg(0), *lower + trips / 2 * *step);
    Block(body, times * static_cast<double>(trips), false);
    if (FetchIn(loop.op()) != nullptr || CopyIn(loop.op()) != nullptr) work_.waits += times;  // for the first iteration
  }

  void If(const Op& op, double times, bool ahead) {
    const std::optional<int64_t> condition = scalars_.Of(op.operand(0));
    if (!condition) Unknown(op, "whether it is taken; counted as half");
    for (int r = 0; r < op.num_regions(); ++r) {
      if (op.region(r) == nullptr) continue;
      const double share = !condition ? 0.5 : (*condition != 0) == (r == 0) ? 1 : 0;
      if (share > 0) Block(*op.region(r), times * share, ahead);
    }
  }

  void Product(const Op& op, double times) {
    const MmaShape s = ShapeOfMma(op);
    const double macs = static_cast<double>(std::max<int64_t>(1, s.batch) * s.m * s.n * s.k);
    const MmaKind& kind = KindOf(op);
    const int bits = ir::MemoryBits(ir::MmaOp(op).lhs()->type().elem());
    const bool async = DecisionOf<Decision::kAsync>(op) || DecisionOf<Decision::kOverlaps>(op);
    work_.instructions += times * kind.WarpInstructions(macs, bits);
    if (DecisionOf<Decision::kPromotes>(op)) work_.instructions += times * static_cast<double>(s.m * s.n) / kWarp;
    for (ProductWork& p : work_.products) {
      if (p.kind != &kind || p.element_bits != bits || p.async != async) continue;
      p.macs += times * macs;
      return;
    }
    work_.products.push_back({&kind, bits, async, times * macs});
  }

  void Access(const Op& op, double times) {
    const bool load = op.info()->is_load() && op.num_results() > 0;
    const Value* tile = load ? op.result(0) : nullptr;
    if (tile == nullptr) {
      for (int i = 0; i < op.num_operands(); ++i) {
        const ir::Type t = op.operand(i)->type();
        if (t.is_tile() && !t.is_scalar() && !t.element().is_pointer() && ir::MemoryBits(t.elem()) >= 8)
          tile = op.operand(i);
      }
    }
    if (tile == nullptr || !tile->type().is_tile() || tile->type().element().is_pointer()) return;
    if (!op.info()->has(ir::kReads) && !op.info()->has(ir::kWrites)) return;
    const double bytes = BytesOf(tile->type()) / static_cast<double>(DecisionOf<Decision::kMulticast>(op).value_or(1));
    (load ? work_.loaded : work_.stored) += times * bytes;
    if (op.info()->family == ir::Family::kAtomic) work_.atomics += times * ElementsOf(tile->type());
    const bool by_tma = DecisionOf<Decision::kTensorMap>(op) || DecisionOf<Decision::kDeviceTensorMap>(op);
    if (!by_tma) work_.instructions += times * bytes / (kWarp * kAccessBytes) * kAccessInstructions;
    Unique(op, load);
  }

  // The tensor behind an access, once for all blocks and accesses.
  void Unique(const Op& op, bool load) {
    if (!ir::ViewAccessOp::Is(&op)) {
      work_.unique_known = false;
      return;
    }
    const auto make = ir::As<ir::MakeTensorViewOp>(MakerOf(ir::ViewAccessOp(op).view()));
    if (!make) {
      work_.unique_known = false;
      return;
    }
    const Value *tensor = make->result(), *base = make->base();
    while (base->def() != nullptr && ir::AssumeOp::Is(base->def())) base = base->def()->operand(0);
    if (!seen_.insert({base, load}).second) return;
    double elements = 1;
    for (size_t d = 0; d < tensor->type()->shape.size(); ++d) {
      const std::optional<int64_t> size = scalars_.TensorSize(tensor, d);
      if (!size) {
        work_.unique_known = false;
        return;
      }
      elements *= static_cast<double>(*size);
    }
    (load ? work_.unique_loaded : work_.unique_stored) += elements * ir::MemoryBits(tensor->type().elem()) / 8;
  }

  const ir::Function& function_;
  const Schedule& schedule_;
  Scalars scalars_;
  const int64_t grid_;
  Work work_;
  absl::flat_hash_set<std::string> told_;
  absl::flat_hash_set<std::pair<const Value*, bool>> seen_;
};

}  // namespace

Work WorkOf(const ir::Function& function, const Schedule& schedule, const LaunchSizes& sizes) {
  return Counter(function, schedule, sizes).Run();
}

}  // namespace tile::codegen
