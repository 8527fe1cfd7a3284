// How far two arrays are apart.
//
// An element agrees if its value is the same (0 and -0 are, and two NaNs if nan_equal), or
//   both are finite floats and  |a - e| <= atol + rtol * |e|,
//   both are floats and their distance is at most `ulp`,
//   both are integers and  |a - e| <= atol.        rtol and ulp are for floats
// so that everything is exact by default.
//
// The ULP distance of two floats is the number of steps from one to the other through the values of the type, in order:
// neighbours are 1 apart, also from the largest finite value to infinity; 0 and -0 are the same; -x to x is twice x's
// distance from 0. tf32 steps are 2^13 of its word. It is undefined for NaN. Expected values of another float type are
// compared as they are for rtol and atol, and rounded to the actual array's type for the ULP distance.
//
// Pure and thread-safe.
#ifndef TILE_TOOLS_DATA_COMPARE_ARRAYS_H_
#define TILE_TOOLS_DATA_COMPARE_ARRAYS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "ir/element.h"
#include "tools/data/array.h"

namespace tile::tools {

struct Tolerance {
  double rtol = 0, atol = 0;
  uint64_t ulp = 0;
  bool nan_equal = true;
};

struct Comparison {
  int64_t count = 0;          // of elements
  int64_t differing = 0;      // elements that do not agree
  int64_t first = -1;         // the first of them, as a row-major index; -1: none
  int64_t nan_differing = 0;  // of those: exactly one is NaN, or both and !nan_equal
  // Over all elements that are not NaN, also those that agree. Relative: |a - e| / |e|, where e is not 0. ULP of
  // floats; for integers the difference.
  double max_abs = 0, max_rel = 0;
  uint64_t max_ulp = 0;

  bool ok() const { return differing == 0; }
};

// kInvalidArgument if the shapes differ, or the types do and are not both floats.
absl::Status CheckComparable(const ArrayView& actual, const ArrayView& expected);
absl::StatusOr<Comparison> Compare(const ArrayView& actual, const ArrayView& expected, const Tolerance& tolerance = {});

// One or two lines: "3 of 4096 elements differ, first at [1,7]: 1.5, expected 1.25" and the largest differences.
std::string Describe(const Comparison& c, const ArrayView& actual, const ArrayView& expected);

// Distance of two values of a float type, neither NaN.
uint64_t UlpDistance(ir::Elem elem, uint64_t a, uint64_t b);

}  // namespace tile::tools

#endif  // TILE_TOOLS_DATA_COMPARE_ARRAYS_H_
