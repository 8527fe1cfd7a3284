#include "codegen/analysis/origin.h"

#include <algorithm>

#include "ir/op_views.h"

namespace tile::codegen {

bool IsZero(const ir::Value* v) {
  const auto constant = ir::DefAs<ir::ConstantOp>(v);
  if (!constant) return false;
  const auto bytes = constant->value().bytes;
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; });
}

const ir::Value* Assumed(const ir::Value* v) {
  while (const auto assume = ir::DefAs<ir::AssumeOp>(v)) v = assume->value();
  return v;
}

bool IsParameter(const ir::Value* v) { return v->def() == nullptr && v->block()->parent() == nullptr; }

}  // namespace tile::codegen
