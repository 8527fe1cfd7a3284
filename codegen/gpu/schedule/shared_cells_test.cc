#include "codegen/gpu/schedule/shared_cells.h"

#include "codegen/gpu/schedule/terms.h"
#include "gtest/gtest.h"
#include "ir/builder.h"

namespace tile::codegen::schedule {
namespace {

class Cells : public testing::Test {
 protected:
  Cells() {
    ir::Function* f = module_.AddFunction("k", {});
    ir::Builder b(&module_, f->body());
    op_ = b.Create(ir::Opcode::kReturn, {{}}, {});
  }
  FaultKind Write(Span span, uint64_t name, int part = 0, int parts = 1) {
    return cells_.BeginWrite(span, {op_, name, part, parts}).kind;
  }
  FaultKind Read(Span span, int agent = 0) { return cells_.BeginRead(span, {op_, agent}, &name_).kind; }

  ir::Module module_;
  const ir::Op* op_;
  SharedCells cells_;
  uint64_t name_ = 0;
};

TEST_F(Cells, AreReadWhenTheyAreFull) {
  EXPECT_EQ(Read({0, 64}), FaultKind::kUnfilled);
  EXPECT_EQ(Write({0, 64}, 7), FaultKind::kNone);
  EXPECT_EQ(Read({0, 64}), FaultKind::kUnfilled);
  cells_.Land({0, 64}, 0);
  EXPECT_EQ(Read({0, 64}), FaultKind::kNone);
  EXPECT_EQ(name_, 7u);
}

TEST_F(Cells, AreNotOverwrittenWhileTheyAreRead) {
  Write({0, 64}, 7);
  EXPECT_EQ(Write({32, 64}, 8), FaultKind::kOverwritten) << "the first copy has not landed";
  cells_.Land({0, 64}, 0);
  Read({0, 64}, 1);
  Read({0, 64}, 2);
  cells_.EndRead({0, 64}, {op_, 1});
  EXPECT_EQ(Write({0, 64}, 8), FaultKind::kOverwritten) << "agent 2 still reads";
  cells_.EndRead({0, 64}, {op_, 2});
  EXPECT_EQ(Write({0, 64}, 8), FaultKind::kNone);
}

TEST_F(Cells, ArePutTogetherOfParts) {
  EXPECT_EQ(Write({0, 64}, 7, 0, 2), FaultKind::kNone);
  cells_.Land({0, 64}, 0);
  EXPECT_EQ(Read({0, 64}), FaultKind::kUnfilled);
  EXPECT_EQ(Write({0, 64}, 8, 1, 2), FaultKind::kOtherTile);
  EXPECT_EQ(Write({0, 64}, 7, 1, 2), FaultKind::kNone);
  cells_.Land({0, 64}, 1);
  EXPECT_EQ(Read({0, 64}), FaultKind::kNone);
}

TEST_F(Cells, HaveTheNameOfTheWholeTile) {
  Write({0, 64}, 7);
  Write({64, 64}, 8);
  cells_.Land({0, 64}, 0);
  cells_.Land({64, 64}, 0);
  EXPECT_EQ(Read({64, 64}), FaultKind::kNone);
  EXPECT_EQ(name_, 8u);
  EXPECT_EQ(Read({32, 64}), FaultKind::kNone);
  EXPECT_NE(name_, 7u);
  EXPECT_NE(name_, 8u);
}

}  // namespace
}  // namespace tile::codegen::schedule
