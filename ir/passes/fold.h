// What elementwise operations give for constants: the element of the result, from the elements of the operands. The numbers are those
// of docs/semantics, the same as the VM's and every GPU's.
//
//   FoldInteger(*addi, {3, 4});          // 7
//   FoldFloat(*ftof_f16, {0x3F800000});  // 0x3C00: 1.0 of f32 as f16
//
// Each number stands in the low bits of its uint64_t. Nullopt: the operation is another one, or the program gives its result no
// meaning (division by zero).
#ifndef TILE_IR_PASSES_FOLD_H_
#define TILE_IR_PASSES_FOLD_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "ir/module.h"

namespace tile::ir {

std::optional<uint64_t> FoldInteger(const Op& op, absl::Span<const uint64_t> operands);

// Conversions to floats, and changes of a sign. Nullopt: also for NaN, whose bits engines may choose, and for integers over 2^53.
std::optional<uint64_t> FoldFloat(const Op& op, absl::Span<const uint64_t> operands);

// a `predicate` b of integers of this width.
bool Compare(ComparisonPredicate predicate, Signedness signedness, uint64_t a, uint64_t b, int width);

}  // namespace tile::ir

#endif  // TILE_IR_PASSES_FOLD_H_
