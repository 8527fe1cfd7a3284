#include "tools/module/image_text.h"

#include "gtest/gtest.h"
#include "ir/text/parser.h"

namespace tile::tools {
namespace {

TEST(RequirementText, SaysWhatTheInterfaceCallsParameters) {
  ir::Diagnostics diagnostics;
  const auto module = ir::Parse(
      "entry @k(%p: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %s: tile<i32>, %a: tile<i32>, %z: tile<i32>) interface {\n"
      "  in x: f32[%m, %n] strides [%s, 1] at %p\n"
      "  scalar alpha = %a\n"
      "} {\n  return\n}\n"
      "entry @raw(%p: tile<ptr<f32>>) { return }\n",
      "k.tile", &diagnostics);
  ASSERT_NE(module, nullptr) << diagnostics.ToString();
  const auto text = [&](const char* of, size_t kernel = 0) {
    ir::ImageRequirement requirement;
    requirement.text = of;
    return RequirementText(requirement, *module->functions[kernel]);
  };
  EXPECT_EQ(text("the address of the tensor at parameter 0 is a multiple of 16 bytes"),
            "the address of the tensor at x is a multiple of 16 bytes");
  EXPECT_EQ(text("parameter 2 is a multiple of 16"), "x.shape[1] is a multiple of 16");
  EXPECT_EQ(text("parameter 3 is a multiple of parameter 4"), "x.stride[0] is a multiple of alpha");
  EXPECT_EQ(text("parameter 5, parameter 99 and parameter x"), "parameter 5, parameter 99 and parameter x");
  EXPECT_EQ(text("parameter 0 is aligned", 1), "parameter 0 is aligned");
}

}  // namespace
}  // namespace tile::tools
