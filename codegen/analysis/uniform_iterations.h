// In which iterations of a loop a mask is the same for all elements: those of masks that compare positions, as attention's do (keys up to
// the query, keys within a window, keys that there are).
//
//   const auto iterations = IterationsWhere(*select->operand(0), loop, /*is=*/true);
//   // %col <= %row & %col > %row - %window, %col = %i * 128 + iota, %row = %first + iota:
//   //   -128 * i + %first - 127 >= 0,  128 * i - %first + %window - 64 >= 0, and what says that nothing wraps
//
// Numbers of positions are sums: of the loop's index and scalars from before the loop, each times a constant, and of an amount between two
// constants that the element decides. A comparison holds for all elements if it holds for the extremes. Sums are true ones, not
// modulo 2^32: where each side of a comparison lies in its type, so computed, it is what the program compares, whatever wrapped on the
// way. Pure functions.
#ifndef TILE_CODEGEN_ANALYSIS_UNIFORM_ITERATIONS_H_
#define TILE_CODEGEN_ANALYSIS_UNIFORM_ITERATIONS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/module.h"

namespace tile::codegen {

// step * index + factors * scalars + constant >= 0. 64 bits hold it, if they hold index and scalars as 32 bits with sign.
struct IterationLimit {
  int64_t step = 0, constant = 0;
  std::vector<std::pair<ir::Value*, int64_t>> terms;
};

// What must hold of the index, all of it, so that every element of `mask` is `is`; nullopt if that is not known. Of a `for` whose index has 32 bits
// and a sign.
std::optional<std::vector<IterationLimit>> IterationsWhere(const ir::Value& mask, const ir::Op& loop, bool is);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_UNIFORM_ITERATIONS_H_
