// What a loop over slices carries for a reduce or scan along the sliced dimension: what the slices so far come to, by the
// operation's own body. Internal to codegen/passes.
//
//   Totals totals(scan, /*slices=*/64, types);        // types: of the total of one slice, one for each operand
//   Values carried = totals.Init(b);                  // in front of the loop
//   Values before = totals.Before(b, iteration, carried);  // in an iteration after the first: all slices before it
//   Values next = totals.After(b, iteration, carried, total);
//
// One total is enough, except for sums and products of floats under 32 bits, in which adding slice after slice would lose the
// later ones: 256 ones and one more are 256 in bf16. For those the loop keeps a total for each bit of the iteration's number, of 1, 2,
// 4, … slices, so that addends are of equal size. The last iteration leaves the total of all.
#ifndef TILE_CODEGEN_PASSES_SLICING_SLICE_CARRY_H_
#define TILE_CODEGEN_PASSES_SLICING_SLICE_CARRY_H_

#include <cstdint>
#include <vector>

#include "codegen/passes/slicing/slice_code.h"

namespace tile::codegen {

// The reduce adds up slices place by place, and reduces what comes of it: its body is commutative and exact enough.
bool CarriesElements(const ir::Op& reduce);
// Totals that are kept of each operand of a reduce or scan.
int64_t TotalsOf(const ir::Op& op, int64_t slices);

class Totals {
 public:
  Totals(const ir::Op& op, int64_t slices, std::vector<ir::Type> types);

  // How many values the loop carries.
  size_t size() const { return types_.size() * static_cast<size_t>(levels_); }
  Values Init(ir::Builder& b) const;
  Values Before(ir::Builder& b, ir::Value* iteration, const Values& carried) const;
  Values After(ir::Builder& b, ir::Value* iteration, const Values& carried, const Values& total) const;
  // Of all slices, from what the last iteration of a reduce leaves.
  Values Result(const Values& carried) const { return Level(carried, levels_ - 1); }

 private:
  Values Level(const Values& carried, int64_t level) const;
  Values Join(ir::Builder& b, const Values& before, const Values& behind) const;

  const ir::Op& op_;
  std::vector<ir::Type> types_;
  int64_t levels_;
};

// i1: bit `n` of the number is set.
ir::Value* HasBit(ir::Builder& b, ir::Value* number, int64_t n);
ir::Value* IsZero(ir::Builder& b, ir::Value* number);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_SLICING_SLICE_CARRY_H_
