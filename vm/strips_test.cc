// Strip by strip gives what instruction by instruction gives. --check=full never joins instructions, so it is the
// comparison: random chains of operations, tiles that lie in one piece and in rows, cut off at the edge, memory that overlaps.
#include <array>
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

constexpr int64_t kElements = 8192;
using Memory = std::vector<float>;

std::unique_ptr<ir::Module> Module(const std::string& text) {
  ir::Diagnostics d;
  auto module = ir::Parse(text, "k.tile", &d);
  if (module != nullptr) ir::Verify(*module, &d);
  EXPECT_TRUE(d.ok()) << d.ToString() << text;
  return module;
}

// Runs kernel @k(%x, %y), both pointers into one piece of memory.
Memory RunWith(const std::string& text, CheckLevel check, int64_t x, int64_t y, Memory memory) {
  const auto module = Module(text);
  if (module == nullptr) return {};
  auto program = Program::Prepare(*module, "k");
  EXPECT_TRUE(program.ok()) << program.status();
  Launch launch;
  launch.threads = 1;
  launch.check = check;
  launch.params = {reinterpret_cast<uintptr_t>(memory.data() + x), reinterpret_cast<uintptr_t>(memory.data() + y)};
  Buffer b;
  b.name = "memory";
  b.address = memory.data();
  b.bytes = memory.size() * sizeof(float);
  b.element = ir::Element{ir::Elem::kF32};
  launch.buffers = {b};
  const Outcome o = (*program)->Run(launch);
  EXPECT_TRUE(o.ok()) << o.status << (o.reports.empty() ? "" : o.reports[0].ToString()) << text;
  return memory;
}

Memory Numbers(size_t n) {
  Memory m(n);
  for (size_t i = 0; i < n; ++i) m[i] = static_cast<float>((i * 2654435761u >> 7) % 1000) - 300.5f;
  return m;
}

void ExpectSame(const std::string& text, int64_t x = 0, int64_t y = kElements) {
  const Memory start = Numbers(3 * kElements);
  const Memory joined = RunWith(text, CheckLevel::kBounds, x, y, start),
               alone = RunWith(text, CheckLevel::kFull, x, y, start);
  ASSERT_EQ(joined.size(), alone.size());
  EXPECT_NE(std::memcmp(joined.data(), start.data(), joined.size() * sizeof(float)), 0) << "stores nothing";
  EXPECT_EQ(std::memcmp(joined.data(), alone.data(), joined.size() * sizeof(float)), 0) << text;
}

// A kernel that loads %a (and %b, its second half) of `columns` columns from %x, and stores %r to %y of `width` columns.
std::string Kernel(const std::string& body, int columns = 4096, int width = 4096, int stored_rows = 2) {
  const int rows = static_cast<int>(kElements) / columns;
  const std::string tile = absl::StrCat("tile=(", rows, "x", columns, ")"), shape = absl::StrCat(rows, "x", columns);
  const std::string from = absl::StrCat("tensor_view<", rows, "x", columns, "xf32, strides=[", columns, ",1]>");
  const std::string to = absl::StrCat("tensor_view<", stored_rows, "x", width, "xf32, strides=[", width, ",1]>");
  return absl::StrCat("entry @k(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {\n  %z = constant <i32: 0> : tile<i32>\n",
                      "  %xt = make_tensor_view %x, shape = [", rows, ", ", columns, "], strides = [", columns,
                      ", 1] : ", from, "\n  %yt = make_tensor_view %y, shape = [", stored_rows, ", ", width,
                      "], strides = [", width, ", 1] : ", to, "\n  %xv = make_partition_view %xt : partition_view<",
                      tile, ", ", from, ">\n  %yv = make_partition_view %yt : partition_view<", tile, ", ", to,
                      ">\n  %a, %t1 = load_view_tko weak %xv[%z, %z] : partition_view<", tile, ", ", from,
                      ">, tile<i32> -> tile<", shape, "xf32>, token\n", body,
                      "  %t2 = store_view_tko weak %r, %yv[%z, %z] token=%t1 : tile<", shape, "xf32>, partition_view<",
                      tile, ", ", to, ">, tile<i32> -> token\n  return\n}\n");
}

constexpr char kChain[] =
    "  %b = mulf %a, %a : tile<2x4096xf32>\n  %c = subf %b, %a : tile<2x4096xf32>\n  %r = addf %c, %b : tile<2x4096xf32>\n";

