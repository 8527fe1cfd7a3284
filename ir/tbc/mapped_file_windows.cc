// Files are read rather than mapped: Windows would not let another program replace one that is mapped.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ir/limits.h"
#include "ir/tbc/mapped_file.h"

namespace tile::ir {

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  const std::filesystem::path name = std::u8string(path.begin(), path.end());
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(name, error);
  if (!std::filesystem::exists(status)) return absl::NotFoundError(absl::StrCat(path, ": No such file or directory"));
  if (std::filesystem::is_directory(status)) return absl::InvalidArgumentError(absl::StrCat(path, ": Is a directory"));
  if (std::filesystem::is_regular_file(status) && std::filesystem::file_size(name, error) > kMaxFileBytes) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": larger than 2 GiB"));
  }
  std::ifstream stream(name, std::ios::binary);
  if (!stream) return absl::FailedPreconditionError(absl::StrCat(path, ": cannot be opened"));
  MappedFile file;
  file.copy_.assign(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  if (stream.bad()) return absl::FailedPreconditionError(absl::StrCat(path, ": cannot be read"));
  if (file.copy_.size() > kMaxFileBytes) return absl::InvalidArgumentError(absl::StrCat(path, ": larger than 2 GiB"));
  return file;
}

MappedFile::~MappedFile() = default;

}  // namespace tile::ir
