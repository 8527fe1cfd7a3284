// Contended atomic updates are of two kinds. Many elements of a tile go to one address: each warp updates it once. Or
// they are added to a few neighbouring addresses, as in a histogram: they are added up in shared memory first, so that
// each address is updated once for the tile. Allowed for relaxed integer updates whose old values nobody asks for.
//
//   if (auto plan = PlanCombination(*op)) Decide(module, op, *plan);   // once
//   if (auto plan = CombinationOf(*op)) plan->addresses                // from then on
//
// Pure functions, except Decide.
#ifndef TILE_CODEGEN_PLAN_COMBINE_UPDATES_H_
#define TILE_CODEGEN_PLAN_COMBINE_UPDATES_H_

#include <cstdint>
#include <optional>

#include "ir/module.h"

namespace tile::codegen {

struct Combination {
  int64_t addresses = 1;  // 1: all elements update one address; else so many from `base` on, which `index` counts
  const ir::Value* base = nullptr;  // a scalar: the address, or that of the first one
  const ir::Value* index = nullptr;

  bool in_table() const { return index != nullptr; }
  int64_t table_bytes() const { return in_table() ? 4 * addresses : 0; }
};

std::optional<Combination> PlanCombination(const ir::Op& op);
void Decide(ir::Module* module, ir::Op* op, const Combination& plan);
std::optional<Combination> CombinationOf(const ir::Op& op);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_COMBINE_UPDATES_H_
