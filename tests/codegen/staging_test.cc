// Operands of products in stages of shared memory: which can lie there, and that fragments are read without bank conflicts.
#include "codegen/plan/staging/staging.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "codegen/layout/algebra.h"
#include "codegen/layout/fragments.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/mma/mma_layout.h"
#include "codegen/plan/staging/conversion_buffers.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"

namespace tile::codegen {
namespace {

// 64 x 32 of one type, by 32 x 128, loaded as LOAD.
constexpr char kProduct[] = R"(
entry @k(%a: tile<ptr<LOAD>>, %b: tile<ptr<LOAD>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %at = make_tensor_view %a, shape = [%n, %n], strides = [LHS] : tile<i32> -> tensor_view<?x?xLOAD, strides=[L.H.S]>
  %bt = make_tensor_view %b, shape = [%n, %n], strides = [RHS] : tile<i32> -> tensor_view<?x?xLOAD, strides=[R.H.S]>
  %av = make_partition_view %at : partition_view<tile=(64x32), padding_value = zero, tensor_view<?x?xLOAD, strides=[L.H.S]>>
  %bv = make_partition_view %bt : partition_view<tile=(32x128), padding_value = zero, tensor_view<?x?xLOAD, strides=[R.H.S]>>
  %x, %t1 = load_view_tko weak %av[%zero, %zero] -> tile<64x32xLOAD>, token
  %y, %t2 = load_view_tko weak %bv[%zero, %zero] -> tile<32x128xLOAD>, token
CONVERT  %none = constant <f32: 0> : tile<64x128xf32>
  %sum = mmaf FACTORS, %none
  return
}
)";

struct Parsed {
  std::unique_ptr<ir::Module> module;
  const ir::Op* mma = nullptr;
};

Parsed Product(const std::string& load, const std::string& factor, bool lhs_by_rows, bool rhs_by_rows,
               int columns = 128) {
  std::string convert;
  if (load != factor) {
    convert =
        absl::StrCat("  %xc = ftof %x : tile<64x32x", load, "> -> tile<64x32x", factor, ">\n  %yc = ftof %y : tile<32x",
                     columns, "x", load, "> -> tile<32x", columns, "x", factor, ">\n");
  }
  const auto strides = [](bool by_rows) { return by_rows ? "%n, 1" : "1, %n"; };
  const auto known = [](bool by_rows) { return by_rows ? "?,1" : "1,?"; };
  const std::string text = absl::StrReplaceAll(kProduct, {{"LOAD", load},
                                                          {"[LHS]", absl::StrCat("[", strides(lhs_by_rows), "]")},
                                                          {"[RHS]", absl::StrCat("[", strides(rhs_by_rows), "]")},
                                                          {"L.H.S", known(lhs_by_rows)},
                                                          {"R.H.S", known(rhs_by_rows)},
                                                          {"CONVERT", convert},
                                                          {"x128", absl::StrCat("x", columns)},
                                                          {"FACTORS", convert.empty() ? "%x, %y" : "%xc, %yc"}});
  ir::Diagnostics diags;
  Parsed p{ir::Parse(text, "test.tile", &diags)};
  if (p.module != nullptr) ir::Verify(*p.module, &diags);
  EXPECT_TRUE(p.module != nullptr && diags.ok()) << diags.ToString() << text;
  ir::Walk(p.module->functions[0]->body(), [&](ir::Op* op) {
    if (op->opcode() == ir::Opcode::kMmaF) p.mma = op;
  });
  return p;
}

// Cycles of 128 bytes in which all warps read an operand's fragments, over the least that takes.
double Conflicts(const ir::Op& mma, int operand) {
  const MmaPlan plan = *PlanMma(*FindTarget(90), 4, mma);
  const StagedTile tile = *StageOperand(mma, operand);
  const SharedMap map = tile.OperandMap();
  const Layout fragment = MmaLayout(plan.tile, operand == 0 ? Operand::kA : Operand::kB);
  for (bool across : {false, true}) {
    if (const auto read = FitLdMatrix(map, fragment, across)) {
      return static_cast<double>(LdMatrixWavefronts(*read, tile.element_bits)) /
             static_cast<double>(LeastLdMatrixWavefronts(*read));
    }
  }
  const Layout read = Compose(map.index, fragment);
  const VectorAccess access = Vectorise(read, tile.element_bits, 0, 128 / tile.element_bits);
  return static_cast<double>(BankWavefronts(read, access, tile.element_bits)) /
         static_cast<double>(LeastWavefronts(read, access, tile.element_bits));
}

TEST(Staging, FragmentsAreReadWithoutBankConflicts) {
  const struct {
    const char *load, *factor;
  } kTypes[] = {{"f16", "f16"}, {"bf16", "bf16"}, {"tf32", "tf32"}, {"f32", "tf32"}, {"f16", "bf16"}};
  for (const auto& type : kTypes) {
    for (bool lhs : {true, false}) {
      for (bool rhs : {true, false}) {
        const Parsed p = Product(type.load, type.factor, lhs, rhs);
        EXPECT_EQ(Conflicts(*p.mma, 0), 1) << type.load << " " << type.factor << " lhs by rows: " << lhs;
        EXPECT_EQ(Conflicts(*p.mma, 1), 1) << type.load << " " << type.factor << " rhs by rows: " << rhs;
      }
    }
  }
}

TEST(Staging, OneConversionInPlace) {
  EXPECT_EQ(StageOperand(*Product("f32", "tf32", true, true).mma, 0)->rounded->result(0)->type().elem(),
            ir::Elem::kTF32);
  EXPECT_EQ(StageOperand(*Product("tf32", "tf32", true, true).mma, 1)->rounded, nullptr);
  EXPECT_FALSE(StageOperand(*Product("f32", "f16", true, true).mma, 0).has_value());
  const std::optional<StagedTile> widened = StageOperand(*Product("f8E5M2", "f16", true, true).mma, 1);
  ASSERT_TRUE(widened.has_value());
  EXPECT_TRUE(widened->widens());
  EXPECT_EQ(widened->loaded_bits, 8);
  EXPECT_EQ(widened->element_bits, 16);
  EXPECT_FALSE(widened->tma_converts());
  EXPECT_FALSE(StageOperand(*Product("f8E5M2", "f32", true, true).mma, 1).has_value());
}

TEST(Staging, WideningHasNoBankConflicts) {
  for (int columns : {64, 128, 256}) {
    const Parsed p = Product("f8E5M2", "f16", true, true, columns);
    const StagedTile wide = *StageOperand(*p.mma, 1);
    for (int warps : {4, 8}) {
      const Layout layout = WideningLayout(wide, warps);
      EXPECT_TRUE(layout.IsSurjective());
      for (const StagedTile& lies : {wide.AsLoaded(), wide}) {
        const Layout in_shared = InShared(lies, layout);
        const VectorAccess access = Vectorise(in_shared, lies.element_bits, 0, 16);
        EXPECT_EQ(access.vector, 128 / lies.element_bits);
        EXPECT_EQ(BankWavefronts(in_shared, access, lies.element_bits),
                  LeastWavefronts(in_shared, access, lies.element_bits))
            << columns << " columns, " << warps << " warps, " << lies.element_bits << " bits";
      }
    }
  }
}

}  // namespace
}  // namespace tile::codegen
