// What facts say is true: random programs of integers, pointers and masks run on the VM, every value that they compute is
// stored, and each claim about it (multiples, ranges, rising and equal neighbours) is compared with what was stored.
#include "codegen/analysis/facts.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "ir/op_views.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "tests/harness/on_vm.h"
#include "tests/harness/op_file.h"
#include "tools/data/array.h"
#include "vm/vm.h"

namespace tile::codegen {
namespace {

constexpr int kIterations = 4;  // places that a value has, one for each iteration of a loop
constexpr uint64_t kUnwritten = 0x5EEDFACE5EEDFACE;

// Writes a program as text. A tile has the shape of the program, or is a scalar.
class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {
    static constexpr int kShapes[][2] = {{1, 64}, {4, 16}, {16, 4}, {8, 8}, {64, 1}, {2, 32}, {1, 256}};
    const auto& shape = kShapes[Below(7)];
    rows_ = shape[0];
    columns_ = shape[1];
  }

  std::string Program() {
    Line("%zero = constant <i32: 0> : tile<i32>");
    Line("%one = constant <i32: 1> : tile<i32>");
    for (int i = 0; i < 4; ++i) Scalar(i);
    Line("%q.a = assume div_by<16>, %q : tile<ptr<f16>>");
    Line("%x, %y, %z = get_tile_block_id : tile<i32>");
    Splat("%x", "i32");
    for (int i = 0; i < 2 + Below(2); ++i) Iota();
    for (int i = 0; i < 12; ++i) Step();
    Loop();
    for (int i = 0; i < 6; ++i) Step();
    const int values = static_cast<int>(widened_.size());
    return absl::StrCat(
        "entry @facts(%out: tile<ptr<i64>>, %p0: tile<i32>, %p1: tile<i32>, %p2: tile<i32>, ",
        "%p3: tile<i32>, %q: tile<ptr<f16>>) {\n",
        absl::StrReplaceAll(
            absl::StrCat("  %out.t = make_tensor_view %out, shape = [COUNT, R, C], strides = ", "[", rows_ * columns_,
                         ", C, 1] : ", View("tensor_view<"), ">\n",
                         "  %out.v = make_partition_view %out.t : partition_view<tile=(1xRxC), ", View("tensor_view<"),
                         ">>\n"),
            {{"COUNT", absl::StrCat(values * kIterations)}, {"R", absl::StrCat(rows_)}, {"C", absl::StrCat(columns_)}}),
        absl::StrReplaceAll(text_, {{"COUNT", absl::StrCat(values * kIterations)}}), "  return\n}\n");
  }

  int64_t scalar(int i) const { return scalars_[i]; }
  int values() const { return static_cast<int>(widened_.size()); }
  bool widened(size_t value) const { return widened_[value]; }
  int elements() const { return rows_ * columns_; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }

 private:
  struct Tile {
    std::string name, elem;
  };

  int Below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  bool OneIn(int n) { return Below(n) == 0; }
  std::string View(absl::string_view head) {
    return absl::StrCat(head, "COUNTxRxCxi64, strides=[", rows_ * columns_, ",", columns_, ",1]");
  }
  void Line(const std::string& line) { absl::StrAppend(&text_, indent_, "  ", line, "\n"); }
  std::string Type(const std::string& elem) { return absl::StrCat("tile<", rows_, "x", columns_, "x", elem, ">"); }
  std::string New() { return absl::StrCat("%v", ++names_); }
  int Bits(const std::string& elem) { return std::stoi(elem.substr(1)); }

  const Tile& Any() { return tiles_[static_cast<size_t>(Below(static_cast<int>(tiles_.size())))]; }
  Tile AnyOf(const std::string& elem) {
    std::vector<Tile> fit;
    for (const Tile& t : tiles_) {
      if (t.elem == elem) fit.push_back(t);
    }
    if (!fit.empty() && !OneIn(4)) return fit[static_cast<size_t>(Below(static_cast<int>(fit.size())))];
    return Constant(elem);
  }
  Tile AnyInteger() {
    for (;;) {
      const Tile t = Any();
      if (t.elem != "i1" && t.elem[0] == 'i') return t;
    }
  }

  Tile Constant(const std::string& elem) {
    static constexpr int64_t kNumbers[] = {0, 1, 2, 3, 4, 7, 8, 12, 15, 16, 31, 32, 64, 100, 127, -1, -2, -8, -128, 48};
    const std::string name = New();
    int64_t n = kNumbers[Below(20)];
    if (elem == "i1") n = Below(2);
    if (elem != "i1" && OneIn(12)) n = static_cast<int64_t>((uint64_t{1} << (Bits(elem) - 1)) - 1) - 8 * Below(2);
    Line(absl::StrCat(name, " = constant <", elem, ": ", n, "> : ", Type(elem)));
    return {name, elem};
  }

