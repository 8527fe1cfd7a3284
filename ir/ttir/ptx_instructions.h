// What the instructions of inline PTX compute, on registers that are tiles of rank 1.
//
//   PtxType t = PtxTypeOf("f16x2");
//   Value* v = MakePtx({b, {"fma", "rn", "f16"}, t, {x, y, z}});     // null: not with these words, types or operands
//
// A row of the table in ptx_instructions.cc says for each instruction which words it may have: one that is not there is refused, as it
// may mean something else. `cvt` is in ptx_convert.cc and ptx_pairs.cc; what reads and writes registers, in translate_asm.cc.
#ifndef TILE_IR_TTIR_PTX_INSTRUCTIONS_H_
#define TILE_IR_TTIR_PTX_INSTRUCTIONS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "ir/ops.h"

namespace tile::ir::ttir {

// The type of an instruction: `f32`, `u16`, `b64`, `pred`, `f16x2`, `e4m3x2`.
struct PtxType {
  char kind = 0;                   // f, s, u, b, p; m: floats of 8, 6 or 4 bits, which only cvt knows; 0: unknown
  int bits = 0;                    // that it takes in a register: 8 of 6
  Elem elem = Elem::kI32;          // of a float; else the integer of as many bits
  bool pair = false;               // two of them in a register
  int exponent = 0, mantissa = 0;  // their bits in a float without infinity and NaN; else 0
};
PtxType PtxTypeOf(absl::string_view word);
Elem PtxIntOf(int bits);

// One instruction at work: its words, its type and its operands, read as that type.
struct PtxWork {
  Builder& b;
  const std::vector<std::string>& words;
  PtxType type;
  std::vector<Value*> x;

  bool has(absl::string_view word) const {
    for (size_t i = 1; i < words.size(); ++i) {
      if (words[i] == word) return true;
    }
    return false;
  }
  // Whether all words between the first one and the types, of which there are so many at the end, are among `known` (separated by spaces).
  bool has_only(absl::string_view known, size_t types) const;
  bool is_float() const { return type.kind == 'f'; }
  bool ftz() const { return has("ftz") && type.elem == Elem::kF32; }
  Signedness sign() const { return type.kind == 's' ? Signedness::kSigned : Signedness::kUnsigned; }
  Rounding rounding() const {
    return has("rz")   ? Rounding::kZero
           : has("rm") ? Rounding::kNegativeInf
           : has("rp") ? Rounding::kPositiveInf
                       : Rounding::kNearestEven;
  }
  Type TileOf(Elem e) const { return b.types().Tile(Element::Number(e), x[0]->type().shape()); }
  Value* Int(int64_t v) const { return ops::Integer(b, x[0]->type(), v); }
  Value* Wide(Value* v) const { return ops::Exti(b, TileOf(PtxIntOf(2 * type.bits)), v, sign()); }
};

// Any but mov, setp, set, selp, slct, lop3, prmt and cvt. A pair is given as one of its halves.
Value* MakePtx(const PtxWork& w);

// add.cc, addc, sub.cc, subc, mad.cc, madc of integers: those that set the carry or add it.
bool HasPtxCarry(const std::vector<std::string>& words);
struct PtxSum {
  Value* value = nullptr;  // null: not with these words, types or operands
  Value* carry = nullptr;  // of i1; of a difference, the borrow. Null: it is not set
};
// `carry` is what the instruction before has set; null if none has.
PtxSum MakePtxCarry(const PtxWork& w, Value* carry);

// Video instructions (vadd, vabsdiff4, …): operands are registers of 32 bits, without the parts that PtxSelector finds.
bool IsPtxVideo(absl::string_view name);
std::string PtxSelector(absl::string_view operand);  // "b0" of "$1.b0"; "": all of it
Value* MakePtxVideo(const PtxWork& w, absl::string_view x_part, absl::string_view y_part);
std::string PtxVideoForms(absl::string_view name);

// What it may be: "min takes 2 operands, floats or …, with .ftz .NaN; min takes 3 …". Empty: no instruction of the table.
std::string PtxForms(absl::string_view name);

// An operand of an instruction with .ftz: subnormal numbers are zero.
Value* PtxFlushed(const PtxWork& w, Value* v);

// The function of three bits that the table says.
Value* MakeLop3(const PtxWork& w, uint64_t table);
// Four bytes out of eight: which, say the digits of the last operand, in one of the modes that words[2] may name.
Value* MakePrmt(const PtxWork& w, Value* selector, const int64_t* constant);

// cvt with .relu: not below 0, NaN stays. With .satfinite: what is above the largest number of a type, infinities too, becomes that
// number; NaN stays.
Value* PtxRelu(const PtxWork& w, Value* v);
Value* PtxClamped(const PtxWork& w, Value* v, Elem to);
// cvt to a pair.
Value* MakePtxPair(const PtxWork& w, const PtxType& from);
std::string PtxPairForms();

// cvt of `from`, or of the first and second operand as the high and low half of a pair (b32, b16; b8 of 4-bit floats).
Value* MakeConvert(const PtxWork& w, const PtxType& from);

}  // namespace tile::ir::ttir

#endif  // TILE_IR_TTIR_PTX_INSTRUCTIONS_H_
