// Computes what is the same once: of operations without effect that have equal operands and attributes, the first whose
// block surrounds the other stays.
//
//   ShareCommon(function, Share::kScalars);
//
// Before:                                       After:
//   %v = make_partition_view %t : …               %v = make_partition_view %t : …
//   for … {                                       for … {
//     %w = make_partition_view %t : …               … %v …
//     … %w …                                      }
//   }
//
// Operations with regions are left alone. The place in the source is that of the first. Takes time proportional to the program.
// Not thread-safe with other changes of the module.
#ifndef TILE_IR_PASSES_COMMON_H_
#define TILE_IR_PASSES_COMMON_H_

#include <cstddef>
#include <cstdint>

#include "ir/module.h"

namespace tile::ir {

// Of which values there shall be one: of all, or of those that take no more than a register (scalars, views, tokens), so that no
// tile stays in registers from its first use to its last.
enum class Share : uint8_t { kAll, kScalars };

// It is a scalar, a view or a token.
bool IsScalarLike(const Value& v);

// The operations are one but for their operands: of one kind, with equal attributes and types. Regions are not compared.
bool AreAlike(const Op& a, const Op& b);
// Equal for operations that are alike.
size_t HashOfKind(const Op& op);

// Whether anything changed.
bool ShareCommon(Function* function, Share share);

}  // namespace tile::ir

#endif  // TILE_IR_PASSES_COMMON_H_
