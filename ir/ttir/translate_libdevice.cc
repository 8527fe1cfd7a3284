// Calls of functions by name: libdevice's (libdevice.h).

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ir/ttir/libdevice.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {

Value* MakeLibdevice(Builder& b, absl::string_view symbol, absl::Span<Value* const> x, Type result) {
  const auto numbers = [](Type t) { return t.is_tile() && !t.element().is_pointer(); };
  if (!absl::ConsumePrefix(&symbol, "__nv_") || x.empty() || !numbers(result)) return nullptr;
  bool alike = true;
  for (const Value* v : x) {
    if (!numbers(v->type()) || v->type().shape() != result.shape()) return nullptr;
    alike &= v->type() == x[0]->type();
  }
  const Elem e = x[0]->type().elem();
  Value* made = nullptr;
  if (alike && (e == Elem::kF32 || e == Elem::kF64)) made = MakeFloatFunction(b, symbol, x, result);
  if (made == nullptr && x.size() == 1) made = MakeConversion(b, symbol, x[0], result);
  return made != nullptr ? made : MakeIntegerFunction(b, symbol, x, result);
}

bool Translator::Extern(const Node& n, const OpRow&) {
  const absl::string_view symbol = n.word("symbol");
  Type t;
  if (!Output(n, &t)) return false;
  std::vector<Value*> operands;
  for (const Val& v : in_) {
    if (!v.is_tile()) return WrongType(n, "takes tiles of numbers");
    operands.push_back(v.tile());
  }
  Value* result = MakeLibdevice(b_, symbol, operands, t);
  if (result != nullptr) return Define(n, result);
  return Unsupported(n, absl::StrCat("calls ", symbol, ", which has no equal here"),
                     "use a function of tl, or one of Triton's libdevice with operands of its types");
}

}  // namespace tile::ir::ttir
