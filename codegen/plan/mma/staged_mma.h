// Products by instructions that read operands from shared memory: both of them, or the right one with the left one in registers. Warps share the
// tile in groups, each of which executes an instruction together.
//
//   if (std::optional<StagedMmaPlan> p = PlanFetched(target, num_warps, mma, a, b)) …   // nullopt: no such kind can do it
//   if (std::optional<StagedMmaPlan> p = PlanCopied(target, num_warps, mma)) …
//   if (auto p = StagedMmaPlanOf(mma)) p->ResultLayout()                                // once it is decided
//
// Pure functions.
#ifndef TILE_CODEGEN_PLAN_MMA_STAGED_MMA_H_
#define TILE_CODEGEN_PLAN_MMA_STAGED_MMA_H_

#include <optional>
#include <vector>

#include "codegen/layout/layout.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

class StagedMmaKind;

struct StagedMmaPlan {
  const StagedMmaKind* kind = nullptr;
  // Of the product as the instruction computes it: of a swapped one, M is the result's second dimension.
  int64_t m = 0, n = 0, k = 0;
  int instruction_m = 0, instruction_n = 0, instruction_k = 0;
  int element_bits = 0;            // of the operands
  int groups_m = 1, groups_n = 1;  // groups of warps along M and N
  // It computes C^T = B^T A^T: the right operand is its first.
  bool swapped = false;
  // Its first operand lies across in its stage, in an order in which the instruction does not read this type: threads load it to registers.
  bool held = false;
  // The instruction adds up in too few bits: the sums of each iteration begin with zero, and add.f32 adds them to the others.
  bool promotes = false;

  int first() const { return swapped ? 1 : 0; }  // the operand of the product that is the first of the instruction
  int64_t group_rows() const { return m / groups_m; }
  int64_t group_columns() const { return n / groups_n; }
  int64_t steps() const { return k / instruction_k; }
  // Of the product's result, and of its operand first() where that comes from registers.
  Layout ResultLayout() const;
  Layout FirstLayout() const;
};

class StagedMmaKind : public MmaKind {
 public:
  using MmaKind::MmaKind;

  // The operands lie so in stages; with the left one in registers if `a` is null. `by_tma`: TMA brings both, as the product reads them.
  virtual std::optional<StagedMmaPlan> Plan(const Target& target, int num_warps, const ir::Op& mma, const StagedTile* a,
                                            const StagedTile& b, bool by_tma) const = 0;
  // Registers of 32 bits, over all threads, for sums that are kept apart until they are added to the others (StagedMmaPlan::promotes).
  virtual int64_t SumsApart(int num_warps, const ir::Op& mma) const = 0;
  // Warps that the product should have.
  virtual int PreferredWarps(const ir::Op& mma) const = 0;

  virtual StagedMmaPlan PlanOf(const ir::Op& mma) const = 0;
  virtual void Decide(ir::Module* module, ir::Op* mma, const StagedMmaPlan& plan) const = 0;
  virtual Layout ResultLayoutOf(const StagedMmaPlan& plan) const = 0;
  virtual Layout FirstLayoutOf(const StagedMmaPlan& plan) const = 0;
  // How threads hold a left operand of this type, of products that so many groups share along M and N.
  virtual Layout LhsLayout(ir::Type lhs, int groups_m, int groups_n) const = 0;

  bool Choose(const Target& target, int num_warps, ir::Module* module, ir::Op* mma) const final;
  Layout ResultLayout(int num_warps, const ir::Op& mma) const final;
  std::optional<Layout> FragmentLayout(const ir::Op& mma, int operand) const final;
  int64_t StepsAlongK(const ir::Op& mma) const final;
  double WarpInstructions(double macs, int element_bits) const final;
  double MacsPerCycle(const Machine& machine, int element_bits) const final;
};

// The kind of this target that reads stages; null: it has none.
const StagedMmaKind* StagedKindOn(const Target& target);
// The preferred one that reads what is copied ahead for the threads that multiply, and takes a left operand that is in registers; null: it has none.
const StagedMmaKind* CopiedKindOn(const Target& target);
// It has one, and TMA, which fills stages.
bool MultipliesFromTma(const Target& target);

