// Memory through pointers and allocations; orderings and scopes of every access (semantics 6.2, 6.3, 9.4).

#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {

namespace {

std::string Keywords(EnumId id, uint32_t numbers) {
  std::string s;
  for (const EnumValueInfo& v : kEnumValues) {
    if (v.id == id && (numbers >> v.number & 1)) absl::StrAppend(&s, s.empty() ? "" : ", ", v.keyword);
  }
  return s;
}

}  // namespace

void CheckOrdering(OpCheck& c, uint32_t orderings, uint32_t scopes) {
  const MemoryOrdering ordering = c.get<MemoryOrdering>(Field::kOrdering);
  if (!c.Require(orderings & Bits(ordering), Rule::kOrdering, [&] {
        return absl::StrCat("cannot be ", Keyword(ordering), ", only ", Keywords(EnumId::kMemoryOrdering, orderings));
      })) {
    return;
  }
  const Attr& scope = c.attr(Field::kScope);
  if (ordering == MemoryOrdering::kWeak) {
    c.Require(
        !scope.present(), Rule::kScope, [] { return "is weak, but has a scope"; },
        "remove the scope, or make the access relaxed");
    return;
  }
  if (!c.Require(
          scope.present(), Rule::kScope, [&] { return absl::StrCat("is ", Keyword(ordering), ", but has no scope"); },
          "name a scope: tl_blk, cluster, device or sys")) {
    return;
  }
  c.Require(scopes >> scope.as_int() & 1, Rule::kScope, [&] {
    return absl::StrCat("cannot have scope ", Keyword(scope.as_enum<MemoryScope>()), ", only ",
                        Keywords(EnumId::kMemoryScope, scopes));
  });
}

bool CheckPointee(OpCheck& c, Type pointers, Type value) {
  return c.Require(
      value.element() == Element::Number(pointers.element().pointee), Rule::kPointee,
      [&] { return absl::StrCat("the value is ", value.ToString(), ", the pointers ", pointers.ToString()); },
      "convert the value, or the pointers with ptr_to_ptr");
}

namespace {

void CheckLoad(OpCheck& c) {
  CheckPointee(c, c.in(Field::kSource), c.out(Field::kResult));
  CheckOrdering(c, kReadOrderings, kAllScopes);
  c.Require(
      !c.in(Field::kPaddingValue) || c.in(Field::kMask), Rule::kPaddingMask,
      [] { return "has a padding value but no mask"; }, "give a mask, or leave the padding out");
  c.CheckHints();
}

void CheckStore(OpCheck& c) {
  CheckPointee(c, c.in(Field::kDestination), c.in(Field::kValue));
  CheckOrdering(c, kWriteOrderings, kAllScopes);
  c.CheckHints();
}

void CheckAlignment(OpCheck& c, Elem elem) {
  const int64_t alignment = c.attr(Field::kAlignment).as_int();
  c.Require(
      IsPowerOfTwo(alignment) && alignment >= StorageBytes(elem) && alignment <= static_cast<int64_t>(kMaxAlignment),
      Rule::kAllocAlignment,
      [&] { return absl::StrCat("alignment ", alignment, " of elements of ", StorageBytes(elem), " bytes"); });
}

void CheckAlloca(OpCheck& c) {
  const Elem elem = c.out(Field::kResult).element().pointee;
  const int64_t n = c.attr(Field::kNumElem).as_int();
  c.Require(n >= 0 && n < (int64_t{1} << 47) / StorageBytes(elem), Rule::kAllocaCount,
            [&] { return absl::StrCat("num_elem is ", n); });
  CheckAlignment(c, elem);
}

// Bytes of a shared array, or nothing if its type is not static and row-major.
std::optional<uint64_t> SharedBytes(Type t) {
  if (t->space != MemorySpace::kShared) return std::nullopt;
  int64_t stride = 1;
  for (int d = t.rank() - 1; d >= 0; --d) {
    if (t->shape[d] == kDynamic || t->strides[d] != stride) return std::nullopt;
    if (__builtin_mul_overflow(stride, t->shape[d], &stride)) return std::nullopt;
  }
  if (stride > std::numeric_limits<int64_t>::max() / 64) return std::nullopt;
  return (static_cast<uint64_t>(stride) * MemoryBits(t.elem()) + 7) / 8;
}

void CheckAllocShared(OpCheck& c) {
  const Type t = c.out(Field::kResult);
  const std::optional<uint64_t> bytes = SharedBytes(t);
  if (c.Require(
          bytes.has_value(), Rule::kSharedType, [&] { return absl::StrCat("the result is ", t.ToString()); },
          "give static sizes, row-major strides and the space: tensor_view<4x8xf32, strides=[8,1], shared>")) {
    uint64_t& total = c.verifier.shared_bytes;
    const bool fits = *bytes < uint64_t{1} << 30 && total + *bytes < uint64_t{1} << 30;
    if (fits) total += *bytes;
    c.Require(fits, Rule::kSharedTotal, [&] {
      return absl::StrCat("the entry's shared arrays take ", total, " bytes before this one of ", *bytes);
    });
  }
  CheckAlignment(c, t.elem());
  c.Require(
      c.around.parent == nullptr, Rule::kSharedPlace, [] { return "stands in a region"; },
      "move it to the top level of the entry");
}

}  // namespace

absl::Span<const OpRules> MemoryRules() {
  static constexpr OpRules kRules[] = {{Opcode::kLoadPtr, CheckLoad},
                                       {Opcode::kStorePtr, CheckStore},
                                       {Opcode::kAlloca, CheckAlloca},
                                       {Opcode::kAllocShared, CheckAllocShared}};
  return kRules;
}

}  // namespace tile::ir::verify
