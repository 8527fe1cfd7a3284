// Which fact an access through pointers lacks, for remarks: where neighbours are lost, or why a mask may differ among them.
//
//   MissingFact m = WhyNotNeighbours(facts, pointers);
//   // m.op: the muli; m.what: "their distance along dimension 0 is not known behind muli"
#ifndef TILE_CODEGEN_ANALYSIS_MISSING_FACT_H_
#define TILE_CODEGEN_ANALYSIS_MISSING_FACT_H_

#include <cstdint>
#include <string>

#include "codegen/analysis/facts.h"

namespace tile::codegen {

struct MissingFact {
  std::string what;
  const ir::Op* op = nullptr;  // where; null: nowhere in particular
};

// Of a tile of rank 1 and more.
MissingFact WhyNotNeighbours(Facts* facts, const ir::Value* pointers);

// Why a mask is not known to be equal for `n` neighbours along the dimension.
MissingFact WhyNotEqual(Facts* facts, const ir::Value* mask, int dim, uint64_t n);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_MISSING_FACT_H_
