// Tiles that lie in shared memory because a matrix instruction reads them there: which operands can, and how they lie.
//
//   if (std::optional<StagedTile> a = StageOperand(mma, 0)) …   // before and after the pass that fetches ahead
//   const ir::Op* fetch = FetchOf(mma);                          // the fetch_ahead that feeds it; null: there is none
//   const ir::Op* copy = CopyOf(mma, 0);                         // the copy_ahead that feeds operand 0; null: registers
//   Decide(module, fetch, PlanStage(*fetch));                    // once: how its stages lie; or DecideStages for all of a kernel
//   StageOf(*fetch).tiles[0].swizzle                             // from then on
//
// An operand lies as TMA writes it with a swizzle and wgmma reads it (TmaSwizzle in layout/shared.h): cut into chunks
// of at most 128 bytes along the dimension that is contiguous in memory, each chunk's rows one after another. So
// ldmatrix reads it without bank conflicts, too.
// Pure functions, except for those that decide.
#ifndef TILE_CODEGEN_PLAN_STAGING_H_
#define TILE_CODEGEN_PLAN_STAGING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/layout/shared.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

struct StagedTile {
  const ir::Op* load = nullptr;     // what fills it: a load_view_tko, or a load_ptr_tko (PointerCopyOf)
  const ir::Op* rounded = nullptr;  // an ftof that gives the operand's type, of the same size, done where elements lie
  bool lhs = false;
  bool k_major = false;  // neighbours along K are neighbours in memory; else those along M or N
  int element_bits = 0;
  int64_t mn = 0, k = 0;          // elements
  int contiguous = 0, other = 0;  // which dimensions of the load's tile; -1: it has size 1
  int swizzle = 0;                // bytes of a chunk's row: 16, 32, 64, 128
  int turned = 0;                 // the row index is rotated right by so many bits

  int64_t inner() const { return k_major ? k : mn; }  // elements along the contiguous dimension
  int64_t rows() const { return k_major ? mn : k; }   // of a chunk
  int64_t chunk_elements() const { return swizzle * 8 / element_bits; }
  int64_t chunks() const { return inner() / chunk_elements(); }
  int64_t chunk_bytes() const { return rows() * swizzle; }
  int64_t bytes() const { return chunks() * chunk_bytes(); }
  int64_t slot_bytes() const;  // that it takes, a multiple of 128
  bool fits_tma() const;
  // TMA brings it in the operand's type: as it lies in memory, or rounded to the nearest tf32.
  bool tma_converts() const;
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

// Operand 0 or 1 of a product, if it comes from a load whose tile can lie so (of one through pointers, that must have been decided:
// plan/pointer_copy.h), through nothing but permutations,
// reshapes that drop dimensions of size 1, and one conversion of floats that keeps their size.
std::optional<StagedTile> StageOperand(const ir::Op& mma, int operand);

// The fetch_ahead whose results both operands of the product are; null if they are not.
const ir::Op* FetchOf(const ir::Op& mma);
// The copy_ahead whose result the operand is; null if it is none.
const ir::Op* CopyOf(const ir::Op& mma, int operand);
// The fetch_ahead, copy_ahead in the body of this loop; null if there is none.
const ir::Op* FetchIn(const ir::Op& loop);
const ir::Op* CopyIn(const ir::Op& loop);
// Slots of a stage, one per result: where they begin, and the bytes of all. Results that one load brings share a slot.
struct StageLayout {
  std::vector<StagedTile> tiles;
  std::vector<int64_t> offsets;  // bytes, multiples of 128; of tiles that fit TMA, of 1024
  int64_t bytes = 0;

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

#endif  // TILE_CODEGEN_PLAN_STAGING_H_
