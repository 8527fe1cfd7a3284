#include "codegen/layout/fragments.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace tile::codegen {
namespace {

int Log2(int64_t size) {
  assert(size > 0 && (size & (size - 1)) == 0);
  return __builtin_ctzll(static_cast<uint64_t>(size));
}

// A matrix of rows × columns whose bases are handed out as bits of either coordinate. Bits that the matrix has not
// are zero: replicas.
class Matrix {
 public:
  Matrix(int64_t rows, int64_t columns) : rows_(Log2(rows)), columns_(Log2(columns)) {}

  // Bits [from, to) of a coordinate.
  void Add(In in, int dim, int from, int to) {
    Masks& bases = bases_[static_cast<int>(in)];
    for (int i = from; i < to; ++i) {
      const bool has = i < (dim == 0 ? rows_ : columns_);
      bases.push_back(has ? Mask{1} << (dim == 0 ? i + columns_ : i) : 0);
    }
  }
  void AddReplicas(In in, int bits) { bases_[static_cast<int>(in)].resize(bases_[static_cast<int>(in)].size() + bits); }
  Layout Build() {
    return Layout::FromBases({int64_t{1} << rows_, int64_t{1} << columns_}, std::move(bases_[0]), std::move(bases_[1]),
                             std::move(bases_[2]));
  }

 private:
  int rows_, columns_;
  Masks bases_[kNumIns];
};

// Bits of the piece of a warp, along a dimension.
int PieceBits(int64_t size, int parts, int instruction) {
  return std::max(Log2(instruction), Log2(size) - Log2(parts));
}

// The layout of one product, for each of a batch.
Layout OfBatch(const MmaTile& tile, const Layout& product) {
  Shape shape = {tile.batch};
  shape.insert(shape.end(), product.shape().begin(), product.shape().end());
  const auto bases = [&](In in) { return Masks(product.bases(in).begin(), product.bases(in).end()); };
  Masks registers = bases(In::kRegister), warps = bases(In::kWarp);
  const int batch = Log2(tile.batch), own = Log2(tile.products());
  for (int i = 0; i < own; ++i) registers.push_back(Mask{1} << (product.offset_bits() + i));
  for (int i = own; i < own + Log2(tile.warps_batch); ++i)
    warps.push_back(i < batch ? Mask{1} << (product.offset_bits() + i) : 0);
  return Layout::FromBases(shape, std::move(registers), bases(In::kLane), std::move(warps));
}

}  // namespace

Layout MmaLayout(const MmaTile& tile, Operand operand) {
  const MmaInstruction& in = tile.instruction;
  assert((in.m == 8 || in.m == 16) && in.n == 8 && tile.k >= in.k);
  if (tile.batch > 0) {
    MmaTile product = tile;
    product.batch = 0;
    return OfBatch(tile, MmaLayout(product, operand));
  }
  if (tile.pieces_m > 1 || tile.pieces_n > 1) {
    MmaTile piece = tile;
    piece.m /= tile.pieces_m, piece.n /= tile.pieces_n;
    piece.pieces_m = piece.pieces_n = 1;
    assert(operand == Operand::kB || tile.pieces_m == 1 || piece.m >= int64_t{in.m} * tile.warps_m);
    assert(operand == Operand::kA || tile.pieces_n == 1 || piece.n >= int64_t{in.n} * tile.warps_n);
    Layout all = MmaLayout(piece, operand);
    if (operand != Operand::kB && tile.pieces_m > 1) all = all.Grow(0, tile.pieces_m);
    if (operand != Operand::kA && tile.pieces_n > 1) all = all.Grow(1, tile.pieces_n);
    return all;
  }
  const int word = Log2(std::max(1, 32 / in.element_bits));
  const int m_bits = Log2(in.m);
  assert(Log2(in.k) >= word + 2);
  const int piece_m = PieceBits(tile.m, tile.warps_m, in.m), piece_n = PieceBits(tile.n, tile.warps_n, in.n);
  const int warps_m = Log2(tile.warps_m), warps_n = Log2(tile.warps_n);
  if (operand == Operand::kC) {
    Matrix c(tile.m, tile.n);
    c.Add(In::kRegister, 1, 0, 1);
    c.Add(In::kRegister, 0, 3, m_bits);
    c.Add(In::kRegister, 1, 3, piece_n);
    c.Add(In::kRegister, 0, m_bits, piece_m);
    c.Add(In::kLane, 1, 1, 3);
    c.Add(In::kLane, 0, 0, 3);
    c.Add(In::kWarp, 0, piece_m, piece_m + warps_m);
    c.Add(In::kWarp, 1, piece_n, piece_n + warps_n);
    return c.Build();
  }
  const bool a = operand == Operand::kA;
  const int k = a ? 1 : 0, other = a ? 0 : 1;  // which coordinate
  Matrix matrix(a ? tile.m : tile.k, a ? tile.k : tile.n);
  matrix.Add(In::kRegister, k, 0, word);
  if (a) matrix.Add(In::kRegister, other, 3, m_bits);
  matrix.Add(In::kRegister, k, word + 2, Log2(tile.k));
  matrix.Add(In::kRegister, other, a ? m_bits : 3, a ? piece_m : piece_n);
  matrix.Add(In::kLane, k, word, word + 2);
  matrix.Add(In::kLane, other, 0, 3);
  if (a) matrix.Add(In::kWarp, other, piece_m, piece_m + warps_m);
  matrix.AddReplicas(In::kWarp, a ? warps_n : warps_m);
  if (!a) matrix.Add(In::kWarp, other, piece_n, piece_n + warps_n);
  return matrix.Build();
}

Layout WgmmaLayout(const WgmmaTile& tile, Operand operand) {
  assert(operand != Operand::kB && tile.instruction_n >= 8 && tile.instruction_n <= 256);
  const int piece_m = PieceBits(tile.m, tile.groups_m, 64);
  const int piece_n = PieceBits(tile.n, tile.groups_n, tile.instruction_n);
  const int groups_m = Log2(tile.groups_m), groups_n = Log2(tile.groups_n);
  const bool a = operand == Operand::kA;
  const int word = a ? Log2(std::max(1, 32 / tile.element_bits)) : 1;
  Matrix matrix(tile.m, a ? tile.k : tile.n);
  // Which bits of the row's number the register and the lanes give.
  const int in_register = tile.paired_rows ? 0 : 3, in_lanes = tile.paired_rows ? 1 : 0;
  matrix.Add(In::kRegister, 1, 0, word);
  matrix.Add(In::kRegister, 0, in_register, in_register + 1);
  matrix.Add(In::kRegister, 1, word + 2, a ? Log2(tile.k) : piece_n);
  matrix.Add(In::kRegister, 0, 6, piece_m);
  matrix.Add(In::kLane, 1, word, word + 2);
  matrix.Add(In::kLane, 0, in_lanes, in_lanes + 3);
  matrix.Add(In::kWarp, 0, 4, 6);
  matrix.Add(In::kWarp, 0, piece_m, piece_m + groups_m);
  if (a) matrix.AddReplicas(In::kWarp, groups_n);
  if (!a) matrix.Add(In::kWarp, 1, piece_n, piece_n + groups_n);
  return matrix.Build();
}

}  // namespace tile::codegen
