// Where mma.sync takes the scales of blocks along K from: two threads of each four hold those of rows 0 and 8 of A's 16 rows, the other two the same
// of the warp's next 16 rows. The four threads hold those of four times eight columns of B. A register holds the scales of up to four blocks one after
// another.
//
// tcgen05.cp takes them from shared memory, in pieces of 128 rows x 4 scales: 32 rows of 16 bytes, each with the scales of rows r, r + 32, r + 64 and
// r + 96. Pieces of the same blocks along K follow each other. What a piece has too many nobody reads.
//
//   MmaScaleLayout(tile, Operand::kA, blocks)            // of M x blocks scales
//   PlaceOfMmaScale(Operand::kA, blocks, i, block)       // for instruction i along M, from this block on
//   ScalesInShared(rows, blocks)                         // of rows x blocks scales
//
// Thread-safe.
#ifndef TILE_CODEGEN_LAYOUT_BLOCK_SCALES_H_
#define TILE_CODEGEN_LAYOUT_BLOCK_SCALES_H_

#include <cstdint>

#include "codegen/layout/fragments.h"
#include "codegen/layout/layout.h"
#include "codegen/layout/shared.h"

namespace tile::codegen {

// The scales of a tile, M x `blocks` of A or `blocks` x N of B; `blocks` is a power of two. What no row or column has is a copy.
Layout MmaScaleLayout(const MmaTile& tile, Operand operand, int64_t blocks);

// Where instruction number i of a warp, along M of A or N of B, finds its scales: from byte `byte` of word `word` on. `thread` selects threads of each
// four: thread number `thread` for B; numbers 2 * thread and 2 * thread + 1 for A.
struct MmaScalePlace {
  int word, thread, byte;
};
MmaScalePlace PlaceOfMmaScale(Operand operand, int64_t blocks, int i, int64_t block);

inline constexpr int64_t kScalePieceRows = 128, kScalePieceBlocks = 4, kScalePieceBytes = 512, kScaleRowBytes = 16;

// Pieces that hold rows x `blocks` scales, and those along the rows alone.
int64_t ScalePieces(int64_t rows, int64_t blocks);
int64_t ScalePiecesOfRows(int64_t rows);
// From the number of a scale in its tile of rows x `blocks` to its byte; both are powers of two.
SharedMap ScalesInShared(int64_t rows, int64_t blocks);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LAYOUT_BLOCK_SCALES_H_
