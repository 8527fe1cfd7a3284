// Quad: numbers of 113 bits, the format that IEEE 754 calls binary128, with the same bits on every CPU.
//
//   const Quad third = Quad{1} / 3;
//   const double rounded = static_cast<double>(third);
//
// A type of the compiler, but on Apple's systems, where it has none. Its run-time library has the functions all the same, and takes the
// numbers as AArch64 passes 128-bit floats: in vector registers.
#ifndef TILE_VM_KERNELS_QUAD_H_
#define TILE_VM_KERNELS_QUAD_H_

#if !defined(__APPLE__)

namespace tile::vm::special {

#if __LDBL_MANT_DIG__ == 113
using Quad = long double;
#else
__extension__ using Quad = __float128;
#endif

}  // namespace tile::vm::special

#else

using TileQuadBits = double __attribute__((vector_size(16)));
extern "C" {
TileQuadBits __addtf3(TileQuadBits a, TileQuadBits b);
TileQuadBits __subtf3(TileQuadBits a, TileQuadBits b);
TileQuadBits __multf3(TileQuadBits a, TileQuadBits b);
TileQuadBits __divtf3(TileQuadBits a, TileQuadBits b);
TileQuadBits __extenddftf2(double a);
double __trunctfdf2(TileQuadBits a);
int __lttf2(TileQuadBits a, TileQuadBits b);  // below zero: a < b
int __letf2(TileQuadBits a, TileQuadBits b);  // not above zero: a <= b
}

namespace tile::vm::special {

class Quad {
 public:
  Quad() : Quad(0.0) {}
  Quad(int a) : Quad(static_cast<double>(a)) {}  // NOLINT(google-explicit-constructor): as of arithmetic types
  Quad(double a) : bits_(__extenddftf2(a)) {}    // NOLINT(google-explicit-constructor)
  explicit operator double() const { return __trunctfdf2(bits_); }

  friend Quad operator+(Quad a, Quad b) { return Quad(__addtf3(a.bits_, b.bits_)); }
  friend Quad operator-(Quad a, Quad b) { return Quad(__subtf3(a.bits_, b.bits_)); }
  friend Quad operator*(Quad a, Quad b) { return Quad(__multf3(a.bits_, b.bits_)); }
  friend Quad operator/(Quad a, Quad b) { return Quad(__divtf3(a.bits_, b.bits_)); }
  friend Quad operator-(Quad a) { return Quad(-0.0) - a; }
  friend bool operator<(Quad a, Quad b) { return __lttf2(a.bits_, b.bits_) < 0; }
  friend bool operator<=(Quad a, Quad b) { return __letf2(a.bits_, b.bits_) <= 0; }
  Quad& operator+=(Quad b) { return *this = *this + b; }
  Quad& operator*=(Quad b) { return *this = *this * b; }

 private:
  explicit Quad(TileQuadBits bits) : bits_(bits) {}
  TileQuadBits bits_;
};

}  // namespace tile::vm::special

#endif

#endif  // TILE_VM_KERNELS_QUAD_H_
