#include "tools/tilec/crash_bundle.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "codegen/assemble/child_process.h"
#include "tools/cli/report.h"
#include "tools/data/files.h"

extern char** environ;

namespace tile::tools {
namespace {

constexpr char kVariable[] = "TILEC_CRASH_FOLDER";
constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// All that the handler of a signal uses is ready before: it may not allocate.
struct Prepared {
  std::string folder;  // to be made in the first run, made already in the second
  std::string error_file, module_file;
  std::string module_bytes;  // of the module, as a .tbc
  std::string executable;
  std::vector<std::string> words, environment;
  std::vector<char*> argv, envp;
  bool second_run = false;
  std::string said;  // second run: the whole message
};
Prepared* g_prepared = nullptr;
alignas(16) std::array<char, 1 << 16> g_stack;  // a crash may be an overflow of the stack

void WriteAll(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, data, size);
    if (n <= 0) return;
    data += n;
    size -= static_cast<size_t>(n);
  }
}

void WriteFile(const char* path, const char* data, size_t size) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return;
  WriteAll(fd, data, size);
  close(fd);
}

// Becomes the second run. Only calls that a handler may make; returns if it cannot.
void StartSecondRun(const char* error, size_t size) {
  const Prepared& p = *g_prepared;
  if (mkdir(p.folder.c_str(), 0700) != 0) return;
  WriteFile(p.error_file.c_str(), error, size);
  WriteFile(p.module_file.c_str(), p.module_bytes.data(), p.module_bytes.size());
  // Signals that the crash has blocked would stay so.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(p.executable.c_str(), p.argv.data(), p.envp.data());
}

void OnSignal(int number) {
  Prepared& p = *g_prepared;
  if (p.second_run) {
    codegen::CleanUpNow();
    WriteAll(2, p.said.data(), p.said.size());
    _exit(kInternal);
  }
  char text[] = "error[internal.crash]: the compiler crashed with signal 00\n";
  char* digits = std::strstr(text, "00");
  digits[0] = static_cast<char>('0' + number / 10);
  digits[1] = static_cast<char>('0' + number % 10);
  codegen::CleanUpNow();
  StartSecondRun(text, sizeof text - 1);
  WriteAll(2, text, sizeof text - 1);
  _exit(kInternal);
}

std::string Quoted(const std::string& word) {
  const bool plain = word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,=-") ==
                     std::string::npos;
  return plain && !word.empty() ? word : absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

std::string BaseName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string ReadText(const std::string& path) {
  absl::StatusOr<AlignedBuffer> file = ReadWholeFile(path);
  if (!file.ok()) return "";
  return std::string(reinterpret_cast<const char*>(file->span().data()), file->span().size());
}

std::string Message(const std::string& folder, absl::string_view error) {
  return absl::StrCat(absl::StripTrailingAsciiWhitespace(error),
                      "\n  fix: this is a mistake of the compiler, not of the program. ", folder,
                      " holds the input, every stage and repeat.sh, which repeats it: report it with that folder\n");
}

}  // namespace

CrashBundle::CrashBundle(const Command& command, const Options& options) : command_(command), options_(options) {
  g_prepared = new Prepared;
  Prepared& p = *g_prepared;
  const char* given = std::getenv(kVariable);
  active_ = p.second_run = given != nullptr;
  if (active_) {
    p.folder = given;
  } else {
    const char* tmp = std::getenv("TMPDIR");
    const std::string base = absl::StrCat(tmp != nullptr && tmp[0] == '/' ? tmp : "/tmp", "/tilec-crash-", getpid());
    p.folder = base;
    struct stat s;
    for (int i = 1; stat(p.folder.c_str(), &s) == 0 && i < 100; ++i) p.folder = absl::StrCat(base, "-", i);
  }
  p.error_file = p.folder + "/error.txt";
  p.module_file = p.folder + "/module.tbc";
  if (active_) p.said = Message(p.folder, ReadText(p.error_file));
}