  // Keeps the tile, and stores it for the comparison.
  Tile Keep(const std::string& name, const std::string& elem) {
    std::string wide = name;
    if (elem == "ptr<f16>") {
      wide = New();
      Line(absl::StrCat(wide, " = ptr_to_int ", name, " : ", Type(elem), " -> ", Type("i64")));
    } else if (elem != "i64") {
      wide = New();
      Line(absl::StrCat(wide, " = exti ", name, " signed : ", Type(elem), " -> ", Type("i64")));
    }
    const std::string row = New(), at = New();
    Line(absl::StrCat(row, " = reshape ", wide, " : ", Type("i64"), " -> tile<1x", rows_, "x", columns_, "xi64>"));
    Line(absl::StrCat(at, ".n = constant <i32: ", widened_.size() * kIterations, "> : tile<i32>"));
    Line(absl::StrCat(at, " = addi ", at, ".n, ", round_, " : tile<i32>"));
    Line(absl::StrCat("store_view_tko weak ", row, ", %out.v[", at, ", %zero, %zero] -> token"));
    widened_.push_back(wide != name);
    tiles_.push_back({name, elem});
    return tiles_.back();
  }

  void Splat(const std::string& scalar, const std::string& elem) {
    const std::string one = New(), all = New();
    Line(absl::StrCat(one, " = reshape ", scalar, " : tile<", elem, "> -> tile<1x1x", elem, ">"));
    Line(absl::StrCat(all, " = broadcast ", one, " : tile<1x1x", elem, "> -> ", Type(elem)));
    Keep(all, elem);
  }

  void Scalar(int i) {
    // A parameter, and what is true of it.
    static constexpr int64_t kNumbers[] = {0,  1, 5, 8, 16, 48, 64, 100, 1024, -16, -3, 2147483647, -2147483647 - 1,
                                           -64};
    const int64_t n = scalars_[i] = kNumbers[Below(14)];
    std::string name = absl::StrCat("%p", i);
    if (OneIn(2)) {
      const auto divisor = std::min<uint64_t>(64, PowerOfTwoIn(static_cast<uint64_t>(n)));
      Line(absl::StrCat(name, ".d = assume div_by<", divisor, ">, ", name, " : tile<i32>"));
      name += ".d";
    }
    if (OneIn(2)) {
      const int64_t most = 2147483647, least = -most - 1;
      Line(absl::StrCat(name, ".b = assume bounded<", std::max(least, n - Below(3)), ", ",
                        std::min(most, n + Below(100)), ">, ", name, " : tile<i32>"));
      name += ".b";
    }
    Splat(name, "i32");
  }

  void Iota() {
    static const char* const kElems[] = {"i8", "i16", "i32", "i32", "i64"};
    const std::string elem = kElems[Below(5)], name = New(), line = New(), all = New();
    const bool along_columns = OneIn(2) ? columns_ > 1 : rows_ == 1;
    const int n = along_columns ? columns_ : rows_;
    const std::string thin = absl::StrCat("tile<", along_columns ? 1 : n, "x", along_columns ? n : 1, "x", elem, ">");
    Line(absl::StrCat(name, " = iota : tile<", n, "x", elem, ">"));
    Line(absl::StrCat(line, " = reshape ", name, " : tile<", n, "x", elem, "> -> ", thin));
    Line(absl::StrCat(all, " = broadcast ", line, " : ", thin, " -> ", Type(elem)));
    Keep(all, elem);
    if (OneIn(2)) return;
    // From somewhere else on, perhaps through zero.
    const std::string first = New(), moved = New();
    Line(absl::StrCat(first, " = constant <", elem, ": ", Below(9) - 5, "> : ", Type(elem)));
    Line(absl::StrCat(moved, " = addi ", all, ", ", first, " : ", Type(elem)));
    Keep(moved, elem);
  }

  std::string Flags() {
    static const char* const kFlags[] = {" overflow<no_signed_wrap>", " overflow<no_unsigned_wrap>",
                                         " overflow<no_wrap>"};
    return OneIn(8) ? kFlags[Below(3)] : "";
  }
  std::string Sign() { return OneIn(2) ? " signed" : " unsigned"; }

