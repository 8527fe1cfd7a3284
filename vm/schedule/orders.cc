#include "vm/schedule/orders.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ir/cpp_name.h"
#include "ir/platform/memory.h"
#include "vm/check/check_full.h"
#include "vm/check/find_wrap.h"
#include "vm/machine/checker.h"
#include "vm/machine/homes.h"
#include "vm/machine/launch_state.h"
#include "vm/schedule/scheduler.h"

namespace tile::vm {
namespace {

constexpr int kMostOrders = 8;
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kShort = 2 * kSecond;
constexpr double kLong = 2.5;                           // times the first order
constexpr uint64_t kMostTileBytes = uint64_t{1} << 30;  // of blocks that wait, beyond the first order

void AddMemory(const Code& code, const Launch& launch, Memory* memory) {
  for (const Buffer& buffer : launch.buffers) {
    Allocation a;
    a.begin = buffer.address;
    a.bytes = buffer.bytes;
    a.name = buffer.name;
    a.element = buffer.element;
    a.shape = buffer.shape;
    a.initialized = buffer.initialized;
    memory->Add(std::move(a));
  }
  for (const Code::GlobalMemory& g : code.globals) {
    Allocation a;
    a.begin = reinterpret_cast<uintptr_t>(g.data);
    a.bytes = g.bytes;
    a.name = std::string(g.global->name);
    a.kind = Allocation::Kind::kGlobal;
    a.element = ir::Element::Number(g.global->value.elem);
    a.shape = {g.global->count};
    a.read_only = g.global->constant;
    memory->Add(std::move(a));
  }
}

// Fresh pages of the system: a large copy must not be able to end the process.
class Copy {
 public:
  Copy(uint8_t* original, uint64_t bytes)
      : original_(original), bytes_(bytes), data_(static_cast<uint8_t*>(platform::MapPages(bytes))) {}
  Copy(Copy&& other) noexcept
      : original_(other.original_), bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
  ~Copy() {
    if (data_ != nullptr) platform::UnmapPages(data_, bytes_);
  }
  bool ok() const { return data_ != nullptr; }
  void Take() { std::memcpy(data_, original_, bytes_); }
  void PutBack() const { std::memcpy(original_, data_, bytes_); }
  KeptMemory kept() const { return {reinterpret_cast<uintptr_t>(original_), bytes_, data_}; }

 private:
  uint8_t* original_;
  uint64_t bytes_;
  uint8_t* data_;
};

// The maps of written bytes as they are before a launch, for orders that count for nothing afterwards.
class WrittenCopies {
 public:
  explicit WrittenCopies(const Launch& launch) {
    for (const WrittenBytes& w : launch.written) before_.emplace_back(w.written, w.written + w.bytes);
  }
  // Gives `launch` copies of them.
  void PutInto(Launch* launch) {
    copies_ = before_;
    for (size_t i = 0; i < copies_.size(); ++i) launch->written[i].written = copies_[i].data();
  }

 private:
  std::vector<std::vector<uint8_t>> before_, copies_;
};

// All memory that the kernel may change. Empty if there is no room for it, or nothing to copy.
class Snapshot {
 public:
  Snapshot(const Code& code, const Launch& launch) {
    for (const Buffer& b : launch.buffers) {
      if (b.bytes > 0 && !IsInput(launch, b)) Add(static_cast<uint8_t*>(b.address.pointer()), b.bytes);
    }
    for (const Code::GlobalMemory& g : code.globals) {
      if (g.bytes > 0 && !g.global->constant) Add(g.data, g.bytes);
    }
  }
  bool ok() const { return ok_; }
  void Take() {
    for (Copy& c : copies_) c.Take();
  }
  void PutBack() const {
    for (const Copy& c : copies_) c.PutBack();
  }
  std::vector<KeptMemory> kept() const {
    std::vector<KeptMemory> all;
    for (const Copy& c : copies_) all.push_back(c.kept());
    return all;
  }

 private:
  void Add(uint8_t* data, uint64_t bytes) {
    copies_.emplace_back(data, bytes);
    ok_ = ok_ && copies_.back().ok();
  }
  // It holds `in` arrays and no others: a write would be a mistake.
  static bool IsInput(const Launch& launch, const Buffer& b) {
    bool any = false;
    for (const ArrayArgument& a : launch.arrays) {
      if (a.address < b.address || a.address - b.address >= b.bytes) continue;
      if (a.direction != ir::Direction::kIn) return false;
      any = true;
    }
    return any;
  }

