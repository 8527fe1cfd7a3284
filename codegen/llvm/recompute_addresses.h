// Addresses in loops are computed again, instead of being kept. LLVM moves all that does not change out of a loop: each address of each piece of a
// tile, 64 bits wide, takes two registers until the loop ends. Where registers last, that is right. Where they don't, ptxas keeps such values in
// memory rather than computing them again: loading one back takes longer than an addition.
#ifndef TILE_CODEGEN_LLVM_RECOMPUTE_ADDRESSES_H_
#define TILE_CODEGEN_LLVM_RECOMPUTE_ADDRESSES_H_

namespace llvm {
class Module;
}

namespace tile::codegen {

// For kernels that spill. Integers and pointers from before a loop are computed in front of each use in it, as far as what they are computed from takes
// fewer registers.
void RecomputeAddresses(llvm::Module* module);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_RECOMPUTE_ADDRESSES_H_