  // One more value.
  Tile Step() {
    const int kind = Below(22);
    const std::string r = New();
    if (kind < 9) return Arithmetic(r);
    if (kind < 12) return Extend(r);
    if (kind == 12) return Choice(r);
    if (kind == 13) return Turned(r);
    if (kind == 14) return Flattened(r);
    if (kind < 17) return Address(r);
    if (kind < 20) return Compare(r);
    return Mask(r);
  }

  Tile Arithmetic(const std::string& r) {
    static const char* const kNames[] = {"addi", "addi", "addi", "addi", "subi", "muli", "muli", "andi",
                                         "ori",  "xori", "mini", "maxi", "divi", "divi", "remi", "remi",
                                         "remi", "shli", "shri", "shri", "negi", "absi"};
    const std::string name = kNames[Below(22)];
    const Tile a = AnyInteger();
    if (name == "negi" || name == "absi") {
      Line(absl::StrCat(r, " = ", name, " ", a.name, " : ", Type(a.elem)));
      return Keep(r, a.elem);
    }
    Tile b = AnyOf(a.elem);
    std::string more;
    if (name == "addi" || name == "subi" || name == "muli" || name == "shli") more = Flags();
    if (name == "mini" || name == "maxi" || name == "divi" || name == "remi" || name == "shri") more = Sign();
    if (name == "divi") {
      static const char* const kRounding[] = {"", "", " rounding<positive_inf>", " rounding<negative_inf>"};
      more += kRounding[Below(more == " signed" ? 4 : 3)];
    }
    if (name == "remi" && OneIn(2)) return Floored(r, a);
    if (name == "divi" || name == "remi") {
      // Nothing is divided by zero.
      const std::string one = New(), odd = New();
      if (OneIn(2)) {
        Line(absl::StrCat(one, " = constant <", a.elem, ": ", 1 << Below(6), "> : ", Type(a.elem)));
        Line(absl::StrCat(r, " = ", name, " ", a.name, ", ", one, more, " : ", Type(a.elem)));
        return Keep(r, a.elem);
      }
      Line(absl::StrCat(one, " = constant <", a.elem, ": 1> : ", Type(a.elem)));
      const std::string type = Type(a.elem);
      if (OneIn(2)) {  // a multiple of a power of two, of either sign; -1 would overflow
        const std::string some = New(), by = New();
        Line(absl::StrCat(some, " = ori ", b.name, ", ", one, " : ", type));
        Line(absl::StrCat(by, " = constant <", a.elem, ": ", 1 + Below(4), "> : ", type));
        Line(absl::StrCat(odd, " = shli ", some, ", ", by, " : ", type));
      } else {
        Line(absl::StrCat(odd, " = maxi ", b.name, ", ", one, OneIn(2) ? " signed" : " unsigned", " : ", type));
      }
      b = {odd, a.elem};
    }
    if (name == "shli" || name == "shri") b = Shift(a.elem);
    if (name == "muli" && OneIn(3)) {
      b.name = New();
      Line(absl::StrCat(b.name, " = constant <", a.elem, ": 1> : ", Type(a.elem)));
    }
    const bool turned = OneIn(2) && name != "divi" && name != "remi" && name != "shli" && name != "shri";
    Line(absl::StrCat(r, " = ", name, " ", turned ? b.name : a.name, ", ", turned ? a.name : b.name, more, " : ",
                      Type(a.elem)));
    return Keep(r, a.elem);
  }

  // The remainder as Python has it, or nearly.
  Tile Floored(const std::string& r, const Tile& a) {
    const std::string type = Type(a.elem);
    const int n = OneIn(4) ? -8 : 1 << Below(6);
    Line(absl::StrCat(r, ".n = constant <", a.elem, ": ", n, "> : ", type));
    Line(absl::StrCat(r, ".z = constant <", a.elem, ": ", OneIn(6) ? 1 : 0, "> : ", type));
    Line(absl::StrCat(r, ".r = remi ", a.name, ", ", r, ".n", OneIn(6) ? " unsigned : " : " signed : ", type));
    Line(absl::StrCat(r, ".a = cmpi ", OneIn(6) ? "greater_than " : "less_than ", r, ".r, ", r, ".z, signed : ", type,
                      " -> ", Type("i1")));
    Line(absl::StrCat(r, ".b = cmpi less_than ", r, ".n, ", r, ".z, signed : ", type, " -> ", Type("i1")));
    Line(absl::StrCat(r, ".d = xori ", r, ".a, ", r, ".b : ", Type("i1")));
    Line(absl::StrCat(r, ".e = cmpi not_equal ", r, ".r, ", r, ".z, signed : ", type, " -> ", Type("i1")));
    Line(absl::StrCat(r, ".f = andi ", r, ".d, ", r, ".e : ", Type("i1")));
    Line(absl::StrCat(r, ".s = addi ", r, ".r, ", r, ".n : ", type));
    Line(absl::StrCat(r, " = select ", r, ".f, ", r, ".s, ", r, ".r : ", Type("i1"), ", ", type));
    return Keep(r, a.elem);
  }

