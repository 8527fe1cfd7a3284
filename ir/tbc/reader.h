// Reads .tbc files (schemas/FORMAT.md). Untrusted input is safe: malformed bytes give an error that says what is wrong, and reading
// takes memory and time in proportion to the number of bytes.
//
//   absl::StatusOr<MappedFile> file = MappedFile::Open(path);
//   absl::StatusOr<std::unique_ptr<Module>> module = ReadTbc(file->bytes(), path);
//
// A module from here has operations of the table, with as many operands, results, regions and attributes as their
// formats ask for. Operands are visible where they are used, lists in types have matching lengths, constants consist of
// whole elements, references exist. It is not verified otherwise: Verify() of ir/verify/verify.h can run on all of
// them.
//
// The bytes are only needed during the call (images refer to them). They need no alignment: a base that is not aligned
// to 32 is copied. Errors: InvalidArgument, "NAME: error[tbc.CODE]: …". Safe from any thread.
#ifndef TILE_IR_TBC_READER_H_
#define TILE_IR_TBC_READER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/module.h"
#include "ir/tbc/image.h"
#include "ir/tbc/version.h"

namespace tile::ir {

// Does the file say that it is one? Told by content, not by name.
bool LooksLikeTbc(absl::Span<const uint8_t> bytes);

// Also checks machine code against its checksums.
absl::StatusOr<std::unique_ptr<Module>> ReadTbc(absl::Span<const uint8_t> bytes, absl::string_view name);

// The machine code in the file; each payload lies in `bytes`, and is taken as it is: ReadTbc has compared it with its checksum.
absl::StatusOr<std::vector<Image>> ReadTbcImages(absl::Span<const uint8_t> bytes, absl::string_view name);

// What can be said about a file without understanding its code: also of files newer than this reader.
struct TbcInfo {
  struct Kernel {
    std::string name;
    bool has_interface = false;
  };
  struct ImageInfo {
    ImageKind kind = ImageKind::kCubin;
    std::string arch, symbol;
    uint32_t kernel = 0;
    size_t bytes = 0;
    bool current = false;  // compiled from the code section that is in the file
  };
  TbcVersion version;
  uint64_t feature_bits = 0;
  std::vector<std::string> features;  // by name; unknown ones as "bit 17"
  bool readable = false;              // version and features are known to this reader
  std::string name, producer;
  std::vector<Kernel> kernels;
  std::vector<std::string> globals;
  std::vector<ImageInfo> images;
  size_t num_ops = 0, num_values = 0, num_types = 0;
  size_t file_bytes = 0, code_bytes = 0, constant_bytes = 0, image_bytes = 0;
  bool has_debug = false;
  Sha256Digest code_hash = {};
};
absl::StatusOr<TbcInfo> InspectTbc(absl::Span<const uint8_t> bytes);

}  // namespace tile::ir

#endif  // TILE_IR_TBC_READER_H_
