// Keeps ptxas, and LLVM's back end, from mistakes that they are known to make: changes optimised LLVM IR into what means the same.
//
//   AvoidAssemblerFaults(&llvm_module);   // the last before PTX is printed
//
// * Minima and maxima of fewer than 32 bits are taken in 32. ptxas 13.0 for sm_90 takes the answer to `min.u16(x, c) == c`, c a
//   constant it knows, from an instruction for two pairs of numbers, and gets that of the unused pair. (13.5 does not.)
// * Loops with strong accesses that only some threads do stay rolled (.pragma "nounroll"). ptxas 13.0 unrolls them, loses
//   the predicate that says which threads those are, and uses it after the loop.
// * So do loops whose asynchronous products run on into the next iteration. ptxas 12.8 to 13.5 unrolls them where the number of iterations is
//   known, and takes the sums before the wait after the loop.
// * An acquiring load whose result nobody uses becomes a relaxed one and a fence, which order the same. ptxas 12.8 to 13.5 removes
//   the load and, with it, the descriptor that other accesses to global memory take: they end with an illegal instruction.
// * Negatives of 16 bits are the complement and one. ptxas 12.8 and 13.0 (not 13.5) negate behind the widening of the number, so that the least
//   one becomes positive.
// * What arithmetic of 16-bit floats gives is widened, or paired with another one, by `mov.b32 word, {low, high}`. ptxas 13.0 and 13.5 take
//   pairs of such numbers by one instruction, take the lower half for a word whose upper half is zero, and add the other half to it.
// * A signed bit becomes a float by a choice between 0 and -1. LLVM 22 gives 1 for a bf16.
#ifndef TILE_CODEGEN_LLVM_ASSEMBLER_FAULTS_H_
#define TILE_CODEGEN_LLVM_ASSEMBLER_FAULTS_H_

namespace llvm {
class Module;
}

namespace tile::codegen {

void AvoidAssemblerFaults(llvm::Module* module);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_ASSEMBLER_FAULTS_H_
