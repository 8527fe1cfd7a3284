/* What compiled kernels and the runtime agree on; ABI.md describes it. No dependencies: code generation includes it to
 * know the offsets, the runtime to read what a kernel wrote. */
#ifndef TILE_RUNTIME_CUDA_KERNEL_ABI_H_
#define TILE_RUNTIME_CUDA_KERNEL_ABI_H_

#include <stddef.h>
#include <stdint.h>

/* After the kernel's own parameters: the grid in tile blocks x, y, z (i32 each), the address of a TileTrapRecord (8
 * bytes), the address of the image's first workspace (8 bytes, 0 if it has none). */
enum {
  TILE_ABI_EXTRA_PARAMS = 5,
  TILE_ABI_PARAM_GRID_X = 0, /* counted from the number of the kernel's own parameters */
  TILE_ABI_PARAM_GRID_Y = 1,
  TILE_ABI_PARAM_GRID_Z = 2,
  TILE_ABI_PARAM_TRAP_RECORD = 3,
  TILE_ABI_PARAM_WORKSPACE = 4,
};

/* Values of TileTrapRecord.kind. */
enum TileTrapKind {
  TILE_TRAP_NONE = 0,
  TILE_TRAP_ASSERT = 1,           /* an assertion failed; value: 0 */
  TILE_TRAP_BOUNDS = 2,           /* value: index, extent */
  TILE_TRAP_MISALIGNED = 3,       /* value: address, alignment */
  TILE_TRAP_DIVISION = 4,         /* by zero, or the quotient overflows */
  TILE_TRAP_PROMISE = 5,          /* an assumption does not hold */
  TILE_TRAP_CLAIMED = 0x7fffffff, /* somebody is filling in the record */
};

/* Zeroed before the first launch, but for print_capacity, and again after the host has read something from it. Aligned
 * to 64, device-accessible host memory. The print area follows it. */
typedef struct TileTrapRecord {
  uint32_t kind;     /* TileTrapKind. The first that changes it from 0 to CLAIMED fills in the rest, then stores kind */
  uint32_t site;     /* position in the image's table of sites */
  uint32_t block[3]; /* tile block x, y, z */
  uint32_t lane;     /* row-major element of the tile; 0xffffffff: none in particular */
  uint64_t value[2]; /* see TileTrapKind */
  uint32_t count;    /* traps in all: atomically one more for each */
  uint32_t print_capacity; /* bytes of the print area, by the host */
  uint32_t print_used;     /* bytes asked for: atomically more for each entry; may pass the capacity */
  uint32_t reserved;
  uint64_t reserved2;
} TileTrapRecord;

/* One print, at a multiple of 8 in the print area; then the operands in order, each at a multiple of 8, their elements
 * row-major as in memory (i1: a byte; 4-bit elements: a byte each). */
typedef struct TilePrintEntry {
  uint32_t bytes; /* of the entry, header included; a multiple of 8 */
  uint32_t site;
  uint32_t block[3];
  uint32_t reserved;
} TilePrintEntry;

#ifdef __cplusplus
static_assert(sizeof(TileTrapRecord) == 64, "fixed layout");
static_assert(offsetof(TileTrapRecord, value) == 24, "fixed layout");
static_assert(offsetof(TileTrapRecord, count) == 40, "fixed layout");
static_assert(offsetof(TileTrapRecord, print_used) == 48, "fixed layout");
static_assert(sizeof(TilePrintEntry) == 24, "fixed layout");
#endif

#endif /* TILE_RUNTIME_CUDA_KERNEL_ABI_H_ */
