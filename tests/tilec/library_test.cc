// libtilec.so, opened as a runtime does, and what it does to its host. Needs no GPU, no ptxas.
#include <dlfcn.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/tbc/writer.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "runtime/error.h"
#include "runtime/jit/jit.h"
#include "runtime/jit/tilec_abi.h"

namespace tile::runtime {
namespace {

constexpr char kLibrary[] = "codegen/library/shared/libtilec.so";

std::shared_ptr<Program> Parse(const std::string& text, const std::string& name = "test") {
  ir::Diagnostics diagnostics;
  auto program = std::make_shared<Program>();
  std::unique_ptr<ir::Module> module = ir::Parse(text, name + ".tile", &diagnostics);
  if (module != nullptr) ir::Verify(*module, &diagnostics);
  EXPECT_TRUE(module != nullptr && diagnostics.ok()) << diagnostics.ToString();
  program->module = std::move(module);
  return program;
}

std::shared_ptr<Program> Load(const std::string& example) {
  std::ifstream in("examples/" + example + ".tile");
  std::stringstream text;
  text << in.rdbuf();
  return Parse(text.str(), example);
}

class LibraryTest : public ::testing::Test {
 protected:
  LibraryTest() { setenv("TILEC_PTXAS", "/nonexistent", 1); }
  ~LibraryTest() override { unsetenv("TILEC_PTXAS"); }
  static std::shared_ptr<Jit> Open() {
    JitOptions options;
    options.library = kLibrary;
    options.use_cache = false;
    absl::StatusOr<std::shared_ptr<Jit>> jit = Jit::Open(options);
    EXPECT_TRUE(jit.ok()) << jit.status();
    return *jit;
  }
  static std::string Payload(const Program& p) {
    const auto code = p.images.back().payload;  // for any arguments
    return std::string(reinterpret_cast<const char*>(code.data()), code.size());
  }
};

// First, before others have asked for the version, which is found out once.
TEST_F(LibraryTest, VersionNamesAllThatDecides) {
  const std::string version = Open()->compiler_version();
  for (const char* part : {"tilec ", ", build ", ", LLVM ", ", ptxas none", ", libdevice "}) {
    EXPECT_TRUE(absl::StrContains(version, part)) << version;
  }
  const size_t build = version.find("build ") + 6;
  EXPECT_EQ(version.find_first_not_of("0123456789abcdef", build), build + 40) << version;
}

TEST_F(LibraryTest, CompilesToPtxWithoutPtxas) {
  auto jit = Open();
  for (const char* example : {"vector_add", "histogram", "matmul"}) {
    const auto program = Load(example);
    for (const auto& [sm, arch] : {std::pair{75, "sm_75"}, {87, "sm_86"}, {90, "sm_90a"}}) {
      const auto compiled = jit->Compile(*program, *program->module->functions[0], sm);
      ASSERT_TRUE(compiled.ok()) << example << " " << sm << ": " << compiled.status();
      EXPECT_EQ((*compiled)->images[0].kind, ir::ImageKind::kPtx);
      EXPECT_EQ((*compiled)->images[0].arch, arch);
      EXPECT_TRUE(absl::StrContains(Payload(**compiled), absl::StrCat(".target ", arch)));
    }
  }
}

TEST_F(LibraryTest, CompilesToMachineCodeWithPtxas) {
  const std::string fake = absl::StrCat(std::getenv("TEST_TMPDIR") ? std::getenv("TEST_TMPDIR") : "/tmp", "/ptxas");
  std::ofstream(fake) << "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done; printf cubin > \"$2\"\n";
  ASSERT_EQ(chmod(fake.c_str(), 0700), 0);
  setenv("TILEC_PTXAS", fake.c_str(), 1);
  const auto program = Load("vector_add");
  const auto compiled = Open()->Compile(*program, *program->module->functions[0], 90);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_EQ((*compiled)->images[0].kind, ir::ImageKind::kCubin);
  EXPECT_EQ(Payload(**compiled), "cubin");
}

TEST_F(LibraryTest, Refusals) {
  auto jit = Open();
  const auto program = Load("vector_add");
  const auto unknown = jit->Compile(*program, *program->module->functions[0], 62);
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ErrorCodeOf(unknown.status()), "tilec.target");
  setenv("TILEC_LIBDEVICE", "/nonexistent", 1);
  const auto math = Load("gelu");
  const auto library = jit->Compile(*math, *math->module->functions[0], 90);
  EXPECT_EQ(library.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ErrorCodeOf(library.status()), "codegen.libdevice");
  unsetenv("TILEC_LIBDEVICE");
}

// The functions themselves, as any host has them.
struct Functions {
  decltype(&tilec_compile) compile = nullptr;
  decltype(&tilec_output_bytes) bytes = nullptr;
  decltype(&tilec_output_size) size = nullptr;
  decltype(&tilec_output_free) release = nullptr;

