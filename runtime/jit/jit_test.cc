// With a compiler whose answers the test writes (fake_tilec.c).
#include "runtime/jit/jit.h"

#include <dirent.h>
#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/writer.h"
#include "ir/text/parser.h"
#include "runtime/error.h"

namespace tile::runtime {
namespace {

constexpr char kFake[] = "runtime/jit/libfake_tilec.so";
constexpr char kText[] =
    "entry @one(%n: tile<i32>) {\n  return\n}\n"
    "entry @two(%n: tile<i32>) {\n  return\n}\n";

class JitTest : public ::testing::Test {
 protected:
  JitTest() {
    std::string name = absl::StrCat(std::getenv("TEST_TMPDIR") ? std::getenv("TEST_TMPDIR") : "/tmp", "/jit-XXXXXX");
    folder_ = mkdtemp(name.data());
    options_.library = kFake;
    options_.cache_folder = folder_ + "/cache";
    setenv("FAKE_TILEC_OUTPUT", (folder_ + "/output").c_str(), 1);
    program_ = Parse(kText);
    Answer(*program_->module, 0, "code of one");
  }
  ~JitTest() override {
    for (const char* name :
         {"FAKE_TILEC_OUTPUT", "FAKE_TILEC_FAIL", "FAKE_TILEC_VERSION", "TILEVM_LIBTILEC", "TILEVM_CACHE"})
      unsetenv(name);
  }

  static std::shared_ptr<Program> Parse(const std::string& text) {
    ir::Diagnostics diagnostics;
    auto program = std::make_shared<Program>();
    program->module = ir::Parse(text, "k.tile", &diagnostics);
    EXPECT_NE(program->module, nullptr) << diagnostics.ToString();
    return program;
  }
  // What the compiler will say: the module with machine code of a kernel.
  void Answer(const ir::Module& module, uint32_t kernel, const std::string& code) {
    ir::Image i;
    i.arch = "sm_90a";
    i.kernel = kernel;
    i.symbol = "one";
    i.flags = ir::kTileAbi;
    i.code_hash = *ir::HashCode(module);
    i.payload = {reinterpret_cast<const uint8_t*>(code.data()), code.size()};
    Write(*ir::WriteTbc(module, {.images = {&i, 1}}));
  }
  void Write(const std::string& bytes) { std::ofstream(folder_ + "/output", std::ios::binary) << bytes; }

  std::shared_ptr<Jit> Open() {
    absl::StatusOr<std::shared_ptr<Jit>> jit = Jit::Open(options_);
    EXPECT_TRUE(jit.ok()) << jit.status();
    return *jit;
  }
  absl::StatusOr<std::shared_ptr<const Program>> Compile(Jit& jit, int sm = 90, size_t kernel = 0) {
    return jit.Compile(*program_, *program_->module->functions[kernel], sm);
  }
  // The machine code, or the error.
  std::string CodeOf(const absl::StatusOr<std::shared_ptr<const Program>>& compiled) {
    if (!compiled.ok()) return std::string(compiled.status().message());
    EXPECT_EQ((*compiled)->module, program_->module);
    EXPECT_EQ((*compiled)->images.size(), 1);
    EXPECT_EQ((*compiled)->code_hash, (*compiled)->images[0].code_hash);
    const auto payload = (*compiled)->images[0].payload;
    return std::string(reinterpret_cast<const char*>(payload.data()), payload.size());
  }
  std::vector<std::string> Entries() const {
    std::vector<std::string> names;
    DIR* d = opendir(options_.cache_folder.c_str());
    if (d == nullptr) return names;
    while (const dirent* e = readdir(d)) {
      if (e->d_name[0] != '.') names.push_back(absl::StrCat(options_.cache_folder, "/", e->d_name));
    }
    closedir(d);
    return names;
  }

