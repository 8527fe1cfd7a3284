#include "tools/launch/unchecked.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "absl/strings/str_cat.h"
#include "tools/cli/options.h"
#include "tools/cli/report.h"

namespace tile::tools {
namespace {

// Ready before: a handler may not allocate.
std::atomic<const std::string*> g_message = nullptr;

void OnSignal(int) {
  // Other threads may fail at the same time; they wait for the end.
  const std::string* message = g_message.exchange(nullptr);
  if (message == nullptr) {
    while (true) pause();
  }
  const char* at = message->data();
  for (size_t left = message->size(); left > 0;) {
    const ssize_t n = write(2, at, left);
    if (n <= 0) break;
    at += n;
    left -= static_cast<size_t>(n);
  }
  _exit(kTrapped);
}

}  // namespace

void ExpectStrayAccesses(const std::string& file, absl::string_view kernel) {
  // SIGABRT: the memory manager has found its own data overwritten.
  static constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGABRT};
  const auto* message = new std::string(
      absl::StrCat(Located(file, "vm.left_memory",
                           absl::StrCat("the kernel @", kernel, " left its memory, which --check=none allows")),
                   "\n  fix: run it again with --check=bounds to see where\n"));
  delete g_message.exchange(message);
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  for (const int s : kSignals) sigaction(s, &action, nullptr);
}

}  // namespace tile::tools
