// NumPy's .npz files: ZIP archives of .npy members. The member NAME.npy is the array NAME.
//
// Errors begin with `file` or `file:member`. Thread-safe.
#ifndef TILE_TOOLS_DATA_NPZ_H_
#define TILE_TOOLS_DATA_NPZ_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/data/array.h"
#include "tools/data/files.h"

namespace tile::tools {

struct NamedArray {
  std::string name;
  ArrayView array;
};

// The array `member`, or the only one if `member` is empty; otherwise kNotFound naming what is there. `raw_as` as in
// ReadNpy.
absl::StatusOr<Array> ReadNpz(AlignedBuffer bytes, absl::string_view file, absl::string_view member,
                              std::optional<ir::Elem> raw_as = std::nullopt);
// Stored members; names must differ.
absl::Status WriteNpz(absl::Span<const NamedArray> arrays, OutputFile& out);

// "a, b, c" of at most 20 names, for messages.
std::string NameList(absl::Span<const std::string> names);

}  // namespace tile::tools

#endif  // TILE_TOOLS_DATA_NPZ_H_
