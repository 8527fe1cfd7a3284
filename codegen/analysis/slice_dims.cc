#include "codegen/analysis/slice_dims.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/facts.h"
#include "codegen/analysis/view_dim.h"

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
  return op.attr("value").dense().splat ? "" : "a constant of many values is given as a whole";
}

std::string Iota(const Op&, int, int64_t, Dims*) { return ""; }

std::string Broadcast(const Op& op, int dim, int64_t, Dims* dims) {
  if (op.operand(0)->type().shape()[static_cast<size_t>(dim)] > 1) (*dims)[0] = dim;
  return "";
}

// The same elements, if as many lie in front of the dimension and it can be cut as often.
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
  (*dims)[0] = static_cast<int>(op.attr("permutation").ints()[static_cast<size_t>(dim)]);
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
  return Same(op, dim + (dim >= op.attr("dim").as_int() ? 1 : 0), slices, dims);
}

std::string Scan(const Op& op, int dim, int64_t slices, Dims* dims) {
  if (!IsPlain(*op.region(0))) return kBody;
  return Same(op, dim, slices, dims);
}

std::string View(const Op& op, int dim, int64_t slices, Dims* dims) {
  const ir::Type view = op.operand("view")->type();
  const bool gather = view.kind() == ir::TypeKind::kGatherScatterView, picked = gather && dim == view->sparse_dim;
  // Of a single element code generation believes that it lies inside, unless an index tile picks it.
  if (!picked && view.shape()[static_cast<size_t>(dim)] < 2 * slices && !StaysInside(op, dim))
    return "slices would be single elements";
  Same(op, dim, slices, dims);
  if (gather) {
    const auto at = static_cast<size_t>(op.group_begin(op.info()->format->operand_index("index")) + view->sparse_dim);
    (*dims)[at] = picked ? 0 : kWhole;
  }
  return "";
}

// Indices stand for one dimension; along another one a slice begins further inside of the tensor.
std::string Scatter(const Op& op, int dim, int64_t slices, Dims* dims) {
  const Op* view = op.operand("view")->def();
  if (dim != op.attr("dim").as_int() && (view == nullptr || view->opcode() != Opcode::kMakeTensorView))
    return "slices of a shared array along another dimension than that of the indices have no view";
  return Same(op, dim, slices, dims);
}

std::string Product(const Op& op, int dim, int64_t, Dims* dims) {
  const Dims of_all = ProductDims(op, dim);
  dims->assign(of_all.begin(), of_all.begin() + op.num_operands());
  return "";
}

struct Row {
  Opcode op;
  std::string (*rule)(const Op&, int, int64_t, Dims*);
};
constexpr Row kRules[] = {
    {Opcode::kConstant, Constant},   {Opcode::kIota, Iota},       {Opcode::kAssume, Same},
    {Opcode::kBroadcast, Broadcast}, {Opcode::kReshape, Reshape}, {Opcode::kPermute, Permute},
    {Opcode::kReduce, Reduce},       {Opcode::kScan, Scan},       {Opcode::kLoadPtr, Same},
    {Opcode::kStorePtr, Same},       {Opcode::kLoadView, View},   {Opcode::kStoreView, View},
    {Opcode::kAtomicRmw, Same},      {Opcode::kAtomicCas, Same},  {Opcode::kAtomicRedView, View},
    {Opcode::kAtomicRmwView, View},  {Opcode::kAtomicCasView, View},
    {Opcode::kAtomicScatterView, Scatter},
    {Opcode::kStoreScatterView, Scatter},
    {Opcode::kMmaF, Product},        {Opcode::kMmaI, Product},    {Opcode::kMmaScaled, Product},
};

// Operands of accesses that go to memory.
constexpr const char* kWritten[] = {"tile", "value", "values", "arg", "val"};

}  // namespace

std::string OperandDims(const Op& op, int dim, int64_t slices, std::vector<int>* dims) {
  dims->assign(static_cast<size_t>(op.num_operands()), kWhole);
  if (op.info()->has(ir::kElementwise)) return Same(op, dim, slices, dims);
  for (const Row& row : kRules) {
    if (row.op == op.opcode()) return row.rule(op, dim, slices, dims);
  }
  return "it works on whole tiles";
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
  const int i = op.info()->format->attr_index("ordering");
  return op.opcode() == Opcode::kStoreScatterView || (i >= 0 && op.attr(i).as_enum<ir::MemoryOrdering>() == ir::MemoryOrdering::kWeak);
}

const ir::Value* WrittenTile(const Op& op) {
  if (!op.info()->has(ir::kWrites)) return nullptr;
  for (const char* field : kWritten) {
    if (op.info()->format->operand_index(field) >= 0) return op.operand(field);
  }
  return nullptr;
}

bool GivesTile(const Op& op) { return op.num_results() > 0 && IsTile(op.result(0)->type()) && op.result(0)->has_uses(); }

bool ScansAlong(const Op& op, int dim) { return op.opcode() == Opcode::kScan && dim == op.attr("dim").as_int(); }

bool IsAccessOfMemory(const Op& op) { return op.info()->has(ir::kReads) || op.info()->has(ir::kWrites); }

bool StaysInside(const Op& access, int k) {
  const auto u = static_cast<size_t>(k);
  const auto inbounds = access.attr("inbounds").bools();
  if (!inbounds.empty() && inbounds[u] != 0) return true;
  const ir::Type view = access.operand("view")->type();
  const int64_t size = view.tensor()->shape[TensorDim(view, k)];
  return view.kind() == ir::TypeKind::kPartitionView && size != ir::kDynamic && size % view.shape()[u] == 0;
}

const ir::Predicate* SlicedPredicate(ir::Module* module, const Op& assume, int dim, int64_t length) {
  ir::Predicate p = assume.attr("predicate").predicate();
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
