// The table reaches every operation under its own row: of tile code, of the GPU, and elementwise ones without a row.
#include "codegen/analysis/op_rules.h"

#include "codegen/gpu/ops.h"
#include "gtest/gtest.h"
#include "ir/ops.h"

namespace tile::codegen {
namespace {

namespace op = ir::ops;

const ir::Op* Unary(ir::Module* m, const ir::OpInfo* info, ir::Value* source, ir::Type result) {
  const uint32_t end = 1;
  ir::OpSpec spec;
  spec.info = info;
  spec.operands = {&source, 1};
  spec.operand_ends = {&end, 1};
  spec.results = {&result, 1};
  return m->CreateOp(spec);
}

TEST(OpRules, RowsAreFoundByTheOperation) {
  ir::Module m;
  const ir::Type tile = m.types().Tile(ir::Element::Number(ir::Elem::kI32), {8});
  ir::Builder b(&m, m.AddFunction("k", {tile})->body());
  ir::Value* x = b.block()->arg(0);

  const OpRule& shift = RuleOf(*op::Shli(b, x, x)->def());
  EXPECT_EQ(shift.divisor, DivisorRule::kShift);
  EXPECT_EQ(shift.layout, LayoutRule::kSame);
  const OpRule& without_row = RuleOf(*op::Mulhii(b, x, x)->def());
  EXPECT_EQ(without_row.slice, SliceRule::kSame);
  EXPECT_EQ(without_row.line, LineRule::kElementwise);
  EXPECT_EQ(without_row.divisor, DivisorRule::kUnknown);
  EXPECT_EQ(without_row.registers, RegisterRule::kOwn);
  // Numbered 0x8005, behind a gap: rows go by the position in the table, not by the number.
  const ir::Type floats = m.types().Tile(ir::Element::Number(ir::Elem::kF32), {8});
  EXPECT_EQ(RuleOf(*op::Erf(b, op::Splat(b, floats, 1))->def()).line, LineRule::kElementwise);
  EXPECT_EQ(RuleOf(*op::Splat(b, floats, 1)->def()).registers, RegisterRule::kNone);

  const ir::Op* convert = Unary(&m, GetGpuOp(GpuOpcode::kConvertLayout), x, tile);
  EXPECT_EQ(RuleOf(*convert).divisor, DivisorRule::kSource);
  EXPECT_EQ(RuleOf(*convert).registers, RegisterRule::kOwn);
}

TEST(OpRules, TilesThatAreOnlyMovedTakeTheirSourcesRegisters) {
  for (const ir::OpInfo& info : ir::AllOps()) {
    if (!info.has(ir::kMoves) || info.opcode == ir::Opcode::kExtract) continue;  // extract goes through shared memory
    ir::Module m;
    const ir::Type tile = m.types().Tile(ir::Element::Number(ir::Elem::kI32), {8});
    ir::Value* x = m.AddFunction("k", {tile})->param(0);
    const ir::Op* moves = Unary(&m, &info, x, tile);
    EXPECT_NE(RuleOf(*moves).registers, RegisterRule::kOwn) << info.mnemonic;
    EXPECT_NE(RuleOf(*moves).slice, SliceRule::kWhole) << info.mnemonic;
  }
}

}  // namespace
}  // namespace tile::codegen
