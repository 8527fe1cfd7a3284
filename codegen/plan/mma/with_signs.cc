#include "codegen/plan/mma/with_signs.h"

#include "ir/op_views.h"

namespace tile::codegen {

std::string WithSigns(const ir::Op& op, const char* types, bool swapped) {
  std::string out;
  int operand = swapped ? 1 : 0;
  for (const char* c = types; *c != 0; ++c) {
    if (*c != '%') {
      out += *c;
      continue;
    }
    const ir::MmaIOp product(op);
    const ir::Signedness sign = operand == 0 ? product.signedness_lhs() : product.signedness_rhs();
    operand = 1 - operand;
    out += sign == ir::Signedness::kSigned ? 's' : 'u';
  }
  return out;
}

}  // namespace tile::codegen
