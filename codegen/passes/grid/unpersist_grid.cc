#include "codegen/passes/grid/unpersist_grid.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/begins_at_block.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/origin.h"
#include "codegen/analysis/store_order.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/gpu/ops.h"
#include "codegen/passes/move_loads.h"
#include "codegen/passes/slicing/coalesce_loops.h"
#include "codegen/passes/slicing/slice.h"
#include "codegen/passes/unused.h"
#include "codegen/plan/tma/host_integer.h"
#include "codegen/target/decisions.h"
#include "codegen/target/tuning.h"
#include "ir/loops.h"
#include "ir/op_views.h"
#include "ir/ops.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

namespace ops = ir::ops;
using ir::Block;
using ir::Expr;
using ir::ExprNode;
using ir::ExprOp;
using ir::Op;
using ir::Value;

constexpr int64_t kMostSize = int64_t{1} << 30;  // of a parameter from which the number of tiles follows
constexpr int64_t kMostMore = int64_t{1} << 20;  // of what is added to it: 32 bits hold the sum

bool IsWeakLoad(const Op& op) {
  return op.info()->is_load() && ir::OrderingOf(op) == ir::MemoryOrdering::kWeak && op.num_regions() == 0;
}
bool IsWeakStore(const Op& op) {
  return (ir::StoreViewOp::Is(&op) || ir::StorePtrOp::Is(&op)) && ir::OrderingOf(op) == ir::MemoryOrdering::kWeak;
}
bool ComesFromNoAccess(const Value* token) {
  return ComesOnlyFrom(token, [](const Op&) { return false; });
}

Value* Spread(Value* v) {
  while (v->def() != nullptr &&
         (v->def()->opcode() == ir::Opcode::kBroadcast || v->def()->opcode() == ir::Opcode::kReshape)) {
    v = v->def()->operand(0);
  }
  return v;
}

// Rows of a store through pointers: base + index * stride + what the mask says to lie from 0 to below the bound.
struct Rows {
  const Value *base, *stride, *bound;
  bool operator==(const Rows&) const = default;
};

// The scalar that the mask, or a part of it, says the column to be below; null if there is none. Each part is looked at once.
const Value* BoundIn(Value* mask, const Value* column, absl::flat_hash_set<const Value*>* seen) {
  mask = Spread(mask);
  const Op* def = mask->def();
  if (def == nullptr || !seen->insert(mask).second) return nullptr;
  if (def->opcode() == ir::Opcode::kAndi) {
    const Value* bound = BoundIn(def->operand(0), column, seen);
    return bound != nullptr ? bound : BoundIn(def->operand(1), column, seen);
  }
  const auto test = ir::As<ir::CmpIOp>(def);
  if (!test || test->predicate() != ir::ComparisonPredicate::kLessThan ||
      test->signedness() != ir::Signedness::kUnsigned || test->lhs() != column) {
    return nullptr;
  }
  const Value* bound = Assumed(Spread(test->rhs()));
  return bound->type().is_scalar() ? bound : nullptr;
}

// `index` has 32 bits, as the stride has: their product does not wrap around.
bool IsStart(Value* v, const Value* index, const Value** stride) {
  const auto product = ir::DefAs<ir::MuliOp>(Spread(v));
  if (!product) return false;
  const auto narrow = [](Value* factor) -> const Value* {
    const auto wide = ir::DefAs<ir::ExtiOp>(Spread(factor));
    const bool from_32 = wide && wide->signedness() == ir::Signedness::kSigned && ir::WidthOf(wide->from()) <= 32;
    return from_32 ? Assumed(Spread(wide->from())) : nullptr;
  };
  const Value *lhs = narrow(product->lhs()), *rhs = narrow(product->rhs());
  if (lhs != index) std::swap(lhs, rhs);
  *stride = rhs;
  return lhs == index && rhs != nullptr && rhs->type().is_scalar() && product->lhs()->type().elem() == ir::Elem::kI64;
}

