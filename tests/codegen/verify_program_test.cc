#include "codegen/passes/verify_program.h"

#include <functional>

#include "absl/strings/str_cat.h"
#include "codegen/gpu/ops.h"
#include "codegen/layout/layout.h"
#include "codegen/passes/gpu_text.h"
#include "codegen/passes/layouts/assign_layouts.h"
#include "codegen/passes/mma/choose_mma.h"
#include "codegen/passes/tile_code.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/mma/mma_layout.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/target/decisions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/compare.h"
#include "ir/text/printer.h"
#include "ir/verify/verify.h"

namespace tile::codegen {
namespace {

using testing::HasSubstr;

// A loop over a product whose operands are copied ahead.
constexpr char kText[] = R"(
entry @product(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
  %at = make_tensor_view %a, shape = [64, 64], strides = [64, 1]
  %bt = make_tensor_view %b, shape = [64, 64], strides = [64, 1]
  %ct = make_tensor_view %c, shape = [64, 64], strides = [64, 1]
  %av = make_partition_view %at : partition_view<tile=(64x32), padding_value = zero>
  %bv = make_partition_view %bt : partition_view<tile=(32x64), padding_value = zero>
  %cv = make_partition_view %ct : partition_view<tile=(64x64)>
  %first = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0> : tile<64x64xf32>
  %sum = for %k in (%first to %n, step %one) iter_values(%acc = %zero) {
    %x, %y = copy_ahead iter_values(%later = %k) : tile<i32> -> tile<64x32xf16>, tile<32x64xf16> {
      %p = load_view_tko weak %av[%first, %later]
      %q = load_view_tko weak %bv[%later, %first]
      yield %p, %q
    }
    %next = mmaf %x, %y, %acc
    continue %next
  }
  %twice = addf %sum, %sum
  store_view_tko weak %twice, %cv[%first, %first]
  return
}
)";

std::unique_ptr<ir::Module> Read() {
  ir::Diagnostics diagnostics;
  LayoutTable layouts;
  std::unique_ptr<ir::Module> module = ParseGpu(kText, "test.tile", &layouts, &diagnostics);
  EXPECT_NE(module, nullptr) << diagnostics.ToString();
  return module;
}

std::unique_ptr<ir::Module> ReadWithStages() {
  std::unique_ptr<ir::Module> module = Read();
  DecideStages(module.get(), module->functions[0].get());
  return module;
}

ir::Op* Find(ir::Module& module, absl::string_view mnemonic) {
  ir::Op* found = nullptr;
  ir::Walk(module.functions[0]->body(), [&](ir::Op* op) {
    if (found == nullptr && op->info()->mnemonic == mnemonic) found = op;
  });
  return found;
}

const Target& Ampere() { return *FindTarget(80); }

Schedule WithStages(int stages) {
  Schedule s;
  s.num_warps = 4;
  s.stages = stages;
  return s;
}

std::string Faults(ir::Module& module, const Schedule* schedule) { return ProgramFaults(Ampere(), module, schedule); }

TEST(VerifyProgram, NothingIsWrong) {
  const auto module = Read();
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Faults(*module, nullptr), "");
  DecideStages(module.get(), module->functions[0].get());
  EXPECT_EQ(Faults(*module, nullptr), "");
  const Schedule schedule = WithStages(3);
  EXPECT_EQ(Faults(*module, &schedule), "");
  EXPECT_EQ(Faults(*module, &schedule), "");
  LayoutTable layouts;
  ChooseMma(Ampere(), schedule, module.get(), module->functions[0].get());
  ASSERT_TRUE(AssignLayouts(schedule, module.get(), module->functions[0].get(), &layouts).ok());
  EXPECT_EQ(Faults(*module, &schedule), "");
}

TEST(VerifyProgram, RulesOfTileCode) {
  const auto module = Read();
  Find(*module, "addf")->set_operand(0, Find(*module, "constant")->result(0));
  EXPECT_THAT(Faults(*module, nullptr), HasSubstr("error[addf."));
}

