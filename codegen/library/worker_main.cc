// tilec-worker: compiles what libtilec.so asks for (codegen/library/worker.h), and may end in any way.
//
// What can be foreseen is answered: fatal errors of LLVM, want of memory, want of time. Signals end the process
// together with its children and temporary folders. The rest (a crash) the library sees.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "codegen/assemble/child_process.h"
#include "codegen/assemble/cuda_files.h"
#include "codegen/library/build_id.h"
#include "codegen/library/compile_file.h"
#include "codegen/library/worker.h"
#include "codegen/llvm/large_pages.h"
#include "codegen/llvm/large_stack.h"
#include "llvm/Support/ErrorHandling.h"

namespace tile::codegen {
namespace {

int g_answer = -1;
WorkerAnswer g_head;
std::atomic<bool> g_answered = false;

bool Write(uint64_t at, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = pwrite(g_answer, data, size, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    at += static_cast<uint64_t>(n);
    size -= static_cast<size_t>(n);
  }
  return true;
}

// Ends the process. Takes no memory. The first answer counts.
[[noreturn]] void Finish(tilec_status status, const char* bytes, size_t size) {
  while (g_answered.exchange(true)) pause();
  g_head.status = status;
  g_head.bytes = size;
  const bool written =
      Write(sizeof g_head, bytes, size) && Write(0, reinterpret_cast<const char*>(&g_head), sizeof g_head);
  CleanUpNow();
  _exit(written ? 0 : 1);
}

[[noreturn]] void Finish(tilec_status status, const char* text) { Finish(status, text, std::strlen(text)); }

[[noreturn]] void OutOfMemory() {
  Finish(TILEC_ENVIRONMENT,
         "error[tilec.memory]: the compiler needs more memory than it may have. Use smaller tiles, or allow more: "
         "TILEC_MEMORY_LIMIT "
         "(MiB), where it is set, is the limit");
}

void OnFatalError(void*, const char* reason, bool) {
  static char text[4096];
  std::snprintf(text, sizeof text, "error[codegen.llvm]: LLVM gave up: %s", reason);
  Finish(TILEC_INTERNAL, text);
}

void OnOutOfMemory(void*, const char*, bool) { OutOfMemory(); }

// A limit that the environment sets; 0: none.
int64_t Limit(const char* variable) {
  const std::string text = Environment(variable);
  int64_t n = 0;
  if (text.empty()) return 0;
  if (absl::SimpleAtoi(text, &n) && n > 0 && n < (int64_t{1} << 30)) return n;
  const std::string message = absl::StrCat("error[tilec.limit]: ", variable, "=", text, " is no number from 1 to 2^30");
  Finish(TILEC_ENVIRONMENT, message.data(), message.size());
}

// Returns how much stack there may be.
size_t SetLimits() {
  // If memory runs out, this process goes and not its host; a crash leaves no file.
  if (const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); fd >= 0) {
    [[maybe_unused]] const ssize_t n = write(fd, "1000", 4);
    close(fd);
  }
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  CleanUpOnSignals([] {
    Finish(TILEC_ENVIRONMENT,
           "error[tilec.time]: the compiler took longer than TILEC_TIME_LIMIT (seconds) allows. Use smaller tiles");
  });
  alarm(static_cast<unsigned>(Limit("TILEC_TIME_LIMIT")));
  const auto bytes = static_cast<rlim_t>(Limit("TILEC_MEMORY_LIMIT")) << 20;
  if (bytes == 0) return kStackBytes;
  const rlimit most = {bytes, bytes};
  setrlimit(RLIMIT_AS, &most);
  return std::min<size_t>(kStackBytes, bytes / 4);
}

tilec_status StatusOf(const absl::Status& s) {
  switch (s.code()) {
    case absl::StatusCode::kOk: return TILEC_OK;
    case absl::StatusCode::kInternal: return TILEC_INTERNAL;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kUnavailable: return TILEC_ENVIRONMENT;
    default: return TILEC_REJECTED;
  }
}

void* Compile(void*) {
  WorkerRequest head;
  struct stat s;
  if (fstat(0, &s) != 0 || s.st_size < static_cast<off_t>(sizeof head)) _exit(2);
  const auto size = static_cast<uint64_t>(s.st_size);
  void* all = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, 0, 0);
  if (all == MAP_FAILED) OutOfMemory();
  std::memcpy(&head, all, sizeof head);
  if (head.magic != kWorkerMagic || size - sizeof head != head.kernel_bytes + head.tbc_bytes) _exit(2);
  if (getppid() != head.parent) _exit(3);  // it ended before PR_SET_PDEATHSIG
  const char* kernel = static_cast<const char*>(all) + sizeof head;
  const auto* tbc = reinterpret_cast<const uint8_t*>(kernel + head.kernel_bytes);
  const absl::StatusOr<std::string> made =
      CompileFile({tbc, head.tbc_bytes}, {kernel, head.kernel_bytes}, head.compute_capability);
  const absl::string_view bytes = made.ok() ? absl::string_view(*made) : made.status().message();
  Finish(StatusOf(made.status()), bytes.data(), bytes.size());
}

int Main() {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  // What the host has open is none of ours.
  syscall(SYS_close_range, 3u, ~0u, 0u);
  g_answer = fcntl(1, F_DUPFD_CLOEXEC, 3);
  if (g_answer < 0 || dup2(2, 1) < 0) {
    std::fputs("tilec-worker is started by libtilec.so\n", stderr);
    return 2;
  }
  const std::string id = BuildIdOf("/proc/self/exe");
  std::copy_n(id.data(), std::min(id.size(), g_head.build_id.size()), g_head.build_id.data());
  std::set_new_handler(OutOfMemory);
  llvm::install_bad_alloc_error_handler(OnOutOfMemory);
  llvm::install_fatal_error_handler(OnFatalError);
  TakeLargePages();
  const size_t stack = SetLimits();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, Compile, nullptr) == 0) {
    pthread_join(thread, nullptr);
  } else {
    Compile(nullptr);  // with the stack that there is
  }
  return 1;
}

}  // namespace
}  // namespace tile::codegen

int main() { return tile::codegen::Main(); }