  Functions() {
    void* library = dlopen(kLibrary, RTLD_NOW);
    EXPECT_NE(library, nullptr) << dlerror();
    const auto find = [&](auto& f, const char* name) {
      f = reinterpret_cast<std::remove_reference_t<decltype(f)>>(dlsym(library, name));
    };
    find(compile, "tilec_compile");
    find(bytes, "tilec_output_bytes");
    find(size, "tilec_output_size");
    find(release, "tilec_output_free");
  }
  struct Answer {
    tilec_status status;
    std::string text;
  };
  Answer operator()(const void* tbc, size_t n, const char* kernel) const {
    tilec_output* output = nullptr;
    Answer answer;
    answer.status = compile(tbc, n, kernel, 90, &output);
    answer.text.assign(bytes(output), size(output));
    release(output);
    return answer;
  }
  Answer operator()(const Program& program) const {
    const absl::StatusOr<std::string> tbc = ir::WriteTbc(*program.module);
    EXPECT_TRUE(tbc.ok()) << tbc.status();
    return (*this)(tbc->data(), tbc->size(), std::string(program.module->functions[0]->name).c_str());
  }
};

class HostTest : public LibraryTest {
 protected:
  HostTest() {
    const char* base = std::getenv("TEST_TMPDIR");
    folder_ = absl::StrCat(base != nullptr ? base : "/tmp", "/host-XXXXXX");
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~HostTest() override {
    for (const char* name : {"TILEC_WORKER", "TILEC_LIBDEVICE", "TILEC_MEMORY_LIMIT", "TILEC_TIME_LIMIT"})
      unsetenv(name);
  }
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), 0700), 0);
    return path;
  }
  // A device library with this for the cosine.
  void SetCosine(const std::string& body) {
    setenv("TILEC_LIBDEVICE",
           Write("device.ll", absl::StrCat("target triple = \"nvptx64-nvidia-cuda\"\n", body)).c_str(), 1);
  }
  static std::shared_ptr<Program> Cosine() {
    return Parse(
        "entry @c(%y: tile<ptr<f32>>, %x: tile<f32>) {\n  %c = cos %x : tile<f32>\n  store_ptr_tko weak %y, %c\n  return\n}\n");
  }
  std::string folder_;
  Functions compile_;
};

TEST_F(HostTest, HostileInput) {
  for (const auto& [bytes, n, kernel, code] :
       {std::tuple{static_cast<const char*>(nullptr), size_t{0}, "k", "tilec.arguments"},
        {"x", size_t{1}, static_cast<const char*>(nullptr), "tilec.arguments"},
        {"", size_t{0}, "k", "tilec.form"},
        {"nonsense", size_t{8}, "k", "tilec.form"}}) {
    const Functions::Answer a = compile_(bytes, n, kernel);
    EXPECT_EQ(a.status, TILEC_REJECTED) << a.text;
    EXPECT_TRUE(absl::StrContains(a.text, absl::StrCat("error[", code, "]"))) << a.text;
  }
  EXPECT_EQ(compile_.compile("x", 1, "k", 90, nullptr), TILEC_REJECTED);
  compile_.release(nullptr);
}

TEST_F(HostTest, AnyNameOfAKernel) {
  for (const char* name :
       {"a.b", "1a", "_", "größe", "a b", "a<b>", "🙂", "$", ".a", "llvm.nvvm.barrier0", "WARP_SZ"}) {
    const auto program = Parse(absl::StrCat("entry @\"", name, "\"() {\n  return\n}\nentry @a_b() {\n  return\n}\n"));
    const auto compiled = Open()->Compile(*program, *program->module->functions[0], 90);
    ASSERT_TRUE(compiled.ok()) << name << ": " << compiled.status();
    const ir::Image& image = (*compiled)->images.back();
    EXPECT_EQ(image.kernel, 0u);
    EXPECT_TRUE(absl::StrContains(Payload(**compiled), absl::StrCat(".entry ", image.symbol, "(")))
        << Payload(**compiled);
  }
}

