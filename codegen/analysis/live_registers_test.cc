#include "codegen/analysis/live_registers.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/module.h"
#include "ir/text/parser.h"

namespace tile::codegen {
namespace {

int64_t Most(const std::string& body) {
  ir::Diagnostics d;
  const auto module = ir::Parse(absl::StrCat("entry @k(%n: tile<i32>) {\n  %x = get_global @g : tile<ptr<f32>>\n", body,
                                             "  return\n}\nglobal @g <f32: 1.0> : tile<1xf32>\n"),
                                "k.tile", &d);
  EXPECT_TRUE(d.ok()) << d.ToString();
  return module == nullptr ? -1 : MostLiveRegisters(*module->FindFunction("k")).words;
}

constexpr char kPointers[] =
    "  %p1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>\n"
    "  %p = broadcast %p1 : tile<1xptr<f32>> -> tile<64xptr<f32>>\n"
    "  %a, %t = load_ptr_tko weak %p : tile<64xptr<f32>> -> tile<64xf32>, token\n";

TEST(LiveRegisters, DyingOperandsMakeRoomForResults) {
  EXPECT_EQ(Most(absl::StrCat(kPointers, "  print_tko \"%a\", %a : tile<64xf32> -> token\n")), 64);
  EXPECT_EQ(Most(absl::StrCat(kPointers,
                              "  %b = mulf %a, %a : tile<64xf32>\n  %c = addf %b, %b : tile<64xf32>\n"
                              "  print_tko \"%c\", %c : tile<64xf32> -> token\n")),
            64);
  EXPECT_EQ(Most(absl::StrCat(kPointers,
                              "  %b = mulf %a, %a : tile<64xf32>\n  %c = addf %b, %a : tile<64xf32>\n"
                              "  print_tko \"%c\", %c : tile<64xf32> -> token\n")),
            128);
}

TEST(LiveRegisters, LoopsCarryTilesAndKeepWhatTheyUse) {
  constexpr char kLoop[] =
      "  %zero = constant <i32: 0> : tile<i32>\n  %one = constant <i32: 1> : tile<i32>\n"
      "  %s = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%c = %a) -> (tile<64xf32>) {\n"
      "    %d = addf %c, OTHER : tile<64xf32>\n    continue %d : tile<64xf32>\n  }\n"
      "  print_tko \"%s\", %s : tile<64xf32> -> token\n";
  std::string own = kLoop, outside = kLoop;
  own.replace(own.find("OTHER"), 5, "%c");
  outside.replace(outside.find("OTHER"), 5, "%b");
  EXPECT_EQ(Most(absl::StrCat(kPointers, own)), 64);
  EXPECT_EQ(Most(absl::StrCat(kPointers, "  %b = mulf %a, %a : tile<64xf32>\n", outside)), 128);
}

TEST(LiveRegisters, WhatIsMadeOfRepeatedElementsRepeats) {
  // 64 columns of one row each: neither the broadcast nor its negation takes 4096 registers.
  EXPECT_EQ(Most(absl::StrCat(kPointers,
                              "  %row = reshape %a : tile<64xf32> -> tile<1x64xf32>\n"
                              "  %all = broadcast %row : tile<1x64xf32> -> tile<64x64xf32>\n"
                              "  %less = negf %all : tile<64x64xf32>\n"
                              "  print_tko \"%less\", %less : tile<64x64xf32> -> token\n")),
            64);
}

TEST(LiveRegisters, OneOfTwoRegionsIsRun) {
  // What the second region gives on is not there beside what the first one makes.
  EXPECT_EQ(Most(absl::StrCat(kPointers,
                              "  %one = constant <i32: 1> : tile<i32>\n"
                              "  %is = cmpi less_than %n, %one, signed : tile<i32> -> tile<i1>\n"
                              "  %b = if %is -> (tile<64xf32>) {\n    %c = mulf %a, %a : tile<64xf32>\n"
                              "    yield %c : tile<64xf32>\n  } else {\n    yield %a : tile<64xf32>\n  }\n"
                              "  print_tko \"%b\", %b : tile<64xf32> -> token\n")),
            64);
  // But it is if it is used after them.
  EXPECT_EQ(Most(absl::StrCat(kPointers,
                              "  %one = constant <i32: 1> : tile<i32>\n"
                              "  %is = cmpi less_than %n, %one, signed : tile<i32> -> tile<i1>\n"
                              "  %b = if %is -> (tile<64xf32>) {\n    %c = mulf %a, %a : tile<64xf32>\n"
                              "    yield %c : tile<64xf32>\n  } else {\n    yield %a : tile<64xf32>\n  }\n"
                              "  print_tko \"%b %a\", %b, %a : tile<64xf32>, tile<64xf32> -> token\n")),
            128);
}

TEST(LiveRegisters, WhatLiesElsewhereForALoopLiesThereForTheNextOneToo) {
  ir::Diagnostics d;
  std::string text = absl::StrCat("entry @k(%n: tile<i32>) {\n  %x = get_global @g : tile<ptr<f32>>\n", kPointers,
                                  "  %b = mulf %a, %a : tile<64xf32>\n"
                                  "  %zero = constant <i32: 0> : tile<i32>\n  %one = constant <i32: 1> : tile<i32>\n");
  for (const char* name : {"s", "t"}) {
    absl::StrAppend(&text, "  %", name, "1 = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%c = ",
                    name[0] == 's' ? "%a" : "%s1",
                    ") -> (tile<64xf32>) {\n    %e = mulf %c, %c : tile<64xf32>\n    %f = addf %e, %b : tile<64xf32>\n"
                    "    %d = addf %f, %c : tile<64xf32>\n    continue %d : tile<64xf32>\n  }\n");
  }
  absl::StrAppend(&text,
                  "  print_tko \"%t\", %t1 : tile<64xf32> -> token\n  return\n}\nglobal @g <f32: 1.0> : tile<1xf32>\n");
  const auto module = ir::Parse(text, "k.tile", &d);
  ASSERT_TRUE(d.ok()) << d.ToString();
  const ir::Function& k = *module->FindFunction("k");
  EXPECT_EQ(MostLiveRegisters(k).words, 192);
  const auto from_outside = [](const ir::Op& op, int i) {
    const ir::Op* def = op.operand(i)->def();
    return op.parent() != nullptr && def != nullptr && def->parent() == nullptr;
  };
  EXPECT_EQ(MostLiveRegisters(k, from_outside).words, 128);
}

// Addresses and masks of a store, or of an update whose old values nobody reads, are computed element by element as it stores; those of a load, or that another block uses, are there at once.
TEST(LiveRegisters, WhatOnlySaysWhereAStoreGoes) {
  const std::string addresses =
      "  %i = iota : tile<64xi32>\n  %n1 = reshape %n : tile<i32> -> tile<1xi32>\n  %ns = broadcast %n1 : tile<1xi32> -> tile<64xi32>\n"
      "  %j = muli %i, %ns : tile<64xi32>\n  %q = offset %p, %j : tile<64xptr<f32>>, tile<64xi32>\n"
      "  %m = cmpi less_than %j, %ns, signed : tile<64xi32> -> tile<64xi1>\n";
  const auto words = [&](const std::string& body) {
    ir::Diagnostics d;
    const auto module =
        ir::Parse(absl::StrCat("entry @k(%n: tile<i32>) {\n  %x = get_global @g : tile<ptr<f32>>\n", kPointers,
                               addresses, body, "  return\n}\nglobal @g <f32: 1.0> : tile<1xf32>\n"),
                  "k.tile", &d);
    EXPECT_TRUE(d.ok()) << d.ToString();
    return MostLiveBesideStores(*module->FindFunction("k")).words;
  };
  const std::string store = "  store_ptr_tko weak %q, %a, %m : tile<64xptr<f32>>, tile<64xf32>, tile<64xi1> -> token\n";
  EXPECT_EQ(words(store), 64);
  const std::string update =
      "  %o, %u = atomic_rmw_tko relaxed device %q, addf, %a, %m : tile<64xptr<f32>>, tile<64xf32>, tile<64xi1> -> tile<64xf32>, token\n";
  EXPECT_EQ(words(update), 64);
  EXPECT_GT(words(absl::StrCat(update, "  print_tko \"%o\", %o : tile<64xf32> -> token\n")), 64);
  const std::string flag =
      "  %zero = constant <i32: 0> : tile<i32>\n  %is = cmpi less_than %n, %zero, signed : tile<i32> -> tile<i1>\n";
  EXPECT_GT(words(absl::StrCat(flag, "  if %is {\n  ", store, "  }\n")), 64);
  EXPECT_GT(words(absl::StrCat(store, "  print_tko \"%j\", %j : tile<64xi32> -> token\n")), 64);
}

int64_t MostData(const std::string& body) {
  ir::Diagnostics d;
  const auto module =
      ir::Parse(absl::StrCat("entry @k() {\n  %x = get_global @g : tile<ptr<bf16>>\n"
                             "  %p1 = reshape %x : tile<ptr<bf16>> -> tile<1xptr<bf16>>\n"
                             "  %p = broadcast %p1 : tile<1xptr<bf16>> -> tile<64xptr<bf16>>\n"
                             "  %w, %t = load_ptr_tko weak %p : tile<64xptr<bf16>> -> tile<64xbf16>, token\n"
                             "  %v, %u = load_ptr_tko weak %p : tile<64xptr<bf16>> -> tile<64xbf16>, token\n"
                             "  %a = ftof %v : tile<64xbf16> -> tile<64xf32>\n",
                             body, "  return\n}\nglobal @g <bf16: 1.0> : tile<64xbf16>\n"),
                "k.tile", &d);
  EXPECT_TRUE(d.ok()) << d.ToString();
  return module == nullptr ? -1 : MostLiveData(*module->FindFunction("k")).words;
}

constexpr char kSum[] =
    "  %s = reduce %a dim=0 identities=[0.0 : f32] : tile<64xf32> -> tile<f32>\n"
    "  (%e: tile<f32>, %f: tile<f32>) {\n    %g = addf %e, %f : tile<f32>\n    yield %g : tile<f32>\n  }\n"
    "  %s1 = reshape %s : tile<f32> -> tile<1xf32>\n  %sn = broadcast %s1 : tile<1xf32> -> tile<64xf32>\n"
    "  %d = subf %a, %sn : tile<64xf32>\n";

// A weight that waits for the sum takes the registers in which it was loaded, two elements in one; what is computed from it, all of its own.
TEST(LiveRegisters, WhatWaitsForASumIsKept) {
  const std::string scaled = "  %y = mulf %d, %c : tile<64xf32>\n  print_tko \"%y\", %y : tile<64xf32> -> token\n";
  const std::string converted = "  %c = ftof %w : tile<64xbf16> -> tile<64xf32>\n";
  const std::string computed = "  %b = ftof %w : tile<64xbf16> -> tile<64xf32>\n  %c = exp %b : tile<64xf32>\n";
  EXPECT_EQ(MostData(absl::StrCat(converted, kSum, scaled)), 64 + 32);
  EXPECT_EQ(MostData(absl::StrCat(computed, kSum, scaled)), 64 + 64);
  EXPECT_EQ(MostData(absl::StrCat(kSum, computed, scaled)), 64 + 32);
}

TEST(LiveRegisters, MasksTakeNoneWhereThatIsAsked) {
  ir::Diagnostics d;
  const auto module =
      ir::Parse(absl::StrCat("entry @k(%n: tile<i32>) {\n  %x = get_global @g : tile<ptr<f32>>\n", kPointers,
                             "  %i = iota : tile<64xi32>\n"
                             "  %m = cmpi less_than %i, %i, signed : tile<64xi32> -> tile<64xi1>\n"
                             "  %o = cmpi greater_than %i, %i, signed : tile<64xi32> -> tile<64xi1>\n"
                             "  %w = andi %m, %o : tile<64xi1>\n"
                             "  %b = select %w, %a, %a : tile<64xi1>, tile<64xf32>\n"
                             "  print_tko \"%t\", %b : tile<64xf32> -> token\n  return\n}\n"
                             "global @g <f32: 1.0> : tile<1xf32>\n"),
                "k.tile", &d);
  ASSERT_TRUE(d.ok()) << d.ToString();
  const ir::Function& k = *module->FindFunction("k");
  EXPECT_EQ(MostLiveRegisters(k).words, 192);
  EXPECT_EQ(MostLiveRegisters(k, [](const ir::Op&, int) { return false; }).words, 64);
}

}  // namespace
}  // namespace tile::codegen
