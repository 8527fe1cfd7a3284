#include "codegen/passes/slicing/unroll_iterations.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/passes/equivalence.h"
#include "codegen/passes/kept_registers.h"
#include "codegen/passes/move_loads.h"
#include "codegen/passes/value_numbers.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Block;
using ir::Op;
using ir::Value;

constexpr int64_t kMostIterations = 16;

// A for with constant bounds: its index has these values.
struct Iterations {
  int64_t first, step, count;
  bool operator==(const Iterations& r) const { return first == r.first && step == r.step && count == r.count; }
};

std::optional<Iterations> IterationsOf(const Op& op) {
  if (!ir::ForOp::Is(&op)) return std::nullopt;
  const ir::CarryingLoop loop(op);
  const auto [from, to, by] = ir::BoundsOf(ir::ForOp(&op));
  const auto lower = ir::SplatOf(from), upper = ir::SplatOf(to), step = ir::SplatOf(by);
  if (!lower || !upper || !step || loop.latch() == nullptr) return std::nullopt;
  const int width = ir::WidthOf(from);
  const Iterations r = {ir::AsSigned(*lower, width), ir::AsSigned(*step, width), 0};
  const int64_t end = ir::AsSigned(*upper, width);
  if (r.first < 0 || r.step <= 0 || end <= r.first || end > INT32_MAX / 2) return std::nullopt;
  bool plain = true;
  ir::Walk(loop.body(), [&](Op* inner) {
    const bool leaves = inner->info()->has(ir::kTerminator) && inner != loop.latch() && !ir::YieldOp::Is(inner);
    plain = plain && !leaves && !ir::IsLoop(inner);
  });
  const int64_t count = (end - r.first + r.step - 1) / r.step;
  return plain && count <= kMostIterations ? std::optional<Iterations>({r.first, r.step, count}) : std::nullopt;
}

struct Candidate {
  Op* op;
  Iterations iterations;
  std::map<int64_t, int64_t> words;  // of what an iteration loads, by its number
  int64_t all = 0, again = 0;        // words of all, and of what another loop loads in the same iteration
  int bits = 64;                     // of the narrowest elements that it loads
};

// More loops that load something of this one are not looked at for one that loads still more of it.
constexpr int kMostOthers = 256;

// `numbers`: of the whole function; loops with the same iterations have the same indices.
void FindAgain(ValueNumbers* numbers, std::vector<Candidate>* loops) {
  std::map<std::array<int64_t, 3>, int64_t> indices;
  absl::flat_hash_map<std::pair<int64_t, int64_t>, std::vector<size_t>> loops_with;  // by index and what is loaded
  const auto index_of = [&](const Iterations& r) {
    const auto [it, is_new] = indices.try_emplace({r.first, r.step, r.count}, 0);
    if (is_new) it->second = numbers->Fresh();
    return it->second;
  };
  for (size_t i = 0; i < loops->size(); ++i) {
    Candidate& loop = (*loops)[i];
    const int64_t index = index_of(loop.iterations);
    numbers->Take(loop.op->region(0)->arg(0), index);
    for (const Op* op : *loop.op->region(0)) {
      if (!MayLoadOnce(*op)) continue;
      const int64_t words = RegistersOf(op->result(0)->type()), number = numbers->OfLoaded(*op);
      loop.all += words;
      loop.bits = std::min(loop.bits, ir::MemoryBits(op->result(0)->type().elem()));
      int64_t& of_number = loop.words[number];
      if (of_number == 0 && words > 0) loops_with[{index, number}].push_back(i);
      of_number += words;
    }
  }
  for (size_t i = 0; i < loops->size(); ++i) {
    Candidate& loop = (*loops)[i];
    absl::flat_hash_map<size_t, int64_t> words_of;
    for (const auto& [number, words] : loop.words) {
      const auto with = loops_with.find({index_of(loop.iterations), number});
      if (with == loops_with.end()) continue;
      int others = 0;
      for (size_t j : with->second) {
        if (j == i) continue;
        loop.again = std::max(loop.again, words_of[j] += words);
        if (loop.again == loop.all || ++others == kMostOthers) break;
      }
      if (loop.again == loop.all) break;
    }
  }
}

void Unroll(ir::Module* module, Op* op, const Iterations& iterations) {
  const ir::CarryingLoop loop(*op);
  std::vector<Value*> carried;
  for (int i = 0; i < loop.num_carried(); ++i) carried.push_back(loop.init(i));
  for (int64_t n = 0; n < iterations.count; ++n) {
    ir::ValueMap values;
    ir::WriteBefore(module, op, [&](ir::Builder& b) {
      values[loop.index()] = ir::ops::Integer(b, loop.index()->type(), iterations.first + n * iterations.step);
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

int64_t WordsOfBody(const Op& loop) {
  int64_t words = 0;
  for (const Op* op : *loop.region(0)) {
    for (int i = 0; i < op->num_results(); ++i) words += RegistersOf(op->result(i)->type());
  }
  return words;
}

class Unroller {
 public:
  Unroller(Program& p, KeptRegisters* registers) : p_(p), registers_(*registers) {}

  void Visit(Block* block) {
    std::vector<Candidate> loops;
    for (Op* op : *block) {
      for (int r = 0; r < op->num_regions(); ++r) {
        if (op->region(r) != nullptr && !op->info()->has(ir::kElementBody)) Visit(op->region(r));
      }
      if (const auto iterations = IterationsOf(*op)) loops.push_back({op, *iterations, {}, 0, 0, 64});
    }
    if (loops.size() < 2) return;
    FindAgain(&numbers_, &loops);
    std::vector<const Candidate*> chosen;
    for (const Candidate& loop : loops) {
      const StepTexts texts = {"unroll-iterations", "its iterations are written out", "its iterations stay a loop"};
      if (loop.again > 0 && TakesStep(*p_.module, *loop.op, texts,
                                      registers_.WhyNot(loop.iterations.count * loop.again, loop.bits), &p_.trace()))
        chosen.push_back(&loop);
    }
    for (const Candidate* loop : chosen) {
      registers_.Grew(loop->iterations.count * WordsOfBody(*loop->op));
      Unroll(p_.module.get(), loop->op, loop->iterations);
    }
  }

 private:
  Program& p_;
  KeptRegisters& registers_;
  ValueNumbers numbers_;
};

}  // namespace

absl::Status UnrollIterations(Program& p) {
  if (HasProducts(*p.function)) return absl::OkStatus();
  KeptRegisters registers(p);
  Unroller(p, &registers).Visit(p.function->body());
  return absl::OkStatus();
}

}  // namespace tile::codegen
