#include "vm/check/check_integers.h"

#include <algorithm>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "ir/op_views.h"
#include "vm/machine/memory_access.h"

namespace tile::vm {

using ir::Opcode;
using ir::Overflow;

std::string ElementText(ir::Type t, int64_t element) {
  return t.rank() == 0 ? std::string() : absl::StrCat("element ", LaneText(t, element % t.num_elements()), ": ");
}

std::string Decimal(Wide v) {
  if (v == 0) return "0";
  const bool negative = v < 0;
  std::string s;
  for (unsigned __int128 u = negative ? -static_cast<unsigned __int128>(v) : static_cast<unsigned __int128>(v); u != 0;
       u /= 10) {
    s.insert(s.begin(), static_cast<char>('0' + static_cast<int>(u % 10)));
  }
  return negative ? "-" + s : s;
}

namespace {

// Integer operations that may wrap: how they are written ($0 and $1 are the operands), and what they give without.
struct ExactRow {
  Opcode opcode;
  const char* text;
  Wide (*exact)(Wide, Wide);
};
using UnsignedWide = unsigned __int128;
constexpr ExactRow kExact[] = {
    {Opcode::kAddi, "$0 + $1", [](Wide a, Wide b) { return a + b; }},
    {Opcode::kSubi, "$0 - $1", [](Wide a, Wide b) { return a - b; }},
    {Opcode::kMuli, "$0 * $1",
     [](Wide a, Wide b) { return static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b)); }},
    {Opcode::kNegi, "-($0)", [](Wide a, Wide) { return -a; }},
    {Opcode::kShli, "$0 << $1",
     [](Wide a, Wide b) {
       return static_cast<Wide>(static_cast<UnsignedWide>(a) << static_cast<int>(std::min<Wide>(b, 64)));
     }},
    {Opcode::kTrunci, "$0", [](Wide a, Wide) { return a; }},
};

const ExactRow& RowOf(Opcode opcode) {
  const auto* row =
      std::find_if(std::begin(kExact), std::end(kExact), [&](const ExactRow& r) { return r.opcode == opcode; });
  TILE_CHECK(row != std::end(kExact), "an integer operation that cannot wrap");
  return *row;
}

}  // namespace

ExactInteger::ExactInteger(Opcode opcode) : compute_(RowOf(opcode).exact), text_(RowOf(opcode).text) {}

std::string ExactInteger::Text(Wide a, Wide b) const { return absl::Substitute(text_, Decimal(a), Decimal(b)); }

bool Fits(Wide v, int bits, bool is_signed) {
  const Wide one = 1;
  return is_signed ? v >= -(one << (bits - 1)) && v < one << (bits - 1) : v >= 0 && v < one << bits;
}

namespace {

template <class T>
bool Wraps(Opcode opcode, T x, T y) {
  T r;
  return opcode == Opcode::kAddi   ? __builtin_add_overflow(x, y, &r)
         : opcode == Opcode::kSubi ? __builtin_sub_overflow(x, y, &r)
                                   : __builtin_mul_overflow(x, y, &r);
}

// Element type known: what follows for a suspicious element is slow and exact.
template <class U>
bool Suspicious(Opcode opcode, bool as_signed, bool as_unsigned, const U* a, bool step_a, const U* b, bool step_b,
                int64_t n) {
  using S = std::make_signed_t<U>;
  bool any = false;
  for (int64_t e = 0; e < n; ++e) {
    const U x = a[step_a ? e : 0], y = b[step_b ? e : 0];
    any |= (!as_signed || Wraps(opcode, static_cast<S>(x), static_cast<S>(y))) && (!as_unsigned || Wraps(opcode, x, y));
  }
  return any;
}

}  // namespace

bool MayWrap(const BlockState& b, const OpPlaces& o, bool as_signed, bool as_unsigned) {
  const Opcode opcode = o.op->opcode();
  if (opcode != Opcode::kAddi && opcode != Opcode::kSubi && opcode != Opcode::kMuli) return true;
  if (ir::ElemInfoOf(o.op->result(0)->type().elem()).bits < 8) return true;
  const Place& r = o.results[0];
  bool step[2];
  for (int i = 0; i < 2; ++i) {
    const Place& p = o.operands[i];
    step[i] = p.count == r.count && p.run == r.run;
    if (!step[i] && p.count != 1) return true;
  }
  const void *x = b.at(o.operands[0].at), *y = b.at(o.operands[1].at);
  return WithWord(r.bytes, [&](auto word) {
    using U = decltype(word);
    return Suspicious(opcode, as_signed, as_unsigned, static_cast<const U*>(x), step[0], static_cast<const U*>(y),
                      step[1], r.count);
  });
}

int64_t OperandIndex(const OpPlaces& o, int i, int64_t e) {
  const Place &p = o.operands[i], &r = o.results[0];
  return p.count == r.count && p.run == r.run ? e : StoredIndex(p, e);
}

Overflow PromiseOf(const ir::Op& op) {
  const auto promise = ir::As<ir::OverflowOp>(&op);
  return promise ? promise->overflow() : Overflow::kNone;
}

}  // namespace tile::vm
