#include "tools/data/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tile::tools {
namespace {

constexpr int64_t kMapFrom = int64_t{1} << 20;
constexpr size_t kGather = size_t{1} << 16;

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd > STDIN_FILENO) close(fd);
  }
};

absl::Status SystemError(const std::string& path, absl::string_view what) {
  return absl::ErrnoToStatus(errno, absl::StrCat(path, ": ", what));
}

// Up to `size` bytes; fewer at the end of the file. -1: errno says why.
int64_t ReadSome(int fd, uint8_t* out, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t n = read(fd, out + done, std::min<size_t>(size - done, size_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) break;
    done += n;
  }
  return static_cast<int64_t>(done);
}

absl::StatusOr<AlignedBuffer> ReadStream(int fd, const std::string& name, int64_t most_bytes) {
  AlignedBuffer bytes;
  size_t used = 0;
  for (size_t chunk = size_t{64} << 10;; chunk = std::min(chunk * 2, size_t{64} << 20)) {
    if (absl::Status s = bytes.Resize(used + chunk); !s.ok()) return WithName(name, s);
    const int64_t n = ReadSome(fd, bytes.data() + used, chunk);
    if (n < 0) return SystemError(name, "cannot be read");
    used += n;
    if (static_cast<int64_t>(used) > most_bytes)
      return WithName(name, absl::StrCat("gives more than ", most_bytes, " bytes"));
    if (static_cast<int64_t>(used) > kMaxStreamBytes) {
      return WithName(name, absl::StrCat("gives more than ", kMaxStreamBytes, " bytes; store it in a file"));
    }
    if (static_cast<size_t>(n) < chunk) break;
  }
  if (absl::Status s = bytes.Resize(used); !s.ok()) return WithName(name, s);
  return bytes;
}

}  // namespace

absl::Status WithName(absl::string_view name, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
}

absl::Status WithName(absl::string_view name, absl::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", message));
}

absl::StatusOr<AlignedBuffer> ReadWholeFile(const std::string& path, int64_t most_bytes) {
  if (path == "-") {
    static std::atomic<bool> taken = false;
    if (taken.exchange(true)) {
      return WithName("stdin", "can be read once, and was read already; put it into a file, or name it once");
    }
    return ReadStream(STDIN_FILENO, "stdin", most_bytes);
  }
  Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return SystemError(path, "cannot be opened");
  struct stat info;
  if (fstat(file.fd, &info) != 0) return SystemError(path, "cannot be read");
  if (S_ISDIR(info.st_mode)) return WithName(path, "is a directory");
  // Files of /proc say size 0 and have contents.
  if (!S_ISREG(info.st_mode) || info.st_size == 0) return ReadStream(file.fd, path, most_bytes);
  if (info.st_size > most_bytes) return WithName(path, absl::StrCat("is larger than ", most_bytes, " bytes"));
  if (info.st_size >= kMapFrom) {
    absl::StatusOr<AlignedBuffer> map = AlignedBuffer::MapFile(file.fd, info.st_size);
    if (map.ok()) return map;  // else a file system without mappings
  }
  absl::StatusOr<AlignedBuffer> bytes = AlignedBuffer::Uninitialized(info.st_size);
  if (!bytes.ok()) return WithName(path, bytes.status());
  const int64_t n = ReadSome(file.fd, bytes->data(), bytes->size());
  if (n < 0) return SystemError(path, "cannot be read");
  bytes->Narrow(0, n);  // shorter if it shrank just now
  return bytes;
}

namespace {

absl::Status OutputError(const std::string& path, absl::string_view what, int error) {
  return absl::FailedPreconditionError(absl::StrCat(path, ": ", what, ": ", std::strerror(error)));
}
absl::Status OutputError(const std::string& path, absl::string_view what) { return OutputError(path, what, errno); }

}  // namespace

absl::Status OutputFile::Check(const std::string& path) {
  struct stat info;
  if (path != "-" && stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    // Opening a pipe waits for its other end, which then sees it close.
    return access(path.c_str(), W_OK) == 0 ? absl::OkStatus() : OutputError(path, "cannot be opened for writing");
  }
  return OutputFile().Open(path);
}

OutputFile::~OutputFile() {
  if (fd_ > STDERR_FILENO) close(fd_);
  if (!temp_.empty()) unlink(temp_.c_str());
}

absl::Status OutputFile::Open(const std::string& path) {
  path_ = path;
  if (path == "-") {
    path_ = "stdout";
    fd_ = STDOUT_FILENO;
    return absl::OkStatus();
  }
  target_ = path;
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return OutputError(path, "cannot be written", EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return fd_ < 0 ? OutputError(path, "cannot be opened for writing") : absl::OkStatus();
  }
  if (exists) {
    if (access(path.c_str(), W_OK) != 0) return OutputError(path, "cannot be written");
    char* resolved = realpath(path.c_str(), nullptr);
    if (resolved != nullptr) target_ = resolved;
    std::free(resolved);
  }
  const std::string temp = absl::StrCat(target_, ".tmp.", getpid());
  unlink(temp.c_str());  // of a dead process that had our number
  fd_ = open(temp.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) return OutputError(path, "cannot be created");
  temp_ = temp;
  if (exists && fchmod(fd_, info.st_mode & 07777) != 0) return OutputError(path, "cannot be given its mode");
  return absl::OkStatus();
}

bool OutputFile::is_terminal() const { return isatty(fd_) != 0; }

absl::Status OutputFile::Write(absl::string_view text) {
  return Write(absl::Span<const uint8_t>(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

absl::Status OutputFile::Write(absl::Span<const uint8_t> bytes) {
  if (bytes.size() < kGather) {
    pending_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return pending_.size() < kGather ? absl::OkStatus() : Flush();
  }
  if (absl::Status s = Flush(); !s.ok()) return s;
  return WriteOut(bytes);
}

absl::Status OutputFile::Flush() {
  const absl::Status s =
      WriteOut(absl::Span<const uint8_t>(reinterpret_cast<const uint8_t*>(pending_.data()), pending_.size()));
  pending_.clear();
  return s;
}

absl::Status OutputFile::WriteOut(absl::Span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd_, bytes.data(),
                            std::min<size_t>(bytes.size(), written_ == nullptr ? size_t{1} << 30 : size_t{1} << 24));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return OutputError(path_, "cannot be written");
    if (written_ != nullptr) written_->fetch_add(n, std::memory_order_relaxed);
    bytes.remove_prefix(n);
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Commit() {
  if (absl::Status s = Flush(); !s.ok()) return s;
  if (fd_ > STDERR_FILENO) {
    const int fd = std::exchange(fd_, -1);
    if (close(fd) != 0) return OutputError(path_, "cannot be written");
  }
  if (temp_.empty()) return absl::OkStatus();
  if (rename(temp_.c_str(), target_.c_str()) != 0) return OutputError(path_, "cannot be renamed into place");
  temp_.clear();
  return absl::OkStatus();
}

}  // namespace tile::tools
