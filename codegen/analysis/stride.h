// How far apart the neighbours along a dimension of a tile are, where that is the same for all of them: what an access by pointers touches.
//
//   Facts facts;
//   Strides strides(&facts);
//   strides.Of(pointers, 0)         // 8: neighbours along dimension 0 are 8 bytes apart; kAny: equally far apart; nullopt: it is not known
//
// A guide for choices that any answer leaves right: numbers are taken not to overflow, and a remainder rises as its dividend does. What must hold
// in every run is in facts.h. Not thread-safe; the program must not change meanwhile.
#ifndef TILE_CODEGEN_ANALYSIS_STRIDE_H_
#define TILE_CODEGEN_ANALYSIS_STRIDE_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "codegen/analysis/facts.h"
#include "ir/module.h"

namespace tile::codegen {

class Strides {
 public:
  using Stride = std::optional<int64_t>;
  static constexpr int64_t kAny = INT64_MAX;  // the same between all neighbours, but it is not known which

  explicit Strides(Facts* facts) : facts_(*facts) {}

  // The distance along dimension `dim` of a tile: a number of integers, bytes of pointers; 0: all elements are equal.
  Stride Of(const ir::Value* v, int dim) { return Find(v, dim, 0); }

 private:
  Stride Find(const ir::Value* v, int dim, int depth);
  Stride OfArgument(const ir::Value* v, int dim, int depth);
  Stride OfResult(const ir::Op& op, int dim, int depth);
  Stride OfReshape(const ir::Op& op, int dim, int depth);
  Stride OfProduct(const ir::Op& op, int dim, int depth);
  Stride OfQuotient(const ir::Op& op, int dim, int depth);
  Stride At(const ir::Op& op, int i, int dim, int depth) { return Find(op.operand(i), dim, depth + 1); }
  // What one and the same number in each element is; nullopt: it is not known, or there is none.
  std::optional<int64_t> Number(const ir::Value* v);

  Facts& facts_;
  absl::flat_hash_map<std::pair<const ir::Value*, int>, Stride> known_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_STRIDE_H_
