#include "runtime/jit/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/error.h"

namespace tile::runtime {
namespace {

constexpr char kMagic[] = {'T', 'V', 'C', 'A', 'C', 'H', 'E', '1'};
constexpr size_t kNameLength = 64;
constexpr time_t kAbandoned = 3600;  // seconds: a temporary file of a process that is no more

struct Header {
  char magic[8];
  uint64_t bytes;
  ir::Sha256Digest checksum;  // of key and contents
};
static_assert(sizeof(Header) == 48);

absl::Span<const uint8_t> Bytes(absl::string_view s) { return {reinterpret_cast<const uint8_t*>(s.data()), s.size()}; }

ir::Sha256Digest Checksum(const DiskCache::Key& key, absl::string_view contents) {
  std::string all(reinterpret_cast<const char*>(key.data()), key.size());
  absl::StrAppend(&all, contents);
  return ir::Sha256(Bytes(all));
}

absl::Status Error(absl::string_view path, absl::string_view what) {
  return MakeError(absl::StatusCode::kFailedPrecondition, "jit.cache",
                   absl::StrCat(path, ": ", what, ": ", std::strerror(errno)));
}

class File {
 public:
  File(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  ~File() { Close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  bool Close() {
    const bool ok = fd_ < 0 || close(fd_) == 0;
    fd_ = -1;
    return ok;
  }
  bool Read(void* to, size_t size) {
    auto* at = static_cast<char*>(to);
    while (size > 0) {
      const ssize_t n = read(fd_, at, size);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += n;
      size -= static_cast<size_t>(n);
    }
    return true;
  }
  bool Write(const void* from, size_t size) {
    const auto* at = static_cast<const char*>(from);
    while (size > 0) {
      const ssize_t n = write(fd_, at, size);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += n;
      size -= static_cast<size_t>(n);
    }
    return true;
  }

 private:
  int fd_;
};

bool IsEntry(absl::string_view name) {
  return name.size() == kNameLength && name.find_first_not_of("0123456789abcdef") == absl::string_view::npos;
}
bool IsTemporary(absl::string_view name) {
  return name.size() > kNameLength + 5 && IsEntry(name.substr(0, kNameLength)) &&
         name.substr(kNameLength, 5) == ".tmp.";
}

}  // namespace

absl::StatusOr<std::unique_ptr<DiskCache>> DiskCache::Open(const std::string& folder, uint64_t most_bytes) {
  for (size_t at = folder.find('/', 1);; at = folder.find('/', at + 1)) {
    const std::string part = folder.substr(0, at);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return Error(part, "cannot be made");
    if (at == std::string::npos) break;
  }
  struct stat s;
  if (stat(folder.c_str(), &s) != 0) return Error(folder, "cannot be used");
  if (!S_ISDIR(s.st_mode)) {
    errno = ENOTDIR;
    return Error(folder, "cannot be used");
  }
  // Whoever can write here decides what runs.
  if (s.st_uid != geteuid() || (s.st_mode & 022) != 0) {
    return MakeError(absl::StatusCode::kFailedPrecondition, "jit.cache",
                     absl::StrCat(folder, ": cannot be used: other users may write there"),
                     "name another folder in TILEVM_CACHE");
  }
  return std::unique_ptr<DiskCache>(new DiskCache(folder, most_bytes));
}

std::string DiskCache::PathOf(const Key& key) const {
  return absl::StrCat(folder_, "/", absl::BytesToHexString({reinterpret_cast<const char*>(key.data()), key.size()}));
}

std::optional<std::string> DiskCache::Get(const Key& key) {
  const std::string path = PathOf(key);
  File file(path, O_RDONLY);
  if (file.fd() < 0) return std::nullopt;
  struct stat s;
  Header header;
  std::string contents;
  const auto sound = [&] {
    if (fstat(file.fd(), &s) != 0 || !S_ISREG(s.st_mode) || s.st_size < static_cast<off_t>(sizeof header)) return false;
    const uint64_t bytes = static_cast<uint64_t>(s.st_size) - sizeof header;
    if (bytes > most_bytes_ || !file.Read(&header, sizeof header)) return false;
    if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.bytes != bytes) return false;
    contents.resize(bytes);
    return file.Read(contents.data(), bytes) && header.checksum == Checksum(key, contents);
  };
  if (!sound()) {
    unlink(path.c_str());
    return std::nullopt;
  }
  futimens(file.fd(), nullptr);  // used now
  return contents;
}

absl::Status DiskCache::Put(const Key& key, absl::string_view contents) {
  if (contents.size() + sizeof(Header) > most_bytes_) return absl::OkStatus();
  const std::string path = PathOf(key);
  const std::string temporary = absl::StrCat(path, ".tmp.", getpid(), ".", written_.fetch_add(1), ".",
                                             absl::Hex(reinterpret_cast<uintptr_t>(this)));
  Header header;
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.bytes = contents.size();
  header.checksum = Checksum(key, contents);
  File file(temporary, O_WRONLY | O_CREAT | O_EXCL);
  if (file.fd() < 0) return Error(temporary, "cannot be made");
  if (!file.Write(&header, sizeof header) || !file.Write(contents.data(), contents.size()) || !file.Close() ||
      rename(temporary.c_str(), path.c_str()) != 0) {
    const absl::Status status = Error(temporary, "cannot be written");
    unlink(temporary.c_str());
    return status;
  }
  Evict(path);
  return absl::OkStatus();
}

// Not `kept`, which was just written: two that are larger than the limit together would otherwise drive each other out for
// ever, and the caller expects to find it.
void DiskCache::Evict(const std::string& kept) {
  DIR* folder = opendir(folder_.c_str());
  if (folder == nullptr) return;
  struct Entry {
    std::filesystem::file_time_type used;
    uint64_t bytes;
    std::string path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  const time_t now = time(nullptr);
  while (const dirent* e = readdir(folder)) {
    const absl::string_view name = e->d_name;
    if (!IsEntry(name) && !IsTemporary(name)) continue;
    Entry entry;
    entry.path = absl::StrCat(folder_, "/", name);
    struct stat s;
    if (lstat(entry.path.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
    if (IsTemporary(name)) {
      if (s.st_mtime + kAbandoned < now) unlink(entry.path.c_str());
      continue;
    }
    std::error_code error;
    entry.used = std::filesystem::last_write_time(entry.path, error);
    if (error) continue;  // another process removed it
    entry.bytes = static_cast<uint64_t>(s.st_size);
    total += entry.bytes;
    if (entry.path != kept) entries.push_back(std::move(entry));
  }
  closedir(folder);
  if (total <= most_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& e : entries) {
    if (total <= most_bytes_) break;
    if (unlink(e.path.c_str()) == 0 || errno == ENOENT) total -= e.bytes;
  }
}

}  // namespace tile::runtime
