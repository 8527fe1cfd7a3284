// Loads in a for that bring operands of its matrix products, moved into one operation whose region can be run for later
// values of the induction variable: what fetch_ahead.h and copy_ahead.h have in common.
//
//   LoopLoads loop(module, op, {.outside = IsSliceable});
//   if (loop.WhyNot({mma, 0}).empty()) …
//   ir::Op* fetch = loop.Move(GpuOpcode::kFetchAhead, {{mma, 0}, {mma, 1}});
//
// Before, of a load through pointers:                     After:
//   for %i in (…) {                                         for %i in (…) {
//     %d = muli %i, %step                                     %x = copy_ahead iter_values(%j = %i) {
//     %p = offset %pointers, splat %d                           %d = muli %j, %step
//     %m = cmpi less_than %k, splat %i                          %p = offset %pointers, splat %d
//     %x = load_ptr_tko weak %p, %m, zero                       %m = cmpi less_than %k, splat %j
//     … mmaf %x                                                 %l = load_ptr_tko weak %p, %m, zero
//                                                               yield %l
//                                                             }
//                                                             … mmaf %x
//
// Not thread-safe with other changes of the module.
#ifndef TILE_CODEGEN_PASSES_MOVE_LOADS_H_
#define TILE_CODEGEN_PASSES_MOVE_LOADS_H_

#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"

namespace tile::codegen {

struct ProductOperand {
  ProductOperand(ir::Op* product, int i) : mma(product), index(i), tile(StageOperand(*product, i)) {}

  ir::Op* mma;
  int index;                       // 0, 1
  std::optional<StagedTile> tile;  // how it should lie in a stage; nullopt: it can't
};

// What the operation that loads move into can do.
struct MoveRules {
  bool (*outside)(const ir::Value*) = nullptr;  // which values of before the loop it can use; null: all
  // The threads that work on the loop do the loads, and none before the loop begins. So the tile may be operand of
  // several products in the loop, tokens may order a load after writes before the loop, and tiles of pointers are
  // computed like scalars.
  bool by_workers = false;
};

class LoopLoads {
 public:
  LoopLoads(ir::Module* module, ir::Op* loop, MoveRules rules)
      : module_(module), loop_(loop), body_(loop->region(0)), rules_(rules) {}

  // Why the load of an operand with a tile can't move; "" if it can. It can if nothing else uses the loaded value and
  // no token orders the load after a write. Its view and indices (pointers and mask) must follow from the induction
  // variable and from values of before the loop. The operations between must be without effect, and on scalars or, for
  // pointers, element by element.
  std::string WhyNot(const ProductOperand& operand) const;
  // The same of a load by itself, whatever uses it.
  std::string WhyNot(const ir::Op& load) const;

  // Nothing in the body ends the kernel, the loop or an iteration before its end.
  bool AllIterationsRun() const;

  // Returns the new operation at the front of the body; its results are the operands, in this order.
  ir::Op* Move(GpuOpcode code, absl::Span<const ProductOperand> operands);

 private:
  bool InLoop(const ir::Value* v) const;
  bool CanCopy(const ir::Value* v, int* tiles, absl::flat_hash_set<const ir::Value*>* scalars) const;
  bool IsIndexLoad(const ir::Op& load, bool tiles) const;
  bool IsHarmless(const ir::Value* token) const;
  bool FeedsProducts(const ir::Value* v) const;
  ir::Value* Copy(ir::Value* v);
  ir::Value* CopyOp(ir::Op* op, int result);
  ir::Value* Before(ir::Value* token);
  void Remove(ir::Value* v);
  void RemoveUnused();

  ir::Module* module_;
  ir::Op* loop_;
  ir::Block* body_;
  MoveRules rules_;
  ir::Block* region_ = nullptr;
  absl::flat_hash_map<const ir::Value*, ir::Value*> copies_;
};

// One of the loops contains the other, or they are one.
bool StandsInOrHolds(const ir::Op* loop, const ir::Op* other);

// Whether a step is taken: nothing hinders it (`why` is ""), and the trace does not leave it out. Remarks what became of the operation.
struct StepTexts {
  const char* step;
  absl::string_view taken, not_taken;
};
bool TakesStep(const ir::Module& module, const ir::Op& op, const StepTexts& texts, std::string why, Trace* trace);

// Whether a product, or operand of one, takes this optional step (`why` is empty, and the trace lets it), with a
// remark.
bool TakesFetch(const ir::Module& module, const ir::Op& mma, const char* step, const char* what, std::string why,
                Trace* trace);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_MOVE_LOADS_H_
