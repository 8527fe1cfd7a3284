#include "codegen/passes/slicing/slice_cone.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/op_rules.h"
#include "codegen/analysis/reduce_body.h"
#include "codegen/analysis/slice_dims.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/analysis/view_dim.h"
#include "codegen/gpu/ops.h"
#include "codegen/passes/slicing/slice_carry.h"
#include "codegen/passes/slicing/slice_nest.h"
#include "ir/loops.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Value;

constexpr int kDeepest = 1000;       // operations in a chain
constexpr int64_t kWholeLine = 128;  // bytes that should be neighbours
constexpr int64_t kWholeOperands = 2;
constexpr int kCostOfCut = 16;        // a tile goes through shared memory in every iteration
constexpr int64_t kLeastDepth = 256;  // bits along K that an instruction takes
constexpr int64_t kAgain = 16;  // a tile that is computed again for each slice takes so small a part of the registers
constexpr int kCostOfScan = 4;  // each iteration waits for the one before, and adds up its slice once more

// The tile's dimension whose elements are neighbours in memory; of pointers, the last one probably.
int FastestDim(const Op& access, int rank) {
  const Value* of = ir::FindOperand(access, ir::Field::kView);
  if (of == nullptr) return rank - 1;
  const ir::Type view = of->type();
  if (!view.is_view()) {  // a tensor view, which a scatter takes
    for (int k = rank - 1; k >= 0; --k) {
      if (view->strides[static_cast<size_t>(k)] == 1) return k;
    }
    return rank - 1;
  }
  for (int k = rank - 1; k >= 0; --k) {
    if (HasUnitStride(view, k)) return k;
  }
  return rank - 1;
}

// Slices have no two neighbours that share a byte.
bool HasHalfBytes(ir::Type type, int dim, int64_t slices) {
  if (type.element().is_pointer() || !ir::IsSubByte(type.elem())) return false;
  for (int d = 0; d < type.rank(); ++d) {
    if (type.shape()[static_cast<size_t>(d)] / (d == dim ? slices : 1) % 2 == 0) return false;
  }
  return true;
}

}  // namespace

bool IsFreeTile(const Value* v) {
  if (v->def() == nullptr) return false;
  const RegisterRule rule = RuleOf(*v->def()).registers;
  return rule == RegisterRule::kNone || rule == RegisterRule::kRepeat;
}

bool IsPlainProduct(const Op& op) { return op.info()->family == ir::Family::kMma && op.num_operands() == 3; }

bool IsRightBefore(const Op& access, const Op& sink) {
  if (access.block() != sink.block()) return false;
  for (const Op* op = access.next(); op != &sink; op = op->next()) {
    if (op == nullptr) return false;
    const bool memory = op->opcode() == Opcode::kAlloca || op->opcode() == Opcode::kAllocShared;
    if (!memory && op->opcode() != Opcode::kMakeToken && (!op->info()->has(ir::kPure) || IsAccessOfMemory(*op)))
      return false;
  }
  return true;
}

std::string SliceCone::Add(const Op& sink, int dim) {
  std::vector<int> dims;
  std::string why;
  sink_ = &sink;
  if (sink.opcode() == Opcode::kReduce) {
    dims.assign(static_cast<size_t>(sink.num_operands()), dim);
    why = WhyNotCarried(sink);
    if (CarriesElements(sink)) {
      accumulators_ = RegistersOf(sink.operand(0)->type());
    } else {
      turn_ = Turn::kForward;
      const int64_t words = RegistersOf(sink.result(0)->type()) * TotalsOf(sink, slices_);
      if (words > scope_.limit) why = "what iterations carry exceeds the registers";
      accumulators_ = words * slices_;
    }
    if (sink.operand(0)->type().shape()[static_cast<size_t>(dim)] < slices_) why = "the reduced dimension is short";
  } else if (IsPlainProduct(sink)) {
    const ir::Type left = sink.operand(0)->type();
    dims = {dim, dim - 1, kWhole};
    turn_ = Turn::kForward;
    accumulators_ = RegistersOf(sink.result(0)->type());
    if (left.shape()[static_cast<size_t>(dim)] / slices_ * ir::MemoryBits(left.elem()) < kLeastDepth)
      why = "slices would be shorter than what an instruction multiplies";
  } else {
    why = OperandDims(sink, dim, slices_, &dims);
    CountAccess(sink, dim);
  }
  if (!why.empty()) return absl::StrCat(sink.info()->mnemonic, ": ", why);
  why = NeedOperands(sink, dims, 0);
  for (const SliceKey& key : made_) {
    if (!IsCut(key) && key.first->def() != nullptr) ops_.insert(key.first->def());
  }
  return why;
}

