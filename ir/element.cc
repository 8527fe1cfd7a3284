#include "ir/element.h"

namespace tile::ir {

std::optional<Elem> FindElem(absl::string_view spelling) {
  if (spelling == "fnv8E5M3FNU") return Elem::kF8E5M3FNU;
  for (int i = 0; i < kNumElems; ++i) {
    if (static_cast<Elem>(i) != Elem::kPtr && spelling == kElemInfo[i].spelling) return static_cast<Elem>(i);
  }
  return std::nullopt;
}

std::optional<Elem> FindElemByTag(int tag) {
  for (int i = 0; i < kNumElems; ++i) {
    if (kElemInfo[i].tag == tag) return static_cast<Elem>(i);
  }
  return std::nullopt;
}

const EnumValueInfo* FindEnumValue(EnumId id, int64_t number) {
  for (const EnumValueInfo& v : kEnumValues) {
    if (v.id == id && v.number == number) return &v;
  }
  return nullptr;
}

const EnumValueInfo* FindEnumKeyword(EnumId id, absl::string_view keyword) {
  for (const EnumValueInfo& v : kEnumValues) {
    if (v.id == id && keyword == v.keyword) return &v;
  }
  return nullptr;
}

namespace {
constexpr const char* kEnumNames[] = {
#define TILE_ENUM_BEGIN(Name) #Name,
#include "ir/enums.def"
};
}  // namespace

const char* EnumName(EnumId id) { return kEnumNames[static_cast<int>(id)]; }

std::optional<EnumId> FindEnum(absl::string_view name) {
  int i = 0;
  for (const char* n : kEnumNames) {
    if (name == n) return static_cast<EnumId>(i);
    ++i;
  }
  return std::nullopt;
}

}  // namespace tile::ir
