// Numbers of every element type as text, exactly: a decimal when reading it back gives the same bits, else the bits in
// hexadecimal.
//
//   FormatNumber(Elem::kF32, 0x3FC00000);          // "1.500000e+00"
//   FormatNumber(Elem::kF32, 0xFF800000);          // "0xFF800000"
//   FormatNumber(Elem::kI8, 0xFF);                 // "-1"
//   ParseNumber(Elem::kF16, false, "1.5", &bits);  // 0x3E00
//
// Bits stand as in Dense: the low bits hold the element, tf32 has 13 zeros at the bottom. Thread-safe.
#ifndef TILE_IR_TEXT_NUMBER_H_
#define TILE_IR_TEXT_NUMBER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "ir/element.h"

namespace tile::ir::text {

std::string FormatNumber(Elem e, uint64_t bits);
// `text`: a decimal or hexadecimal number without sign, or true, false, inf, nan. A float is rounded to the nearest
// element, but must lie within the type's range; f8E8M0FNU takes powers of two only. Returns what is wrong, or nothing.
// What a float beyond the range of its type is: a mistake, or infinite (where the type has infinities), as in MLIR.
enum class Beyond { kWrong, kInfinite };
std::optional<std::string> ParseNumber(Elem e, bool negative, absl::string_view text, uint64_t* bits,
                                       Beyond beyond = Beyond::kWrong);

// Bits that an element may use: 1 for i1, 0xF for i4, 0xFFFFE000 for tf32.
uint64_t ElementMask(Elem e);

}  // namespace tile::ir::text

#endif  // TILE_IR_TEXT_NUMBER_H_