  std::string folder_;
  JitOptions options_;
  std::shared_ptr<Program> program_;
};

TEST_F(JitTest, CompilesOnceAndKeepsItForOthers) {
  auto jit = Open();
  EXPECT_EQ(CodeOf(Compile(*jit)), "code of one");
  EXPECT_EQ(CodeOf(Compile(*jit)), "code of one");
  EXPECT_EQ(jit->compilations(), 1);
  EXPECT_EQ(jit->hits(), 1);
  setenv("FAKE_TILEC_FAIL", "70 error[codegen.internal]: must not be called", 1);
  auto other = Open();
  EXPECT_EQ(CodeOf(Compile(*other)), "code of one");
  EXPECT_EQ(other->compilations(), 0);
  EXPECT_TRUE(jit->last_cache_error().ok());
}

TEST_F(JitTest, AnotherProgramKernelTargetOrCompilerIsCompiledAnew) {
  auto jit = Open();
  EXPECT_EQ(CodeOf(Compile(*jit)), "code of one");
  EXPECT_EQ(CodeOf(Compile(*jit, 80)), "code of one");
  EXPECT_EQ(jit->compilations(), 2);
  Answer(*program_->module, 1, "code of two");
  EXPECT_EQ(CodeOf(Compile(*jit, 90, 1)), "code of two");
  EXPECT_EQ(jit->compilations(), 3);
  setenv("FAKE_TILEC_VERSION", "fake 2", 1);
  Answer(*program_->module, 0, "new code of one");
  auto newer = Open();
  EXPECT_EQ(newer->compiler_version(), "fake 2");
  EXPECT_EQ(CodeOf(Compile(*newer)), "new code of one");
  EXPECT_EQ(CodeOf(Compile(*jit)), "code of one") << "that of the older one is still there";
  // Another operation; the same code, but other lines.
  for (const std::string& text : {absl::StrCat(kText, "entry @three() {\n  return\n}\n"), std::string(kText)}) {
    program_ = Parse(text);
    if (text == kText) const_cast<ir::Module&>(*program_->module).source_name = "other.tile";
    Answer(*program_->module, 0, "code of another");
    EXPECT_EQ(CodeOf(Compile(*jit)), "code of another");
  }
  EXPECT_EQ(Entries().size(), 6);
}

TEST_F(JitTest, WithoutACache) {
  options_.use_cache = false;
  auto jit = Open();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(CodeOf(Compile(*jit)), "code of one");
  EXPECT_EQ(jit->compilations(), 2);
  EXPECT_TRUE(Entries().empty());
}

TEST_F(JitTest, ACacheThatCannotBeUsedCostsTimeOnly) {
  options_.cache_folder = folder_ + "/output/cache";  // below a file
  auto jit = Open();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(CodeOf(Compile(*jit)), "code of one");
  EXPECT_EQ(jit->compilations(), 2);
  EXPECT_EQ(ErrorCodeOf(jit->last_cache_error()), "jit.cache");
}

// Damage behind the cache's own checksum is met too: as if the writer had been wrong.
TEST_F(JitTest, DamagedEntriesAreCompiledAnew) {
  std::string entry;
  {
    auto jit = Open();
    EXPECT_EQ(CodeOf(Compile(*jit)), "code of one");
    ASSERT_EQ(Entries().size(), 1);
    entry = Entries()[0];
  }
  std::ifstream in(entry, std::ios::binary);
  std::stringstream s;
  s << in.rdbuf();
  const std::string whole = s.str();
  std::vector<std::string> damaged = {"", whole.substr(0, whole.size() / 2), whole + whole,
                                      std::string(whole.size(), '\0')};
  for (size_t at = 0; at < whole.size(); at += 7) {
    damaged.push_back(whole);
    damaged.back()[at] = static_cast<char>(damaged.back()[at] ^ 0x40);
  }
  for (const std::string& bytes : damaged) {
    std::ofstream(entry, std::ios::binary) << bytes;
    auto jit = Open();
    EXPECT_EQ(CodeOf(Compile(*jit)), "code of one");
    EXPECT_EQ(jit->compilations(), 1);
    EXPECT_EQ(CodeOf(Compile(*jit)), "code of one");
    EXPECT_EQ(jit->hits(), 1) << "whole again";
  }
}

TEST_F(JitTest, OutputThatIsNotForTheKernel) {
  auto jit = Open();
  const auto refused = [&] {
    const auto compiled = Compile(*jit);
    EXPECT_FALSE(compiled.ok());
    EXPECT_TRUE(Entries().empty()) << "not kept";
    return std::string(compiled.status().message());
  };
  Answer(*program_->module, 1, "code of two");
  EXPECT_TRUE(absl::StrContains(refused(), "error[jit.bad_output]"));
  Answer(*Parse("entry @one(%n: tile<i64>) {\n  return\n}\n")->module, 0, "of another program");
  EXPECT_TRUE(absl::StrContains(refused(), "error[jit.bad_output]"));
  Write(*ir::WriteTbc(*program_->module));
  EXPECT_TRUE(absl::StrContains(refused(), "error[jit.bad_output]"));
  Write("no .tbc at all");
  EXPECT_TRUE(absl::StrContains(refused(), "error["));
}

TEST_F(JitTest, ErrorsOfTheCompiler) {
  auto jit = Open();
  const struct {
    const char* fail;
    absl::StatusCode code;
    const char* says;
  } kCases[] = {
      {"1 k.tile:3:4: error[codegen.unsupported]: no", absl::StatusCode::kUnimplemented,
       "k.tile:3:4: error[codegen.unsupported]: no"},
      {"5 error[codegen.libdevice]: no", absl::StatusCode::kFailedPrecondition, "error[codegen.libdevice]: no"},
      {"70 error[codegen.internal]: no", absl::StatusCode::kInternal, "error[codegen.internal]: no"},
      {"71 what is that", absl::StatusCode::kInternal, "error[jit.compile]: what is that"},
  };
  for (const auto& c : kCases) {
    setenv("FAKE_TILEC_FAIL", c.fail, 1);
    const auto compiled = Compile(*jit);
    EXPECT_EQ(compiled.status().code(), c.code);
    EXPECT_EQ(compiled.status().message(), c.says);
  }
  unsetenv("FAKE_TILEC_FAIL");
  EXPECT_EQ(CodeOf(Compile(*jit)), "code of one") << "a failure is not remembered";
}

TEST_F(JitTest, NoCompiler) {
  const auto code = [&](const std::string& library) {
    options_.library = library;
    const auto jit = Jit::Open(options_);
    EXPECT_EQ(jit.status().code(), absl::StatusCode::kFailedPrecondition) << library;
    return std::string(ErrorCodeOf(jit.status()));
  };
  EXPECT_EQ(code("libno_such_compiler.so.1"), "jit.no_compiler");
  EXPECT_EQ(code(folder_ + "/none.so"), "jit.no_compiler");
  EXPECT_EQ(code(folder_ + "/output"), "jit.bad_compiler");             // no library
  EXPECT_EQ(code("runtime/cuda/libfake_cuda.so"), "jit.bad_compiler");  // another one
}

TEST_F(JitTest, Environment) {
  setenv("TILEVM_LIBTILEC", kFake, 1);
  setenv("TILEVM_CACHE", options_.cache_folder.c_str(), 1);
  const auto jit = Jit::Open({});
  ASSERT_TRUE(jit.ok()) << jit.status();
  EXPECT_EQ(CodeOf(Compile(**jit)), "code of one");
  EXPECT_EQ(Entries().size(), 1);
}

TEST_F(JitTest, ManyThreads) {
  auto jit = Open();
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) right += CodeOf(Compile(*jit, t % 2 == 0 ? 90 : 80)) == "code of one";
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 160);
  EXPECT_EQ(jit->hits() + jit->compilations(), 160);
  EXPECT_GE(jit->compilations(), 2);
  EXPECT_LE(jit->compilations(), 8);
}

}  // namespace
}  // namespace tile::runtime
