// Error and gamma functions; inverses are solved for by Halley's and Newton's methods.
#include "vm/kernels/special.h"

#include <sleef.h>

#include <cmath>
#include <limits>

namespace tile::vm::special {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSqrtPi = 0x1.c5bf891b4ef6bp+0;
constexpr double kInvSqrtPi = 0x1.20dd750429b6dp-1;
constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;
// 1 / sqrt(2) in two parts.
constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1, kSqrtHalfLow = -0x1.bdd3413b26456p-55;

double Exp(double x) { return Sleef_cinz_expd1_u10purec(x); }
double Log(double x) { return Sleef_cinz_logd1_u10purec(x); }
double ErrorFunction(double x) { return Sleef_cinz_erfd1_u10purec(x); }

// e^(x^2): what the rounding of x^2 loses is a factor near 1.
double ExpOfSquare(double x) {
  const double square = x * x;
  if (square > 800) return kInf;
  return Exp(square) * (1 + std::fma(x, x, -square));
}

// erfcx of 2 and above, by its continued fraction x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …))).
double ErfcxFraction(double x) {
  constexpr int kTerms = 80;
  double tail = x;
  for (int k = kTerms; k > 0; --k) tail = x + 0.5 * k / tail;
  return kInvSqrtPi / tail;
}

// x > 0 of which erfc is q < 0.1: Newton's method on ln erfc(x) = ln erfcx(x) - x^2, which is nearly a parabola.
double ErfcinvOfTail(double q) {
  const double log = Log(q);
  double x = std::sqrt(-log);
  for (int i = 0; i < 6; ++i) {
    const double scaled = Erfcx(x);
    const double square = x * x;
    const double excess = ((-log - square) - std::fma(x, x, -square)) + Log(scaled);
    x += 0.5 * kSqrtPi * scaled * excess;
  }
  return x;
}

// x whose error function is p, |p| <= 0.9: Winitzki's approximation, then Halley's method.
double ErfinvOfMiddle(double p) {
  constexpr double kA = 0.147, kB = 2 / (3.14159265358979 * kA);
  const double log = Log((1 - p) * (1 + p)), half = kB + log / 2;
  double x = std::copysign(std::sqrt(std::sqrt(half * half - log / kA) - half), p);
  if (std::fabs(p) < 0x1p-20) x = p * (kSqrtPi / 2);
  for (int i = 0; i < 3; ++i) {
    const double step = (ErrorFunction(x) - p) * (kSqrtPi / 2) * Exp(x * x);
    x -= step / (1 + x * step);
  }
  return x;
}

}  // namespace

double Erfc(double x) { return Sleef_cinz_erfcd1_u15purec(x); }
double Lgamma(double x) { return std::isinf(x) ? kInf : Sleef_cinz_lgammad1_u10purec(x); }
double Tgamma(double x) {
  if (x == 0) return std::copysign(kInf, x);
  if (x < 0 && std::floor(x) == x) return kNan;  // also of -inf
  const double gamma = Sleef_cinz_tgammad1_u10purec(x);
  if (gamma != 0 || x > 0) return gamma;
  return std::fmod(std::floor(x), 2) == 0 ? 0.0
                                          : -0.0;  // too small, with the sign that it has between the poles around
}
// SLEEF's are for arguments below a billion; the period is 2. Zeros have signs as IEEE 754 says: of sinPi that of x, of cosPi none.
double Sinpi(double x) {
  const double y = Sleef_cinz_sinpid1_u05purec(std::remainder(x, 2));
  return y == 0 ? std::copysign(0.0, x) : y;
}
double Cospi(double x) {
  const double y = Sleef_cinz_cospid1_u05purec(std::remainder(x, 2));
  return y == 0 ? 0.0 : y;
}

double Erfcx(double x) {
  if (x >= 2) return ErfcxFraction(x);
  if (x < -2) return 2 * ExpOfSquare(x) - ErfcxFraction(-x);
  return ExpOfSquare(x) * Erfc(x);  // NaN, too
}

double Erfinv(double p) {
  if (!(std::fabs(p) <= 1)) return kNan;
  if (std::fabs(p) == 1) return std::copysign(kInf, p);
  if (p == 0) return p;
  return std::fabs(p) <= 0.9 ? ErfinvOfMiddle(p) : std::copysign(ErfcinvOfTail(1 - std::fabs(p)), p);
}

double Erfcinv(double q) {
  if (!(q >= 0 && q <= 2)) return kNan;
  if (q == 0) return kInf;
  if (q == 2) return -kInf;
  if (q < 0.1) return ErfcinvOfTail(q);
  return q > 1.9 ? -ErfcinvOfTail(2 - q) : Erfinv(1 - q);
}

// erfc(t) / 2 of t = -x / sqrt(2), which is not exact: the rest times the slope of erfc.
double Normcdf(double x) {
  const double t = -x * kSqrtHalf;
  if (!(std::fabs(t) < 28)) return x != x ? kNan : t > 0 ? 0 : 1;
  const double rest = std::fma(-x, kSqrtHalf, -t) - x * kSqrtHalfLow;
  return 0.5 * (Erfc(t) - 2 * kInvSqrtPi * Exp(-t * t) * rest);
}

double Normcdfinv(double p) { return p == 0.5 ? 0 : -kSqrt2 * Erfcinv(2 * p); }

}  // namespace tile::vm::special