// Where the base does not move.
std::optional<Rows> RowsOf(const Op& store, const Op& loop) {
  const Value* index = ir::CarryingLoop(loop).index();
  const auto access = ir::As<ir::StorePtrOp>(&store);
  if (!access || access->mask() == nullptr) return std::nullopt;
  const auto offset = ir::DefAs<ir::OffsetOp>(access->destination());
  if (!offset) return std::nullopt;
  Rows rows = {Assumed(Spread(offset->op().operand(0))), nullptr, nullptr};
  const auto sum = ir::DefAs<ir::AddiOp>(offset->op().operand(1));
  if (!sum || !rows.base->type().is_scalar() || ir::IsInside(rows.base, &loop)) return std::nullopt;
  for (auto [start, column] : {std::pair(sum->lhs(), sum->rhs()), std::pair(sum->rhs(), sum->lhs())}) {
    if (!IsStart(start, index, &rows.stride)) continue;
    absl::flat_hash_set<const Value*> seen;
    rows.bound = BoundIn(access->mask(), column, &seen);
    if (rows.bound != nullptr) return rows;
  }
  return std::nullopt;
}

// What the host knows of a size: a parameter or a constant, as a number with sign.
std::optional<Expr> SizeOf(const Value* v) {
  v = Assumed(v);
  if (const auto wide = ir::DefAs<ir::ExtiOp>(v); wide && wide->signedness() == ir::Signedness::kSigned)
    v = Assumed(wide->from());
  if (const auto n = ir::SplatOf(v)) return Expr{host::Const(ir::AsSigned(*n, ir::WidthOf(v)))};
  if (!IsParameter(v)) return std::nullopt;
  std::vector<Expr> products;
  return HostInteger(v, &products);
}

// A number of tiles: such a size, the sum of one and constants, or that divided by a constant. `sizes` gets the parameters, which
// must be so small that the kernel's 32 bits hold what the host computes with 64.
std::optional<Expr> CountOf(const Value* v, bool divided, std::vector<Expr>* sizes) {
  v = Assumed(v);
  if (const auto size = SizeOf(v)) {
    if (!ir::SplatOf(v)) sizes->push_back(*size);
    return size;
  }
  const Op* def = v->def();
  if (def == nullptr || def->num_operands() != 2) return std::nullopt;
  const auto bits = ir::SplatOf(def->operand(1));
  const int64_t n = bits ? ir::AsSigned(*bits, ir::WidthOf(def->operand(1))) : 0;
  if (n <= 0 || n > kMostMore) return std::nullopt;
  if (const auto quotient = ir::As<ir::DiviOp>(def); quotient && divided) {
    const auto whole = CountOf(def->operand(0), false, sizes);
    if (!whole || quotient->signedness() != ir::Signedness::kSigned) return std::nullopt;
    const bool up = quotient->rounding() == ir::Rounding::kPositiveInf;
    return host::Join(*whole, {host::Const(n)}, host::Node(up ? ExprOp::kCeilDiv : ExprOp::kDiv));
  }
  const bool more = ir::AddiOp::Is(def), less = ir::SubiOp::Is(def);
  if (!more && !less) return std::nullopt;
  const auto first = CountOf(def->operand(0), false, sizes);
  if (!first) return std::nullopt;
  return host::Join(*first, {host::Const(n)}, host::Node(more ? ExprOp::kAdd : ExprOp::kSub));
}

constexpr ExprNode kGridX = {ExprOp::kShape, -1, 0, 0};

