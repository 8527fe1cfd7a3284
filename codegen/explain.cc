#include "codegen/explain.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/resources/cost.h"

namespace tile::codegen {
namespace {

constexpr int kMostThreads = 2048, kMostBlocks = 32;  // of a multiprocessor
constexpr double kLatency = 0.8;                      // microseconds from asking memory until work goes on

void HowManyBlocks(const Target& target, const MachineFacts& m, Explanation* e) {
  e->blocks = kMostBlocks;
  e->held_by = "the hardware";
  const auto limit = [&](int64_t most, const char* by) {
    if (most >= e->blocks) return;
    e->blocks = static_cast<int>(std::max<int64_t>(1, most));
    e->held_by = by;
  };
  limit(kMostThreads / std::max(1, m.threads), "threads");
  if (m.registers > 0) {
    const int64_t unit = Target::kRegisterUnit, each = (m.registers + unit - 1) / unit * unit;
    limit(Target::kRegisters / std::max<int64_t>(1, each * m.threads), "registers");
  }
  if (m.shared_bytes > 0) {
    const int64_t all = target.shared_bytes + target.block_reserve;
    limit(all / static_cast<int64_t>(m.shared_bytes + target.block_reserve), "shared memory");
  }
}

std::string Bytes(double n) {
  static constexpr const char* kUnits[] = {"bytes", "KB", "MB", "GB", "TB"};
  int unit = 0;
  while (n >= 1000 && unit < 4) n /= 1000, ++unit;
  return absl::StrFormat("%.4g %s", n, kUnits[unit]);
}

std::string Percent(double share) { return absl::StrFormat("%.0f %%", 100 * share); }

class Explainer {
 public:
  Explainer(const Target& target, const ProgramFacts& program, const MachineFacts& machine, const Chip* chip)
      : target_(target), schedule_(program.schedule), work_(program.work), machine_(machine), chip_(chip) {
    HowManyBlocks(target, machine, &e_);
  }

  Explanation Run(const std::string& kernel, const LaunchSizes* sizes) {
    Line(absl::StrCat("@", kernel, " for ", target_.arch, ": ", machine_.threads, " threads",
                      schedule_.producer ? ", of which a warp only loads" : "",
                      machine_.registers > 0 ? absl::StrCat(", ", machine_.registers, " registers") : "", ", ",
                      machine_.shared_bytes, " bytes of shared memory"));
    Line(absl::StrCat("  plan: ", schedule_.num_warps,
                      schedule_.num_warps == 1 ? " warp: " : " warps: ", schedule_.why));
    Line(absl::StrCat("  a multiprocessor holds ", e_.blocks, e_.blocks == 1 ? " block" : " blocks", ", by ",
                      e_.held_by));
    if (machine_.registers == 0) Line("  not known: registers of a thread, since there is no assembler");
    if (machine_.spill_bytes > 0) Line(absl::StrCat("  spilled: ", machine_.spill_bytes, " bytes of each thread"));
    if (sizes == nullptr) {
      Line("  not known: sizes; --arg and --grid give them, and nothing is said of time without");
      return std::move(e_);
    }
    grid_ =
        static_cast<double>(sizes->grid[0]) * static_cast<double>(sizes->grid[1]) * static_cast<double>(sizes->grid[2]);
    TellWork();
    if (chip_ == nullptr) {
      Line(absl::StrCat("  not known: how fast ", target_.arch, " is; measured are ", ChipNames()));
      return std::move(e_);
    }
    Estimate();
    TellTimes();
    Advise();
    return std::move(e_);
  }

 private:
  void Line(absl::string_view text) { absl::StrAppend(&e_.text, text, "\n"); }
  void Could(absl::string_view text) { Line(absl::StrCat("  could change: ", text)); }

  void TellWork() {
    std::string line =
        absl::StrFormat("  %.0f blocks, each loads %s and stores %s", grid_, Bytes(work_.loaded), Bytes(work_.stored));
    for (const ProductWork& p : work_.products)
      absl::StrAppend(
          &line, absl::StrFormat(", multiplies %.4g times by %s of %d bits", p.macs, p.kind->name(), p.element_bits));
    Line(line);
    for (const std::string& what : work_.unknown) Line(absl::StrCat("  not known: ", what));
    if (!work_.unique_known)
      Line("  not known: the size of a tensor; what instructions ask for is taken for what memory moves");
  }

