// Sums of numbers of several registers: what carries from one instruction to the next.
//
//   add.cc.u32 $0, $2, $4;  addc.u32 $1, $3, $5;        // of 64 bits
#include <algorithm>

#include "absl/strings/match.h"
#include "ir/ttir/ptx_instructions.h"

namespace tile::ir::ttir {
namespace {

Value* IsBelow(const PtxWork& w, Value* x, Value* y) {
  return ops::CmpI(w.b, ComparisonPredicate::kLessThan, x, y, Signedness::kUnsigned);
}

// x + y + carry, or x - y - carry.
PtxSum Sum(const PtxWork& w, Value* x, Value* y, Value* carry, bool minus) {
  const auto step = [&](Value* from, Value* by) -> PtxSum {
    if (minus) return {ops::Subi(w.b, from, by), IsBelow(w, from, by)};
    Value* sum = ops::Addi(w.b, from, by);
    return {sum, IsBelow(w, sum, by)};
  };
  const PtxSum first = step(x, y);
  if (carry == nullptr) return first;
  const PtxSum second = step(first.value, ops::Exti(w.b, x->type(), carry, Signedness::kUnsigned));
  return {second.value, ops::Ori(w.b, first.carry, second.carry)};
}

}  // namespace

bool HasPtxCarry(const std::vector<std::string>& words) {
  const std::string& name = words[0];
  if (name == "addc" || name == "subc" || name == "madc") return true;
  const bool may = name == "add" || name == "sub" || name == "mad";
  return may && std::find(words.begin(), words.end(), "cc") != words.end();
}

PtxSum MakePtxCarry(const PtxWork& w, Value* carry) {
  const std::string& name = w.words[0];
  const bool is_mad = absl::StartsWith(name, "mad"), reads = name.size() == 4, sets = w.has("cc");
  if (w.type.bits < 32 || w.type.pair || (w.type.kind != 's' && w.type.kind != 'u')) return {};
  if (w.x.size() != (is_mad ? 3u : 2u) || w.words.size() != 2u + (is_mad ? 1 : 0) + (sets ? 1 : 0)) return {};
  if (is_mad && w.words[1] != "lo" && w.words[1] != "hi") return {};
  if (reads && carry == nullptr) return {};
  Value *x = w.x[0], *y = w.x[1];
  if (is_mad) {
    const std::vector<std::string> multiply = {"mul", w.words[1], w.words.back()};
    x = MakePtx({w.b, multiply, w.type, {w.x[0], w.x[1]}});
    y = w.x[2];
  }
  PtxSum sum = Sum(w, x, y, reads ? carry : nullptr, absl::StartsWith(name, "sub"));
  if (!sets) sum.carry = nullptr;
  return sum;
}

}  // namespace tile::ir::ttir
