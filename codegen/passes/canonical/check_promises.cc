#include "codegen/passes/canonical/check_promises.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/facts.h"
#include "codegen/analysis/view_dim.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

// The size of dimension t of the tensor under the view, if it is known.
std::optional<int64_t> SizeOf(const ir::Value* view, size_t t, Facts& facts) {
  const ir::Type tensor = view->type().tensor();
  if (tensor->shape[t] != ir::kDynamic) return tensor->shape[t];
  const auto maker = ir::As<ir::MakeTensorViewOp>(MakerOf(view));
  if (!maker.has_value()) return std::nullopt;
  size_t open = 0;
  for (size_t d = 0; d < t; ++d) open += tensor->shape[d] == ir::kDynamic ? 1 : 0;
  const Facts::Range range = facts.RangeOf(maker->dynamic_shape()[open]);
  if (range.lower != range.upper) return std::nullopt;
  return range.lower;
}

}  // namespace

absl::Status CheckPromises(Program& p) {
  Facts facts;
  ir::Walk(p.function->body(), [&](ir::Op* op) {
    const int place = op->info()->format->place(ir::Field::kInbounds).attr;
    if (place < 0 || !op->attr(place).present()) return;
    const ir::Value* view = ir::ViewAccessOp(*op).view();
    const ir::Type type = view->type();
    if (type.kind() != ir::TypeKind::kPartitionView) return;
    const absl::Span<const uint8_t> promised = op->attr(place).bools();
    std::vector<uint8_t> kept(promised.begin(), promised.end());
    for (size_t k = 0; k < kept.size(); ++k) {
      const int64_t tile = type.shape()[k];
      const std::optional<int64_t> size =
          kept[k] != 0 ? SizeOf(view, TensorDim(type, static_cast<int>(k)), facts) : std::nullopt;
      if (!size.has_value() || *size % tile == 0) continue;
      kept[k] = 0;
      if (p.trace().on_remark) {
        p.trace().on_remark(absl::StrCat(
            p.module->Where(op->loc, op->pos), ": remark[check-promises]: inbounds does not hold in dimension ", k,
            ", which has ", *size, " elements: tiles of ", tile, " leave it, so the access is tested"));
      }
    }
    op->set_attr(place, ir::Attr::Bools(p.module->arena().Copy(absl::MakeConstSpan(kept))));
  });
  return absl::OkStatus();
}

}  // namespace tile::codegen