TEST(Strips, OnePiece) { ExpectSame(Kernel(kChain)); }
TEST(Strips, InRows) { ExpectSame(Kernel(kChain, 4096, 4100)); }
TEST(Strips, CutOffAtTheEdge) {
  ExpectSame(Kernel(kChain, 4096, 4000));
  ExpectSame(Kernel(kChain, 4096, 4096, 1));
}

// The store goes where the load reads: from the same place, a little before it, a little behind it.
TEST(Strips, OverwritesWhatItReads) {
  for (int64_t y : {kElements, kElements - 1, kElements + 1, kElements - 700, kElements + 700}) {
    SCOPED_TRACE(y);
    ExpectSame(Kernel(kChain), kElements, y);
    ExpectSame(Kernel("  %r = addf %a, %a : tile<2x4096xf32>\n"), kElements, y);
  }
}

// A result that the store takes and that is used again later.
TEST(Strips, UsedAfterTheStore) {
  std::string text = Kernel(kChain);
  const size_t end = text.find("  return");
  text.insert(end,
              "  %s = addf %r, %b : tile<2x4096xf32>\n"
              "  %t3 = store_view_tko weak %s, %yv[%z, %z] token=%t2 : tile<2x4096xf32>, partition_view<tile=(2x4096), "
              "tensor_view<2x4096xf32, strides=[4096,1]>>, tile<i32> -> token\n");
  ExpectSame(text);
}

// Operations over a pool of values of f32, f64, i32, i8, i1 and columns or rows that are repeated.
class Chain {
 public:
  explicit Chain(uint32_t seed) : random_(seed) {
    values_[0].push_back("%a");
    Line("  %row = constant <f32: 2.5> : tile<1x4096xf32>\n  %all = iota : tile<2xi32>\n");
    Line(
        "  %column = itof %all signed : tile<2xi32> -> tile<2xf32>\n  %column2 = reshape %column : tile<2xf32> -> tile<2x1xf32>\n");
    Line(
        "  %column3 = broadcast %column2 : tile<2x1xf32> -> tile<2x4096xf32>\n  %row2 = broadcast %row : tile<1x4096xf32> -> tile<2x4096xf32>\n");
    values_[0].insert(values_[0].end(), {"%column3", "%row2"});
    Convert(kF32, kF64), Convert(kF32, kI32), Convert(kF32, kI32);
    Convert(kI32, kI8);
    for (int i = 0; i < 24; ++i) Step();
    // Half of them meet in the result, so that some values live long and most end soon.
    std::string sum = Pick(kF32);
    for (int t = 0; t < 4; ++t) {
      const std::string v = t == kF32 ? Pick(kF32) : Convert(t, kF32);
      const std::string next = New(kF32);
      Line("  ", next, " = addf ", sum, ", ", v, " : ", Tile(kF32));
      sum = next;
    }
    Line("  %r = addf ", sum, ", %a : ", Tile(kF32));
  }
  const std::string& text() const { return text_; }

 private:
  enum { kF32, kF64, kI32, kI8 };
  static constexpr const char* kNames[] = {"f32", "f64", "i32", "i8"};

  template <class... T>
  void Line(const T&... parts) {
    absl::StrAppend(&text_, parts..., "\n");
  }
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  std::string Tile(int t) const { return absl::StrCat("tile<2x4096x", kNames[t], ">"); }
  std::string New(int t) {
    values_[t].push_back(absl::StrCat("%v", count_++));
    return values_[t].back();
  }
  // Mostly a recent one.
  std::string Pick(int t) {
    const auto& all = values_[t];
    const size_t back = Below(3) == 0 ? static_cast<size_t>(Below(static_cast<int>(all.size()))) : 0;
    return all[all.size() - 1 - back];
  }
  std::string Convert(int from, int to) {
    const std::string v = Pick(from), r = New(to);
    const char* op = from <= kF64 ? (to <= kF64 ? "ftof" : "ftoi")
                     : to <= kF64 ? "itof"
                     : from < to  ? "trunci"
                                  : "exti";
    const char* sign = (from <= kF64 && to <= kF64) || (from == kI32 && to == kI8) ? ""
                       : from <= kF64                                              ? " signed saturating"
                                                                                   : " signed";
    Line("  ", r, " = ", op, " ", v, sign, " : ", Tile(from), " -> ", Tile(to));
    return r;
  }
  void Step() {
    const int t = Below(4), kind = Below(5);
    if (kind == 0) {
      Convert(t, (t + 1 + Below(3)) % 4);
      return;
    }
    if (kind == 1) {
      const std::string mask = absl::StrCat("%m", count_++);
      const std::string a = Pick(t), b = Pick(t);
      Line("  ", mask, t <= kF64 ? " = cmpf less_than ordered " : " = cmpi less_than ", a, ", ", b,
           t <= kF64 ? "" : ", signed", " : ", Tile(t), " -> tile<2x4096xi1>");
      const int other = Below(4);
      const std::string x = Pick(other), y = Pick(other), r = New(other);
      Line("  ", r, " = select ", mask, ", ", x, ", ", y, " : tile<2x4096xi1>, ", Tile(other));
      return;
    }
    static constexpr const char* kFloat[] = {"addf", "subf", "mulf"};
    static constexpr const char* kInt[] = {"addi", "subi", "muli"};
    const std::string a = Pick(t), b = Pick(t), r = New(t);
    Line("  ", r, " = ", (t <= kF64 ? kFloat : kInt)[Below(3)], " ", a, ", ", b, " : ", Tile(t));
  }

