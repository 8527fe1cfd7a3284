// How often the passes run until a kernel fits: those over the program for each candidate, LLVM once.
#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "codegen/compile.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

struct Runs {
  int plan = 0, llvm = 0;
  std::string ptx;
};

Runs Compiled(const std::string& text, int sm, bool descriptors) {
  ir::Diagnostics diagnostics;
  const std::unique_ptr<ir::Module> m = ir::Parse(text, "test.tile", &diagnostics);
  EXPECT_NE(m, nullptr) << diagnostics.ToString();
  if (m == nullptr) return {};
  ir::Verify(*m, &diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.ToString();
  Trace trace;
  CompileOptions options;
  options.target = FindTarget(sm);
  options.permissions.Allow(May::kTakeDescriptors, descriptors);
  options.trace = &trace;
  const auto c = Compile(*m, *m->functions[0], options);
  EXPECT_TRUE(c.ok()) << c.status();
  Runs runs;
  for (const Trace::Time& t : trace.times()) {
    if (t.pass == "choose-schedule") runs.plan = t.runs;
    if (t.pass == "emit-llvm") runs.llvm = t.runs;
  }
  if (c.ok()) runs.ptx = c->ptx;
  return runs;
}

// With a shared array of so many KB, which takes the room of a ring.
std::string WithArray(const std::string& text, int kilobytes) {
  const std::string array = absl::StrReplaceAll(R"(
  %s = alloc_shared alignment = 16 : tensor_view<Nxf32, strides=[1], shared>
  %sv = make_partition_view %s : partition_view<tile=(32), tensor_view<Nxf32, strides=[1], shared>>
  %sx = constant <f32: 1> : tile<32xf32>
  %s0 = constant <i32: 0> : tile<i32>
  store_view_tko weak %sx, %sv[%s0] -> token
  %first =)",
                                                {{"Nxf32", absl::StrCat(kilobytes * 256, "xf32")}});
  return absl::StrReplaceAll(text, {{"\n  %first =", array}});
}

TEST(Candidate, OneIsEnough) {
  for (const bool descriptors : {false, true}) {
    const Runs runs = Compiled(ProductText(128, 128, 64), 90, descriptors);
    EXPECT_EQ(runs.plan, 1);
    EXPECT_EQ(runs.llvm, 1);
  }
}

// Stages of 16 KB, as iterations are split along K: the array leaves room for two of them and more, or for the operands of one
// iteration only.
TEST(Candidate, LlvmGetsTheOneThatFits) {
  for (const int kilobytes : {96, 131}) {
    const Runs runs = Compiled(WithArray(ProductText(128, 128, 64), kilobytes), 80, false);
    EXPECT_EQ(runs.llvm, 1) << kilobytes;
    EXPECT_EQ(runs.ptx.find("cp.async.cg") != std::string::npos, kilobytes < 100) << kilobytes;
    EXPECT_EQ(runs.plan, kilobytes < 100 ? 1 : 2) << kilobytes;
  }
}

}  // namespace
}  // namespace tile::codegen
