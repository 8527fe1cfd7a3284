#include "codegen/plan/tma/device_tensor_map.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/facts.h"
#include "codegen/analysis/view_dim.h"
#include "codegen/plan/tma/tensor_map.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

constexpr int64_t kMostSize = (int64_t{1} << 31) - 1, kMostStride = (int64_t{1} << 40) - 1;

absl::Status No(absl::string_view what, int dim) {
  return absl::FailedPreconditionError(absl::StrCat("the host does not know the tensor, and nothing says that its ",
                                                    what, dim < 0 ? "" : absl::StrCat(" ", dim),
                                                    dim < 0 ? " is a multiple of 16 bytes" : " is what TMA takes"));
}

// Sizes or strides of a tensor, which its type or an operand says.
struct Numbers {
  const std::vector<int64_t>& fixed;
  ir::OperandRange open;

  // Null: it is fixed.
  const ir::Value* At(int dim) const {
    size_t next = 0;
    for (int i = 0; i < dim; ++i) next += fixed[static_cast<size_t>(i)] == ir::kDynamic ? 1 : 0;
    return fixed[static_cast<size_t>(dim)] == ir::kDynamic ? open[next] : nullptr;
  }
};

}  // namespace

absl::Status WhyNotMade(const ir::Op& load, const StagedTile& tile, const ir::Op& loop) {
  if (absl::Status s = WhyNotDescribed(load, tile); !s.ok()) return s;
  const ir::Op* tensor = MakerOf(ir::ViewAccessOp(load).view());
  if (tensor == nullptr || !ir::MakeTensorViewOp::Is(tensor))
    return absl::FailedPreconditionError("what it loads is no tensor");
  if (ir::IsInside(tensor->result(0), &loop))
    return absl::FailedPreconditionError("each iteration may have another tensor");
  const ir::MakeTensorViewOp maker(tensor);
  const ir::Type type = tensor->result(0)->type();
  const int64_t bytes = tile.element_bits / 8;
  Facts facts;
  const auto aligned = [&](int64_t of) { return of % kTmaAlignment == 0; };
  if (!aligned(static_cast<int64_t>(facts.Divisor(maker.base())))) return No("address", -1);
  const Numbers sizes = {type->shape, maker.dynamic_shape()}, strides = {type->strides, maker.dynamic_strides()};
  const std::vector<int> order = MapOrder(load);
  for (size_t i = 0; i < order.size(); ++i) {
    const int dim = order[i];
    const auto between = [&](const Numbers& numbers) {
      const int64_t n = numbers.fixed[static_cast<size_t>(dim)];
      return numbers.At(dim) != nullptr ? facts.RangeOf(numbers.At(dim)) : Facts::Range{n, n};
    };
    if (const Facts::Range size = between(sizes); size.negative() || size.upper > kMostSize) return No("size", dim);
    if (i == 0) continue;
    const Facts::Range range = between(strides);
    const int64_t divisor =
        strides.At(dim) != nullptr ? static_cast<int64_t>(facts.Divisor(strides.At(dim))) : range.lower;
    if (range.negative() || range.upper > kMostStride / bytes || !aligned(divisor * bytes)) return No("stride", dim);
  }
  return absl::OkStatus();
}

DeviceTensorMap TensorPartOf(const ir::Value* view) {
  DeviceTensorMap map;
  map.tensor = MakerOf(view);
  map.order = MapOrder(view->type());
  map.element = view->type().elem();
  map.element_bytes = ir::MemoryBits(map.element) / 8;
  return map;
}

DeviceTensorMap DeviceTensorMapOf(const ir::Op& load, const StagedTile& tile) {
  DeviceTensorMap map = TensorPartOf(ir::ViewAccessOp(load).view());
  for (int dim : map.order) map.box.push_back(static_cast<uint32_t>(BoxSize(load, tile, dim, 1)));
  map.element = MapElement(load, tile);
  map.element_bytes = tile.element_bits / 8;
  map.swizzle = tile.swizzle;
  return map;
}

bool HostKnows(const StagedTile& tile) { return MapTensor(*tile.load, tile, 1).ok(); }

absl::Status WhyNotMapped(const StagedTile& tile, const ir::Op& loop) {
  return HostKnows(tile) ? absl::OkStatus() : WhyNotMade(*tile.load, tile, loop);
}

}  // namespace tile::codegen
