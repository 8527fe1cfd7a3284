#include "codegen/plan/tma/tensor_map.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/origin.h"
#include "codegen/analysis/view_dim.h"
#include "codegen/gpu/op_views.h"
#include "codegen/plan/tma/host_integer.h"
#include "ir/expr.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using host::Const;
using host::Join;
using host::Node;
using ir::Expr;
using ir::ExprNode;
using ir::ExprOp;
using ir::Value;

constexpr int kMostRank = 5;
// Coordinates are 32-bit, and those of a tile that lies outside, however far, are somewhere beyond (PlaceInTensor).
constexpr int64_t kMostSize = (int64_t{1} << 31) - (int64_t{1} << 25);

// By a descriptor of tf32 TMA rounds what it loads, to the nearest, ties to even. Of words that are tf32 already low bits are ignored.
ir::Elem ElementOf(ir::Elem view, const StagedTile& tile) {
  if (tile.rounded != nullptr) return tile.rounded->result(0)->type().elem();
  return view == ir::Elem::kTF32 ? ir::Elem::kF32 : view;
}

absl::Status NotKnown() {
  return absl::FailedPreconditionError(
      "the host does not know the tensor: its address must be a parameter, sizes and strides parameters or constants");
}

// Adds a requirement for every launch; an error if the condition is known to be false.
absl::Status Require(TensorMap* map, Expr condition, std::string text) {
  const absl::StatusOr<int64_t> always =
      ir::EvaluateExpr(condition, [](const ExprNode&) { return absl::UnavailableError("known at run time"); });
  if (!always.ok()) {
    map->requirements.push_back({std::move(condition), std::move(text)});
  } else if (*always == 0) {
    return absl::FailedPreconditionError(absl::StrCat("it does not hold that ", text));
  }
  return absl::OkStatus();
}

Expr MultipleOfAlignment(Expr bytes) {
  return Join(Join(std::move(bytes), {Const(kTmaAlignment)}, Node(ExprOp::kMod)), {Const(0)}, Node(ExprOp::kEqual));
}

}  // namespace

bool AllowsTma(const ir::Op& access) {
  if (gpu::TmaLoadOp::Is(&access)) return true;  // it is one
  const ir::Hints* hints = ir::OpView<ir::WithFields<ir::Field::kHints>>(access).hints();
  if (hints == nullptr) return true;
  for (const ir::ArchHints& a : hints->archs) {
    if (a.arch != "default") continue;
    for (const ir::Hint& hint : a.hints) {
      if (hint.name == "allow_tma" && hint.kind == ir::Hint::Kind::kBool) return hint.number != 0;
    }
  }
  return true;
}

std::vector<int> MapOrder(const ir::Op& access) { return MapOrder(ir::ViewAccessOp(access).view()->type()); }

std::vector<int> MapOrder(ir::Type view) {
  const ir::Type tensor = view.tensor();
  const int rank = static_cast<int>(tensor->shape.size());
  // The one of stride 1 that the tile runs along; the others in row-major order.
  int first = -1;
  for (int k = 0; k < view.rank(); ++k) {
    const int d = static_cast<int>(TensorDim(view, k));
    if (tensor->strides[static_cast<size_t>(d)] == 1 && view.shape()[static_cast<size_t>(k)] > 1) first = d;
  }
  std::vector<int> order = {first};
  for (int d = rank - 1; d >= 0; --d) {
    if (d != first) order.push_back(d);
  }
  return order;
}

namespace {

// Along the contiguous dimension copies begin at multiples of 16 bytes. The PTX ISA does not ask for it, but the hardware ends a kernel with
// "illegal instruction" where they don't, and stores write whole pieces.
bool BeginsAligned(const ir::Op& access, int dim, int element_bits) {
  const ir::Type view = ir::ViewAccessOp(access).view()->type();
  for (int k = 0; k < view.rank(); ++k) {
    if (static_cast<int>(TensorDim(view, k)) != dim) continue;
    if (GridStep(view, k) * element_bits / 8 % kTmaAlignment != 0) return false;
  }
  return true;
}

}  // namespace

absl::Status WhyNotDescribed(const ir::Op& access, const StagedTile& tile) {
  if (!AllowsTma(access)) return absl::FailedPreconditionError("a hint says allow_tma = false");
  const ir::Type view = ir::ViewAccessOp(access).view()->type();
  const int rank = static_cast<int>(view.tensor()->shape.size());
  if (rank > kMostRank || view.rank() != rank) {
    return absl::FailedPreconditionError(absl::StrCat("the tensor has more than ", kMostRank, " dimensions"));
  }
  if (!tile.tma_converts()) return absl::FailedPreconditionError("what is loaded is converted as TMA does not");
  if (!BeginsAligned(access, MapOrder(access)[0], tile.element_bits))
    return absl::FailedPreconditionError("its rows may begin at addresses that are no multiples of 16 bytes");
  return absl::OkStatus();
}

