// Fixes for the general rules of types: how a value of one type is made one of another, from the two types at hand.
//
//   ToType(op, value, tile<128xf32>)      // "convert it: %c = itof %i signed : tile<128xf32>"
//
// Empty if nothing better is known than what the rule says. Pure and thread-safe.
#ifndef TILE_IR_VERIFY_VERIFY_ADVICE_H_
#define TILE_IR_VERIFY_VERIFY_ADVICE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "ir/module.h"

namespace tile::ir::verify {

// For an operand that must have this type, or at least its shape or its element.
std::string ToType(const Op& op, const Value& value, Type want);

// For an operand that must be in a set: bits of the elements that its tile may have and of the kinds of other types, and a rank (-1: any).
std::string ToSet(const Op& op, const Value& value, uint32_t elems, uint32_t kinds, int rank);

}  // namespace tile::ir::verify

#endif  // TILE_IR_VERIFY_VERIFY_ADVICE_H_
