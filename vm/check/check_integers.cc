#include "vm/check/check_integers.h"

#include <algorithm>
#include <type_traits>

#include "absl/strings/str_cat.h"
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

Wide ExactOf(Opcode opcode, Wide a, Wide b) {
  using Unsigned = unsigned __int128;
  switch (opcode) {
    case Opcode::kAddi:
      return a + b;
    case Opcode::kSubi:
      return a - b;
    case Opcode::kMuli:
      return static_cast<Wide>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
    case Opcode::kNegi:
      return -a;
    case Opcode::kShli:
      return static_cast<Wide>(static_cast<Unsigned>(a) << static_cast<int>(std::min<Wide>(b, 64)));
    default:
      return a;  // trunci
  }
}

std::string ExactText(Opcode opcode, Wide a, Wide b) {
  const std::string x = Decimal(a), y = Decimal(b);
  switch (opcode) {
    case Opcode::kAddi:
      return absl::StrCat(x, " + ", y);
    case Opcode::kSubi:
      return absl::StrCat(x, " - ", y);
    case Opcode::kMuli:
      return absl::StrCat(x, " * ", y);
    case Opcode::kNegi:
      return absl::StrCat("-(", x, ")");
    case Opcode::kShli:
      return absl::StrCat(x, " << ", y);
    default:
      return x;
  }
}

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
  const int i = op.info()->format->attr_index("overflow");
  return i < 0 || !op.attr(i).present() ? Overflow::kNone : op.attr(i).as_enum<Overflow>();
}

}  // namespace tile::vm
