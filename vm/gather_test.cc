// Loads and stores through pointers that are not side by side give what single ones give. --check=full takes lanes in runs only,
// so it is the comparison: rows and columns with strides and masks, neighbours at negative offsets, tables, lanes outside.
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "vm/vm.h"

namespace tile::vm {
namespace {

constexpr int64_t kElements = 4096;  // of each array

struct Result {
  std::vector<uint8_t> y;
  std::vector<std::string> reports;
};

// Runs kernel @k(%x, %y, %n): %y after it, and what it reports but for where memory lies.
Result RunWith(const std::string& text, CheckLevel check, int64_t n, uint64_t skew = 0) {
  Result r;
  ir::Diagnostics d;
  auto module = ir::Parse(text, "k.tile", &d);
  if (module != nullptr) ir::Verify(*module, &d);
  EXPECT_TRUE(d.ok()) << d.ToString() << text;
  if (!d.ok()) return r;
  auto program = Program::Prepare(*module, "k");
  EXPECT_TRUE(program.ok()) << program.status();
  std::mt19937 random(1);
  std::vector<uint8_t> x(kElements * 8 + 8);
  r.y.assign(kElements * 8 + 8, 0);
  for (uint8_t& byte : x) byte = static_cast<uint8_t>(random());
  Launch launch;
  launch.threads = 1;
  launch.check = check;
  launch.params = {reinterpret_cast<uintptr_t>(x.data()) + skew, reinterpret_cast<uintptr_t>(r.y.data()),
                   static_cast<uint64_t>(n)};
  launch.buffers = {{"x", x.data(), x.size(), ir::Element{ir::Elem::kI8}, {}},
                    {"y", r.y.data(), r.y.size(), ir::Element{ir::Elem::kI8}, {}}};
  const Outcome o = (*program)->Run(launch);
  EXPECT_TRUE(o.status.ok()) << o.status;
  for (const Report& report : o.reports) {
    const std::string message = report.message.substr(0, report.message.find(" address"));
    r.reports.push_back(absl::StrCat(report.where, " ", report.code, " ", message));
  }
  return r;
}

// Loads elements %p of x where %ok, and stores them to %q of y where %ok; %rows and %cols count a tile of 16 x 32.
std::string Kernel(const std::string& lanes, const char* type = "i32", const std::string& padding = ", 0") {
  constexpr char kText[] = R"(entry @k(%x: tile<ptr<T>>, %y: tile<ptr<T>>, %n: tile<i32>) {
  %r = iota : tile<16xi32>
  %c = iota : tile<32xi32>
  %rows = reshape %r : tile<16x1xi32>
  %cols = reshape %c : tile<1x32xi32>
LANES
  %v = load_ptr_tko weak %p, %okPADDING
  store_ptr_tko weak %q, %v, %ok
  return
}
)";
  return absl::StrReplaceAll(kText, {{"LANES", lanes}, {"<T>", absl::StrCat("<", type, ">")}, {"PADDING", padding}});
}

constexpr char kStencil[] = R"(
  %rr0 = muli %rows, 2
  %cc0 = muli %cols, STEP
  %rr = addi %rr0, ROW
  %cc = addi %cc0, COLUMN
  %r0 = cmpi greater_than_or_equal %rr, 0, signed
  %r1 = cmpi less_than %rr, %n, signed
  %c0 = cmpi greater_than_or_equal %cc, 0, signed
  %c1 = cmpi less_than %cc, 60, signed
  %rok = andi %r0, %r1
  %cok = andi %c0, %c1
  %ok = andi %rok, %cok
  %start = muli %rr, 64
  %at = addi %start, %cc
  %p = offset %x, %at
  %q = offset %y, %at)";

void ExpectSame(const std::string& text, int64_t n, bool stores = true) {
  const Result alone = RunWith(text, CheckLevel::kFull, n);
  EXPECT_TRUE(alone.reports.empty()) << alone.reports[0] << text;
  EXPECT_EQ(stores, alone.y != std::vector<uint8_t>(alone.y.size())) << text;
  for (const CheckLevel check : {CheckLevel::kBounds, CheckLevel::kNone}) {
    const Result together = RunWith(text, check, n);
    EXPECT_TRUE(together.reports.empty()) << together.reports[0] << text;
    EXPECT_TRUE(together.y == alone.y) << text;
  }
}

