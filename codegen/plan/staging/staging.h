// Tiles that lie in shared memory because a matrix instruction reads them there, and how they lie.
//
//   if (std::optional<StagedTile> a = StageOperand(mma, 0)) …   // before loads are moved ahead: how it should lie
//   const ir::Op* fetch = FetchOf(mma);                          // the fetch_ahead that feeds it; null: there is none
//   const ir::Op* copy = CopyOf(mma, 0);                         // the copy_ahead that feeds operand 0; null: registers
//   Decide(module, fetch, PlanStage(*fetch));                    // once: how its stages lie; or DecideStages for all of a kernel
//   StageOf(*fetch).tiles[0].swizzle                             // from then on
//   StagedOperandOf(mma, 0)->k_major                             // the same, from the product
//
// An operand lies as TMA writes it with a swizzle and wgmma reads it (TmaSwizzle in layout/shared.h): cut into chunks
// of at most 128 bytes along the dimension that is contiguous in memory, each chunk's rows one after another. So
// ldmatrix reads it without bank conflicts, too.
// Pure functions, except for those that decide.
#ifndef TILE_CODEGEN_PLAN_STAGING_STAGING_H_
#define TILE_CODEGEN_PLAN_STAGING_STAGING_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/layout/shared.h"
#include "codegen/plan/staging/loaded_operand.h"
#include "ir/module.h"

namespace tile::codegen {

// An operand with how it lies in a stage.
struct StagedTile : LoadedOperand {
  int swizzle = 0;  // bytes of a chunk's row: 16, 32, 64, 128
  int turned = 0;   // the row index is rotated right by so many bits

  int64_t chunks() const { return inner() / chunk_elements(); }
  int64_t chunk_elements() const { return swizzle * 8 / element_bits; }
  int64_t chunk_bytes() const { return rows() * swizzle; }
  bool fits_tma() const;
  // Where it may begin: eight rows are swizzled alike, from such an address on.
  int64_t alignment() const { return std::max(128, 8 * swizzle); }
  // Before threads widen it, where they do that in a place of its own.
  StagedTile AsLoaded() const;
  // The first of so many parts along the contiguous dimension, whole chunks; the others lie behind it.
  StagedTile Part(int parts) const;
  // The load's tile lies in the same way.
  bool lies_like(const StagedTile& t) const {
    return load == t.load && contiguous == t.contiguous && other == t.other && swizzle == t.swizzle &&
           turned == t.turned && rounded == nullptr && t.rounded == nullptr;
  }

  // From offsets of the operand, as the product has it, to element numbers in the slot.
  SharedMap OperandMap() const;
  // The same from any offsets of so many bits, in which the coordinates along the contiguous and the other dimension
  // begin at these bits.
  Gf2Map Map(int from_contiguous, int from_other, int bits) const;
};

// How an operand should lie, if a load brings it (LoadedOperandOf). Only passes that move loads ahead ask, through ProductOperand
// (passes/move_loads.h); what became of it is decided for the fetch_ahead or copy_ahead, and read from there.
std::optional<StagedTile> StageOperand(const ir::Op& mma, int operand);
// How it was decided that the operand lies, or how its stage_tile says it does; nullopt: it is in registers.
std::optional<StagedTile> StagedOperandOf(const ir::Op& mma, int operand);
// The stage_tile that the value is, whose words it is in registers, too (held_words), whose elements it is, converted, or of which it is made
// piece by piece; null: it is none.
const ir::Op* StageTileOf(const ir::Value* v);
// How it says that an operand lies.
StagedTile StoredTile(const ir::Op& stage_tile, bool lhs);
// How a copy_async leaves the tile that it loads.
StagedTile TileOfCopy(const ir::Op& copy_async);
// Which one of so many equal parts of the tile it copies.
struct CopiedPart {
  int number = 0, of = 1;
};
CopiedPart PartOfCopy(const ir::Op& copy_async);
// How a tma_load leaves the tile.
StagedTile TileOfLoad(const ir::Op& tma_load);

// The fetch_ahead whose results both operands of the product are; null if they are not.
const ir::Op* FetchOf(const ir::Op& mma);
// The copy_ahead whose result the operand is; null if it is none.
const ir::Op* CopyOf(const ir::Op& mma, int operand);
// A convert_layout that takes the result of a copy_ahead to registers, for others than products.
bool ReadsCopy(const ir::Op& op);
// The threads that multiply bring the operands of products in the loop's body: by a copy_ahead, or as the GPU level says it.
bool CopiesAhead(const ir::Op& loop);
// The fetch_ahead, copy_ahead in the body of this loop; null if there is none.
const ir::Op* FetchIn(const ir::Op& loop);
const ir::Op* CopyIn(const ir::Op& loop);
// Slots of a stage, one per result: where they begin, and the bytes of all. Results that one load brings share a slot.
struct StageLayout {
  std::vector<StagedTile> tiles;
  std::vector<int64_t> offsets;  // bytes, multiples of the tiles' alignments
  int64_t bytes = 0;             // the same, since the next stage follows
  int64_t piece_bytes = 0;       // of a ring of pieces (copy_pieces.h); 0: its unit is the stage
  // Tiles that threads widen are in stages as they were loaded. Their widened form has places of its own after all
  // stages (conversion_buffers.h). These are the number of places, the bytes of one, and where the tile of each result
  // begins in it; -1: it has none.
  int conversion_buffers = 0;
  int64_t wide_bytes = 0;
  std::vector<int64_t> wide_offsets;

  // How many pieces result i is; all results.
  int pieces(size_t i) const { return static_cast<int>(std::max<int64_t>(1, tiles[i].slot_bytes() / piece_bytes)); }
  int pieces() const;
  // What the ring's memory is divided into.
  int64_t unit_bytes() const { return piece_bytes > 0 ? piece_bytes : bytes; }
  // All of a ring of so many units.
  int64_t ring_bytes(int units) const { return unit_bytes() * units + wide_bytes * conversion_buffers; }
  // Result i is not read from the stage but from a wide place.
  bool widens_apart(size_t i) const { return conversion_buffers > 0 && tiles[i].widens(); }
  // How result i lies in the stage.
  StagedTile InStage(size_t i) const { return widens_apart(i) ? tiles[i].AsLoaded() : tiles[i]; }
  // Result i lies where an earlier one does.
  bool shares_slot(size_t i) const;
};
StageLayout PlanStage(const ir::Op& fetch);
void Decide(ir::Module* module, ir::Op* fetch, const StageLayout& stage);
// For each fetch_ahead and copy_ahead about which nobody decided yet.
void DecideStages(ir::Module* module, ir::Function* function);
// What was decided.
StageLayout StageOf(const ir::Op& fetch);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_STAGING_STAGING_H_
