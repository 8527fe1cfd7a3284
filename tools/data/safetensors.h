// .safetensors files (https://github.com/huggingface/safetensors): a JSON header, then the tensors' bytes.
//
// Read: BOOL, U8…U64, I8…I64, F16, BF16, F32, F64, F8_E4M3, F8_E5M2, F8_E8M0 and F4 (packed, low nibble first). The
// limits of the format hold: a header of at most 100 MB, each tensor's byte range inside the file and as long as its
// shape needs. Written: the same types; tf32 as F32 with the unused bits cleared. f8E5M3FNU and i4 have no name here.
//
// Errors begin with `file` or `file:tensor`. Thread-safe.
#ifndef TILE_TOOLS_DATA_SAFETENSORS_H_
#define TILE_TOOLS_DATA_SAFETENSORS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/data/array.h"
#include "tools/data/files.h"
#include "tools/data/npz.h"

namespace tile::tools {

// The tensor `name`, or the only one if `name` is empty; otherwise kNotFound naming what is there.
absl::StatusOr<Array> ReadSafetensors(AlignedBuffer bytes, absl::string_view file, absl::string_view name);
// Whether a stream looks like one.
bool LooksLikeSafetensors(absl::Span<const uint8_t> bytes);
absl::Status WriteSafetensors(absl::Span<const NamedArray> arrays, OutputFile& out);

}  // namespace tile::tools

#endif  // TILE_TOOLS_DATA_SAFETENSORS_H_