TEST(VerifyProgram, FetchesBelongToTheirLoop) {
  auto module = Read();
  ir::Op* fetch = Find(*module, "copy_ahead");
  fetch->set_operand(0, Find(*module, "constant")->result(0));
  EXPECT_THAT(Faults(*module, nullptr),
              HasSubstr("test.tile:13:14: copy_ahead: does not take the loop's induction variable"));

  module = Read();
  fetch = Find(*module, "copy_ahead");
  ir::Op* loop = fetch->parent();
  ir::Op* mma = Find(*module, "mmaf");
  fetch->Unlink();
  module->InsertBefore(loop->block(), loop, fetch);
  EXPECT_THAT(Faults(*module, nullptr), HasSubstr("stands in no for"));

  module = Read();
  mma = Find(*module, "mmaf");
  mma->set_operand(0, Find(*module, "load_view_tko")->result(0));
  EXPECT_THAT(Faults(*module, nullptr), HasSubstr("a result is not used"));
}

TEST(VerifyProgram, Rings) {
  const auto module = ReadWithStages();
  Schedule schedule = WithStages(0);
  EXPECT_THAT(Faults(*module, &schedule), HasSubstr("there are 0 stages for rings of 8192 bytes"));
  schedule = WithStages(64);
  EXPECT_THAT(Faults(*module, &schedule), HasSubstr("rings and shared arrays take 524288 bytes, sm_80 has"));
  schedule = WithStages(3);
  schedule.producer = true;
  EXPECT_THAT(Faults(*module, &schedule), HasSubstr("a producer warp"));
}

TEST(VerifyProgram, Stages) {
  const Schedule schedule = WithStages(3);
  const auto with = [&](const std::function<void(ir::Module*, ir::Op*)>& change) {
    const auto module = ReadWithStages();
    change(module.get(), Find(*module, "copy_ahead"));
    return Faults(*module, &schedule);
  };
  EXPECT_EQ(with([](ir::Module*, ir::Op*) {}), "");
  EXPECT_THAT(with([](ir::Module*, ir::Op* copy) { copy->DropAnnotations(); }),
              HasSubstr("copy_ahead: its stages don't say where each result lies"));
  EXPECT_THAT(with([](ir::Module* m, ir::Op* copy) { Decide<Decision::kSwizzle>(m, copy, {64}); }),
              HasSubstr("its stages don't say where each result lies"));
  EXPECT_THAT(with([](ir::Module* m, ir::Op* copy) {
                Decide<Decision::kOffsets>(m, copy, {0, 2048});
              }),
              HasSubstr("result 0 of 4096 bytes lies at 0 of a stage, before 2048"));
}

