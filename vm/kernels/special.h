// Special functions: error functions and their inverses, gamma functions, Bessel functions. One f64 argument, within a few units in
// the last place (MATH.md has the bounds). f32 is computed by them, too.
//
//   special::Erfinv(0.5)          0.4769…
//   special::Jn(2, 1.5)           order, argument
//
// They are compiled once, not for each instruction set: nobody calls them for every element of a large model. Results are the same bits
// on every CPU, because they are made of IEEE operations and of SLEEF's deterministic functions.
#ifndef TILE_VM_KERNELS_SPECIAL_H_
#define TILE_VM_KERNELS_SPECIAL_H_

#include <cstdint>

namespace tile::vm::special {

double Erfc(double x);
double Erfcx(double x);
double Erfinv(double p);
double Erfcinv(double q);
double Normcdf(double x);
double Normcdfinv(double p);
double Lgamma(double x);
double Tgamma(double x);
double Sinpi(double x);
double Cospi(double x);
// --- special_bessel.cc ---
double J0(double x);
double J1(double x);
double Y0(double x);
double Y1(double x);
double Jn(int32_t n, double x);
double Yn(int32_t n, double x);
double CylBesselI0(double x);
double CylBesselI1(double x);

}  // namespace tile::vm::special

#endif  // TILE_VM_KERNELS_SPECIAL_H_
