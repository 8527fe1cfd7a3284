// Element types and attribute enumerations, expanded from elements.def and enums.def.
//
// Everything here is constexpr and thread-safe. Example:
//   Elem e = Elem::kF16;
//   ElemInfoOf(e).spelling;          // "f16"
//   IsFloat(e), ElemInfoOf(e).bits;  // true, 16
//   Keyword(Signedness::kSigned);    // "signed"
#ifndef TILE_IR_ELEMENT_H_
#define TILE_IR_ELEMENT_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace tile::ir {

enum ElemGroup : uint8_t { kInt = 1, kFp = 2, kXfp = 4 };

enum class Elem : uint8_t {
#define TILE_ELEMENT(Name, ...) k##Name,
#include "ir/elements.def"
};
inline constexpr int kNumElems = 0
#define TILE_ELEMENT(...) +1
#include "ir/elements.def"
    ;

struct ElemInfo {
  const char* spelling;
  int bits;     // width of a value
  int storage;  // bytes of one element in a tile
  int tag;      // number in NVIDIA's container
  int since;    // first Tile IR version, major * 100 + minor
  uint8_t groups;
};

inline constexpr ElemInfo kElemInfo[] = {
#define TILE_ELEMENT(Name, spelling, bits, storage, tag, since, groups) {spelling, bits, storage, tag, since, groups},
#include "ir/elements.def"
};

constexpr const ElemInfo& ElemInfoOf(Elem e) { return kElemInfo[static_cast<int>(e)]; }
constexpr bool IsInt(Elem e) { return ElemInfoOf(e).groups & kInt; }    // i1 … i64
constexpr bool IsFp(Elem e) { return ElemInfoOf(e).groups & kFp; }      // f16 bf16 f32 f64
constexpr bool IsFloat(Elem e) { return ElemInfoOf(e).groups & kXfp; }  // every float
constexpr bool IsNum(Elem e) { return IsInt(e) || IsFloat(e); }
constexpr bool IsSubByte(Elem e) { return e == Elem::kI4 || e == Elem::kF4E2M1FN; }
// Bits of one element in global memory: i1 takes a byte, tf32 a word, 4-bit types half a byte.
constexpr int MemoryBits(Elem e) { return IsSubByte(e) ? 4 : ElemInfoOf(e).storage * 8; }
constexpr int StorageBytes(Elem e) { return ElemInfoOf(e).storage; }

// The element with this spelling ("f32"; also NVIDIA's "fnv8E5M3FNU"); pointers are not spelled alone.
std::optional<Elem> FindElem(absl::string_view spelling);
// The element with this number in NVIDIA's container.
std::optional<Elem> FindElemByTag(int tag);

// The element of a tile, a view or memory: a number type or a pointer to one.
struct Element {
  Elem kind = Elem::kI1;
  Elem pointee = Elem::kI1;  // of a pointer; kI1 otherwise

  static constexpr Element Number(Elem e) { return {e, Elem::kI1}; }
  static constexpr Element Pointer(Elem to) { return {Elem::kPtr, to}; }
  constexpr bool is_pointer() const { return kind == Elem::kPtr; }
  friend constexpr bool operator==(Element a, Element b) = default;
};

// --- enumerations ---------------------------------------------------------------------------------------------------

#define TILE_ENUM_BEGIN(Name) enum class Name : uint8_t {
#define TILE_ENUM_VALUE(Name, Value, keyword, number, since) Value = number,
#define TILE_ENUM_END(Name) \
  }                         \
  ;
#include "ir/enums.def"

enum class EnumId : uint8_t {
#define TILE_ENUM_BEGIN(Name) k##Name,
#include "ir/enums.def"
};

struct EnumValueInfo {
  EnumId id;
  const char* keyword;
  int number;
  int since;  // first Tile IR version; 0: an extension
};
// All rows of enums.def in order.
inline constexpr EnumValueInfo kEnumValues[] = {
#define TILE_ENUM_VALUE(Name, Value, keyword, number, since) {EnumId::k##Name, keyword, number, since},
#include "ir/enums.def"
};

template <class E>
struct EnumIdOf;
template <EnumId kId>
struct EnumOf;
#define TILE_ENUM_BEGIN(Name)                        \
  template <>                                        \
  struct EnumIdOf<Name> {                            \
    static constexpr EnumId value = EnumId::k##Name; \
  };                                                 \
  template <>                                        \
  struct EnumOf<EnumId::k##Name> {                   \
    using type = Name;                               \
  };
#include "ir/enums.def"

// Row of a number, or null if the enumeration has no such value.
const EnumValueInfo* FindEnumValue(EnumId id, int64_t number);
// Row of a keyword, or null.
const EnumValueInfo* FindEnumKeyword(EnumId id, absl::string_view keyword);
// Name of the enumeration as written in enums.def ("Rounding").
const char* EnumName(EnumId id);
std::optional<EnumId> FindEnum(absl::string_view name);

template <class E>
const char* Keyword(E e) {
  const EnumValueInfo* v = FindEnumValue(EnumIdOf<E>::value, static_cast<int64_t>(e));
  return v ? v->keyword : "?";
}

}  // namespace tile::ir

#endif  // TILE_IR_ELEMENT_H_
