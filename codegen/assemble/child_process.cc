#include "codegen/assemble/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
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

namespace {

// This process's environment and what it lacks of `more`.
std::vector<char*> EnvironmentWith(const std::vector<std::string>& more) {
  std::vector<char*> all;
  for (char** e = environ; e != nullptr && *e != nullptr; ++e) all.push_back(*e);
  for (const std::string& m : more) {
    if (getenv(m.substr(0, m.find('=')).c_str()) == nullptr) all.push_back(const_cast<char*>(m.c_str()));
  }
  all.push_back(nullptr);
  return all;
}

}  // namespace

Child::Child(std::vector<std::string> words, const std::string& out, const std::string& err,
             const std::vector<std::string>& environment) {
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
  std::vector<char*> variables = EnvironmentWith(environment);
  Ours& ours = AllOurs();
  {
    std::lock_guard<std::mutex> lock(ours.mutex);
    pid_t pid = 0;
    if (posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), variables.data()) == 0) {
      pid_ = pid;
      ours.children.insert(pid);
    }
  }
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
}

Child::~Child() {
  if (!started()) return;
  kill(-pid_, SIGKILL);
  int ignored = 0;
  Wait(&ignored);
}

bool Child::Runs() const {
  siginfo_t info = {};
  return started() && waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
         info.si_pid == 0;
}

bool Child::Wait(int* status) {
  if (!started()) return false;
  // Its number is nobody else's until it is taken off the list.
  siginfo_t ignored;
  while (waitid(P_PID, static_cast<id_t>(pid_), &ignored, WEXITED | WNOWAIT) != 0 && errno == EINTR) continue;
  Ours& ours = AllOurs();
  std::lock_guard<std::mutex> lock(ours.mutex);
  ours.children.erase(pid_);
  return waitpid(std::exchange(pid_, 0), status, 0) > 0;
}

bool Run(std::vector<std::string> words, const std::string& out, const std::string& err, int* status) {
  return Child(std::move(words), out, err).Wait(status);
}

bool MakeLateFile(const std::string& path) { return mkfifo(path.c_str(), 0600) == 0; }

void FillLateFile(const std::string& path, const std::string& bytes, const Child& child) {
  // A pipe can be opened for writing, without waiting, as soon as somebody reads it.
  int pipe = -1;
  while (pipe < 0) {
    pipe = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (pipe >= 0) break;
    if (errno != ENXIO && errno != EINTR) return;
    if (!child.Runs()) return;
    usleep(100);
  }
  // The name leads to a file before the child can have come to the pipe's end. A pipe takes 64 KiB at a time.
  WriteAll(path + ".all", bytes);
  rename((path + ".all").c_str(), path.c_str());
  fcntl(pipe, F_SETFL, 0);
  // A child that ends early must not end this process by SIGPIPE.
  sigset_t broken, before;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, &before);
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t n = write(pipe, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const timespec now = {0, 0};
      if (sigismember(&before, SIGPIPE) == 0) sigtimedwait(&broken, nullptr, &now);
      break;
    }
    at += static_cast<size_t>(n);
  }
  close(pipe);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
