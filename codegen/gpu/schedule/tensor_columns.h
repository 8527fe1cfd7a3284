// What lies in the tensor memory of a block, without the data: which columns it has, and the sums of which product are in them.
//
//   TensorColumns columns;
//   columns.Allocate(256);                                 // from columns.first() on
//   columns.Write({first, 128}, {.name = 77, .product = 5});
//   Fault f = columns.Read({first, 128}, &sums);           // those
//
// Whether a product still runs the machine knows.
#ifndef TILE_CODEGEN_GPU_SCHEDULE_TENSOR_COLUMNS_H_
#define TILE_CODEGEN_GPU_SCHEDULE_TENSOR_COLUMNS_H_

#include <cstdint>
#include <map>

#include "codegen/gpu/schedule/fault.h"
#include "codegen/gpu/schedule/shared_cells.h"

namespace tile::codegen::schedule {

struct Sums {
  uint64_t name = 0;     // of the tile (terms.h)
  uint64_t product = 0;  // the last one that adds to it: its serial number
  bool has_all = true;   // else threads add it to other sums
};

class TensorColumns {
 public:
  // No block may rely on beginning with the first column of the multiprocessor.
  static constexpr int64_t first() { return 96; }

  Fault Allocate(int64_t count);
  Fault Free(Span span);
  bool allocated() const { return all_.bytes > 0; }
  // They are, or have been.
  bool known() const { return allocated() || freed_; }

  // A span counts columns.
  Fault Write(Span span, const Sums& sums);
  Fault Read(Span span, Sums* sums) const;
  // The last product that wrote columns of the span; 0: none did.
  uint64_t WriterOf(Span span) const;

 private:
  Fault Check(Span span) const;

  Span all_;
  bool freed_ = false;
  struct Placed {
    int64_t count = 0;
    Sums sums;
  };
  std::map<int64_t, Placed> sums_;  // by their first column
};

}  // namespace tile::codegen::schedule

#endif  // TILE_CODEGEN_GPU_SCHEDULE_TENSOR_COLUMNS_H_
