// What the runner of the files accepts, binds and finds, with engines that only write numbers.
#include "tests/harness/op_file.h"

#include <memory>

#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "tools/data/array.h"

namespace tile::ops {
namespace {

constexpr char kCode[] = R"(entry @k(%x: tile<ptr<f32>>, %n: tile<i32>, %out: tile<ptr<f32>>) {
  return
}
)";

// Runs the first call of the annotations on an engine that leaves `values` in `out`.
std::string Fault(const std::string& annotations, std::vector<uint64_t> values, Answer answer = {}, bool full = false) {
  const auto variants = ParseOpFile(annotations + kCode);
  if (!variants.ok()) return std::string(variants.status().message());
  ir::Diagnostics diagnostics;
  const std::unique_ptr<ir::Module> module = ir::Parse(kCode, "k", &diagnostics);
  const auto engine = [&](const ir::Module&, absl::string_view, Arguments* a) {
    for (Memory& m : a->memories) {
      for (size_t i = 0; m.name == "out" && i < values.size(); ++i) {
        tools::StoreBits(ir::Elem::kF32, m.array.bytes.data(), static_cast<int64_t>(i), values[i]);
      }
    }
    return answer;
  };
  return RunCall(*module, (*variants)[0].calls[0], full, engine);
}

constexpr uint64_t kOne = 0x3F800000, kTwo = 0x40000000, kNan = 0x7FC00001, kMinusZero = 0x80000000;

TEST(OpFile, FindsWhatDiffers) {
  const std::string run = "// run: @k x=[1] n=3\n// expect: out=";
  EXPECT_EQ(Fault(run + "[1, 2]\n", {kOne, kTwo}), "");
  EXPECT_EQ(Fault(run + "[1, 2]\n", {kOne, kTwo + 1}), "out[1] is 2.0000002 (0x40000001), expected 2");
  EXPECT_EQ(Fault(run + "[1, 2] ulp=1\n", {kOne, kTwo + 1}), "");
  EXPECT_NE(Fault(run + "[1, 2] ulp=1\n", {kOne, kTwo + 2}), "");
  EXPECT_EQ(Fault(run + "[2, 1] any_order\n", {kOne, kTwo}), "");
  EXPECT_NE(Fault(run + "[2, 2] any_order\n", {kOne, kTwo}), "");
  EXPECT_EQ(Fault(run + "[nan, _]\n", {kNan, kTwo}), "");
  EXPECT_NE(Fault(run + "[0x7FC00000, _]\n", {kNan, kTwo}), "");
  EXPECT_NE(Fault(run + "[1, nan] ulp=100\n", {kOne, kTwo}), "");
  EXPECT_NE(Fault(run + "[0.0]\n", {kMinusZero}), "");
  EXPECT_EQ(Fault(run + "[[1*2], [1, 1]]\n", {kOne, kOne, kOne, kOne}), "");
}

TEST(OpFile, FindsReportsAndTheirAbsence) {
  const std::string run = "// run: @k x=[1] n=3 out=[_]\n";
  const Answer trap = {absl::OkStatus(), {"vm.assert: all is wrong"}, "text"};
  EXPECT_EQ(Fault(run + "// expect-trap: vm.assert\n", {}, trap), "");
  EXPECT_EQ(Fault(run + "// expect-trap: vm.assert: is wrong\n", {}, trap), "");
  EXPECT_NE(Fault(run + "// expect-trap: vm.assert: is right\n", {}, trap), "");
  EXPECT_NE(Fault(run + "// expect-trap: vm.ass\n", {}, trap), "");
  EXPECT_NE(Fault(run + "// expect-trap: vm.assert\n", {}), "");
  EXPECT_NE(Fault(run + "// expect: out=[_]\n", {}, trap), "");
  EXPECT_EQ(Fault(run + "// expect-full: vm.assert\n", {}, trap, true), "");
  EXPECT_NE(Fault(run + "// expect-full: vm.assert\n", {}, trap, false), "");
  EXPECT_NE(Fault(run + "// expect-full: vm.assert\n", {}, {}, true), "");
  EXPECT_EQ(Fault(run + "// expect-print: \"te\"\n// expect-print: \"xt\"\n", {}, {absl::OkStatus(), {}, "text"}), "");
  EXPECT_NE(Fault(run + "// expect-print: \"other\"\n", {}, {absl::OkStatus(), {}, "text"}), "");
  const Answer refused = {absl::UnimplementedError("no multicast here"), {}, ""};
  EXPECT_EQ(Fault(run + "// expect-refused: multicast\n", {}, refused), "");
  EXPECT_NE(Fault(run + "// expect-refused: multicast\n", {}), "");
  EXPECT_NE(Fault(run + "// expect: out=[_]\n", {}, refused), "");
}

