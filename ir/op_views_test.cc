// Views and what they say of every operation, against the table that FormatInfo holds.
#include "ir/op_views.h"

#include <iterator>
#include <type_traits>

#include "gtest/gtest.h"
#include "ir/builder.h"
#include "ir/loops.h"

namespace tile::ir {
namespace {

// What an operation lacks is no method of its view.
template <class View>
concept HasMask = requires(View v) {
  v.mask();
};
template <class View>
concept HasOrdering = requires(View v) {
  v.ordering();
};
template <class View>
concept HasResultToken = requires(View v) {
  v.result_token();
};
template <class View>
concept HasViewPosition = requires(View v) {
  v.view_at();
};
static_assert(HasMask<LoadPtrOp> && !HasMask<LoadViewOp>);
static_assert(HasMask<OpView<AnyOf<Opcode::kLoadPtr, Opcode::kStorePtr>>>);
static_assert(!HasMask<OpView<AnyOf<Opcode::kLoadPtr, Opcode::kLoadView>>>, "a field that one of them lacks");
static_assert(!HasOrdering<OpView<AnyOf<Opcode::kLoadPtr, Opcode::kCmpF>>>, "two enumerations of one name");
static_assert(HasResultToken<AccessOp> && !HasResultToken<GdcWaitOp>);
static_assert(HasViewPosition<StoreViewOp> && !HasViewPosition<OpView<AnyOf<Opcode::kConstant>>>);

static_assert(std::is_same_v<decltype(std::declval<LoadViewOp>().scope()), std::optional<MemoryScope>>);
static_assert(std::is_same_v<decltype(std::declval<AtomicRmwOp>().scope()), MemoryScope>);
static_assert(std::is_same_v<decltype(std::declval<OrderedOp>().scope()), std::optional<MemoryScope>>);
static_assert(std::is_same_v<decltype(std::declval<CmpFOp>().ordering()), ComparisonOrdering>);
static_assert(std::is_same_v<decltype(std::declval<ConstantOp>().value()), const Dense&>);
static_assert(std::is_same_v<decltype(std::declval<AssumeOp>().value()), Value*>);

class OpViewsTest : public testing::Test {
 protected:
  Value* Param(int i) { return f_->param(i); }

