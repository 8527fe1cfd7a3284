// Arrays converted to another element type, for --cast.
//
//   to a float       the nearest value, as ir::FromDouble rounds (ties to even, each element once): IEEE types overflow
//                    to infinity, 8-bit and 4-bit floats saturate
//   to an integer    fractions are cut off; a NaN or a value that the type holds neither signed nor unsigned is an
//                    error that names the element
//   to i1            whether it is not zero (a NaN is not)
//
// Integers come as `from.is_unsigned` says: u8 255 becomes 255, i8 -1 becomes -1. Pure and thread-safe.
#ifndef TILE_TOOLS_DATA_CAST_H_
#define TILE_TOOLS_DATA_CAST_H_

#include "absl/status/statusor.h"
#include "ir/element.h"
#include "tools/data/array.h"

namespace tile::tools {

absl::StatusOr<Array> Cast(const ArrayView& from, ir::Element to);

}  // namespace tile::tools

#endif  // TILE_TOOLS_DATA_CAST_H_