// report_fatal_error: an intrinsic of another machine can't be selected.
TEST_F(HostTest, FatalErrorOfLlvm) {
  SetCosine(
      "declare i64 @llvm.x86.rdtsc()\ndefine float @__nv_cosf(float %x) {\n  %t = call i64 @llvm.x86.rdtsc()\n"
      "  %f = uitofp i64 %t to float\n  ret float %f\n}\n");
  for (int i = 0; i < 2; ++i) {
    const Functions::Answer a = compile_(*Cosine());
    EXPECT_EQ(a.status, TILEC_INTERNAL);
    EXPECT_TRUE(absl::StrContains(a.text, "error[codegen.llvm]: ")) << a.text;
    EXPECT_TRUE(absl::StrContains(a.text, "elect")) << a.text;
  }
  EXPECT_EQ(compile_(*Load("vector_add")).status, TILEC_OK);
}

TEST_F(HostTest, OutOfMemory) {
  setenv("TILEC_MEMORY_LIMIT", "1", 1);  // of MiB: less than the process has already
  const Functions::Answer a = compile_(*Load("vector_add"));
  EXPECT_EQ(a.status, TILEC_ENVIRONMENT) << a.text;
  EXPECT_TRUE(absl::StrContains(a.text, "error[tilec.memory]: the compiler needs more memory")) << a.text;
}

TEST_F(HostTest, OutOfTime) {
  setenv("TILEC_PTXAS", Write("ptxas", "#!/bin/sh\nsleep 100\n").c_str(), 1);
  setenv("TILEC_TIME_LIMIT", "1", 1);
  setenv("TMPDIR", folder_.c_str(), 1);
  const Functions::Answer a = compile_(*Load("vector_add"));
  unsetenv("TMPDIR");
  EXPECT_EQ(a.status, TILEC_ENVIRONMENT);
  EXPECT_TRUE(absl::StrContains(a.text, "error[tilec.time]: ")) << a.text;
  for (const auto& file : std::filesystem::directory_iterator(folder_)) EXPECT_EQ(file.path().filename(), "ptxas");
  setenv("TILEC_TIME_LIMIT", "soon", 1);
  EXPECT_TRUE(absl::StrContains(compile_(*Load("vector_add")).text, "error[tilec.limit]: TILEC_TIME_LIMIT=soon"));
}

// A stack overflow, a null pointer and other ends that nobody can foresee look like these from outside.
TEST_F(HostTest, ProgramsThatEndInOtherWays) {
  const struct {
    const char* script;
    tilec_status status;
    const char* says;
  } kEnds[] = {
      {"kill -SEGV $$", TILEC_INTERNAL,
       "error[tilec.crash]: the compiler ended by signal 11 (Segmentation fault) while it compiled @vector_add"},
      {"echo LLVM ERROR: no >&2; kill -ABRT $$", TILEC_INTERNAL,
       "(Aborted) while it compiled @vector_add. It said:\nLLVM ERROR: no"},
      {"kill -KILL $$", TILEC_ENVIRONMENT, "error[tilec.memory]: the compiler was killed"},
      {"exit 0", TILEC_INTERNAL, "error[tilec.crash]: the compiler ended with exit code 0"},
      {"exit 127", TILEC_ENVIRONMENT, "error[tilec.worker]: "},
      {"head -c 100000 /dev/urandom", TILEC_INTERNAL, "error[tilec.crash]"},
      {"head -c 10 /dev/zero", TILEC_INTERNAL, "error[tilec.crash]"},
  };
  for (const auto& end : kEnds) {
    setenv("TILEC_WORKER", Write("worker", absl::StrCat("#!/bin/sh\n", end.script, "\n")).c_str(), 1);
    const Functions::Answer a = compile_(*Load("vector_add"));
    EXPECT_EQ(a.status, end.status) << end.script;
    EXPECT_TRUE(absl::StrContains(a.text, end.says)) << end.script << ": " << a.text;
  }
  setenv("TILEC_WORKER", "/nonexistent", 1);
  const Functions::Answer a = compile_(*Load("vector_add"));
  EXPECT_EQ(a.status, TILEC_ENVIRONMENT);
  EXPECT_TRUE(absl::StrContains(a.text, "error[tilec.worker]: the program tilec-worker")) << a.text;
}