  void Estimate() {
    const Chip& c = *chip_;
    const CostModel cost(target_);
    const Busy busy = cost.BusyWith(work_);
    // The busiest multiprocessor. Its blocks share it; those of one block at a time follow each other.
    const double of_one = std::ceil(grid_ / c.multiprocessors), waves = std::ceil(of_one / e_.blocks);
    const double cycle = 1 / c.mhz;  // microseconds
    const auto on_one = [&](double cycles) { return of_one * cycles * cycle; };
    const double asked = (work_.loaded + work_.stored) * grid_;
    const double moved =
        work_.unique_known ? std::min(asked, work_.unique_loaded) + std::min(asked, work_.unique_stored) : asked;
    const double memory = moved / c.memory_gbs * 1e-3;
    const double l2 = std::max(asked / c.l2_gbs * 1e-3, on_one(cost.CyclesOfL2(work_.loaded + work_.stored)));
    const double latency = waves * work_.waits * kLatency;
    e_.limits = {{"memory", memory},
                 {"L2", l2},
                 {"tensor cores", on_one(busy.tensor)},
                 {"fma", on_one(busy.fma)},
                 {"instructions", on_one(busy.issue)},
                 {"special functions", on_one(busy.special)},
                 {"latency", latency}};
    // Of one warp, products that it waits for and other instructions follow each other; those of other warps go on meanwhile.
    bool async = schedule_.producer;
    for (const ProductWork& p : work_.products) async = async && p.kind->asynchronous();
    const double groups = e_.blocks * (async ? std::max(1, schedule_.num_warps / 4) : 1);
    // Instructions of fma are among the instructions.
    const double issued = std::max(on_one(busy.fma), on_one(busy.issue));
    const std::vector<double> compute = {on_one(busy.tensor), issued, on_one(busy.special)};
    double sum = 0, most = 0;
    for (double t : compute) sum += t, most = std::max(most, t);
    e_.us = c.launch_us + kLatency + CostModel::Overlap({memory, l2, most + (sum - most) / groups, latency});
    used_ = std::min(1.0, grid_ / c.multiprocessors);
    tail_ = grid_ / (of_one * c.multiprocessors);
    std::stable_sort(e_.limits.begin(), e_.limits.end(), [](const Limit& a, const Limit& b) { return a.us > b.us; });
    while (!e_.limits.empty() && e_.limits.back().us < 0.01 * e_.limits[0].us) e_.limits.pop_back();
  }

  void TellTimes() {
    std::string line = "  at least";
    for (const Limit& l : e_.limits)
      absl::StrAppend(&line, absl::StrFormat("%s %.1f us by %s", &l == &e_.limits[0] ? "" : ",", l.us, l.name));
    Line(line);
    Line(absl::StrFormat("  estimate for an %s: %.1f us, limited by %s", chip_->name, e_.us,
                         e_.limits.empty() ? "the launch" : e_.limits[0].name));
  }

  // What the author could do about the longest limit, where something is known to help.
  void Advise() {
    if (e_.limits.empty()) return;
    if (machine_.spill_bytes > 0) Could("smaller tiles, which fit the registers, or --warps with more warps");
    if (used_ < 0.9) {
      return Could(absl::StrFormat("%.0f blocks leave %s of %d multiprocessors idle; smaller tiles make more blocks",
                                   grid_, Percent(1 - used_), chip_->multiprocessors));
    }
    if (tail_ < 0.8) {
      Could(
          absl::StrFormat("the last wave of blocks is not full: %s of the time is used; other tiles may divide better",
                          Percent(tail_)));
    }
    const std::string& by = e_.limits[0].name;
    if (by == "L2") Could("larger tiles, each byte of which serves more operations");
    if (by == "memory") {
      Could(work_.unique_known ? "nothing but fewer or narrower elements: each byte is counted once"
                               : "accesses by views of tensors, whose sizes tell what is read again");
    }
    if (by == "latency") AdviseOnLatency();
    if (by == "tensor cores" || by == "fma" || by == "instructions" || by == "special functions") AdviseOnCompute(by);
  }

  void AdviseOnLatency() {
    if (e_.blocks < 2) {
      Could(absl::StrCat("a multiprocessor holds one block, by ", e_.held_by,
                         ": smaller tiles, so that others load meanwhile"));
    }
    Could("larger tiles or fewer iterations: the kernel waits for memory more often than anything keeps it busy");
  }

  void AdviseOnCompute(const std::string& by) {
    bool fma = false;
    for (const ProductWork& p : work_.products) {
      const bool by_elements = p.kind->operands() == OperandsBy::kElements;
      fma = fma || by_elements;
      if (const StagedMmaKind* faster = StagedKindOn(target_);
          faster != nullptr && p.kind->operands() == OperandsBy::kFragments) {
        Could(absl::StrCat("operands that ", faster->name(),
                           " takes from shared memory, twice as fast; --remarks says why it does not"));
      }
      if (by_elements && p.element_bits == 32)
        Could("operands rounded to tf32 (ftof), if that is precise enough: tensor cores multiply them");
      if (by == "tensor cores" && p.kind->reads_stages() && p.element_bits > 8)
        Could("narrower elements: the tensor cores do nothing else");
    }
    if (by != "tensor cores" && !fma)
      Could("fewer operations for each element: approximate rounding, exp2 instead of exp, scales outside of loops");
  }

  const Target& target_;
  const Schedule& schedule_;
  const Work& work_;
  const MachineFacts& machine_;
  const Chip* chip_;
  double grid_ = 1, used_ = 1, tail_ = 1;
  Explanation e_;
};

}  // namespace

Explanation Explain(const Target& target, const std::string& kernel, const ProgramFacts& program,
                    const MachineFacts& machine, const Chip* chip, const LaunchSizes* sizes) {
  return Explainer(target, program, machine, chip).Run(kernel, sizes);
}

}  // namespace tile::codegen
