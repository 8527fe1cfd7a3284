#include "ir/tbc/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ir/limits.h"

namespace tile::ir {
namespace {

absl::Status SystemError(const std::string& path, int error) {
  const std::string text = absl::StrCat(path, ": ", std::strerror(error));
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(text);
  return error == EISDIR ? absl::InvalidArgumentError(text) : absl::FailedPreconditionError(text);
}

// The rest of a file whose size is not known.
absl::Status ReadAll(int fd, const std::string& path, std::string* out) {
  char buffer[64 << 10];
  for (;;) {
    const ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n == 0) return absl::OkStatus();
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError(path, errno);
    out->append(buffer, static_cast<size_t>(n));
    if (out->size() > kMaxFileBytes) return absl::InvalidArgumentError(absl::StrCat(path, ": larger than 2 GiB"));
  }
}

}  // namespace

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemError(path, errno);
  struct Closer {
    int fd;
    ~Closer() { close(fd); }
  } closer{fd};
  MappedFile file;
  struct stat info;
  if (fstat(fd, &info) != 0) return SystemError(path, errno);
  if (S_ISDIR(info.st_mode)) return SystemError(path, EISDIR);
  if (S_ISREG(info.st_mode) && info.st_size > 0) {
    void* p = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (p != MAP_FAILED) {
      file.data_ = p;
      file.size_ = static_cast<size_t>(info.st_size);
      return file;
    }
  }
  if (absl::Status s = ReadAll(fd, path, &file.copy_); !s.ok()) return s;
  return file;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace tile::ir
