// Stores what is computed while later pieces are on their way. Each operation of a tile is done for all elements of a
// thread before the next one. ptxas keeps loads and stores in this order. So a thread with many of them loads all,
// computes, and stores all at the end, with registers for everything. Where loads and stores need no order (metadata
// says so), this is
//
//   load a0 … a7, load b0 … b7, compute 0 … 7, store 0 … 7
//
// and becomes
//
//   load a0, b0, a1, b1, compute 0, store 0, load a2, b2, compute 1, store 1, …
//
// with 64 bytes of a thread on their way: what is stored early leaves room for them in registers, and so for more blocks. A thread that loads no
// more than that begins all loads, and computes and stores piece by piece behind them. Bytes count, not instructions: four loads of one element
// each hide little (H200, a rotation of 16.8 million bf16 that lie in pairs: 86 us, 49 with 64 bytes).
#ifndef TILE_CODEGEN_LLVM_ORDER_PIECES_H_
#define TILE_CODEGEN_LLVM_ORDER_PIECES_H_

namespace llvm {
class Module;
}

namespace tile::codegen {

// `kind`: of the metadata, a number. A store may go before loads (accesses with results) of the same number that stand in front of it.
void OrderPieces(llvm::Module* module, const char* kind);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_ORDER_PIECES_H_
