// The figures by which codegen chooses among what is right: how many warps a block has, how deep rings are, how long slices. None of
// them changes a result. They were found on an H100 SXM (sm_90a); the measurement that decided is beside each, and where none is
// named, none was kept. docs/notes/gpu-performance.md has the rest. A figure holds for every generation until one is measured that wants
// another: then the constant becomes a function of a property of the Target, as ChainShare is.
//
// What the hardware has is not here but in codegen/target/targets.def and in Target.
#ifndef TILE_CODEGEN_TARGET_TUNING_H_
#define TILE_CODEGEN_TARGET_TUNING_H_

#include <cstdint>

#include "codegen/target/target.h"

namespace tile::codegen::tuning {

// --- warps of a block (plan/resources/warps.cc) -------------------------------------------------------------------------------

// Twice as many leave a thread 64 registers.
inline constexpr int kMaxWarps = 16;

// Registers of a thread that its part of the largest tile may take, and its parts of all tiles that live at once: as many
// again are for addresses and steps between.
struct Share {
  int64_t largest, live;
};
inline constexpr Share kProducts = {64, 128};  // many results in a thread serve each other
// Of two warpgroups that multiply what is copied ahead from shared memory.
inline constexpr Share kTwoWarpgroups = {128, 192};
// Products of products are used where they are, nothing stands between. Instructions that read stages want 64 rows of four warps in two blocks
// rather than twice as many in one (383 TFLOP/s against 363, attention of 128 x 64), those that take fragments the other way round (285, 313).
inline constexpr Share kChains = {64, 208}, kChainsOfStages = {64, 176};
// Warps that have all rows between them keep rows whole, up to so many registers. With more warps, columns are shared. Sums of rows
// and the next product's fragments then go through shared memory (attention of 64 queries and 32 keys, heads of 256: 1362 us with 8 warps,
// 594 with 4 in two blocks; of 128 and 32: 1035 with 16, 585 with 8).
inline constexpr int64_t kLargestOfRows = 128;
inline Share ChainShare(bool reads_stages) { return reads_stages ? kChainsOfStages : kChains; }
// Registers of a thread for data, where a product waits for its loads in each iteration. Four warps may take so many, next to another block that
// multiplies meanwhile (H200: products of 8 bits, 2048 x 4096^2, element by element: 1264 us with 16 warps, 1382 with eight, 1037 with four;
// a convolution of 3 x 3: 556, 636, 488). So may one warp that has all rows of a chain (paged attention, 16 rows, pages of 16 keys: 559 us with
// four warps, 425 with two, 367 with one; 282, 189, 173).
inline constexpr int64_t kDataOfFewWarps = 208;
// The same where twice the warps would leave some product without warpgroups of 64 columns. H200: gradients of sparse attention, heads of 64, take
// 1002 us with 16 warps and mma.sync, and 518 with 8; attention with sinks, heads of 128, 964 and 730.
inline constexpr int64_t kDataOfWarpgroups = 200;
// Of the largest tile, for such four warps: loads that may be element by element are code for each. With 256 elements of e4m3 in a thread, of two
// operands, ptxas 13.5 is not done in 120 s; with 64 it takes 0.8 s.
inline constexpr int64_t kElementsOfFewWarps = 128;
// Several blocks on a multiprocessor, so that some load while others wait. Accesses that may turn out to be narrow take
// registers of their own (layer norm of 8192 bf16 with 8 warps: 156 against 60; with 16 warps 119 us, aligned with 8: 93).
inline constexpr Share kMemory = {32, 64}, kAlignedMemory = {32, 96};
// Each iteration of a loop waits for what it loads and uses at once: the more warps, the more loads are on their way (row
// sums of 8192 f32 in tiles of 16 x 256: 102.7 us with 4 warps, 95.5 with 8, 92.0 with 16). The figure is about what the loop loads. Where each row
// of it serves several rows of a larger tile, more warps load no more of it, only narrower pieces (four rows of 1024 bf16,
// each used for four rows of sums, 8192 x 4 x 7168: 517 us with 16 warps, 414 with 4).
inline constexpr int64_t kLargestOfLoops = 8;

// A tile is kept for the next load of the same (passes/slicing/eliminate_loads.cc) where a thread then holds no more than so many registers of tiles,
// with the most warps.
inline constexpr int64_t kReuse = 56;
// The same of elements of 32 bits, whose rows are twice as long in memory (H200, 4096 rows of 32000, log of the sum of exponentials: f32 kept
// 123 us, loaded twice 196; bf16 98 and 83).
inline constexpr int64_t kReuseOfWords = 100;

// Where a reduction goes across warps, each warp that takes part costs as much as a dozen elements a thread more: shuffles, a barrier, and
// what the other warps have, read by all. So there are few of them, where all accesses are known to be wide (rows of 4096 bf16, three
// sums: 42.2 us with 16 warps, 28.8 with 8, 27.3 with 4; layer norm in iterations, rows of 4096 f16: 33.0, 26.5, 26.4; of 8192 with 16 and 8:
// 59.8, 49.0; of 1024 with 4, 2, 1: 7.1, 5.9, 5.5; sums down 32 x 128 with 16, 8, 4: 7.5, 3.5, 3.4). But two warps to a row cost less
// than the loads of one iteration that more warps begin (sums of rows in iterations of 8 x 512: 45.8 with 16, 47.9 with 8).
inline constexpr Share kRows = {32, 96};
// Where no loop loads, and nothing wider than 16 bits: as many bytes (H200, 8192 of bf16, 8 and 4 warps: softmax 72.3, 68.0 us, rms norm 67.2, 66.4; of 16384 with 16 and 8: 68.7, 67.6).
inline constexpr int64_t kLargestOfNarrowRows = 64;
// Rows that blocks walk over come early, two vectors of a thread (softmax of bf16, rows of 2048: 9.7 us with 8 warps, 7.8 with 4; of 4096: 28.9 with
// 16, 25.6 with 8; f32 of 4096: 49.4 with 16, 51.3 with 8), and of a short row with four warps nevertheless.
inline constexpr int64_t kLoadedOfWalks = 256;  // bits
inline constexpr int kWarpsOfWalks = 4;
inline constexpr int64_t kRowsOfFewWarps = 16;  // elements of a thread, with less than four warps
inline constexpr int kWarpsOfRow = 4;
// A long loop is one that is known to go over kLongWalk tiles, or that goes over slices of them. It should have kWalkInFlight bytes on their way to a
// multiprocessor and no more. Measured on an H200: layer norm of 30000 rows of 1024 in bf16, 16 KiB at a time in registers 39.0 us, two, three, four in
// shared memory 36.2, 36.6, 37.9. Rows of 4096, 32 KiB at a time, one to four: 130, 136, 140, 141. RMS norm of 4096 rows of 16384, one, two, four:
// 70.7, 73.8, 76.0.
inline constexpr int64_t kLongWalk = 16, kWalkInFlight = 32 * 1024;
// Where blocks wait for each other's locks, each is done sooner with more warps, and more of them stand in each other's way (layer norm backward,
// rows of 4096: 73.9 with 8 warps in two blocks, 78.0 in four, 78.8 with 4 warps in four).
inline constexpr int kWarpsOfWaiting = 8, kBlocksOfWaiting = 2;
// Element by element, half as many of them in a thread begin as many loads in as many registers, and end sooner (swiglu of bf16, tiles of 8 x 512:
// 138.9 us with 4 warps, 132.3 with 8; silu of 2048 f32: 5.0, 4.8).
inline constexpr int64_t kLargestOfElements = 16;
// Registers that a thread of a kernel without products is given, if its tiles need no more. Without a limit, ptxas saves registers
// for more blocks than there are, and begins loads late (silu of 2048 f16: 32 registers, 3.56 us; 67, 3.0; swiglu of 16384 f32: 59, 5.8; 125, 5.5).
// Or it takes so many that a block is alone (layer norm backward, rows of 8192, 16 warps: 88 registers, 157 us; 64, two blocks, 127).
// They do, too, where data fill them only with what is loaded behind the last sum (layer norm of 8192 bf16, 8 warps, H200: 68 registers, three
// blocks, 71.4 us; 61, four blocks, 67.1).
inline constexpr int64_t kThreadRegisters = 64;
// Beside data, where tiles need more: a part of it, in percent, and others. ptxas works on many elements at once (swiglu of bf16, 128 threads: 117
// registers for 64 of data). Rows are reduced and divided a few elements at a time (softmax of 8192 bf16, 4 warps: 80 registers, six blocks, H200
// 70.0 us, H100 94.6; 96, five blocks, 70.8 and 94.6).
struct Beside {
  int64_t of_data, other;
};
// Two blocks instead of one, if each thread then has so many registers beside its data (swiglu of f16, rows of 16384, 512 threads, H200: 70
// registers, one block, 841 us; 64, two blocks, 732; of 512 rows 14.8, 12.6).
inline constexpr int64_t kBesideOfTwo = 16;
inline constexpr Beside kBesideRows = {0, 16}, kBesideElements = {50, 40};

// Beside a tile that a loop walks over, and rows that it keeps, which are all live at once (plan/loop_invariant_rows.cc).
inline constexpr int64_t kBesideKept = 32;

// --- rings (plan/schedule.cc) ---------------------------------------------------------------------------------------

// More stages are slower: blocks drift apart, and what one of them loads is not in the cache any more for the next.
inline constexpr int kMostStages = 5;
// Iterations are cut along K until so many fit, of products whose operands a producer fetches.
inline constexpr int kFetchStages = 4;
// And they are joined until rows along K have so many bytes, a row of the swizzle (f16, 128 x 128 at 4096^3,
// 32 along K: 241 us, 64: 200).
inline constexpr int64_t kRowBytes = 128;
// Small stages are more than kMostStages, until so many bytes are on their way, up to kMostSmallFetchStages (64 x 128 x 32 of f16 at 1024^3: five 6.20 us,
// six 6.01, eight to twelve 6.10).
inline constexpr int64_t kFetchedInFlight = 64 * 1024;
inline constexpr int kMostSmallFetchStages = 8;
inline constexpr int kMostCopyStages = 4;
// Unless stages are so small that they do not cover the latency of the L2, about 700 cycles in each of which 64 bytes may come to a
// multiprocessor; with more, fewer blocks would fit where there are many.
inline constexpr int kMostSmallCopyStages = 6;
inline constexpr int64_t kBytesInFlight = 700 * 64;
// Two blocks with fewer than three stages each wait more than one block with all of them.
inline constexpr int kStagesForTwoBlocks = 3;
// But one warpgroup alone leaves the tensor cores idle while it works on rows.
inline constexpr int kStagesForTwoWarpgroups = 2;
// Copies by TMA of fewer than three stages have one iteration for the latency, which is longer than that of other copies: attention with heads of 256,
// 64 queries, 32 keys, two stages, two blocks: 684 us by TMA, 597 by cp.async.
inline constexpr int kStagesForTma = 3;
// A ring of pieces has so many, up to twice as many: each has a barrier, and all but one are on their way.
inline constexpr int kLeastPieces = 6;
// Operands that are pieces as a whole have a ring of more than so many stages. With exactly so many, stages of all are better where they fit (MLA of
// heads of 128 and 64: 2.9 ms, 3.7 in six pieces; late in two stages 2.0).
inline constexpr int kStagesForWhole = 2;
// A late product keeps the stage of the iteration before; one is read, and one is filled. Of fewer, what it reads comes apart from the rest.
inline constexpr int kStagesForLate = 3;
// Registers of a thread beside the sums, the first product's result and the words of the late one's left operand.
inline constexpr int64_t kBesideLate = 40;
// Products whose instructions have more columns read a left operand that stays the same in a loop from shared memory (plan/mma/lhs_in_registers.h).
inline constexpr int kColumnsOfLhsInRegisters = 64;
// Products with so many columns take weights step by step, as they are computed (bf16, heads of 64, 64 x 128, H100: 559 us, in steps 548).
inline constexpr int kColumnsInSteps = 64;
// The time of half a block of 128 rows, in percent of that of a block of 64 rows, where products work on rows. The first figure is for two blocks on
// a multiprocessor, which each bring keys and values from the L2 (H200: heads of 256, 64 x 32: 557 us, joined 511; MLA, 64 x 64, 8192 keys: 2484,
// 2376). The second is for a block that is alone (heads of 256, 64 x 64: 641, 408). Three blocks are not joined (heads of 64, 64 x 128: 564, joined
// 638).
inline constexpr int64_t kPercentOfRows = 94, kPercentOfRowsAlone = 68;
// Where rows have different numbers of iterations, those that only one of two blocks has come on top: with 16, 32, 64 and 128 blocks along the grid
// MLA takes 63, 184, 620 and 2297 us (H200) instead of 57, 178, 638 and 2413.
inline constexpr int64_t kLeastOfUnequalRows = 64;
// Tensor cores work so many cycles for one warpgroup's products of an iteration, or two warpgroups don't take turns (bf16, 4096 queries and
// keys: heads of 128, 128 x 128, 1024 cycles: 895 us in turns, 1005 without; 128 x 64, 512 cycles: 1023 and 1012; heads of 64, 128 x 128, 512
// cycles: 681 and 661).
inline constexpr double kLeastTurn = 768;
// Products that run on into the next iteration keep its stage; one is read, and one is filled.
inline constexpr int kStagesToKeep = 3;
// Neighbours that are walked through together: about the square root of how many blocks run at once, 264 on 132 multiprocessors.
inline constexpr int kSquare = 16;
// Blocks that begin by their work (Schedule::wave_group), for each that a multiprocessor has: about as many as there are of those.
inline constexpr int kGroup = 128;
// Of a thread, accumulators included: nine warps of two blocks have so many. Products of 128 x 128 take 90 of them.
inline constexpr int64_t kWorkRegisters = 112;
// Registers of a thread for tiles, where operands come from stages and fewer warps read larger pieces (bf16 by mma.sync: 410 TFLOP/s
// with four warps, pieces of 64 x 64; 352 with eight). Addresses and masks do not count (4096^3 of f16 with bias and gelu, H200: 240.5 us with
// four warps, 250.8 with eight).
inline constexpr int64_t kMostLive = 132;
// Of a thread that multiplies with mma.sync or fma, beside its part of the tiles: fragments and addresses. A second block where they
// leave room for it (f32: 46 TFLOP/s in two blocks of four warps, 43 in one of eight).
inline constexpr int64_t kFragmentRegisters = 60;
// The same where all products read stages: addresses and counters alone (the backward pass of attention, heads of 64: one block of 186
// registers 2281 us, two of 128 registers 1819).
inline constexpr int64_t kBesideStaged = 28;

// --- clusters (plan/staging/share_loads.cc) ---------------------------------------------------------------------------------

// Below, the L2 can't feed the tensor cores (about 10 TB/s, 800 TFLOP/s), and a cluster that loads half as often does
// better; above, its blocks only wait for each other.
inline constexpr int64_t kOperationsPerByte = 80;

// --- slices (passes/slicing/slice.cc) ---------------------------------------------------------------------------------------

// Registers of a thread: a tile of more is sliced, into slices of so many (vector add in tiles of 2^16, 64 registers with 16 warps:
// 276 us sliced, 1553 whole). Rows that fit and are sliced all the same take 1.7 times as long.
inline constexpr int64_t kTileRegisters = 64, kSliceRegisters = 32;
// The same for a tile that blocks walk over, if its slices are whole rows, done one after the other with the next ones copied early. Measured with
// layer norm of 30000 rows in bf16, eight at a time, on an H200. Of 16384 columns: slices of one row 504 us, slices of columns that are loaded three
// times 930. Of 8192: two rows 257, two rows that are waited for 320. Of 4096: four rows 130, two 131, the whole tile 143.
inline constexpr int64_t kWalkRegisters = 32;
// A tile of a walk may have a hardware block (passes/grid/unpersist_grid.h). A tile of rows then becomes blocks that each have one row, or so many
// registers (layer norm of 30000 rows of 1024 in bf16, H200: of one, two, four rows 31.6, 35.2, 41.3 us; walking 34.1). Values that were loaded before
// the walk and take no more registers are loaded at once, others after the sum (rms norm of 4096 rows of 1024 4.35 and 4.72, of 4096 24.8 and 19.1).
inline constexpr int64_t kLeastOfSpread = 1024;
// Bytes of shared memory for each register of a slice that threads exchange, and more for totals.
inline constexpr int64_t kExchangeBytes = 5;

// --- products that exceed the registers (passes/grid/split_products.cc) --------------------------------------------------

// Accumulators of a block, and the other tiles that its loop carries, in registers of the block and of a thread, which needs the rest for operands.
// Attention in tiles of 256 queries and 128 keys with heads of 64 has three quarters of a block's registers in accumulators, and a 64th in rows (8192
// keys, H200: whole 3.9 ms, in parts 5.0; with sinks, where 136 bytes spill, 1.45 and 1.62). With heads of 128 it has all of them in accumulators
// (whole 20.5, in parts 6.4).
inline constexpr int64_t kProductRegisters = Target::kRegisters / 32 * 25, kProductRegistersOfThread = 200;

}  // namespace tile::codegen::tuning

#endif  // TILE_CODEGEN_TARGET_TUNING_H_
