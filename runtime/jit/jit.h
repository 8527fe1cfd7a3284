// Machine code that a program lacks, compiled on this machine: by libtilec.so, which is opened when it is first needed, and
// kept on disk (disk_cache.h).
//
//   absl::StatusOr<std::shared_ptr<Jit>> jit = Jit::Open({});
//   absl::StatusOr<std::shared_ptr<const Program>> p = (*jit)->Compile(*program, *function, 90);   // with its images
//
// The key of the cache is a hash of the program (lines of its source included, which traps name), the kernel, the GPU and the
// compiler's version. What is found there is checked as any other file is. A folder that can't be used costs the time of
// compiling, not more: last_cache_error() tells. Thread-safe.
//
// Errors: FailedPrecondition jit.no_compiler, jit.bad_compiler; those of the compiler: Unimplemented (what it refuses),
// FailedPrecondition (something is missing on this machine), Internal.
#ifndef TILE_RUNTIME_JIT_JIT_H_
#define TILE_RUNTIME_JIT_JIT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/jit/disk_cache.h"
#include "runtime/program.h"

namespace tile::runtime {

struct JitOptions {
  std::string library;  // empty: TILEVM_LIBTILEC, else libtilec.so.1 as the system finds it
  bool use_cache = true;
  std::string cache_folder;  // empty: TILEVM_CACHE, XDG_CACHE_HOME/tilevm, HOME/.cache/tilevm
  uint64_t cache_bytes = uint64_t{1} << 30;
};

class Jit {
 public:
  static absl::StatusOr<std::shared_ptr<Jit>> Open(const JitOptions& options);
  ~Jit();

  // `function` is one of program.module, which the result shares. `sm`: 90 for compute capability 9.0.
  absl::StatusOr<std::shared_ptr<const Program>> Compile(const Program& program, const ir::Function& function, int sm);

  const std::string& compiler_version() const { return version_; }
  // How often Compile found what it needed on disk, and how often it had to compile.
  int64_t hits() const { return hits_; }
  int64_t compilations() const { return compilations_; }
  // Of the last time that the cache could not be used; OK if never.
  absl::Status last_cache_error();

 private:
  struct Compiler;
  Jit();
  absl::StatusOr<std::string> RunCompiler(const std::string& module, const std::string& kernel, int sm);
  void SetCacheError(const absl::Status& status);

  std::unique_ptr<Compiler> compiler_;
  std::string version_;
  std::unique_ptr<DiskCache> cache_;  // null: none
  std::atomic<int64_t> hits_ = 0, compilations_ = 0;
  std::mutex mutex_;
  absl::Status cache_error_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tile::runtime

#endif  // TILE_RUNTIME_JIT_JIT_H_
