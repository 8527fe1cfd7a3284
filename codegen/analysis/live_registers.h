// How many registers the tiles of a kernel need at once, before anything is known of layouts.
//
//   LiveRegisters most = MostLiveRegisters(function);
//   most.words      // 32-bit registers over all threads, where most are needed
//   most.at         // the operation after which that is
//
// Counts what is live after each operation: tiles whose elements exist nowhere else. Constants, broadcasts and reshapes
// cost nothing; a loop carries its tiles from iteration to iteration. Elements under 32 bits take a register each. Pure functions.
#ifndef TILE_CODEGEN_ANALYSIS_LIVE_REGISTERS_H_
#define TILE_CODEGEN_ANALYSIS_LIVE_REGISTERS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "codegen/analysis/facts.h"
#include "ir/module.h"

namespace tile::codegen {

struct LiveRegisters {
  int64_t words = 0;
  const ir::Op* at = nullptr;
};
LiveRegisters MostLiveRegisters(const ir::Function& function);
// Some operands are kept elsewhere in the loops around their user, and in those behind them in the same block, and take no registers
// there: `elsewhere` tells which. Masks take none either: what compares an element and what selects by it follow each other in the machine code.
LiveRegisters MostLiveRegisters(const ir::Function& function,
                                absl::FunctionRef<bool(const ir::Op& user, int operand)> elsewhere);
// Without tiles that only say where a store or an update goes, or which of its elements (TileRegisters::ServesStore).
LiveRegisters MostLiveBesideStores(const ir::Function& function);
// Without tiles that only say where memory is accessed, or which elements: of those a thread often needs one address, from which the others
// are constants away, and predicates. And without those that one operation uses up, before threads exchange anything: they are computed one element
// after the other. What is loaded stays as it lies in memory, two elements of 16 bits in a register, until what is converted from it is used, unless
// there are two uses.
LiveRegisters MostLiveData(const ir::Function& function);
// Some operands are kept elsewhere, as for MostLiveRegisters.
LiveRegisters MostLiveData(const ir::Function& function,
                           absl::FunctionRef<bool(const ir::Op& user, int operand)> elsewhere);
// The same without what is loaded behind the last exchange for one use: loads, what computes with them, and stores may go piece by piece.
LiveRegisters MostLiveDataOfFolds(const ir::Function& function);

// The operation that gives or takes the tile of most registers, and that tile; null: there are none. The first of several.
struct LargestTile {
  const ir::Op* op = nullptr;
  const ir::Value* tile = nullptr;
};
LargestTile FindLargestTile(const ir::Function& function);

// Instructions take the absolute value or the negative of an operand: the result needs no registers of its own.
bool IsModifier(const ir::Op& op);

// 32-bit registers that a tile takes over all threads; 0 for scalars and for what is no tile.
int64_t RegistersOf(ir::Type t);

// The same of a value of the function: of tiles that only say where memory is accessed, a thread needs one of the neighbours that it
// accesses together, as far as facts say it. Remembers what it found: the program must not change meanwhile.
class TileRegisters {
 public:
  int64_t Of(const ir::Value* v);
  // The tile is no data: from it follow only addresses, and masks and conditions.
  bool OnlySays(const ir::Value* v);
  // It says where a store goes, or an update whose old values nobody reads, or which of its elements. It is computed in front of that: element by
  // element, as they are stored.
  bool ServesStore(const ir::Value* v);

 private:
  int Neighbours(const ir::Value* v);
  // Elements that a load or store through pointers moves in one vector.
  int Together(const ir::Op& access);

  Facts facts_;
  absl::flat_hash_map<const ir::Value*, int> neighbours_;
  absl::flat_hash_map<const ir::Op*, int> together_;
  absl::flat_hash_map<const ir::Value*, bool> only_says_, serves_store_;
};

// The same, of a program that may change afterwards.
bool TakesMoreThan(const ir::Value* v, int64_t words);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_LIVE_REGISTERS_H_
