// Video instructions: of whole registers or a part of each (scalar), and of two halves or four bytes side by side.
//
//   vadd.s32.u32.s32.sat.max d, a.b0, b.h1, c;     // c or the sum, clamped to s32, whichever is more
//   vabsdiff4.u32.u32.u32.add d, a, b, c;          // c and four differences, added up
//
// Numbers are as wide as they need be: in 64 bits here. Results that a destination takes a part of, and parts of operands in another
// order, are refused.
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ir/ttir/ptx_instructions.h"

namespace tile::ir::ttir {
namespace {

constexpr auto kU = Signedness::kUnsigned;
constexpr auto kS = Signedness::kSigned;

using W = const PtxWork&;

struct Video {
  absl::string_view what;  // "add"
  int lanes = 1;
  int lane_bits() const { return 32 / lanes; }
  bool compares() const { return what == "set"; }
};

// `what` is empty: it is none.
Video VideoOf(absl::string_view name) {
  Video v;
  if (!absl::ConsumePrefix(&name, "v")) return v;
  v.lanes = absl::ConsumeSuffix(&name, "2") ? 2 : absl::ConsumeSuffix(&name, "4") ? 4 : 1;
  for (absl::string_view known : {"add", "sub", "absdiff", "min", "max", "set"}) {
    if (name == known) v.what = known;
  }
  if (name == "avrg" && v.lanes > 1) v.what = "avrg";
  return v;
}

constexpr std::pair<absl::string_view, ComparisonPredicate> kComparisons[] = {
    {"eq", ComparisonPredicate::kEqual},       {"ne", ComparisonPredicate::kNotEqual},
    {"lt", ComparisonPredicate::kLessThan},    {"le", ComparisonPredicate::kLessThanOrEqual},
    {"gt", ComparisonPredicate::kGreaterThan}, {"ge", ComparisonPredicate::kGreaterThanOrEqual}};

Value* Number(W w, int64_t n) { return ops::Integer(w.b, w.TileOf(Elem::kI64), n); }

// Bits of a register from a position on, as a number of 64 bits.
Value* Field(W w, Value* v, int from, int bits, Signedness sign) {
  if (bits < 32) v = ops::Shri(w.b, ops::Shli(w.b, v, w.Int(32 - bits - from)), w.Int(32 - bits), sign);
  return ops::Exti(w.b, w.TileOf(Elem::kI64), v, sign);
}

Value* Computed(W w, const Video& video, Value* x, Value* y) {
  if (video.what == "add") return ops::Addi(w.b, x, y);
  if (video.what == "sub") return ops::Subi(w.b, x, y);
  if (video.what == "absdiff") return ops::Absi(w.b, ops::Subi(w.b, x, y));
  if (video.what == "min") return ops::Mini(w.b, x, y, kS);
  if (video.what == "max") return ops::Maxi(w.b, x, y, kS);
  if (video.what == "avrg") {  // halves are rounded away from zero
    Value* sum = ops::Addi(w.b, x, y);
    Value* up = ops::Exti(w.b, sum->type(),
                          ops::CmpI(w.b, ComparisonPredicate::kGreaterThanOrEqual, sum, Number(w, 0), kS), kU);
    return ops::Shri(w.b, ops::Addi(w.b, sum, up), Number(w, 1), kS);
  }
  for (const auto& [name, predicate] : kComparisons) {
    if (w.words[3] == name) return ops::Exti(w.b, x->type(), ops::CmpI(w.b, predicate, x, y, kS), kU);
  }
  return nullptr;
}

// The nearest number that the destination's type has in so many bits.
Value* Saturated(W w, Value* v, bool is_signed, int bits) {
  const int64_t most = (int64_t{1} << (bits - (is_signed ? 1 : 0))) - 1, least = is_signed ? -most - 1 : 0;
  return ops::Maxi(w.b, ops::Mini(w.b, v, Number(w, most), kS), Number(w, least), kS);
}

// What comes behind the types and the comparison: .sat, then .add, .min or .max of the result and the last operand.
struct Ending {
  bool known = true, sat = false;
  std::string second;
};
Ending EndingOf(W w, const Video& video) {
  Ending e;
  for (size_t i = 4; i < w.words.size(); ++i) {
    const std::string& word = w.words[i];
    if (word == "sat" && i == 4 && !video.compares()) {
      e.sat = true;
    } else if (i + 1 == w.words.size() && (word == "add" || (video.lanes == 1 && (word == "min" || word == "max")))) {
      e.second = word;
    } else {
      e.known = false;
    }
  }
  // Lanes are clamped or added up.
  if (video.lanes > 1 && e.sat && !e.second.empty()) e.known = false;
  return e;
}

Value* Lanes(W w, const Video& video, const Ending& ending, Signedness x_sign, Signedness y_sign) {
  const int bits = video.lane_bits();
  Value* out = ending.second.empty() ? w.Int(0) : w.x[2];
  for (int k = 0; k < video.lanes; ++k) {
    Value* v = Computed(w, video, Field(w, w.x[0], k * bits, bits, x_sign), Field(w, w.x[1], k * bits, bits, y_sign));
    if (v == nullptr) return nullptr;
    if (ending.sat) v = Saturated(w, v, w.words[1] == "s32", bits);
    Value* word = ops::Trunci(w.b, w.x[0]->type(), v);
    if (!ending.second.empty()) {
      out = ops::Addi(w.b, out, word);
      continue;
    }
    word = ops::Andi(w.b, word, w.Int((int64_t{1} << bits) - 1));
    out = ops::Ori(w.b, out, ops::Shli(w.b, word, w.Int(k * bits)));
  }
  return out;
}

// Where a selector begins, and how many bits it takes: "b2", "h1", or all of them.
std::pair<int, int> PartOf(absl::string_view selector) {
  if (selector.empty()) return {0, 32};
  const int bits = selector[0] == 'b' ? 8 : 16;
  return {(selector[1] - '0') * bits, bits};
}

}  // namespace

bool IsPtxVideo(absl::string_view name) { return !VideoOf(name).what.empty(); }

std::string PtxVideoForms(absl::string_view name) {
  const Video video = VideoOf(name);
  if (video.what.empty()) return "";
  const absl::string_view types =
      video.compares() ? " takes 2 types of .s32 .u32 and .eq .ne .lt .le .gt or .ge" : " takes 3 types of .s32 .u32";
  if (video.lanes > 1) {
    return absl::StrCat(name, types, video.compares() ? ", with .add" : ", with .sat or .add",
                        "; 3 operands, without parts of them");
  }
  return absl::StrCat(name, types, video.compares() ? "" : ", with .sat", ", and .add .min .max with a third operand",
                      "; parts .b0 to .b3 .h0 .h1 of the first two");
}

std::string PtxSelector(absl::string_view operand) {
  for (absl::string_view part : {"b0", "b1", "b2", "b3", "h0", "h1"}) {
    if (absl::EndsWith(operand, absl::StrCat(".", part))) return std::string(part);
  }
  return "";
}

Value* MakePtxVideo(const PtxWork& w, absl::string_view x_part, absl::string_view y_part) {
  const Video video = VideoOf(w.words[0]);
  if (w.words.size() < 4) return nullptr;
  const auto is_type = [](const std::string& word) { return word == "s32" || word == "u32"; };
  const size_t from = video.compares() ? 1 : 2;  // of the operands' types
  if (!is_type(w.words[1]) || !is_type(w.words[2]) || (!video.compares() && !is_type(w.words[3]))) return nullptr;
  const Signedness x_sign = w.words[from] == "s32" ? kS : kU, y_sign = w.words[from + 1] == "s32" ? kS : kU;
  const Ending ending = EndingOf(w, video);
  if (!ending.known || w.x.size() != (video.lanes > 1 || !ending.second.empty() ? 3u : 2u)) return nullptr;
  if (video.lanes > 1) return x_part.empty() && y_part.empty() ? Lanes(w, video, ending, x_sign, y_sign) : nullptr;
  const auto [x_from, x_bits] = PartOf(x_part);
  const auto [y_from, y_bits] = PartOf(y_part);
  Value* v = Computed(w, video, Field(w, w.x[0], x_from, x_bits, x_sign), Field(w, w.x[1], y_from, y_bits, y_sign));
  if (v == nullptr) return nullptr;
  const bool is_signed = !video.compares() && w.words[1] == "s32";
  if (ending.sat) v = Saturated(w, v, is_signed, 32);
  v = ops::Trunci(w.b, w.x[0]->type(), v);
  if (ending.second.empty()) return v;
  if (ending.second == "add") return ops::Addi(w.b, v, w.x[2]);
  return ending.second == "min" ? ops::Mini(w.b, v, w.x[2], is_signed ? kS : kU)
                                : ops::Maxi(w.b, v, w.x[2], is_signed ? kS : kU);
}

}  // namespace tile::ir::ttir
