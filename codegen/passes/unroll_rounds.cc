#include "codegen/passes/unroll_rounds.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/passes/alike.h"
#include "codegen/passes/move_loads.h"
#include "codegen/target/tuning.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Block;
using ir::Op;
using ir::Value;

constexpr int64_t kMostRounds = 16;

// A for with constant bounds: its index has these values.
struct Rounds {
  int64_t first, step, count;
  bool operator==(const Rounds& r) const { return first == r.first && step == r.step && count == r.count; }
};

std::optional<Rounds> RoundsOf(const Op& op) {
  if (!ir::ForOp::Is(&op)) return std::nullopt;
  const ir::CarryingLoop loop(op);
  const auto [from, to, by] = ir::BoundsOf(ir::ForOp(&op));
  const auto lower = ir::SplatOf(from), upper = ir::SplatOf(to), step = ir::SplatOf(by);
  if (!lower || !upper || !step || loop.latch() == nullptr) return std::nullopt;
  const int width = ir::WidthOf(from);
  const Rounds r = {ir::AsSigned(*lower, width), ir::AsSigned(*step, width), 0};
  const int64_t end = ir::AsSigned(*upper, width);
  if (r.first < 0 || r.step <= 0 || end <= r.first || end > INT32_MAX / 2) return std::nullopt;
  bool plain = true;
  ir::Walk(loop.body(), [&](Op* inner) {
    const bool leaves = inner->info()->has(ir::kTerminator) && inner != loop.latch() && !ir::YieldOp::Is(inner);
    plain = plain && !leaves && !ir::IsLoop(inner);
  });
  const int64_t count = (end - r.first + r.step - 1) / r.step;
  return plain && count <= kMostRounds ? std::optional<Rounds>({r.first, r.step, count}) : std::nullopt;
}

std::vector<const Op*> LoadsIn(const Op& loop) {
  std::vector<const Op*> loads;
  for (const Op* op : *loop.region(0)) {
    if (MayLoadOnce(*op)) loads.push_back(op);
  }
  return loads;
}

// Registers of what an iteration of one loop loads and the same iteration of the other one, too.
int64_t WordsOfBoth(const Op& a, const Op& b) {
  Alike alike;
  alike.Take(a.region(0)->arg(0), b.region(0)->arg(0));
  const std::vector<const Op*> others = LoadsIn(b);
  int64_t words = 0;
  for (const Op* x : LoadsIn(a)) {
    const bool both = std::any_of(others.begin(), others.end(), [&](const Op* y) { return alike.LoadTheSame(*x, *y); });
    if (both) words += RegistersOf(x->result(0)->type());
  }
  return words;
}

void Unroll(ir::Module* module, Op* op, const Rounds& rounds) {
  const ir::CarryingLoop loop(*op);
  std::vector<Value*> carried;
  for (int i = 0; i < loop.num_carried(); ++i) carried.push_back(loop.init(i));
  for (int64_t n = 0; n < rounds.count; ++n) {
    ir::ValueMap values;
    ir::WriteBefore(module, op, [&](ir::Builder& b) {
      values[loop.index()] = ir::ops::Integer(b, loop.index()->type(), rounds.first + n * rounds.step);
    });
    for (int i = 0; i < loop.num_carried(); ++i) values[loop.arg(i)] = carried[static_cast<size_t>(i)];
    for (const Op* inner : *loop.body()) {
      if (inner != loop.latch()) ir::CopyBefore(module, *inner, op, &values);
    }
    for (int i = 0; i < loop.num_carried(); ++i) {
      const auto it = values.find(loop.next(i));
      carried[static_cast<size_t>(i)] = it == values.end() ? loop.next(i) : it->second;
    }
  }
  for (int i = 0; i < op->num_results(); ++i) ir::Replace(op->result(i), carried[static_cast<size_t>(i)]);
  op->Erase();
}

void Visit(Program& p, Block* block) {
  std::vector<std::pair<Op*, Rounds>> loops;
  for (Op* op : *block) {
    for (int r = 0; r < op->num_regions(); ++r) {
      if (op->region(r) != nullptr && !op->info()->has(ir::kElementBody)) Visit(p, op->region(r));
    }
    if (const auto rounds = RoundsOf(*op)) loops.emplace_back(op, *rounds);
  }
  std::vector<std::pair<Op*, Rounds>> chosen;
  for (const auto& [op, rounds] : loops) {
    int64_t again = 0;
    for (const auto& [other, its_rounds] : loops) {
      if (other != op && its_rounds == rounds) again = std::max(again, WordsOfBoth(*op, *other));
    }
    const StepTexts texts = {"unroll-rounds", "its rounds are written out", "its rounds stay a loop"};
    if (again > 0 && TakesStep(*p.module, *op, texts, WhyNotKept(p, rounds.count * again), &p.trace())) {
      chosen.emplace_back(op, rounds);
    }
  }
  for (const auto& [op, rounds] : chosen) Unroll(p.module.get(), op, rounds);
}

}  // namespace

std::string WhyNotKept(const Program& p, int64_t more) {
  const int64_t threads = 32 * (p.candidate.num_warps > 0 ? p.candidate.num_warps : tuning::kMaxWarps);
  const int64_t live = MostLiveData(*p.function).words + more;
  if (live <= threads * tuning::kReuse) return "";
  return absl::StrCat("a thread would hold up to ", live / threads, " registers of tiles; ", tuning::kReuse,
                      " would do");
}

void UnrollRounds(Program& p) { Visit(p, p.function->body()); }

}  // namespace tile::codegen
