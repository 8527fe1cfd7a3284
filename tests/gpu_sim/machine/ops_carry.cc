// Sums of several words: add.cc, addc, sub.cc, subc, mad.cc, madc of 32 and 64 bits. The thread keeps the carry; of a difference it is
// the borrow.
#include <type_traits>

#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/machine/state.h"

namespace tile::gpu_sim {
namespace {

// In Instr::imm.
enum CarryFlags : int64_t { kTakes = 1, kSets = 2, kSubtracts = 4 };

// A product of T has twice its bits.
template <class T>
using Twice = std::conditional_t<sizeof(T) == 4, uint64_t, unsigned __int128>;
template <class T>
using SignedTwice = std::conditional_t<sizeof(T) == 4, int64_t, __int128>;

// a + b + carry, or a - b - borrow.
template <class T>
void Sum(Thread& t, const Instr& i, T a, T b) {
  const T in = (i.imm & kTakes) != 0 && t.carry ? 1 : 0;
  const Twice<T> d = (i.imm & kSubtracts) != 0 ? static_cast<Twice<T>>(a) - b - in : static_cast<Twice<T>>(a) + b + in;
  if ((i.imm & kSets) != 0) t.carry = (d >> (8 * sizeof(T)) & 1) != 0;
  Put<T>(t, i.d, static_cast<T>(d));
}

template <class T>
Step AddWithCarry(Thread& t, const Instr& i) {
  return Sum<T>(t, i, Get<T>(t, i.a), Get<T>(t, i.b)), Step::kNext;
}

template <class T, bool is_signed, bool high>
Step MadWithCarry(Thread& t, const Instr& i) {
  const T a = Get<T>(t, i.a), b = Get<T>(t, i.b);
  using S = std::make_signed_t<T>;
  Twice<T> product = static_cast<Twice<T>>(a) * b;
  if (is_signed) {
    product = static_cast<Twice<T>>(SignedTwice<T>{static_cast<S>(a)} * SignedTwice<T>{static_cast<S>(b)});
  }
  return Sum<T>(t, i, static_cast<T>(high ? product >> (8 * sizeof(T)) : product), Get<T>(t, i.c)), Step::kNext;
}

template <class T>
Instr::Run MadOf(bool is_signed, bool high) {
  if (is_signed) return high ? &MadWithCarry<T, true, true> : &MadWithCarry<T, true, false>;
  return high ? &MadWithCarry<T, false, true> : &MadWithCarry<T, false, false>;
}

}  // namespace

absl::Status DecodeCarry(Form& f, Instr* i) {
  const absl::string_view name = f.words()[0];
  const bool multiplies = name == "mad" || name == "madc";
  if (!multiplies && name != "add" && name != "addc" && name != "sub" && name != "subc") return f.Unknown("`.cc`");
  i->imm = (name.size() == 4) * kTakes | f.Take("cc") * kSets | (name[0] == 's') * kSubtracts;
  const bool high = multiplies && f.Take("hi");
  if (multiplies && !high && !f.Take("lo")) f.Fail("neither `.lo` nor `.hi`");
  const Type type = f.TakeType();
  const bool narrow = type == Type::kU32 || type == Type::kS32 || type == Type::kB32;
  if (!narrow && type != Type::kU64 && type != Type::kS64 && type != Type::kB64) f.Fail("this type");
  const bool is_signed = type == Type::kS32 || type == Type::kS64;
  if (multiplies) {
    i->run = narrow ? MadOf<uint32_t>(is_signed, high) : MadOf<uint64_t>(is_signed, high);
  } else {
    i->run = narrow ? &AddWithCarry<uint32_t> : &AddWithCarry<uint64_t>;
  }
  i->d = f.Destination(0), i->a = f.Source(1), i->b = f.Source(2);
  if (multiplies) i->c = f.Source(3);
  return f.Finish();
}

}  // namespace tile::gpu_sim
