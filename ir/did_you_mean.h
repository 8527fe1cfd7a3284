// Help with a misspelled word.
//
//   DidYouMean("adf", {"addf", "subf"})   // "did you mean addf?"
//
// Pure and thread-safe; linear in the candidates.
#ifndef TILE_IR_DID_YOU_MEAN_H_
#define TILE_IR_DID_YOU_MEAN_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tile::ir {

// For the candidate that differs least from the word; empty if none is near it.
std::string DidYouMean(absl::string_view word, const std::vector<absl::string_view>& candidates);

}  // namespace tile::ir

#endif  // TILE_IR_DID_YOU_MEAN_H_