// A cache would keep what it makes under the wrong version.
TEST_F(HostTest, AnotherBuildOfTheProgram) {
  EXPECT_EQ(compile_(*Load("vector_add")).status, TILEC_OK);
  std::string program;
  {
    std::ifstream in("codegen/library/shared/tilevm/tilec-worker", std::ios::binary);
    std::stringstream bytes;
    bytes << in.rdbuf();
    program = bytes.str();
  }
  // The note of the build: sizes 4 and 20, kind 3, "GNU".
  const std::string head("\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0", 16);
  const size_t id = program.find(head);
  ASSERT_NE(id, std::string::npos);
  program[id + head.size()] = static_cast<char>(program[id + head.size()] ^ 1);
  setenv("TILEC_WORKER", Write("worker", program).c_str(), 1);
  const Functions::Answer a = compile_(*Load("vector_add"));
  EXPECT_EQ(a.status, TILEC_ENVIRONMENT);
  EXPECT_TRUE(absl::StrContains(a.text, "is not the one that was there")) << a.text;
}

TEST_F(HostTest, NothingOfTheHostIsTouched) {
  const auto handlers = [] {
    std::vector<void (*)(int)> all;
    for (int s = 1; s < NSIG; ++s) {
      struct sigaction now;
      all.push_back(sigaction(s, nullptr, &now) == 0 ? now.sa_handler : nullptr);
    }
    return all;
  };
  const auto files = [] {
    int n = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
    return n;
  };
  EXPECT_EQ(compile_(*Load("vector_add")).status, TILEC_OK);
  const auto before = handlers();
  const int open = files();
  sigset_t mask, now;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  SetCosine(
      "declare i64 @llvm.x86.rdtsc()\ndefine float @__nv_cosf(float %x) {\n  %t = call i64 @llvm.x86.rdtsc()\n"
      "  %f = uitofp i64 %t to float\n  ret float %f\n}\n");
  EXPECT_EQ(compile_(*Cosine()).status, TILEC_INTERNAL);
  EXPECT_EQ(compile_(*Load("vector_add")).status, TILEC_OK);
  EXPECT_EQ(handlers(), before);
  EXPECT_EQ(files(), open);
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  for (int i = 1; i < NSIG; ++i) EXPECT_EQ(sigismember(&mask, i), sigismember(&now, i)) << i;
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // no child is left
}

// Hosts that handle children themselves, block signals, have closed their standard files or left their folder.
TEST_F(HostTest, UnusualHosts) {
  const auto tbc = ir::WriteTbc(*Load("vector_add")->module);
  ASSERT_TRUE(tbc.ok());
  const auto works = [&](auto&& prepare) {
    const pid_t host = fork();
    if (host == 0) {
      const Functions compile;
      prepare();
      const Functions::Answer a = compile(tbc->data(), tbc->size(), "vector_add");
      _exit(a.status == TILEC_OK ? 0 : 1);
    }
    int status = 0;
    return waitpid(host, &status, 0) == host && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  };
  EXPECT_TRUE(works([] { signal(SIGCHLD, SIG_IGN); }));
  EXPECT_TRUE(works([] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
  }));
  EXPECT_TRUE(works([] {
    for (int fd = 0; fd < 3; ++fd) close(fd);
  }));
  EXPECT_TRUE(works([] { EXPECT_EQ(chdir("/"), 0); }));
  EXPECT_TRUE(works([] {
    std::thread([] {
      while (true) waitpid(-1, nullptr, 0);
    }).detach();
  }));
}

TEST_F(LibraryTest, TwoAtOnce) {
  auto jit = Open();
  const auto program = Load("matmul");
  std::vector<std::string> answers(4);
  std::vector<std::thread> threads;
  for (std::string& answer : answers) {
    threads.emplace_back([&] {
      const auto compiled = jit->Compile(*program, *program->module->functions[0], 80);
      answer = compiled.ok() ? Payload(**compiled) : std::string(compiled.status().message());
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(absl::StrContains(answers[0], ".entry matmul")) << answers[0];
  for (const std::string& a : answers) EXPECT_EQ(a, answers[0]);
}

}  // namespace
}  // namespace tile::runtime
