// Tokens, which have no value here because a block runs in textual order; grid dependency; printing.
#include <vector>

#include "ir/op_views.h"
#include "ir/print_format.h"
#include "vm/machine/launch_state.h"
#include "vm/prepare/prepare.h"

namespace tile::vm {
namespace {

using ir::Op;
using ir::Value;

// For --check=full, which follows tokens.
const Instr* RunNothing(BlockState&, const Instr* in) { return in + 1; }

struct PrintArg {
  Slot at;
  ir::Type type;
};

struct PrintData {
  absl::string_view format;
  int n;
  const PrintArg* args;
};

const Instr* RunPrint(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const PrintData*>(in->data);
  std::vector<ir::PrintOperand> operands;
  for (int i = 0; i < d.n; ++i) {
    const PrintArg& arg = d.args[i];
    operands.push_back({arg.type.elem(), arg.type.shape(), static_cast<const uint8_t*>(b.at(arg.at))});
  }
  PrintText(b, ir::FormatPrint(d.format, operands));
  return in + 1;
}

void PrepareNothing(Preparer& p, const Op& op) { p.Emit(op, RunNothing, nullptr); }

}  // namespace

void PrepareMakeToken(Preparer& p, const Op& op) { PrepareNothing(p, op); }
void PrepareJoinTokens(Preparer& p, const Op& op) { PrepareNothing(p, op); }
void PrepareMemoryFenceAlias(Preparer& p, const Op& op) { PrepareNothing(p, op); }
// One launch at a time: there is no dependent kernel to let go and none to wait for.
void PrepareGdcLaunchDependents(Preparer& p, const Op& op) { PrepareNothing(p, op); }
void PrepareGdcWait(Preparer& p, const Op& op) { PrepareNothing(p, op); }

void PreparePrint(Preparer& p, const Op& op) {
  auto* d = p.New<PrintData>();
  d->format = ir::PrintOp(op).format();
  const ir::OperandRange values = ir::PrintOp(op).args();
  auto* args = p.NewArray<PrintArg>(values.size());
  for (size_t i = 0; i < values.size(); ++i) args[i] = {p.dense(values[i]), values[i]->type()};
  d->n = static_cast<int>(values.size());
  d->args = args;
  p.Emit(op, RunPrint, d);
}

}  // namespace tile::vm
