// What print_tko prints: one text for every engine.
//
//   FormatPrint("x = %5.2f\n", {{Elem::kF32, {}, bytes}});   // "x =  1.50\n"
//
// Conversions are those of printf; length modifiers say nothing, because the operand's type is known. A conversion that
// does not fit the type prints the value as far as it has one. A tile is printed as nested lists in brackets. What has no
// operand left ends the text. Pure and thread-safe.
#ifndef TILE_IR_PRINT_FORMAT_H_
#define TILE_IR_PRINT_FORMAT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/element.h"

namespace tile::ir {

struct PrintOperand {
  Elem element = Elem::kI32;
  absl::Span<const int64_t> shape;  // of the tile; empty: a scalar
  const uint8_t* data = nullptr;    // row-major, StorageBytes(element) each
};

std::string FormatPrint(absl::string_view format, absl::Span<const PrintOperand> operands);

}  // namespace tile::ir

#endif  // TILE_IR_PRINT_FORMAT_H_