  std::vector<Copy> copies_;
  bool ok_ = true;
};

// A launch rule that rounds down gives no blocks for small arrays, and outputs stay without values.
void WarnOfNoBlocks(const Code& code, const Launch& launch, Outcome* outcome) {
  for (const ArrayArgument& a : launch.arrays) {
    const bool empty = std::find(a.shape.begin(), a.shape.end(), 0) != a.shape.end();
    if (a.direction != ir::Direction::kOut || a.initialized || empty) continue;
    Report r;
    r.warning = true;
    r.code = "vm.no_blocks";
    r.where = code.module->Where(code.function->loc, code.function->pos);
    r.kernel = std::string(code.function->name);
    for (int64_t& id : r.block) id = -1;
    r.message = absl::StrCat("the grid is (", launch.grid[0], ", ", launch.grid[1], ", ", launch.grid[2],
                             "): no block runs, and the output `", a.name, "` gets no values");
    r.fix = "round up in the launch rule, as in `ceildiv(x.shape[0], 128)`";
    outcome->warnings.push_back(std::move(r));
    return;
  }
}

bool SameMistake(const Report& a, const Report& b) { return a.code == b.code && a.where == b.where; }

// Asking the system takes as long as a small launch.
int Cores() {
  static const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return cores;
}

// After `spent`, if one order takes `first`.
bool IsTimeForAnother(int64_t spent, int64_t first) {
  return spent + first <= std::max(kShort, static_cast<int64_t>(static_cast<double>(first) * kLong));
}

// In how many orders n blocks can run, as far as it matters: two have two, unless they can be interrupted.
int64_t OrdersOf(const Code& code, int64_t blocks) {
  if (blocks != 2) return blocks <= 1 ? 1 : kMostOrders;
  const auto is_strong = [](const InstrNote& n) { return n.places != nullptr && IsStrongAccess(*n.places->op); };
  return std::any_of(code.notes.begin(), code.notes.end(), is_strong) ? kMostOrders : 2;
}

}  // namespace

OneRun RunOnce(const Code& code, const Launch& launch, const StartOrder& order, std::optional<int64_t> give_up_at,
               absl::Span<const KeptMemory> linear) {
  OneRun run;
  // No blocks, as a launch rule gives for empty arrays: nothing to do, but outputs may be left unwritten.
  const bool empty = launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0;
  if (empty && launch.check != CheckLevel::kFull) {
    if (launch.check != CheckLevel::kNone) WarnOfNoBlocks(code, launch, &run.outcome);
    return run;
  }
  LaunchState state;
  state.launch = &launch;
  state.code = &code;
  state.outcome = &run.outcome;
  state.order = order;
  state.give_up_at = give_up_at;
  AddMemory(code, launch, &state.memory);
  FindHomes(&state);
  state.find_wrap = FindWrap;
  int threads = launch.threads > 0 ? launch.threads : Cores();
  std::unique_ptr<Checker> checker;
  if (launch.check == CheckLevel::kFull) {
    checker = MakeFullChecker(state);
    threads = 1;
    state.interrupts = order.kind != StartOrder::Kind::kLinear;
  }
  RunGrid(state, threads, checker.get());
  run.gave_up = state.gave_up.load(std::memory_order_relaxed);
  if (checker != nullptr) run.outcome.coverage = checker->TakeCoverage();
  if (state.no_memory.load(std::memory_order_relaxed)) {
    run.outcome.status = absl::ResourceExhaustedError(absl::StrCat(
        "error[vm.out_of_memory]: no memory is left to run kernel `", ir::ReadableName(code.function->name),
        "`\n  fix: allow the process more, or use smaller arrays or tiles",
        checker != nullptr ? "; --check=full takes up to 16 bytes for each byte that a kernel touches" : ""));
  } else if (state.interrupted) {
    run.outcome.status = absl::CancelledError(absl::StrCat(
        "error[vm.interrupted]: kernel `", ir::ReadableName(code.function->name), "` was stopped from outside"));
  }
  if (checker != nullptr && !state.stop.load(std::memory_order_relaxed)) {
    checker->EndLaunch();
    if (run.outcome.ok()) checker->CompareResults(linear);
  }
  Outcome& outcome = run.outcome;
  // Warnings are reported in the order of the text.
  std::vector<std::pair<std::tuple<uint32_t, uint32_t, std::string, std::string>, Warning*>> warnings;
  for (auto& [key, w] : state.warnings) {
    warnings.push_back({{key.first->pos.line, key.first->pos.column, w.report.where, key.second}, &w});
  }
  std::sort(warnings.begin(), warnings.end());
  for (const auto& [key, w] : warnings) {
    if (w->count > 1) absl::StrAppend(&w->report.message, "; ", w->count, " times in all");
    outcome.warnings.push_back(std::move(w->report));
  }
  std::stable_sort(outcome.reports.begin(), outcome.reports.end(), [](const Report& a, const Report& b) {
    return std::make_tuple(a.block[2], a.block[1], a.block[0]) < std::make_tuple(b.block[2], b.block[1], b.block[0]);
  });
  return run;
}

Outcome RunInOrders(const Code& code, const Launch& launch) {
  const int64_t orders = OrdersOf(code, launch.grid[0] * launch.grid[1] * launch.grid[2]);
  std::unique_ptr<Snapshot> before;
  if (orders > 1) {
    before = std::make_unique<Snapshot>(code, launch);
    if (before->ok()) before->Take();
  }
  std::optional<WrittenCopies> written;
  if (orders > 1) written.emplace(launch);
  const int64_t start = launch.work_clock();
  Outcome outcome = RunOnce(code, launch, {}, std::nullopt, {}).outcome;
  if (!outcome.ok() || orders == 1 || !before->ok()) return outcome;
  const int64_t first = launch.work_clock() - start;

  Snapshot result(code, launch);
  if (!result.ok()) return outcome;
  result.Take();
  const std::vector<KeptMemory> linear = result.kept();
  Launch other = launch;
  other.print = [](absl::string_view) {};  // it is printed already
  other.blocks_done = nullptr;
  other.coverage = false;  // what the kernel may choose is known
  other.max_tile_bytes = std::max(code.frame_bytes, std::min(launch.max_tile_bytes, kMostTileBytes));
  std::vector<Report> differing;  // of vm.order: another order may show why results differ
  for (int64_t i = 1; i < orders && outcome.reports.empty(); ++i) {
    const StartOrder order = i == 1 ? StartOrder{StartOrder::Kind::kReverse}
                                    : StartOrder{StartOrder::Kind::kRandom, static_cast<uint64_t>(i - 1)};
    const int64_t now = other.work_clock();
    if (i > 1 && !IsTimeForAnother(now - start, first)) break;
    before->PutBack();
    written->PutInto(&other);
    OneRun run;
    try {
      run = RunOnce(code, other, order, now + 4 * first + kSecond, linear);
    } catch (const std::bad_alloc&) {
      run.gave_up = true;
    }
    // The linear order had what it needed.
    if (run.gave_up || absl::IsResourceExhausted(run.outcome.status)) continue;
    if (outcome.status = run.outcome.status; !outcome.status.ok()) break;
    ++outcome.orders;
    outcome.reports = std::move(run.outcome.reports);
    // Two orders make that; one alone does not repeat it.
    for (std::vector<Report>* list : {&outcome.reports, &run.outcome.warnings}) {
      for (Report& r : *list) {
        if (r.code == "vm.order") r.order.clear();
      }
    }
    if (!outcome.reports.empty() && outcome.reports[0].code == "vm.order") {
      if (differing.empty()) differing = std::move(outcome.reports);
      outcome.reports.clear();
    }
    for (Report& w : run.outcome.warnings) {
      const auto same = [&w](const Report& r) { return SameMistake(r, w); };
      if (std::none_of(outcome.warnings.begin(), outcome.warnings.end(), same))
        outcome.warnings.push_back(std::move(w));
    }
  }
  if (outcome.reports.empty()) outcome.reports = std::move(differing);
  result.PutBack();
  return outcome;
}

}  // namespace tile::vm
