// The ZIP archives that .npz files are: stored and deflated members, ZIP64; no encryption, no multi-disk.
//
// The central directory is what counts. A member's checksum is verified when it is taken. A deflated member is believed
// to expand by at most deflate's limit of about 1032 times, so that a small file asks for little memory. Messages begin
// with what is wrong; the caller adds the file's name. Thread-safe but for ZipWriter.
#ifndef TILE_TOOLS_DATA_ZIP_H_
#define TILE_TOOLS_DATA_ZIP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/data/array.h"
#include "tools/data/files.h"

namespace tile::tools {

struct ZipMember {
  std::string name;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t compressed = 0;  // bytes
  uint64_t size = 0;        // bytes when unpacked
  uint64_t header = 0;      // offset of the local header
};

absl::StatusOr<std::vector<ZipMember>> ListZip(absl::Span<const uint8_t> file);
// The unpacked contents; takes the file's memory over where it can.
absl::StatusOr<AlignedBuffer> TakeZipMember(AlignedBuffer file, const ZipMember& member);

// Writes an archive of stored members. Bytes depend on the contents only (all dates are 1980-01-01).
class ZipWriter {
 public:
  using Sink = absl::FunctionRef<absl::Status(absl::Span<const uint8_t>)>;
  using Producer = absl::FunctionRef<absl::Status(Sink)>;

  explicit ZipWriter(OutputFile* out) : out_(out) {}
  // `produce` is called twice, for the checksum and for the bytes, and must give `size` bytes each time.
  absl::Status Add(absl::string_view name, uint64_t size, Producer produce);
  absl::Status Finish();

 private:
  absl::Status Write(const std::string& bytes);

  OutputFile* out_;
  uint64_t offset_ = 0;
  std::vector<ZipMember> members_;
};

}  // namespace tile::tools

#endif  // TILE_TOOLS_DATA_ZIP_H_
