// Kinds of matrix instructions: what each demands of its operands, where it leaves its sums, how it runs and what it costs. Everybody else asks
// a kind for a property, never which one it is. So a new kind is a row of mma_kinds.def, its own files, and nothing else.
//
//   for (const MmaKind* kind : MmaKinds()) …                    // the preferred one first
//   if (kind->Choose(target, num_warps, module, mma)) …         // once, in passes/mma/choose_mma.cc
//   if (KindOf(mma).asynchronous()) …                           // from then on
//
// Kinds that read operands from shared memory have a plan of their own (staged_mma.h). Immutable; safe from any thread.
#ifndef TILE_CODEGEN_PLAN_MMA_MMA_KIND_H_
#define TILE_CODEGEN_PLAN_MMA_MMA_KIND_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "codegen/layout/layout.h"
#include "codegen/target/machine.h"
#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

struct MmaShape {
  int64_t batch = 0;  // 0: the operands have rank 2
  int64_t m = 0, n = 0, k = 0;
};
MmaShape ShapeOfMma(const ir::Op& op);

// How operands come to an instruction.
enum class OperandsBy : uint8_t {
  kStages,  // it reads them from shared memory, in the form that TMA writes; the left one may be in registers instead
  kFragments,  // each thread holds a part of them in registers
  kElements,   // a thread reads element by element from shared memory what it multiplies
};

class MmaKind {
 public:
  struct Properties {
    absl::string_view name;  // as Decision::kInstruction has it
    OperandsBy operands;
    // A product is begun, and awaited later: the warp goes on meanwhile. Until then nobody touches the registers that it reads and writes, which
    // the assembler does not spill.
    bool asynchronous = false;
    int group_warps = 1;  // warps that execute an instruction together
    // Sums are in tensor memory while the loop of the product runs, and one thread begins it. It takes what a producer fetches, and nothing else.
    bool sums_in_columns = false;
    // One thread begins it, too, but it leaves what it multiplies in tensor memory, from where threads add it to the sums in their registers. A left
    // operand that no stage has goes to shared memory first.
    bool through_columns = false;
  };

  explicit MmaKind(const Properties& properties) : properties_(properties) {}
  MmaKind(const MmaKind&) = delete;
  MmaKind& operator=(const MmaKind&) = delete;
  virtual ~MmaKind() = default;

  absl::string_view name() const { return properties_.name; }
  OperandsBy operands() const { return properties_.operands; }
  bool reads_stages() const { return operands() == OperandsBy::kStages; }
  bool asynchronous() const { return properties_.asynchronous; }
  int group_warps() const { return properties_.group_warps; }
  bool sums_in_columns() const { return properties_.sums_in_columns; }
  bool through_columns() const { return properties_.through_columns; }

  // --- Before anything is decided.

  // The features without which a target has no such instruction; 0: every target has one.
  virtual uint32_t features() const = 0;
  bool IsOn(const Target& target) const { return (target.features & features()) == features(); }
  // The target has an instruction for the product, whatever the number of warps and wherever its operands are.
  virtual bool Takes(const Target& target, const ir::Op& mma) const = 0;
  // Decides that the product is done by this kind, and how; false: it can't be.
  virtual bool Choose(const Target& target, int num_warps, ir::Module* module, ir::Op* mma) const = 0;

  // --- Of a product that is done by this kind.

  virtual Layout ResultLayout(int num_warps, const ir::Op& mma) const = 0;
  // How threads hold operand i where the instruction takes it from registers; nullopt: it reads shared memory.
  virtual std::optional<Layout> FragmentLayout(const ir::Op& mma, int operand) const = 0;
  // Instructions one after another along K, for each result.
  virtual int64_t StepsAlongK(const ir::Op& mma) const = 0;
  // What is wrong with what was decided, in a block of so many warps; "" if nothing is.
  virtual std::string Fault(const ir::Op& mma, int num_warps) const = 0;

  // --- Cost.

  // Instructions that warps issue for a product of so many multiplications, with those that bring its operands to registers.
  virtual double WarpInstructions(double macs, int element_bits) const = 0;
  // Multiplications of a multiprocessor of this generation in each cycle.
  virtual double MacsPerCycle(const Machine& machine, int element_bits) const = 0;

 private:
  const Properties properties_;
};

absl::Span<const MmaKind* const> MmaKinds();
// What was decided about a product; a check fails if nothing was.
const MmaKind& KindOf(const ir::Op& mma);
// The same of any operation; null: it is no product, or nothing was decided.
const MmaKind* FindKindOf(const ir::Op& op);

// The preferred kind of this target that is asynchronous; null: it has none.
const MmaKind* AsyncKindOn(const Target& target);
// A matrix instruction takes the product's operands as they are, by whichever way they come.
bool HasMatrixInstruction(const Target& target, const ir::Op& mma);
// What is wrong with what was decided about a product, in a block of so many warps; "" if nothing is.
std::string MmaFault(const ir::Op& mma, int num_warps);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_MMA_KIND_H_