  Tile Shift(const std::string& elem) {
    const std::string name = New();
    Line(absl::StrCat(name, " = constant <", elem, ": ", Below(Bits(elem) + 1), "> : ", Type(elem)));
    return {name, elem};
  }

  Tile Extend(const std::string& r) {
    static const char* const kElems[] = {"i8", "i16", "i32", "i64"};
    const Tile a = AnyInteger();
    const std::string to = kElems[Below(4)];
    if (Bits(to) == Bits(a.elem)) return Arithmetic(r);
    const bool wider = Bits(to) > Bits(a.elem);
    Line(absl::StrCat(r, wider ? " = exti " : " = trunci ", a.name, wider ? Sign() : "", " : ", Type(a.elem), " -> ",
                      Type(to)));
    return Keep(r, to);
  }

  Tile Choice(const std::string& r) {
    const Tile a = AnyInteger(), b = AnyOf(a.elem), c = AnyOf("i1");
    Line(absl::StrCat(r, " = select ", c.name, ", ", a.name, ", ", b.name, " : ", Type("i1"), ", ", Type(a.elem)));
    return Keep(r, a.elem);
  }

  // There and back, with something in between.
  Tile Turned(const std::string& r) {
    const Tile a = AnyInteger();
    const std::string turned = absl::StrCat("tile<", columns_, "x", rows_, "x", a.elem, ">");
    Line(absl::StrCat(r, ".t = permute ", a.name, " [1, 0] : ", Type(a.elem), " -> ", turned));
    Line(absl::StrCat(r, ".u = addi ", r, ".t, ", r, ".t : ", turned));
    Line(absl::StrCat(r, " = permute ", r, OneIn(2) ? ".u" : ".t", " [1, 0] : ", turned, " -> ", Type(a.elem)));
    return Keep(r, a.elem);
  }

  Tile Flattened(const std::string& r) {
    const Tile a = AnyInteger();
    const std::string flat = absl::StrCat("tile<", rows_ * columns_, "x", a.elem, ">");
    Line(absl::StrCat(r, ".f = reshape ", a.name, " : ", Type(a.elem), " -> ", flat));
    const bool fits = Bits(a.elem) > 8;
    Line(absl::StrCat(r, ".i = ", fits ? "iota" : absl::StrCat("constant <", a.elem, ": 3>"), " : ", flat));
    Line(absl::StrCat(r, ".s = addi ", r, ".f, ", r, ".i : ", flat));
    Line(absl::StrCat(r, " = reshape ", r, OneIn(2) ? ".s" : ".f", " : ", flat, " -> ", Type(a.elem)));
    return Keep(r, a.elem);
  }

  Tile Address(const std::string& r) {
    Tile base{"", ""};
    for (const Tile& t : tiles_) {
      if (t.elem == "ptr<f16>" && OneIn(2)) base = t;
    }
    if (base.name.empty()) {
      const std::string one = New();
      Line(absl::StrCat(one, " = reshape %q.a : tile<ptr<f16>> -> tile<1x1xptr<f16>>"));
      Line(absl::StrCat(r, ".b = broadcast ", one, " : tile<1x1xptr<f16>> -> ", Type("ptr<f16>")));
      base = {r + ".b", "ptr<f16>"};
    }
    const Tile by = AnyInteger();
    Line(absl::StrCat(r, " = offset ", base.name, ", ", by.name, " : ", Type("ptr<f16>"), ", ", Type(by.elem)));
    return Keep(r, "ptr<f16>");
  }

  Tile Compare(const std::string& r) {
    static const char* const kOrders[] = {
        "equal", "not_equal", "less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal"};
    const Tile a = AnyInteger(), b = AnyOf(a.elem);
    const bool turned = OneIn(2);
    Line(absl::StrCat(r, " = cmpi ", kOrders[Below(6)], " ", turned ? b.name : a.name, ", ", turned ? a.name : b.name,
                      ",", Sign(), " : ", Type(a.elem), " -> ", Type("i1")));
    return Keep(r, "i1");
  }

  Tile Mask(const std::string& r) {
    static const char* const kNames[] = {"andi", "ori", "xori"};
    const Tile a = AnyOf("i1"), b = AnyOf("i1");
    Line(absl::StrCat(r, " = ", kNames[Below(3)], " ", a.name, ", ", b.name, " : ", Type("i1")));
    return Keep(r, "i1");
  }

