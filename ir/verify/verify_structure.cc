// Structure of a body: regions, their arguments and ends, and where values may be used. One walk in textual order: what
// has been walked and stands in a block that is still open may be used.

#include <algorithm>

#include "ir/limits.h"
#include "ir/loops.h"
#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {
namespace {

bool IsReduction(const Op& op) { return op.info()->family == Family::kReduce; }

class Walk {
 public:
  Walk(Verifier& verifier, const Function& function) : verifier_(verifier), function_(function) {}

  void Body() {
    const Block* body = function_.body();
    if (body == nullptr || body->parent() != nullptr) {
      return FailEntry("the body belongs to another operation");
    }
    VisitBlock(*body, Surroundings());
    const Op* end = body->terminator();
    if (end == nullptr && !Short(*body)) FailEntry("the body does not end in return");
  }

 private:
  // An operation of the block could not be read, perhaps its last.
  bool Short(const Block& block) const {
    return verifier_.reading() != nullptr && verifier_.reading()->short_blocks.contains(&block);
  }

  // False for an operation with an error, or one that uses the result of such a one.
  bool Known(const Op& op) const {
    if (verifier_.reading() == nullptr) return true;
    bool known = !verifier_.reading()->short_ops.contains(&op);
    for (int i = 0; i < op.num_operands(); ++i) known &= op.operand(i) == nullptr || op.operand(i)->type();
    for (int i = 0; i < op.num_results(); ++i) known &= static_cast<bool>(op.result(i)->type());
    return known;
  }

  void FailEntry(absl::string_view message) {
    const Reading::Entry* places = verifier_.PlacesOf(function_);
    const bool end = places != nullptr && places->end.line != 0;
    verifier_.Report(Rule::kEntryBody, nullptr, function_.loc, end ? places->end : function_.pos,
                     absl::StrCat("entry @", function_.name), message, "end the body with return");
  }

  void VisitBlock(const Block& block, const Surroundings& around) {
    open_.push_back(&block);
    for (const Op* op = block.front(); op != nullptr && !verifier_.full(); op = op->next()) VisitOp(*op, around);
    open_.pop_back();
  }

  void VisitOp(const Op& op, const Surroundings& around) {
    if (!IsTileOp(op.info()) || !walked_.Insert(&op)) {
      verifier_.Report(Rule::kForeignOp, nullptr, op.loc, op.pos, op.info()->mnemonic,
                       "does not belong to the tile level of this module", "");
      return;
    }
    OpCheck c(verifier_, op, around);
    const bool known = Known(op);
    if (verifier_.reading() == nullptr || !verifier_.reading()->lacks_debug) verifier_.CheckDebugOp(op, function_);
    if (!known) {
      c.failed = true;
      misshapen_.Insert(&op);
    } else if (OperandsVisible(c) && CheckAgainstTable(c)) {
      if (const OpVerifier rules = RulesFor(*op.info())) rules(c);
      if (around.inside_reduction) CheckReductionBody(c);
    } else {
      misshapen_.Insert(&op);
    }
    if (op.info()->has(kTerminator)) CheckTerminator(c);
    for (int r = 0; r < op.num_regions(); ++r) {
      if (known || op.region(r) != nullptr) VisitRegion(c, r);
    }
  }

  bool OperandsVisible(OpCheck& c) {
    bool ok = true;
    for (int i = 0; i < c.op.num_operands(); ++i) {
      const Value* v = c.op.operand(i);
      if (v == nullptr) {
        c.Fail(Rule::kOperandCount, absl::StrCat("operand ", i, " is missing"));
        ok = false;
      } else if (!Visible(*v)) {
        c.Fail(Rule::kVisible,
               absl::StrCat("operand ", i, v->name.empty() ? "" : absl::StrCat(", %", v->name, ","),
                            " is not defined before this place, or in a region that has ended"),
               "define it earlier, or return it from its region");
        ok = false;
      }
    }
    return ok;
  }

