#include "vm/prepare/fold_select.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"

namespace tile::vm {
namespace {

// What a reduce over values and places of 64 elements with this body keeps.
Kept KeptBy(const std::string& body, const std::string& elem = "f32", const std::string& identity = "-inf",
            const std::string& place = "i32") {
  const std::string kernel = absl::StrReplaceAll(R"(entry @k() {
  %x = constant <V: 1> : tile<64xV>
  %i = constant <I: 0> : tile<64xI>
  %m, %n = reduce %x, %i dim=0 identities=[IDENTITY : V, 0 : I] : tile<64xV>, tile<64xI> -> tile<V>, tile<I>
  (%e: tile<V>, %a: tile<V>, %p: tile<I>, %b: tile<I>) {
BODY  }
  return
}
)",
                                                 {{"BODY", body}, {"IDENTITY", identity}});
  const std::string text = absl::StrReplaceAll(kernel, {{"<V", "<" + elem},
                                                        {"xV", "x" + elem},
                                                        {": V", ": " + elem},
                                                        {"<I", "<" + place},
                                                        {"xI", "x" + place},
                                                        {": I", ": " + place}});
  ir::Diagnostics diagnostics;
  const auto module = ir::Parse(text, "k.tile", &diagnostics);
  EXPECT_TRUE(diagnostics.ToStatus().ok()) << diagnostics.ToString() << text;
  if (module == nullptr) return Kept::kNeither;
  for (const ir::Op* op : *module->FindFunction("k")->body()) {
    if (op->opcode() == ir::Opcode::kReduce) return SideKept(*op);
  }
  ADD_FAILURE() << "no reduce";
  return Kept::kNeither;
}

constexpr char kYield[] = R"(
    %v = select %take, %e, %a : tile<i1>, tile<V>
    %w = select %take, %p, %b : tile<i1>, tile<I>
    yield %v, %w : tile<V>, tile<I>
)";

std::string Taking(const std::string& condition) { return absl::StrCat("    ", condition, kYield); }

TEST(SideKept, ArgMax) {
  EXPECT_EQ(Kept::kLeftmost, KeptBy(Taking("%take = cmpf greater_than ordered %e, %a : tile<V> -> tile<i1>")));
  EXPECT_EQ(Kept::kLeftmost, KeptBy(Taking("%take = cmpf less_than ordered %a, %e : tile<V> -> tile<i1>")));
  EXPECT_EQ(Kept::kLeftmost,
            KeptBy(Taking("%take = cmpf less_than ordered %e, %a : tile<V> -> tile<i1>"), "f32", "inf"));
}

TEST(SideKept, TheLastOfEquals) {
  EXPECT_EQ(Kept::kRightmost,
            KeptBy(Taking("%take = cmpf greater_than_or_equal ordered %e, %a : tile<V> -> tile<i1>")));
  EXPECT_EQ(Kept::kRightmost,
            KeptBy(Taking("%take = cmpi less_than_or_equal %e, %a, signed : tile<V> -> tile<i1>"), "i32", "0"));
  EXPECT_EQ(Kept::kNeither, KeptBy(Taking("%take = cmpf not_equal ordered %e, %a : tile<V> -> tile<i1>")));
  EXPECT_EQ(Kept::kNeither, KeptBy(Taking("%take = cmpf equal ordered %e, %a : tile<V> -> tile<i1>")));
}

TEST(SideKept, NanMustNotBeTaken) {
  EXPECT_EQ(Kept::kNeither, KeptBy(Taking("%take = cmpf greater_than unordered %e, %a : tile<V> -> tile<i1>")));
  EXPECT_EQ(Kept::kNeither,
            KeptBy(Taking("%take = cmpf greater_than_or_equal unordered %e, %a : tile<V> -> tile<i1>")));
  // The identity takes no part.
  EXPECT_EQ(Kept::kLeftmost,
            KeptBy(Taking("%take = cmpf greater_than ordered %e, %a : tile<V> -> tile<i1>"), "f32", "nan"));
}

constexpr char kTie[] = R"(%above = cmpf greater_than ordered %e, %a : tile<V> -> tile<i1>
    %equal = cmpf equal ordered %e, %a : tile<V> -> tile<i1>
    %earlier = CMP : tile<I> -> tile<i1>
    %tie = andi %equal, %earlier : tile<i1>
    %take = ori %above, %tie : tile<i1>)";

TEST(SideKept, RuleForTies) {
  const auto tie = [](const std::string& compare) { return Taking(absl::StrReplaceAll(kTie, {{"CMP", compare}})); };
  EXPECT_EQ(Kept::kLeftmost, KeptBy(tie("cmpi less_than %p, %b, signed")));
  EXPECT_EQ(Kept::kLeftmost, KeptBy(tie("cmpi greater_than %p, %b, unsigned")));
  EXPECT_EQ(Kept::kRightmost, KeptBy(tie("cmpi less_than_or_equal %p, %b, signed")));
  // NaN among the places: which one stays would depend on the grouping.
  EXPECT_EQ(Kept::kNeither, KeptBy(tie("cmpf less_than ordered %p, %b"), "f32", "-inf", "f32"));
}

TEST(SideKept, OneOrderAnOperand) {
  const std::string both = R"(%x1 = cmpi greater_than %e, %a, signed : tile<V> -> tile<i1>
    %x2 = cmpi greater_than %e, %a, unsigned : tile<V> -> tile<i1>
    %take = andi %x1, %x2 : tile<i1>)";
  EXPECT_EQ(Kept::kLeftmost,
            KeptBy(Taking("%take = cmpi greater_than %e, %a, unsigned : tile<V> -> tile<i1>"), "i32", "0"));
  EXPECT_EQ(Kept::kNeither, KeptBy(Taking(both), "i32", "0"));
}

TEST(SideKept, AllOfOneSideAndNothingElse) {
  const std::string above = "    %take = cmpf greater_than ordered %e, %a : tile<V> -> tile<i1>\n";
  EXPECT_EQ(Kept::kNeither, KeptBy(above + "    %v = select %take, %e, %a : tile<i1>, tile<V>\n"
                                           "    yield %v, %p : tile<V>, tile<I>\n"));
  EXPECT_EQ(Kept::kNeither, KeptBy(above + "    %v = addf %e, %a : tile<V>\n    yield %v, %b : tile<V>, tile<I>\n"));
  EXPECT_EQ(Kept::kNeither,
            KeptBy(Taking("%one = constant <i1: 1> : tile<i1>\n    %take = andi %one, %one : tile<i1>")));
  EXPECT_EQ(Kept::kNeither, KeptBy("    yield %e, %p : tile<V>, tile<I>\n"));
}

}  // namespace
}  // namespace tile::vm
