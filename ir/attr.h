// Attribute values of operations. An Attr is a small, trivially copyable tagged value; what it points to lives in the
// arena of the module. An absent optional attribute has `present() == false`.
//
//   const Attr& a = op->attr("rounding");   // AddfOp(op).rounding() of ir/op_views.h has the type already
//   a.as_enum<Rounding>();
#ifndef TILE_IR_ATTR_H_
#define TILE_IR_ATTR_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/op_info.h"

namespace tile::ir {

// Elements of a constant or a global: StorageBytes(elem) bytes each, little-endian, row-major. A splat holds one element
// for a tile of any size. i1 is 0 or 1, 4-bit elements take the low bits of a byte, tf32 has its low 13 bits zero.
struct Dense {
  Elem elem = Elem::kI32;
  bool splat = false;
  absl::Span<const uint8_t> bytes;
};

// A typed number (identities of reduce and scan): the low bits hold the element.
struct Scalar {
  Elem elem = Elem::kI32;
  uint64_t bits = 0;
  friend bool operator==(const Scalar& a, const Scalar& b) = default;
};

// Predicate of assume (semantics 10.4).
struct Predicate {
  enum class Kind : uint8_t { kDivBy, kBounded, kSameElements };
  Kind kind = Kind::kDivBy;
  uint64_t divisor = 1;                 // div_by
  std::optional<int64_t> every, along;  // div_by; `along` of bounded: the elements are indices along this dimension
  std::optional<int64_t> lower, upper;  // bounded, both ends included
  absl::Span<const int64_t> groups;     // same_elements
};

struct Hint {
  enum class Kind : uint8_t { kInt, kBool, kString };
  absl::string_view name;
  Kind kind = Kind::kInt;
  int64_t number = 0;  // kInt; kBool as 0 or 1
  int int_bits = 32;   // width of kInt in NVIDIA's container
  absl::string_view text;
};
// Hints for one architecture ("sm_90") or "default".
struct ArchHints {
  absl::string_view arch;
  absl::Span<const Hint> hints;
};
struct Hints {
  absl::Span<const ArchHints> archs;
};

class Attr {
 public:
  Attr() = default;
  static Attr Int(AttrKind kind, int64_t v) {
    Attr a;
    a.kind_ = kind;
    a.present_ = true;
    a.number_ = v;
    return a;
  }
  template <class E>
  static Attr Enum(E e) {
    return Int(AttrKind::kEnum, static_cast<int64_t>(e));
  }
  static Attr Flag(bool v) { return Int(AttrKind::kFlag, v); }
  // The characters must outlive the attribute (Module::Copy).
  static Attr String(AttrKind kind, absl::string_view s) { return Pointer(kind, s.data(), s.size()); }
  static Attr Ints(absl::Span<const int64_t> v) { return Pointer(AttrKind::kInts, v.data(), v.size()); }
  static Attr Bools(absl::Span<const uint8_t> v) { return Pointer(AttrKind::kBools, v.data(), v.size()); }
  static Attr Scalars(absl::Span<const Scalar> v) { return Pointer(AttrKind::kScalars, v.data(), v.size()); }
  static Attr Of(const Dense* d) { return Pointer(AttrKind::kDense, d, 1); }
  static Attr Of(const Predicate* p) { return Pointer(AttrKind::kPredicate, p, 1); }
  static Attr Of(const Hints* h) { return Pointer(AttrKind::kHints, h, 1); }

  bool present() const { return present_; }
  AttrKind kind() const { return kind_; }
  int64_t as_int() const { return number_; }
  bool as_bool() const { return number_ != 0; }
  template <class E>
  E as_enum() const {
    return static_cast<E>(number_);
  }
  absl::string_view as_string() const { return {static_cast<const char*>(pointer_), static_cast<size_t>(number_)}; }
  absl::Span<const int64_t> ints() const { return Array<int64_t>(); }
  absl::Span<const uint8_t> bools() const { return Array<uint8_t>(); }
  absl::Span<const Scalar> scalars() const { return Array<Scalar>(); }
  const Dense& dense() const { return *static_cast<const Dense*>(pointer_); }
  const Predicate& predicate() const { return *static_cast<const Predicate*>(pointer_); }
  const Hints& hints() const { return *static_cast<const Hints*>(pointer_); }

 private:
  static Attr Pointer(AttrKind kind, const void* p, size_t n) {
    Attr a;
    a.kind_ = kind;
    a.present_ = true;
    a.pointer_ = p;
    a.number_ = static_cast<int64_t>(n);
    return a;
  }
  template <class T>
  absl::Span<const T> Array() const {
    return {static_cast<const T*>(pointer_), static_cast<size_t>(number_)};
  }

  AttrKind kind_ = AttrKind::kInt;
  bool present_ = false;
  int64_t number_ = 0;  // value, or length of what pointer_ points to
  const void* pointer_ = nullptr;
};

// Deep equality of two attributes of the same kind.
bool Equal(const Attr& a, const Attr& b);
// Equal attributes have equal hashes. Of predicates and hints the kind alone counts.
size_t HashOf(const Attr& a);

}  // namespace tile::ir

#endif  // TILE_IR_ATTR_H_