  bool Visible(const Value& v) const {
    const Block* home = v.def() != nullptr ? v.def()->block() : v.block();
    if (std::find(open_.rbegin(), open_.rend(), home) == open_.rend()) return false;
    return v.def() == nullptr || walked_.Contains(v.def());
  }

  // --- regions ------------------------------------------------------------------------------------------------------

  void VisitRegion(OpCheck& c, int r) {
    const Op& op = c.op;
    const Block* block = op.region(r);
    const std::string& name = op.info()->format->regions[r];
    if (block == nullptr) {
      if (IfOp::Is(&op) && r == 1) {
        if (op.num_results() != 0) c.Fail(Rule::kRegion, "has results but no else", "yield them in an else region");
        return;
      }
      return c.Fail(Rule::kRegion, absl::StrCat("the region ", name, " has no block"));
    }
    if (block->parent() != &op || block->region_index() != r) {
      return c.Fail(Rule::kRegion, absl::StrCat("the block of ", name, " belongs to another place"));
    }
    if (c.around.depth >= kMaxNesting) {
      return verifier_.Report(Rule::kNesting, nullptr, op.loc, op.pos, op.info()->mnemonic,
                              absl::StrCat("stands more than ", kMaxNesting, " regions deep"), "");
    }
    if (!c.failed) CheckArguments(c, *block);
    Surroundings inner = c.around;
    inner.parent = &op;
    ++inner.depth;
    if (IsLoop(&op)) inner.loop = &op;
    if (ForOp::Is(&op)) inner.inside_for = true;
    if (IsReduction(op)) {
      inner.loop = nullptr;
      inner.inside_reduction = true;
    }
    VisitBlock(*block, inner);
    if (block->terminator() == nullptr && !Short(*block)) {
      c.Fail(Rule::kTerminator, absl::StrCat("the region ", name, " does not end in a terminator"),
             IsLoop(&op) ? "end it with continue" : "end it with yield");
    }
  }

  // for: the induction variable and the carried values; loop: the carried values; reduce and scan: element and
  // accumulator of each operand; if: none.
  void CheckArguments(OpCheck& c, const Block& block) {
    const Op& op = c.op;
    const bool reduction = IsReduction(op);
    // The lower bound gives the induction variable its type; the other bounds are no arguments.
    const int skip = IsLoop(&op) ? CarryingLoop(op).init_at(0) - CarryingLoop(op).first_arg() : 0;
    const int expected = IfOp::Is(&op) ? 0 : reduction ? 2 * op.num_operands() : op.num_operands() - skip;
    if (block.num_args() != expected) {
      return c.Fail(Rule::kRegion, absl::StrCat("the region has ", block.num_args(), " arguments, needs ", expected));
    }
    for (int i = 0; i < expected; ++i) {
      const Type t = block.arg(i)->type();
      if (!verifier_.CheckType(t, &op, nullptr)) return;
      const Type like = op.operand(reduction ? i / 2 : i == 0 ? 0 : i + skip)->type();
      if (reduction ? t.is_scalar() && t.element() == like.element() : t == like) continue;
      return c.Fail(Rule::kRegion,
                    absl::StrCat("argument ", i, " of the region is ", t.ToString(), ", must be ",
                                 reduction ? absl::StrCat("tile<", ToString(like.element()), ">") : like.ToString()),
                    reduction ? "arguments are scalars: element, accumulator, per operand" : "");
    }
  }

  // --- terminators --------------------------------------------------------------------------------------------------

