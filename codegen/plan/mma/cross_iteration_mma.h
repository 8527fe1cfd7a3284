// Products that are done an iteration late: they run while the warp goes on, so the tensor cores multiply for one iteration while the
// warp works on rows of the next. Attention: weights times values run under the exponentials of the next keys.
//
//   for %i … (%acc) {                             for %i … (%sums, of the iteration before: %weight) {
//     %s = mmaf %query, %key, %zero                 begin %s = mmaf %query, %key, %zero
//                                                   begin %acc = mmaf %weight, %value of before, %sums     (not in the first one)
//     %weight = … rows of %s …                      wait for %s;  %weight = … rows of %s …
//     %less = mulf %acc, …                          wait for %acc;  %sums = mulf %acc, …
//     %next = mmaf %weight, %value, %less         }
//     continue %next                              %acc = mmaf %weight, %value, %sums
//   }
//
// The program stays as it is: what goes around is only held in another form. The product beside which they begin, the leader, is the
// first one of the loop, or the last of those that go on with its sums. A late product keeps what it reads an iteration longer. Of two stages
// that is half of what there is, so its operands come apart from the others then: each half has barriers of its own, and that of the late
// products is filled an iteration later.
//
//   stages of all, three:                          of two, apart:
//     in iteration i, beside the leader, all of      the others of iteration i + 1 come to where those of i - 1 lay, values of i to where
//     iteration i + 1 comes to where i - 2 lay       those of i - 2 lay
//
// Decided once, by passes/mma/defer_products.h (Decision::kCrossIteration). Pure functions.
#ifndef TILE_CODEGEN_PLAN_MMA_CROSS_ITERATION_MMA_H_
#define TILE_CODEGEN_PLAN_MMA_CROSS_ITERATION_MMA_H_

#include <string>
#include <vector>

#include "codegen/plan/schedule.h"
#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

// It could be late, if all products of its loop are asynchronous and TMA brings their right operands: before anything is decided.
bool MayBeLate(const ir::Op& mma);
// Why an asynchronous product of what TMA copies ahead can't be late; "" if it can. With layouts.
std::string WhyNotLate(const ir::Op& mma);
// Why it should not, if it can; "" if it should.
std::string WhyBetterNotLate(const Schedule& schedule, const ir::Op& mma);
// A product of what the copy_ahead brings could, and should.
bool WouldHaveLate(const Schedule& schedule, const ir::Op& copy);

// Whether two warpgroups should take turns: one begins its products when the other has begun its own, so that one works on rows while the tensor
// cores multiply for the other. Else both begin at once, wait at once, and leave the tensor cores idle at once.
bool ShouldTakeTurns(const Target& target, const Schedule& schedule, const ir::Op& loop);

// Of a loop with late products: the product beside which they begin, and that one with those whose sums it goes on with, in order.
const ir::Op* LeaderOf(const ir::Op& loop);
std::vector<const ir::Op*> LeadersOf(const ir::Op& loop);
// Of a late product, or one that could be: which carried value of its loop its sums are, -1 if they are none; and the first operation
// of the body that needs them, null if none does.
int CarriedSums(const ir::Op& mma);
const ir::Op* FirstUserOfSums(const ir::Op& mma);
// A loop of what this copy_ahead brings has late products.
bool HasCrossIterationMma(const ir::Op& copy);
// What they read comes apart from the rest.
bool ComesApart(const ir::Op& copy, int stages);
// Result i of the copy_ahead is read by late products, of which each result is read by those alone or by others alone.
bool IsForLate(const ir::Op& copy, int i);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_CROSS_ITERATION_MMA_H_