  // A tile goes round a loop, together with the number of the iteration; a for or a loop, with a branch or without.
  void Loop() {
    const Tile init = OneIn(3) ? Address(New()) : AnyInteger();
    const std::string r = New(), type = Type(init.elem);
    const bool counts = OneIn(2);
    const std::vector<Tile> outside = tiles_;
    Line(absl::StrCat(r, ".n = constant <i32: ", 1 + Below(kIterations), "> : tile<i32>"));
    if (counts) {
      Line(absl::StrCat(r, ", ", r, ".k = for ", r, ".i in (%zero to ", r, ".n, step %one) : tile<i32> iter_values(", r,
                        ".a = ", init.name, ", ", r, ".c = %zero) -> (", type, ", tile<i32>) {"));
    } else {
      Line(absl::StrCat(r, " = loop iter_values(", r, ".a = ", init.name, ", ", r, ".c = %zero) : ", type,
                        ", tile<i32> -> ", type, " {"));
    }
    indent_ = "  ";
    round_ = r + ".c";
    Keep(r + ".a", init.elem);
    if (counts) Splat(r + ".i", "i32");
    Tile last = Step();
    for (int i = 0; i < 3 || last.elem != init.elem; ++i) {
      last = init.elem == "ptr<f16>" ? Address(New()) : i < 3 || OneIn(2) ? Step() : Next(init.elem, r + ".a");
    }
    last = Branch(last);
    Line(absl::StrCat(r, ".m = addi ", r, ".c, %one : tile<i32>"));
    if (!counts) {
      Line(absl::StrCat(r, ".e = cmpi greater_than_or_equal ", r, ".m, ", r, ".n, signed : tile<i32> -> tile<i1>"));
      Line(absl::StrCat("if ", r, ".e {\n      break ", last.name, " : ", type, "\n    }"));
    }
    Line(absl::StrCat("continue ", last.name, ", ", r, ".m : ", type, ", tile<i32>"));
    indent_ = "";
    Line("}");
    round_ = "%zero";
    tiles_ = outside;
    Keep(r, init.elem);
  }

  Tile Next(const std::string& elem, const std::string& from) {
    const std::string r = New();
    const Tile by = AnyOf(elem);
    Line(absl::StrCat(r, " = addi ", from, ", ", by.name, " : ", Type(elem)));
    return Keep(r, elem);
  }

  Tile Branch(const Tile& a) {
    if (OneIn(2)) return a;
    const Tile b = a.elem == "ptr<f16>" ? Address(New()) : AnyOf(a.elem);
    const std::string r = New();
    Line(absl::StrCat(r, ".c = cmpi less_than %p0, %p1, signed : tile<i32> -> tile<i1>"));
    Line(absl::StrCat(r, " = if ", r, ".c -> (", Type(a.elem), ") {\n      yield ", a.name, " : ", Type(a.elem),
                      "\n    } else {\n      yield ", b.name, " : ", Type(a.elem), "\n    }"));
    return Keep(r, a.elem);
  }

  std::mt19937_64 random_;
  int rows_, columns_;
  int64_t scalars_[4] = {};
  std::vector<Tile> tiles_;
  std::string text_, indent_, round_ = "%zero";
  std::vector<bool> widened_;  // of each value: stored as what i64 makes of it
  int names_ = 0;
};

// What facts claim of a tile of rank 2.
struct Claims {
  uint64_t divisor = 1;
  Facts::Range range;
  Facts::Line lines[2];
};
Claims ClaimsOf(Facts* facts, const ir::Value* v) {
  return {facts->Divisor(v), facts->RangeOf(v), {facts->LineOf(v, 0), facts->LineOf(v, 1)}};
}

Facts::Line ClaimsOfRow(Facts* facts, const ir::Value* v) {
  facts->Divisor(v);
  facts->RangeOf(v);
  return facts->LineOf(v, 0);
}

struct Elements {
  int rows, columns, bits;
  uint64_t unit;
  bool is_pointer;
  const int64_t* data;
};

std::string FalseLine(const Facts::Line& l, const Elements& e, int dim) {
  const uint64_t mask = e.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << e.bits) - 1;
  const uint64_t size = static_cast<uint64_t>(dim == 0 ? e.rows : e.columns);
  const int others = dim == 0 ? e.columns : e.rows;
  for (int other = 0; other < others; ++other) {
    const auto at = [&](uint64_t i) {
      const auto k = static_cast<int>(i);
      return e.data[dim == 0 ? k * e.columns + other : other * e.columns + k];
    };
    for (uint64_t i = 0; i < size; ++i) {
      if (at(i) != at(i / l.equal * l.equal)) return absl::StrCat("groups of ", l.equal, " are not equal");
      const int64_t first = at(i / l.rising * l.rising);
      if ((static_cast<uint64_t>(first) & (l.start - 1) & mask) != 0)
        return absl::StrCat("groups start not at ", l.start);
      const int64_t distance = static_cast<int64_t>(i % l.rising * e.unit);
      const bool modulo =
          static_cast<uint64_t>(at(i)) - static_cast<uint64_t>(first) == static_cast<uint64_t>(distance);
      if (!l.wraps && (e.bits == 64 ? !modulo : at(i) - first != distance))
        return absl::StrCat("not rising by ", l.rising);
      if (!l.wraps_unsigned && e.bits < 64 &&
          (static_cast<uint64_t>(at(i)) & mask) - (static_cast<uint64_t>(first) & mask) !=
              static_cast<uint64_t>(distance)) {
        return absl::StrCat("not rising by ", l.rising, " without a sign");
      }
      const uint64_t aligned = std::max<uint64_t>(1, std::min(l.rising, l.start / e.unit));
      if (static_cast<uint64_t>(at(i)) - static_cast<uint64_t>(at(i / aligned * aligned)) != i % aligned * e.unit) {
        return absl::StrCat("aligned groups of ", aligned, " do not rise");
      }
    }
  }
  return "";
}

