// Tiles in shared memory: which element lies where, so that a layout's warps write them and another's read them in
// wide vectors and without bank conflicts.
//
// A map is linear, like everything here: index = map(offset). Of an index in bytes, the low bits lie within a vector,
// those below 128 choose the bank, the others the row. Lanes conflict when they differ in row bits but not in bank
// bits. So row bits go to elements in which no two lanes of one access differ, neither in writing nor in reading. If
// both accesses need the same banks, sums of the lane bits of both serve them (a swizzle).
//
// An address is the sum of what registers, lanes and warps contribute: Compose(map.index, layout) is a layout whose
// lane and warp bases are computed once, and whose register bases are constants that are XORed to it.
//
// Example:
//   SharedExchange x = ChooseShared(src, dst, 16);
//   Layout write = Compose(x.map.index, src);        // element indices; times 2 bytes
//   for i < x.write.instructions(): store the registers x.write.registers[i * x.write.vector …]
//       at write.Apply(x.write.registers[i * x.write.vector], lane, warp)
//
// Elements of 8 bits and more. Thread-safe.
#ifndef TILE_CODEGEN_LAYOUT_SHARED_H_
#define TILE_CODEGEN_LAYOUT_SHARED_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "codegen/layout/access.h"
#include "codegen/layout/layout.h"

namespace tile::codegen {

struct SharedMap {
  Gf2Map index;  // offset in the row-major tile → element index in the buffer; a bijection
  int element_bits = 0;
};

struct SharedExchange {
  SharedMap map;
  VectorAccess write;
  VectorAccess read;
};

// Wavefronts (cycles of 128 bytes) that all warps need for all instructions of an access of `in_shared`, a layout of
// element indices. Of lanes in one phase (all 32 of at most 4 bytes each, 16 of 8, 8 of 16), those that want different
// words of one bank wait for each other. By enumeration.
int64_t BankWavefronts(const Layout& in_shared, const VectorAccess& access, int element_bits);
// The same without conflicts.
int64_t LeastWavefronts(const Layout& in_shared, const VectorAccess& access, int element_bits);
// BankWavefronts, from one instruction of one warp: in a linear map the others are alike.
int64_t QuickWavefronts(const Layout& in_shared, const VectorAccess& access, int element_bits);

// Two registers that lanes with a bit of their number read in the other order, and exchange behind it: where lanes would meet in a bank,
// half of them go to another one first.
struct Turn {
  int lane = 0, reg = 0;  // numbers of bits
  // What is read, of what the registers are to hold in the end.
  Layout Of(const Layout& in_shared) const;
};
// That with the fewest wavefronts, if there is one with fewer than without it. Vectors stay as wide as those of the access.
std::optional<Turn> FindTurn(const Layout& in_shared, const VectorAccess& access, int element_bits);

// The map with the fewest wavefronts, then the fewest instructions, among those that share vectors, or favour one side.
SharedExchange ChooseShared(const Layout& src, const Layout& dst, int element_bits);

// A map with the given vectors, the lowest bits of the index, for lanes that access it in phases: `write` and `read`
// are the bases of lanes of one phase. `prefer`: bases to be kept out of the vectors' bits, in order (those of all
// lanes and warps)..
SharedMap MakeSwizzle(int offset_bits, int element_bits, const Masks& vector, const Masks& write, const Masks& read,
                      const Masks& prefer);

// Row-major, the identity.
SharedMap RowMajor(absl::Span<const int64_t> shape, int element_bits);
// The form that a TMA copy with a swizzle of 32, 64 or 128 bytes writes, and that wgmma reads. Rows of the last
// dimension are cut into pieces of that many bytes. The rows of each piece follow one another, their 16-byte chunks
// XORed with the number of 128-byte lines. Rows shorter than the swizzle, or with `swizzle_bytes` 16 (none), lie as
// they are. The buffer is aligned to 1024 bytes.
SharedMap TmaSwizzle(absl::Span<const int64_t> shape, int element_bits, int swizzle_bytes);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LAYOUT_SHARED_H_