TEST(Gather, NeighboursOfRowsAndColumns) {
  for (const char* type : {"i8", "i16", "i32", "f32", "i64"}) {
    for (const int step : {1, 2, 3}) {
      for (const int off : {-1, 0, 1}) {
        const std::string lanes = absl::StrReplaceAll(
            kStencil, {{"STEP", absl::StrCat(step)}, {"ROW", absl::StrCat(off)}, {"COLUMN", absl::StrCat(-off)}});
        const std::string zero = type[0] == 'f' ? ", 0.5" : ", 5";
        for (const int64_t n : {33, 20, 3}) ExpectSame(Kernel(lanes, type, zero), n);
        ExpectSame(Kernel(lanes, type, zero), -1, false);
      }
    }
  }
}

TEST(Gather, AnyOrder) {
  // Backwards; transposed; a permutation.
  for (const char* at :
       {"%i = muli %rows, 32\n%j = addi %i, %cols\n%at = subi %t, %j", "%i = muli %cols, 16\n%at = addi %i, %rows",
        "%i = muli %rows, 32\n%j = addi %i, %cols\n%k = muli %j, 37\n%at = andi %k, 511"}) {
    const std::string lanes = absl::StrCat(
        "%t = addi %n, 500\n", at, "\n%ok = cmpi less_than %at, %t, signed\n%p = offset %x, %at\n%q = offset %y, %at");
    ExpectSame(Kernel(lanes), 20);
    ExpectSame(Kernel(lanes, "i8", ", 3"), 300);
  }
}

TEST(Gather, TwoArrays) {
  // Even columns are of one array, odd ones of the other, so that lanes do not pass together.
  ExpectSame(Kernel(R"(
  %i = muli %rows, 32
  %at = addi %i, %cols
  %low = andi %at, 1
  %even = cmpi equal %low, 0, signed
  %ok = cmpi less_than %at, %n, signed
  %px = offset %x, %at
  %py = offset %y, %at
  %p = select %even, %px, %py
  %far = addi %at, 1024
  %q = offset %y, %far)"),
             500);
}

TEST(Gather, ALaneOutside) {
  for (const int64_t n : {0, 17, 100, 511}) {
    const std::string text = Kernel(R"(
  %i = muli %rows, 32
  %lane = addi %i, %cols
  %is = cmpi equal %lane, %n, signed
  %twice = muli %lane, 2
  %bad = subi %n, 5000
  %at = select %is, %bad, %twice
  %ok = cmpi greater_than_or_equal %lane, 0, signed
  %p = offset %x, %twice
  %q = offset %y, %at)");
    const Result alone = RunWith(text, CheckLevel::kFull, n), together = RunWith(text, CheckLevel::kBounds, n);
    ASSERT_EQ(together.reports.size(), 1u) << n;
    EXPECT_NE(together.reports[0].find("vm.out_of_bounds"), std::string::npos) << together.reports[0];
    EXPECT_EQ(together.reports, alone.reports);
    EXPECT_TRUE(together.y == alone.y) << "what lanes before it store";
  }
}

TEST(Gather, Misaligned) {
  const std::string text = Kernel(R"(
  %i = muli %rows, 64
  %j = muli %cols, 2
  %at = addi %i, %j
  %ok = cmpi less_than %at, %n, signed
  %p = offset %x, %at
  %q = offset %y, %at)");
  for (const CheckLevel check : {CheckLevel::kBounds, CheckLevel::kFull}) {
    const Result r = RunWith(text, check, 600, 1);
    ASSERT_EQ(r.reports.size(), 1u);
    EXPECT_NE(r.reports[0].find("vm.misaligned"), std::string::npos) << r.reports[0];
  }
  EXPECT_TRUE(RunWith(text, CheckLevel::kBounds, 600, 8).reports.empty());
}

}  // namespace
}  // namespace tile::vm