// Expressions as numbers of a decision, and back.
void Write(const Expr& e, std::vector<int64_t>* out) {
  out->push_back(static_cast<int64_t>(e.size()));
  for (const ExprNode& n : e) out->insert(out->end(), {static_cast<int64_t>(n.op), n.a, n.b, n.value});
}
std::vector<Expr> Read(absl::Span<const int64_t> numbers) {
  std::vector<Expr> all;
  for (size_t at = 0; at < numbers.size();) {
    Expr& e = all.emplace_back();
    for (int64_t left = numbers[at++]; left > 0; --left, at += 4) {
      e.push_back({static_cast<ExprOp>(numbers[at]), static_cast<int32_t>(numbers[at + 1]),
                   static_cast<int32_t>(numbers[at + 2]), numbers[at + 3]});
    }
  }
  return all;
}

class Walk {
 public:
  Walk(Program& p, Op* loop) : p_(p), loop_(loop), carrying_(*loop) {}

  // "" if the loop can go.
  std::string WhyNot() {
    if (std::string why = WhyNotCounted(); !why.empty()) return why;
    if (std::string why = WhyNotAround(); !why.empty()) return why;
    if (carrying_.latch() == nullptr || !LoopLoads(p_.module.get(), loop_, {.by_workers = true}).AllIterationsRun())
      return "an iteration may end the loop";
    if (std::string why = WhyNotInside(); !why.empty()) return why;
    return WhyNotInOrder();
  }

  void Rewrite() {
    ir::Module* module = p_.module.get();
    Value* block = ir::ForOp(loop_).lower_bound();
    if (const std::optional<LoopNest> rows = SplitRows(); rows) {
      Op* after = block->def()->next();
      Value* part = nullptr;
      ir::WriteBefore(module, after, [&](ir::Builder& b) {
        const auto number = [&](int64_t n) { return ops::Integer(b, block->type(), n); };
        part = ops::Andi(b, block, number(rows->slices - 1));
        block = ops::Shri(b, block, number(__builtin_ctzll(static_cast<uint64_t>(rows->slices))),
                          ir::Signedness::kUnsigned);
      });
      TakeApart(*rows, part);
      blocks_ = host::Join(blocks_, {host::Const(rows->slices)}, host::Node(ExprOp::kMul));
    }
    carrying_.index()->ReplaceAllUsesWith(block);
    for (int i = 0; i < carrying_.num_carried(); ++i) {
      carrying_.arg(i)->ReplaceAllUsesWith(carrying_.init(i));
      carrying_.result(i)->ReplaceAllUsesWith(carrying_.init(i));
    }
    EraseUnused(p_.function->body());  // what whole tiles were made of
    std::vector<Op*> before;
    for (Op* op = p_.function->body()->front(); op != loop_; op = op->next()) before.push_back(op);
    ir::MoveBodyBefore(module, carrying_.body(), loop_);
    loop_->Erase();
    for (auto it = before.rbegin(); it != before.rend(); ++it) Sink(*it);
    std::vector<int64_t> blocks, needs;
    Write(blocks_, &blocks);
    for (const Expr& need : needs_) Write(need, &needs);
    Op* kernel = KernelOp(module, p_.function);
    Decide<Decision::kSpreadBlocks>(module, kernel, blocks);
    Decide<Decision::kSpreadNeeds>(module, kernel, needs);
  }

 private:
  void Need(Expr condition) { needs_.push_back(std::move(condition)); }
  void NeedLess(const Expr& a, const Expr& b) { Need(host::Join(a, b, host::Node(ExprOp::kLess))); }

  // From the block's number, in steps of their number, to what the host knows.
  std::string WhyNotCounted() {
    const ir::ForOp counted(loop_);
    const Value *first = counted.lower_bound(), *step = counted.step();
    if (ir::WidthOf(first) != 32 || !ir::GetTileBlockIdOp::Is(first->def()) || first->index() != 0)
      return "it does not begin at the number of the block along x";
    if (const auto fixed = ir::SplatOf(step)) {
      Need(host::Join({kGridX}, {host::Const(ir::AsSigned(*fixed, 32))}, host::Node(ExprOp::kEqual)));
    } else if (!ir::GetNumTileBlocksOp::Is(step->def()) || step->index() != 0) {
      return "its step is not the number of blocks along x";
    }
    std::vector<Expr> sizes;
    const std::optional<Expr> blocks = CountOf(counted.upper_bound(), true, &sizes);
    if (!blocks) return "the host does not know how many tiles there are";
    blocks_ = *blocks;
    for (const Expr& size : sizes) {
      NeedLess({host::Const(0)}, size);
      NeedLess(size, {host::Const(kMostSize)});
    }
    NeedLess({kGridX}, blocks_);
    return "";
  }

