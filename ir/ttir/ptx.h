// The statements of a piece of PTX, as inline assembly has it. Only their form is read: what an instruction means, and whether
// it can be had, says translate_asm.cc.
//
//   std::vector<PtxLine> lines;
//   std::string wrong;
//   ParsePtx("{ .reg .pred p; setp.gt.f32 p, $1, 20.; @!p mul.f32 $0, $1, 2.0; }", &lines, &wrong);
//   lines[1].words == {"setp", "gt", "f32"}; lines[1].operands == {"p", "$1", "20."}; lines[2].guard == "p", .unless
//
// A scope's registers are taken for the text's: a name that is declared again is another register from there on.
#ifndef TILE_IR_TTIR_PTX_H_
#define TILE_IR_TTIR_PTX_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tile::ir::ttir {

struct PtxLine {
  std::string guard;  // the predicate; empty: none
  bool unless = false;
  std::vector<std::string> words;     // of the instruction, or of a declaration: "reg", "b32"
  std::vector<std::string> operands;  // as written; `{a, b}` is one, `p|q` is one; of a declaration the names
};

// False if it is no PTX; `wrong` says what is not understood.
bool ParsePtx(absl::string_view text, std::vector<PtxLine>* lines, std::string* wrong);

// The number that a literal stands for: 12, -3, 0x1F, 0b101 as they are, 1.5 and 0f3F800000 as a float. False if it is none.
struct PtxNumber {
  bool is_float = false;
  int64_t integer = 0;
  double real = 0;
};
bool ParsePtxNumber(absl::string_view text, PtxNumber* out);

}  // namespace tile::ir::ttir

#endif  // TILE_IR_TTIR_PTX_H_
