#include "codegen/target/decisions.h"

#include <vector>

namespace tile::codegen {
namespace {

const std::vector<ir::AttrInfo>& Table() {
  static const auto* table = [] {
    auto* rows = new std::vector<ir::AttrInfo>;
#define TILE_DECISION(Name, text, Kind) rows->push_back({.name = text, .kind = ir::AttrKind::k##Kind});
#include "codegen/target/decisions.def"
    return rows;
  }();
  return *table;
}

}  // namespace

const ir::AttrInfo& InfoOf(Decision d) { return Table()[static_cast<size_t>(d)]; }

const ir::AttrInfo* FindDecision(absl::string_view name) {
  for (const ir::AttrInfo& row : Table()) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

}  // namespace tile::codegen
