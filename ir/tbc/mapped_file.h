// A file mapped for reading. Its bytes lie at a page boundary, so that a .tbc is used where it is.
//
//   absl::StatusOr<MappedFile> file = MappedFile::Open("kernel.tbc");
//   if (!file.ok()) return file.status();            // "kernel.tbc: No such file or directory"
//   auto module = ReadTbc(file->bytes(), "kernel.tbc");
//
// As with every mapping, the file must not be shortened while it is in use; replace it by renaming a new one over it.
#ifndef TILE_IR_TBC_MAPPED_FILE_H_
#define TILE_IR_TBC_MAPPED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tile::ir {

class MappedFile {
 public:
  // A regular file; an empty one has no bytes. What can't be mapped (a pipe, /dev/stdin) is read into memory. Errors:
  // NotFound; InvalidArgument for a directory and what is larger than 2 GiB; FailedPrecondition where the system refuses.
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(copy_, other.copy_);
    return *this;
  }
  ~MappedFile();

  absl::Span<const uint8_t> bytes() const {
    return data_ ? absl::MakeConstSpan(static_cast<const uint8_t*>(data_), size_)
                 : absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(copy_.data()), copy_.size());
  }

 private:
  MappedFile() = default;
  void* data_ = nullptr;  // mapping
  size_t size_ = 0;
  std::string copy_;  // used if there is no mapping
};

}  // namespace tile::ir

#endif  // TILE_IR_TBC_MAPPED_FILE_H_
