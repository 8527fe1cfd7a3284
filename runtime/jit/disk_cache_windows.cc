// Windows has no folder that is private by its mode, and tilec is not built for it: what is compiled there is not kept.
#include "absl/strings/str_cat.h"
#include "runtime/error.h"
#include "runtime/jit/disk_cache.h"

namespace tile::runtime {

absl::StatusOr<std::unique_ptr<DiskCache>> DiskCache::Open(const std::string& folder, uint64_t /*most_bytes*/) {
  return MakeError(absl::StatusCode::kFailedPrecondition, "jit.cache",
                   absl::StrCat(folder, ": cannot be used: compiled kernels are not kept on Windows"));
}

// Nobody has an object to call these of.
std::optional<std::string> DiskCache::Get(const Key& /*key*/) { return std::nullopt; }
absl::Status DiskCache::Put(const Key& /*key*/, absl::string_view /*contents*/) { return absl::OkStatus(); }

}  // namespace tile::runtime