int64_t SliceCone::held() const {
  int64_t words = accumulators_;
  for (const SliceKey& key : made_) {
    const Op* def = key.first->def();
    // What loops hold is counted already.
    if (def == nullptr || def->block() != scope_.block) continue;
    if (!IsCut(key) && IsAccessOfMemory(*def)) words += RegistersOf(key.first->type());
  }
  return words;
}

std::string SliceCone::NeedOperands(const Op& op, const std::vector<int>& dims, int depth) {
  for (int i = 0; i < op.num_operands(); ++i) {
    const Value* v = op.operand(i);
    if (!IsTile(v) || dims[static_cast<size_t>(i)] == kWhole) {
      if (std::string why = NeedWhole(v); !why.empty()) return why;
    }
    if (!IsTile(v)) continue;
    const int dim = dims[static_cast<size_t>(i)];
    if (dim == kWhole) {
      // The other operand of a product may be there whole if registers nearly hold it.
      const bool fits =
          op.info()->family == ir::Family::kMma && RegistersOf(v->type()) <= kWholeOperands * scope_.limit;
      if (scope_.big->contains(v) && !fits) return absl::StrCat(op.info()->mnemonic, " needs all of a large tile");
      // Roles read stages in the iteration of the loop that copies ahead, not in loops in it.
      if (v->def() != nullptr && IsFetch(v->def()))
        return absl::StrCat(op.info()->mnemonic, ": its factor is copied ahead");
      continue;
    }
    if (std::string why = Need(v, dim, depth + 1); !why.empty()) return why;
  }
  return "";
}

std::string SliceCone::Need(const Value* v, int dim, int depth) {
  const SliceKey key{v, dim};
  if (known_.contains(key)) return "";
  if (v->type().shape()[static_cast<size_t>(dim)] < slices_) return "a dimension is too short for so many slices";
  if (HasHalfBytes(v->type(), dim, slices_)) return "elements of half a byte would stand alone";
  const size_t made = made_.size();
  const int64_t largest = largest_, accumulators = accumulators_;
  const int cost = cost_;
  const Turn turn = turn_;
  const Op* once = once_;
  std::string why = Make(v, dim, depth);
  if (!why.empty()) {
    if (scope_.big->contains(v) || NestAround(*v) != nullptr) return why;
    // Products read stages of copies, and read them whole.
    if (v->def() != nullptr && IsGpuOp(v->def(), GpuOpcode::kCopyAhead))
      return "its tile is copied ahead for a product";
    // It is there whole.
    for (; made_.size() > made; made_.pop_back()) {
      known_.erase(made_.back());
      cut_.erase(made_.back());
    }
    largest_ = largest;
    accumulators_ = accumulators;
    turn_ = turn;
    once_ = once;
    cost_ = cost + kCostOfCut;
    cut_.insert(key);
  }
  // A loop carries it: it was needed for itself.
  if (!known_.insert(key).second) return "";
  made_.push_back(key);
  if (!cut_.contains(key) && !IsFreeTile(v)) largest_ = std::max(largest_, RegistersOf(v->type()));
  return "";
}

std::string SliceCone::Make(const Value* v, int dim, int depth) {
  const Op* def = v->def();
  const SliceNest* nest = NestAround(*v);
  if (scope_.through_loops && def != nullptr && def->block() == scope_.block && ir::ForOp::Is(def))
    return MakeCarried(*def, v->index(), dim, depth);
  if (def == nullptr && nest != nullptr)
    return MakeCarried(*nest->loop, ir::CarryingLoop(*nest->loop).carried_by(v), dim, depth);
  if (def == nullptr) return "a loop carries a tile";
  if (scope_.sinks->contains(def)) return "a result of a reduction is whole";
  if (depth > kDeepest) return "the chain of operations is too long";
  if (IsAccessOfMemory(*def) && def->block() != scope_.block && nest == nullptr)
    return "a tile is loaded outside of the loop";
  std::vector<int> dims;
  if (std::string why = OperandDims(*def, dim, slices_, &dims); !why.empty()) {
    return absl::StrCat(def->info()->mnemonic, ": ", why);
  }
  if (ScansAlong(*def, dim)) {
    if (nest != nullptr) return "a scan in a loop goes on from slice to slice";
    if (std::string why = MakeScan(*def, dim); !why.empty()) return why;
  }
  if (IsAccessOfMemory(*def)) {
    if (std::string why = IsOrdered(*def) ? MakeOnce(*def, dim) : ""; !why.empty()) return why;
    CountAccess(*def, dim);
  }
  return NeedOperands(*def, dims, depth);
}

