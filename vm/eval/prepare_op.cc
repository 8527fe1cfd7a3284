#include "vm/eval/prepare_op.h"

#include <type_traits>

namespace tile::vm {
namespace {

template <int traits>
constexpr bool kIsElementwise = (traits & ir::kElementwiseBit) != 0;

}  // namespace

void PrepareOp(Preparer& p, const ir::Op& op) {
  using namespace ir;  // traits
  // Elementwise operations need no function of their own: the discarded branch never names it.
  static constexpr PrepareFn kFunctions[] = {
#define TILE_OP(number, Name, mnemonic, Format, Family, since, traits, constraints) \
  [](auto t) constexpr->PrepareFn {                                                 \
    if constexpr (kIsElementwise<decltype(t)::value>) {                             \
      return &PrepareElementwise;                                                   \
    } else {                                                                        \
      return &Prepare##Name;                                                        \
    }                                                                               \
  }                                                                                 \
  (std::integral_constant<int, (traits)>()),
#include "ir/ops.def"
  };
  kFunctions[op.info()->index](p, op);
}

}  // namespace tile::vm
