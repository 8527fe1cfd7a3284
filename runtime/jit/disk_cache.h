// A folder of files by key, shared by any number of processes and threads: machine code that was compiled here.
//
//   absl::StatusOr<std::unique_ptr<DiskCache>> cache = DiskCache::Open("/home/me/.cache/tilevm", 1 << 30);
//   if (std::optional<std::string> code = (*cache)->Get(key)) …
//   (*cache)->Put(key, code).IgnoreError();          // a full disk costs time, not correctness
//
// An entry is one file, called by its key in hexadecimal, which holds its length and a SHA-256 over key and contents. It
// appears by a rename, so that a reader sees all of it or nothing. A damaged one (cut off, changed, of another key) is
// removed and missed. When the entries together are larger than the limit, those that were used the longest time ago go.
// Files with other names are left alone. Thread-safe.
#ifndef TILE_RUNTIME_JIT_DISK_CACHE_H_
#define TILE_RUNTIME_JIT_DISK_CACHE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/tbc/sha256.h"

namespace tile::runtime {

class DiskCache {
 public:
  using Key = ir::Sha256Digest;

  // Makes the folder, and those above it, readable by this user alone. FailedPrecondition (jit.cache) if it can't, or if other
  // users may write in a folder that is there.
  static absl::StatusOr<std::unique_ptr<DiskCache>> Open(const std::string& folder, uint64_t most_bytes);

  std::optional<std::string> Get(const Key& key);
  // What is larger than the limit is not kept. FailedPrecondition (jit.cache) if the file can't be written.
  absl::Status Put(const Key& key, absl::string_view contents);

 private:
  DiskCache(std::string folder, uint64_t most_bytes) : folder_(std::move(folder)), most_bytes_(most_bytes) {}
  std::string PathOf(const Key& key) const;
  void Evict(const std::string& kept);

  const std::string folder_;
  const uint64_t most_bytes_;
  std::atomic<uint64_t> written_ = 0;  // so that no two threads write one temporary file
};

}  // namespace tile::runtime

#endif  // TILE_RUNTIME_JIT_DISK_CACHE_H_
