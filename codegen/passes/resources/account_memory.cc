#include "codegen/passes/resources/account_memory.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/resources/candidate.h"
#include "codegen/plan/resources/shared_use.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/decisions.h"

namespace tile::codegen {
namespace {

// Bytes that rings must leave for exchanges in parts; else fewer stages are tried, as every iteration might exchange (not measured).
constexpr uint64_t kLeastExchangeBesideRings = 16 << 10;

// Threads exchange through what is left beside all else, if that is enough.
void ChooseExchange(Program& p, const SharedAccount& account) {
  const uint64_t least = AheadOf(*p.function) == Ahead::kNothing ? kLeastExchange : kLeastExchangeBesideRings;
  if (account.Room() < least) return;
  Decide<Decision::kExchangeBytes>(p.module.get(), KernelOp(p.module.get(), p.function),
                                   static_cast<int64_t>(account.Room()));
  p.Remark(
      "account-memory",
      absl::StrCat("tiles go through ", account.Room(), " bytes of shared memory in parts; at once, ", account.bytes(),
                   " bytes would be needed, and ", p.target.arch, " offers ", p.target.shared_bytes));
}

// If there is one.
SharedAccount AccountThatFits(Program& p) {
  const Schedule schedule = *ScheduleOf(*p.function);
  SharedAccount account = DecideParts(p.target, schedule, p.module.get(), p.function);
  if (!p.candidate.in_parts || account.bytes() <= p.target.shared_bytes) return account;
  ChooseExchange(p, account);
  return DecideParts(p.target, schedule, p.module.get(), p.function);
}

}  // namespace

absl::Status AccountMemory(Program& p) {
  const SharedAccount account = AccountThatFits(p);
  Decide<Decision::kSharedBytes>(p.module.get(), KernelOp(p.module.get(), p.function),
                                 static_cast<int64_t>(account.bytes()));
  const absl::Status s = account.Check(*p.function);
  if (!s.ok()) p.fit = Fit::kTooMuchShared;
  return s;
}

}  // namespace tile::codegen
