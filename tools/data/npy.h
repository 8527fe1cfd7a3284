// NumPy's .npy files, format versions 1.0, 2.0 and 3.0:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
// Read: bool, i1…i8, u1…u8, f2, f4, f8 of either byte order, C or Fortran order (the result is always row-major and
// little-endian), and what ml_dtypes adds. NumPy stores those as raw bytes: '<V2' for bfloat16, '|V1' for every type of
// one byte (also the 4-bit ones, a byte each). Such a file says no more than the width, so `raw_as` must name the type;
// without it the error says so. Files that carry ml_dtypes' names ('bfloat16') or its '<f1' (float8_e5m2) are
// understood.
//
// Written: version 1.0, data at a multiple of 64. Integers as 'i', or 'u' if the array
// is unsigned; i1 as bool; tf32 as '<f4' with the unused bits cleared; bf16 as '<V2', the 8-bit floats and the 4-bit
// types as '|V1', exactly as NumPy with ml_dtypes would: numpy.load(f).view(ml_dtypes.bfloat16) has the values.
//
// Errors are kInvalidArgument and begin with `name`. Thread-safe.
#ifndef TILE_TOOLS_DATA_NPY_H_
#define TILE_TOOLS_DATA_NPY_H_

#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/data/array.h"
#include "tools/data/files.h"

namespace tile::tools {

// The array in a whole file; takes the file's memory over where it can. `name` is for messages.
absl::StatusOr<Array> ReadNpy(AlignedBuffer file, absl::string_view name,
                              std::optional<ir::Elem> raw_as = std::nullopt);

// What is before the elements of such an array in a file.
std::string NpyHeader(const ArrayView& array);
// Bytes of the elements in a file: 4-bit types take a byte each there.
int64_t NpyDataBytes(const ArrayView& array);
// The elements, in pieces, as a file has them.
absl::Status NpyData(const ArrayView& array, absl::FunctionRef<absl::Status(absl::Span<const uint8_t>)> sink);
absl::Status WriteNpy(const ArrayView& array, OutputFile& out);

}  // namespace tile::tools

#endif  // TILE_TOOLS_DATA_NPY_H_
