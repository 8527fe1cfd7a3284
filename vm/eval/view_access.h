// Which elements of memory a tile of a view stands for.
//
// A view with an index covers a box of the tensor (a gather_scatter view one box per row it picks). ViewAccess is prepared
// once; at run time VisitBoxes clips each box to the tensor, checks it against the buffer, and hands it over as
//
//   Box{address of its first element, extents, strides in memory and in the tile, offset of its first element in the tile}
//
// Elements outside of the tensor belong to no box. 4-bit elements are addressed in nibbles.
#ifndef TILE_VM_EVAL_VIEW_ACCESS_H_
#define TILE_VM_EVAL_VIEW_ACCESS_H_

#include <cstdint>

#include "ir/limits.h"
#include "ir/op_views.h"
#include "vm/machine/memory_access.h"
#include "vm/prepare/prepare.h"

namespace tile::vm {

struct ViewAccess {
  Slot view;
  ir::Type type;  // of the view
  int origins = kAnywhere;
  int rank = 0;
  ir::Elem elem = ir::Elem::kI8;
  int bytes = 1;         // of an element in the tile
  bool nibbles = false;  // 4-bit elements: two to a byte in memory
  bool gather = false;
  int sparse_dim = -1;
  const int64_t* tile = nullptr;  // sizes of the tile
  const int64_t* step = nullptr;  // elements from one index to the next
  const int64_t* dim = nullptr;   // tensor dimension of tile dimension k
  const int64_t* tile_stride = nullptr;
  const Slot* index = nullptr;  // per dimension a scalar; the sparse one: a tile
  const int* index_bytes = nullptr;
  const bool* index_i1 = nullptr;
  int64_t elements = 1;  // of the tile
  bool has_padding = false;
  uint64_t padding = 0;
};

ViewAccess* PrepareView(Preparer& p, const ir::Op& op, const ir::Value* view, ir::OperandRange index);

// Offsets from here on are this one: no memory is that far away, and the sums that follow do not overflow.
inline constexpr int64_t kFar = int64_t{1} << 59;

// Sum of an offset and i * stride, none of which is negative.
inline int64_t AddOffset(int64_t offset, int64_t i, int64_t stride) {
  const __int128 sum = offset + __int128{i} * stride;
  return sum < kFar ? static_cast<int64_t>(sum) : kFar;
}

struct Box {
  int64_t offset = 0;       // of the first element from the base, in elements; at most kFar
  int64_t tile_offset = 0;  // in elements
  int64_t extent[ir::kMaxRank];
  int64_t stride[ir::kMaxRank];  // in memory, elements
};

// Where the boxes of one access are.
struct ViewBoxes {
  const ViewData* view = nullptr;
  int64_t origin[ir::kMaxRank];  // tensor coordinate of the tile's first element, per tile dimension
  int64_t size[ir::kMaxRank];    // of the tensor, per tile dimension
  bool whole = false;            // one box that is the whole tile
  int outside = -1;              // a dimension whose index is outside of the index space: no element is in the tensor
};

// Reads the indices. Those outside of the index space give boxes without elements; the access then does NoteOutside.
void LocateView(const BlockState& b, const ViewAccess& v, ViewBoxes* boxes);
// Says that the tile is wholly outside (boxes.outside): a warning, or false after a trap of --check=full.
bool NoteOutside(BlockState& b, const Instr* in, const ViewAccess& v, const ViewBoxes& boxes);
// Checks that the box is in memory that the kernel may touch; false after a trap.
bool CheckBox(BlockState& b, const Instr* in, const ViewAccess& v, const ViewBoxes& boxes, const Box& box,
              Access access);
// Makes the box of sparse row `row` (of a view without sparse dimension: row 0, the only one); false if it is empty.
bool MakeBox(const BlockState& b, const ViewAccess& v, const ViewBoxes& boxes, int64_t row, Box* box);

// How many times `step` goes into `size`, the last time perhaps in part.
inline int64_t CountSteps(int64_t size, int64_t step) { return size / step + (size % step != 0); }

inline int64_t NumBoxes(const ViewAccess& v) { return v.gather ? v.tile[v.sparse_dim] : 1; }

// Calls fn(const Box&) for every box, checked; false after a trap.
template <class Fn>
bool VisitBoxes(BlockState& b, const Instr* in, const ViewAccess& v, const ViewBoxes& boxes, const Access& access,
                Fn&& fn) {
  Box box;
  for (int64_t row = 0; row < NumBoxes(v); ++row) {
    if (!MakeBox(b, v, boxes, row, &box)) continue;
    if (!CheckBox(b, in, v, boxes, box, access)) return false;
    fn(box);
  }
  return true;
}

// Calls fn(memory offset, tile offset), both in elements, for every element of the box in row-major order.
template <class Fn>
void ForEachElement(const ViewAccess& v, const Box& box, Fn&& fn) {
  int64_t at[ir::kMaxRank] = {};
  int64_t offset = box.offset, tile = box.tile_offset;
  if (v.rank == 0) {
    fn(offset, tile);
    return;
  }
  while (true) {
    fn(offset, tile);
    int k = v.rank - 1;
    for (; k >= 0; --k) {
      offset += box.stride[k];
      tile += v.tile_stride[k];
      if (++at[k] < box.extent[k]) break;
      offset -= at[k] * box.stride[k];
      tile -= at[k] * v.tile_stride[k];
      at[k] = 0;
    }
    if (k < 0) return;
  }
}

// Element i of a tile of integers, read as unsigned.
uint64_t ReadIndex(const void* p, int bytes, bool i1, int64_t i = 0);
// The same with its sign extended: a negative row of a gather or scatter is outside, whatever the width.
inline uint64_t ReadSignedIndex(const void* p, int bytes, bool i1, int64_t i) {
  const uint64_t v = ReadIndex(p, bytes, i1, i);
  if (i1 || bytes == 8) return v;
  const int shift = 64 - 8 * bytes;
  return static_cast<uint64_t>(static_cast<int64_t>(v << shift) >> shift);
}

}  // namespace tile::vm

#endif  // TILE_VM_EVAL_VIEW_ACCESS_H_
