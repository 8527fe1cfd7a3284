#include "codegen/passes/slice_rules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/facts.h"
#include "codegen/view_dim.h"

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
  if (dim == op.attr("dim").as_int()) return "a scan goes along the slices";
  return Same(op, dim, slices, dims);
}

std::string Pointers(const Op& op, int dim, int64_t slices, Dims* dims) {
  return IsWeak(op) ? Same(op, dim, slices, dims) : "its accesses are ordered";
}

std::string View(const Op& op, int dim, int64_t slices, Dims* dims) {
  if (!IsWeak(op)) return "its accesses are ordered";
  const ir::Type view = op.operand("view")->type();
  if (!view.is_grid_view()) return "rows are picked by an index tile";
  // Of a single element code generation believes that it lies inside.
  if (view.shape()[static_cast<size_t>(dim)] < 2 * slices && !StaysInside(op, dim))
    return "slices would be single elements";
  return Same(op, dim, slices, dims);
}

struct Row {
  Opcode op;
  std::string (*rule)(const Op&, int, int64_t, Dims*);
};
constexpr Row kRules[] = {
    {Opcode::kConstant, Constant},   {Opcode::kIota, Iota},       {Opcode::kAssume, Same},
    {Opcode::kBroadcast, Broadcast}, {Opcode::kReshape, Reshape}, {Opcode::kPermute, Permute},
    {Opcode::kReduce, Reduce},       {Opcode::kScan, Scan},       {Opcode::kLoadPtr, Pointers},
    {Opcode::kStorePtr, Pointers},   {Opcode::kLoadView, View},   {Opcode::kStoreView, View},
};

}  // namespace

std::string OperandDims(const Op& op, int dim, int64_t slices, std::vector<int>* dims) {
  dims->assign(static_cast<size_t>(op.num_operands()), kWhole);
  if (op.info()->has(ir::kElementwise)) return Same(op, dim, slices, dims);
  for (const Row& row : kRules) {
    if (row.op == op.opcode()) return row.rule(op, dim, slices, dims);
  }
  return "it works on whole tiles";
}

std::string WhyNotCarried(const Op& reduce) { return IsPlain(*reduce.region(0)) ? "" : kBody; }

ir::Type SlicedType(ir::TypeContext& types, ir::Type t, int dim, int64_t slices) {
  std::vector<int64_t> shape(t.shape().begin(), t.shape().end());
  shape[static_cast<size_t>(dim)] /= slices;
  return types.Tile(t.element(), shape);
}

bool IsWeak(const Op& op) {
  const int i = op.info()->format->attr_index("ordering");
  return i >= 0 && op.attr(i).as_enum<ir::MemoryOrdering>() == ir::MemoryOrdering::kWeak;
}

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
