#include "ir/op_info.h"

#include "absl/container/flat_hash_set.h"
#include "gtest/gtest.h"

namespace tile::ir {
namespace {

TEST(OpTable, HoldsEveryNumberedOperation) {
  int numbered = static_cast<int>(AllStructures().size());
  for (const OpInfo& op : AllOps()) numbered += !op.is_extension();
  EXPECT_EQ(numbered, 108);
}

TEST(OpTable, LookUpByNumberAndMnemonic) {
  absl::flat_hash_set<std::string> mnemonics;
  for (const OpInfo& op : AllOps()) {
    EXPECT_TRUE(mnemonics.insert(op.mnemonic).second) << op.mnemonic;
    EXPECT_EQ(FindOp(op.mnemonic), &op);
    EXPECT_EQ(FindOp(static_cast<int>(op.opcode)), &op);
  }
  EXPECT_EQ(FindOp("pow"), GetOp(Opcode::kFpowf));
  EXPECT_EQ(FindOp(0x19), nullptr);
  EXPECT_EQ(FindOp(-1), nullptr);
  EXPECT_EQ(FindOp(0xFFFF), nullptr);
  EXPECT_EQ(FindOp("entry"), nullptr);
}

TEST(OpTable, FormatNotation) {
  const FormatInfo& load = GetFormat(Format::kLoadView);
  ASSERT_EQ(load.operands.size(), 3u);
  EXPECT_EQ(load.operands[1].arity, Arity::kVariadic);
  EXPECT_EQ(load.operands[2].arity, Arity::kOptional);
  EXPECT_TRUE(load.results_counted);
  EXPECT_FALSE(load.operands_counted);
  const AttrInfo& inbounds = load.attrs[load.attr_index("inbounds")];
  EXPECT_EQ(inbounds.kind, AttrKind::kBools);
  EXPECT_EQ(inbounds.since, 1304);
  EXPECT_TRUE(load.attrs[load.attr_index("scope")].optional);
  const FormatInfo& exp = GetFormat(Format::kExp);
  EXPECT_EQ(exp.attrs[0].default_value, static_cast<int>(Rounding::kFull));
  EXPECT_EQ(exp.attrs[0].since, 1303);
  EXPECT_TRUE(GetFormat(Format::kFor).operands_counted);
}

TEST(Elements, GroupsAndSizes) {
  EXPECT_EQ(MemoryBits(Elem::kI1), 8);
  EXPECT_EQ(MemoryBits(Elem::kF4E2M1FN), 4);
  EXPECT_EQ(MemoryBits(Elem::kTF32), 32);
  EXPECT_FALSE(IsFp(Elem::kTF32));
  EXPECT_TRUE(IsFloat(Elem::kTF32));
  EXPECT_EQ(FindElem("fnv8E5M3FNU"), Elem::kF8E5M3FNU);
  EXPECT_EQ(FindElemByTag(130), Elem::kF8E5M3FNU);
  EXPECT_FALSE(FindElem("ptr").has_value());
}

}  // namespace
}  // namespace tile::ir
