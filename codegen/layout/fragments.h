// Layouts that matrix instructions demand of their operands, and ldmatrix, which loads them.
//
// All fragments of mma.sync follow one scheme. A 32-bit register holds 32/bits neighbours along K (of A and B) or two
// neighbours along N (of C and D). The two low bits of the lane continue along that dimension. The three high ones go
// along the other dimension, M or N. Further registers add row 8 of M and the upper half of K. Layouts number elements,
// not 32-bit registers: an operand's registers are those of the PTX ISA's a0, a1, …, neighbours packed into words.
//
// A tile of M × N × K is spread over warps_m × warps_n warps. Each has a contiguous piece of M/warps_m rows and
// N/warps_n columns; the warp's number is m + warps_m * n. Within a piece, fragment (i, j) starts at register
// (i * columns + j) * instruction's registers, j along K for A, along N for C; for B i is along N and j along K. A tile
// with less than an instruction's M or N, or than the warps', is replicated; K is never less than the instruction's.
//
// Example: m16n8k16 of f16, a 128x128x32 tile, 2 x 2 warps:
//   MmaTile t = {{16, 8, 16, 16}, 128, 128, 32, 2, 2};
//   MmaLayout(t, Operand::kA)        // of a 128x32 tile: 64 registers
// Thread-safe.
#ifndef TILE_CODEGEN_LAYOUT_FRAGMENTS_H_
#define TILE_CODEGEN_LAYOUT_FRAGMENTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/layout/layout.h"
#include "codegen/layout/shared.h"

namespace tile::codegen {

enum class Operand : uint8_t { kA, kB, kC };  // tiles of M × K, K × N, M × N; C is also D

// m8 or m16, n8, and K of at least 4 words of elements of A and B. That is m16n8 with k8 and k16 for 16 bits, k4 and k8
// for tf32, k16 and k32 for 8 bits, k32 and k64 for 4 bits. It is also m8n8k4 for f64, and m8n8k16 and k32 for
// integers.
struct MmaInstruction {
  int m, n, k;
  int element_bits;  // of A and B
};

struct MmaTile {
  MmaInstruction instruction;
  int64_t m, n, k;
  int warps_m, warps_n;
  // The tile is so many of M / pieces_m × N / pieces_n one after another, each spread over all warps, which it is large enough for. They are
  // the highest bits of the registers' numbers.
  int pieces_m = 1, pieces_n = 1;
  // Products of a batch, which is dimension 0 of operands and result; 0: there is no such dimension. They are spread over warps_batch groups of
  // warps_m * warps_n warps.
  // A warp's products are one after another: they are the highest bits of the registers' numbers, as groups are of the warps'.
  int64_t batch = 0;
  int warps_batch = 1;

  // Of a warp.
  int64_t products() const { return batch == 0 ? 1 : batch > warps_batch ? batch / warps_batch : 1; }
};

Layout MmaLayout(const MmaTile& tile, Operand operand);

// wgmma: the instruction's M is 64, of four warps, so a warpgroup's piece of M has whole multiples of 64 rows.
// `instruction_n` is 8 to 256; the instruction's K is 32 bytes. The accumulator, and A when it comes from registers;
// groups take the place of warps: the warp's number is the warp in its group + 4 * (m + groups_m * n).
// With `paired_rows` the two rows of an instruction's 16 that a thread holds, 0 and 8, are neighbours of the tile (which rows an
// instruction is given is free): bytes that lie across come out of ldmatrix in pairs.
struct WgmmaTile {
  int instruction_n;
  int element_bits;  // of A and B
  int64_t m, n, k;
  int groups_m, groups_n;
  bool paired_rows = false;
};
Layout WgmmaLayout(const WgmmaTile& tile, Operand operand);  // kA or kC

// --- ldmatrix (and stmatrix, which is the same the other way round) ---

// Instruction i loads the registers from registers[i * per_instruction] on: for each of `matrices`, 32 bits' worth of
// elements. Lane l passes the address of element offsets[i] ^ lanes(l) ^ warps(w) of the buffer.
struct LdMatrix {
  bool trans = false;
  // Bytes that lie across: a matrix of 16-bit elements brings two neighbours of a row for two k, and the next matrix those for the
  // two k behind. CombinedBytes says how words of four k are made of both, for the first of the neighbours and for the second.
  bool bytes = false;
  int matrices = 1;  // .x1 .x2 .x4
  int per_instruction = 0;
  std::vector<int> registers;
  std::vector<Mask> offsets;
  Masks lanes;
  Masks warps;

  int instructions() const { return static_cast<int>(offsets.size()); }
  Mask Address(int instruction, uint32_t lane, uint32_t warp) const {
    return offsets[static_cast<size_t>(instruction)] ^ Combine(lanes, lane) ^ Combine(warps, warp);
  }
};

// How ldmatrix loads the fragments from a tile that lies so in shared memory, whose buffer is aligned to 16 bytes;
// nullopt when it cannot. Without `trans` elements are of 8, 16 or 32 bits and the fragment's words lie along the 16
// bytes of a row; with it they lie across, and are of 16 bits, or of 8 with paired rows.
std::optional<LdMatrix> FitLdMatrix(const SharedMap& map, const Layout& fragment, bool trans);
// Without `trans` if that fits, else with it.
std::optional<LdMatrix> FitLdMatrix(const SharedMap& map, const Layout& fragment);
// Selectors of prmt for the words of a matrix (bytes 0 to 3) and of the next (4 to 7), of which lanes with bit 1 have the one that
// the others have second: of the first neighbour's word, or the second's.
constexpr uint32_t CombinedBytes(bool second, bool lane_bit_1) {
  return (lane_bit_1 ? 0x2064u : 0x6420u) + (second ? 0x1111u : 0u);
}
// Wavefronts of all instructions of all warps, and the same without conflicts. By enumeration.
int64_t LdMatrixWavefronts(const LdMatrix& load, int element_bits);
int64_t LeastLdMatrixWavefronts(const LdMatrix& load);

struct LdMatrixExchange {
  SharedMap map;
  VectorAccess write;
  LdMatrix read;
};
// A map that src writes and ldmatrix reads, without conflicts where possible; nullopt when the fragment is none.
std::optional<LdMatrixExchange> ChooseSharedForLdMatrix(const Layout& src, const Layout& fragment, int element_bits,
                                                        bool trans);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LAYOUT_FRAGMENTS_H_
