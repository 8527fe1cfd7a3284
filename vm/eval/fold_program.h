// The body of a reduce or scan as calls of elementwise kernels that read elements and accumulators where they lie.
//
// A step combines one element of each of some lanes with their accumulators:
//
//   body: %take = cmpf greater_than ordered %e, %acc     a step: cmpf(temporary, {element 0, accumulator 0})
//         %r = select %take, %e, %acc                            select(result 0, {temporary, element 0, accumulator 0})
//         %ri = select %take, %ei, %acci                         select(result 1, {temporary, element 1, accumulator 1})
//
// Where lanes are neighbours in the tile, a step reads the tile itself, and a scan writes results to their places, which are the
// accumulators of the next step. Other tiles go through strips: a few positions of many lanes, transposed into scratch memory, and
// back for a scan. Steps go in the order of docs/semantics/reductions.md; few long lines are cut into parts where that gives the
// same bits (prepare/fold_select.h). --check=full runs the instructions of the body instead (eval_reduce.cc).
#ifndef TILE_VM_EVAL_FOLD_PROGRAM_H_
#define TILE_VM_EVAL_FOLD_PROGRAM_H_

#include <cstdint>

#include "vm/eval/fold.h"
#include "vm/kernels/elementwise.h"
#include "vm/prepare/fold_select.h"
#include "vm/prepare/prepare.h"
#include "vm/prepare/strips.h"

namespace tile::vm {

inline constexpr int kMaxFoldStreams = 8, kMaxFoldPlaces = 64;
inline constexpr int64_t kFoldLanes = 128;  // of a step, at most
inline constexpr int64_t kFoldStrip = 16;   // positions

// Operands and results are places by number: elements, accumulators and results of the streams, then the others.
struct FoldCall {
  ElementwiseFn fn;
  int arity;
  int out, in[kMaxElementwiseOperands];
};

// A place that is the same in all steps: a temporary, or an element from outside of the body.
struct FoldPlace {
  Slot at;
  Slot source;    // of an element that is repeated for all lanes
  int bytes = 0;  // of that element; 0: not repeated
};

// Memory of one operand of the fold.
struct FoldScratch {
  Slot elements, results;         // of a strip; of a reduce: two rows of results
  Slot accumulators;              // of a first step
  Slot parts;                     // of a scan: the results of each part alone; of a reduce: one of each part
  ElementwiseFn equal = nullptr;  // where NaN matters to the cut into parts: a number equals itself
};

struct FoldProgram {
  int streams, num_calls, num_others;
  const FoldCall* calls;
  const FoldPlace* others;
  const Stream* stream;
  const FoldScratch* scratch;  // by stream
  int64_t outer, n, inner;
  int64_t parts;  // that each line is cut into
  bool scan, reverse;
  Kept kept;
};

// Lanes are not neighbours in the tile, or parts of lines are lanes.
inline bool UsesStrips(const FoldProgram& f, int64_t parts) {
  constexpr int64_t kManyNeighbours = 32;
  return parts > 1 || (f.outer > 1 && f.inner < kManyNeighbours);
}

// `body` says where operands and results are. Null if the body is more than elementwise operations.
const FoldProgram* MakeFoldProgram(Preparer& p, const ir::Op& fold, const BodyData& body);

void RunFold(BlockState& b, const FoldProgram& program);

}  // namespace tile::vm

#endif  // TILE_VM_EVAL_FOLD_PROGRAM_H_
