// Reduce and scan give what their bodies give instruction by instruction, bit for bit. A body with a reshape in it runs that
// way, one lane at a time, so it is the comparison: bodies that are cut into parts and others, lines of all lengths along
// each dimension, ties, zeros of both signs and NaN.
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "ir/float.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "vm/vm.h"

namespace tile::vm {
namespace {

struct Body {
  const char *v, *w;   // element types of the two operands
  const char* starts;  // identities
  const char* text;    // from elements %e, %f and accumulators %a, %b
};

constexpr Body kBodies[] = {
    {"f32", "i32", "-inf, 0",
     "%t = cmpf greater_than ordered %e, %a\n%r = select %t, %e, %a\n%s = select %t, %f, %b\nyield %r, %s"},
    {"f32", "i32", "inf, 0",
     "%t = cmpf less_than ordered %e, %a\n%r = select %t, %e, %a\n%s = select %t, %f, %b\nyield %r, %s"},
    {"f32", "i32", "-inf, 0",
     "%t = cmpf greater_than_or_equal ordered %e, %a\n%r = select %t, %e, %a\n%s = select %t, %f, %b\nyield %r, %s"},
    {"f16", "i64", "-inf, 0",
     "%t = cmpf greater_than_or_equal ordered %e, %a\n%r = select %t, %e, %a\n%s = select %t, %f, %b\nyield %r, %s"},
    {"i8", "f32", "0, 0.0",
     "%t = cmpi less_than_or_equal %e, %a, signed\n%r = select %t, %e, %a\n%s = select %t, %f, %b\nyield %r, %s"},
    {"f32", "i32", "-inf, 0",
     "%m = cmpf greater_than ordered %e, %a\n%q = cmpf equal ordered %e, %a\n%l = cmpi less_than %f, %b, signed\n"
     "%ql = andi %q, %l\n%t = ori %m, %ql\n%r = select %t, %e, %a\n%s = select %t, %f, %b\nyield %r, %s"},
    // Takes NaN, so that it must not be cut.
    {"f32", "i32", "-inf, 0",
     "%t = cmpf greater_than unordered %e, %a\n%r = select %t, %e, %a\n%s = select %t, %f, %b\nyield %r, %s"},
    {"f32", "f32", "1.0, 0.0", "%r = mulf %a, %e\n%q = mulf %b, %e\n%s = addf %q, %f\nyield %r, %s"},
    {"f16", "f16", "1.0, 0.0", "%r = mulf %a, %e\n%q = mulf %b, %e\n%s = addf %q, %f\nyield %r, %s"},
    {"i32", "i32", "1, 0", "%r = muli %a, %e\n%q = muli %b, %e\n%s = addi %q, %f\nyield %r, %s"},
    // Each operand by itself.
    {"i32", "f32", "0, -inf", "%r = addi %e, %a\n%s = maxf %f, %b\nyield %r, %s"},
    {"f32", "f32", "0.0, 1.0", "%r = addf %e, %a\n%s = mulf %b, %f\nyield %r, %s"},
    {"f16", "i64", "0.0, 0", "%r = addf %e, %a\n%s = xori %b, %f\nyield %r, %s"},
    // Values from outside, constants, arguments as they are, one value twice.
    {"i32", "i32", "0, 0",
     "%q = muli %e, %c\n%r = addi %q, %a\n%k = constant <i32: 7>\n%s = xori %k, %b\nyield %r, %s"},
    {"i32", "i32", "0, 0", "%k = constant <i32: 7>\n%q = addi %k, %c\n%r = addi %q, %a\nyield %r, %r"},
    {"i32", "i32", "0, 0", "yield %f, %e"},
    {"i32", "i32", "0, 0", "yield %b, %c"},
    {"i1", "i8", "0, 0", "%r = xori %e, %a\n%t = andi %e, %r\n%s = select %t, %f, %b\nyield %r, %s"},
    {"f64", "i16", "0.0, 0",
     "%q = negf %e\n%r = subf %a, %q\n%lt = cmpf less_than ordered %r, %e\n%s = select %lt, %f, %b\nyield %r, %s"},
};

struct Shape {
  int outer, n, inner;
};
constexpr Shape kShapes[] = {{1, 1024, 1}, {1, 4096, 1}, {2, 256, 1}, {16, 128, 1}, {64, 32, 1}, {256, 8, 1},
                             {512, 4, 2},  {1, 64, 64},  {4, 128, 2}, {8, 64, 16},  {2, 64, 32}, {1, 16, 512},
                             {1, 1, 8},    {4, 2, 1},    {1, 64, 4},  {32, 64, 1}};

struct Result {
  std::vector<uint8_t> v, w;
  bool operator==(const Result&) const = default;
};

// Random bytes that are values of the type: few different ones, so that ties are common.
std::vector<uint8_t> Values(const std::string& type, int64_t n, bool nan, std::mt19937* random) {
  std::vector<uint8_t> bytes(static_cast<size_t>(n) * 8);
  for (int64_t i = 0; i < n; ++i) {
    const auto draw = static_cast<int>((*random)() % 24);
    double x = draw < 20 ? (draw - 10) / 4.0 : draw == 20 ? -0.0 : draw == 21 ? 0.0 : 1.0;
    if (nan && draw >= 22) x = draw == 22 ? std::nan("") : std::numeric_limits<double>::infinity();
    uint64_t bits = (*random)();
    size_t size = 8;
    if (type[0] == 'f') {
      const ir::Elem elem = type == "f16" ? ir::Elem::kF16 : type == "f32" ? ir::Elem::kF32 : ir::Elem::kF64;
      bits = ir::FromDouble(elem, x);
      size = static_cast<size_t>(ir::StorageBytes(elem));
    } else {
      size = type == "i64" ? 8 : type == "i32" ? 4 : type == "i16" ? 2 : 1;
      bits = type == "i1" ? bits & 1 : bits % 5 - 2;
    }
    std::memcpy(bytes.data() + static_cast<size_t>(i) * size, &bits, size);
  }
  return bytes;
}

std::string KernelText(const Body& body, const Shape& shape, const std::string& fold, bool alone) {
  const bool scan = fold != "reduce";
  const std::string whole = absl::StrCat(shape.outer, ", ", shape.n, ", ", shape.inner),
                    tile = absl::StrCat(shape.outer, "x", shape.n, "x", shape.inner),
                    steps = absl::StrCat(shape.n * shape.inner, ", ", shape.inner, ", 1");
  std::string text =
      R"(entry @k(%x: tile<ptr<V>>, %y: tile<ptr<W>>, %o: tile<ptr<V>>, %p: tile<ptr<W>>, %c: tile<i32>) {
  %xt = make_tensor_view %x, shape = [WHOLE], strides = [STEPS]
  %yt = make_tensor_view %y, shape = [WHOLE], strides = [STEPS]
  %xv = make_partition_view %xt : partition_view<tile=(TILE)>
  %yv = make_partition_view %yt : partition_view<tile=(TILE)>
  %xe = load_view_tko weak %xv[0, 0, 0]
  %ye = load_view_tko weak %yv[0, 0, 0]
  %v, %w = FOLD (%e, %a, %f, %b) {
BODY
  }
  %ot = make_tensor_view %o, shape = [SHAPE], strides = [OUTSTEPS]
  %pt = make_tensor_view %p, shape = [SHAPE], strides = [OUTSTEPS]
  %ov = make_partition_view %ot : partition_view<tile=(OUT)>
  %pv = make_partition_view %pt : partition_view<tile=(OUT)>
  store_view_tko weak %v, %ov[AT]
  store_view_tko weak %w, %pv[AT]
  return
}
)";
  const std::string dims = absl::StrCat(scan ? "scan" : "reduce", " %xe, %ye dim=1 ",
                                        scan ? absl::StrCat("reverse=", fold == "reverse" ? "true " : "false ") : "",
                                        "identities=[", body.starts, "]");
  const std::string inside = absl::StrCat(alone ? "%slow = reshape %e : tile<V>\n" : "", body.text);
  text = absl::StrReplaceAll(text, {{"FOLD", dims}, {"BODY", inside}});
  return absl::StrReplaceAll(text, {{"<V>", absl::StrCat("<", body.v, ">")},
                                    {"<W>", absl::StrCat("<", body.w, ">")},
                                    {"WHOLE", whole},
                                    {"TILE", tile},
                                    {"OUTSTEPS", scan ? steps : absl::StrCat(shape.inner, ", 1")},
                                    {"STEPS", steps},
                                    {"SHAPE", scan ? whole : absl::StrCat(shape.outer, ", ", shape.inner)},
                                    {"OUT", scan ? tile : absl::StrCat(shape.outer, "x", shape.inner)},
                                    {"AT", scan ? "0, 0, 0" : "0, 0"}});
}