// Which claim is false; empty: none.
std::string FalseClaim(const Claims& c, const Elements& e) {
  for (int i = 0; i < e.rows * e.columns; ++i) {
    if ((static_cast<uint64_t>(e.data[i]) & (c.divisor - 1)) != 0) return absl::StrCat("no multiple of ", c.divisor);
    if (!e.is_pointer && (e.data[i] < c.range.lower || e.data[i] > c.range.upper)) {
      return absl::StrCat(e.data[i], " is outside of ", c.range.lower, " … ", c.range.upper);
    }
  }
  for (int d = 0; d < 2; ++d) {
    if (const std::string s = FalseLine(c.lines[d], e, d); !s.empty()) return absl::StrCat(s, " along ", d);
  }
  return "";
}

// A program that ran, with all its values.
struct Ran {
  std::string text;
  std::unique_ptr<ir::Module> module;
  std::vector<const ir::Value*> values;
  std::vector<int64_t> memory;
  int rows, columns;

  Elements At(size_t value, int iteration) const {
    const ir::Type type = values[value]->type();
    const bool is_pointer = type.element().is_pointer();
    const int64_t n = int64_t{rows} * columns;
    return {rows,
            columns,
            is_pointer ? 64 : ir::ElemInfoOf(type.elem()).bits,
            is_pointer ? 2u : 1u,
            is_pointer,
            memory.data() + (static_cast<int64_t>(value) * kIterations + iteration) * n};
  }
};

// Null: a promise of the program was broken.
std::unique_ptr<Ran> RunProgram(uint64_t seed) {
  Writer writer(seed);
  auto ran = std::make_unique<Ran>();
  ran->text = writer.Program();
  ran->rows = writer.rows();
  ran->columns = writer.columns();
  ir::Diagnostics d;
  ran->module = ir::Parse(ran->text, "facts.tile", &d);
  if (ran->module != nullptr) ir::Verify(*ran->module, &d);
  EXPECT_TRUE(d.ok()) << ran->text << d.ToString();
  if (!d.ok()) return nullptr;
  ir::Walk(ran->module->FindFunction("facts")->body(), [&](const ir::Op* op) {
    const auto store = ir::As<ir::StoreViewOp>(op);
    if (!store) return;
    const ir::Value* v = store->tile()->def()->operand(0);
    ran->values.push_back(writer.widened(ran->values.size()) ? v->def()->operand(0) : v);
  });
  const int64_t count = int64_t{writer.values()} * kIterations * writer.elements();
  auto array = tools::Array::Make(ir::Element::Number(ir::Elem::kI64), {count});
  for (int64_t i = 0; i < count; ++i) tools::StoreBits(ir::Elem::kI64, array->bytes.span().data(), i, kUnwritten);
  ops::Arguments arguments;
  arguments.memories.push_back({"out", *std::move(array)});
  arguments.params.push_back({0, 0});
  for (int i = 0; i < 4; ++i) arguments.params.push_back({-1, static_cast<uint64_t>(writer.scalar(i)) & 0xFFFFFFFF});
  arguments.params.push_back({-1, 0x7F0000000010});
  const ops::Answer answer = ops::OnVm(vm::CheckLevel::kFull, 1)(*ran->module, "facts", &arguments);
  EXPECT_TRUE(answer.refused.ok()) << answer.refused << ran->text;
  for (const std::string& report : answer.reports)
    EXPECT_TRUE(absl::StartsWith(report, "vm.overflow")) << report << ran->text;
  if (!answer.reports.empty()) return nullptr;
  for (int64_t i = 0; i < count; ++i) ran->memory.push_back(tools::LoadInt(arguments.memories[0].array.view(), i));
  return ran;
}

