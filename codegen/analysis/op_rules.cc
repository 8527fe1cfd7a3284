#include "codegen/analysis/op_rules.h"

#include "codegen/gpu/ops.h"

namespace tile::codegen {
namespace {

// NOLINTNEXTLINE(google-build-using-namespace): the traits in the rows of ops.def
using namespace ir;

struct Row {
  int opcode;
  OpRule rule;
};
#define TILE_RULE_OF(layout, slice, divisor, line, range, registers)                              \
  OpRule {                                                                                        \
    LayoutRule::layout, SliceRule::slice, DivisorRule::divisor, LineRule::line, RangeRule::range, \
        RegisterRule::registers                                                                   \
  }
constexpr Row kRows[] = {
#define TILE_OP_RULE(Name, ...) {static_cast<int>(Opcode::k##Name), TILE_RULE_OF(__VA_ARGS__)},
#define TILE_GPU_OP_RULE(Name, ...) {static_cast<int>(GpuOpcode::k##Name), TILE_RULE_OF(__VA_ARGS__)},
#include "codegen/analysis/op_rules.def"
};
constexpr OpRule kOfElementwise = TILE_RULE_OF(kSame, kSame, kUnknown, kElementwise, kUnknown, kOwn);

constexpr int CountRows(int opcode) {
  int n = 0;
  for (const Row& row : kRows) n += row.opcode == opcode;
  return n;
}

template <int kOpcode, uint16_t kTraits>
constexpr OpRule Rule() {
  static_assert(CountRows(kOpcode) == 1 || (CountRows(kOpcode) == 0 && (kTraits & kElementwise) == kElementwise),
                "an operation needs exactly one row in op_rules.def, an elementwise one at most one");
  for (const Row& row : kRows) {
    if (row.opcode == kOpcode) return row.rule;
  }
  return kOfElementwise;
}

// By OpInfo::index.
constexpr OpRule kRules[] = {
#define TILE_OP(number, Name, mnemonic, Format, Family, since, traits, constraints) \
  Rule<static_cast<int>(Opcode::k##Name), traits>(),
#include "ir/ops.def"
};
constexpr OpRule kGpuRules[] = {
#define TILE_GPU_OP(number, Name, mnemonic, Format, Family, traits, constraints) \
  Rule<static_cast<int>(GpuOpcode::k##Name), traits>(),
#include "codegen/gpu/ops.def"
};

}  // namespace

const OpRule& RuleOf(const ir::Op& op) {
  const auto i = static_cast<size_t>(op.info()->index);
  return IsGpuOp(*op.info()) ? kGpuRules[i] : kRules[i];
}

}  // namespace tile::codegen