Result RunOne(const std::string& text, const std::vector<uint8_t>& x, const std::vector<uint8_t>& y) {
  ir::Diagnostics d;
  auto module = ir::Parse(text, "k.tile", &d);
  if (module != nullptr) ir::Verify(*module, &d);
  EXPECT_TRUE(d.ok()) << d.ToString() << text;
  if (!d.ok()) return {};
  auto program = Program::Prepare(*module, "k");
  EXPECT_TRUE(program.ok()) << program.status();
  Result r{std::vector<uint8_t>(x.size()), std::vector<uint8_t>(y.size())};
  std::vector<uint8_t> in_x = x, in_y = y;
  Launch launch;
  launch.threads = 1;
  const auto add = [&launch](const char* name, std::vector<uint8_t>& bytes) {
    launch.params.push_back(reinterpret_cast<uintptr_t>(bytes.data()));
    launch.buffers.push_back({name, bytes.data(), bytes.size(), ir::Element{ir::Elem::kI8}, {}});
  };
  add("x", in_x);
  add("y", in_y);
  add("o", r.v);
  add("p", r.w);
  launch.params.push_back(3);
  const Outcome o = (*program)->Run(launch);
  EXPECT_TRUE(o.ok()) << o.status << (o.reports.empty() ? "" : o.reports[0].ToString()) << text;
  return r;
}

class FoldTest : public testing::TestWithParam<const char*> {};

TEST_P(FoldTest, GivesWhatTheBodyGives) {
  std::mt19937 random(7);
  for (const Body& body : kBodies) {
    for (const Shape& shape : kShapes) {
      const std::string text = KernelText(body, shape, GetParam(), false),
                        alone = KernelText(body, shape, GetParam(), true);
      for (const bool nan : {false, true}) {
        const int64_t n = int64_t{shape.outer} * shape.n * shape.inner;
        const std::vector<uint8_t> x = Values(body.v, n, nan, &random), y = Values(body.w, n, nan, &random);
        ASSERT_TRUE(RunOne(text, x, y) == RunOne(alone, x, y)) << text;
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FoldTest, testing::Values("reduce", "scan", "reverse"));

}  // namespace
}  // namespace tile::vm
