#include "ir/module.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir/builder.h"

namespace tile::ir {
namespace {

const Element kF32 = Element::Number(Elem::kF32);

TEST(Type, EqualTypesAreOnePointer) {
  TypeContext types;
  EXPECT_EQ(types.Tile(kF32, {4, 8}), types.Tile(kF32, {4, 8}));
  EXPECT_FALSE(types.Tile(kF32, {4, 8}) == types.Tile(kF32, {8, 4}));
  EXPECT_EQ(types.Tile(kF32, {4, 8}).num_elements(), 32);
}

TEST(Type, Spelling) {
  TypeContext types;
  EXPECT_EQ(types.Scalar(Element::Pointer(Elem::kF16)).ToString(), "tile<ptr<f16>>");
  const Type tensor = types.TensorView(kF32, {kDynamic, 8}, {kDynamic, 1});
  EXPECT_EQ(tensor.ToString(), "tensor_view<?x8xf32, strides=[?,1]>");
  EXPECT_EQ(types.PartitionView({4, 2}, tensor, {1, 0}, Padding::kZero).ToString(),
            "partition_view<tile=(4x2), padding_value = zero, tensor_view<?x8xf32, strides=[?,1]>, dim_map=[1, 0]>");
}

TEST(Type, HugeShapesSaturate) {
  TypeContext types;
  EXPECT_GT(types.Tile(kF32, {int64_t{1} << 40, int64_t{1} << 40}).num_elements(), int64_t{1} << 60);
}

TEST(Module, GlobalsByName) {
  Module m;
  EXPECT_EQ(m.FindGlobal("g0"), nullptr);
  std::vector<Global*> added;
  for (int i = 0; i < 1000; ++i) added.push_back(m.AddGlobal("g" + std::to_string(i), Elem::kI32, 1));
  Global* again = m.AddGlobal("g7", Elem::kF32, 2);
  EXPECT_EQ(m.FindGlobal("g7"), added[7]) << "the first of a name counts, the verifier refuses the other";
  EXPECT_NE(again, added[7]);
  for (size_t i = 0; i < added.size(); ++i) EXPECT_EQ(m.FindGlobal("g" + std::to_string(i)), added[i]);
  EXPECT_EQ(m.FindGlobal("g1000"), nullptr);
}

TEST(Module, UsesFollowOperands) {
  Module m;
  const Type i32 = m.types().Scalar(Elem::kI32);
  Function* f = m.AddFunction("k", {i32, i32});
  Builder b(&m, f->body());
  Op* add = b.Create(Opcode::kAddi, {{f->param(0)}, {f->param(0)}}, {i32});
  Op* neg = b.Create(Opcode::kNegi, {{add->result(0)}}, {i32});
  EXPECT_EQ(add->operand("lhs"), f->param(0));
  f->param(0)->ReplaceAllUsesWith(f->param(1));
  EXPECT_FALSE(f->param(0)->has_uses());
  EXPECT_EQ(add->operand("rhs"), f->param(1));
  neg->Erase();
  EXPECT_TRUE(add->unused());
  EXPECT_EQ(f->body()->front(), add);
  EXPECT_EQ(f->body()->back(), add);
}

TEST(Module, OptionalOperandsAndDefaults) {
  Module m;
  const Type p = m.types().Scalar(Element::Pointer(Elem::kF32));
  const Type v = m.types().Scalar(Elem::kF32), token = m.types().Token();
  Function* f = m.AddFunction("k", {p});
  Builder b(&m, f->body());
  Op* t = b.Create(Opcode::kMakeToken, {}, {token});
  Op* load = b.Create(Opcode::kLoadPtr, {{f->param(0)}, {}, {}, {t->result(0)}}, {v, token});
  EXPECT_EQ(load->operand("mask"), nullptr);
  EXPECT_EQ(load->operand("token"), t->result(0));
  EXPECT_FALSE(load->attr("scope").present());
  EXPECT_EQ(load->attr("ordering").as_enum<MemoryOrdering>(), MemoryOrdering::kWeak);
  Op* exp = b.Create(Opcode::kExp, {{load->result(0)}}, {v});
  EXPECT_EQ(exp->attr("rounding").as_enum<Rounding>(), Rounding::kFull);
}

TEST(Module, WalkVisitsRegions) {
  Module m;
  const Type i1 = m.types().Scalar(Elem::kI1);
  Function* f = m.AddFunction("k", {i1});
  Builder b(&m, f->body());
  Op* branch = b.Create(Opcode::kIf, {{f->param(0)}}, {});
  {
    Builder::Scope s(b, b.AddRegion(branch, 0, {}));
    b.Create(Opcode::kReturn, {}, {});
  }
  b.Create(Opcode::kReturn, {}, {});
  int n = 0;
  Walk(f->body(), [&](Op*) { ++n; });
  EXPECT_EQ(n, 3);
  EXPECT_EQ(branch->region(0)->function(), f);
  EXPECT_EQ(branch->region(1), nullptr);
}

}  // namespace
}  // namespace tile::ir