ir::Elem MapElement(const ir::Op& access, const StagedTile& tile) {
  if (const auto load = ir::As<gpu::TmaLoadOp>(&access); load && load->rounds()) return ir::Elem::kTF32;
  return ElementOf(ir::ViewAccessOp(access).view()->type().elem(), tile);
}

int64_t BoxSize(const ir::Op& access, const StagedTile& tile, int dim, int parts) {
  const ir::Type view = ir::ViewAccessOp(access).view()->type();
  int64_t box = 1;
  for (int k = 0; k < view.rank(); ++k) {
    if (static_cast<int>(TensorDim(view, k)) != dim) continue;
    if (k == tile.contiguous) box = tile.chunk_elements();
    if (k == tile.other) box = BoxRows(tile, parts);
  }
  return box;
}

absl::StatusOr<TensorMap> MapTensor(const ir::Op& access, const StagedTile& tile, int parts) {
  const auto maker = ir::As<ir::MakeTensorViewOp>(MakerOf(ir::ViewAccessOp(access).view()));
  if (!maker) return NotKnown();
  const Value* base = Assumed(maker->base());
  if (!IsParameter(base)) return NotKnown();
  if (absl::Status s = WhyNotDescribed(access, tile); !s.ok()) return s;
  const ir::Type tensor = ir::ViewAccessOp(access).view()->type().tensor();

  TensorMap map;
  ir::TmaDescriptor& d = map.descriptor;
  d.element = MapElement(access, tile);
  d.base_param = static_cast<uint32_t>(base->index());
  const std::string name = absl::StrCat("the tensor at parameter ", base->index());
  absl::Status status =
      Require(&map, {Const(kTmaAlignment - 1), {ExprOp::kAlign, base->index(), 0, 0}, Node(ExprOp::kLess)},
              absl::StrCat("the address of ", name, " is a multiple of ", kTmaAlignment, " bytes"));
  const auto bytes = [&](const Expr& elements) {
    return Join(elements, {Const(tile.element_bits / 8)}, Node(ExprOp::kMul));
  };
  std::vector<Expr> products;
  const auto host = [&](const std::vector<int64_t>& fixed, ir::OperandRange given, int dim) -> std::optional<Expr> {
    const int64_t n = fixed[static_cast<size_t>(dim)];
    if (n != ir::kDynamic) return Expr{Const(n)};
    size_t open = 0;
    for (int i = 0; i < dim; ++i) open += fixed[static_cast<size_t>(i)] == ir::kDynamic;
    return HostInteger(given[open], &products);
  };
  const std::vector<int> order = MapOrder(access);
  for (size_t i = 0; i < order.size(); ++i) {
    const int dim = order[i];
    std::optional<Expr> size = host(tensor->shape, maker->dynamic_shape(), dim);
    if (!size) return NotKnown();
    const std::string size_name = absl::StrCat("size ", dim, " of ", name);
    status.Update(Require(&map, Join({Const(0)}, *size, Node(ExprOp::kLess)), absl::StrCat(size_name, " is not 0")));
    status.Update(Require(&map, Join(*size, {Const(kMostSize)}, Node(ExprOp::kLess)),
                          absl::StrCat(size_name, " is less than 2^31 - 2^25")));
    // What a store writes along the contiguous dimension ends at a multiple of 16 bytes, beyond the tensor's end.
    if (i == 0 && ir::StoreViewOp::Is(&access)) {
      status.Update(Require(&map, MultipleOfAlignment(bytes(*size)),
                            absl::StrCat(size_name, " is a multiple of ", kTmaAlignment, " bytes")));
    }
    d.sizes.push_back(*std::move(size));
    d.box.push_back(static_cast<uint32_t>(BoxSize(access, tile, dim, parts)));
    if (i == 0) continue;
    std::optional<Expr> stride = host(tensor->strides, maker->dynamic_strides(), dim);
    if (!stride) return NotKnown();
    const std::string stride_name = absl::StrCat("stride ", dim, " of ", name);
    status.Update(
        Require(&map, Join({Const(0)}, *stride, Node(ExprOp::kLess)), absl::StrCat(stride_name, " is positive")));
    status.Update(Require(&map, MultipleOfAlignment(bytes(*stride)),
                          absl::StrCat(stride_name, " is a multiple of ", kTmaAlignment, " bytes")));
    d.strides.push_back(bytes(*stride));
  }
  for (const Expr& product : products) {
    status.Update(
        Require(&map, Join(product, {Const(int64_t{1} << 31)}, Node(ExprOp::kLess)),
                absl::StrCat("a product of integers that are sizes or strides of ", name, " is less than 2^31")));
  }
  if (!status.ok()) return status;
  // CU_TENSOR_MAP_SWIZZLE_32B, 64B, 128B; CU_TENSOR_MAP_L2_PROMOTION_L2_256B.
  d.swizzle = static_cast<uint8_t>(SwizzleMode(tile.swizzle));
  d.l2_promotion = 3;
  return map;
}

}  // namespace tile::codegen
