#include "codegen/passes/mma/integer_max.h"

#include "codegen/plan/mma/integer_max.h"
#include "codegen/target/decisions.h"
#include "codegen/target/target.h"

namespace tile::codegen {

absl::Status IntegerMax(Program& p) {
  if (!p.target.has(kMaxOfThree)) return absl::OkStatus();
  ir::Walk(p.function->body(), [&](ir::Op* op) {
    if (TakesIntegers(*op)) Decide<Decision::kIntegerMax>(p.module.get(), op, true);
  });
  return absl::OkStatus();
}

}  // namespace tile::codegen
