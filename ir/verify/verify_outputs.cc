// An output of the interface that no operation of the kernel could write to: the store was forgotten.
//
// Follows the pointer from the parameter through everything that is made of it. What cannot be followed, as a pointer that a loop
// carries, counts as written.

#include <vector>

#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {
namespace {

// Whether the operation may write to what the operand points to, or hands it on in a way that is not followed.
bool MayWrite(const Op& op) {
  const OpInfo* info = op.info();
  return info == nullptr || info->has(kWrites) || info->has(kRegions) || info->has(kTerminator);
}

bool MayBeWritten(const Value* pointer) {
  std::vector<const Value*> todo = {pointer};
  PointerSet seen;
  while (!todo.empty()) {
    const Value* v = todo.back();
    todo.pop_back();
    for (const Use* use = v->uses(); use != nullptr; use = use->next) {
      if (MayWrite(*use->owner)) return true;
      if (!seen.Insert(use->owner)) continue;
      for (int i = 0; i < use->owner->num_results(); ++i) todo.push_back(use->owner->result(i));
    }
  }
  return false;
}

}  // namespace

void Verifier::CheckOutputs(const Function& function) {
  if (function.interface == nullptr) return;
  const Reading::Entry* places = PlacesOf(function);
  for (size_t a = 0; a < function.interface->arrays.size(); ++a) {
    const ArrayArg& array = function.interface->arrays[a];
    if (array.direction != Direction::kOut || array.init != InitKind::kUndefined || array.pointer_param < 0 ||
        array.pointer_param >= function.num_params() || MayBeWritten(function.param(array.pointer_param))) {
      continue;
    }
    Report(Rule::kOutputWritten, nullptr, function.loc, places != nullptr ? places->arrays[a] : function.pos,
           absl::StrCat("interface of @", function.name),
           absl::StrCat("the kernel never stores to the output ", array.name),
           "store to it, give it an initial value (init zero), or leave it out");
  }
}

}  // namespace tile::ir::verify
