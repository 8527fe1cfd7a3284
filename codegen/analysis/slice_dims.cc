#include "codegen/analysis/slice_dims.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/facts.h"
#include "codegen/analysis/op_rules.h"
#include "codegen/analysis/view_dim.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Opcode;
using Dims = std::vector<int>;

bool IsTile(ir::Type t) { return t.is_tile() && t.rank() > 0; }

std::string Same(const Op& op, int dim, int64_t, Dims* dims) {
  for (int i = 0; i < op.num_operands(); ++i) {
    if (IsTile(op.operand(i)->type())) (*dims)[static_cast<size_t>(i)] = dim;
  }
  return "";
}

std::string Constant(const Op& op, int, int64_t, Dims*) {
  return ir::ConstantOp(op).value().splat ? "" : "a constant of many values is given as a whole";
}

std::string Iota(const Op&, int, int64_t, Dims*) { return ""; }

std::string Broadcast(const Op& op, int dim, int64_t, Dims* dims) {
  if (op.operand(0)->type().shape()[static_cast<size_t>(dim)] > 1) (*dims)[0] = dim;
  return "";
}

// The same elements, if as many precede the dimension and it can be cut as often.
std::string Reshape(const Op& op, int dim, int64_t slices, Dims* dims) {
  const auto to = op.result(0)->type().shape(), from = op.operand(0)->type().shape();
  int64_t before = 1, product = 1;
  for (int d = 0; d < dim; ++d) before *= to[static_cast<size_t>(d)];
  for (size_t d = 0; d < from.size(); ++d) {
    if (product == before && from[d] >= slices) {
      (*dims)[0] = static_cast<int>(d);
      return "";
    }
    product *= from[d];
  }
  return "a reshape moves elements between slices";
}

std::string Permute(const Op& op, int dim, int64_t, Dims* dims) {
  (*dims)[0] = static_cast<int>(ir::PermuteOp(op).permutation()[static_cast<size_t>(dim)]);
  return "";
}

// Scalars in a straight line can be copied, and done on tiles.
bool IsPlain(const ir::Block& body) {
  for (const Op* op : body) {
    const bool plain = op->info()->has(ir::kElementwise) || op->opcode() == Opcode::kConstant || op == body.back();
    if (!plain) return false;
  }
  return true;
}

constexpr char kBody[] = "its body does more than combine two elements";

std::string Reduce(const Op& op, int dim, int64_t slices, Dims* dims) {
  if (!IsPlain(*op.region(0))) return kBody;
  return Same(op, dim + (dim >= ir::ReduceOp(op).dim() ? 1 : 0), slices, dims);
}

std::string Scan(const Op& op, int dim, int64_t slices, Dims* dims) {
  if (!IsPlain(*op.region(0))) return kBody;
  return Same(op, dim, slices, dims);
}

std::string View(const Op& op, int dim, int64_t slices, Dims* dims) {
  const ir::Type view = ir::ViewAccessOp(op).view()->type();
  const bool gather = view.kind() == ir::TypeKind::kGatherScatterView, picked = gather && dim == view->sparse_dim;
  Same(op, dim, slices, dims);
  if (gather) {
    const auto at = static_cast<size_t>(ir::ViewAccessOp(op).index_at() + view->sparse_dim);
    (*dims)[at] = picked ? 0 : kWhole;
  }
  return "";
}

// Indices are of one dimension; along another one a slice begins further inside of the tensor.
std::string Scatter(const Op& op, int dim, int64_t slices, Dims* dims) {
  const ir::ScatterOp scatter(op);
  if (dim != scatter.dim() && !ir::MakeTensorViewOp::Is(scatter.view()->def()))
    return "slices of a shared array along another dimension than that of the indices have no view";
  return Same(op, dim, slices, dims);
}

std::string Product(const Op& op, int dim, int64_t, Dims* dims) {
  const Dims of_all = ProductDims(op, dim);
  dims->assign(of_all.begin(), of_all.begin() + op.num_operands());
  return "";
}

std::string Whole(const Op&, int, int64_t, Dims*) { return "it works on whole tiles"; }

