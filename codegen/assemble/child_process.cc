#include "codegen/assemble/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "codegen/assemble/cuda_files.h"

extern char** environ;

namespace tile::codegen {

std::string FindCudaProgram(const std::string& name, const char* variable) {
  if (const std::string path = Environment(variable); !path.empty()) return IsExecutable(path) ? path : "";
  if (const std::string path = FindBelowCuda("bin/" + name, /*executable=*/true); !path.empty()) return path;
  for (absl::string_view dir : absl::StrSplit(Environment("PATH"), ':')) {
    const std::string path = absl::StrCat(dir, "/", name);
    if (!dir.empty() && IsExecutable(path)) return path;
  }
  return "";
}

namespace {

// What must not outlive this process.
struct Ours {
  std::mutex mutex;
  std::map<std::string, std::vector<std::string>> folders;  // with the files that may be in them
  std::set<pid_t> children;
};
// For ever: threads may use it while the process ends.
Ours& AllOurs() {
  static Ours* const ours = new Ours;
  return *ours;
}

void RemoveFolder(const std::string& path, const std::vector<std::string>& files) {
  for (const std::string& f : files) unlink(f.c_str());
  rmdir(path.c_str());
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const std::string below = Environment("TMPDIR");
  std::string path = absl::StrCat(below.empty() ? "/tmp" : below, "/tilec-XXXXXX");
  std::lock_guard<std::mutex> lock(AllOurs().mutex);
  if (mkdtemp(path.data()) == nullptr) return;
  path_ = path;
  AllOurs().folders[path_];
}

TemporaryFolder::~TemporaryFolder() {
  if (!ok()) return;
  std::lock_guard<std::mutex> lock(AllOurs().mutex);
  const auto it = AllOurs().folders.find(path_);
  RemoveFolder(path_, it->second);
  AllOurs().folders.erase(it);
}

std::string TemporaryFolder::File(const std::string& name) {
  std::string path = path_ + "/" + name;
  if (ok()) {
    std::lock_guard<std::mutex> lock(AllOurs().mutex);
    AllOurs().folders[path_].push_back(path);
  }
  return path;
}

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

void WriteAll(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

bool Run(std::vector<std::string> words, const std::string& out, const std::string& err, int* status) {
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (out == err) {
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
  } else {
    posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  // Its own group, and signals as in a new process: ours may be blocked or ignored, which children inherit.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGPIPE);
  sigaddset(&signals, SIGCHLD);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  Ours& ours = AllOurs();
  pid_t pid = 0;
  int spawned = 0;
  {
    std::lock_guard<std::mutex> lock(ours.mutex);
    spawned = posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
    if (spawned == 0) ours.children.insert(pid);
  }
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (spawned != 0) return false;
  // Its number is nobody else's until it is taken off the list.
  siginfo_t ignored;
  while (waitid(P_PID, static_cast<id_t>(pid), &ignored, WEXITED | WNOWAIT) != 0 && errno == EINTR) continue;
  std::lock_guard<std::mutex> lock(ours.mutex);
  ours.children.erase(pid);
  return waitpid(pid, status, 0) == pid;
}

void CleanUpNow() {
  static std::atomic<bool> begun = false;
  if (begun.exchange(true)) return;
  Ours& ours = AllOurs();
  // A crash may have come from a thread that has it.
  for (int i = 0; i < 100 && !ours.mutex.try_lock(); ++i) usleep(10000);
  for (const pid_t pid : ours.children) kill(-pid, SIGKILL);
  for (const pid_t pid : ours.children) waitpid(pid, nullptr, 0);
  for (const auto& [path, files] : ours.folders) RemoveFolder(path, files);
}

void CleanUpOnSignals(std::function<void()> on_alarm) {
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGXCPU, SIGUSR1, SIGUSR2};
  sigset_t signals;
  sigemptyset(&signals);
  for (const int s : kSignals) {
    struct sigaction now;
    if (sigaction(s, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) sigaddset(&signals, s);
  }
  // Else the results of children would be lost.
  signal(SIGCHLD, SIG_DFL);
  // A thread waits for the others, which may do what a handler may not.
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals, on_alarm = std::move(on_alarm)] {
    int number = 0;
    if (sigwait(&signals, &number) != 0) return;
    CleanUpNow();
    if (number == SIGALRM && on_alarm != nullptr) on_alarm();
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    raise(number);
    _exit(128 + number);
  }).detach();
}

}  // namespace tile::codegen
