// How a warp's registers meet memory: vectors, and the sectors that a warp touches.
//
// Example: a load of a row-major tile of f16 whose rows start at multiples of 16 bytes:
//   VectorAccess a = Vectorise(layout, 16, /*dim=*/1, /*alignment=*/8);
//   for (int i = 0; i < a.instructions(); ++i)
//     …load a.vector elements at the address of a.registers[i * a.vector] into the a.vector registers from there on
//
// Shared memory is the same with one dimension: Vectorise(Compose(map, layout), bits, 0, 16 bytes' worth).
// Thread-safe.
#ifndef TILE_CODEGEN_LAYOUT_ACCESS_H_
#define TILE_CODEGEN_LAYOUT_ACCESS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "codegen/layout/layout.h"

namespace tile::codegen {

struct VectorAccess {
  int vector = 1;  // elements of an instruction, a power of two
  // The registers of each instruction in the order of their addresses. Every register counts once whose element no
  // lower one holds (CanonicalRegisters); a load copies into the others.
  std::vector<int> registers;
  int instructions() const { return static_cast<int>(registers.size()) / vector; }
};

// The widest vectors, at most `max_bytes`, along dimension `dim`, in which neighbours are neighbours in memory.
// `alignment`: the power of two, in elements, that divides the address of the tile's first element and the distances
// along the other dimensions. A vector is whole in one thread and starts at a multiple of its size, in all threads with
// the same registers. Elements of 4 bits and more.
VectorAccess Vectorise(const Layout& l, int element_bits, int dim, int64_t alignment, int max_bytes = 16);

struct Sectors {
  int64_t touched = 0;  // sectors of 32 bytes, summed over the instructions of a warp
  int64_t least = 0;    // the same if each instruction's bytes were dense
  double Efficiency() const { return static_cast<double>(least) / static_cast<double>(touched); }
};

// By enumeration for warp 0. `strides`: elements from one coordinate to the next, for each dimension; the tile starts
// at a sector.
Sectors CountSectors(const Layout& l, const VectorAccess& access, int element_bits, absl::Span<const int64_t> strides);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LAYOUT_ACCESS_H_
