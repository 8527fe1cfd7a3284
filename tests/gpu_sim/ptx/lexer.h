// PTX text as tokens.
//
//   absl::StatusOr<std::vector<Token>> tokens = Tokenize("add.s32 %r1, %r2, -1; // comment");
//   // word "add.s32", word "%r1", punctuation ",", …
//
// A mnemonic with its suffixes is one word ("ld.global.v4.b32", "mbarrier.init.shared::cta.b64"), and so are directives (".reg"),
// registers, labels and symbols. Numbers keep their bits: 0f3F800000 is an f32, 0d3FF0000000000000 an f64.
#ifndef TILE_TESTS_GPU_SIM_PTX_LEXER_H_
#define TILE_TESTS_GPU_SIM_PTX_LEXER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tile::gpu_sim::ptx {

enum class TokenKind : uint8_t { kWord, kInteger, kFloat32, kFloat64, kString, kPunctuation, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  absl::string_view text;  // into the source
  uint64_t bits = 0;       // of numbers
  int line = 0;
};

absl::StatusOr<std::vector<Token>> Tokenize(absl::string_view source);

}  // namespace tile::gpu_sim::ptx

#endif  // TILE_TESTS_GPU_SIM_PTX_LEXER_H_
