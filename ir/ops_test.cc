// A kernel with an operation of every format, built by its function and accepted by the verifier.

#include "ir/ops.h"

#include <set>

#include "gtest/gtest.h"
#include "ir/verify/verify.h"

namespace tile::ir {
namespace {

namespace op = ops;
using ops::Values;

class Everything : public testing::Test {
 protected:
  Type Tile(Elem e, std::vector<int64_t> shape) { return m.types().Tile(Element::Number(e), shape); }

  void Arithmetic() {
    Value* x = op::Splat(b, Tile(Elem::kF32, {4, 8}), 1.5);
    Value* n = op::Integer(b, Tile(Elem::kI32, {4, 8}), -7);
    for (const auto& unary :
         {op::Absf(b, x), op::Negf(b, x), op::Ceil(b, x), op::Floor(b, x), op::Cos(b, x), op::Cosh(b, x), op::Sin(b, x),
          op::Sinh(b, x), op::Tan(b, x), op::Log(b, x), op::Log2(b, x)}) {
      EXPECT_EQ(unary->type(), x->type());
    }
    op::Exp(b, x, Rounding::kApprox);
    op::Tanh(b, x);
    op::Exp2(b, x, /*ftz=*/true);
    op::Rsqrt(b, x);
    op::Sqrt(b, x, Rounding::kApprox);
    op::Addf(b, x, x, Rounding::kZero, true);
    op::Divf(b, op::Mulf(b, x, x), op::Subf(b, x, x), Rounding::kFull);
    op::Fma(b, x, x, x);
    op::Maxf(b, x, op::Minf(b, x, x), true);
    op::Atan2(b, op::Remf(b, x, x), op::Fpowf(b, x, x));
    op::Fpowi(b, x, n);
    op::Absi(b, op::Negi(b, n, Overflow::kNoWrap));
    op::Muli(b, op::Addi(b, n, n), op::Subi(b, n, n, Overflow::kNoSignedWrap));
    op::Divi(b, op::Mulhii(b, n, n), op::Remi(b, n, n, Signedness::kSigned), Signedness::kSigned,
             Rounding::kNegativeInf);
    op::Maxi(b, n, op::Mini(b, n, n, Signedness::kUnsigned), Signedness::kSigned);
    op::Shli(b, n, op::Shri(b, n, n, Signedness::kSigned));
    op::Andi(b, n, op::Ori(b, n, op::Xori(b, n, n)));
    Value* less = op::CmpI(b, ComparisonPredicate::kLessThan, n, n, Signedness::kSigned);
    EXPECT_EQ(less->type(), Tile(Elem::kI1, {4, 8}));
    op::Select(b, less, x, x);
    op::Assert(b, op::CmpF(b, ComparisonPredicate::kEqual, x, x), "equal");
  }

  void ConversionsAndShapes() {
    const Type f16 = Tile(Elem::kF16, {8}), i32 = Tile(Elem::kI32, {8}), i64 = Tile(Elem::kI64, {8});
    Value* n = op::Iota(b, i32);
    Value* x = op::IToF(b, f16, n, Signedness::kSigned);
    op::Bitcast(b, Tile(Elem::kI16, {8}), x);
    op::FToI(b, i32, op::FToF(b, Tile(Elem::kF32, {8}), x), Signedness::kSigned, /*saturating=*/true);
    Value* address = op::Exti(b, i64, n, Signedness::kUnsigned);
    op::Trunci(b, i32, address, Overflow::kNoWrap);
    Value* p = op::IntToPtr(b, m.types().Tile(Element::Pointer(Elem::kF16), {8}), address);
    EXPECT_EQ(op::PtrToInt(b, op::PtrToPtr(b, m.types().Tile(Element::Pointer(Elem::kF32), {8}), p))->type(), i64);

    Value* wide = op::Reshape(b, Tile(Elem::kI32, {1, 8}), n);
    op::Broadcast(b, Tile(Elem::kI32, {4, 8}), wide);
    EXPECT_EQ(op::Permute(b, wide, {1, 0})->type(), Tile(Elem::kI32, {8, 1}));
    EXPECT_EQ(op::Cat(b, n, n, 0)->type(), Tile(Elem::kI32, {16}));
    Value* part = op::Extract(b, Tile(Elem::kI32, {4}), n, {zero});
    op::Insert(b, part, n, {zero});
    op::Unpack(b, i32, op::Pack(b, Tile(Elem::kI8, {32}), n));
    Predicate even;
    even.divisor = 2;
    op::Assume(b, op::GetTileBlockId(b)[0], even);
    op::GetNumTileBlocks(b);
  }

