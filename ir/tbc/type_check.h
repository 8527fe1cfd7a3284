// What holds for every type in a file, on both sides: the sizes of its lists fit together and its numbers are small.
// The rules of the language (powers of two, which element where) are the verifier's. Internal to ir/tbc.
#ifndef TILE_IR_TBC_TYPE_CHECK_H_
#define TILE_IR_TBC_TYPE_CHECK_H_

#include "ir/type.h"

namespace tile::ir {

// Null if the type is in order, else what is wrong with it.
const char* TypeProblem(const TypeData& type);

// The same for the elements of a constant: whole elements, exactly one of a splat, none with bits it does not have.
const char* ConstantProblem(Elem elem, bool splat, absl::Span<const uint8_t> bytes);

}  // namespace tile::ir

#endif  // TILE_IR_TBC_TYPE_CHECK_H_