// By SliceRule.
constexpr std::string (*kRules[])(const Op&, int, int64_t, Dims*) = {
    Whole, Same, Constant, Iota, Broadcast, Reshape, Permute, Reduce, Scan, View, Scatter, Product,
};

// Operands of accesses that go to memory.
constexpr ir::Field kWritten[] = {ir::Field::kTile, ir::Field::kValue, ir::Field::kValues, ir::Field::kArg,
                                  ir::Field::kVal};

}  // namespace

std::string OperandDims(const Op& op, int dim, int64_t slices, std::vector<int>* dims) {
  dims->assign(static_cast<size_t>(op.num_operands()), kWhole);
  return kRules[static_cast<size_t>(RuleOf(op).slice)](op, dim, slices, dims);
}

std::vector<int> ProductDims(const Op& mma, int dim) {
  const int rank = mma.result(0)->type().rank();
  const int left = dim == rank - 1 ? kWhole : dim, right = dim == rank - 2 ? kWhole : dim;
  return {left, right, dim, left, right};
}

std::string WhyNotCarried(const Op& reduce) { return IsPlain(*reduce.region(0)) ? "" : kBody; }

ir::Type SlicedType(ir::TypeContext& types, ir::Type t, int dim, int64_t slices) {
  std::vector<int64_t> shape(t.shape().begin(), t.shape().end());
  shape[static_cast<size_t>(dim)] /= slices;
  return types.Tile(t.element(), shape);
}

bool IsWeak(const Op& op) {
  return ir::StoreScatterViewOp::Is(&op) || (ir::OrderedOp::Is(&op) && ir::OrderingOf(op) == ir::MemoryOrdering::kWeak);
}

const ir::Value* WrittenTile(const Op& op) {
  if (!op.info()->has(ir::kWrites)) return nullptr;
  for (ir::Field field : kWritten) {
    if (const ir::Value* v = ir::FindOperand(op, field)) return v;
  }
  return nullptr;
}

bool GivesTile(const Op& op) {
  return op.num_results() > 0 && IsTile(op.result(0)->type()) && op.result(0)->has_uses();
}

bool ScansAlong(const Op& op, int dim) { return ir::ScanOp::Is(&op) && dim == ir::ScanOp(op).dim(); }

bool IsAccessOfMemory(const Op& op) { return op.info()->is_access(); }

bool StaysInside(const Op& access, int k) {
  const auto u = static_cast<size_t>(k);
  const auto inbounds = ir::ViewAccessOp(access).inbounds();
  if (!inbounds.empty() && inbounds[u] != 0) return true;
  const ir::Type view = ir::ViewAccessOp(access).view()->type();
  const int64_t size = view.tensor()->shape[TensorDim(view, k)];
  return view.kind() == ir::TypeKind::kPartitionView && size != ir::kDynamic && size % view.shape()[u] == 0;
}

const ir::Predicate* SlicedPredicate(ir::Module* module, const Op& assume, int dim, int64_t length) {
  ir::Predicate p = ir::AssumeOp(assume).predicate();
  const auto length_u = static_cast<uint64_t>(length);
  if (p.kind == ir::Predicate::Kind::kDivBy && p.along.has_value() && *p.along == dim && *p.every > 0 &&
      length % *p.every != 0) {
    // Groups begin inside of slices, or go beyond their end: then each slice is a group, which begins at a multiple of
    // what divides both.
    if (*p.every % length != 0) return nullptr;
    const ir::Element e = assume.result(0)->type().element();
    const uint64_t unit = e.is_pointer() ? static_cast<uint64_t>(std::max(1, ir::MemoryBits(e.pointee) / 8)) : 1;
    p.every = length;
    p.divisor = std::min(PowerOfTwoIn(p.divisor), PowerOfTwoIn(length_u * unit));
  } else if (p.kind == ir::Predicate::Kind::kSameElements) {
    std::vector<int64_t> groups(p.groups.begin(), p.groups.end());
    int64_t& n = groups[static_cast<size_t>(dim)];
    if (n > 1 && length % n != 0) n = n % length == 0 ? length : 1;
    p.groups = module->arena().Copy(absl::Span<const int64_t>(groups));
  }
  return module->arena().New<ir::Predicate>(p);
}

}  // namespace tile::codegen