// TMA brings both operands to a stage, where they lie so, as the product reads them.
std::optional<StagedMmaPlan> PlanFetched(const Target& target, int num_warps, const ir::Op& mma, const StagedTile& a,
                                         const StagedTile& b);
// The right operand is in a stage that the threads copy (CopyOf), or they store it (StoresRhs); the left one is copied, too, or in registers. A loop-invariant left operand stays in
// shared memory for the whole loop. There is no plan if it feeds several products, because ptxas 13.0 overwrites fragments that live longer
// than one product with those of the next.
std::optional<StagedMmaPlan> PlanCopied(const Target& target, int num_warps, const ir::Op& mma);
// There is one for each product that reads what the copy_ahead brings.
bool CanDoAllCopied(const Target& target, int num_warps, const ir::Op& copy);
// There is one for each product of the block; not of blocks in it.
bool CanDoAllCopied(const Target& target, int num_warps, const ir::Block& body);
// Registers of 32 bits, over all threads, for sums that are kept apart, if a kind that reads stages does the product.
int64_t SumsApart(const Target& target, int num_warps, const ir::Op& mma);
// Warps that the product should have, of a target with such a kind.
int PreferredWarps(const Target& target, const ir::Op& mma);

// Whether it has a plan of copies, and the left operand goes from registers to shared memory: one that is loop-invariant does so once, in front of the
// loop; others do where the product reads nothing else.
bool StagesLhs(const Target& target, int num_warps, const ir::Op& mma);
// How it is stored there.
StagedTile StagedLhs(const ir::Op& mma);
StagedTile StagedLhs(ir::Type lhs);
// How a stage_operand stores its tile.
StagedTile TileOfOperand(const ir::Op& stage_operand);
// It stores block scales, in rows of 16 bytes (codegen/layout/block_scales.h).
bool StoresScales(const ir::Op& stage_operand);
// The bytes that it writes.
int64_t BytesOfOperand(const ir::Op& stage_operand);
// The loop makes the right operand, of elements of 16 bits, of what it loads and not of other products, and a copy brings the left one. Products that
// read stages have it in shared memory: threads store it there in each iteration. `a @ dequantised(b)` is such a product.
bool StoresRhs(const ir::Op& mma);
// How it lies there: in rows, as the left operand would.
StagedTile StoredRhs(ir::Type rhs);
// Threads may store the operands of the product where it stands, for an instruction that reads shared memory. The operands have 16 bits, and K is at
// least 32. No copy_ahead brings either of them, and there is no fetch_ahead in a loop around it. Products outside of loops are such products, and
// products whose loop makes both operands or does not change them.
bool MayStoreOperands(const ir::Op& mma);
// There is a plan for such a product: the right operand comes from shared memory, the left one, too, unless it follows from other products.
std::optional<StagedMmaPlan> PlanStored(const Target& target, int num_warps, const ir::Op& mma);
// It was decided so.
bool HasOperandsStored(const ir::Op& mma);
// Words of 32 bits that a thread gives to the product as its left operand in registers.
int64_t WordsOfLhs(const ir::Op& mma);
// A fragment_words is for products like this one; how it distributes its operand.
void DecideFragments(ir::Module* module, ir::Op* fragment_words, const ir::Op& mma);
Layout LhsFragments(const ir::Op& fragment_words);

// The products that read what a fetch_ahead brings, in order; and whether their sums are in tensor memory, once that is decided.
std::vector<ir::Op*> ProductsOf(const ir::Op& fetch);
bool SumsInColumns(const ir::Op& fetch);
// Columns of tensor memory that the function's products of fetched operands take on this target, all at once; 0: their sums are not there.
int64_t ColumnsOfFetched(const Target& target, const ir::Function& function);

// Of what this copy_ahead brings, once that is decided: columns that a product takes which multiplies into tensor memory, at most; 0: none does.
int64_t ColumnsThrough(const ir::Op& copy);

// What was decided about the product; nullopt: its operands are not read from stages.
std::optional<StagedMmaPlan> StagedMmaPlanOf(const ir::Op& mma);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_STAGED_MMA_H_
