// Bessel functions. Near zero by their power series, whose terms cancel: in 113 bits. Far from it by Hankel's expansion, of which
// J and Y are a rotation by the argument. Other orders by recurrence.
#include <sleef.h>

#include <cmath>
#include <limits>

#include "vm/kernels/quad.h"
#include "vm/kernels/special.h"

namespace tile::vm::special {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const Quad kLn2 = Quad{0x1.62e42fefa39efp-1} + Quad{0x1.abc9e3b39803fp-56} + Quad{0x1.7b57a079a1934p-111};
const Quad kEuler = Quad{0x1.2788cfc6fb619p-1} + Quad{-0x1.6cb90701fbfabp-58} + Quad{-0x1.34a95e3133c51p-112};
const Quad kTwoByPi = Quad{0x1.45f306dc9c883p-1} + Quad{-0x1.6b01ec5417056p-55} + Quad{-0x1.6447e493ad4cep-109};

constexpr double kFar = 25;         // from here on Hankel's expansion is good to 2^-60
constexpr double kFarGrowing = 40;  // of I0 and I1, where no terms cancel

double Log(double x) { return Sleef_cinz_logd1_u10purec(x); }
Quad Size(Quad x) { return x < 0 ? -x : x; }

// e^x of |x| < 800.
Quad Exp(Quad x) {
  const int k = static_cast<int>(std::floor(static_cast<double>(x / kLn2) + 0.5));
  const Quad r = x - k * kLn2;
  Quad sum = 1, term = 1;
  for (int i = 1; i < 32; ++i) sum += term *= r / i;
  // In two steps, as 2^k may be no normal number.
  return sum * std::ldexp(1.0, k / 2) * std::ldexp(1.0, k - k / 2);
}
// One step from the logarithm in double, of the third order.
Quad LogOf(double x) {
  const Quad near = Log(x), power = Exp(near);
  return near + 2 * (x - power) / (x + power);
}

// The sum of (±q)^k / (k! (k + order)!) times weight(k), q = x^2 / 4.
template <class Weight>
Quad Series(double x, int order, int sign, Weight weight) {
  const Quad q = Quad{x} * x / 4;
  Quad term = 1, sum = weight(0);
  for (int k = 1; k < 200; ++k) {
    term *= sign * q / (Quad(k) * (k + order));
    const Quad more = term * weight(k);
    sum += more;
    if (k > x && Size(more) <= Size(sum) * Quad{0x1p-120}) break;
  }
  return sum;
}
Quad One(int) { return 1; }

// cos and sin of a = x - order pi/2 - pi/4, order 0 or 1, times sqrt(2).
struct Rotation {
  double cos, sin;
};
Rotation RotationOf(double x, int order) {
  const double s = Sleef_cinz_sind1_u10purec(x), c = Sleef_cinz_cosd1_u10purec(x);
  return order == 0 ? Rotation{c + s, s - c} : Rotation{s - c, -s - c};
}

// J = sqrt(2 / (pi x)) (P cos a - Q sin a), Y = sqrt(2 / (pi x)) (P sin a + Q cos a); P has the even terms of the expansion. The scale
// is sqrt(1 / (pi x)), as the rotation has the factor sqrt(2).
struct Hankel {
  double p = 1, q = 0, scale = 0;
};
Hankel HankelOf(double x, int order) {
  Hankel h;
  double term = 1;
  for (int k = 1; k < 40; ++k) {
    term *= (4.0 * order * order - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k * x);
    (k % 2 == 0 ? h.p : h.q) += k % 4 < 2 ? term : -term;
    if (std::fabs(term) < 0x1p-60) break;
  }
  h.scale = std::sqrt(0x1.45f306dc9c883p-2 / x);
  return h;
}
double FarJ(double x, int order) {
  const Hankel h = HankelOf(x, order);
  const Rotation a = RotationOf(x, order);
  return h.scale * (h.p * a.cos - h.q * a.sin);
}
double FarY(double x, int order) {
  const Hankel h = HankelOf(x, order);
  const Rotation a = RotationOf(x, order);
  return h.scale * (h.p * a.sin + h.q * a.cos);
}

// e^x / sqrt(2 pi x) times its expansion. e^(x/2) twice, as e^x is infinite a little earlier.
double FarI(double x, int order) {
  double term = 1, sum = 1;
  for (int k = 1; k < 60; ++k) {
    term *= -(4.0 * order * order - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k * x);
    sum += term;
    if (std::fabs(term) < 0x1p-60) break;
  }
  const double root = Sleef_cinz_expd1_u10purec(x / 2);
  return root * (0x1.9884533d43651p-2 / std::sqrt(x) * sum) * root;
}

// The sum of 1/1, 1/2, … 1/k, asked for in order.
class Harmonic {
 public:
  Quad operator()(int k) {
    for (; last_ < k; sum_ += Quad{1} / last_) ++last_;
    return sum_;
  }