  void Matrices() {
    Value* f = op::Splat(b, Tile(Elem::kF16, {16, 16}), 1);
    op::MmaF(b, f, f, op::Splat(b, Tile(Elem::kF32, {16, 16}), 0));
    Value* i = op::Splat(b, Tile(Elem::kI8, {16, 16}), 1);
    op::MmaI(b, i, i, op::Splat(b, Tile(Elem::kI32, {16, 16}), 0), Signedness::kSigned, Signedness::kUnsigned);
    Value* scales = op::Splat(b, Tile(Elem::kF8E8M0FNU, {2, 2}), 1);
    op::MmaScaled(b, op::Splat(b, Tile(Elem::kF8E5M2, {2, 64}), 1), op::Splat(b, Tile(Elem::kF8E5M2, {64, 2}), 1),
                  op::Splat(b, Tile(Elem::kF32, {2, 2}), 0), scales, scales);
  }

  void Control() {
    Value* x = op::Elements(b, Tile(Elem::kF32, {2, 2}), {1, 2, 3, 4});
    const Values sums =
        op::Reduce(b, {x}, 1, {op::Identity(Elem::kF32, 0)},
                   [&](const Values& e, const Values& acc) -> Values { return {op::Addf(b, e[0], acc[0])}; });
    EXPECT_EQ(sums[0]->type(), Tile(Elem::kF32, {2}));
    op::Scan(
        b, {x}, 0, {op::Identity(Elem::kF32, 1)},
        [&](const Values& e, const Values& acc) -> Values { return {op::Mulf(b, e[0], acc[0])}; }, /*reverse=*/true);
    const Values total = op::For(b, zero, one, one, {x},
                                 [&](Value*, const Values& carried) -> Values { return {op::Addf(b, carried[0], x)}; });
    EXPECT_EQ(total[0]->type(), x->type());
    Value* yes = op::Splat(b, m.types().Scalar(Elem::kI1), 1);
    op::If(
        b, yes, [&]() -> Values { return {one}; }, [&]() -> Values { return {zero}; });
    op::If(b, yes, [&] {
      op::Return(b);
      return Values();
    });
    const Values out = op::Loop(b, {zero}, {x->type()}, [&](const Values& carried) -> Values {
      op::If(b, yes, [&] {
        op::Break(b, {x});
        return Values();
      });
      return {op::Addi(b, carried[0], one)};
    });
    EXPECT_EQ(out[0]->type(), x->type());
  }

