#include "codegen/assemble_kernel.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "codegen/assemble/frequencies.h"
#include "codegen/variants.h"

namespace tile::codegen {
namespace {

constexpr int kSpillsOfProducts = 64;  // beyond them a multiprocessor has fewer blocks that multiply

constexpr int kThreadsAtOnce = 2048;  // of a multiprocessor, at most
constexpr int kFewRegisters = 16;     // that ptxas may do without

constexpr int kUnit = Target::kRegisterUnit;
constexpr char kToldBlocks[] = ".minnctapersm ";

bool TellsBlocks(const std::string& ptx) { return absl::StrContains(ptx, kToldBlocks); }

// The PTX that asks ptxas for registers such that a multiprocessor holds `blocks` blocks.
std::string ForBlocks(const std::string& ptx, const Compiled& compiled, int blocks) {
  const std::string told = absl::StrCat(kToldBlocks, blocks);
  if (TellsBlocks(ptx)) return absl::StrReplaceAll(ptx, {{absl::StrCat(kToldBlocks, compiled.blocks), told}});
  const std::string threads = absl::StrCat(".reqntid ", compiled.threads);
  return absl::StrReplaceAll(ptx, {{threads, absl::StrCat(threads, "\n", told)}});
}

// The best of what was assembled of a kernel.
class Best {
 public:
  Best(const Compiled& compiled, const Target& target, const AssembleOptions& options, std::string ptx, Assembled first)
      : compiled_(compiled), target_(target), options_(options), ptx_(std::move(ptx)), best_(std::move(first)) {}

  const std::string& ptx() const { return ptx_; }
  int spills() const { return best_.spill_bytes; }
  int registers() const { return best_.registers; }
  Assembled Take() { return std::move(best_); }
  int Holds(int registers) const { return BlocksHeld(target_, compiled_, registers); }

  // An error of an attempt is none of the kernel's: it has code.
  void Try(std::string ptx) {
    absl::StatusOr<Assembled> next = Assemble(ptx, target_.arch, options_);
    if (!next.ok()) return;
    const bool none_spills = best_.spill_bytes == 0 && next->spill_bytes == 0;
    const bool better =
        none_spills ? Holds(next->registers) > Holds(best_.registers) : next->spill_bytes < best_.spill_bytes;
    if (!better) return;
    best_ = *std::move(next);
    ptx_ = std::move(ptx);
  }

 private:
  const Compiled& compiled_;
  const Target& target_;
  const AssembleOptions& options_;
  std::string ptx_;
  Assembled best_;
};

// Code without spills may have a few registers more than one more block on a multiprocessor allows. ptxas 13.0 takes some more where marks say
// which blocks of code are rare (a softmax of 12288 f32 by 512 threads: 74 registers, and 62 without marks). Products have some that ptxas does
// without if it is asked to (a grouped product of 128 x 128: 178 for two blocks, 168 for three).
void HoldMoreBlocks(const Compiled& compiled, Best* best) {
  const int few = std::max(kUnit, best->registers() - kFewRegisters);
  const int more = best->Holds(few);
  if (more <= best->Holds(best->registers())) return;
  // Code whose warps hand registers to each other is made for a number of them.
  if (compiled.multiplies && !absl::StrContains(best->ptx(), "setmaxnreg")) {
    best->Try(ForBlocks(best->ptx(), compiled, more));
  } else if (!compiled.multiplies && HasFrequencies(best->ptx()) && !TellsBlocks(best->ptx())) {
    best->Try(WithoutFrequencies(best->ptx()));
  }
}

// Where rows spill as much as one block less on a multiprocessor costs, there is one less (codegen/variants.def has the measurement).
void SpillLess(const Compiled& compiled, Best* best) {
  // Told which blocks are rare, ptxas 13.0 spills more in some kernels, and less in others.
  if (HasFrequencies(best->ptx())) best->Try(WithoutFrequencies(best->ptx()));
  if (TellsBlocks(best->ptx())) {
    const std::string told = best->ptx();
    // One less, then ever fewer while that many spill.
    for (int n = compiled.blocks - 1; n > 0 && best->spills() > TolerableSpills(compiled); n -= (n + 3) / 4)
      best->Try(ForBlocks(told, compiled, n));
    return;
  }
  // ptxas 13.0 gives code that exceeds the registers in any case as few as 32 of them, so that more blocks fit beside each
  // other. Told that one is enough it spills less.
  const int most = std::min(Target::kThreadRegisters, Target::kRegisters / compiled.threads / kUnit * kUnit);
  if (best->registers() + kUnit <= most) best->Try(ForBlocks(best->ptx(), compiled, 1));
}

}  // namespace

int BlocksHeld(const Target& target, const Compiled& compiled, int registers) {
  const int all = (std::max(1, registers) + kUnit - 1) / kUnit * kUnit;
  const int threads = std::min(kThreadsAtOnce, Target::kRegisters / all) / compiled.threads;
  // Chips before sm_80 reserve nothing for a block.
  const int64_t each = static_cast<int64_t>(compiled.shared_bytes) + target.block_reserve;
  if (each == 0) return threads;
  return static_cast<int>(std::min<int64_t>(threads, (int64_t{target.shared_bytes} + target.block_reserve) / each));
}

int TolerableSpills(const Compiled& compiled) {
  return compiled.multiplies ? kSpillsOfProducts
                             : AllVariants()[static_cast<size_t>(VariantId::kOneTileBlocks)].most_spills;
}

absl::StatusOr<Assembled> AssembleKernel(Assembly& assembly, const Compiled& compiled, const Target& target,
                                         const AssembleOptions& options) {
  if (compiled.is_large) {
    // By its own default ptxas takes 18 s for 4,000 loops, so 5.
    AssembleOptions quick = options;
    quick.opt_level = std::min(quick.opt_level, 1);
    return Assemble(compiled.ptx, target.arch, quick);
  }
  absl::StatusOr<Assembled> first = assembly.Finish(compiled.ptx);
  if (!first.ok()) return first;
  Best best(compiled, target, options, compiled.ptx, *std::move(first));
  best.spills() == 0 ? HoldMoreBlocks(compiled, &best) : SpillLess(compiled, &best);
  return best.Take();
}

}  // namespace tile::codegen
