// What a multiprocessor of each generation does in a cycle, as data: a row for each in codegen/target/machines.def. By these figures codegen
// estimates how long something takes (plan/resources/cost.h). None of them changes a result.
//
//   const Machine& m = MachineOf(target);
//   double cycles = bytes / m.l2_bytes;
//
// Immutable; safe from any thread.
#ifndef TILE_CODEGEN_TARGET_MACHINE_H_
#define TILE_CODEGEN_TARGET_MACHINE_H_

#include "codegen/target/target.h"

namespace tile::codegen {

// Where the figures of a row are from. kPublished: from the vendor's data sheets. Nobody measured them with compiled kernels.
enum class FiguresAre : uint8_t { kMeasured, kPublished };

struct Machine {
  int sm;
  double issue;          // warp instructions
  double special;        // results of special functions
  double fma_macs;       // multiplications by fma in f32
  double fragment_macs;  // multiplications of 16-bit operands by instructions that take fragments
  double staged_macs;    // and by those that read stages; 0: it has none
  double l2_bytes;       // bytes that come from the L2
  double l2_latency;     // cycles until a tile comes from the L2, where other blocks left it
  FiguresAre figures;
};

// The row of the greatest sm that is not greater than the target's.
const Machine& MachineOf(const Target& target);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_TARGET_MACHINE_H_
