#include "vm/machine/atomic.h"

#include <bit>
#include <type_traits>

#include "ir/float.h"

namespace tile::vm {
namespace {

using ir::Elem;
using ir::RmwMode;

// The order of the load when a compare-exchange fails.
int FailureOrder(int order) {
  if (order == __ATOMIC_ACQ_REL) return __ATOMIC_ACQUIRE;
  return order == __ATOMIC_RELEASE ? __ATOMIC_RELAXED : order;
}

// The general form: works for any update, of 16-bit elements too.
template <class U, class Fn>
uint64_t Update(void* address, int order, bool* changed, Fn&& next) {
  U* p = static_cast<U*>(address);
  U old = __atomic_load_n(p, __ATOMIC_RELAXED);
  U now;
  do {
    now = next(old);
  } while (!__atomic_compare_exchange_n(p, &old, now, true, order, FailureOrder(order)));
  *changed |= now != old;
  return old;
}

template <class U, RmwMode mode>
uint64_t IntegerRmw(void* address, uint64_t value, int order, bool* changed) {
  using S = std::make_signed_t<U>;
  U* p = static_cast<U*>(address);
  const U v = static_cast<U>(value);
  // Where the CPU has an instruction.
  if constexpr (mode == RmwMode::kAdd) {
    *changed |= v != 0;
    return __atomic_fetch_add(p, v, order);
  } else if constexpr (mode == RmwMode::kSub) {
    *changed |= v != 0;
    return __atomic_fetch_sub(p, v, order);
  } else if constexpr (mode == RmwMode::kXchg) {
    const U old = __atomic_exchange_n(p, v, order);
    *changed |= old != v;
    return old;
  } else {
    return Update<U>(address, order, changed, [&](U k) -> U {
      switch (mode) {
        case RmwMode::kAnd: return k & v;
        case RmwMode::kOr: return k | v;
        case RmwMode::kXor: return k ^ v;
        case RmwMode::kMax: return static_cast<S>(k) > static_cast<S>(v) ? k : v;
        case RmwMode::kMin: return static_cast<S>(k) < static_cast<S>(v) ? k : v;
        case RmwMode::kUmax: return k > v ? k : v;
        case RmwMode::kUmin: return k < v ? k : v;
        case RmwMode::kInc: return k >= v ? 0 : static_cast<U>(k + 1);
        case RmwMode::kDec: return k == 0 || k > v ? v : static_cast<U>(k - 1);
        default: return v;
      }
    });
  }
}

// k + v or k - v, rounded once to nearest even. Subnormals stay.
template <Elem elem, bool subtract>
uint64_t FloatRmw(void* address, uint64_t value, int order, bool* changed) {
  using U =
      std::conditional_t<elem == Elem::kF64, uint64_t, std::conditional_t<elem == Elem::kF32, uint32_t, uint16_t>>;
  return Update<U>(address, order, changed, [&](U k) -> U {
    if constexpr (elem == Elem::kF32) {
      const float a = std::bit_cast<float>(static_cast<uint32_t>(k)),
                  b = std::bit_cast<float>(static_cast<uint32_t>(value));
      return std::bit_cast<uint32_t>(subtract ? a - b : a + b);
    } else if constexpr (elem == Elem::kF64) {
      const double a = std::bit_cast<double>(k), b = std::bit_cast<double>(value);
      return std::bit_cast<uint64_t>(subtract ? a - b : a + b);
    } else {
      // The sum of two 16-bit floats, computed in f64, is exact for f16 and wide enough for bf16 to round once.
      const double a = ir::ToDouble(elem, k), b = ir::ToDouble(elem, value);
      return static_cast<U>(ir::FromDouble(elem, subtract ? a - b : a + b));
    }
  });
}

template <class U>
RmwFn FindInteger(RmwMode mode) {
  switch (mode) {
#define TILE_VM_RMW(Mode) \
  case RmwMode::Mode: return IntegerRmw<U, RmwMode::Mode>;
    TILE_VM_RMW(kAnd)
    TILE_VM_RMW(kOr)
    TILE_VM_RMW(kXor)
    TILE_VM_RMW(kAdd)
    TILE_VM_RMW(kSub)
    TILE_VM_RMW(kMax)
    TILE_VM_RMW(kMin)
    TILE_VM_RMW(kUmax)
    TILE_VM_RMW(kUmin)
    TILE_VM_RMW(kXchg)
    TILE_VM_RMW(kInc)
    TILE_VM_RMW(kDec)
#undef TILE_VM_RMW
    default: return nullptr;
  }
}

template <Elem elem>
RmwFn FindFloat(RmwMode mode) {
  if (mode == RmwMode::kAddf || mode == RmwMode::kAdd) return FloatRmw<elem, false>;
  if (mode == RmwMode::kSub) return FloatRmw<elem, true>;
  return nullptr;
}

template <class U>
uint64_t Cas(void* address, uint64_t expected, uint64_t value, int order, bool* changed) {
  U old = static_cast<U>(expected);
  const bool stored = __atomic_compare_exchange_n(static_cast<U*>(address), &old, static_cast<U>(value), false, order,
                                                  FailureOrder(order));
  *changed |= stored && value != expected;
  return old;
}

}  // namespace

RmwFn FindRmw(RmwMode mode, Elem elem) {
  if (mode == RmwMode::kXchg && ir::IsNum(elem) && ir::StorageBytes(elem) >= 4) {
    return ir::StorageBytes(elem) == 4 ? FindInteger<uint32_t>(mode) : FindInteger<uint64_t>(mode);
  }
  switch (elem) {
    case Elem::kI32: return FindInteger<uint32_t>(mode);
    case Elem::kI64: return FindInteger<uint64_t>(mode);
    case Elem::kF16: return FindFloat<Elem::kF16>(mode);
    case Elem::kBF16: return FindFloat<Elem::kBF16>(mode);
    case Elem::kF32: return FindFloat<Elem::kF32>(mode);
    case Elem::kF64: return FindFloat<Elem::kF64>(mode);
    default: return nullptr;
  }
}

CasFn FindCas(int element_bytes) {
  if (element_bytes == 4) return Cas<uint32_t>;
  return element_bytes == 8 ? Cas<uint64_t> : nullptr;
}

}  // namespace tile::vm
