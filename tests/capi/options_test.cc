// What the options of a launch change on the cpu device, through the C++ wrapper.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/tilevm.hpp"

namespace {

class Options : public testing::Test {
 protected:
  tilevm::Launch Make(const char* name) {
    tilevm::Module module = tilevm::Module::FromFile("tests/capi/options.tbc").value();
    return tilevm::Launch::Create(tilevm::Kernel::Create(device_, module, name).value()).value();
  }
  // `past_the_end`: the sum of eight elements, of which five exist.
  float Past(tilevm::LaunchOptions options, std::vector<std::string>* warnings = nullptr) {
    const float x[5] = {1, 2, 3, 4, 5};
    float y = 0;
    tilevm::Buffer in = tilevm::Buffer::From(device_, x, 5).value();
    tilevm::Buffer out = tilevm::Buffer::Create(device_, sizeof y).value();
    if (warnings != nullptr) options.warning = [warnings](const std::string& text) { warnings->push_back(text); };
    tilevm::Launch launch = Make("past_the_end");
    launch.Set("x", in.Array<float>({5})).Set("y", out.Array<float>({1})).SetOptions(std::move(options));
    tilevm::Launch moved = std::move(launch);  // the functions move along
    const tilevm::Error e = moved.Run();
    EXPECT_FALSE(e) << e.message();
    EXPECT_FALSE(out.Download(&y, sizeof y));
    return y;
  }
  // `numbers`: which block drew which number; or the error.
  std::vector<int32_t> Numbers(const std::string& order, tilevm::Error* error = nullptr) {
    std::vector<int32_t> next(1), y(8);
    tilevm::Buffer counter = tilevm::Buffer::From(device_, next.data(), 1).value();
    tilevm::Buffer out = tilevm::Buffer::Create(device_, 32).value();
    tilevm::LaunchOptions options;
    options.threads = 1;
    options.order = order;
    tilevm::Launch launch = Make("numbers");
    launch.Set("next", counter.Array<int32_t>({1})).Set("y", out.Array<int32_t>({8})).SetOptions(options);
    tilevm::Error e = launch.Run();
    if (error != nullptr) {
      *error = std::move(e);
    } else {
      EXPECT_FALSE(e) << e.message();
    }
    EXPECT_FALSE(out.Download(y.data(), 32));
    return y;
  }

  tilevm::Device device_ = tilevm::Device::Open("cpu").value();
};

TEST_F(Options, Coverage) {
  tilevm::Buffer out = tilevm::Buffer::Create(device_, 32).value();
  const auto run = [&](int32_t check, int64_t blocks) {
    std::vector<std::string> said;
    tilevm::LaunchOptions options;
    options.check = check;
    options.coverage = [&](const tilevm_coverage& c) {
      EXPECT_EQ(c.struct_size, sizeof c);
      said.push_back(std::string(c.kernel) + " " + c.op + " " + c.predicate + " " + std::to_string(c.choice) + " " +
                     std::to_string(c.sides) + " " + std::to_string(c.gap[1]));
    };
    tilevm::Launch launch = Make("halves");
    launch.Set("y", out.Array<int32_t>({8})).SetGrid(blocks).SetOptions(std::move(options));
    const tilevm::Error e = launch.Run();
    EXPECT_FALSE(e && blocks == 8) << e.message();
    return said;
  };
  EXPECT_TRUE(run(TILEVM_CHECK_BOUNDS, 8).empty());
  EXPECT_EQ(run(TILEVM_CHECK_FULL, 8),
            (std::vector<std::string>{"halves cmpi less_than 4 3 -1.000000", "halves select  3 3 0.000000"}));
  EXPECT_EQ(run(TILEVM_CHECK_FULL, 3),
            (std::vector<std::string>{"halves cmpi less_than 4 2 -2.000000", "halves select  3 2 0.000000"}));
}

TEST_F(Options, UnspecifiedValues) {
  tilevm::LaunchOptions options;
  EXPECT_EQ(Past(options), 15);
  options.unspecified = TILEVM_UNSPECIFIED_ONES;
  EXPECT_TRUE(std::isnan(Past(options)));
  options.unspecified = TILEVM_UNSPECIFIED_RANDOM;
  const float first = Past(options), second = Past(options);
  EXPECT_NE(first, 15);
  EXPECT_EQ(std::memcmp(&first, &second, sizeof first), 0);
}

TEST_F(Options, WarningsAreTold) {
  std::vector<std::string> warnings;
  EXPECT_EQ(Past({}, &warnings), 15);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("tests/capi/options.tile:"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[0].find("warning["), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[0].find("past_the_end"), std::string::npos) << warnings[0];
}

TEST_F(Options, OrderOfBlocks) {
  EXPECT_EQ(Numbers(""), (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(Numbers("linear"), (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(Numbers("reverse"), (std::vector<int32_t>{7, 6, 5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(Numbers("random:7"), Numbers("random:7"));
  tilevm::Error error;
  Numbers("sideways", &error);
  EXPECT_EQ(error.status(), TILEVM_INVALID_ARGUMENT);
  EXPECT_NE(error.message().find("run.order"), std::string::npos) << error.message();
}

}  // namespace
