// Multiplications that a warp may leave out, begun before exponentials that stand in front of them. Attention multiplies what it has added up by a
// factor for each row (codegen/plan/mma/lazy_rescale.h), behind the exponentials of the same iteration:
//
//   maxima                                   maxima, some exponentials
//   exponentials, sums                       branch: all factors are one
//   exchange sums between lanes                exponentials, sums
//   branch: all factors are one              else exponentials, sums, and between them multiply
//   else multiply                            product
//   product                                  exchange sums between lanes
//
// A special function takes the pipeline of a warp eight times as long as a multiplication, so those cost nothing then; but ptxas moves nothing
// over a branch. Where the product takes its steps one by one (order_steps.h), exponentials go behind both ways, between the steps. That a
// factor of exp2(x) is one is known of x.
#ifndef TILE_CODEGEN_LLVM_SCALE_BESIDE_H_
#define TILE_CODEGEN_LLVM_SCALE_BESIDE_H_

namespace llvm {
class Module;
}

namespace tile::codegen {

// `steps`: the kind of the metadata that a product's steps have.
void ScaleBesideExponentials(llvm::Module* module, const char* steps);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_SCALE_BESIDE_H_
