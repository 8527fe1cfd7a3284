#include "codegen/passes/canonical/load_once.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/facts.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/slice_dims.h"
#include "ir/create_like.h"
#include "ir/op_views.h"
#include "ir/ops.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

namespace op = ir::ops;
using ir::Op;
using ir::Value;

constexpr int kMostSteps = 64;  // from a pointer back to constants

int64_t Size(const Value* v, int dim) { return v->type().shape()[static_cast<size_t>(dim)]; }

// Computes every `group`-th element of a tile along a dimension. What computes all of them stays.
class Firsts {
 public:
  Firsts(ir::Module* module, int64_t group) : module_(module), group_(group) {}

  bool Has(const Value* v, int dim, int steps = 0) const {
    if (!v->type().is_tile() || v->type().is_scalar()) return true;
    const Op* def = v->def();
    if (def == nullptr || def->num_results() != 1 || steps > kMostSteps || !def->info()->has(ir::kPure)) return false;
    std::vector<int> dims;
    if (!OperandDims(*def, dim, Size(v, dim), &dims).empty()) return false;
    for (int i = 0; i < def->num_operands(); ++i) {
      const Value* from = def->operand(i);
      const int d = dims[static_cast<size_t>(i)];
      if (d == kWhole) {
        // A broadcast of one element along the dimension, or a scalar.
        if (!ir::BroadcastOp::Is(def) && from->type().is_tile() && !from->type().is_scalar()) return false;
      } else if (Size(from, d) != Size(v, dim) || !Has(from, d, steps + 1)) {
        return false;
      }
    }
    return true;
  }

  Value* Of(Value* v, int dim) {
    if (!v->type().is_tile() || v->type().is_scalar()) return v;
    if (const auto known = firsts_.find({v, dim}); known != firsts_.end()) return known->second;
    Op* def = v->def();
    std::vector<int> dims;
    (void)OperandDims(*def, dim, Size(v, dim), &dims);  // Has has asked
    std::vector<Value*> operands;
    for (int i = 0; i < def->num_operands(); ++i) {
      const int d = dims[static_cast<size_t>(i)];
      operands.push_back(d == kWhole ? def->operand(i) : Of(def->operand(i), d));
    }
    Value* made = nullptr;
    ir::WriteBefore(module_, def, [&](ir::Builder& b) { made = Make(b, *def, operands, dim); });
    firsts_[{v, dim}] = made;
    return made;
  }

 private:
  // The operation on the first elements.
  Value* Make(ir::Builder& b, const Op& def, const std::vector<Value*>& operands, int dim) const {
    const ir::Type type = SlicedType(b.types(), def.result(0)->type(), dim, group_);
    if (const auto constant = ir::As<ir::ConstantOp>(&def)) return op::Constant(b, type, &constant->value());
    if (const auto assume = ir::As<ir::AssumeOp>(&def)) {
      const ir::Predicate& p = assume->predicate();
      const bool holds = p.kind == ir::Predicate::Kind::kDivBy && (!p.along.has_value() || *p.along != dim);
      if (!holds) return operands[0];
    }
    Op* copy = ir::CreateLike(b.module(), def, operands, {type});
    b.module()->Append(b.block(), copy);
    if (!ir::IotaOp::Is(&def)) return copy->result(0);
    return op::Muli(b, copy->result(0), op::Splat(b, type, static_cast<double>(group_)));
  }

  ir::Module* module_;
  const int64_t group_;
  absl::flat_hash_map<std::pair<const Value*, int>, Value*> firsts_;
};

// A product takes it as it is loaded, or rounded.
bool IsOnlyForProducts(const Value* v) {
  for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
    const Op& user = *use->owner;
    const bool moves = ir::PermuteOp::Is(&user) || ir::ReshapeOp::Is(&user) || ir::FToFOp::Is(&user);
    if (!IsProduct(user) && !(moves && IsOnlyForProducts(user.result(0)))) return false;
  }
  return true;
}

