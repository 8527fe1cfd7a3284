// Arrays into files, by the extension of the name (in any case).
//
//   .npy .npz .safetensors .png   see npy.h, npz.h, safetensors.h, png_image.h
//   .bin                          the bytes as they are in memory; read back with FILE.bin:f32[64,64]
//   .txt                          rank 0 and 1: one element a line; otherwise a row of the last dimension a line with
//                                 spaces between, and an empty line after each matrix
//   -  -.txt  -.bin …             stdout: .npy, or the form that follows. Only .txt goes to a terminal.
//
// .npz and .safetensors hold several arrays under their names; the others take one. Nothing is left half-written: see
// files.h. Errors begin with the path: kInvalidArgument if the array does not suit the form, else kFailedPrecondition.
// Thread-safe for different paths.
#ifndef TILE_TOOLS_DATA_WRITE_H_
#define TILE_TOOLS_DATA_WRITE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/data/array.h"
#include "tools/data/files.h"
#include "tools/data/npz.h"

namespace tile::tools {

// A tool asks both before it runs a kernel, so that no result is lost: whether WriteArrays knows the form of this path
// and it holds so many arrays, and whether it can be written now.
absl::Status CheckOutputForm(absl::string_view path, size_t arrays = 1);
absl::Status CheckOutputPath(absl::string_view path);
// Where it goes: "-" or a file.
bool IsStdout(absl::string_view path);

absl::Status WriteArrays(absl::string_view path, absl::Span<const NamedArray> arrays);
// The same in two steps: several files appear together or, if one cannot be written, not at all.
absl::Status WriteArrays(absl::string_view path, absl::Span<const NamedArray> arrays, OutputFile* uncommitted);
// One array; `name` is its name in .npz and .safetensors.
absl::Status WriteArray(absl::string_view path, const ArrayView& array, absl::string_view name = "array");

}  // namespace tile::tools

#endif  // TILE_TOOLS_DATA_WRITE_H_
