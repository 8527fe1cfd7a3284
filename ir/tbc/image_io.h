// Device images, both ways. Internal to ir/tbc; the public side is in reader.h and writer.h.
#ifndef TILE_IR_TBC_IMAGE_IO_H_
#define TILE_IR_TBC_IMAGE_IO_H_

#include <vector>

#include "absl/status/statusor.h"
#include "ir/tbc/file.h"
#include "ir/tbc/image.h"
#include "ir/tbc/read_context.h"
#include "ir/tbc/schema.h"

namespace tile::ir {

using ImageList = flatbuffers::Vector<flatbuffers::Offset<fbs::Image>>;

// `check_payloads`: whether machine code must have the checksum that the file says.
bool ReadImages(const OpenFile& file, ReadContext* context, std::vector<Image>* images, bool check_payloads = false);

// 0 if there are none. Error if an image names a kernel that does not exist.
absl::StatusOr<flatbuffers::Offset<ImageList>> WriteImages(absl::Span<const Image> images, size_t num_kernels,
                                                           flatbuffers::FlatBufferBuilder* fbb);

}  // namespace tile::ir

#endif  // TILE_IR_TBC_IMAGE_IO_H_
