#include "codegen/layout/block_scales.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace tile::codegen {
namespace {

constexpr int kBytes = 4;        // of a register
constexpr int kRowsOfQuads = 3;  // bits of the rows or columns that differ between groups of four threads
constexpr int kRowsOfWarp = 5;   // bits of those that the threads of a warp hold in one register

int Log2(int64_t size) { return __builtin_ctzll(static_cast<uint64_t>(size)); }

}  // namespace

Layout MmaScaleLayout(const MmaTile& tile, Operand operand, int64_t blocks) {
  assert(operand != Operand::kC && tile.pieces_m == 1 && tile.pieces_n == 1);
  const bool a = operand == Operand::kA;
  const int64_t size = a ? tile.m : tile.n;
  const int warps = a ? tile.warps_m : tile.warps_n, others = a ? tile.warps_n : tile.warps_m;
  const int piece = std::max(Log2(a ? tile.instruction.m : tile.instruction.n), Log2(size) - Log2(warps));
  const Shape shape = a ? Shape{size, blocks} : Shape{blocks, size};
  // Masks of bits of a row's (column's) number, and of a block's.
  const auto row = [&](int bit) { return bit >= Log2(size) ? Mask{0} : Mask{1} << (bit + (a ? Log2(blocks) : 0)); };
  const auto block = [&](int bit) { return Mask{1} << (bit + (a ? 0 : Log2(size))); };
  Masks registers, lanes, of_warps;
  for (int i = 0; i < Log2(blocks); ++i) registers.push_back(block(i));
  for (int i = kRowsOfWarp; i < piece; ++i) registers.push_back(row(i));
  for (int i = kRowsOfQuads; i < kRowsOfWarp; ++i) lanes.push_back(i < piece ? row(i) : 0);
  for (int i = 0; i < kRowsOfQuads; ++i) lanes.push_back(row(i));
  for (int i = 0; i < Log2(warps); ++i) of_warps.push_back(row(piece + i));
  const Masks copies(static_cast<size_t>(Log2(others)), 0);
  of_warps.insert(a ? of_warps.end() : of_warps.begin(), copies.begin(), copies.end());
  return Layout::FromBases(shape, std::move(registers), std::move(lanes), std::move(of_warps));
}

MmaScalePlace PlaceOfMmaScale(Operand operand, int64_t blocks, int i, int64_t block) {
  const int threads = operand == Operand::kA ? 2 : 4;
  const int words = static_cast<int>(std::max<int64_t>(1, blocks / kBytes));
  return {i / threads * words + static_cast<int>(block / kBytes), i % threads, static_cast<int>(block % kBytes)};
}

int64_t ScalePiecesOfRows(int64_t rows) { return std::max<int64_t>(1, rows / kScalePieceRows); }

int64_t ScalePieces(int64_t rows, int64_t blocks) {
  return ScalePiecesOfRows(rows) * std::max<int64_t>(1, blocks / kScalePieceBlocks);
}

SharedMap ScalesInShared(int64_t rows, int64_t blocks) {
  const int byte_bits = Log2(kScalePieceBlocks), lane_bits = 5, piece_bits = Log2(kScalePieceBytes),
            row_bits = Log2(kScalePieceRows);
  Masks columns;
  for (int i = 0; i < Log2(blocks); ++i)
    columns.push_back(Mask{1} << (i < byte_bits ? i : piece_bits + Log2(ScalePiecesOfRows(rows)) + i - byte_bits));
  for (int i = 0; i < Log2(rows); ++i) {
    int at = piece_bits + i - row_bits;
    if (i < row_bits) at = byte_bits + i - lane_bits;
    if (i < lane_bits) at = 2 * byte_bits + i;
    columns.push_back(Mask{1} << at);
  }
  return {Gf2Map(std::move(columns), piece_bits + Log2(ScalePieces(rows, blocks))), 8};
}

}  // namespace tile::codegen
