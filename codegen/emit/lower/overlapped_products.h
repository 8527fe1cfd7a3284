// The products of a loop that are waited for where their results are read (codegen/plan/mma/overlapped_products.h).
//
//   OverlappedProducts running(e, loop);   // where the body begins
//   running.Before(op);                 // before each operation of the body: waits for the products of which it takes results
//   running.Begun(mma);                 // a product has begun; its registers, which are not valid yet, are set
//   running.EndIteration();                 // where the body ends: products of the iteration before have ended
#ifndef TILE_CODEGEN_EMIT_LOWER_OVERLAPPED_PRODUCTS_H_
#define TILE_CODEGEN_EMIT_LOWER_OVERLAPPED_PRODUCTS_H_

#include <vector>

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

class OverlappedProducts {
 public:
  OverlappedProducts(Emitter& e, const ir::Op& loop);

  void Before(const ir::Op& op);
  void Begun(const ir::Op& mma);
  void EndIteration();

 private:
  // What the operation reads of it, or an operation in it.
  bool Reads(const ir::Op& op, const ir::Op& mma) const;
  // Until at most so many of the last products run. `sums`: of what is waited for.
  Registers Wait(size_t running, Registers sums);

  Emitter& e_;
  const ir::Op& loop_;
  CopyRing* ring_ = nullptr;            // null: the loop has no such products
  std::vector<const ir::Op*> begun_;    // of this iteration, in order
  std::vector<const ir::Op*> running_;  // of those, whose results nobody has waited for
  bool waited_ = false;                 // in this iteration
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_LOWER_OVERLAPPED_PRODUCTS_H_
