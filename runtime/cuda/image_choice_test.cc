#include "runtime/cuda/image_choice.h"

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace tile::runtime::cuda {
namespace {

using ir::Expr;
using ir::ExprOp;
using ir::Image;

const Target kHopper = {9, 0, 132, 13000};

Image Make(const char* arch, ir::ImageKind kind = ir::ImageKind::kCubin) {
  static const uint8_t kCode[] = "code";
  Image i;
  i.arch = arch;
  i.kind = kind;
  i.payload = kCode;
  return i;
}
std::string Why(const Image& i, const Target& t = kHopper) { return WhyNotOn(i, {}, t); }

TEST(ImageChoice, Architectures) {
  const struct {
    const char* arch;
    ir::ImageKind kind;
    int major, minor;
    bool runs;
  } kCases[] = {
      {"sm_90a", ir::ImageKind::kCubin, 9, 0, true},   {"sm_90a", ir::ImageKind::kPtx, 10, 0, false},
      {"sm_90a", ir::ImageKind::kPtx, 9, 0, true},     {"sm_90", ir::ImageKind::kCubin, 9, 0, true},
      {"sm_90", ir::ImageKind::kCubin, 10, 0, false},  {"sm_90", ir::ImageKind::kPtx, 10, 0, true},
      {"sm_80", ir::ImageKind::kCubin, 8, 6, true},    {"sm_86", ir::ImageKind::kCubin, 8, 0, false},
      {"sm_86", ir::ImageKind::kPtx, 8, 0, false},     {"sm_75", ir::ImageKind::kPtx, 12, 0, true},
      {"sm_100f", ir::ImageKind::kCubin, 10, 3, true}, {"sm_103a", ir::ImageKind::kCubin, 10, 0, false},
      {"sm_120", ir::ImageKind::kCubin, 12, 1, true},  {"sm_90", ir::ImageKind::kPtx, 8, 9, false},
  };
  for (const auto& c : kCases) {
    const std::string why = Why(Make(c.arch, c.kind), {c.major, c.minor, 1, 13000});
    EXPECT_EQ(why.empty(), c.runs) << c.arch << " on " << c.major << "." << c.minor << ": " << why;
  }
  EXPECT_EQ(Why(Make("sm_80")), "does not run on this GPU, an sm_90");
  for (const char* bad : {"", "sm_", "sm_a", "90", "gfx90a", "sm_99999999999"}) {
    EXPECT_EQ(Why(Make(bad)), "has an architecture that this runtime does not know") << bad;
  }
}

TEST(ImageChoice, OtherReasons) {
  Image i = Make("sm_90");
  i.driver_floor = 13010;
  EXPECT_EQ(Why(i), "needs a driver for CUDA 13.1, this one is for 13.0");
  i = Make("sm_90");
  i.flags = uint64_t{1} << 40 | ir::kTileAbi;
  EXPECT_EQ(Why(i), "has flags that this runtime does not know (10000000000)");
  i = Make("sm_90");
  i.payload = {};
  EXPECT_EQ(Why(i), "is empty");
  i = Make("sm_90");
  i.threads = 2048;
  EXPECT_TRUE(absl::StrContains(Why(i), "2048 threads"));
  i = Make("sm_90");
  i.cluster = {1, 0, 1};
  EXPECT_EQ(Why(i), "has a cluster of 0 blocks");
  i = Make("sm_90");
  i.code_hash.fill(1);
  EXPECT_EQ(Why(i), "was compiled from another version of the program");
}

// Kernel @k(%p: ptr, %n: i32, %f: f32).
class Arguments : public testing::Test {
 protected:
  Arguments() {
    const ir::Type params[] = {module_.types().Scalar(ir::Element::Pointer(ir::Elem::kF32)),
                               module_.types().Scalar(ir::Elem::kI32), module_.types().Scalar(ir::Elem::kF32)};
    arguments_.function = module_.AddFunction("k", params);
    arguments_.words = words_;
    arguments_.grid = {10, 20, 1};
    arguments_.num_sms = 132;
  }
  std::string Error(const Expr& e) { return std::string(Evaluate(e, arguments_).status().message()); }

  ir::Module module_;
  uint64_t words_[3] = {0x7f0000001040, 0xfffffff0, 0x3f800000};
  ImageArguments arguments_;
};

TEST_F(Arguments, Expressions) {
  EXPECT_EQ(*Evaluate({{ExprOp::kScalar, 1, 0, 0}}, arguments_), -16);
  EXPECT_EQ(*Evaluate({{ExprOp::kAlign, 0, 0, 0}}, arguments_), 64);
  EXPECT_EQ(*Evaluate({{ExprOp::kShape, -1, 1, 0}}, arguments_), 20);
  EXPECT_EQ(*Evaluate({{ExprOp::kNumSms, 0, 0, 0}}, arguments_), 132);
  EXPECT_EQ(*Evaluate({{ExprOp::kShape, -1, 0, 0}, {ExprOp::kConst, 0, 0, 3}, {ExprOp::kCeilDiv, 0, 0, 0}}, arguments_),
            4);
  EXPECT_EQ(
      *Evaluate(
          {{ExprOp::kConst, 0, 0, 0}, {ExprOp::kConst, 0, 0, 5}, {ExprOp::kConst, 0, 0, 6}, {ExprOp::kSelect, 0, 0, 0}},
          arguments_),
      6);
  EXPECT_EQ(
      *Evaluate(
          {{ExprOp::kConst, 0, 0, 1}, {ExprOp::kConst, 0, 0, 5}, {ExprOp::kConst, 0, 0, 6}, {ExprOp::kSelect, 0, 0, 0}},
          arguments_),
      5);
  EXPECT_EQ(*Evaluate({{ExprOp::kConst, 0, 0, -7}, {ExprOp::kConst, 0, 0, 2}, {ExprOp::kDiv, 0, 0, 0}}, arguments_),
            -4);
  EXPECT_EQ(*Evaluate({{ExprOp::kConst, 0, 0, -7}, {ExprOp::kConst, 0, 0, 2}, {ExprOp::kMod, 0, 0, 0}}, arguments_), 1);
  arguments_.hardware_grid = {132, 1, 1};
  EXPECT_EQ(*Evaluate({{ExprOp::kShape, -2, 0, 0}}, arguments_), 132);
}

TEST_F(Arguments, HostileExpressions) {
  EXPECT_TRUE(absl::StrContains(Error({}), "is no expression"));
  EXPECT_TRUE(absl::StrContains(Error({{ExprOp::kAdd, 0, 0, 0}}), "is no expression"));
  EXPECT_TRUE(absl::StrContains(Error({{ExprOp::kConst, 0, 0, 1}, {ExprOp::kConst, 0, 0, 1}}), "is no expression"));
  EXPECT_TRUE(absl::StrContains(Error({{ExprOp::kScalar, 3, 0, 0}}), "parameter 3, which does not exist"));
  EXPECT_TRUE(absl::StrContains(Error({{ExprOp::kScalar, -1, 0, 0}}), "parameter -1"));
  EXPECT_TRUE(absl::StrContains(Error({{ExprOp::kScalar, 2, 0, 0}}), "is no integer"));
  EXPECT_TRUE(absl::StrContains(Error({{ExprOp::kShape, 0, 0, 0}}), "size 0 of grid 0"));
  EXPECT_TRUE(absl::StrContains(Error({{ExprOp::kShape, -1, 3, 0}}), "size 3 of grid -1"));
  EXPECT_TRUE(absl::StrContains(Error({{ExprOp::kShape, -2, 0, 0}}), "before it is known"));
  EXPECT_TRUE(absl::StrContains(Error({{ExprOp::kStride, 0, 0, 0}}), "stride"));
  EXPECT_TRUE(absl::StrContains(Error({{ExprOp::kConst, 0, 0, 1}, {ExprOp::kConst, 0, 0, 0}, {ExprOp::kDiv, 0, 0, 0}}),
                                "divides 1 by 0"));
  EXPECT_TRUE(absl::StrContains(
      Error({{ExprOp::kConst, 0, 0, INT64_MIN}, {ExprOp::kConst, 0, 0, -1}, {ExprOp::kMod, 0, 0, 0}}), "by -1"));
  EXPECT_TRUE(absl::StrContains(
      Error({{ExprOp::kConst, 0, 0, INT64_MAX}, {ExprOp::kConst, 0, 0, 2}, {ExprOp::kMul, 0, 0, 0}}), "overflows"));
}

TEST_F(Arguments, Requirements) {
  Image i = Make("sm_90");
  EXPECT_EQ(WhyNotFor(i, arguments_), "");
  const Expr aligned = {{ExprOp::kConst, 0, 0, 31}, {ExprOp::kAlign, 0, 0, 0}, {ExprOp::kLess, 0, 0, 0}};
  const Expr positive = {{ExprOp::kConst, 0, 0, 0}, {ExprOp::kScalar, 1, 0, 0}, {ExprOp::kLess, 0, 0, 0}};
  i.requirements = {{aligned, "%p is aligned"}, {positive, "%n is positive"}};
  EXPECT_EQ(WhyNotFor(i, arguments_), "requires: %n is positive");
  words_[1] = 5;
  EXPECT_EQ(WhyNotFor(i, arguments_), "");
  i.requirements = {{{}, ""}};
  EXPECT_TRUE(absl::StrContains(WhyNotFor(i, arguments_), "has a requirement that is no expression"));
}

using Grid = std::array<int64_t, 3>;

TEST_F(Arguments, Grids) {
  Image i = Make("sm_90");
  EXPECT_EQ(*HardwareGrid(i, arguments_, 264), (Grid{10, 20, 1}));
  i.cluster = {4, 1, 1};
  EXPECT_EQ(*HardwareGrid(i, arguments_, 264), (Grid{12, 20, 1}));
  i.flags = ir::kPersistentGrid;
  EXPECT_EQ(*HardwareGrid(i, arguments_, 264), (Grid{200, 1, 1}));
  EXPECT_EQ(*HardwareGrid(i, arguments_, 131), (Grid{128, 1, 1}));
  EXPECT_EQ(*HardwareGrid(i, arguments_, 3), (Grid{4, 1, 1}));
  arguments_.grid = {3, 1, 1};
  EXPECT_EQ(*HardwareGrid(i, arguments_, 264), (Grid{4, 1, 1}));
  i = Make("sm_90");
  arguments_.grid = {70000, 70000, 1};
  EXPECT_TRUE(absl::StrContains(HardwareGrid(i, arguments_, 1).status().message(), "70000 x 70000 x 1"));
  const Expr one = {{ExprOp::kConst, 0, 0, 1}};
  i.grid = {{{ExprOp::kShape, -1, 0, 0}, {ExprOp::kShape, -1, 1, 0}, {ExprOp::kMul, 0, 0, 0}}, one, one};
  EXPECT_TRUE(absl::StrContains(HardwareGrid(i, arguments_, 1).status().message(), "4900000000"));
  i.flags = ir::kPersistentGrid;
  EXPECT_EQ(*HardwareGrid(i, arguments_, 264), (Grid{264, 1, 1}));
  arguments_.grid = {int64_t{1} << 23, int64_t{1} << 23, int64_t{1} << 23};
  i.grid.clear();
  EXPECT_TRUE(absl::StrContains(HardwareGrid(i, arguments_, 1).status().message(), "2^63"));
  i.grid = {{{ExprOp::kConst, 0, 0, 0}}, one, one};
  EXPECT_TRUE(absl::StrContains(HardwareGrid(i, arguments_, 1).status().message(), "empty grid"));
}

}  // namespace
}  // namespace tile::runtime::cuda
