// The rules of AssignLayouts: what an operation makes of its operands' layouts, and which layouts it wants them in.
// A rule per operation, in codegen/analysis/op_rules.def. Internal to codegen/passes.
#ifndef TILE_CODEGEN_PASSES_LAYOUTS_LAYOUT_RULES_H_
#define TILE_CODEGEN_PASSES_LAYOUTS_LAYOUT_RULES_H_

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "codegen/passes/layouts/assign_layouts.h"
#include "codegen/plan/loop_invariant_rows.h"
#include "ir/op_views.h"

namespace tile::codegen {

class LayoutRules {
 public:
  LayoutRules(const Schedule& plan, ir::Module* module, LayoutTable* table)
      : plan_(plan), module_(module), table_(table) {}

 protected:
  ir::Module* module() const { return module_; }

  // First: the layouts that the tiles of pointers of this body want.
  void NoteAccesses(ir::Block* body);

  // Step 1: sets what follows from what is known; `changed_` tells whether it did.
  void Infer(const ir::Op& op);
  bool changed_ = false;
  // Then: rows decide for the tiles that they are repeated in, where nothing else of these shapes did.
  void LetRowsDecide(ir::Block* body);

  // Step 2: the layout of a value whose definition's operands are settled. Never null.
  const Layout* Decided(const ir::Value* v);
  // The layouts that the operands must have, given those of the results (or of the first operand that counts); null: any, or a scalar.
  absl::InlinedVector<const Layout*, 4> Wanted(const ir::Op& op);

 private:
  // Layout of result i if it follows from the operands' as `known` tells them; null otherwise.
  template <class Known>
  const Layout* Forward(const ir::Op& op, const ir::Value* result, Known known);
  // Layout of an operand from that of the result, where elements stay in their places; null for other operations.
  const Layout* Backward(const ir::Op& op, const ir::Value* operand, const Layout& result);
  // Of a broadcast, if its source decides: rows that are spread over all threads, each of which then has the same columns of every row.
  const Layout* Repeated(const ir::Op& broadcast, const Layout& source);
  const Layout* Inferred(const ir::Value* v) const;
  void SetInferred(const ir::Value* v, const Layout* layout);
  // The one layout of all tiles of an elementwise operation.
  const Layout* WantedOfAll(const ir::Op& op);
  const Layout* WantedForPointers(const ir::StorePtrOp& store);
  // Of operand i of any other operation. `stored`: the layout that it wants for the tile that it stores through a view.
  const Layout* WantedOf(const ir::Op& op, int i, const Layout* stored);
  // Slots of what a branch jumps to: the value that receives operand i (an argument or a result).
  static const ir::Value* Receiver(const ir::Op& branch, int i);

  // Fragments of operand i of a product, if they should be there before the loop around the product; null if not.
  const Layout* ForInvariant(const ir::Op& mma, int i);
  const Layout* DefaultFor(ir::Type t);
  // Of an access through pointers that are known to be neighbours; null for others.
  const Layout* ForPointers(const ir::Op& op) const;
  void NoteCopies(const ir::Op& copy);
  // In which layout a product takes its operand i, which are block scales; null for other operands.
  const Layout* ForScales(const ir::Op& mma, int i);
  void NoteScales(const ir::Op& mma);
  // What pointers and masks are computed from, where nobody decided yet: so that nothing is computed in two layouts.
  void SetInferredBehind(const ir::Value* v, const Layout* layout);
  // Bits side by side along the dimension among the elements that these bases of a layout give.
  static int64_t RunAlong(const Layout& own, const Masks& bases, int dim, int bits);
  // Whether threads that store this way write whole words; and sectors.
  static bool StoresWords(const Layout& own, int dim, int bits);
  bool StoresWell(const ir::Op& store, const Layout& own, int dim, int bits) const;
  // What threads exchange elements through lies beside stages that are in use (SharedAccount).
  bool IsBesideRings(const ir::Op& op) const;
  static Layout NeighboursFirst(const Layout& own, int dim);
  static Layout VectorsByShuffles(const Layout& own, int dim, int bits);
  // So many neighbours along the dimension in a thread, the next ones in the next thread.
  const Layout* AlongDim(Shape shape, int dim, int vector);
  const Layout* ForRepeatedUpdate(const ir::Op& op);
  const Layout* WithPairs(const Shape& shape, int dim, int vector);
  // Of a row that is loaded beside what is copied ahead: whole in each warp, so that its elements get to where a product's columns are by
  // shuffles, and no warp waits for another; null for other loads.
  const Layout* ForRow(const ir::Op& load);
  const Layout* ForRead(const ir::Op& read);
  // Neighbours in memory in neighbouring threads.
  const Layout* ForView(ir::Type view);
  // The same of what is loaded, beside rows that its loop keeps.
  const Layout* ForLoad(const ir::Op& load);
  // Of the tile that an operation stores: its own if that is good enough.
  const Layout* ForStore(const ir::Op& op, const Layout* own);
  const Layout* Intern(const Layout& l) { return table_->Intern(l); }

  const Schedule& plan_;
  ir::Module* module_;
  LayoutTable* table_;
  absl::flat_hash_map<const ir::Value*, const Layout*> inferred_;
  absl::flat_hash_map<const ir::Op*, std::pair<const Layout*, int>>
      pointers_;  // by access: and the dimension of neighbours
  LoopInvariantRows kept_;
  bool rows_decide_ = false;
  absl::flat_hash_set<Shape> decided_shapes_;  // without dimensions of size 1: others decide for these
  // Operations of the function's body with a producer's ring in them or behind them.
  absl::flat_hash_set<const ir::Op*> until_rings_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_LAYOUTS_LAYOUT_RULES_H_