 private:
  int last_ = 0;
  Quad sum_ = 0;
};

// J of order n > 1, 0 < x <= n: downwards from where it is nothing, then to the scale of J0 or J1.
double Downwards(int32_t n, double x) {
  const double size = n * Log(x / 2) - Lgamma(n + 1.0);  // of the logarithm
  if (size < -800) return 0;
  const int64_t start = 2 * ((n + static_cast<int64_t>(std::sqrt(200.0 * n))) / 2 + 10);
  double above = 0, here = 1, wanted = 0;
  for (int64_t k = start; k > 0; --k) {  // here is J(k), becomes J(k - 1)
    const double below = 2 * static_cast<double>(k) / x * here - above;
    above = here;
    here = below;
    if (std::fabs(here) > 0x1p300) {
      here *= 0x1p-300;
      above *= 0x1p-300;
      wanted *= 0x1p-300;
    }
    if (k - 1 == n) wanted = here;
  }
  const double j0 = J0(x), j1 = J1(x);
  return std::fabs(j0) > std::fabs(j1) ? wanted / here * j0 : wanted / above * j1;
}

}  // namespace

double J0(double x) {
  x = std::fabs(x);
  if (x == kInf) return 0;
  return x > kFar ? FarJ(x, 0) : static_cast<double>(Series(x, 0, -1, One));
}

double J1(double x) {
  const double size = std::fabs(x);
  if (size == kInf) return 0;
  if (size > kFar) return std::copysign(1.0, x) * FarJ(size, 1);
  return static_cast<double>(Quad{x} / 2 * Series(size, 1, -1, One));
}

double Y0(double x) {
  if (!(x >= 0)) return kNan;
  if (x == 0) return -kInf;
  if (x == kInf) return 0;
  if (x > kFar) return FarY(x, 0);
  Harmonic h;
  const Quad sum = Series(x, 0, -1, [&](int k) -> Quad { return -h(k); });
  return static_cast<double>(kTwoByPi * ((LogOf(x) - kLn2 + kEuler) * Series(x, 0, -1, One) + sum));
}

double Y1(double x) {
  if (!(x >= 0)) return kNan;
  if (x == 0) return -kInf;
  if (x == kInf) return 0;
  if (x > kFar) return FarY(x, 1);
  Harmonic h, next;
  const Quad sum = Series(x, 1, -1, [&](int k) -> Quad { return h(k) + next(k + 1); });
  const Quad j1 = Quad{x} / 2 * Series(x, 1, -1, One);
  return static_cast<double>(kTwoByPi * ((LogOf(x) - kLn2 + kEuler) * j1 - Quad{1} / x - Quad{x} / 4 * sum));
}

double Jn(int32_t n, double x) {
  if (n < 0 || x != x) return kNan;
  if (n == 0) return J0(x);
  if (n == 1) return J1(x);
  const double size = std::fabs(x), sign = n % 2 == 0 ? 1 : std::copysign(1.0, x);
  if (size == kInf) return 0;
  if (size == 0) return sign * 0;
  if (size <= n) return sign * Downwards(n, size);
  double before = J0(size), here = J1(size);
  for (int32_t k = 1; k < n; ++k) {
    const double after = 2.0 * k / size * here - before;
    before = here;
    here = after;
  }
  return sign * here;
}

double Yn(int32_t n, double x) {
  if (n < 0 || !(x >= 0)) return kNan;
  if (n == 0) return Y0(x);
  if (n == 1) return Y1(x);
  if (x == 0) return -kInf;
  if (x == kInf) return 0;
  double before = Y0(x), here = Y1(x);
  for (int32_t k = 1; k < n && here != -kInf; ++k) {
    const double after = 2.0 * k / x * here - before;
    before = here;
    here = after;
  }
  return here;
}

double CylBesselI0(double x) {
  x = std::fabs(x);
  if (x > 1000) return kInf;
  return x > kFarGrowing ? FarI(x, 0) : static_cast<double>(Series(x, 0, 1, One));
}

double CylBesselI1(double x) {
  const double size = std::fabs(x);
  if (size > 1000) return std::copysign(kInf, x);
  if (size > kFarGrowing) return std::copysign(1.0, x) * FarI(size, 1);
  return static_cast<double>(Quad{x} / 2 * Series(size, 1, 1, One));
}

}  // namespace tile::vm::special