  // Nobody else asks for the number of the block, and nothing is done besides the loop that others may see.
  std::string WhyNotAround() {
    const Value* first = ir::ForOp(loop_).lower_bound();
    std::string why;
    ir::Walk(p_.function->body(), [&](const Op* op) {
      for (int i = 0; i < op->num_operands(); ++i) {
        const Value* v = op->operand(i);
        if (ir::GetTileBlockIdOp::Is(v->def()) && v->index() == 0 && (op != loop_ || v != first))
          why = "what it does depends on the block";
      }
    });
    for (const Op* op : *p_.function->body()) {
      if (op == loop_ || op->info()->has(ir::kPure) || IsWeakLoad(*op) || ir::ReturnOp::Is(op) ||
          IsGpuOp(*op->info()) || ir::MakeTokenOp::Is(op) || ir::JoinTokensOp::Is(op)) {
        continue;
      }
      why = "more is done than the loop";
    }
    return why;
  }

  std::string WhyNotInside() {
    std::string why;
    ir::Walk(carrying_.body(), [&](const Op* op) {
      if (op->info()->family == ir::Family::kMma) why = "it multiplies matrices";
      const bool known = op->info()->has(ir::kPure) || IsWeakLoad(*op) || IsWeakStore(*op) || ir::ForOp::Is(op) ||
                         ir::IfOp::Is(op) || ir::ContinueOp::Is(op) || ir::YieldOp::Is(op) || ir::MakeTokenOp::Is(op) ||
                         ir::JoinTokensOp::Is(op);
      if (!known && why.empty()) why = absl::StrCat(op->info()->mnemonic, " is done in order");
      for (int i = 0; i < op->num_operands(); ++i) {
        const Value* v = op->operand(i);
        if (v->type().is_token() && !ir::IsInside(v, loop_) && !ComesFromNoAccess(v))
          why = "it waits for what is in front of it";
      }
    });
    return why;
  }

  // What is carried orders stores of one kind behind each other, of which no two write the same place.
  std::string WhyNotInOrder() {
    std::vector<Rows> apart;
    ir::Walk(carrying_.body(), [&](const Op* op) {
      if (const auto rows = RowsOf(*op, *loop_)) apart.push_back(*rows);
    });
    for (int i = 0; i < carrying_.num_carried(); ++i) {
      if (!carrying_.arg(i)->type().is_token()) return "it carries values";
      if (!ComesFromNoAccess(carrying_.init(i))) return "it waits for what is in front of it";
      const auto orders = std::find_if(apart.begin(), apart.end(), [&](const Rows& rows) {
        const auto alike = [&](const Op& op) { return RowsOf(op, *loop_) == rows; };
        return LeadsOnlyTo(carrying_.arg(i), alike) && ComesOnlyFrom(carrying_.next(i), alike);
      });
      if (orders == apart.end()) return "an iteration waits for the one before";
      const auto stride = SizeOf(orders->stride), bound = SizeOf(orders->bound);
      if (!stride || !bound) return "it is not known whether rows that are stored lie apart";
      NeedLess({host::Const(0)}, *bound);
      NeedLess(*bound, host::Join(*stride, {host::Const(1)}, host::Node(ExprOp::kAdd)));
    }
    return "";
  }

