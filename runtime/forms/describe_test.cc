#include "runtime/forms/describe.h"

#include "gtest/gtest.h"
#include "ir/forms/forms.h"

namespace tile::runtime {
namespace {

constexpr char kScale[] = R"(
entry @scale(%x: tile<ptr<f32>>, %n: tile<i64>, %y: tile<ptr<f32>>, %f: tile<f32>) interface {
  in x: f32[%n] at %x
  out y: f32[x.shape[0]] at %y init zero
  scalar f = %f default 2.0
  grid ceildiv(x.shape[0], 1024)
} {
  return
}
entry @raw(%p: tile<ptr<f16>>) {
  return
}
entry @_Z5scalePf(%p: tile<ptr<f32>>) {
  return
}
)";

TEST(Describe, SaysHowKernelsAreCalled) {
  const std::string text = kScale;
  ir::Diagnostics diagnostics;
  const absl::Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  const absl::StatusOr<ir::ProgramRead> program = ir::ReadProgram(bytes, "scale.tile", false, &diagnostics);
  ASSERT_TRUE(program.ok()) << program.status();
  const std::string json = DescribeModule(*program, bytes);
  for (
      const char* part : {
          R"("form": "text")",
          R"({"name": "n", "type": "tile<i64>", "element": "i64", "pointer": false})",
          R"({"name": "x", "direction": "in", "element": "f32", "parameter": 0, "shape": [{"parameter": 1}]})",
          R"("shape": [{"size": "x.shape[0]"}], "init_bits": "0"})",
          R"({"name": "f", "element": "f32", "parameter": 3, "default_bits": "1073741824"})",
          R"x("grid": ["ceildiv(x.shape[0], 1024)"])x",
          R"({"name": "raw", "cpp_names": [], "parameters": [{"name": "p", "type": "tile<ptr<f16>>", "element": "f16", "pointer": true}], "arrays": null)",
          R"x({"name": "_Z5scalePf", "cpp_names": ["scale(float*)", "scale", "scale", "scale", "scale"])x",
          R"("images": [])",
      }) {
    EXPECT_NE(json.find(part), std::string::npos) << part << "\nis not in\n" << json;
  }
}

}  // namespace
}  // namespace tile::runtime
