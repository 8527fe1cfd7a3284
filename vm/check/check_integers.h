// Integer arithmetic without wrapping, for what --check=full says about overflow and divisors: exact values, whether
// they fit a type, and how a message writes them. Pure functions.
#ifndef TILE_VM_CHECK_CHECK_INTEGERS_H_
#define TILE_VM_CHECK_CHECK_INTEGERS_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "vm/check/check_poison.h"

namespace tile::vm {

using Wide = __int128;

// Reads stored elements of an operand.
struct Reader {
  Reader(const BlockState& b, const Place& p, ir::Type t)
      : place(p), data(static_cast<const uint8_t*>(b.at(p.at))), bits(ir::ElemInfoOf(t.elem()).bits) {}
  uint64_t Unsigned(int64_t stored) const {
    uint64_t v = 0;
    std::memcpy(&v, data + stored * place.bytes, static_cast<size_t>(place.bytes));
    return bits < 8 ? v & ((uint64_t{1} << bits) - 1) : v;
  }
  int64_t Signed(int64_t stored) const {
    const int shift = 64 - bits;
    return static_cast<int64_t>(Unsigned(stored) << shift) >> shift;
  }
  const Place& place;
  const uint8_t* data;
  int bits;
};

// "element [1, 2]: "; nothing of a single element.
std::string ElementText(ir::Type t, int64_t element);
std::string Decimal(Wide v);

// An integer operation that may wrap (addi, subi, muli, negi, shli, trunci) as it would be without.
class ExactInteger {
 public:
  explicit ExactInteger(ir::Opcode opcode);
  // Where the result needs more than 127 bits, one that does not fit any type either.
  Wide operator()(Wide a, Wide b) const { return compute_(a, b); }
  // "3 + 4".
  std::string Text(Wide a, Wide b) const;

 private:
  Wide (*compute_)(Wide, Wide);
  const char* text_;
};
bool Fits(Wide v, int bits, bool is_signed);

// False if no element of the operation's result wraps, found out quickly for the common operations: when its operands
// are read as signed, as unsigned, or, if both are asked for, in both ways at once.
bool MayWrap(const BlockState& b, const OpPlaces& o, bool as_signed, bool as_unsigned);

// The stored element of operand i that goes into stored element e of the result.
int64_t OperandIndex(const OpPlaces& o, int i, int64_t e);

// The operation's overflow promise.
ir::Overflow PromiseOf(const ir::Op& op);

}  // namespace tile::vm

#endif  // TILE_VM_CHECK_CHECK_INTEGERS_H_
