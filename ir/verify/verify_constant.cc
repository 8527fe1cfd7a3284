// Constants, iota, addresses of globals, promises (semantics 1.5, 10.4).

#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {
namespace {

void CheckConstant(OpCheck& c) {
  const Type t = c.out(Field::kResult);
  const Dense& d = c.attr(Field::kValue).dense();
  if (!c.Require(d.elem == t.elem(), Rule::kConstantElement, [&] {
        return absl::StrCat("elements are ", ElemInfoOf(d.elem).spelling, ", the result is ", t.ToString());
      })) {
    return;
  }
  const uint64_t size = StorageBytes(d.elem), expected = d.splat ? 1 : static_cast<uint64_t>(t.num_elements());
  if (!c.Require(
          d.bytes.size() == expected * size, Rule::kConstantSize,
          [&] {
            return absl::StrCat("has ", d.bytes.size() / size, " elements, ", t.ToString(), " needs ",
                                t.num_elements());
          },
          "give one element for all, or each of them")) {
    return;
  }
  c.Require(CanonicalBits(d), Rule::kConstantBits,
            [&] { return absl::StrCat("an element has bits that ", ElemInfoOf(d.elem).spelling, " does not use"); });
}

void CheckIota(OpCheck& c) {
  const Type t = c.out(Field::kResult);
  const int bits = ElemInfoOf(t.elem()).bits;
  c.Require(
      bits >= 32 || t.num_elements() <= int64_t{1} << bits, Rule::kIotaFits,
      [&] { return absl::StrCat("counts to ", t.num_elements() - 1, " in ", ElemInfoOf(t.elem()).spelling); },
      "count in i32");
}

void CheckGetGlobal(OpCheck& c) {
  const absl::string_view name = c.attr(Field::kName).as_string();
  const Global* g = c.verifier.FindGlobal(name);
  if (g == nullptr && c.verifier.reading() != nullptr && c.verifier.reading()->lacks_symbols) return;
  if (!c.Require(
          g != nullptr, Rule::kGlobalExists, [&] { return absl::StrCat("there is no global @", name); },
          "define it in front of the entries: global @name <f32: 0.0> : tile<64xf32>"))
    return;
  const Type t = c.out(Field::kResult);
  c.Require(t.element().pointee == g->value.elem, Rule::kGlobalPointee, [&] {
    return absl::StrCat("the result is ", t.ToString(), ", @", name, " holds ", ElemInfoOf(g->value.elem).spelling);
  });
}

// --- assume ---------------------------------------------------------------------------------------------------------

void CheckDivBy(OpCheck& c, const Predicate& p, Type t) {
  const bool in_range = p.divisor != 0 && p.divisor <= uint64_t{1} << 62;
  c.Require(in_range, Rule::kAssumeDivisor, [&] { return absl::StrCat("div_by<", p.divisor, ">"); });
  if (!p.every && !p.along) return;
  const bool good = p.every && p.along && t.is_tile() && *p.along >= 0 && *p.along < t.rank() && *p.every >= 0 &&
                    *p.every <= t->shape[*p.along];
  c.Require(good, Rule::kAssumeEvery, [&] {
    return absl::StrCat("every ", p.every ? absl::StrCat(*p.every) : "?", " along ",
                        p.along ? absl::StrCat(*p.along) : "?", " does not suit ", t.ToString());
  });
}

void CheckBounded(OpCheck& c, const Predicate& p, Type t) {
  const int bits = ElemInfoOf(t.elem()).bits;
  // As signed; i1 holds 0 and -1.
  const int64_t least = bits == 64 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (bits - 1));
  const int64_t most = bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (bits - 1)) - 1;
  const auto fits = [&](std::optional<int64_t> v) { return !v || (*v >= least && *v <= most); };
  c.Require(fits(p.lower) && fits(p.upper) && (!p.lower || !p.upper || *p.lower <= *p.upper), Rule::kAssumeBounds, [&] {
    return absl::StrCat("bounded<", p.lower ? absl::StrCat(*p.lower) : "?", ", ",
                        p.upper ? absl::StrCat(*p.upper) : "?", "> of elements from ", least, " to ", most);
  });
  if (!p.along) return;
  const bool index = *p.along >= 0 && *p.along < std::max(1, t.rank()) && p.lower == 0 && p.upper;
  c.Require(index, Rule::kAssumeBounds, [&] {
    return absl::StrCat("along ", *p.along, " wants bounds from 0 to a number, and a dimension of ", t.ToString());
  });
}

void CheckSameElements(OpCheck& c, const Predicate& p, Type t) {
  bool good = static_cast<int>(p.groups.size()) == t.rank();
  for (int d = 0; good && d < t.rank(); ++d) good = p.groups[d] >= 0 && p.groups[d] <= t->shape[d];
  c.Require(good, Rule::kAssumeGroups,
            [&] { return absl::StrCat("same_elements<", List(p.groups), "> does not suit ", t.ToString()); });
}

void CheckAssume(OpCheck& c) {
  const Predicate& p = c.attr(Field::kPredicate).predicate();
  const Type t = c.in(Field::kValue);
  const bool integers = t.is_tile() && IsInt(t.elem());
  const bool pointers = t.is_tile() && t.elem() == Elem::kPtr;
  const auto wants = [&](bool ok, absl::string_view what) {
    return c.Require(ok, Rule::kAssumeValue, [&] { return absl::StrCat(what, ", not about ", t.ToString()); });
  };
  switch (p.kind) {
    case Predicate::Kind::kDivBy:
      if (wants(integers || pointers || t.is_tensor_view(), "div_by is about integers, pointers and tensor views")) {
        CheckDivBy(c, p, t);
      }
      return;
    case Predicate::Kind::kBounded:
      if (wants(integers, "bounded is about integers")) CheckBounded(c, p, t);
      return;
    case Predicate::Kind::kSameElements:
      if (wants(integers || pointers, "same_elements is about integers and pointers")) CheckSameElements(c, p, t);
      return;
  }
  wants(false, "the predicate is unknown");
}

}  // namespace

absl::Span<const OpRules> ConstantRules() {
  static constexpr OpRules kRules[] = {{Opcode::kConstant, CheckConstant},
                                       {Opcode::kIota, CheckIota},
                                       {Opcode::kGetGlobal, CheckGetGlobal},
                                       {Opcode::kAssume, CheckAssume}};
  return kRules;
}

}  // namespace tile::ir::verify
