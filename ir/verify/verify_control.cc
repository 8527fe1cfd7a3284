// if and for (semantics 9.3). Regions and terminators are judged in verify_structure.cc.

#include "ir/op_views.h"
#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {
namespace {

bool IsAnyView(Type t) { return t.is_tensor_view() || t.is_view(); }

void CheckIf(OpCheck& c) {
  for (int i = 0; i < c.op.num_results(); ++i) {
    const Type t = c.op.result(i)->type();
    c.Require(
        !IsAnyView(t), Rule::kNoViews, [&] { return absl::StrCat("result ", i, " is ", t.ToString()); },
        "yield what the view is made of");
  }
}

void CheckFor(OpCheck& c) {
  const OperandRange inits = ForOp(c.op).init_values();
  const int carried = static_cast<int>(inits.size());
  if (!c.Require(c.op.num_results() == carried, Rule::kCarried, [&] {
        return absl::StrCat("has ", c.op.num_results(), " results for ", carried, " carried values");
      })) {
    return;
  }
  for (int i = 0; i < carried; ++i) {
    const Type init = inits[static_cast<size_t>(i)]->type(), t = c.op.result(i)->type();
    c.Require(
        !IsAnyView(init), Rule::kNoViews, [&] { return absl::StrCat("carried value ", i, " is ", init.ToString()); },
        "carry what the view is made of");
    c.Require(init == t, Rule::kCarried, [&] {
      return absl::StrCat("result ", i, " is ", t.ToString(), ", its initial value ", init.ToString());
    });
  }
}

}  // namespace

absl::Span<const OpRules> ControlRules() {
  static constexpr OpRules kRules[] = {{Opcode::kIf, CheckIf}, {Opcode::kFor, CheckFor}};
  return kRules;
}

}  // namespace tile::ir::verify
