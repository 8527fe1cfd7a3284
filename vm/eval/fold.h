// A reduce or scan: where its elements are, and what folds them. eval_reduce.cc runs it, grouping.cc tries its body.
#ifndef TILE_VM_EVAL_FOLD_H_
#define TILE_VM_EVAL_FOLD_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "vm/kernels/reduce.h"
#include "vm/machine/code.h"

namespace tile::vm {

struct Stream {  // one operand of the reduce
  Slot source, element, accumulator, result;
  int bytes;
};

struct FoldProgram;

struct KernelData {
  ReduceFn reduce;
  ScanFn scan;
  Slot in, out;
  int64_t outer, n, inner;
  bool reverse;
  uint64_t neutral;
  int bytes;
  bool flush;  // a step flushes subnormals, but the first element takes part in none
};

struct BodyData {
  int streams;
  const Stream* stream;
  int64_t outer, n, inner, batch;  // parts of a line are lines of their own: [outer * parts, n / parts, inner]
  int64_t parts;
  bool scan, reverse;
  // The same without instructions; null: there is none.
  const KernelData* kernels;  // by operand
  const FoldProgram* program;
};

// Position i of lanes [first, first + batch): between a whole tile and a batch.
template <class T, bool to_batch>
void MoveWords(const BodyData& d, T* tile, T* batch, int64_t first, int64_t i) {
  if (d.inner == 1) {
    T* at = tile + first * d.n + i;
    for (int64_t lane = 0; lane < d.batch; ++lane, at += d.n) {
      if constexpr (to_batch) {
        batch[lane] = *at;
      } else {
        *at = batch[lane];
      }
    }
    return;
  }
  for (int64_t lane = first; lane < first + d.batch;) {
    const int64_t o = lane / d.inner, j = lane % d.inner;
    const int64_t count = std::min(d.inner - j, first + d.batch - lane);
    T* at = tile + (o * d.n + i) * d.inner + j;
    if constexpr (to_batch) {
      std::memcpy(batch, at, static_cast<size_t>(count) * sizeof(T));
    } else {
      std::memcpy(at, batch, static_cast<size_t>(count) * sizeof(T));
    }
    batch += count;
    lane += count;
  }
}

template <bool to_batch>
void MoveLanes(const BodyData& d, int bytes, void* tile, void* batch, int64_t first, int64_t i) {
  const auto move = [&](auto word) {
    using T = decltype(word);
    MoveWords<T, to_batch>(d, static_cast<T*>(tile), static_cast<T*>(batch), first, i);
  };
  switch (bytes) {
    case 1: return move(uint8_t{});
    case 2: return move(uint16_t{});
    case 4: return move(uint32_t{});
    default: return move(uint64_t{});
  }
}

}  // namespace tile::vm

#endif  // TILE_VM_EVAL_FOLD_H_
