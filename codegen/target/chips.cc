#include "codegen/target/chips.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tile::codegen {
namespace {

constexpr Chip kChips[] = {
#define TILE_CHIP(...) {__VA_ARGS__},
#include "codegen/target/chips.def"
};

}  // namespace

const Chip* FindChip(int sm, absl::string_view name) {
  for (const Chip& c : kChips) {
    if (c.sm == sm && (name.empty() || absl::EqualsIgnoreCase(c.name, name))) return &c;
  }
  return nullptr;
}

std::string ChipNames() {
  std::string names;
  for (const Chip& c : kChips) absl::StrAppend(&names, names.empty() ? "" : ", ", c.name);
  return names;
}

}  // namespace tile::codegen
