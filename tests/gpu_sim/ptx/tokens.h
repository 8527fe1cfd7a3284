// What the parsers of modules and of bodies share: a position in the tokens, and what both can read.
#ifndef TILE_TESTS_GPU_SIM_PTX_TOKENS_H_
#define TILE_TESTS_GPU_SIM_PTX_TOKENS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tests/gpu_sim/ptx/lexer.h"
#include "tests/gpu_sim/ptx/syntax.h"

namespace tile::gpu_sim::ptx {

class Tokens {
 public:
  explicit Tokens(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& Peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& Next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool Is(absl::string_view text) const { return Peek().text == text && Peek().kind != TokenKind::kString; }
  bool Take(absl::string_view text) {
    if (!Is(text)) return false;
    Next();
    return true;
  }
  bool AtEnd() const { return Peek().kind == TokenKind::kEnd; }
  void SkipLine() {
    for (const int line = Peek().line; !AtEnd() && Peek().line == line;) Next();
  }

  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("line ", Peek().line, ": ", what, " at `", Peek().text, "`"));
  }
  absl::Status Expect(absl::string_view text) {
    return Take(text) ? absl::OkStatus() : Error(absl::StrCat("`", text, "` is expected"));
  }
  absl::Status ExpectWord(absl::string_view* word) {
    if (Peek().kind != TokenKind::kWord) return Error("a name is expected");
    *word = Next().text;
    return absl::OkStatus();
  }
  absl::Status ExpectInteger(uint64_t* value) {
    if (Peek().kind != TokenKind::kInteger) return Error("a number is expected");
    *value = Next().bits;
    return absl::OkStatus();
  }

 private:
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

// Bits of ".b32", ".f64", ".pred" (1); 0 for what is no type.
int BitsOfType(absl::string_view type);

// ".align 4 .b8 name[16] = {1, 2}" after the space; `;` is left.
absl::Status ParseVariable(Tokens& tokens, Variable* variable);

// The body of a kernel or device function from `{` to `}`. Parameters and results of a function, and the variables in which a call
// passes its own, get names that nothing else in the module has. A call is followed by a `received` with the same operands, where its
// results are fetched.
absl::Status ParseBody(Tokens& tokens, Module* module, Kernel* kernel, bool is_function);

}  // namespace tile::gpu_sim::ptx

#endif  // TILE_TESTS_GPU_SIM_PTX_TOKENS_H_