TEST(VerifyProgram, Layouts) {
  const Schedule schedule = WithStages(3);
  const auto with = [&](const std::function<void(ir::Module&, LayoutTable&)>& change) {
    const auto module = ReadWithStages();
    LayoutTable layouts;
    ChooseMma(Ampere(), schedule, module.get(), module->functions[0].get());
    EXPECT_TRUE(AssignLayouts(schedule, module.get(), module->functions[0].get(), &layouts).ok());
    change(*module, layouts);
    return Faults(*module, &schedule);
  };
  const auto set = [](ir::Module& module, ir::Value* v, const Layout* layout) { SetLayout(&module, v, layout); };
  EXPECT_THAT(with([&](ir::Module& m, LayoutTable&) { set(m, Find(m, "addf")->result(0), nullptr); }),
              HasSubstr("addf: tile<64x64xf32> has no layout"));
  EXPECT_THAT(with([&](ir::Module& m, LayoutTable& t) {
                set(m, Find(m, "addf")->result(0), t.Intern(Layout::Replicated({64, 64}, 4)));
              }),
              HasSubstr("several layouts"));
  EXPECT_THAT(with([&](ir::Module& m, LayoutTable& t) {
                set(m, Find(m, "addf")->result(0), t.Intern(Layout::Replicated({32, 64}, 4)));
              }),
              HasSubstr("is that of another shape"));
  EXPECT_THAT(with([&](ir::Module& m, LayoutTable& t) {
                set(m, Find(m, "addf")->result(0), t.Intern(Layout::Replicated({64, 64}, 8)));
              }),
              HasSubstr("is not for 4 warps"));
  EXPECT_THAT(with([&](ir::Module& m, LayoutTable&) { Find(m, "mmaf")->DropAnnotations(); }),
              HasSubstr("mmaf: has no instruction"));
  EXPECT_THAT(with([&](ir::Module& m, LayoutTable&) { Decide<Decision::kHeld>(&m, Find(m, "mmaf"), true); }),
              HasSubstr("mmaf: only an instruction that reads stages is swapped, held or promotes"));
  EXPECT_THAT(with([&](ir::Module& m, LayoutTable&) { Decide<Decision::kInstruction>(&m, Find(m, "mmaf"), "mma"); }),
              HasSubstr("mmaf: has an instruction that does not exist"));
  EXPECT_THAT(with([&](ir::Module& m, LayoutTable&) {
                Decide<Decision::kShape>(&m, Find(m, "mmaf"), {16, 8, 4});
              }),
              HasSubstr("mmaf: there is no mma.sync of this shape"));
  EXPECT_THAT(with([&](ir::Module& m, LayoutTable&) {
                Decide<Decision::kWarps>(&m, Find(m, "mmaf"), {2, 4});
              }),
              HasSubstr("mmaf: its warps are not 4"));
  const auto by_wgmma = [&](std::vector<int64_t> shape, std::vector<int64_t> groups, bool promotes) {
    return with([&](ir::Module& m, LayoutTable&) {
      ir::Op* mma = Find(m, "mmaf");
      Decide<Decision::kInstruction>(&m, mma, "wgmma");
      Decide<Decision::kShape>(&m, mma, shape);
      Decide<Decision::kWarpgroups>(&m, mma, groups);
      if (promotes) Decide<Decision::kPromotes>(&m, mma, true);
    });
  };
  EXPECT_THAT(by_wgmma({64, 64, 16}, {1, 1}, true), HasSubstr("mmaf: it promotes where sums are short"));
  EXPECT_THAT(by_wgmma({64, 64, 8}, {1, 1}, false), HasSubstr("there is no wgmma of this shape"));
  EXPECT_THAT(by_wgmma({64, 64, 16}, {2, 1}, false), HasSubstr("its warpgroups are not 4 warps"));
  EXPECT_THAT(by_wgmma({64, 128, 16}, {1, 1}, false), HasSubstr("more rows or columns than the product"));
}