CrashBundle::~CrashBundle() {
  for (const int s : kSignals) signal(s, SIG_DFL);
  // The handler may run until here, so this is the one place that may free it.
  delete g_prepared;
  g_prepared = nullptr;
}

void CrashBundle::SetInput(const std::string& path, std::string module_bytes, std::string versions) {
  Prepared& p = *g_prepared;
  if (active_) {
    const bool is_module = path == p.module_file;
    if (!is_module) Add(BaseName(path), ReadText(path));
    Add("repeat.sh", RepeatScript(BaseName(path)));
    chmod((p.folder + "/repeat.sh").c_str(), 0700);
    Add("versions.txt", versions);
  } else {
    p.module_bytes = std::move(module_bytes);
    std::array<char, PATH_MAX> self;
    const ssize_t n = readlink("/proc/self/exe", self.data(), self.size());
    if (n <= 0) return;
    p.executable.assign(self.data(), static_cast<size_t>(n));
    p.words = {"tilec", command_.name};
    for (std::string& flag : Flags()) p.words.push_back(std::move(flag));
    if (options_.has("output")) p.words.push_back(absl::StrCat("--output=", options_.value("output")));
    p.words.insert(p.words.end(), {"--", path == "-" ? p.module_file : path});
    for (std::string& w : p.words) p.argv.push_back(w.data());
    p.argv.push_back(nullptr);
    for (char** e = environ; *e != nullptr; ++e) p.environment.emplace_back(*e);
    p.environment.push_back(absl::StrCat(kVariable, "=", p.folder));
    for (std::string& e : p.environment) p.envp.push_back(e.data());
    p.envp.push_back(nullptr);
  }
  const stack_t stack = {.ss_sp = g_stack.data(), .ss_flags = 0, .ss_size = g_stack.size()};
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_ONSTACK;
  for (const int s : kSignals) sigaction(s, &action, nullptr);
}

void CrashBundle::Add(absl::string_view name, absl::string_view text) {
  std::string file(name);
  for (char& c : file)
    c = absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-' ? c : '_';
  if (file.size() > 200) file = file.substr(file.size() - 200);
  WriteFile(absl::StrCat(g_prepared->folder, "/", file).c_str(), text.data(), text.size());
}

std::vector<std::string> CrashBundle::Flags() const {
  std::vector<std::string> flags;
  for (const OptionSpec& o : command_.options) {
    if (absl::string_view(o.name) == "output") continue;
    for (const std::string& value : options_.values(o.name)) {
      flags.push_back(absl::StrCat("--", o.name, o.value == nullptr ? "" : absl::StrCat("=", value)));
    }
  }
  return flags;
}

std::string CrashBundle::RepeatScript(const std::string& input) const {
  std::string flags;
  for (const std::string& flag : Flags()) absl::StrAppend(&flags, " ", Quoted(flag));
  // Its extension says what is written.
  std::string output = BaseName(options_.value("output"));
  if (output.find('.') == std::string::npos)
    output = options_.has("embed") ? "output.tbc" : options_.has("emit") ? "output" : "output.cubin";
  return absl::StrCat(
      "#!/bin/sh\n# Repeats the failure. TILEC names the compiler to try. Without names of lines: the same with "
      "module.tbc.\ncd \"$(dirname \"$0\")\" && exec \"${TILEC:-tilec}\" ",
      command_.name, flags, " -o ", Quoted(output), " -- ", Quoted(input), "\n");
}

int CrashBundle::Fail(const absl::Status& status) {
  std::string error(status.message());
  if (!active_) {
    StartSecondRun(error.data(), error.size());
    return tools::Fail(kInternal, "internal", status);  // there is no place for a folder
  }
  PrintDiagnostics(g_prepared->said);
  return kInternal;
}

int CrashBundle::DidNotFail() {
  PrintDiagnostics(absl::StrCat(g_prepared->said, "  it did not fail when it was repeated\n"));
  return kInternal;
}

}  // namespace tile::tools
