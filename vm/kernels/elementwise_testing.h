// Helpers for tests of elementwise kernels: run a kernel in every form on vectors of bits, edge values, and rounding
// from MPFR. Nothing here uses vm/kernels/scalar.h.
#ifndef TILE_VM_KERNELS_ELEMENTWISE_TESTING_H_
#define TILE_VM_KERNELS_ELEMENTWISE_TESTING_H_

#include <mpfr.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/element.h"
#include "ir/float.h"
#include "vm/kernels/elementwise.h"

namespace tile::vm {

using Bits = std::vector<uint64_t>;  // one element each

// The instruction sets that this CPU can run.
std::vector<Isa> SupportedIsas();

// "mulf f32 to f32 v3 …" for messages.
std::string Describe(const ElementwiseKey& key, Isa isa);

// Element of operand i, from the operation's form.
ir::Elem OperandElem(const ElementwiseKey& key, int operand);

// Runs the kernel of the key on the operands, in every instruction set, and expects equal bits from all of them, in
// place where sizes allow, in several lengths, and for every splat mask that has a kernel. Returns the results.
Bits RunEverywhere(const ElementwiseKey& key, const std::vector<Bits>& operands);

// RunEverywhere, and every result equal to expected(bits of operand 0, 1, 2).
void Check(const ElementwiseKey& key, const std::vector<Bits>& operands,
           const std::function<uint64_t(const uint64_t*)>& expected);

// Interesting values of a type; all of them if it has at most 8 bits. `random` more at random.
Bits EdgeValues(ir::Elem e, int random = 30);
// All tuples of values, as operands.
std::vector<Bits> Pairs(const Bits& a, const Bits& b);
std::vector<Bits> Triples(const Bits& a, const Bits& b, const Bits& c);

// Sign-extended value of an integer's bits.
int64_t Signed(ir::Elem e, uint64_t bits);
uint64_t MaskOf(ir::Elem e);

// --- MPFR -----------------------------------------------------------------------------------------------------------

// A number of enough bits that sums and products of doubles are exact.
class Real {
 public:
  static constexpr int kPrecision = 4400;
  explicit Real(double v = 0) {
    mpfr_init2(x_, kPrecision);
    mpfr_set_d(x_, v, MPFR_RNDN);
  }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  ~Real() { mpfr_clear(x_); }
  mpfr_ptr get() { return x_; }
  mpfr_srcptr get() const { return x_; }

 private:
  mpfr_t x_;
};

// x with a single rounding as a code of an IEEE type (f16, bf16, f32, f64, tf32), overflow as IEEE says, NaN canonical.
// If `inexact` is not 0, x was truncated and the true value is a little farther from zero.
uint64_t RoundTo(ir::Elem e, mpfr_srcptr x, ir::Rounding rounding, bool inexact = false);

}  // namespace tile::vm

#endif  // TILE_VM_KERNELS_ELEMENTWISE_TESTING_H_
