// What the reader says of texts that it cannot read, how it orders memory, and that no damage to a text does harm. Whole
// kernels stand in tests/ttir.
#include "ir/ttir/reader.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "ir/op_views.h"
#include "ir/verify/verify.h"

namespace tile::ir {
namespace {

// A kernel of one pointer and one integer with this body.
std::string Kernel(absl::string_view body) {
  return absl::StrCat(
      "module {\n  tt.func public @k(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc(unknown), %n: i32) {\n", body,
      "    tt.return loc(#loc1)\n  } loc(#loc)\n} loc(#loc)\n",
      "#loc = loc(\"k.py\":3:0)\n#loc1 = loc(\"k.py\":9:4)\n#loc2 = loc(\"x\"(#loc3))\n",
      "#loc3 = loc(\"k.py\":7:11)\n#loc4 = loc(callsite(#loc3 at #loc1))\n#loc5 = loc(#loc5)\n");
}

std::unique_ptr<Module> Read(const std::string& text) {
  Diagnostics d;
  std::unique_ptr<Module> m = ReadTtir(text, "dir/k.ttir", &d);
  if (m != nullptr) Verify(*m, &d);
  EXPECT_TRUE(m != nullptr && d.ok()) << d.ToString() << text;
  return m;
}

// Everything that is said, one line each.
std::string ErrorOf(const std::string& text) {
  Diagnostics d;
  const std::unique_ptr<Module> m = ReadTtir(text, "dir/k.ttir", &d);
  if (m != nullptr) Verify(*m, &d);
  EXPECT_FALSE(d.ok()) << "nothing is wrong with\n" << text;
  return d.ToString();
}

std::vector<Op*> AllOf(const Module& m, Opcode opcode) {
  std::vector<Op*> found;
  Walk(m.functions[0]->body(), [&](Op* op) {
    if (op->opcode() == opcode) found.push_back(op);
  });
  return found;
}

// Whether `after` waits for `token`, through joins, loops and branches.
bool Waits(const Value* after, const Value* token) {
  if (after == nullptr || after == token) return after != nullptr;
  const Op* def = after->def();
  if (def == nullptr) return false;
  for (int i = 0; i < def->num_operands(); ++i) {
    if (def->operand(i)->type().is_token() && Waits(def->operand(i), token)) return true;
  }
  for (int r = 0; r < def->num_regions(); ++r) {
    const Op* end = def->region(r) == nullptr ? nullptr : def->region(r)->back();
    for (int i = 0; end != nullptr && i < end->num_operands(); ++i) {
      if (end->operand(i)->type().is_token() && Waits(end->operand(i), token)) return true;
    }
  }
  return false;
}

TEST(Ttir, IsToldByItsFunctions) {
  EXPECT_TRUE(LooksLikeTtir(Kernel("")));
  EXPECT_TRUE(LooksLikeTtir("tt.func"));
  EXPECT_FALSE(LooksLikeTtir("// a tt.func\nentry @k() {"));
  EXPECT_FALSE(LooksLikeTtir(""));
}

TEST(Ttir, NamesPythonsLines) {
  const auto m =
      Read(Kernel("    %x = arith.addi %n, %n : i32 loc(#loc2)\n    %y = arith.muli %x, %x : i32 loc(#loc4)\n"
                  "    %z = arith.muli %x, %x : i32 loc(#loc5)\n"));
  EXPECT_EQ(m->name, "k");
  const Op* add = AllOf(*m, Opcode::kAddi)[0];
  EXPECT_EQ(m->Where(add->loc, add->pos), "k.py:7:11");
  const std::vector<Op*> products = AllOf(*m, Opcode::kMuli);
  EXPECT_EQ(m->FindDebug(products[0]->loc)->kind, DebugRecord::Kind::kCallSite);
  EXPECT_EQ(m->Where(products[0]->loc, products[0]->pos), "k.py:7:11");
  EXPECT_EQ(products[1]->loc, 0u);  // leads back to itself
}

TEST(Ttir, PointersNameTheirAddressSpace) {
  for (const absl::string_view space : {"", ", 1", ", \"constant\"", ", \"global\""}) {
    const std::string pointer = absl::StrCat("!tt.ptr<f32", space, ">"), plain = absl::StrCat("<f32", space, ">");
    Read(absl::StrReplaceAll(
        Kernel("    %t = tt.splat %p : P -> tensor<4xP>\n    %v = tt.load %t : tensor<4xP>\n"
               "    %i = tt.ptr_to_int %p : P -> i64\n    %q = tt.int_to_ptr %i : i64 -> P\n"),
        {{"!tt.ptr<f32>", pointer}, {"tensor<4xP>", absl::StrCat("tensor<4x", pointer, ">")}, {"P", pointer}}));
    Read(absl::StrReplaceAll(Kernel("    %v = tt.load %p : P\n"), {{"!tt.ptr<f32>", pointer}, {"P", plain}}));
  }
  EXPECT_TRUE(absl::StrContains(ErrorOf(absl::StrReplaceAll(Kernel(""), {{"ptr<f32>", "ptr<f32, \"shared\">"}})),
                                "ttir.unsupported"));
}

TEST(Ttir, KeepsPromisesOfArguments) {
  const auto m = Read(Kernel(""));
  const std::vector<Op*> assumed = AllOf(*m, Opcode::kAssume);
  ASSERT_EQ(assumed.size(), 1u);
  EXPECT_EQ(AssumeOp(*assumed[0]).predicate().divisor, 16u);
  EXPECT_EQ(m->functions[0]->param(1)->name, "n");
}

// tl.assume, tl.multiple_of, tl.max_contiguous: what follows uses what was promised.
TEST(Ttir, KeepsPromisesOfAuthors) {
  const auto m = Read(Kernel(
      "    %c0 = arith.constant 0 : i32\n    %c16 = arith.constant 16 : i32\n    %c64 = arith.constant 64 : i32\n"
      "    %pid = tt.get_program_id x : i32\n    %row = arith.divsi %pid, %n : i32\n"
      "    %t = arith.cmpi sge, %row, %c0 : i32\n    llvm.intr.assume %t : i1\n"
      "    %r = arith.remsi %n, %c16 : i32\n    %u = arith.cmpi eq, %r, %c0 : i32\n    llvm.intr.assume %u : i1\n"
      "    %start = arith.muli %row, %c64 {tt.divisibility = dense<8> : tensor<1xi32>} : i32\n"
      "    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n"
      "    %s = tt.splat %start : i32 -> tensor<64xi32>\n"
      "    %o = arith.addi %s, %i {tt.contiguity = dense<64> : tensor<1xi32>, tt.divisibility = dense<64> : tensor<1xi32>}"
      " : tensor<64xi32>\n    %w = arith.muli %o, %o : tensor<64xi32>\n    %z = arith.addi %n, %n : i32\n"));
  const std::vector<Op*> products = AllOf(*m, Opcode::kMuli);
  ASSERT_EQ(products.size(), 2u);
  const auto promised = [](const Op* op, int i) {
    const auto assume = DefAs<AssumeOp>(op->operand(i));
    return assume ? assume->predicate() : Predicate{};
  };
  EXPECT_EQ(promised(products[0], 0).kind, Predicate::Kind::kBounded);
  EXPECT_EQ(promised(products[0], 0).lower, 0);
  EXPECT_FALSE(promised(products[0], 0).upper.has_value());
  // The start of a block of 64.
  EXPECT_EQ(OverflowOp(*products[0]).overflow(), Overflow::kNoSignedWrap);
  EXPECT_EQ(OverflowOp(*products[1]).overflow(), Overflow::kNone);
  // Vectors have no more than 16 elements.
  EXPECT_EQ(promised(products[1], 0).divisor, 16u);
  EXPECT_EQ(promised(products[1], 0).every, 16);
  EXPECT_EQ(promised(products[1], 0).along, 0);
  const std::vector<Op*> sums = AllOf(*m, Opcode::kAddi);
  EXPECT_EQ(promised(sums[1], 1).divisor, 16u) << "n";
}

// Remainders and quotients of neighbours: what Triton takes for granted of them.
TEST(Ttir, NeighboursThatAreDividedAreNeighbours) {
  const auto promises = [](absl::string_view start, absl::string_view divisor, absl::string_view op) {
    const auto m = Read(Kernel(absl::StrCat(
        "    %c16 = arith.constant 16 : i32\n    %c8 = arith.constant 8 : i32\n    %m = arith.muli %n, %c16 : i32\n",
        "    %m8 = arith.muli %n, %c8 : i32\n    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n",
        "    %s = tt.splat ", start, " : i32 -> tensor<64xi32>\n    %o = arith.addi %s, %i : tensor<64xi32>\n",
        "    %d = tt.splat ", divisor, " : i32 -> tensor<64xi32>\n    %r = arith.", op, " %o, %d : tensor<64xi32>\n")));
    std::vector<int64_t> found;
    for (const Op* assume : AllOf(*m, Opcode::kAssume)) {
      const Predicate p = AssumeOp(*assume).predicate();
      if (p.along.has_value()) found.push_back(*p.every);
      for (const int64_t g : p.groups) found.push_back(-g);
    }
    return found;
  };
  EXPECT_EQ(promises("%m", "%m", "remsi"), std::vector<int64_t>{16});
  EXPECT_EQ(promises("%m8", "%m", "remsi"), std::vector<int64_t>{8});
  EXPECT_EQ(promises("%m", "%m8", "remsi"), std::vector<int64_t>{8});
  EXPECT_EQ(promises("%m", "%m", "divsi"), std::vector<int64_t>{-16});
  // Nothing is known of where they begin, or of the divisor; what has no sign needs no promise.
  EXPECT_EQ(promises("%n", "%m", "remsi"), std::vector<int64_t>());
  EXPECT_EQ(promises("%m", "%n", "remsi"), std::vector<int64_t>());
  EXPECT_EQ(promises("%m", "%m", "remui"), std::vector<int64_t>());
}

// Of a tile of pointers tl.multiple_of is meant where neighbours begin; of none along the other dimension.
TEST(Ttir, MultiplesAreOfWhereNeighboursBegin) {
  const std::string row =
      "    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n"
      "    %e = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>\n"
      "    %b = tt.broadcast %e : tensor<1x64xi32> -> tensor<4x64xi32>\n"
      "    %q = tt.splat %p : !tt.ptr<f32> -> tensor<4x64x!tt.ptr<f32>>\n";
  const auto divisors = [](const std::string& body) {
    const auto m = Read(Kernel(body));
    std::vector<std::vector<int64_t>> found;
    for (const Op* op : AllOf(*m, Opcode::kAssume)) {
      const Predicate p = AssumeOp(*op).predicate();
      if (p.along.has_value()) found.push_back({*p.along, static_cast<int64_t>(p.divisor), *p.every});
    }
    return found;
  };
  const std::string hint =
      " {tt.divisibility = dense<16> : tensor<2xi32>} : tensor<4x64x!tt.ptr<f32>>, tensor<4x64xi32>\n";
  EXPECT_EQ(divisors(row + "    %a = tt.addptr %q, %b" + hint), (std::vector<std::vector<int64_t>>{{1, 16, 4}}));
  const std::string even = "    %c = arith.addi %b, %b : tensor<4x64xi32>\n    %a = tt.addptr %q, %c" + hint;
  EXPECT_EQ(divisors(row + even), std::vector<std::vector<int64_t>>());
}

// What Triton checks of descriptors that the host makes.
TEST(Ttir, RowsOfDescriptorsAreContiguousAndAligned) {
  const auto m = Read(
      "tt.func public @k(%d: !tt.tensordesc<4x8xf16>, %i: i32) {\n"
      "  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<4x8xf16> -> tensor<4x8xf16>\n  tt.return\n}\n");
  const std::vector<Op*> assumed = AllOf(*m, Opcode::kAssume);
  ASSERT_EQ(assumed.size(), 5u);
  EXPECT_EQ(AssumeOp(*assumed[0]).predicate().divisor, 16u);  // the address, in bytes
  EXPECT_EQ(AssumeOp(*assumed[1]).predicate().lower, 1);      // sizes
  EXPECT_EQ(AssumeOp(*assumed[3]).predicate().divisor, 8u);   // the first stride, in elements
  EXPECT_EQ(AssumeOp(*assumed[4]).predicate().lower, 1);
  EXPECT_EQ(AssumeOp(*assumed[4]).predicate().upper, 1);
  EXPECT_EQ(assumed[4]->operand(0), m->functions[0]->param(4));
}

// A promise about an operand holds where it is made: not behind the branch.
TEST(Ttir, PromisesHoldWhereTheyAreMade) {
  const auto m = Read(Kernel(
      "    %c0 = arith.constant 0 : i32\n    %t = arith.cmpi sge, %n, %c0 : i32\n    scf.if %t {\n      llvm.intr.assume %t : i1\n"
      "      %a = arith.addi %n, %n : i32\n    }\n    %b = arith.muli %n, %n : i32\n"));
  EXPECT_TRUE(DefAs<AssumeOp>(AllOf(*m, Opcode::kAddi)[0]->operand(0)).has_value());
  EXPECT_FALSE(DefAs<AssumeOp>(AllOf(*m, Opcode::kMuli)[0]->operand(0)).has_value());
}

// What a launcher knows of a descriptor, and the text does not say.
TEST(Ttir, DescriptorsOfArgumentsMayPadWithNaN) {
  const auto paddings = [](absl::string_view attribute) {
    const auto m = Read(absl::StrCat(
        "tt.func public @k(%d: !tt.tensordesc<4x4xf32>", attribute, ", %i: i32) {\n",
        "  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>\n", "  tt.return\n}\n"));
    const Value* padding = AllOf(*m, Opcode::kLoadPtr)[0]->operand("padding_value");
    return ConstantOp(*padding->def()).value().bytes[3];
  };
  EXPECT_EQ(paddings(""), 0);
  EXPECT_EQ(paddings(" {tilevm.padding = \"nan\"}") & 0x7F, 0x7F);
}

// As Triton compiles it for a GPU, unless it is told not to: a product that one sum or difference uses, and nothing else.
TEST(Ttir, ProductsAreContracted) {
  const auto ops = [](absl::string_view body, absl::string_view attributes = "", absl::string_view type = "f32") {
    const auto m = Read(absl::StrCat("tt.func public @k(%x: ", type, ", %y: ", type, ", %z: ", type, ", %p: !tt.ptr<",
                                     type, ">)", attributes, " {\n", body, "  tt.return\n}\n"));
    return std::vector<size_t>{AllOf(*m, Opcode::kFma).size(), AllOf(*m, Opcode::kMulf).size(),
                               AllOf(*m, Opcode::kNegf).size()};
  };
  const std::string product = "  %a = arith.mulf %x, %y : f32\n", store = "  tt.store %p, %b : !tt.ptr<f32>\n";
  const auto counts = [](size_t fma, size_t products, size_t negations) {
    return std::vector<size_t>{fma, products, negations};
  };
  for (absl::string_view sum : {"arith.addf %a, %z", "arith.addf %z, %a"})
    EXPECT_EQ(ops(absl::StrCat(product, "  %b = ", sum, " : f32\n", store)), counts(1, 0, 0)) << sum;
  for (absl::string_view difference : {"arith.subf %a, %z", "arith.subf %z, %a"})
    EXPECT_EQ(ops(absl::StrCat(product, "  %b = ", difference, " : f32\n", store)), counts(1, 0, 1)) << difference;
  EXPECT_EQ(ops(product + "  %b = arith.addf %a, %a : f32\n" + store), counts(0, 1, 0));
  EXPECT_EQ(ops(product + "  %b = arith.addf %a, %z : f32\n" + store + "  tt.store %p, %a : !tt.ptr<f32>\n"),
            counts(0, 1, 0));
  EXPECT_EQ(ops(product + "  %b = arith.addf %a, %z : f32\n" + store,
                " attributes {tilevm.fp_fusion = false, noinline = false}"),
            counts(0, 1, 0));
  EXPECT_EQ(ops("  %a = arith.mulf %x, %y : f16\n  %b = arith.addf %a, %z : f16\n  tt.store %p, %b : !tt.ptr<f16>\n",
                "", "f16"),
            counts(0, 1, 0));
  // What is rounded by name stays so.
  EXPECT_EQ(
      ops("  %a = tt.extern_elementwise %x, %y {libname = \"\", libpath = \"\", pure = true, symbol = \"__nv_fmul_rn\"} : (f32, f32) -> f32\n"
          "  %b = arith.addf %a, %z : f32\n" +
          store),
      counts(0, 1, 0));
}

// As CUDA defines the fast one: no function of many branches.
TEST(Ttir, FastPowersAreExponentials) {
  const auto m =
      Read(Kernel("    %x = tt.load %p : !tt.ptr<f32>\n"
                  "    %a = tt.extern_elementwise %x, %x {symbol = \"__nv_fast_powf\"} : (f32, f32) -> f32\n"
                  "    tt.store %p, %a : !tt.ptr<f32>\n"));
  EXPECT_TRUE(AllOf(*m, Opcode::kFpowf).empty());
  EXPECT_EQ(AllOf(*m, Opcode::kLog2).size(), 1u);
  EXPECT_EQ(AllOf(*m, Opcode::kExp2).size(), 1u);
}

// One instruction of a GPU each, and a product.
TEST(Ttir, FastFunctionsAreApproximate) {
  const auto call = [](absl::string_view result, absl::string_view name, int operands) {
    return absl::StrCat("    %", result, " = tt.extern_elementwise ", operands == 2 ? "%x, %x" : "%x",
                        " {symbol = \"__nv_", name, "\"} : (", operands == 2 ? "f32, f32" : "f32",
                        ") -> f32\n    tt.store %p, %", result, " : !tt.ptr<f32>\n");
  };
  const auto m = Read(
      Kernel(absl::StrCat("    %x = tt.load %p : !tt.ptr<f32>\n", call("a", "fast_expf", 1),
                          call("b", "fast_exp10f", 1), call("c", "fast_fdividef", 2), call("d", "fast_tanhf", 1))));
  EXPECT_TRUE(AllOf(*m, Opcode::kExp).empty());
  const std::vector<Op*> powers = AllOf(*m, Opcode::kExp2);
  ASSERT_EQ(powers.size(), 2u);
  for (const Op* power : powers) EXPECT_TRUE(FlushToZeroOp(*power).flush_to_zero());
  const std::vector<Op*> quotients = AllOf(*m, Opcode::kDivf), tangents = AllOf(*m, Opcode::kTanh);
  ASSERT_EQ(quotients.size(), 1u);
  ASSERT_EQ(tangents.size(), 1u);
  EXPECT_TRUE(FlushToZeroOp(*quotients[0]).flush_to_zero());
  EXPECT_EQ(RoundingOp(*quotients[0]).rounding(), Rounding::kApprox);
  EXPECT_EQ(RoundingOp(*tangents[0]).rounding(), Rounding::kApprox);
}

// --- order ------------------------------------------------------------------------------------------------------------

// A loop that multiplies what it loads through %p, and stores through another pointer.
std::string LoopOfProducts(absl::string_view store, absl::string_view attributes = "") {
  return absl::StrCat(
      "module {\n  tt.func public @k(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %s: !tt.ptr<f32>, %n: i32) {\n"
      "    %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n"
      "    %zero = arith.constant dense<0.0> : tensor<16x16xf32>\n"
      "    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>\n"
      "    %e = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>\n"
      "    %o = tt.broadcast %e : tensor<1x16xi32> -> tensor<16x16xi32>\n"
      "    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>\n"
      "    %pt = tt.addptr %ps, %o : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>\n"
      "    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>\n"
      "    %qt = tt.addptr %qs, %o : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>\n"
      "    %at:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %moved = %pt) -> "
      "(tensor<16x16xf32>, tensor<16x16x!tt.ptr<f16>>) : i32 {\n"
      "      %a = tt.load %moved : tensor<16x16x!tt.ptr<f16>>\n"
      "      %d = tt.dot %a, %a, %acc : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>\n"
      "      %h = arith.truncf %d : tensor<16x16xf32> to tensor<16x16xf16>\n",
      store, "      %next = tt.addptr %moved, %o : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>\n",
      "      scf.yield %d, %next : tensor<16x16xf32>, tensor<16x16x!tt.ptr<f16>>\n    }", attributes,
      "\n    tt.return\n  }\n}\n");
}

// Whether its first load waits for what an iteration before wrote.
bool WaitsForIterations(const std::string& text) {
  const auto m = Read(text);
  const Value* token = AccessOp(*AllOf(*m, Opcode::kLoadPtr)[0]).token();
  return token != nullptr && token->block() == AllOf(*m, Opcode::kFor)[0]->region(0);
}

// Triton starts loads for products before earlier iterations have stored.
TEST(Ttir, LoadsForProductsPassStoresThroughOtherParameters) {
  const std::string store = "      tt.store %qt, %h : tensor<16x16x!tt.ptr<f16>>\n";
  EXPECT_FALSE(WaitsForIterations(LoopOfProducts(store)));
  // Stores keep their order.
  const auto m = Read(LoopOfProducts(store));
  const Block* body = AllOf(*m, Opcode::kFor)[0]->region(0);
  EXPECT_TRUE(Waits(AccessOp(*AllOf(*m, Opcode::kStorePtr)[0]).token(), body->args().back()));
  const std::string update =
      "      %x = arith.constant 1.0 : f32\n      %t = arith.constant true\n"
      "      %old = tt.atomic_rmw fadd, acq_rel, gpu, %s, %x, %t : (!tt.ptr<f32>, f32, i1) -> f32\n";
  EXPECT_FALSE(WaitsForIterations(LoopOfProducts(update)));
  // Somebody else may wait, or be waited for: the old value says so.
  EXPECT_TRUE(WaitsForIterations(LoopOfProducts(absl::StrCat(update, "      tt.store %s, %old : !tt.ptr<f32>\n"))));
  EXPECT_TRUE(WaitsForIterations(LoopOfProducts(absl::StrCat(store, "      gpu.barrier\n"))));
  // Through the same parameter, or any.
  EXPECT_TRUE(WaitsForIterations(LoopOfProducts("      tt.store %pt, %h : tensor<16x16x!tt.ptr<f16>>\n")));
  EXPECT_TRUE(WaitsForIterations(
      LoopOfProducts("      %w = arith.extsi %n : i32 to i64\n      %y = tt.int_to_ptr %w : i64 -> !tt.ptr<i32>\n"
                     "      tt.store %y, %n : !tt.ptr<i32>\n")));
  // The program asks for one iteration at a time.
  EXPECT_TRUE(WaitsForIterations(LoopOfProducts(store, " {tt.num_stages = 1 : i32}")));
}

// Where PTX wants a number, an operand that is the same number everywhere may stand.
TEST(Ttir, TablesMayBeOperands) {
  const auto m = Read(Kernel(
      "    %t = arith.constant 192 : i32\n"
      "    %a = tt.elementwise_inline_asm \"lop3.b32 $0, $1, $2, 0, $3;\" {constraints = \"=r,r,r,n\"} %n, %n, %t "
      ": i32, i32, i32 -> i32\n"
      "    %q = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>\n    tt.store %q, %a : !tt.ptr<i32>\n"));
  EXPECT_FALSE(AllOf(*m, Opcode::kAndi).empty());
}

TEST(Ttir, IndicesOfGatherArePromised) {
  const auto m =
      Read(Kernel("    %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n"
                  "    %g = tt.gather %i[%i] {axis = 0 : i32} : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>\n"));
  const auto promises = AllOf(*m, Opcode::kAssume);
  ASSERT_FALSE(promises.empty());
  const Predicate& p = AssumeOp(promises.back()).predicate();
  EXPECT_TRUE(p.lower == 0 && p.upper == 7 && p.along == 0);
}

// Of a pointer as an integer, and of what is neither a bound nor a divisor.
TEST(Ttir, PromisesOfPointersAndConditions) {
  const auto m = Read(
      Kernel("    %c64 = arith.constant 64 : i64\n    %c0 = arith.constant 0 : i64\n    %c3 = arith.constant 3 : i32\n"
             "    %a = tt.ptr_to_int %p : !tt.ptr<f32> -> i64\n    %r = arith.remsi %a, %c64 : i64\n"
             "    %e = arith.cmpi eq, %r, %c0 : i64\n    llvm.intr.assume %e : i1\n"
             "    %l = arith.cmpi ne, %n, %c3 : i32\n    llvm.intr.assume %l : i1\n"
             "    %v = tt.load %p : !tt.ptr<f32>\n"));
  const Op* of_pointer = AllOf(*m, Opcode::kLoadPtr)[0]->operand(0)->def();
  ASSERT_TRUE(of_pointer != nullptr && AssumeOp::Is(of_pointer));
  EXPECT_EQ(AssumeOp(of_pointer).predicate().divisor, 64u);
  const Predicate& condition = AssumeOp(AllOf(*m, Opcode::kAssume).back()).predicate();
  EXPECT_TRUE(condition.lower == -1 && condition.upper == -1);
}

TEST(TtirGeneric, AliasesOfTypesAndAttributes) {
  const auto m = Read(
      "!row = tensor<8xi32>\n#end = 8 : i32\n\"builtin.module\"() ({\n  \"tt.func\"() <{function_type = (i32) -> (), sym_name = "
      "\"k\", sym_visibility = \"public\", arg_attrs = [{tt.divisibility = 16 : i32}]}> ({\n  ^bb0(%n: i32):\n"
      "    %i = \"tt.make_range\"() <{end = #end, start = 0 : i32}> : () -> !row\n"
      "    %c = \"arith.constant\"() {value = dense<3> : tensor<8xi32>} : () -> !row\n"
      "    %l = \"arith.cmpi\"(%i, %c) <{predicate = 2 : i64}> : (!row, !row) -> tensor<8xi1>\n"
      "    \"tt.return\"() : () -> ()\n  }) : () -> ()\n}) : () -> ()\n");
  EXPECT_EQ(CmpIOp(AllOf(*m, Opcode::kCmpI)[0]).predicate(), ComparisonPredicate::kLessThan);
  EXPECT_EQ(AllOf(*m, Opcode::kAssume).size(), 1u);
}

TEST(TtirGeneric, SaysWhatIsWrong) {
  const std::string begin = "\"builtin.module\"() ({\n  \"tt.func\"() <{";
  const std::string end = "}> ({\n    \"tt.return\"() : () -> ()\n  }) : () -> ()\n}) : () -> ()\n";
  const std::pair<std::string, std::string> rows[] = {
      {"function_type = () -> ()", "error[ttir.syntax]: this function has no name"},
      {"function_type = () -> (), sym_name = \"k\", arg_attrs = [3]", "error[ttir.syntax]: expected `{` here"},
      {"function_type = 3, sym_name = \"k\"", "error[ttir.syntax]: expected a type here"},
  };
  for (const auto& [attributes, message] : rows) {
    EXPECT_TRUE(absl::StrContains(ErrorOf(begin + attributes + end), message)) << ErrorOf(begin + attributes + end);
  }
  EXPECT_TRUE(LooksLikeTtir("\"builtin.module\"() ({\n  \"tt.func\"() ({"));
  EXPECT_TRUE(absl::StrContains(ErrorOf("\"tt.load\"() : () -> ()"), "expected a module or a function here"));
}

TEST(TtirOrder, LoadsWaitForStoresAndNotForLoads) {
  const auto m =
      Read(Kernel("    %a = tt.load %p : !tt.ptr<f32>\n    %b = tt.load %p : !tt.ptr<f32>\n"
                  "    tt.store %p, %a : !tt.ptr<f32>\n    %c = tt.load %p : !tt.ptr<f32>\n"
                  "    tt.store %p, %b : !tt.ptr<f32>\n"));
  const std::vector<Op*> loads = AllOf(*m, Opcode::kLoadPtr), stores = AllOf(*m, Opcode::kStorePtr);
  const auto token = [](Op* op) { return op->operand("token"); };
  const auto given = [](Op* op) { return op->result("token"); };
  EXPECT_EQ(token(loads[0]), nullptr);
  EXPECT_EQ(token(loads[1]), nullptr);
  EXPECT_TRUE(Waits(token(stores[0]), given(loads[0])) && Waits(token(stores[0]), given(loads[1])));
  EXPECT_EQ(token(loads[2]), given(stores[0]));
  EXPECT_TRUE(Waits(token(stores[1]), given(loads[2])) && Waits(token(stores[1]), given(stores[0])));
}

TEST(TtirOrder, GoesThroughLoopsAndBranches) {
  const auto m = Read(Kernel(
      "    %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n    %f = arith.constant 1.000000e+00 : f32\n"
      "    scf.for %i = %c0 to %n step %c1  : i32 {\n      %a = tt.load %p : !tt.ptr<f32>\n    }\n"
      "    %t = arith.cmpi slt, %n, %c1 : i32\n"
      "    scf.if %t {\n      tt.store %p, %f : !tt.ptr<f32>\n    }\n"
      "    %b = tt.load %p : !tt.ptr<f32>\n"));
  const std::vector<Op*> loads = AllOf(*m, Opcode::kLoadPtr), stores = AllOf(*m, Opcode::kStorePtr);
  EXPECT_EQ(loads[0]->operand("token"), nullptr);  // of a loop that only loads
  EXPECT_TRUE(Waits(stores[0]->operand("token"), loads[0]->result("token")));
  EXPECT_TRUE(Waits(loads[1]->operand("token"), stores[0]->result("token")));
}

TEST(TtirOrder, AStoreInALoopWaitsForThatOfTheIterationBefore) {
  const auto m =
      Read(Kernel("    %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n"
                  "    scf.for %i = %c0 to %n step %c1  : i32 {\n      %a = tt.load %p : !tt.ptr<f32>\n"
                  "      tt.store %p, %a : !tt.ptr<f32>\n    }\n"));
  const Op* loop = AllOf(*m, Opcode::kFor)[0];
  ASSERT_EQ(loop->num_results(), 1);
  EXPECT_EQ(AllOf(*m, Opcode::kLoadPtr)[0]->operand("token"), loop->region(0)->args().back());
  EXPECT_EQ(loop->region(0)->back()->operand(0), AllOf(*m, Opcode::kStorePtr)[0]->result("token"));
}

// Who spins on a flag sees what other blocks, and the host, write.
TEST(TtirOrder, VolatileLoadsAreOfTheSystem) {
  const auto m = Read(Kernel("    %a = tt.load %p {isVolatile = true} : !tt.ptr<f32>\n"));
  const LoadPtrOp load(*AllOf(*m, Opcode::kLoadPtr)[0]);
  EXPECT_EQ(load.ordering(), MemoryOrdering::kRelaxed);
  EXPECT_EQ(load.scope(), MemoryScope::kSys);
}

// A tile of pointers that all move by the same distance is carried as that distance.
TEST(TtirLoops, CarryHowFarPointersMove) {
  const std::string begin =
      "    %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n    %d = arith.constant dense<4> : tensor<4xi32>\n"
      "    %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>\n"
      "    %b = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>\n"
      "    %q:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %b, %y = %b) -> (tensor<4x!tt.ptr<f32>>, "
      "tensor<4x!tt.ptr<f32>>)  : i32 {\n";
  const std::string end =
      "      scf.yield %u, %v : tensor<4x!tt.ptr<f32>>, tensor<4x!tt.ptr<f32>>\n    }\n"
      "    %e = tt.load %q#0 : tensor<4x!tt.ptr<f32>>\n";
  const auto carried = [&](const std::string& body) {
    std::string types;
    const auto m = Read(Kernel(begin + body + end));
    const Op* loop = AllOf(*m, Opcode::kFor)[0];
    for (int i = 0; i < loop->num_results(); ++i) absl::StrAppend(&types, loop->result(i)->type().ToString(), " ");
    return types;
  };
  const std::string pointers = "tile<4xptr<f32>> ";
  // By a scalar of the loop and by a constant; by different distances; not by addition alone.
  EXPECT_EQ(
      carried(
          "      %s = tt.splat %i : i32 -> tensor<4xi32>\n      %u = tt.addptr %x, %s : tensor<4x!tt.ptr<f32>>, tensor<4xi32>\n"
          "      %v = tt.addptr %y, %d : tensor<4x!tt.ptr<f32>>, tensor<4xi32>\n"),
      "tile<i64> tile<i64> ");
  EXPECT_EQ(carried("      %u = tt.addptr %x, %r : tensor<4x!tt.ptr<f32>>, tensor<4xi32>\n"
                    "      %v = tt.addptr %x, %d : tensor<4x!tt.ptr<f32>>, tensor<4xi32>\n"),
            pointers + pointers);
  EXPECT_EQ(carried("      %u = tt.addptr %x, %d : tensor<4x!tt.ptr<f32>>, tensor<4xi32>\n"
                    "      %v = tt.addptr %u, %d : tensor<4x!tt.ptr<f32>>, tensor<4xi32>\n"),
            "tile<i64> " + pointers);
}

// --- functions and branches -------------------------------------------------------------------------------------------

// The place of an operation within a function leads to that of the call.
TEST(TtirFunctions, AreReadWhereTheyAreCalled) {
  const std::string text = absl::StrReplaceAll(
      Kernel("    %a = tt.call @f(%n) : (i32) -> i32 loc(#loc1)\n    %b = tt.call @f(%a) : (i32) -> i32 loc(#loc1)\n"),
      {{"} loc(#loc)\n} loc(#loc)\n",
        "} loc(#loc)\n  tt.func private @f(%n: i32) -> i32 {\n    %x = arith.addi %n, %n : i32 loc(#loc3)\n"
        "    tt.return %x : i32\n  }\n} loc(#loc)\n"}});
  const auto m = Read(text);
  ASSERT_EQ(m->functions.size(), 1u);
  const std::vector<Op*> sums = AllOf(*m, Opcode::kAddi);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[1]->operand(0), sums[0]->result(0));
  EXPECT_EQ(m->Where(sums[0]->loc, sums[0]->pos), "k.py:7:11");
  EXPECT_EQ(m->FindDebug(sums[0]->loc)->kind, DebugRecord::Kind::kCallSite);
}

// Blocks may stand in any order, as long as no path comes back.
TEST(TtirBranches, LeadToBlocksThatStandBefore) {
  const auto m =
      Read(Kernel("    %t = arith.cmpi slt, %n, %n : i32\n    cf.cond_br %t, ^a, ^b\n  ^a:\n    tt.return\n  ^b:\n"
                  "    cf.cond_br %t, ^a, ^c\n  ^c:\n"));
  EXPECT_EQ(AllOf(*m, Opcode::kReturn).size(), 3u);
}

// --- refusals ---------------------------------------------------------------------------------------------------------

TEST(TtirErrors, NameAllThatIsNotSupported) {
  const std::string e = ErrorOf(Kernel("    scf.index_switch %n loc(#loc2)\n    %c = tt.what %n : i32\n"));
  EXPECT_TRUE(
      absl::StrContains(e, "k.py:7:11: error[ttir.unsupported]: scf.index_switch is not supported\n  fix: write"))
      << e;
  EXPECT_TRUE(absl::StrContains(e, "dir/k.ttir:4:5: error[ttir.unsupported]: tt.what is not supported")) << e;
}

struct Case {
  const char* body;
  const char* message;
};

TEST(TtirErrors, SayWhatIsWrong) {
  const Case cases[] = {
      {"    %a = arith.addi %n, %m : i32\n", "error[ttir.value]: arith.addi uses %m, which is not defined"},
      {"    %a = arith.addi %n : i32\n", "error[ttir.type]: arith.addi has 1 operands, not 2"},
      {"    %a = arith.addi %n, %p : i32\n", "dir/k.ttir:3:5: error[addi.c6]"},
      {"    %a:2 = arith.addi %n, %n : i32\n", "error[ttir.type]: arith.addi has 1 results"},
      {"    %a = tt.load %n : i32\n", "error[ttir.type]: tt.load loads through pointers"},
      {"    %a = arith.constant dense<[1, 2, 3]> : tensor<4xi32>\n", "error[ttir.type]: arith.constant has 3 elements"},
      {"    %a = arith.constant 300 : i8\n", "error[ttir.value]: arith.constant has the number 300"},
      {"    %a = arith.constant dense<\"0x0\"> : tensor<4xi32>\n", "error[ttir.syntax]: arith.constant has bytes"},
      {"    %a = tt.splat %n : i32 -> tensor<3xi32>\n", "error[ttir.limit]: a tensor has at most"},
      {"    %a = tt.splat %n : i32 -> tensor<33554432xi32>\n", "error[ttir.limit]"},
      {"    %a = tt.splat %n : i32 -> tensor<4xi32, #blocked>\n", "error[ttir.unsupported]: this tensor has a layout"},
      {"    %a = tt.splat %n : i32 -> tensor<4xf8E4M3FNUZ>\n", "error[ttir.type]: tt.splat has no result type"},
      {"    %a = arith.cmpi foo, %n, %n : i32\n", "error[ttir.syntax]: arith.cmpi names no comparison"},
      {"    %a = tt.get_program_id w : i32\n", "error[ttir.syntax]: tt.get_program_id names no axis"},
      {"    tt.call @f(%n) : (i32) -> ()\n", "error[ttir.value]: tt.call calls @f, which is not here"},
      {"    tt.call @k(%p, %n) : (!tt.ptr<f32>, i32) -> ()\n", "more than 32 functions deep"},
      {"    tt.call @k(%n, %n) : (i32, i32) -> ()\n", "error[ttir.type]: tt.call calls @k, whose types are others"},
      {"    %a = tt.elementwise_inline_asm \"vadd.s32 $0, $1;\" {constraints = \"=r,r\"} %n : i32 -> i32\n",
       "error[ttir.unsupported]: tt.elementwise_inline_asm has the instruction vadd.s32 $0, $1"},
      {"    %a = tt.elementwise_inline_asm \"add.s32 $0, $9, $1;\" {constraints = \"=r,r\"} %n : i32 -> i32\n",
       "has the instruction add.s32 $0, $9, $1"},
      {"    %a = tt.elementwise_inline_asm \"lop3.b32 $0, $1, $1, $1, $1;\" {constraints = \"=r,r\"} %n : i32 -> i32\n",
       "has the instruction lop3.b32 $0, $1, $1, $1, $1"},
      {"    %a = tt.elementwise_inline_asm \"addc.u32 $0, $1, $1;\" {constraints = \"=r,r\"} %n : i32 -> i32\n",
       "has the instruction addc.u32 $0, $1, $1"},
      {"    %a = tt.elementwise_inline_asm \"min.foo.s32 $0, $1, $1;\" {constraints = \"=r,r\"} %n : i32 -> i32\n",
       "fix: min takes 2 operands, floats or signed integers or unsigned integers, with .ftz .NaN .relu .xorsign .abs; "
       "min takes 3 operands, floats, with .ftz .NaN .abs"},
      {"    %a = tt.elementwise_inline_asm \"vadd4.s32.s32.s32.sat.add $0, $1, $1, $1;\" {constraints = \"=r,r\"} %n : i32 -> i32\n",
       "fix: vadd4 takes 3 types of .s32 .u32, with .sat or .add; 3 operands, without parts of them"},
      {"    %a = tt.elementwise_inline_asm \"vmin4.u32.u32.u32 $0, $1.b0123, $1, $1;\" {constraints = \"=r,r\"} %n : i32 -> i32\n",
       "has the instruction vmin4.u32.u32.u32 $0, $1.b0123, $1, $1"},
      {"    %a = tt.elementwise_inline_asm \"vset.s32.s32.lt.sat $0, $1.h0, $1;\" {constraints = \"=r,r\"} %n : i32 -> i32\n",
       "fix: vset takes 2 types of .s32 .u32 and .eq .ne .lt .le .gt or .ge, and .add .min .max with a third operand; "
       "parts .b0 to .b3 .h0 .h1 of the first two"},
      {"    %a = tt.elementwise_inline_asm \"prmt.b32.rc8 $0, $1, $1, $1;\" {constraints = \"=r,r\"} %n : i32 -> i32\n",
       "has the instruction prmt.b32.rc8 $0, $1, $1, $1"},
      {"    %a = tt.elementwise_inline_asm \"cvt.rn.e4m3x2.f32 $0, $1, $1;\" {constraints = \"=r,r\"} %n : i32 -> i32\n",
       "has the instruction cvt.rn.e4m3x2.f32 $0, $1, $1"},
      {"    %a = tt.elementwise_inline_asm \"@p\" {constraints = \"=r,r\"} %n : i32 -> i32\n", "has \"@p\""},
      {"    %a = tt.elementwise_inline_asm \"\" {constraints = \"=r,r\"} %n : i32 -> i32\n",
       "leaves a result without a value"},
      {"    %h = arith.trunci %n : i32 to i16\n    %q = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i16>\n"
       "    %a = tt.atomic_cas relaxed, gpu, %q, %h, %h : (!tt.ptr<i16>, i16, i16) -> i16\n",
       "error[ttir.unsupported]: tt.atomic_cas compares tile<i16>"},
      {"    %v = tt.splat %n : i32 -> tensor<4xi32>\n    %a = \"tt.reduce\"(%v) <{axis = 0 : i32}> ({\n    ^bb0(%x: i32, "
       "%y: i32):\n      %c = arith.cmpi slt, %x, %y : i32\n      tt.assert %c, \"less\" : i1\n"
       "      tt.reduce.return %x : i32\n    }) : (tensor<4xi32>) -> i32\n",
       "error[ttir.unsupported]: tt.assert stands in a function that combines"},
      {"    %v = tt.splat %n : i32 -> tensor<4xi32>\n    %a = tt.unsplat %v : tensor<4xi32>\n",
       "error[ttir.type]: tt.unsplat takes a tensor of one element"},
      {"    %l = arith.constant 1 : i64\n    %t = arith.cmpi slt, %n, %n : i32\n"
       "    %d = tt.make_tensor_descriptor %p, [%n], [%l] {padding = 2 : i32} : <f32>, <4xf32>\n"
       "    %e = scf.if %t -> (!tt.tensordesc<4xf32>) {\n      scf.yield %d : !tt.tensordesc<4xf32>\n    } else {\n"
       "      scf.yield %d : !tt.tensordesc<4xf32>\n    }\n",
       "error[ttir.unsupported]: scf.yield hands on a descriptor that pads with NaN"},
      {"    %b = tt.atomic_poll acquire, gpu, %p, %n timeout %n : !tt.ptr<f32>, i32 -> i1\n",
       "error[ttir.unsupported]: tt.atomic_poll gives up"},
      {"    %a = tt.extern_elementwise %n {symbol = \"__nv_brevf\"} : (i32) -> i32\n",
       "error[ttir.unsupported]: tt.extern"},
      {"    %a = tt.extern_elementwise %n {symbol = \"__nv_float2int_rd\"} : (i32) -> i32\n",
       "calls __nv_float2int_rd, which"},
      {"    %a = tt.extern_elementwise %n, %n {symbol = \"__nv_popc\"} : (i32, i32) -> i32\n",
       "calls __nv_popc, which"},
      {"    %a = tt.extern_elementwise %n {symbol = \"__nv_int2float_rx\"} : (i32) -> f32\n",
       "calls __nv_int2float_rx, which"},
      {"    scf.yield %n : i32\n", "error[ttir.syntax]: scf.yield does not stand at the end of its region"},
      {"    %a = \"tt.reduce\"(%n) <{axis = 0 : i32}> ({\n    ^bb0(%x: i32, %y: i32):\n      tt.reduce.return %x : i32\n"
       "    }) : (i32) -> i32\n",
       "error[ttir.type]: tt.reduce folds tensors"},
      {"    %v = tt.splat %n : i32 -> tensor<4xi32>\n    %a = \"tt.reduce\"(%v) <{axis = 0 : i32}> ({\n    ^bb0(%x: i32, "
       "%y: i32):\n      %z = arith.addf %x, %y : i32\n      tt.reduce.return %z : i32\n    }) : (tensor<4xi32>) -> i32\n",
       "error[addf.c5]"},
      {"    cf.br ^bb1\n  ^bb1:\n    cf.br ^bb1\n  ^bb2:\n", "error[ttir.unsupported]: cf.br leads back"},
      {"    cf.br ^bb7\n  ^bb1:\n", "error[ttir.value]: cf.br leads to ^bb7, which is not here"},
      {"    %a = arith.addi %n, %n : i32 }\n", "error[ttir.syntax]"},
      {"    %a = arith.addi %n, ? : i32\n", "error[ttir.syntax]: this has no meaning here"},
      {"    %a = \"x\n", "error[ttir.syntax]: the string does not end on its line"},
      {"    %i:2 = scf.while (%a = %n) : (i32) -> (i32, i32) {\n    } do {\n    }\n",
       "error[ttir.syntax]: scf.while needs"},
      {"    %a = tt.trans %n {order = array<i32: 1, 0>} : i32 -> i32\n", "error[ttir.type]: tt.trans does not permute"},
      {"    %a = tt.make_range {end = 9 : i32, start = 0 : i32} : tensor<8xi32>\n", "error[ttir.type]: tt.make_range"},
  };
  for (const Case& c : cases) {
    const std::string e = ErrorOf(Kernel(c.body));
    EXPECT_TRUE(absl::StrContains(e, c.message)) << c.body << e;
  }
}

TEST(TtirErrors, OfFunctions) {
  const auto error = [](absl::string_view from, absl::string_view to) {
    return ErrorOf(absl::StrReplaceAll(Kernel(""), {{from, to}}));
  };
  EXPECT_TRUE(absl::StrContains(error("%n: i32)", "%n: !x.y<i32>)"),
                                "error[ttir.unsupported]: tt.func @k has the parameter %n"));
  EXPECT_TRUE(
      absl::StrContains(error("%n: i32)", "%n: i32) -> i32"), "error[ttir.unsupported]: tt.func @k returns a value"));
  EXPECT_TRUE(absl::StrContains(error("module", "tt.func"), "error[ttir.syntax]"));
  EXPECT_TRUE(absl::StrContains(ErrorOf("tt.func public @k() { tt.return }\ntt.func public @k() { tt.return }\n"),
                                "defined twice"));
}

TEST(TtirLimits, NestingEndsInAnError) {
  const std::string deep(100000, '<');
  ErrorOf(Kernel("    %a = tt.splat %n : i32 -> tensor" + deep + "\n"));
  ErrorOf(Kernel("    %a = arith.addi %n, %n {x = " + std::string(100000, '[') + "\n"));
  std::string regions, locs = "#loc6 = ";
  for (int i = 0; i < 100; ++i) regions += "    scf.if %t {\n";
  EXPECT_TRUE(absl::StrContains(ErrorOf(Kernel(regions)), "error[ttir.limit]: regions nest more than"));
  for (int i = 0; i < 100000; ++i) locs += "loc(\"x\"(";
  ErrorOf(Kernel("") + locs);
}

// Branches whose both sides meet again and again: what follows would be repeated 2^40 times.
TEST(TtirLimits, RepetitionEndsInAnError) {
  std::string body = "    %t = arith.cmpi slt, %n, %n : i32\n    cf.br ^a0\n";
  for (int i = 0; i < 40; ++i) {
    absl::StrAppend(&body, "  ^a", i, ":\n    cf.cond_br %t, ^b", i, ", ^c", i, "\n  ^b", i, ":\n    cf.br ^a", i + 1,
                    "\n  ^c", i, ":\n    cf.br ^a", i + 1, "\n");
  }
  EXPECT_TRUE(absl::StrContains(ErrorOf(Kernel(body + "  ^a40:\n")), "error[ttir.unsupported]"));
}

// Functions that call the next one twice: the last one would be read 2^20 times.
TEST(TtirLimits, CallsEndInAnError) {
  std::string functions = "module {\n  tt.func public @k() {\n    tt.call @f0() : () -> ()\n    tt.return\n  }\n";
  for (int i = 0; i < 20; ++i) {
    const std::string next = i == 19 ? "" : absl::StrCat("    tt.call @f", i + 1, "() : () -> ()\n");
    absl::StrAppend(&functions, "  tt.func private @f", i, "() {\n", next, next, "    tt.return\n  }\n");
  }
  EXPECT_TRUE(absl::StrContains(ErrorOf(functions + "}\n"), "error[ttir.unsupported]"));
}

// Each function calls the next one within branches.
TEST(TtirLimits, NestingAddsUpOverCalls) {
  std::string open, close;
  for (int i = 0; i < 50; ++i) {
    open += "    scf.if %t {\n";
    close += "    }\n";
  }
  std::string text = "module {\n  tt.func public @k(%t: i1) {\n    tt.call @f0(%t) : (i1) -> ()\n    tt.return\n  }\n";
  for (int i = 0; i < 10; ++i) {
    const std::string next = i == 9 ? "" : absl::StrCat("    tt.call @f", i + 1, "(%t) : (i1) -> ()\n");
    absl::StrAppend(&text, "  tt.func private @f", i, "(%t: i1) {\n", open, next, close, "    tt.return\n  }\n");
  }
  EXPECT_TRUE(absl::StrContains(ErrorOf(text + "}\n"), "error[ttir.limit]: tt.call stands more than"));
}

// Aliases that lead through each other a hundred thousand times.
TEST(TtirLimits, LongChainsOfLocationsSayNothing) {
  std::string text = Kernel("    %x = arith.addi %n, %n : i32 loc(#l0)\n");
  for (int i = 0; i < 100000; ++i) absl::StrAppend(&text, "#l", i, " = loc(\"x\"(#l", i + 1, "))\n");
  EXPECT_EQ(AllOf(*Read(text), Opcode::kAddi)[0]->loc, 0u);
}

// Every text of tests/ttir cut anywhere, and with pieces exchanged: an error, or a module that can be judged.
TEST(TtirDamage, IsAnErrorOrAProgram) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/ttir")) {
    if (entry.path().extension() != ".ttir") continue;
    ++files;
    std::stringstream buffer;
    buffer << std::ifstream(entry.path()).rdbuf();
    const std::string text = buffer.str();
    const size_t begin = text.find("#loc");
    uint32_t random = 12345;
    for (int i = 0; i < 150; ++i) {
      random = random * 1664525 + 1013904223;
      std::string damaged = text;
      const size_t at = begin + (random >> 8) % (text.size() - begin);
      random = random * 1664525 + 1013904223;
      const size_t from = begin + (random >> 8) % (text.size() - begin);
      if (i % 3 == 0) damaged.resize(at);
      if (i % 3 == 1) damaged.replace(at, 1 + (random >> 4) % 8, text.substr(from, (random >> 12) % 12));
      if (i % 3 == 2) damaged[at] = "%#!<>(){}[]:,-x0"[random >> 28];
      Diagnostics d;
      const std::unique_ptr<Module> m = ReadTtir(damaged, "damaged.ttir", &d);
      ASSERT_EQ(m == nullptr, !d.ok()) << damaged;
      if (m != nullptr) Verify(*m, &d);
    }
  }
  EXPECT_GE(files, 20);
}

}  // namespace
}  // namespace tile::ir