  Module m_;
  Type i32_ = m_.types().Scalar(Elem::kI32), token_ = m_.types().Token();
  Type pointers_ = m_.types().Tile(Element::Pointer(Elem::kI32), {8}),
       tile_ = m_.types().Tile(Element::Number(Elem::kI32), {8});
  Function* f_ = m_.AddFunction("k", {i32_, i32_, i32_, pointers_, tile_});
  Builder b_{&m_, f_->body()};
};

TEST_F(OpViewsTest, OptionalOperandsAreNullOrShiftWhatFollows) {
  Value* before = b_.Create(Opcode::kMakeToken, {}, {token_})->result(0);
  const Op* bare = b_.Create(Opcode::kLoadPtr, {{Param(3)}}, {tile_, token_});
  EXPECT_EQ(LoadPtrOp(bare).source(), Param(3));
  EXPECT_EQ(LoadPtrOp(bare).mask(), nullptr);
  EXPECT_EQ(LoadPtrOp(bare).mask_at(), -1);
  EXPECT_EQ(LoadPtrOp(bare).token(), nullptr);
  EXPECT_FALSE(LoadPtrOp(bare).scope().has_value());
  EXPECT_EQ(LoadPtrOp(bare).hints(), nullptr);

  const Op* ordered =
      b_.Create(Opcode::kLoadPtr, {{Param(3)}, {}, {Param(4)}, {before}}, {tile_, token_},
                {{"ordering", Attr::Enum(MemoryOrdering::kAcquire)}, {"scope", Attr::Enum(MemoryScope::kSys)}});
  EXPECT_EQ(LoadPtrOp(ordered).padding_value(), Param(4));
  EXPECT_EQ(LoadPtrOp(ordered).token(), before);
  EXPECT_EQ(LoadPtrOp(ordered).token_at(), 2);
  EXPECT_EQ(LoadPtrOp(ordered).result_token(), ordered->result(1));
  EXPECT_EQ(LoadPtrOp(ordered).scope(), MemoryScope::kSys);
  EXPECT_EQ(OrderedOp(ordered).ordering(), MemoryOrdering::kAcquire);
  EXPECT_EQ(AccessOp(ordered).token(), before);
}

TEST_F(OpViewsTest, ViewsOfSeveralOperationsFindAFieldInEachFormat) {
  const Op* store = b_.Create(Opcode::kStorePtr, {{Param(3)}, {Param(4)}}, {token_});
  const Op* update = b_.Create(Opcode::kAtomicRmw, {{Param(3)}, {Param(4)}}, {tile_, token_},
                               {{"ordering", Attr::Enum(MemoryOrdering::kRelease)}});
  EXPECT_EQ(AccessOp(store).result_token(), store->result(0));
  EXPECT_EQ(AccessOp(update).result_token(), update->result(1));
  EXPECT_EQ(OrderingOf(*update), MemoryOrdering::kRelease);
  EXPECT_EQ(FindOperand(*update, Field::kPointers), Param(3));
  EXPECT_EQ(FindOperand(*update, Field::kMask), nullptr);
  EXPECT_EQ(FindOperand(*store, Field::kView), nullptr);
  EXPECT_EQ(FindAttr(*store, Field::kMode), nullptr);
  EXPECT_FALSE(As<LoadPtrOp>(store).has_value());
  EXPECT_FALSE(LoadPtrOp::Is(nullptr));
}

TEST_F(OpViewsTest, AWrongViewEndsTheProcess) {
  const Op* add = b_.Create(Opcode::kAddi, {{Param(0)}, {Param(1)}}, {i32_});
  EXPECT_DEATH(SubiOp{add}, "view of another operation");
  EXPECT_DEATH(AddiOp{static_cast<const Op*>(nullptr)}, "view of another operation");
  EXPECT_DEATH(add->operand("left"), "no such operand");
  EXPECT_DEATH(add->attr("lhs"), "no such attribute");
}

TEST_F(OpViewsTest, LoopsCarryValuesThroughInitArgumentNextAndResult) {
  Op* loop = b_.Create(Opcode::kFor, {{Param(0)}, {Param(1)}, {Param(2)}, {Param(3), Param(4)}}, {pointers_, tile_});
  Block* body = b_.AddRegion(loop, 0, {i32_, pointers_, tile_});
  {
    Builder::Scope scope(b_, body);
    b_.Create(Opcode::kContinue, {{body->arg(1), body->arg(2)}}, {});
  }
  const CarryingLoop carrying(*loop);
  ASSERT_EQ(carrying.num_carried(), 2);
  EXPECT_EQ(carrying.index(), body->arg(0));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(carrying.init(i), Param(3 + i));
    EXPECT_EQ(loop->operand(carrying.init_at(i)), Param(3 + i));
    EXPECT_EQ(carrying.arg(i), body->arg(1 + i));
    EXPECT_EQ(carrying.next(i), body->arg(1 + i));
    EXPECT_EQ(carrying.result(i), loop->result(i));
    EXPECT_EQ(carrying.carried_by(body->arg(1 + i)), i);
    EXPECT_EQ(ReceiverOf(*carrying.latch(), i), body->arg(1 + i));
  }
  EXPECT_EQ(carrying.carried_by(body->arg(0)), -1);
  EXPECT_EQ(carrying.carried_by(Param(0)), -1);
  EXPECT_EQ(carrying.carried_by_operand(2), -1);
  EXPECT_EQ(carrying.carried_by_operand(4), 1);
  EXPECT_EQ(BoundsOf(ForOp(loop))[2], Param(2));
  EXPECT_EQ(&CarryingLoop::Around(body->arg(1))->op(), loop);
  EXPECT_FALSE(CarryingLoop::Around(Param(0)).has_value());
  EXPECT_FALSE(CarryingLoop::Around(loop->result(0)).has_value());
}

TEST_F(OpViewsTest, BranchesGiveTheirOperandsToWhatTheyEnd) {
  Op* loop = b_.Create(Opcode::kLoop, {{Param(4)}}, {i32_});
  Block* body = b_.AddRegion(loop, 0, {tile_});
  Builder::Scope in_loop(b_, body);
  Op* branch = b_.Create(Opcode::kIf, {{Param(0)}}, {tile_});
  Block *then = b_.AddRegion(branch, 0, {}), *otherwise = b_.AddRegion(branch, 1, {});
  Op *leave = nullptr, *yield = nullptr;
  {
    Builder::Scope scope(b_, then);
    leave = b_.Create(Opcode::kBreak, {{Param(0)}}, {});
  }
  {
    Builder::Scope scope(b_, otherwise);
    yield = b_.Create(Opcode::kYield, {{Param(4)}}, {});
  }
  Op* next = b_.Create(Opcode::kContinue, {{branch->result(0)}}, {});
  EXPECT_EQ(ReceiverOf(*leave, 0), loop->result(0));
  EXPECT_EQ(ReceiverOf(*yield, 0), branch->result(0));
  EXPECT_EQ(ReceiverOf(*next, 0), body->arg(0));
  EXPECT_EQ(TargetOf(*leave), loop);
  const CarryingLoop carrying(*loop);
  EXPECT_EQ(carrying.index(), nullptr);
  EXPECT_EQ(carrying.latch(), next);
  EXPECT_DEATH(carrying.result(0), "what its break says");
}

// Every field of every format is where FormatInfo has it.
TEST(Places, AgreeWithTheFormats) {
  for (const FormatInfo& f : AllFormats()) {
    int named = 0;
    for (int i = 0; i < kNumFields; ++i) {
      const auto field = static_cast<Field>(i);
      const FieldPlace p = f.place(field);
      EXPECT_EQ(p.operand, f.operand_index(FieldName(field)));
      EXPECT_EQ(p.attr, f.attr_index(FieldName(field)));
      EXPECT_EQ(p.result, f.result_index(FieldName(field)));
      named += (p.operand >= 0) + (p.attr >= 0) + (p.result >= 0);
    }
    EXPECT_EQ(named, static_cast<int>(f.operands.size() + f.attrs.size() + f.results.size())) << f.name;
  }
}

}  // namespace
}  // namespace tile::ir