  void Memory() {
    const Type tile = Tile(Elem::kF32, {4, 4}), index = Tile(Elem::kI32, {4, 4});
    m.AddGlobal("table", Elem::kF32, 4)->value = GlobalValue();
    Value* p = op::GetGlobal(b, "table");
    Value* pointers = op::Broadcast(b, m.types().Tile(Element::Pointer(Elem::kF32), {1}),
                                    op::Reshape(b, m.types().Tile(Element::Pointer(Elem::kF32), {1}), p));
    pointers = op::Offset(b, pointers, op::Iota(b, Tile(Elem::kI32, {1})));
    Value* t = op::MakeToken(b);
    const auto [loaded, after] = op::LoadPtr(b, pointers, {.token = t});
    t = op::StorePtr(b, pointers, loaded, {.token = after, .ordering = MemoryOrdering::kRelease});
    t = op::AtomicRmw(b, RmwMode::kAddf, pointers, loaded, {.token = t}).token;
    t = op::AtomicCas(b, pointers, loaded, loaded, {.token = t, .scope = MemoryScope::kSys}).token;
    op::Alloca(b, m.types().Scalar(Element::Pointer(Elem::kI8)), 64, 16);

    const Type tensor = m.types().TensorView(Element::Number(Elem::kF32), {kDynamic, 4}, {4, 1});
    Value* view = op::MakeTensorView(b, tensor, p, {one}, {});
    EXPECT_EQ(op::GetTensorShape(b, view).size(), 2u);
    Value* grid = op::MakePartitionView(b, m.types().PartitionView({4, 4}, tensor), view);
    op::GetIndexSpaceShape(b, grid, Elem::kI64);
    op::MakeStridedView(b, m.types().StridedView({4, 4}, {1, 4}, tensor), view);
    op::MakeGatherScatterView(b, m.types().GatherScatterView({4, 4}, tensor, 0), view);
    Value* x = op::LoadView(b, grid, {zero, zero}, {.inbounds = {1, 0}}).value;
    EXPECT_EQ(x->type(), tile);
    t = op::StoreView(b, x, grid, {zero, zero}, {.token = t});
    op::AtomicRedView(b, RmwMode::kAddf, grid, {zero, zero}, x);
    op::AtomicRmwView(b, RmwMode::kXchg, grid, {zero, zero}, x, {.ordering = MemoryOrdering::kAcqRel});
    op::AtomicCasView(b, grid, {zero, zero}, x, x);
    Value* where = op::Splat(b, index, 0);
    op::AtomicScatterView(b, RmwMode::kAddf, view, where, x, 0, /*check_bounds=*/true);
    op::StoreScatterView(b, view, where, x, 0);
    op::MultimemLoadReduce(b, MultimemReduction::kAdd, grid, {zero, zero});
    op::MultimemReduce(b, MultimemReduction::kAdd, x, grid, {zero, zero});
    op::MultimemStore(b, x, grid, {zero, zero});
    op::AllocShared(b, m.types().TensorView(Element::Number(Elem::kF32), {4, 4}, {4, 1}, MemorySpace::kShared), 16);
    op::Print(b, "%f\n", {x}, op::JoinTokens(b, {t, op::MemoryFenceAlias(b, t)}));
    op::GdcLaunchDependents(b);
    op::GdcWait(b, t);
  }

  Dense GlobalValue() {
    static constexpr uint8_t kZeros[4] = {};
    Dense d;
    d.elem = Elem::kF32;
    d.splat = true;
    d.bytes = kZeros;
    return d;
  }

  Module m;
  Function* f = m.AddFunction("everything", {m.types().Scalar(Elem::kI32)});
  Builder b{&m, f->body()};
  Value* zero = op::Integer(b, m.types().Scalar(Elem::kI32), 0);
  Value* one = op::Integer(b, m.types().Scalar(Elem::kI32), 1);
};

TEST_F(Everything, IsAccepted) {
  Arithmetic();
  ConversionsAndShapes();
  Matrices();
  Control();
  Memory();
  op::Return(b);
  Diagnostics d;
  Verify(m, &d);
  EXPECT_EQ(d.ToString(), "");

  std::set<const FormatInfo*> seen;
  Walk(f->body(), [&](Op* o) { seen.insert(o->info()->format); });
  for (const OpInfo& info : AllOps()) EXPECT_TRUE(seen.count(info.format)) << info.mnemonic;
}

// i32 constants keep every bit; floats are rounded to nearest.
TEST_F(Everything, ConstantsHoldTheirNumbers) {
  Value* n = op::Integer(b, m.types().Scalar(Elem::kI64), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(n->def()->attr("value").dense().bytes[7], 0x80);
  Value* x = op::Splat(b, m.types().Scalar(Elem::kF16), 1e6);
  EXPECT_EQ(x->def()->attr("value").dense().bytes[1], 0x7C);
  EXPECT_EQ(op::Identity(Elem::kI1, 1).bits, 1u);
}

}  // namespace
}  // namespace tile::ir
