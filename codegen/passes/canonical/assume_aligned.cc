#include "codegen/passes/canonical/assume_aligned.h"

#include <set>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/facts.h"
#include "codegen/gpu/ops.h"
#include "codegen/target/decisions.h"
#include "ir/loops.h"

namespace tile::codegen {
namespace {

using ir::ExprOp;
using ir::Op;
using ir::Opcode;
using ir::Value;

constexpr int64_t kMultiple = 16;  // bytes of an address; elements otherwise

bool IsInteger(const Value* v) {
  return v->type().is_tile() && v->type().is_scalar() && !v->type().element().is_pointer() &&
         ir::IsInt(v->type().elem());
}

// Finds the parameters that say whether something is a multiple.
class Search {
 public:
  void OfView(const ir::MakeTensorViewOp& maker) {
    Follow(maker.base());
    const ir::Type type = maker.result()->type();
    for (const Value* stride : maker.dynamic_strides()) Follow(stride);
    size_t open = 0;
    for (size_t d = 0; d < type->shape.size(); ++d) {
      if (type->shape[d] != ir::kDynamic) continue;
      const Value* size = maker.dynamic_shape()[open++];
      if (type->strides[d] == 1) Follow(size);
    }
  }

  // Whatever decides the addresses of a tile of pointers, or which of its elements are active.
  void Follow(const Value* v) {
    if (v == nullptr || v->type().is_token() || !seen_.insert(v).second) return;
    if (facts_.Divisor(v) >= kMultiple) return;
    const Op* def = v->def();
    if (def == nullptr) return FollowArgument(v);
    if (!def->info()->has(ir::kPure) || def->num_regions() > 0) return;
    // The same along a whole row: rows of pointers and masks are wide whatever it is.
    const bool of_rows = def->opcode() == Opcode::kBroadcast && !v->type().element().is_pointer() && IsMask(v) &&
                         def->operand(0)->type().shape().back() == 1;
    if (of_rows) return;
    for (int i = 0; i < def->num_operands(); ++i) Follow(def->operand(i));
  }

  const std::set<int>& params() const { return params_; }

 private:
  static bool IsMask(const Value* v) { return v->type().elem() == ir::Elem::kI1; }

  void FollowArgument(const Value* v) {
    const Op* parent = v->block()->parent();
    if (parent == nullptr) {
      if (v->type().is_tile() && v->type().is_scalar() && (v->type().element().is_pointer() || IsInteger(v))) {
        params_.insert(v->index());
      }
      return;
    }
    if (!ir::ForOp::Is(parent)) return;
    const ir::CarryingLoop loop(*parent);
    const int carried = loop.carried_by(v);
    if (carried < 0) {
      Follow(ir::ForOp(parent).lower_bound());
      return Follow(ir::ForOp(parent).step());
    }
    Follow(loop.init(carried));
    if (loop.latch() != nullptr) Follow(loop.next(carried));
  }

  Facts facts_;
  absl::flat_hash_set<const Value*> seen_;
  std::set<int> params_;
};

std::set<int> DecidingParams(const ir::Function& function) {
  Search search;
  ir::Walk(function.body(), [&](Op* op) {
    if (const auto maker = ir::As<ir::MakeTensorViewOp>(op)) search.OfView(*maker);
    if (const auto load = ir::As<ir::LoadPtrOp>(op)) {
      search.Follow(load->source());
      search.Follow(load->mask());
    }
    if (const auto store = ir::As<ir::StorePtrOp>(op)) {
      search.Follow(store->destination());
      search.Follow(store->mask());
    }
  });
  return search.params();
}

void Assume(ir::Module* module, ir::Function* function, Value* param) {
  ir::Predicate predicate;
  predicate.divisor = kMultiple;
  const ir::Attr attr = ir::Attr::Of(module->arena().New<ir::Predicate>(predicate));
  const ir::Type type = param->type();
  const uint32_t end = 1;
  ir::OpSpec spec;
  spec.info = ir::GetOp(Opcode::kAssume);
  spec.operands = {&param, 1};
  spec.operand_ends = {&end, 1};
  spec.results = {&type, 1};
  spec.attrs = {&attr, 1};
  Op* op = module->CreateOp(spec);
  op->loc = function->loc;
  op->pos = function->pos;
  module->InsertBefore(function->body(), function->body()->front(), op);
  param->ReplaceAllUsesWith(op->result(0));
  op->set_operand(0, param);
}

}  // namespace

void AssumeAligned(ir::Module* module, ir::Function* function) {
  const std::set<int> params = DecidingParams(*function);
  if (params.empty()) return;
  for (int i : params) Assume(module, function, function->param(i));
  Decide<Decision::kAlignedParams>(module, KernelOp(module, function),
                                   std::vector<int64_t>(params.begin(), params.end()));
}

absl::Status AssumeAligned(Program& p) {
  if (p.permissions.may(May::kAssumeAligned)) AssumeAligned(p.module.get(), p.function);
  return absl::OkStatus();
}

ir::ImageRequirement MultipleOf(int param, int64_t n) {
  return {{{ExprOp::kScalar, param, 0, 0},
           {ExprOp::kConst, 0, 0, n},
           {ExprOp::kMod, 0, 0, 0},
           {ExprOp::kConst, 0, 0, 0},
           {ExprOp::kEqual, 0, 0, 0}},
          absl::StrCat("parameter ", param, " is a multiple of ", n)};
}

std::vector<ir::ImageRequirement> AlignmentRequirements(const ir::Function& function) {
  std::vector<ir::ImageRequirement> needs;
  const Op* kernel = FindKernelOp(function);
  if (kernel == nullptr) return needs;
  for (int64_t param : DecisionOf<Decision::kAlignedParams>(*kernel).value_or(absl::Span<const int64_t>())) {
    const int i = static_cast<int>(param);
    if (function.param(i)->type().element().is_pointer()) {
      needs.push_back({{{ExprOp::kConst, 0, 0, kMultiple - 1}, {ExprOp::kAlign, i, 0, 0}, {ExprOp::kLess, 0, 0, 0}},
                       absl::StrCat("parameter ", i, " is a multiple of ", kMultiple, " bytes")});
    } else {
      needs.push_back(MultipleOf(i, kMultiple));
    }
  }
  return needs;
}

bool DependsOnAlignment(const ir::Function& function) { return !DecidingParams(function).empty(); }

}  // namespace tile::codegen
