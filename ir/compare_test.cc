#include "ir/compare.h"

#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/builder.h"

namespace tile::ir {
namespace {

using testing::HasSubstr;

// A loop that adds a parameter to itself: enough structure to differ in.
std::unique_ptr<Module> Make() {
  auto m = std::make_unique<Module>();
  const Type i32 = m->types().Scalar(Elem::kI32), i1 = m->types().Scalar(Elem::kI1);
  Function* f = m->AddFunction("k", {i32, i1});
  Builder b(m.get(), f->body());
  Op* loop = b.Create(Opcode::kLoop, {{f->param(0)}}, {i32});
  {
    Builder::Scope scope(b, b.AddRegion(loop, 0, {i32}));
    Value* sum = b.Create(Opcode::kAddi, {{b.block()->arg(0)}, {f->param(0)}}, {i32})->result(0);
    b.Create(Opcode::kContinue, {{sum}}, {});
  }
  b.Create(Opcode::kAssert, {{f->param(1)}}, {}, {{"message", Attr::String(AttrKind::kString, "no")}});
  b.Create(Opcode::kReturn, {}, {});
  m->AddGlobal("g", Elem::kF32, 4);
  m->debug.push_back({});
  return m;
}

Op* Sum(Module& m) { return m.functions[0]->body()->front()->region(0)->front(); }

TEST(Compare, EqualModules) {
  auto a = Make(), b = Make();
  b->functions[0]->param(0)->name = "x";
  b->functions[0]->body()->front()->pos = {3, 4};
  b->source_name = "b.tile";
  EXPECT_EQ(FirstDifference(*a, *b), "");
  EXPECT_TRUE(Equal(*a, *b));
}

TEST(Compare, TypesOfTwoContexts) {
  TypeContext a, b;
  const Element f32 = Element::Number(Elem::kF32);
  const auto view = [&](TypeContext& c, int64_t n) { return c.PartitionView({4}, c.TensorView(f32, {kDynamic}, {n})); };
  EXPECT_TRUE(Equal(view(a, 1), view(b, 1)));
  EXPECT_FALSE(Equal(view(a, 1), view(b, 2)));
}

const AttrInfo kNote{.name = "note", .kind = AttrKind::kInt}, kOther{.name = "other", .kind = AttrKind::kFlag};

TEST(Compare, Annotations) {
  auto a = Make(), b = Make();
  a->Annotate(Sum(*a), kNote, Attr::Int(AttrKind::kInt, 3));
  b->Annotate(Sum(*b), kNote, Attr::Int(AttrKind::kInt, 4));
  EXPECT_THAT(FirstDifference(*a, *b), HasSubstr("op 1 (addi): annotation note: 3, other: 4"));
  b->Annotate(Sum(*b), kNote, Attr::Int(AttrKind::kInt, 3));
  EXPECT_TRUE(Equal(*a, *b)) << "the later value takes the place of the earlier one";
  a->Annotate(Sum(*a), kOther, Attr::Flag(true));
  EXPECT_FALSE(Equal(*a, *b));
  Sum(*b)->DropAnnotations();
  b->Annotate(Sum(*b), kOther, Attr::Flag(true));
  EXPECT_THAT(FirstDifference(*a, *b), HasSubstr("annotation: note, other: other"));
}

TEST(Compare, NamesTheFirstDifference) {
  const struct {
    std::function<void(Module&)> change;
    const char* says;
  } kCases[] = {
      {[](Module& m) { m.name = "x"; }, "module name: kernels, other: x"},
      {[](Module& m) { m.producer = "x"; }, "producer"},
      {[](Module& m) { m.AddFunction("z", {}); }, "number of kernels: 1, other: 2"},
      {[](Module& m) { m.debug[0].line = 7; }, "debug record 1"},
      {[](Module& m) { m.globals[0]->alignment = 8; }, "global @g, alignment: 0, other: 8"},
      {[](Module& m) { m.functions[0]->blocks_per_cluster[1] = 2; }, "@k, blocks per cluster: 1, other: 2"},
      {[](Module& m) { m.functions[0]->interface = std::make_unique<Interface>(); }, "has an interface"},
      {[](Module& m) { Sum(m)->set_operand(1, Sum(m)->operand(0)); }, "@k, op 1 (addi): operand 1: value: 0, other: 3"},
      {[](Module& m) { Sum(m)->set_attr("overflow", Attr::Enum(Overflow::kNoWrap)); },
       "attribute overflow: none, other: no_wrap"},
      {[](Module& m) { Sum(m)->result(0)->set_type(m.types().Scalar(Elem::kI64)); },
       "type of result 0: tile<i32>, other: tile<i64>"},
      {[](Module& m) { Sum(m)->loc = 1; }, "location: 0, other: 1"},
      {[](Module& m) { m.functions[0]->body()->back()->prev()->set_attr(0, Attr::String(AttrKind::kString, "yes")); },
       "op 3 (assert): attribute message: \"no\", other: \"yes\""},
      {[](Module& m) { m.Annotate(Sum(m), kNote, Attr::Int(AttrKind::kInt, 3)); },
       "next annotation: none, other: note"},
      {[](Module& m) { m.functions[0]->body()->back()->Erase(); }, "next op: return, other: end of the block"},
      {[](Module& m) { m.functions[0]->body()->front()->set_region(0, nullptr); }, "the region has a block"},
  };
  for (const auto& c : kCases) {
    auto a = Make(), b = Make();
    c.change(*b);
    EXPECT_THAT(FirstDifference(*a, *b), HasSubstr(c.says));
    EXPECT_FALSE(Equal(*b, *a)) << c.says;
  }
}

TEST(Compare, DebugCanBeLeftOut) {
  auto a = Make(), b = Make();
  b->debug.clear();
  Sum(*b)->loc = 1;
  EXPECT_FALSE(Equal(*a, *b));
  EXPECT_TRUE(Equal(*a, *b, {.debug = false}));
}

}  // namespace
}  // namespace tile::ir
