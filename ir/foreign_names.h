// What other systems call operations, elements and functions of launch rules, and what to write here: the rows of foreign_names.def as
// answers to a word that is not known.
//
//   OpAdvice("relu")        // "write maxf %x, 0.0"
//   OpAdvice("load_vew")    // "did you mean load_view_tko?"
//   OpAdvice("tensor")      // "did you mean get_tensor_shape or make_tensor_view?"
//   ElementAdvice("float")  // "did you mean f32?"
//
// Each is empty if nothing is near. Pure functions of the tables; thread-safe.
#ifndef TILE_IR_FOREIGN_NAMES_H_
#define TILE_IR_FOREIGN_NAMES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tile::ir {

struct ForeignName {
  // Operations, elements, functions of launch rules; names and named arguments of tilevm.script that are no operation's.
  enum class Kind { kOp, kElement, kFunction, kScript, kArgument };
  Kind kind;
  absl::string_view names;   // separated by spaces
  absl::string_view own;     // mnemonic or spelling; empty if there is none
  absl::string_view form;    // what to write in text
  absl::string_view script;  // and in tilevm.script; empty if that has no word for it
};

absl::Span<const ForeignName> AllForeignNames();
// Null if no row has the word, in any case; of `math.exp` what stands behind the dialect counts.
const ForeignName* FindForeignName(ForeignName::Kind kind, absl::string_view word);

std::string OpAdvice(absl::string_view word);
std::string ElementAdvice(absl::string_view word);
std::string FunctionAdvice(absl::string_view word);

// The operations whose names contain the word, of three letters or more: `load` is in load_view_tko.
std::vector<absl::string_view> OpsNamedLike(absl::string_view word);

}  // namespace tile::ir

#endif  // TILE_IR_FOREIGN_NAMES_H_