  std::mt19937 random_;
  std::vector<std::string> values_[4];
  std::string text_;
  int count_ = 0;
};

// Masks of lanes below or above a bound that lies before, at and behind both ends of the tile; selects that work in place,
// that copy, that are stored; masks that something else uses as well.
TEST(Strips, BoundedLanes) {
  constexpr char kMask[] = R"(  %lane1 = iota : tile<8192xTYPE>
  %lane = reshape %lane1 : tile<8192xTYPE> -> tile<2x4096xTYPE>
  %bound0 = constant <TYPE: BOUND> : tile<1x1xTYPE>
  %bound = broadcast %bound0 : tile<1x1xTYPE> -> tile<2x4096xTYPE>
  %m = cmpi PREDICATE ORDER, SIGN : tile<2x4096xTYPE> -> tile<2x4096xi1>
  %c = mulf %a, %a : tile<2x4096xf32>
)";
  constexpr const char* kUses[] = {
      "  %r = select %m, %c, %a : tile<2x4096xi1>, tile<2x4096xf32>\n",
      "  %s = select %m, %c, %a : tile<2x4096xi1>, tile<2x4096xf32>\n  %r = addf %s, %c : tile<2x4096xf32>\n",
      "  %s = select %m, %c, %a : tile<2x4096xi1>, tile<2x4096xf32>\n  %u = select %m, %a, %c : tile<2x4096xi1>, tile<2x4096xf32>\n"
      "  %r = mulf %s, %u : tile<2x4096xf32>\n",
      "  %s = select %m, %c, %a : tile<2x4096xi1>, tile<2x4096xf32>\n  %n = exti %m unsigned : tile<2x4096xi1> -> tile<2x4096xi32>\n"
      "  %f = itof %n signed : tile<2x4096xi32> -> tile<2x4096xf32>\n  %r = mulf %s, %f : tile<2x4096xf32>\n",
      "  %n = select %m, %m, %m : tile<2x4096xi1>, tile<2x4096xi1>\n  %r = select %n, %c, %a : tile<2x4096xi1>, tile<2x4096xf32>\n",
      "  %z0 = constant <f32: 5.0> : tile<2x4096xf32>\n  %r = select %m, %z0, %c : tile<2x4096xi1>, tile<2x4096xf32>\n"};
  for (const char* type : {"i16", "i32", "i64"}) {
    for (const char* bound : {"-1", "0", "1", "8191", "8192", "8193"}) {
      for (const char* predicate :
           {"less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal", "not_equal"}) {
        for (const char* order : {"%lane, %bound", "%bound, %lane"}) {
          for (const char* sign : {"signed", "unsigned"}) {
            for (const char* use : kUses) {
              const std::string mask = absl::StrReplaceAll(
                  kMask,
                  {{"TYPE", type}, {"BOUND", bound}, {"PREDICATE", predicate}, {"ORDER", order}, {"SIGN", sign}});
              ExpectSame(Kernel(mask + use), 0, kElements);
              if (HasFailure()) return;
            }
          }
        }
      }
    }
  }
}

TEST(Strips, RandomChains) {
  for (uint32_t seed = 0; seed < 200 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Chain chain(seed);
    ExpectSame(Kernel(chain.text(), 4096, seed % 3 == 0 ? 4100 : 4096), 0, seed % 5 == 0 ? 700 : kElements);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tile::vm
