#include "ir/tileir/attr_reader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/bits.h"
#include "ir/limits.h"
#include "ir/tileir/dense_codec.h"
#include "ir/tileir/format.h"

namespace tile::ir::tileir {

Attr AttrReader::Read(Cursor& c, const AttrInfo& info, Type result) {
  const uint64_t at = c.offset();
  switch (info.kind) {
    case AttrKind::kFlag: break;  // a bit of the flag word, read by the caller
    case AttrKind::kBool: return Attr::Int(info.kind, c.Bool(info.name));
    case AttrKind::kInt: {
      const uint64_t v = c.Varint(info.name);
      if (v > static_cast<uint64_t>(INT64_MAX)) {
        c.Fail(at, info.name, absl::StrCat("is ", v, ", which does not fit 63 bits"));
      }
      return Attr::Int(info.kind, static_cast<int64_t>(v));
    }
    case AttrKind::kEnum: return Attr::Int(info.kind, ReadEnum(c, info.enum_id));
    case AttrKind::kString:
    case AttrKind::kSymbol: return Attr::String(info.kind, strings_->ReadString(c));
    case AttrKind::kDense: {
      const Dense* dense = result ? constants_->ReadConstant(c, result) : nullptr;
      return dense ? Attr::Of(dense) : Attr();
    }
    case AttrKind::kInts: {
      const std::vector<int64_t> v = c.Ints(info.name, 4, kMaxRank);
      return Attr::Ints(module_->arena().Copy(absl::Span<const int64_t>(v)));
    }
    case AttrKind::kBools: {
      const uint64_t n = c.Count(info.name, 1, kMaxRank);
      std::vector<uint8_t> v;
      bool any = false;
      for (uint64_t i = 0; i < n && c.ok(); ++i) {
        v.push_back(c.Bool(info.name));
        any |= v.back() != 0;
      }
      if (!any) v.clear();  // "all false" has one form: the empty array
      return Attr::Bools(module_->arena().Copy(absl::Span<const uint8_t>(v)));
    }
    case AttrKind::kPredicate: return ReadPredicate(c);
    case AttrKind::kHints: {
      const Hints* hints = ReadHints(c);
      return hints ? Attr::Of(hints) : Attr();
    }
    case AttrKind::kScalars: return ReadScalars(c);
  }
  return Attr();
}

int64_t AttrReader::ReadEnum(Cursor& c, EnumId id) {
  const uint64_t at = c.offset();
  const uint64_t v = c.Varint(EnumName(id));
  const EnumValueInfo* info = FindEnumValue(id, v > 1000 ? -1 : static_cast<int64_t>(v));
  if (info == nullptr || info->since == 0) {  // 0: a value of this project, which no such file can mean
    c.Fail(at, EnumName(id), absl::StrCat("has the unknown value ", v));
  } else if (!Exists(info->since, version_)) {
    c.Fail(at, absl::StrCat(EnumName(id), " ", info->keyword), TooNew(info->since, version_));
  }
  return static_cast<int64_t>(v);
}

uint64_t AttrReader::ReadTag(Cursor& c, absl::string_view what) { return c.Varint(absl::StrCat("tag of ", what)); }

void AttrReader::FailTag(Cursor& c, uint64_t at, uint64_t tag, absl::string_view what, absl::string_view expected) {
  c.Fail(at, absl::StrCat("tag ", tag, " of ", what), absl::StrCat("expected ", expected));
}

void AttrReader::ReadEmptyArray(Cursor& c, absl::string_view what) {
  const uint64_t at = c.offset();
  const uint64_t tag = ReadTag(c, what);
  if (tag != static_cast<uint64_t>(AttrTag::kArray)) return FailTag(c, at, tag, what, "an array");
  const uint64_t n = c.Varint(what);
  if (n != 0) c.Fail(at, what, absl::StrCat("has ", n, " entries; none is known, it must be empty"));
}

const Hints* AttrReader::ReadTaggedHints(Cursor& c) {
  const uint64_t at = c.offset();
  const uint64_t tag = ReadTag(c, "hints");
  if (tag == static_cast<uint64_t>(AttrTag::kHints)) return ReadHints(c);
  FailTag(c, at, tag, "hints", "optimization hints");
  return nullptr;
}

// A dictionary of architectures, each a tagged dictionary of hints.
const Hints* AttrReader::ReadHints(Cursor& c) {
  std::vector<ArchHints> archs;
  const uint64_t n = c.Count("hints", 3, kMaxListItems);
  for (uint64_t i = 0; i < n && c.ok(); ++i) {
    const uint64_t at = c.offset();
    const absl::string_view arch = strings_->ReadString(c);
    if (arch == "default" && !Exists(kSinceDefaultHints, version_)) {
      c.Fail(at, "hints for `default`", TooNew(kSinceDefaultHints, version_));
    }
    const uint64_t tag_at = c.offset();
    const uint64_t tag = ReadTag(c, "hints of an architecture");
    if (tag != static_cast<uint64_t>(AttrTag::kDictionary)) {
      FailTag(c, tag_at, tag, "hints of an architecture", "a dictionary");
    }
    std::vector<Hint> hints;
    const uint64_t m = c.Count("hints of an architecture", 3, kMaxListItems);
    for (uint64_t j = 0; j < m && c.ok(); ++j) hints.push_back(ReadHint(c));
    std::stable_sort(hints.begin(), hints.end(), [](const Hint& a, const Hint& b) { return a.name < b.name; });
    archs.push_back({arch, module_->arena().Copy(absl::Span<const Hint>(hints))});
  }
  if (!c.ok()) return nullptr;
  // Order means nothing; NVIDIA's tools sort by key.
  std::stable_sort(archs.begin(), archs.end(), [](const ArchHints& a, const ArchHints& b) { return a.arch < b.arch; });
  Hints* result = module_->arena().New<Hints>();
  result->archs = module_->arena().Copy(absl::Span<const ArchHints>(archs));
  return result;
}

Hint AttrReader::ReadHint(Cursor& c) {
  Hint hint;
  hint.name = strings_->ReadString(c);
  const uint64_t at = c.offset();
  const uint64_t tag = ReadTag(c, "a hint");
  if (!c.ok()) return hint;
  if (tag == static_cast<uint64_t>(AttrTag::kInteger)) {
    const Element type = types_->ReadElement(c);
    const uint64_t bits = c.Varint("value of a hint");
    if (c.ok() && !IsInt(type.kind)) c.Fail(at, "value of a hint", "an integer attribute without integer type");
    if (type.kind == Elem::kI1) {  // a truth value, as nvcc writes it
      hint.kind = Hint::Kind::kBool;
      hint.number = static_cast<int64_t>(bits & 1);
      return hint;
    }
    hint.int_bits = ElemInfoOf(type.kind).bits;
    hint.number = SignExtend(bits, hint.int_bits);
  } else if (tag == static_cast<uint64_t>(AttrTag::kBool)) {
    hint.kind = Hint::Kind::kBool;
    hint.number = c.Bool("value of a hint");
  } else if (tag == static_cast<uint64_t>(AttrTag::kString)) {
    hint.kind = Hint::Kind::kString;
    hint.text = strings_->ReadString(c);
  } else {
    FailTag(c, at, tag, absl::StrCat("hint `", hint.name, "`"), "an integer, a bool or a string");
  }
  return hint;
}

Attr AttrReader::ReadPredicate(Cursor& c) {
  const uint64_t at = c.offset();
  const uint64_t tag = ReadTag(c, "a predicate");
  if (!c.ok()) return Attr();
  Predicate p;
  std::vector<int64_t> groups;
  if (tag == static_cast<uint64_t>(AttrTag::kSameElements)) {
    p.kind = Predicate::Kind::kSameElements;
    groups = c.Ints("same_elements", 8, kMaxRank);
  } else if (tag == static_cast<uint64_t>(AttrTag::kDivBy) || tag == static_cast<uint64_t>(AttrTag::kBounded)) {
    const bool div_by = tag == static_cast<uint64_t>(AttrTag::kDivBy);
    const char* const what = div_by ? "div_by" : "bounded";
    p.kind = div_by ? Predicate::Kind::kDivBy : Predicate::Kind::kBounded;
    if (div_by) p.divisor = c.Varint(what);
    const uint64_t flags_at = c.offset();
    const uint64_t flags = c.Varint(what);
    if (flags > 3) c.Fail(flags_at, absl::StrCat("flags 0x", absl::Hex(flags), " of ", what), "unknown");
    if (flags & 1) (div_by ? p.every : p.lower) = c.SignedVarint(what);
    if (flags & 2) (div_by ? p.along : p.upper) = c.SignedVarint(what);
  } else {
    FailTag(c, at, tag, "a predicate", "div_by, same_elements or bounded");
  }
  if (!c.ok()) return Attr();
  Predicate* copy = module_->arena().New<Predicate>(p);
  copy->groups = module_->arena().Copy(absl::Span<const int64_t>(groups));
  return Attr::Of(copy);
}

Attr AttrReader::ReadScalars(Cursor& c) {
  std::vector<Scalar> scalars;
  const uint64_t n = c.Count("identities", 3, kMaxListItems);
  for (uint64_t i = 0; i < n && c.ok(); ++i) scalars.push_back(ReadScalar(c));
  return Attr::Scalars(module_->arena().Copy(absl::Span<const Scalar>(scalars)));
}

Scalar AttrReader::ReadScalar(Cursor& c) {
  const uint64_t at = c.offset();
  const uint64_t tag = ReadTag(c, "an identity");
  if (!c.ok()) return {};
  const bool integer = tag == static_cast<uint64_t>(AttrTag::kInteger);
  if (!integer && tag != static_cast<uint64_t>(AttrTag::kFloat)) {
    FailTag(c, at, tag, "an identity", "an integer or a float");
    return {};
  }
  const Elem elem = types_->ReadElement(c).kind;
  if (c.ok() && !(integer ? IsInt(elem) : IsFloat(elem))) {
    c.Fail(at, "identity", absl::StrCat("has the type ", ElemInfoOf(elem).spelling, ", which does not fit its tag"));
  }
  // Floats of up to eight bits are stored as a byte, wider ones as if they were signed numbers.
  const uint64_t bits = integer                      ? c.Varint("identity")
                        : ElemInfoOf(elem).bits <= 8 ? c.U8("identity")
                                                     : static_cast<uint64_t>(c.SignedVarint("identity"));
  return {elem, FromContainerBits(elem, bits)};
}

}  // namespace tile::ir::tileir
