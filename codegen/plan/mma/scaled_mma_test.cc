#include "codegen/plan/mma/scaled_mma.h"

#include <memory>
#include <string>

#include "absl/strings/str_replace.h"
#include "codegen/layout/block_scales.h"
#include "gtest/gtest.h"
#include "ir/op_views.h"
#include "ir/text/parser.h"

namespace tile::codegen {
namespace {

// A product of 64 x K by K x 32 with one scale for K / GROUPS elements.
class Product {
 public:
  Product(const std::string& data, const std::string& scale, const std::string& k, const std::string& groups) {
    const std::string text = absl::StrReplaceAll(R"(
entry @product(%p: tile<ptr<f32>>) {
  %a = constant <DATA: 1> : tile<64xKxDATA>
  %b = constant <DATA: 1> : tile<Kx32xDATA>
  %c = constant <f32: 0.0> : tile<64x32xf32>
  %of_a = constant <SCALE: 1> : tile<64xGROUPSxSCALE>
  %of_b = constant <SCALE: 1> : tile<GROUPSx32xSCALE>
  %d = mmaf_scaled %a, %b, %c, %of_a, %of_b
  return
}
)",
                                                 {{"DATA", data}, {"SCALE", scale}, {"K", k}, {"GROUPS", groups}});
    ir::Diagnostics diagnostics;
    module_ = ir::Parse(text, "test.tile", &diagnostics);
    EXPECT_NE(module_, nullptr) << diagnostics.ToString();
    ir::Walk(module_->functions[0]->body(), [&](ir::Op* op) { op_ = ir::MmaScaledOp::Is(op) ? op : op_; });
  }

  ir::Module* module() { return module_.get(); }
  ir::Op& op() { return *op_; }
  std::string Instruction(int sm) {
    const auto plan = MmaSyncScaledKind().Plan(*FindTarget(sm), 4, *op_);
    return plan ? plan->instruction : WhyNotByBlockScales(*FindTarget(sm), *op_);
  }

 private:
  std::unique_ptr<ir::Module> module_;
  ir::Op* op_ = nullptr;
};

TEST(ScaledMma, AnInstructionForEachTypeAndBlock) {
  constexpr char kF8[] = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.",
                 kF4[] = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::";
  for (const int sm : {120, 121}) {
    EXPECT_EQ(Product("f8E4M3FN", "f8E8M0FNU", "128", "4").Instruction(sm), std::string(kF8) + "e4m3.e4m3.f32.ue8m0");
    EXPECT_EQ(Product("f8E5M2", "f8E8M0FNU", "32", "1").Instruction(sm), std::string(kF8) + "e5m2.e5m2.f32.ue8m0");
    EXPECT_EQ(Product("f4E2M1FN", "f8E8M0FNU", "128", "4").Instruction(sm),
              std::string(kF4) + "2X.f32.e2m1.e2m1.f32.ue8m0");
    EXPECT_EQ(Product("f4E2M1FN", "f8E4M3FN", "64", "4").Instruction(sm),
              std::string(kF4) + "4X.f32.e2m1.e2m1.f32.ue4m3");
  }
}

TEST(ScaledMma, OthersSayWhyNot) {
  EXPECT_EQ(Product("f8E4M3FN", "f8E8M0FNU", "128", "4").Instruction(100),
            "mma.sync of sm_100a takes no block scales; that of sm_120, sm_120f, sm_121 does");
  EXPECT_EQ(Product("f4E2M1FN", "f8E8M0FNU", "64", "4").Instruction(120),
            "no instruction takes f4E2M1FN with one f8E8M0FNU for 16 elements");
  EXPECT_EQ(Product("f4E2M1FN", "f8E5M3FNU", "64", "2").Instruction(120),
            "no instruction takes f4E2M1FN with one f8E5M3FNU for 32 elements");
  EXPECT_EQ(Product("f4E2M1FN", "f8E4M3FN", "32", "2").Instruction(120),
            "K of its tile is 32, and the instruction's 64");
}

TEST(ScaledMma, DecisionsAreReadBack) {
  Product p("f4E2M1FN", "f8E4M3FN", "128", "8");
  ASSERT_TRUE(MmaSyncScaledKind().Choose(*FindTarget(120), 4, p.module(), &p.op()));
  EXPECT_EQ(&KindOf(p.op()), &MmaSyncScaledKind());
  EXPECT_EQ(MmaFault(p.op(), 4), "");
  EXPECT_NE(MmaFault(p.op(), 8), "");
  const MmaPlan plan = *MmaPlanOf(p.op());
  EXPECT_EQ(plan.scales, 4);
  EXPECT_EQ(plan.blocks, 8);
  EXPECT_EQ(plan.words_a, 4);
  EXPECT_EQ(plan.words_b, 2);
  EXPECT_EQ(MmaSyncScaledKind().StepsAlongK(p.op()), 2);
  const Layout of_b = *MmaSyncScaledKind().FragmentLayout(p.op(), 4);
  EXPECT_EQ(of_b, MmaScaleLayout(plan.tile, Operand::kB, 8));
  EXPECT_EQ(MmaSyncScaledKind().FragmentLayout(p.op(), 0)->shape()[1], 128);
}

}  // namespace
}  // namespace tile::codegen
