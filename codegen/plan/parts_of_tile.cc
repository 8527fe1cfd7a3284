#include "codegen/plan/parts_of_tile.h"

#include "codegen/plan/tile_layout.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {

std::optional<std::vector<int64_t>> ExtractedPart(const ir::Op& extract) {
  const ir::ExtractOp op(&extract);
  std::vector<int64_t> which;
  for (const ir::Value* index : op.indices()) {
    const auto number = ir::SplatOf(index);
    if (!number) return std::nullopt;
    which.push_back(static_cast<int64_t>(*number));
  }
  const auto source = op.source()->type().shape(), part = extract.result(0)->type().shape();
  for (size_t d = 0; d < which.size(); ++d) {
    if (which[d] >= source[d] / part[d]) return std::nullopt;  // not defined
  }
  return which;
}

std::optional<Layout> PartLayout(const ir::Op& op, const Layout& whole) {
  if (ir::ExtractOp::Is(&op) && !ExtractedPart(op)) return std::nullopt;
  const ir::Type part = ir::ExtractOp::Is(&op) ? op.result(0)->type() : op.operand(0)->type();
  const auto parts = RegisterParts::Of(whole, part.shape());
  return parts ? std::optional<Layout>(parts->layout()) : std::nullopt;
}

std::optional<RegisterParts> PartsOfTile(const ir::Op& op) {
  const bool extracts = ir::ExtractOp::Is(&op);
  if (extracts ? !ExtractedPart(op).has_value() : !ir::CatOp::Is(&op)) return std::nullopt;
  const ir::Value *whole = extracts ? op.operand(0) : op.result(0), *part = extracts ? op.result(0) : op.operand(0);
  if (LayoutOf(whole->type()) == nullptr || LayoutOf(part->type()) == nullptr) return std::nullopt;
  auto parts = RegisterParts::Of(*LayoutOf(whole->type()), part->type().shape());
  if (!parts || parts->layout() != *LayoutOf(part->type())) return std::nullopt;
  if (!extracts && parts->layout() != *LayoutOf(op.operand(1)->type())) return std::nullopt;
  return parts;
}

}  // namespace tile::codegen