  // Where rows of a tile do not meet each has a block, or as many as make a block's work.
  std::optional<LoopNest> SplitRows() {
    int64_t words = 0, rows = 1;
    for (const Op* op : *carrying_.body()) {
      if (!op->info()->is_load() || !IsTile(op->result(0))) continue;
      const ir::Type tile = op->result(0)->type();
      if (RegistersOf(tile) <= words) continue;
      words = RegistersOf(tile);
      rows = tile.rank() == 2 ? tile.shape()[0] : 1;
    }
    const int64_t least = std::max(words / rows, tuning::kLeastOfSpread);
    if (words <= least || !SliceBlock(least, p_.module.get(), carrying_.body(), &p_.trace())) return std::nullopt;
    return FindNest(p_, loop_);
  }

  void TakeApart(const LoopNest& rows, Value* part) {
    const ir::CarryingLoop slices(*rows.inner);
    slices.index()->ReplaceAllUsesWith(part);
    ir::WriteBefore(p_.module.get(), rows.inner, [&](ir::Builder& b) {
      for (int i = 0; i < slices.num_carried(); ++i) slices.arg(i)->ReplaceAllUsesWith(ops::MakeToken(b));
    });
    ir::MoveBodyBefore(p_.module.get(), slices.body(), rows.inner);
    rows.inner->Erase();
  }

  // A large tile that nothing needs yet is loaded or made where it is needed; a small one comes beside the first load.
  void Sink(Op* op) {
    if ((!op->info()->has(ir::kPure) && !IsWeakLoad(*op)) || op->num_results() == 0 || !IsTile(op->result(0))) return;
    if (RegistersOf(op->result(0)->type()) <= tuning::kLeastOfSpread) return;
    const Op* first = nullptr;
    for (Op* other = op->next(); other != nullptr && first == nullptr; other = other->next()) {
      if (Uses(*other, *op)) first = other;
    }
    if (first != nullptr && first != op->next()) ir::MoveBefore(p_.module.get(), op, const_cast<Op*>(first));
  }
  static bool Uses(const Op& op, const Op& what) {
    const auto takes = [&](const Op& user) {
      for (int i = 0; i < user.num_operands(); ++i) {
        if (user.operand(i)->def() == &what) return true;
      }
      return false;
    };
    bool uses = takes(op);
    for (int r = 0; r < op.num_regions(); ++r)
      ir::Walk(op.region(r), [&](Op* inside) { uses = uses || takes(*inside); });
    return uses;
  }

  Program& p_;
  Op* loop_;
  ir::CarryingLoop carrying_;
  Expr blocks_;
  std::vector<Expr> needs_;
};

}  // namespace

SpreadGrid SpreadGridOf(const ir::Function& function) {
  SpreadGrid grid;
  const Op* kernel = FindKernelOp(function);
  if (kernel == nullptr) return grid;
  if (const auto blocks = DecisionOf<Decision::kSpreadBlocks>(*kernel)) grid.blocks = Read(*blocks)[0];
  if (const auto needs = DecisionOf<Decision::kSpreadNeeds>(*kernel)) {
    for (Expr& need : Read(*needs))
      grid.requirements.push_back(
          {std::move(need), "blocks walk over several tiles each, and what they store lies apart"});
  }
  return grid;
}

absl::Status UnpersistGrid(Program& p) {
  if (!p.permissions.may(May::kUnpersist)) return absl::OkStatus();
  p.applies = false;
  Op* loop = nullptr;
  for (Op* op : *p.function->body()) {
    if (!ir::ForOp::Is(op)) continue;
    if (loop != nullptr) return absl::OkStatus();  // several loops
    loop = op;
  }
  if (loop == nullptr || !BeginsAtBlock(*loop)) return absl::OkStatus();
  Walk walk(p, loop);
  const StepTexts texts = {"unpersist-grid", "each iteration has a hardware block", "its blocks walk"};
  if (!TakesStep(*p.module, *loop, texts, walk.WhyNot(), &p.trace())) return absl::OkStatus();
  walk.Rewrite();
  p.applies = true;
  return absl::OkStatus();
}

}  // namespace tile::codegen
