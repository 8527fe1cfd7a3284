// PNG images as arrays of u8: [height, width] for grey, [height, width, channels] otherwise (2 grey + alpha, 3 RGB,
// 4 RGBA).
//
// Read: 8 bits and fewer a sample. Palettes become RGB (RGBA if they have transparency), grey of 1, 2 and 4 bits is
// scaled to 0…255. Samples are taken as they are: no gamma, no colour profile. 16-bit images are refused, since 8 bits
// would lose what they hold. A small file cannot ask for more memory than its compressed bytes can fill.
// Written: i8 arrays of these shapes, with channels 1 to 4.
//
// Errors begin with `name`. Thread-safe.
#ifndef TILE_TOOLS_DATA_PNG_IMAGE_H_
#define TILE_TOOLS_DATA_PNG_IMAGE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/data/array.h"
#include "tools/data/files.h"

namespace tile::tools {

absl::StatusOr<Array> ReadPng(absl::Span<const uint8_t> file, absl::string_view name);
absl::Status WritePng(const ArrayView& array, OutputFile& out);

}  // namespace tile::tools

#endif  // TILE_TOOLS_DATA_PNG_IMAGE_H_
