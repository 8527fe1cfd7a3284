// The flag bits of every format at one version, derived from ir/formats.def.

#include "ir/tileir/format.h"

#include "absl/strings/str_cat.h"

namespace tile::ir::tileir {

const char* SectionName(Section s) {
  static constexpr const char* kNames[] = {"end",      "string", "function", "debug",
                                           "constant", "type",   "global",   "producer"};
  return kNames[static_cast<int>(s)];
}

std::string VersionText(int version) { return absl::StrCat(version / 100, ".", version % 100); }

std::string TooNew(int since, int version) {
  return absl::StrCat("came with version ", VersionText(since), ", but the file says ", VersionText(version));
}

FormatLayouts::FormatLayouts(int version) {
  for (const FormatInfo& format : AllFormats()) {
    FormatLayout layout;
    for (const AttrInfo& a : format.attrs) {
      const bool has_bit = (a.optional || a.kind == AttrKind::kFlag) && Exists(a.since, version);
      layout.attr_bits.push_back(has_bit ? layout.num_bits++ : -1);
    }
    for (const FieldInfo& o : format.operands) {
      // With one count before all operands the count tells whether the optional one is there.
      const bool has_bit = o.arity == Arity::kOptional && !format.operands_counted && Exists(o.since, version);
      layout.operand_bits.push_back(has_bit ? layout.num_bits++ : -1);
    }
    for (const FieldInfo& r : format.results) {
      if (!Exists(r.since, version)) continue;
      if (r.arity == Arity::kOne) ++layout.min_results;
      layout.max_results = r.arity == Arity::kVariadic || layout.max_results < 0 ? -1 : layout.max_results + 1;
    }
    layouts_.push_back(std::move(layout));
  }
}

}  // namespace tile::ir::tileir