// A load, and how many neighbours along a dimension share what it loads.
struct Group {
  Op* load;
  int dim;
  int64_t size;
};

// The largest; of one element if there is none.
Group LargestGroup(ir::Module* module, Facts* facts, Op* load) {
  Group largest = {load, 0, 1};
  const ir::LoadPtrOp access(load);
  for (int d = 0; d < load->result(0)->type().rank(); ++d) {
    int64_t size = Size(load->result(0), d);
    std::vector<const Value*> operands = {access.source()};
    if (access.mask() != nullptr) operands.push_back(access.mask());
    if (access.padding_value() != nullptr) operands.push_back(access.padding_value());
    for (const Value* v : operands) {
      if (!v->type().is_scalar()) size = std::min<int64_t>(size, static_cast<int64_t>(facts->LineOf(v, d).equal));
    }
    if (size <= largest.size) continue;
    const Firsts firsts(module, size);
    if (std::all_of(operands.begin(), operands.end(), [&](const Value* v) { return firsts.Has(v, d); }))
      largest = {load, d, size};
  }
  return largest;
}

Value* Repeated(ir::Builder& b, Value* loaded, const Group& group, ir::Type all) {
  std::vector<int64_t> apart(loaded->type().shape().begin(), loaded->type().shape().end());
  const int behind = group.dim + 1;
  apart.insert(apart.begin() + behind, 1);
  Value* one = op::Reshape(b, b.types().Tile(all.element(), apart), loaded);
  apart[static_cast<size_t>(behind)] = group.size;
  return op::Reshape(b, all, op::Broadcast(b, b.types().Tile(all.element(), apart), one));
}

void Rewrite(ir::Module* module, const Group& group) {
  Op* load = group.load;
  const ir::LoadPtrOp access(load);
  Firsts firsts(module, group.size);
  std::vector<Value*> operands;
  for (int i = 0; i < load->num_operands(); ++i) {
    Value* v = load->operand(i);
    operands.push_back(v == access.token() ? v : firsts.Of(v, group.dim));
  }
  const ir::Type all = load->result(0)->type();
  ir::WriteBefore(module, load, [&](ir::Builder& b) {
    std::vector<ir::Type> types = ir::ResultTypesOf(*load);
    types[0] = SlicedType(b.types(), all, group.dim, group.size);
    Op* once = ir::CreateLike(module, *load, operands, types);
    module->Append(b.block(), once);
    for (int i = 1; i < load->num_results(); ++i) load->result(i)->ReplaceAllUsesWith(once->result(i));
    ir::Replace(load->result(0), Repeated(b, once->result(0), group, all));
  });
  load->Erase();
}

}  // namespace

absl::Status LoadOnce(Program& p) {
  std::vector<Op*> loads;
  ir::Walk(p.function->body(), [&](Op* op) {
    if (ir::LoadPtrOp::Is(op) && IsWeak(*op) && op->result(0)->type().rank() > 0) loads.push_back(op);
  });
  std::vector<Group> groups;
  {
    Facts facts;
    for (Op* load : loads) {
      if (IsOnlyForProducts(load->result(0))) continue;
      const Group group = LargestGroup(p.module.get(), &facts, load);
      if (group.size > 1) groups.push_back(group);
    }
  }
  for (const Group& group : groups) {
    const std::string where = p.module->Where(group.load->loc, group.load->pos);
    if (!p.trace().TakesStep("load-once", absl::StrCat(group.load->info()->mnemonic, " at ", where))) continue;
    if (p.trace().on_remark) {
      p.trace().on_remark(absl::StrCat(where, ": remark[load-once]: ", group.load->info()->mnemonic, ": ", group.size,
                                       " neighbours along dimension ", group.dim, " are loaded once"));
    }
    Rewrite(p.module.get(), group);
  }
  return absl::OkStatus();
}

}  // namespace tile::codegen
