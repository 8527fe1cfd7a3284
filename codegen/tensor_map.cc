#include "codegen/tensor_map.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace tile::codegen {
namespace {

using ir::Expr;
using ir::ExprNode;
using ir::ExprOp;
using ir::Opcode;
using ir::Value;

constexpr int kMostRank = 5;
constexpr int64_t kTmaAlignment = 16;             // bytes, of addresses and strides
constexpr int64_t kMostSize = int64_t{1} << 31;   // coordinates are 32-bit

ExprNode Const(int64_t v) { return {ExprOp::kConst, 0, 0, v}; }
ExprNode Node(ExprOp op) { return {op, 0, 0, 0}; }

const Value* Assumed(const Value* v) {
  while (v->def() != nullptr && v->def()->opcode() == Opcode::kAssume) v = v->def()->operand(0);
  return v;
}

bool IsParameter(const Value* v) { return v->def() == nullptr && v->block()->parent() == nullptr; }

// An integer that the host knows: a parameter or a constant, perhaps extended.
std::optional<Expr> HostInteger(const Value* v) {
  v = Assumed(v);
  const ir::Op* def = v->def();
  if (def != nullptr && def->opcode() == Opcode::kExti) return HostInteger(def->operand(0));
  if (IsParameter(v)) return Expr{{ExprOp::kScalar, v->index(), 0, 0}};
  if (def == nullptr || def->opcode() != Opcode::kConstant) return std::nullopt;
  const ir::Dense& d = def->attr("value").dense();
  uint64_t bits = 0;
  std::memcpy(&bits, d.bytes.data(), static_cast<size_t>(ir::StorageBytes(d.elem)));
  return Expr{Const(static_cast<int64_t>(bits))};
}

void Require(TensorMap* map, Expr condition, std::string text) {
  map->requirements.push_back({std::move(condition), std::move(text)});
}

Expr Join(Expr a, const Expr& b, ExprNode op) {
  a.insert(a.end(), b.begin(), b.end());
  a.push_back(op);
  return a;
}

}  // namespace

std::vector<int> MapOrder(const ir::Op& load) {
  const ir::Type view = load.operand("view")->type(), tensor = view.tensor();
  const int rank = static_cast<int>(tensor->shape.size());
  // The one of stride 1 that the tile runs along; the others in row-major order.
  int first = -1;
  for (int k = 0; k < view.rank(); ++k) {
    const int d = view->dim_map.empty() ? k : static_cast<int>(view->dim_map[static_cast<size_t>(k)]);
    if (tensor->strides[static_cast<size_t>(d)] == 1 && view.shape()[static_cast<size_t>(k)] > 1) first = d;
  }
  std::vector<int> order = {first};
  for (int d = rank - 1; d >= 0; --d) {
    if (d != first) order.push_back(d);
  }
  return order;
}

std::optional<TensorMap> MapTensor(const ir::Op& load, const StagedTile& tile, int parts) {
  const ir::Value* tensor_value = load.operand("view");
  while (tensor_value->def() != nullptr && tensor_value->def()->opcode() != Opcode::kMakeTensorView) {
    if (tensor_value->def()->num_operands() == 0) return std::nullopt;
    tensor_value = tensor_value->def()->operand(0);
  }
  const ir::Op* maker = tensor_value->def();
  if (maker == nullptr) return std::nullopt;
  const Value* base = Assumed(maker->operand("base"));
  if (!IsParameter(base)) return std::nullopt;
  const ir::Type view = load.operand("view")->type(), tensor = view.tensor();
  const int rank = static_cast<int>(tensor->shape.size());
  if (rank > kMostRank || view.rank() != rank) return std::nullopt;

  TensorMap map;
  ir::TmaDescriptor& d = map.descriptor;
  d.element = view.elem();
  d.base_param = static_cast<uint32_t>(base->index());
  const std::string name = absl::StrCat("the tensor at parameter ", base->index());
  Require(&map, {Const(kTmaAlignment - 1), {ExprOp::kAlign, base->index(), 0, 0}, Node(ExprOp::kLess)},
          absl::StrCat("the address of ", name, " is a multiple of ", kTmaAlignment, " bytes"));
  const auto host = [&](const std::vector<int64_t>& fixed, const char* field, int dim) -> std::optional<Expr> {
    const int64_t n = fixed[static_cast<size_t>(dim)];
    if (n != ir::kDynamic) return Expr{Const(n)};
    size_t open = 0;
    for (int i = 0; i < dim; ++i) open += fixed[static_cast<size_t>(i)] == ir::kDynamic;
    return HostInteger(maker->group(field)[open]);
  };
  const std::vector<int> order = MapOrder(load);
  for (size_t i = 0; i < order.size(); ++i) {
    const int dim = order[i];
    std::optional<Expr> size = host(tensor->shape, "dynamic_shape", dim);
    if (!size) return std::nullopt;
    Require(&map, Join({Const(0)}, *size, Node(ExprOp::kLess)), absl::StrCat("size ", dim, " of ", name, " is not 0"));
    Require(&map, Join(*size, {Const(kMostSize)}, Node(ExprOp::kLess)),
            absl::StrCat("size ", dim, " of ", name, " is less than 2^31"));
    d.sizes.push_back(*std::move(size));
    int64_t box = 1;
    for (int k = 0; k < view.rank(); ++k) {
      const int of = view->dim_map.empty() ? k : static_cast<int>(view->dim_map[static_cast<size_t>(k)]);
      if (of != dim) continue;
      if (k == tile.contiguous) box = tile.chunk_elements();
      if (k == tile.other) box = BoxRows(tile, parts);
    }
    d.box.push_back(static_cast<uint32_t>(box));
    if (i == 0) continue;
    std::optional<Expr> stride = host(tensor->strides, "dynamic_strides", dim);
    if (!stride) return std::nullopt;
    Expr bytes = Join(*stride, {Const(tile.element_bits / 8)}, Node(ExprOp::kMul));
    Require(&map, Join({Const(0)}, *stride, Node(ExprOp::kLess)), absl::StrCat("stride ", dim, " of ", name, " is positive"));
    Expr multiple = Join(bytes, {Const(kTmaAlignment)}, Node(ExprOp::kMod));
    Require(&map, Join(std::move(multiple), {Const(0)}, Node(ExprOp::kEqual)),
            absl::StrCat("stride ", dim, " of ", name, " is a multiple of ", kTmaAlignment, " bytes"));
    d.strides.push_back(std::move(bytes));
  }
  // CU_TENSOR_MAP_SWIZZLE_32B, 64B, 128B; CU_TENSOR_MAP_L2_PROMOTION_L2_256B.
  d.swizzle = tile.swizzle == 32 ? 1 : tile.swizzle == 64 ? 2 : 3;
  d.l2_promotion = 3;
  return map;
}

}  // namespace tile::codegen
