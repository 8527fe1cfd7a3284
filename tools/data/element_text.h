// Single elements as text.
//
// Integers: decimal, 0x… or 0b…, with a sign if wanted; the range is that of signed and unsigned together (i8: -128 to
// 255), because types are signless. i1: true, false, 0, 1. Floats: decimal, hexadecimal (0x1.8p3), inf, nan, or an
// integer as above; rounded to the nearest value (a decimal is first rounded to f64, except for f32 and f64
// themselves). What the type cannot hold is an error that says what it can, not an infinity; what is too small becomes
// 0.
//
//   ParseElement(Elem::kI8, "300");      // kInvalidArgument: 300 does not fit i8 (-128 to 255)
//   ParseElement(Elem::kF16, "1.5");     // 0x3E00
//   FormatElement(Elem::kF16, 0x3E00);   // "1.5"
//
// Pure and thread-safe.
#ifndef TILE_TOOLS_DATA_ELEMENT_TEXT_H_
#define TILE_TOOLS_DATA_ELEMENT_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/element.h"

namespace tile::tools {

// Whether the text is a literal of some number type.
bool IsScalarText(absl::string_view text);

// The bits of an element (not a pointer), in the form of LoadBits.
absl::StatusOr<uint64_t> ParseElement(ir::Elem elem, absl::string_view text);

// A decimal that ParseElement reads as the same bits, the shortest for most: integers below 2^24 and the values of
// 8-bit and 4-bit types are printed in full. NaN is "nan" whatever its bits; i1 true or false.
std::string FormatElement(ir::Elem elem, uint64_t bits, bool is_unsigned = false);

}  // namespace tile::tools

#endif  // TILE_TOOLS_DATA_ELEMENT_TEXT_H_
