// Readable, unique names for the values of a function: %arg0, %cst_1_i32, %tile, %token_2, %for#1, %7. They follow from
// the program alone, so that a file that keeps no names gives the same text. With `keep` the names that the text of a
// program gave (Value::name) come first.
//
// A value is called after its result field (%tile, %token), or, if that is just "result", after the mnemonic
// (%reshape); results of elementwise operations are numbers. Operations with a `...` result field name their results
// together: %for:3, used as %for#0. Not thread-safe; the function must outlive the object unchanged.
#ifndef TILE_IR_TEXT_NAMES_H_
#define TILE_IR_TEXT_NAMES_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/module.h"

namespace tile::ir::text {

class Names {
 public:
  explicit Names(bool keep) : keep_(keep) {}

  void AddBlock(Block* body);  // arguments and everything inside
  void AddOp(Op* op);          // one op without its regions

  // "%tile", or "%?" for a value that was not added.
  std::string Of(const Value* v) const;
  // What stands before the equals sign: "%tile, %token", "%for:3"; empty without results.
  std::string Results(const Op& op) const;

 private:
  void Name(const Value* v, const std::string& base);
  void AddArguments(Block* block);
  std::string Unique(const std::string& base);

  bool keep_;
  int next_number_ = 0;
  absl::flat_hash_map<const Value*, std::string> names_;  // without %
  absl::flat_hash_set<std::string> taken_;
  absl::flat_hash_map<std::string, int> next_suffix_;
};

}  // namespace tile::ir::text

#endif  // TILE_IR_TEXT_NAMES_H_