TEST(TileCode, OfFetches) {
  const auto module = Read();
  const auto plain = TileCodeOf(*module);
  EXPECT_EQ(Find(*plain, "copy_ahead"), nullptr);
  ir::Diagnostics diagnostics;
  ir::Verify(*plain, &diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.ToString();
  ir::Op* load = Find(*plain, "load_view_tko");
  EXPECT_EQ(load->parent(), Find(*plain, "for"));
  EXPECT_EQ(Find(*plain, "mmaf")->operand(0), load->result(0));
  EXPECT_NE(Find(*module, "copy_ahead"), nullptr) << "the original stays";
}

TEST(GpuText, IsReadBack) {
  const auto module = Read();
  const std::string text = PrintGpu(*module);
  EXPECT_THAT(
      text,
      HasSubstr(
          "%copy_ahead:2 = copy_ahead iter_values(%later = %k) : tile<i32> -> tile<64x32xf16>, tile<32x64xf16> {"));
  ir::Diagnostics diagnostics;
  LayoutTable layouts;
  const auto again = ParseGpu(text, "again.tile", &layouts, &diagnostics);
  ASSERT_NE(again, nullptr) << diagnostics.ToString();
  EXPECT_EQ(PrintGpu(*again), text);
}

TEST(GpuText, LayoutsAreReadBack) {
  const auto module = ReadWithStages();
  LayoutTable layouts;
  ChooseMma(Ampere(), WithStages(3), module.get(), module->functions[0].get());
  ASSERT_TRUE(AssignLayouts(WithStages(3), module.get(), module->functions[0].get(), &layouts).ok());
  const std::string text = PrintGpu(*module);
  EXPECT_THAT(text, HasSubstr("layout = \"64x64 registers (0,1) "));
  ir::Diagnostics diagnostics;
  const auto again = ParseGpu(text, "again.tile", &layouts, &diagnostics);
  ASSERT_NE(again, nullptr) << diagnostics.ToString();
  EXPECT_EQ(ir::FirstDifference(*module, *again), "") << "types with the same layouts, arguments of loops included";
  EXPECT_EQ(PrintGpu(*again), text);
}

TEST(GpuText, WrongLayouts) {
  const auto read = [](absl::string_view annotation) {
    ir::Diagnostics diagnostics;
    LayoutTable layouts;
    const std::string text =
        absl::StrCat("entry @k() {\n  %x = constant <f32: 1> : tile<64xf32> {", annotation, "}\n  return\n}\n");
    const bool is_read = ParseGpu(text, "k.tile", &layouts, &diagnostics) != nullptr;
    EXPECT_EQ(is_read, diagnostics.ok());
    return diagnostics.ToString();
  };
  const std::string lanes = "lanes (2) (4) (8) (16) (32) warps -";
  EXPECT_EQ(read(absl::StrCat("layout = \"64 registers (1) ", lanes, "\"")), "");
  EXPECT_EQ(read("layout = \"-\""), "");
  EXPECT_THAT(read("layout = \"64 registers\""),
              HasSubstr("k.tile:2:8: error[gpu_text.layout]: this is no layout: 64 reg"));
  EXPECT_THAT(read(absl::StrCat("layout = \"32 registers (1) ", lanes, "\"")), HasSubstr("this is no layout"));
  EXPECT_THAT(read("layout = \"32 registers - lanes - warps -\""),
              HasSubstr("the layout of tile<64xf32> is that of another shape"));
  EXPECT_THAT(read("layout = \"-; -\""), HasSubstr("constant gives 1 tiles, 2 layouts are written"));
}

TEST(GpuText, DecisionsAreReadBack) {
  const auto module = ReadWithStages();
  ChooseMma(Ampere(), WithStages(3), module.get(), module->functions[0].get());
  const std::string text = PrintGpu(*module);
  EXPECT_THAT(text, HasSubstr("} {swizzle = [64, 128], row_rotation = [0, 0], offsets = [0, 4096]}\n"));
  EXPECT_THAT(text, HasSubstr(" {instruction = \"mma.sync\", shape = [16, 8, 16], warps = [2, 2]}\n"));
  ir::Diagnostics diagnostics;
  LayoutTable layouts;
  const auto again = ParseGpu(text, "again.tile", &layouts, &diagnostics);
  ASSERT_NE(again, nullptr) << diagnostics.ToString();
  EXPECT_EQ(PrintGpu(*again), text);
  EXPECT_EQ(StageOf(*Find(*again, "copy_ahead")).bytes, 8192);
  const MmaPlan plan = MmaPlanOf(*Find(*again, "mmaf")).value();
  EXPECT_EQ(plan.instruction, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  EXPECT_EQ(plan.tile.warps_n, 2);
  ir::Walk(TileCodeOf(*again)->functions[0]->body(), [](ir::Op* op) { EXPECT_EQ(op->annotations(), nullptr); });
}

}  // namespace
}  // namespace tile::codegen