TEST(OpFile, SaysWhatItCannotRead) {
  const std::pair<const char*, const char*> cases[] = {
      {"// run: @k x=[1] n=3\n", "line 1: this run expects nothing"},
      {"// expect: out=[1]\n", "line 1: stands before any run"},
      {"// run: @k x=[1 n=3\n// expect: out=[1]\n", "line 1: list of x"},
      {"// run: @k x=[[1], [1, 2]]\n// expect: out=[1]\n", "line 1: list of x"},
      {"// run: @k x=[1*99999999]\n// expect: out=[1]\n", "line 1: list of x"},
      {"// run: @k x=[1] n=3\n// expected: out=[1]\n", "line 2: there is no annotation expected"},
      {"// run: @k x=[1] n=3\n// expect: out=[1]\n// with: f99 => f16\n", "line 3: the code has no f99"},
      {"// run: @k x=[1]\n// expect: out=[1]\n", "parameter n has no value"},
      {"// run: @k x=[1] n=3 y=[1]\n// expect: out=[1]\n", "no parameter y"},
      {"// run: @k x=[1] n=[3]\n// expect: out=[1]\n", "n needs a number"},
      {"// run: @q x=[1] n=3\n// expect: out=[1]\n", "there is no kernel q"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(Fault(text, {kOne}), error) << text;
}

TEST(OpFile, VariantsReplaceTheCodeAndRepeatTheRun) {
  const auto variants = ParseOpFile(std::string("// run: @k x=[1] n=3 grid=2,1,4\n// expect: out=[1]\n"
                                                "// with: f32 => f16; i32 => i64\n// expect:\n//   out=[2]\n") +
                                    kCode);
  ASSERT_TRUE(variants.ok()) << variants.status();
  ASSERT_EQ(variants->size(), 2u);
  const Variant& v = (*variants)[1];
  EXPECT_NE(v.text.find("entry @k(%x: tile<ptr<f16>>, %n: tile<i64>, %out: tile<ptr<f16>>)"), std::string::npos);
  ASSERT_EQ(v.calls.size(), 1u);
  EXPECT_EQ(v.calls[0].kernel, "k");
  EXPECT_EQ(v.calls[0].grid[2], 4);
  EXPECT_EQ(v.calls[0].fields.size(), 2u);
  EXPECT_EQ(v.calls[0].expected[0].field.values, std::vector<std::string>{"2"});
}

TEST(OpFile, InterfacesFillSizesStridesAndDefaults) {
  constexpr char kText[] = R"(entry @k(%p: tile<ptr<i8>>, %n: tile<i64>, %s: tile<i64>, %f: tile<i32>) interface {
  in x: i8[%n, 3] strides [%s, 1] at %p
  scalar f = %f default 7
} {
  return
}
)";
  ir::Diagnostics diagnostics;
  const std::unique_ptr<ir::Module> module = ir::Parse(kText, "k", &diagnostics);
  ASSERT_NE(module, nullptr) << diagnostics.ToString();
  const auto variants = ParseOpFile("// run: @k x=[[1, 2, 3], [4, 5, 6]]\n// expect: x=[1..6]\n");
  ASSERT_TRUE(variants.ok()) << variants.status();
  const auto arguments = Bind(*module->functions[0], (*variants)[0].calls[0]);
  ASSERT_TRUE(arguments.ok()) << arguments.status();
  EXPECT_EQ(arguments->params[0].memory, 0);
  EXPECT_EQ(arguments->params[1].bits, 2u);
  EXPECT_EQ(arguments->params[2].bits, 3u);
  EXPECT_EQ(arguments->params[3].bits, 7u);
}

}  // namespace
}  // namespace tile::ops
