// What an array holds, in two lines, for people:
//
//   f32[128,128]  0.25 0.5 0.125 0.75 0.5 0.25 0.0625 0.5 ...
//   min -1.5, max 3.25, mean 0.501, 3 nan, 1 inf
//
// min, max and mean are those of the finite elements. Integers are signed unless the array says otherwise. Pure and
// thread-safe.
#ifndef TILE_TOOLS_DATA_SUMMARY_H_
#define TILE_TOOLS_DATA_SUMMARY_H_

#include <cstdint>
#include <string>

#include "tools/data/array.h"

namespace tile::tools {

struct Statistics {
  int64_t count = 0;
  int64_t nans = 0, infinities = 0;
  int64_t min_index = -1, max_index = -1;  // the first smallest and largest finite element; -1: there is none
  double mean = 0;                         // of the finite elements
};

Statistics Measure(const ArrayView& array);

// Without a line break at the end. At most `first` elements are shown.
std::string Summary(const ArrayView& array, int first = 8);

}  // namespace tile::tools

#endif  // TILE_TOOLS_DATA_SUMMARY_H_