  void CheckTerminator(OpCheck& c) {
    const Op& op = c.op;
    const Surroundings& a = c.around;
    const auto wrong = [&](absl::string_view message, absl::string_view fix) {
      c.Fail(Rule::kTerminator, message, fix);
    };
    if (op.next() != nullptr) return wrong("stands before the end of its block", "remove what follows");
    if (YieldOp::Is(&op)) {
      if (!IfOp::Is(a.parent) && !FoldOp::Is(a.parent)) {
        return wrong("ends a region of if, reduce or scan only",
                     a.parent == nullptr ? "end the entry with return" : "end the loop's body with continue");
      }
      return CheckPassed(c, *a.parent, /*results=*/true);
    }
    if (ContinueOp::Is(&op)) {
      if (a.loop == nullptr) return wrong("stands in no loop", "use yield or return");
      return CheckPassed(c, *a.loop, /*results=*/false);
    }
    if (BreakOp::Is(&op)) {
      if (!LoopOp::Is(a.loop))
        return wrong("leaves a loop only, with nothing but ifs between", "a for has no break: use loop");
      return CheckPassed(c, *a.loop, /*results=*/true);
    }
    if (a.inside_for) return wrong("cannot leave a for", "use loop, or a condition");
    if (a.inside_reduction) return wrong("cannot leave a reduction", "yield the accumulator");
    if (verifier_.LeftOut(function_)) return;
    c.Require(op.num_operands() == 0, Rule::kPassed, [] { return "an entry has no results"; });
  }

  // Values handed to `to`: its results, or its carried values.
  void CheckPassed(OpCheck& c, const Op& to, bool results) {
    const Op& op = c.op;
    if (misshapen_.Contains(&to)) return;
    const bool reduction = IsReduction(to);
    const int first = results ? 0 : CarryingLoop(to).init_at(0);
    const int expected = results ? to.num_results() : CarryingLoop(to).num_carried();
    if (op.num_operands() != expected) {
      return c.Fail(Rule::kPassed, absl::StrCat("passes ", op.num_operands(), " values, ", to.info()->mnemonic,
                                                " expects ", expected));
    }
    for (int i = 0; i < expected; ++i) {
      const Value* v = op.operand(i);
      const Value* slot = results ? to.result(i) : to.operand(first + i);
      if (v == nullptr || !v->type() || slot == nullptr || !slot->type()) return;  // reported elsewhere
      const Type t = v->type(), like = slot->type();
      if (reduction ? t.is_scalar() && t.element() == like.element() : t == like) continue;
      return c.Fail(Rule::kPassed,
                    absl::StrCat("value ", i, " is ", t.ToString(), ", ", to.info()->mnemonic, " expects ",
                                 reduction ? absl::StrCat("tile<", ToString(like.element()), ">") : like.ToString()));
    }
  }

  // Engines run the body of a reduction once per element, in any grouping.
  void CheckReductionBody(OpCheck& c) {
    const Op& op = c.op;
    const auto fail = [&](const std::string& message, absl::string_view fix) {
      c.failed = true;
      verifier_.Report(Rule::kReduceBody, c.around.parent, op.loc, op.pos, op.info()->mnemonic, message, fix);
    };
    if (!IsReduction(*c.around.parent)) return;  // inside of a region op, which is an error already
    if (op.info()->has(kTerminator)) return;
    if (!op.info()->has(kPure) || op.num_regions() != 0) {
      return fail(absl::StrCat("cannot stand in the body of ", c.around.parent->info()->mnemonic),
                  "use pure operations such as select");
    }
    for (int i = 0; i < op.num_operands() + op.num_results(); ++i) {
      const Value* v = i < op.num_operands() ? op.operand(i) : op.result(i - op.num_operands());
      if (v->type().is_scalar()) continue;
      return fail(absl::StrCat("uses ", v->type().ToString(), " in the body of ", c.around.parent->info()->mnemonic),
                  "values in the body are tiles of rank 0");
    }
  }

  Verifier& verifier_;
  const Function& function_;
  std::vector<const Block*> open_;
  PointerSet walked_, misshapen_;
};

}  // namespace

void CheckBody(Verifier& verifier, const Function& function) { Walk(verifier, function).Body(); }

}  // namespace tile::ir::verify
