#include "runtime/report.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace tile::runtime {
namespace {

TEST(Report, ComesOutAsItWentIn) {
  Report a;
  a.code = "vm.assert";
  a.where = "k.tile:3:1";
  a.kernel = "k";
  a.block[2] = 7;
  a.op = "assert";
  a.message = std::string("n: even\0\n12:x", 13);  // whatever a program says
  a.elements = " (element [5])";
  Report b;
  b.warning = true;
  b.code = "vm.race";
  for (int64_t& i : b.block) i = -1;
  b.fix = "use an atomic";
  b.order = "random:7";
  Report late, early;
  late.block[0] = 5, late.block[2] = 9;
  early.block[0] = 6, early.block[1] = 1;
  early.elements = " (element [3])";
  a.AddBlock(late);
  a.AddBlock(early);
  const absl::Status status = ReportStatus({a, b});
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(status.message(), a.ToString() + "\n" + b.ToString());
  const std::vector<Report> reports = ReportsOf(status);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_FALSE(reports[0].warning);
  EXPECT_TRUE(reports[1].warning);
  EXPECT_EQ(reports[0].message, a.message);
  EXPECT_EQ(reports[0].elements, " (element [3])");
  EXPECT_EQ(reports[0].block[2], 0);
  EXPECT_EQ(reports[0].others, 2);
  EXPECT_EQ(reports[0].first_other[2], 7);
  EXPECT_EQ(reports[0].last_other[0], 5);
  EXPECT_EQ(reports[1].block[0], -1);
  EXPECT_EQ(reports[1].fix, b.fix);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(reports[static_cast<size_t>(i)].ToString(), (i == 0 ? a : b).ToString());
}

TEST(Report, BlocksOfOneReport) {
  Report r;
  r.code = "vm.assert";
  r.where = "k.tile:3:1";
  r.kernel = "k";
  r.op = "assert";
  r.message = "no";
  r.block[0] = 4;
  Report other = r;
  const auto text = [&r](absl::string_view blocks) {
    return absl::StrCat("k.tile:3:1: error[vm.assert]: no", r.elements, "\n  in kernel `k`, block ", blocks);
  };
  EXPECT_EQ(r.ToString(), text("(4, 0, 0), at assert"));
  for (const int64_t x : {2, 9, 3}) {
    other.block[0] = x;
    other.elements = absl::StrCat(" (element ", x, ")");
    EXPECT_TRUE(r.SaysSame(other));
    r.AddBlock(other);
    if (x == 2) {
      EXPECT_EQ(r.ToString(), text("(2, 0, 0), at assert, and in block (4, 0, 0)"));
    }
  }
  EXPECT_EQ(r.ToString(), text("(2, 0, 0), at assert, and in 3 other blocks: first (3, 0, 0), last (9, 0, 0)"));
  EXPECT_EQ(r.elements, " (element 2)");
  other.message = "another";
  EXPECT_FALSE(r.SaysSame(other));
}

TEST(Report, OthersHaveNone) {
  EXPECT_TRUE(ReportsOf(absl::OkStatus()).empty());
  EXPECT_TRUE(ReportsOf(absl::AbortedError("else")).empty());
  EXPECT_EQ(ReportsOf(ReportStatus({Report()}, "a fault")).size(), 1u);
  EXPECT_EQ(ReportStatus({Report()}, "a fault").message(), "a fault");
}

}  // namespace
}  // namespace tile::runtime