constexpr uint64_t kPrograms = 600;

TEST(Facts, HoldInRandomPrograms) {
  uint64_t runs = 0, checked = 0;
  std::map<std::string, int> rising, equal;  // values with more than nothing, by what made them
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    const auto ran = RunProgram(seed);
    if (ran == nullptr) continue;
    ++runs;
    Facts facts;
    for (size_t i = 0; i < ran->values.size(); ++i) {
      const ir::Value* v = ran->values[i];
      const Claims claims = ClaimsOf(&facts, v);
      const std::string by = v->def() == nullptr ? "argument" : std::string(v->def()->info()->mnemonic);
      rising[by] += claims.lines[0].rising > 1 || claims.lines[1].rising > 1;
      for (int d = 0; d < 2; ++d) {
        equal[by] += claims.lines[d].equal > 1 &&
                     claims.lines[d].equal < static_cast<uint64_t>(d == 0 ? ran->rows : ran->columns);
      }
      for (int iteration = 0; iteration < kIterations; ++iteration) {
        const Elements e = ran->At(i, iteration);
        if (static_cast<uint64_t>(e.data[0]) == kUnwritten) continue;
        ++checked;
        ASSERT_EQ(FalseClaim(claims, e), "") << "seed " << seed << ", value " << i << " of " << by << "\n" << ran->text;
      }
    }
  }
  EXPECT_GT(runs, kPrograms / 2);
  EXPECT_GT(checked, kPrograms * 15);
  for (const char* name : {"addi", "subi", "muli", "andi", "ori", "remi", "exti", "trunci", "select", "permute",
                           "reshape", "offset", "broadcast", "argument", "for", "loop", "if"}) {
    EXPECT_GT(rising[name], 0) << name;
  }
  for (const char* name : {"cmpi", "divi", "shri", "andi"}) EXPECT_GT(equal[name], 0) << name;
}

// Quotients and remainders by positive numbers, with and without a sign.
TEST(Facts, RangesOfQuotients) {
  const std::string program = R"(
entry @quotients(%any: tile<i32>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %part = assume bounded<-20, 50>, %any : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %eight = constant <i32: 8> : tile<i32>
  %d = assume bounded<3, 8>, %any : tile<i32>
  %zero = assume bounded<0, 8>, %any : tile<i32>
  RESULT
  return
}
)";
  constexpr int64_t kMost = 2147483647;
  struct Case {
    const char* result;
    Facts::Range range;
  };
  const Case cases[] = {
      {"remi %x, %eight signed", {0, 7}},
      {"remi %x, %eight unsigned", {0, 7}},
      {"remi %part, %eight signed", {-7, 7}},
      {"remi %part, %d signed", {-7, 7}},
      {"remi %any, %eight unsigned", {0, 7}},
      {"remi %part, %any signed", {-20, 50}},
      {"remi %part, %zero signed", {-20, 50}},
      {"remi %x, %any signed", {0, kMost}},
      {"remi %eight, %any unsigned", {0, 8}},
      {"remi %part, %any unsigned", {-kMost - 1, kMost}},
      {"remi %eight, %d signed", {0, 7}},
      {"divi %x, %eight signed", {0, kMost / 8}},
      {"divi %any, %eight signed", {-268435456, 268435455}},
      {"divi %any, %eight signed rounding<negative_inf>", {-268435456, 268435455}},
      {"divi %any, %eight unsigned", {0, 536870911}},
      {"divi %any, %eight unsigned rounding<positive_inf>", {0, 536870912}},
      {"divi %any, %one unsigned", {-kMost - 1, kMost}},
      {"divi %part, %eight signed", {-2, 6}},
      {"divi %part, %eight signed rounding<negative_inf>", {-3, 6}},
      {"divi %part, %eight signed rounding<positive_inf>", {-2, 7}},
      {"divi %part, %d signed", {-6, 16}},
      {"divi %part, %d signed rounding<positive_inf>", {-6, 17}},
      {"divi %part, %zero signed", {-kMost - 1, kMost}},
  };
  for (const Case& c : cases) {
    ir::Diagnostics d;
    const auto module = ir::Parse(
        absl::StrReplaceAll(program, {{"RESULT", absl::StrCat("%r = ", c.result, " : tile<i32>")}}), "q.tile", &d);
    ASSERT_TRUE(d.ok()) << d.ToString();
    const ir::Value* result = nullptr;
    ir::Walk(module->FindFunction("quotients")->body(), [&](const ir::Op* op) {
      if (ir::DiviOp::Is(op) || ir::RemiOp::Is(op)) result = op->result(0);
    });
    ASSERT_NE(result, nullptr);
    Facts facts;
    const Facts::Range range = facts.RangeOf(result);
    EXPECT_EQ(range.lower, c.range.lower) << c.result;
    EXPECT_EQ(range.upper, c.range.upper) << c.result;
  }
}

