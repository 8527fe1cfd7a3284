// How a kernel uses the GPU, which its author need not choose: warps of a block, stages of what is fetched ahead, blocks on a
// multiprocessor, the order of blocks. Decided once; later passes and the emitter read it.
//
//   Decide(module, function, schedule);        // once, by the pass `plan`; resources/make_schedule.h makes the schedule
//   ScheduleOf(function)->num_warps            // from then on
#ifndef TILE_CODEGEN_PLAN_SCHEDULE_H_
#define TILE_CODEGEN_PLAN_SCHEDULE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "ir/module.h"

namespace tile::codegen {

inline constexpr int kClusterBlocks = 2;
// Registers of a thread beside a producer and seven other warps: a multiprocessor has 65536, and warps are counted in fours.
inline constexpr int kBesideProducer = 168;
// What the producer's warpgroup keeps where it gives up what it does not need; where it makes descriptors, too, 24 were spilled.
inline constexpr int kKeptByProducer = 24, kKeptByMaker = 40;
// Of those, a thread needs so many for addresses and counters, beside sums and fragments.
inline constexpr int kBesideSums = 32;

struct Schedule {
  int num_warps = 4;
  std::string why;  // for people
  // Of loops that fetch ahead (codegen/gpu/ops.def).
  int stages = 0;  // of their rings; 0: there are none
  // Of a ring of pieces (plan/mma/copy_pieces.h), of which `stages` are the number; 0: it is none.
  int64_t piece_bytes = 0;
  bool producer = false;  // a warp of its own fills them, by TMA; else all threads do, by cp.async
  // Of its registers, where it brings three idle warps, a warpgroup that gives others to the two others; 0: it does not.
  int kept_by_producer = 0;
  int blocks = 1;             // that should be resident on a multiprocessor, for which registers are kept free
  bool tells_blocks = false;  // ptxas is told of them, also of one: it then uses what registers there are
  // Rasterization. The hardware's grid is one row of blocks; they visit the tile blocks in strips of `square` (a power of two) along
  // dimension `along`, so that neighbours find in L2 what they share. 0 keeps the order of the hardware.
  int square = 0, along = 1;
  // Grid dimension to traverse in reverse; -1: none. Used if later blocks have more work (analysis/work_of_blocks.h),
  // and there is no other order.
  int longest_first = -1;
  // Used where a block's work depends on its place along x. Rows of the grid are processed in groups of this many
  // blocks (a power of two). Within a group the blocks with most work start first, across all rows. Row by row, the
  // last row would begin with long blocks when others end. A group is about as many as run at the same time, so that
  // they share as much in the L2 as before. 0: row by row.
  int wave_group = 0;
  // As many hardware blocks as fit walk through the grid; loads of the next tile block overlap the end of one.
  bool persistent = false;
  bool cluster = false;  // two neighbours along that dimension may be a cluster, which shares loads

  int threads() const { return 32 * num_warps; }
  // Of a hardware block: with the producer, which takes no part in anything that is emitted for all threads.
  int hardware_threads() const { return threads() + (moves_registers() ? 128 : producer ? 32 : 0); }
  bool moves_registers() const { return kept_by_producer > 0; }
  int with_moved_registers() const { return (3 * kBesideProducer - kept_by_producer) / 2; }
  // Registers of a thread that multiplies what is fetched, for sums and fragments.
  int fetch_registers() const { return (moves_registers() ? with_moved_registers() : kBesideProducer) - kBesideSums; }
};

void Decide(ir::Module* module, ir::Function* function, const Schedule& schedule);
// What was decided; nullopt: nothing yet.
std::optional<Schedule> ScheduleOf(const ir::Function& function);

// How many tile blocks of the program are one, along x and y of its grid (passes/grid/coarsen_blocks.h).
std::array<int64_t, 2> JoinedBlocks(const ir::Function& function);
// How many hardware blocks, side by side along x, do the parts of one of the program (passes/grid/split_products.h).
int64_t PartsOfBlock(const ir::Function& function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_SCHEDULE_H_
