// How long something takes: the cost model, in cycles of a multiprocessor. By it codegen chooses among candidates, decides whether coarser blocks pay, and
// explains a kernel. Its figures are a row of codegen/target/machines.def and the rates of MmaKind.
//
//   const CostModel cost(target);
//   cost.CyclesOf(ProductLoopsOf(function), Ahead::kTma, /*stages=*/4, /*blocks=*/1)     // of an iteration of each loop
//   cost.BusyWith(WorkOf(function, schedule, sizes)).tensor                               // of an average block
//
// Caches, bank conflicts and clocks under load are not modelled. Pure functions.
#ifndef TILE_CODEGEN_PLAN_RESOURCES_COST_H_
#define TILE_CODEGEN_PLAN_RESOURCES_COST_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "codegen/target/machine.h"
#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

class StagedMmaKind;
struct Work;

// How loops over products may be compiled: loads where they are used, or ahead, by all threads or by a warp that does nothing else.
enum class Ahead : uint8_t { kNothing, kCopies, kTma };

// What a loop over products does in an iteration.
struct ProductLoop {
  double bytes = 0;      // of operands that it loads
  double macs = 0;       // of f16, or as many as take as long
  bool on_cores = true;  // tensor cores multiply them
};
std::vector<ProductLoop> ProductLoopsOf(const ir::Function& function);

// How long one resource keeps a multiprocessor busy, in cycles.
struct Busy {
  double tensor = 0, fma = 0, issue = 0, special = 0;
};

class CostModel {
 public:
  explicit CostModel(const Target& target);

  // An iteration of each loop: the longest of loading, multiplying and waiting, where they overlap, else their sum. `blocks`: that are resident,
  // one of which works while another waits.
  double CyclesOf(absl::Span<const ProductLoop> loops, Ahead ahead, int stages, int blocks) const;
  // 16 elements of 16 bits along K of a block's product, or as many bytes of other types, on a target whose products read stages. It is the time of
  // the tensor cores, plus 15 percent for each 1/256 by which 1/M + 1/N, the loads, exceeds that of 128 x 256. In f16, compared with blocks of
  // 128 x 256, 128 x 128 takes 1.09 to 1.15, 64 x 128 1.45, 64 x 64 1.9 to 2.2.
  int64_t CyclesOfBlock(const ir::Op& mma) const;
  // The work of an average block.
  Busy BusyWith(const Work& work) const;
  // To bring so many bytes from the L2.
  double CyclesOfL2(double bytes) const { return bytes / machine_.l2_bytes; }

  // Resources that work at the same time: nearly the longest, more where others are nearly as long. Fitted to docs/gpu-performance.md.
  static double Overlap(const std::vector<double>& times);

 private:
  // Multiplications of 16-bit operands in a cycle.
  double RateOf(const ProductLoop& loop, Ahead ahead) const;

  const Machine& machine_;
  const StagedMmaKind* staged_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_RESOURCES_COST_H_
