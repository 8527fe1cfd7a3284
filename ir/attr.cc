#include "ir/attr.h"

#include "absl/hash/hash.h"

#include <algorithm>

namespace tile::ir {
namespace {

bool SameHints(const Hints& a, const Hints& b) {
  return std::equal(
      a.archs.begin(), a.archs.end(), b.archs.begin(), b.archs.end(), [](const ArchHints& x, const ArchHints& y) {
        return x.arch == y.arch && std::equal(x.hints.begin(), x.hints.end(), y.hints.begin(), y.hints.end(),
                                              [](const Hint& p, const Hint& q) {
                                                return p.name == q.name && p.kind == q.kind && p.number == q.number &&
                                                       p.int_bits == q.int_bits && p.text == q.text;
                                              });
      });
}

bool SamePredicate(const Predicate& a, const Predicate& b) {
  return a.kind == b.kind && a.divisor == b.divisor && a.every == b.every && a.along == b.along && a.lower == b.lower &&
         a.upper == b.upper && a.groups == b.groups;
}

}  // namespace

bool Equal(const Attr& a, const Attr& b) {
  if (a.present() != b.present()) return false;
  if (!a.present()) return true;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case AttrKind::kFlag:
    case AttrKind::kBool:
    case AttrKind::kInt:
    case AttrKind::kEnum: return a.as_int() == b.as_int();
    case AttrKind::kString:
    case AttrKind::kSymbol: return a.as_string() == b.as_string();
    case AttrKind::kDense:
      return a.dense().elem == b.dense().elem && a.dense().splat == b.dense().splat &&
             a.dense().bytes == b.dense().bytes;
    case AttrKind::kInts: return a.ints() == b.ints();
    case AttrKind::kBools: return a.bools() == b.bools();
    case AttrKind::kPredicate: return SamePredicate(a.predicate(), b.predicate());
    case AttrKind::kHints: return SameHints(a.hints(), b.hints());
    case AttrKind::kScalars: return a.scalars() == b.scalars();
  }
  return false;
}

size_t HashOf(const Attr& a) {
  if (!a.present()) return 0;
  switch (a.kind()) {
    case AttrKind::kFlag:
    case AttrKind::kBool:
    case AttrKind::kInt:
    case AttrKind::kEnum: return absl::HashOf(a.kind(), a.as_int());
    case AttrKind::kString:
    case AttrKind::kSymbol: return absl::HashOf(a.kind(), a.as_string());
    case AttrKind::kDense: return absl::HashOf(a.kind(), a.dense().elem, a.dense().splat, a.dense().bytes);
    case AttrKind::kInts: return absl::HashOf(a.kind(), a.ints());
    case AttrKind::kBools: return absl::HashOf(a.kind(), a.bools());
    case AttrKind::kScalars: return absl::HashOf(a.kind(), a.scalars().size());
    case AttrKind::kPredicate:
    case AttrKind::kHints: return absl::HashOf(a.kind());
  }
  return 0;
}

}  // namespace tile::ir
