// The verifier. What it guarantees: an engine that runs a kernel of a verified module needs no further check of its
// structure, and cannot be made to crash by it. In particular
//
//   structure   every region has its block; every block ends in the terminator that its region wants, and only there;
//               block arguments and the values that terminators pass have the types that the operation says; operands
//               are defined before their use in this or an enclosing region; regions nest at most kMaxNesting deep
//   operations  belong to the table; number and types of operands and results, kinds of attributes and numbers of
//               enumerations are those of ops.def and formats.def; then the rules of each family (ir/verify/verify_<family>.cc)
//   types       legal by semantics 1 and 2; ranks at most kMaxRank
//   module      symbols unique; globals, kernel interfaces, launch rules and debug records refer to what exists
//
// What it does not guarantee, because only running tells: indices and addresses inside of their buffers, positive steps
// of loops, non-zero divisors, that promises hold, and termination. Checking `since` versions of Tile IR belongs to the importer.
//
// Every rule has a label, the diagnostic's code: `atomic_rmw_tko.c15`, `type.c1`, `interface.c3`. All errors are reported,
// but an operation with an error of a general rule is not judged by the rules of its family. Warnings say what has no
// effect: unknown hints, a padding value that the type lacks.
//
//   Diagnostics d;
//   Verify(module, &d);
//   if (!d.ok()) return d.ToStatus();
//
// Thread-safe: the module is only read.
#ifndef TILE_IR_VERIFY_VERIFY_H_
#define TILE_IR_VERIFY_VERIFY_H_

#include <string>
#include <vector>

#include "ir/diagnostic.h"
#include "ir/module.h"

namespace tile::ir {

void Verify(const Module& module, Diagnostics* diagnostics);

// A rule of verify_rules.def.
struct RuleInfo {
  const char* name;  // "FlushToZero"
  Severity severity;
  const char* applies;  // as in verify_rules.def
  int number;
  const char* text;

  // Label of the rule for this operation: "addf.c10".
  std::string CodeFor(const OpInfo& op) const;
  bool AppliesTo(const OpInfo& op) const;
  // Label of a rule that is not about operations ("type.c1"); empty for the others.
  std::string Code() const;
};

const std::vector<RuleInfo>& AllRules();
// The rules beyond the general ones (`*`) that hold for this operation, by number.
std::vector<const RuleInfo*> RulesOf(const OpInfo& op);

// What a set of the constraints column of ops.def holds: "FP" is "a tile of f16, bf16, f32 or f64". Null if there is no such
// set.
const char* SetText(absl::string_view set);

}  // namespace tile::ir

#endif  // TILE_IR_VERIFY_VERIFY_H_
