#include "tools/data/array.h"

#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/float.h"

namespace tile::tools {
namespace {

using ir::Elem;

static_assert(std::endian::native == std::endian::little, "arrays are little-endian");

template <class T>
T Load(const uint8_t* bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void Store(uint8_t* bytes, int64_t i, uint64_t bits) {
  const T value = static_cast<T>(bits);
  std::memcpy(bytes + i * sizeof(T), &value, sizeof(T));
}

template <class T>
void Widen(const uint8_t* bytes, int64_t first, int64_t n, double* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<double>(Load<T>(bytes, first + i));
}

template <class Signed>
void WidenInt(const ArrayView& a, int64_t first, int64_t n, double* out) {
  if (a.is_unsigned) return Widen<std::make_unsigned_t<Signed>>(a.bytes.data(), first, n, out);
  Widen<Signed>(a.bytes.data(), first, n, out);
}

// The values of all codes of a float type of at most 16 bits; null for others, and while an array is so short that
// making the table takes longer than going without.
const double* TableOf(Elem elem, size_t bytes) {
  static std::array<std::once_flag, ir::kNumElems> once;
  static auto& tables = *new std::array<std::vector<double>, ir::kNumElems>;
  const int bits = ir::ElemInfoOf(elem).bits;
  if (!ir::IsFloat(elem) || bits > 16 || bytes < size_t{1} << bits) return nullptr;
  const int which = static_cast<int>(elem);
  std::call_once(once[which], [&] {
    tables[which].resize(size_t{1} << bits);
    for (size_t code = 0; code < tables[which].size(); ++code) tables[which][code] = ir::ToDouble(elem, code);
  });
  return tables[which].data();
}

}  // namespace

absl::StatusOr<int64_t> CountElements(absl::Span<const int64_t> shape) {
  if (shape.size() > kMaxRank) {
    return absl::InvalidArgumentError(absl::StrCat("rank ", shape.size(), " is above ", kMaxRank));
  }
  // The product of the other dimensions must fit even if one is 0, so that no later product overflows.
  constexpr int64_t kMaxElements = kMaxBytes * 2;
  int64_t count = 1;
  bool empty = false;
  for (int64_t d : shape) {
    if (d < 0) return absl::InvalidArgumentError(absl::StrCat("dimension ", d, " is negative"));
    if (d == 0) {
      empty = true;
      continue;
    }
    if (d > kMaxElements / count) {
      return absl::InvalidArgumentError(absl::StrCat("shape [", absl::StrJoin(shape, ","), "] is too large"));
    }
    count *= d;
  }
  return empty ? 0 : count;
}

absl::StatusOr<int64_t> BytesOf(ir::Element element, int64_t count) {
  if (element.is_pointer()) return absl::InvalidArgumentError("pointers are not elements of arrays");
  const int bits = ir::MemoryBits(element.kind);
  if (count > kMaxBytes / bits * 8) {
    return absl::InvalidArgumentError(
        absl::StrCat(count, " elements of ", ElementText(element, false), " are more than ", kMaxBytes, " bytes"));
  }
  return (count * bits + 7) / 8;
}

absl::StatusOr<Array> Array::Make(ir::Element element, std::vector<int64_t> shape) {
  const absl::StatusOr<int64_t> count = CountElements(shape);
  if (!count.ok()) return count.status();
  const absl::StatusOr<int64_t> size = BytesOf(element, *count);
  if (!size.ok()) return size.status();
  absl::StatusOr<AlignedBuffer> bytes = AlignedBuffer::Uninitialized(*size);
  if (!bytes.ok()) return bytes.status();
  if (ir::IsSubByte(element.kind) && *size > 0) bytes->data()[*size - 1] = 0;  // the nibble after an odd last element
  return Array{element, std::move(shape), *std::move(bytes)};
}

int64_t ArrayView::count() const {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

uint64_t LoadBits(Elem elem, const uint8_t* bytes, int64_t i) {
  if (elem == Elem::kI1) return bytes[i] != 0;
  switch (ir::MemoryBits(elem)) {
    case 4: return bytes[i / 2] >> (i % 2 * 4) & 15;
    case 8: return bytes[i];
    case 16: return Load<uint16_t>(bytes, i);
    case 32: return Load<uint32_t>(bytes, i);
    default: return Load<uint64_t>(bytes, i);
  }
}

void StoreBits(Elem elem, uint8_t* bytes, int64_t i, uint64_t bits) {
  switch (ir::MemoryBits(elem)) {
    case 4: {
      const int shift = i % 2 * 4;
      bytes[i / 2] = static_cast<uint8_t>((bytes[i / 2] & (0xF0 >> shift)) | (bits & 15) << shift);
      return;
    }
    case 8: bytes[i] = static_cast<uint8_t>(elem == Elem::kI1 ? bits & 1 : bits); return;
    case 16: return Store<uint16_t>(bytes, i, bits);
    case 32: return Store<uint32_t>(bytes, i, bits);
    default: return Store<uint64_t>(bytes, i, bits);
  }
}

int64_t LoadInt(const ArrayView& array, int64_t i) {
  const Elem elem = array.element.kind;
  const uint64_t bits = LoadBits(elem, array.bytes.data(), i);
  const int unused = 64 - ir::ElemInfoOf(elem).bits;
  if (array.is_unsigned || elem == Elem::kI1) return static_cast<int64_t>(bits);
  return static_cast<int64_t>(bits << unused) >> unused;
}

void LoadDoubles(const ArrayView& array, int64_t first, int64_t n, double* out) {
  const uint8_t* bytes = array.bytes.data();
  const Elem elem = array.element.kind;
  switch (elem) {
    case Elem::kF32: return Widen<float>(bytes, first, n, out);
    case Elem::kF64: return Widen<double>(bytes, first, n, out);
    case Elem::kI8: return WidenInt<int8_t>(array, first, n, out);
    case Elem::kI16: return WidenInt<int16_t>(array, first, n, out);
    case Elem::kI32: return WidenInt<int32_t>(array, first, n, out);
    case Elem::kI64: return WidenInt<int64_t>(array, first, n, out);
    case Elem::kBF16:
      for (int64_t i = 0; i < n; ++i) out[i] = std::bit_cast<float>(uint32_t{Load<uint16_t>(bytes, first + i)} << 16);
      return;
    default: break;
  }
  if (const double* table = TableOf(elem, array.bytes.size()); table != nullptr) {
    if (elem == Elem::kF16) {
      for (int64_t i = 0; i < n; ++i) out[i] = table[Load<uint16_t>(bytes, first + i)];
    } else {
      for (int64_t i = 0; i < n; ++i) out[i] = table[LoadBits(elem, bytes, first + i)];
    }
    return;
  }
  const bool is_float = ir::IsFloat(elem);
  for (int64_t i = 0; i < n; ++i) {
    out[i] = is_float ? ir::ToDouble(elem, LoadBits(elem, bytes, first + i))
                      : static_cast<double>(LoadInt(array, first + i));
  }
}

std::string ElementText(ir::Element element, bool is_unsigned) {
  if (element.is_pointer()) return absl::StrCat("ptr<", ir::ElemInfoOf(element.pointee).spelling, ">");
  const char* spelling = ir::ElemInfoOf(element.kind).spelling;
  if (is_unsigned && ir::IsInt(element.kind) && element.kind != Elem::kI1) return absl::StrCat("u", spelling + 1);
  return spelling;
}

std::string TypeText(const ArrayView& array) {
  return absl::StrCat(ElementText(array.element, array.is_unsigned), "[", absl::StrJoin(array.shape, ","), "]");
}

bool ParseElementName(absl::string_view text, ir::Element* element, bool* is_unsigned) {
  static constexpr struct {
    const char* name;
    Elem elem;
    bool is_unsigned;
  } kAliases[] = {
      {"bool", Elem::kI1, false},          {"u8", Elem::kI8, true},
      {"u16", Elem::kI16, true},           {"u32", Elem::kI32, true},
      {"u64", Elem::kI64, true},           {"f8e4m3", Elem::kF8E4M3FN, false},
      {"f8e8m0", Elem::kF8E8M0FNU, false}, {"f8e5m3", Elem::kF8E5M3FNU, false},
      {"f4", Elem::kF4E2M1FN, false},      {"f4e2m1", Elem::kF4E2M1FN, false},
  };
  for (const auto& alias : kAliases) {
    if (!absl::EqualsIgnoreCase(text, alias.name)) continue;
    *element = ir::Element::Number(alias.elem);
    *is_unsigned = alias.is_unsigned;
    return true;
  }
  for (int i = 0; i < ir::kNumElems; ++i) {
    const Elem elem = static_cast<Elem>(i);
    if (elem == Elem::kPtr || !absl::EqualsIgnoreCase(text, ir::kElemInfo[i].spelling)) continue;
    *element = ir::Element::Number(elem);
    *is_unsigned = false;
    return true;
  }
  return false;
}

}  // namespace tile::tools