// Neither long chains nor values that are used twice at each step take long, and loops within loops do not either.
TEST(Facts, AreFoundInLittleTime) {
  std::string text = "entry @deep(%n: tile<i32>) {\n  %v0 = iota : tile<64xi32>\n";
  for (int i = 0; i < 5000; ++i) absl::StrAppend(&text, "  %v", i + 1, " = addi %v", i, ", %v", i, " : tile<64xi32>\n");
  absl::StrAppend(&text, "  %zero = constant <i32: 0> : tile<i32>\n  %one = constant <i32: 1> : tile<i32>\n");
  std::string ends, inner = "%v0";
  for (int i = 0; i < 12; ++i) {
    absl::StrAppend(&text, "  %r", i, " = for %i", i, " in (%zero to %n, step %one) : tile<i32> iter_values(%a", i,
                    " = ", inner, ") -> (tile<64xi32>) {\n");
    inner = absl::StrCat("%a", i);
    const std::string last = i == 11 ? "%last" : absl::StrCat("%r", i + 1);
    ends = absl::StrCat("  continue ", last, " : tile<64xi32>\n  }\n", ends);
  }
  absl::StrAppend(&text, "  %last = addi ", inner, ", %v1 : tile<64xi32>\n", ends, "  return\n}\n");
  ir::Diagnostics d;
  const auto module = ir::Parse(text, "deep.tile", &d);
  ASSERT_TRUE(d.ok()) << d.ToString();
  Facts facts;
  int rising = 0;
  ir::Walk(module->FindFunction("deep")->body(), [&](const ir::Op* op) {
    for (int i = 0; i < op->num_results(); ++i) {
      const ir::Value* v = op->result(i);
      if (v->type().is_tile() && v->type().rank() == 1) rising += ClaimsOfRow(&facts, v).rising > 1;
    }
  });
  EXPECT_EQ(rising, 1);  // what is added to itself rises by two
}

// The comparison above sees claims that go too far.
TEST(Facts, ExaggeratedClaimsAreFoundFalse) {
  std::map<std::string, int> found;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto ran = RunProgram(seed);
    if (ran == nullptr) continue;
    Facts facts;
    for (size_t i = 0; i < ran->values.size(); ++i) {
      const Claims claims = ClaimsOf(&facts, ran->values[i]);
      const Elements e = ran->At(i, 0);
      if (static_cast<uint64_t>(e.data[0]) == kUnwritten) continue;
      const auto check = [&](const char* what, auto&& exaggerate) {
        Claims more = claims;
        exaggerate(&more);
        found[what] += !FalseClaim(more, e).empty();
      };
      check("divisor", [](Claims* c) { c->divisor *= 2; });
      check("lower", [](Claims* c) { c->range.lower += c->range.lower < INT64_MAX; });
      check("upper", [](Claims* c) { c->range.upper -= c->range.upper > INT64_MIN; });
      check("start", [](Claims* c) { c->lines[1].start *= 2; });
      check("wraps", [](Claims* c) { c->lines[0].wraps = c->lines[1].wraps = false; });
      check("wraps_unsigned", [](Claims* c) { c->lines[0].wraps_unsigned = c->lines[1].wraps_unsigned = false; });
      if (static_cast<int>(claims.lines[1].rising) < e.columns)
        check("rising", [](Claims* c) { c->lines[1].rising *= 2; });
      if (static_cast<int>(claims.lines[1].equal) < e.columns)
        check("equal", [](Claims* c) { c->lines[1].equal *= 2; });
    }
  }
  for (const char* what : {"divisor", "lower", "upper", "start", "wraps", "wraps_unsigned", "rising", "equal"})
    EXPECT_GT(found[what], 0) << what;
}

}  // namespace
}  // namespace tile::codegen