std::string SliceCone::MakeCarried(const Op& loop, int number, int dim, int depth) {
  if (depth > kDeepest) return "the chain of operations is too long";
  const ir::CarryingLoop carrying(loop);
  if (NestOf(loop) == nullptr) {
    std::string why = WhyNotNest(loop);
    for (int i = 0; i < loop.num_results(); ++i) {
      const Value* result = loop.result(i);
      const bool other = result->has_uses() && !result->type().is_token() && !scope_.big->contains(result);
      if (why.empty() && other) why = "it carries more than tiles in slices";
    }
    if (!why.empty()) return absl::StrCat(loop.info()->mnemonic, ": ", why);
    // Others of its results may be made in the same loop.
    accumulators_ += WordsOfNest(loop);
    nests_.push_back({.loop = &loop, .dims = {}, .whole = {}});
  }
  SliceNest& nest = *const_cast<SliceNest*>(NestOf(loop));
  if (nest.whole.contains(number)) return "a tile that a loop carries is needed whole";
  const auto [it, fresh] = nest.dims.try_emplace(number, dim);
  if (!fresh) return it->second == dim ? "" : "slices of what a loop carries go along two dimensions";
  if (std::string why = Need(carrying.init(number), dim, depth + 1); !why.empty()) return why;
  return Need(carrying.next(number), dim, depth + 1);
}

const SliceNest* SliceCone::NestOf(const Op& loop) const {
  const auto it = std::find_if(nests_.begin(), nests_.end(), [&](const SliceNest& n) { return n.loop == &loop; });
  return it == nests_.end() ? nullptr : &*it;
}

SliceNest* SliceCone::NestAround(const Value& v) {
  for (SliceNest& nest : nests_) {
    if (StandsIn(v, *nest.loop->region(0))) return &nest;
  }
  return nullptr;
}

std::string SliceCone::NeedWhole(const Value* v) {
  SliceNest* nest = NestAround(*v);
  if (nest == nullptr || v->type().is_token() || !whole_.insert(v).second) return "";
  if (RegistersOf(v->type()) > scope_.limit / kAgain) return "an operation in a loop needs all of a large tile";
  if (v->def() == nullptr) {
    const ir::CarryingLoop carrying(*nest->loop);
    const int number = carrying.carried_by(v);
    if (number < 0) return "";
    if (nest->dims.contains(number)) return "a tile that a loop carries is needed whole";
    nest->whole.insert(number);
    return NeedWhole(carrying.next(number));
  }
  for (int i = 0; i < v->def()->num_operands(); ++i) {
    if (std::string why = NeedWhole(v->def()->operand(i)); !why.empty()) return why;
  }
  return "";
}

bool SliceCone::GoBy(Turn turn) {
  if (turn_ != Turn::kAny && turn_ != turn) return false;
  turn_ = turn;
  return true;
}

std::string SliceCone::MakeScan(const Op& scan, int dim) {
  if (!GoBy(ir::ScanOp(scan).reverse() ? Turn::kBackward : Turn::kForward)) return "two scans go opposite ways";
  const ir::Type type = scan.result(0)->type();
  const int64_t words = RegistersOf(type) / type.shape()[static_cast<size_t>(dim)] * TotalsOf(scan, slices_);
  if (words > scope_.limit) return "what iterations carry exceeds the registers";
  accumulators_ += words * slices_;
  cost_ += kCostOfScan;
  return "";
}

// It moves down to the sink, so nothing in between may be able to tell.
std::string SliceCone::MakeOnce(const Op& access, int dim) {
  if (once_ != nullptr && (once_ != &access || once_dim_ != dim))
    return "accesses that are done once would be done twice";
  if (!IsRightBefore(access, *sink_)) return absl::StrCat(access.info()->mnemonic, " is done where it stands");
  once_ = &access;
  once_dim_ = dim;
  return "";
}

void SliceCone::CountAccess(const Op& op, int dim) {
  const Value* tile = op.num_results() > 0 && IsTile(op.result(0)) ? op.result(0) : WrittenTile(op);
  if (FastestDim(op, tile->type().rank()) != dim) return;
  const int64_t run =
      tile->type().shape()[static_cast<size_t>(dim)] / slices_ * std::max(1, ir::MemoryBits(tile->type().elem()) / 8);
  if (run < kWholeLine) cost_ += run < kWholeLine / 4 ? 8 : 2;
}

}  // namespace tile::codegen
