#include "codegen/plan/mma/tcgen05_scaled.h"

#include <memory>
#include <string>

#include "absl/strings/str_replace.h"
#include "codegen/plan/tensor_memory.h"
#include "gtest/gtest.h"
#include "ir/op_views.h"
#include "ir/text/parser.h"

namespace tile::codegen {
namespace {

// A product of M x K by K x 64 with one scale for K / GROUPS elements.
class Product {
 public:
  Product(const std::string& data, const std::string& scale, const std::string& m, const std::string& k,
          const std::string& groups) {
    const std::string text = absl::StrReplaceAll(R"(
entry @product(%p: tile<ptr<f32>>) {
  %a = constant <DATA: 1> : tile<MxKxDATA>
  %b = constant <DATA: 1> : tile<Kx64xDATA>
  %c = constant <f32: 0.0> : tile<Mx64xf32>
  %of_a = constant <SCALE: 1> : tile<MxGROUPSxSCALE>
  %of_b = constant <SCALE: 1> : tile<GROUPSx64xSCALE>
  %d = mmaf_scaled %a, %b, %c, %of_a, %of_b
  return
}
)",
                                                 {{"DATA", data},
                                                  {"SCALE", scale},
                                                  {"Mx", m + "x"},
                                                  {"Kx", k + "x"},
                                                  {"xKx", "x" + k + "x"},
                                                  {"MxKx", m + "x" + k + "x"},
                                                  {"GROUPS", groups}});
    ir::Diagnostics diagnostics;
    module_ = ir::Parse(text, "test.tile", &diagnostics);
    EXPECT_NE(module_, nullptr) << diagnostics.ToString();
    ir::Walk(module_->functions[0]->body(), [&](ir::Op* op) { op_ = ir::MmaScaledOp::Is(op) ? op : op_; });
  }

  ir::Module* module() { return module_.get(); }
  ir::Op& op() { return *op_; }
  std::string Instruction(const char* target) {
    if (!Tcgen05ScaledKind().Choose(*FindTarget(target), 4, module_.get(), op_))
      return WhyNotScaledInColumns(*FindTarget(target), 4, *op_);
    return Tcgen05ScaledFormOf(Tcgen05ScaledKind().PlanOf(*op_), *op_).instruction;
  }

 private:
  std::unique_ptr<ir::Module> module_;
  ir::Op* op_ = nullptr;
};

TEST(Tcgen05Scaled, AnInstructionForEachTypeAndBlock) {
  const std::string begin = "tcgen05.mma.cta_group::1.kind::";
  for (const char* target : {"100", "100f", "103", "110"}) {
    EXPECT_EQ(Product("f8E4M3FN", "f8E8M0FNU", "128", "128", "4").Instruction(target),
              begin + "mxf8f6f4.block_scale.block32");
    EXPECT_EQ(Product("f8E5M2", "f8E8M0FNU", "256", "32", "1").Instruction(target),
              begin + "mxf8f6f4.block_scale.block32");
    EXPECT_EQ(Product("f4E2M1FN", "f8E8M0FNU", "128", "128", "4").Instruction(target),
              begin + "mxf4.block_scale.block32");
    EXPECT_EQ(Product("f4E2M1FN", "f8E4M3FN", "128", "64", "4").Instruction(target),
              begin + "mxf4nvf4.block_scale.block16");
  }
}

TEST(Tcgen05Scaled, OthersSayWhyNot) {
  EXPECT_EQ(Product("f8E4M3FN", "f8E8M0FNU", "128", "128", "4").Instruction("120"), "sm_120a has no tcgen05");
  EXPECT_EQ(Product("f4E2M1FN", "f8E8M0FNU", "128", "64", "4").Instruction("100"),
            "no instruction takes f4E2M1FN with one f8E8M0FNU for 16 elements");
  EXPECT_EQ(Product("f8E4M3FN", "f8E8M0FNU", "64", "64", "2").Instruction("100"),
            "its tile is 64 x 64 x 64, and tcgen05 multiplies at least 128 x 32 x 32");
  EXPECT_EQ(Product("f4E2M1FN", "f8E4M3FN", "128", "32", "2").Instruction("100"),
            "its tile is 128 x 64 x 32, and tcgen05 multiplies at least 128 x 32 x 64");
}

TEST(Tcgen05Scaled, DecisionsAreReadBack) {
  Product p("f8E4M3FN", "f8E8M0FNU", "256", "256", "8");
  EXPECT_FALSE(IsScaledInColumns(p.op()));
  ASSERT_TRUE(Tcgen05ScaledKind().Choose(*FindTarget("100"), 4, p.module(), &p.op()));
  EXPECT_TRUE(IsScaledInColumns(p.op()));
  EXPECT_EQ(&KindOf(p.op()), &Tcgen05ScaledKind());
  EXPECT_EQ(MmaFault(p.op(), 4), "");
  EXPECT_NE(MmaFault(p.op(), 8), "");
  // 2 x 64 columns of sums, 2 x 2 pieces of scales of the left operand and 2 of the right one.
  const ScaleColumns columns = ScaleColumnsOf(p.op());
  EXPECT_EQ(columns.lhs, 128);
  EXPECT_EQ(columns.rhs, 144);
  EXPECT_EQ(columns.end, 152);
  EXPECT_EQ(ColumnsOfScaled(*p.module()->functions[0]), 152);
}

}  // namespace
}  // namespace tile::codegen
