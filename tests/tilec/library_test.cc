// libtilec.so, opened as a runtime does. Needs no GPU, no ptxas.
#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify.h"
#include "runtime/error.h"
#include "runtime/jit/jit.h"
#include "runtime/jit/tilec_abi.h"

namespace tile::runtime {
namespace {

constexpr char kLibrary[] = "codegen/shared/libtilec.so";

std::shared_ptr<Program> Load(const std::string& example) {
  std::ifstream in("examples/" + example + ".tile");
  std::stringstream text;
  text << in.rdbuf();
  ir::Diagnostics diagnostics;
  auto program = std::make_shared<Program>();
  std::unique_ptr<ir::Module> module = ir::Parse(text.str(), example + ".tile", &diagnostics);
  if (module != nullptr) ir::Verify(*module, &diagnostics);
  EXPECT_TRUE(module != nullptr && diagnostics.ok()) << diagnostics.ToString();
  program->module = std::move(module);
  return program;
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

TEST_F(LibraryTest, HostileInput) {
  void* library = dlopen(kLibrary, RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto compile = reinterpret_cast<decltype(&tilec_compile)>(dlsym(library, "tilec_compile"));
  const auto text = reinterpret_cast<decltype(&tilec_output_bytes)>(dlsym(library, "tilec_output_bytes"));
  const auto size = reinterpret_cast<decltype(&tilec_output_size)>(dlsym(library, "tilec_output_size"));
  const auto release = reinterpret_cast<decltype(&tilec_output_free)>(dlsym(library, "tilec_output_free"));
  const auto rejected = [&](const void* bytes, size_t n, const char* kernel) {
    tilec_output* output = nullptr;
    EXPECT_EQ(compile(bytes, n, kernel, 90, &output), TILEC_REJECTED);
    const std::string said = text(output);
    EXPECT_EQ(said.size(), size(output));
    release(output);
    return said;
  };
  EXPECT_TRUE(absl::StrContains(rejected(nullptr, 0, "k"), "error[tilec.arguments]"));
  EXPECT_TRUE(absl::StrContains(rejected("", 0, "k"), "error[tilec.form]"));
  EXPECT_TRUE(absl::StrContains(rejected("nonsense", 8, "k"), "error[tilec.form]"));
  release(nullptr);
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
