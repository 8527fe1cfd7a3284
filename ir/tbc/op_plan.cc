#include "ir/tbc/op_plan.h"

#include <array>

#include "absl/container/flat_hash_map.h"

namespace tile::ir {
namespace {

using NameMap = absl::flat_hash_map<absl::string_view, int>;

const NameMap& Names() {
  static const auto* names = [] {
    auto* map = new NameMap();
    for (const FormatInfo& f : AllFormats()) {
      for (const AttrInfo& a : f.attrs) map->try_emplace(a.name, static_cast<int>(map->size()));
      for (const FieldInfo& o : f.operands) map->try_emplace(o.name, static_cast<int>(map->size()));
    }
    return map;
  }();
  return *names;
}

FormatPlan MakePlan(const FormatInfo& format) {
  FormatPlan plan;
  plan.attr_of_name.assign(Names().size(), -1);
  plan.field_of_name.assign(Names().size(), -1);
  for (size_t i = 0; i < format.operands.size(); ++i) {
    if (format.operands[i].arity == Arity::kOne) {
      ++plan.fixed_operands;
    } else {
      plan.grouped = true;
      plan.field_of_name[FindFieldName(format.operands[i].name)] = static_cast<int8_t>(i);
    }
  }
  for (const FieldInfo& r : format.results) {
    if (r.arity == Arity::kVariadic) plan.max_results = -1;
    if (r.arity == Arity::kOne) ++plan.min_results;
    if (plan.max_results >= 0) ++plan.max_results;
  }
  for (size_t i = 0; i < format.attrs.size(); ++i) {
    const AttrInfo& a = format.attrs[i];
    plan.attr_of_name[FindFieldName(a.name)] = static_cast<int8_t>(i);
    const bool has_default = a.kind == AttrKind::kEnum || a.kind == AttrKind::kFlag || a.kind == AttrKind::kBool ||
                             a.kind == AttrKind::kBools;
    if (!a.optional && !has_default) plan.required_attrs.push_back(static_cast<int>(i));
  }
  return plan;
}

}  // namespace

const FormatPlan& PlanOf(const FormatInfo& format) {
  static const auto* plans = [] {
    auto* list = new std::vector<FormatPlan>();
    for (const FormatInfo& f : AllFormats()) list->push_back(MakePlan(f));
    return list;
  }();
  return (*plans)[static_cast<size_t>(format.id)];
}

int FindFieldName(absl::string_view name) {
  const auto it = Names().find(name);
  return it == Names().end() ? -1 : it->second;
}

bool IsDefault(const AttrInfo& info, const Attr& attr) {
  if (!attr.present()) return true;
  switch (info.kind) {
    case AttrKind::kFlag:
    case AttrKind::kBool: return !attr.as_bool();
    case AttrKind::kEnum: return !info.optional && attr.as_int() == info.default_value;
    case AttrKind::kBools: return attr.bools().empty();
    default: return false;
  }
}

bool IsEnumValue(EnumId id, int64_t number) {
  static const auto* known = [] {
    auto* bits = new std::array<uint64_t, 32>{};
    for (const EnumValueInfo& v : kEnumValues) (*bits)[static_cast<size_t>(v.id)] |= uint64_t{1} << v.number;
    return bits;
  }();
  return number >= 0 && number < 64 && ((*known)[static_cast<size_t>(id)] >> number & 1);
}

}  // namespace tile::ir
