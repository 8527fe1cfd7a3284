#include "vm/schedule/scheduler.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "ir/platform/memory.h"
#include "vm/machine/checker.h"
#include "vm/machine/homes.h"
#include "vm/machine/memory_access.h"
#include "vm/machine/unspecified.h"
#include "vm/schedule/thread_plan.h"

namespace tile::vm {
namespace {

// Memory for the tiles of one block at a time, and the shared arrays inside it.
class Frame {
 public:
  explicit Frame(const Code& code) : bytes_(std::max<uint64_t>(code.frame_bytes, 64)) {
    data_ = static_cast<uint8_t*>(platform::AllocateAligned(4096, (bytes_ + 4095) / 4096 * 4096));
    if (data_ == nullptr) return;
    if (bytes_ >= (4 << 20)) platform::PreferLargePages(data_, bytes_);
    for (const SharedArray& s : code.shared) {
      Allocation a;
      a.begin = reinterpret_cast<uintptr_t>(data_ + s.offset);
      a.bytes = s.bytes;
      a.name = std::string(s.op->result(0)->name.empty() ? "shared" : s.op->result(0)->name);
      a.kind = Allocation::Kind::kShared;
      a.element = s.op->result(0)->type().element();
      a.shape.assign(s.op->result(0)->type().shape().begin(), s.op->result(0)->type().shape().end());
      a.initialized = false;
      shared_.push_back(std::move(a));
    }
  }
  ~Frame() { platform::FreeAligned(data_); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  uint8_t* data() const { return data_; }
  const std::deque<Allocation>& shared() const { return shared_; }

 private:
  uint64_t bytes_;
  uint8_t* data_ = nullptr;
  std::deque<Allocation> shared_;
};

// Calls `late`, if it is not null, once the launch takes longer than `late_after_ns`. Looked at after every instruction.
class Watch {
 public:
  Watch(ClockNs clock, int64_t late_after_ns, std::function<void()> late)
      : clock_(clock), begin_(clock()), late_after_ns_(late_after_ns), late_(std::move(late)) {}
  bool over() const { return late_ == nullptr; }
  void Look() {
    // The clock costs as much as a small instruction.
    if (++looks_ % 8 != 0 || over() || clock_() - begin_ < late_after_ns_) return;
    std::exchange(late_, nullptr)();
  }

 private:
  const ClockNs clock_;
  const int64_t begin_, late_after_ns_;
  std::function<void()> late_;
  uint32_t looks_ = 0;
};

// A thread comes back for more at least so many times, so that all end together.
constexpr int64_t kClaims = 64, kMaxClaim = 16;

// Interrupted blocks at a time, for which frames are needed. A quarter of them go on at any moment; the others only when 1, 2, 4,
// … 64 blocks have ended or begun to wait, so that what they hold is held for long.
constexpr size_t kMostPaused = 8;
constexpr uint64_t kLongest = 7;

struct Running {
  Running() = default;
  ~Running() {
    for (void* p : state.heap) platform::FreeAligned(p);  // of a block that did not end
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  BlockState state;
  std::unique_ptr<Frame> frame;
  int64_t effects_seen = 0;  // changes of memory when it began to look
  int64_t resume_at = 0;     // of an interrupted block: value of Grid::stops_
};

class Grid {
 public:
  Grid(LaunchState& state, int threads, Checker* checker)
      : state_(state),
        checker_(checker),
        code_(*state.code),
        total_(state.launch->grid[0] * state.launch->grid[1] * state.launch->grid[2]),
        sequence_(state.order, total_),
        takes_turns_(code_.must_park || state.interrupts),
        blocks_run_(state.launch->blocks_done != nullptr ? *state.launch->blocks_done : own_blocks_run_) {
    claim_size_ = std::clamp<int64_t>(total_ / (int64_t{threads} * kClaims), 1, kMaxClaim);
    blocks_run_.store(0, std::memory_order_relaxed);
    max_frames_ = static_cast<int64_t>(state.launch->max_tile_bytes / std::max<uint64_t>(code_.frame_bytes, 1));
  }

  ThreadPlan Plan(int threads) const {
    return PlanThreads(code_.block_ns.load(std::memory_order_relaxed), total_, threads);
  }

  // `watch`: of the caller; null of helpers.
  void Work(Watch* watch) {
    const int64_t begin = watch != nullptr ? state_.launch->clock() : 0;
    int64_t blocks = 0;
    std::unique_ptr<Running> spare;  // a finished block, whose memory the next one takes
    Claim claim;
    while (!state_.stop.load(std::memory_order_relaxed)) {
      state_.Poll();
      if (state_.give_up_at && state_.launch->work_clock() > *state_.give_up_at) return GiveUp();
      std::unique_ptr<Running> r = takes_turns_ ? NextMayWait(spare) : Next(claim, spare);
      if (r == nullptr) {
        if (finished_.load(std::memory_order_acquire) || !takes_turns_) {
          if (watch != nullptr && blocks > 0) Measured((state_.launch->clock() - begin) / blocks);
          return;
        }
        if (++idle_ % 64 == 0) absl::SleepFor(absl::Microseconds(50));
        std::this_thread::yield();
        continue;
      }
      Run(r->state, watch);
      ++blocks;
      Done(std::move(r), spare);
    }
    if (spare != nullptr) spare->state.pending.Flush();
  }

 private:
  // Blocks that a thread has taken and not yet run.
  struct Claim {
    int64_t next = 0, end = 0;
  };

  void Measured(int64_t block_ns) const {
    const int64_t before = code_.block_ns.load(std::memory_order_relaxed);
    code_.block_ns.store(ThoughtBlockNs(before, block_ns), std::memory_order_relaxed);
  }

  static void Run(BlockState& b, Watch* watch) {
    const Instr* in = b.pc;
    if (watch != nullptr && b.checker == nullptr) {
      for (; in != nullptr && !watch->over(); watch->Look()) in = in->fn(b, in);
    }
    RunInstrs(b, in);
  }

  void GiveUp() {
    state_.gave_up.store(true, std::memory_order_relaxed);
    state_.stop.store(true, std::memory_order_relaxed);
  }

  // The block that comes as number n.
  std::unique_ptr<Running> Start(int64_t n, std::unique_ptr<Running>& spare) {
    const int64_t index = sequence_[n];
    std::unique_ptr<Running> r = std::move(spare);
    if (r == nullptr) {
      r = std::make_unique<Running>();
      r->frame = std::make_unique<Frame>(code_);
    }
    BlockState& b = r->state;
    b.Reset();
    b.launch = &state_;
    b.code = &code_;
    ResetHomes(b);
    b.index = index;
    const int64_t* g = state_.launch->grid;
    b.id[0] = static_cast<int32_t>(index % g[0]);
    b.id[1] = static_cast<int32_t>(index / g[0] % g[1]);
    b.id[2] = static_cast<int32_t>(index / g[0] / g[1]);
    b.frame = r->frame->data();
    b.constants = code_.aligned_constants();
    b.checked = state_.launch->check != CheckLevel::kNone;
    b.checker = checker_;
    b.pc = code_.instrs.data();
    if (b.frame == nullptr) {
      Trap(b, nullptr, "vm.out_of_memory",
           absl::StrCat("no memory for the ", code_.frame_bytes, " bytes of tiles of one block"), "use smaller tiles");
      b.pc = nullptr;
      return r;
    }
    for (const Allocation& a : r->frame->shared()) {
      FillUnspecifiedMemory(b, a.begin - reinterpret_cast<uintptr_t>(b.frame), reinterpret_cast<void*>(a.begin),
                            a.bytes);
      AddPrivate(b, &a);
    }
    for (size_t i = 0; i < code_.params.size(); ++i) {
      uint64_t word = state_.launch->params[i];
      if (code_.function->param(static_cast<int>(i))->type().elem() == ir::Elem::kI1) word = word != 0;
      std::memcpy(b.at(code_.params[i]), &word, static_cast<size_t>(code_.param_bytes[i]));
    }
    if (checker_ != nullptr) checker_->BeginBlock(b);
    return r;
  }

  // Blocks that never wait: a counter is all that is needed. A thread takes a few neighbours at a time, whose memory is mostly
  // adjacent.
  std::unique_ptr<Running> Next(Claim& claim, std::unique_ptr<Running>& spare) {
    if (claim.next == claim.end) {
      // Additions may wait for the thread's next blocks, but not for all that there are.
      if (spare != nullptr) spare->state.pending.Flush();
      claim.next = next_.fetch_add(claim_size_, std::memory_order_relaxed);
      claim.end = std::min(claim.next + claim_size_, total_);
      if (claim.next >= total_) return nullptr;
    }
    std::unique_ptr<Running> r = Start(claim.next++, spare);
    r->state.more = claim.next != claim.end;
    return r;
  }

  std::unique_ptr<Running> NextMayWait(std::unique_ptr<Running>& spare) {
    std::lock_guard<std::mutex> lock(mutex_);
    const int64_t effects = state_.effects.load(std::memory_order_acquire);
    if (!paused_.empty() && state_.Draw() % 2 == 0) {
      if (auto r = TakePaused(/*any=*/false)) return r;
    }
    // First those for whom memory has changed, then new ones, then those that count rounds.
    if (auto r = Take([&](const Running& p) { return p.effects_seen != effects; }))
      return Resume(std::move(r), effects);
    const int64_t next = next_.load(std::memory_order_relaxed);
    const bool room =
        running_ + static_cast<int64_t>(parked_.size() + paused_.size()) < std::max<int64_t>(max_frames_, 1);
    if (next < total_ && room && paused_.size() < kMostPaused) {
      next_.store(next + 1, std::memory_order_relaxed);
      ++running_;
      return Start(next, spare);
    }
    if (auto r = TakePaused(/*any=*/false)) return r;
    if (auto r = Take([](const Running& p) { return p.state.unchanged_rounds == 0; }))
      return Resume(std::move(r), effects);
    if (auto r = TakePaused(/*any=*/true)) return r;
    if (running_ == 0) {
      if (!parked_.empty()) next < total_&& state_.give_up_at ? GiveUp() : ReportDeadlock(next < total_);
      finished_.store(true, std::memory_order_release);
    }
    return nullptr;
  }

  template <class Want>
  std::unique_ptr<Running> Take(Want&& want) {
    for (size_t i = 0; i < parked_.size(); ++i) {
      if (!want(*parked_[i])) continue;
      std::unique_ptr<Running> r = std::move(parked_[i]);
      parked_.erase(parked_.begin() + static_cast<std::ptrdiff_t>(i));
      return r;
    }
    return nullptr;
  }

  // The one that is to go on first, if that is now, or if `any`; null if there is none.
  std::unique_ptr<Running> TakePaused(bool any) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto at = std::min_element(paused_.begin(), paused_.end(),
                                     [](const auto& a, const auto& b) { return a->resume_at < b->resume_at; });
    if (at == paused_.end() || (!any && (*at)->resume_at > stops_)) return nullptr;
    std::unique_ptr<Running> r = std::move(*at);
    paused_.erase(at);
    ++running_;
    r->state.stop = Stop::kNone;  // effects_seen stays: it may have looked before the last of them
    return r;
  }

  void Pause(std::unique_ptr<Running> r) {
    r->state.pending.Flush();  // others may look
    std::lock_guard<std::mutex> lock(mutex_);
    --running_;
    const uint64_t draw = state_.Draw();
    r->resume_at = draw % 4 == 0 ? stops_ : stops_ + (int64_t{1} << (draw / 4 % kLongest));
    paused_.push_back(std::move(r));
  }

  std::unique_ptr<Running> Resume(std::unique_ptr<Running> r, int64_t effects) {
    ++running_;
    r->effects_seen = effects;
    r->state.stop = Stop::kNone;
    return r;
  }

  void Done(std::unique_ptr<Running> r, std::unique_ptr<Running>& spare) {
    BlockState& b = r->state;
    if (b.stop == Stop::kPaused) return Pause(std::move(r));
    if (b.stop == Stop::kParked) {
      std::lock_guard<std::mutex> lock(mutex_);
      --running_;
      ++stops_;
      parked_.push_back(std::move(r));
      return;
    }
    EndBlock(b);
    if (state_.interrupts) b.pending.Flush();  // the block that has its memory next may not be the next to run
    spare = std::move(r);
    if (takes_turns_) {
      // The end of a block is news too: those that count on it look again.
      state_.effects.fetch_add(1, std::memory_order_relaxed);
      std::lock_guard<std::mutex> lock(mutex_);
      --running_;
      ++stops_;
    }
    blocks_run_.fetch_add(1, std::memory_order_relaxed);
  }

  void EndBlock(BlockState& b) {
    if (checker_ != nullptr) checker_->EndBlock(b);
    for (const Allocation* a : b.private_memory) {
      if (a->kind != Allocation::Kind::kAlloca) continue;
      if (checker_ != nullptr) checker_->OnFree(b, *a);
      state_.memory.IsPublished(a) ? state_.memory.Retire(a) : delete a;  // published ones belong to Memory
    }
    b.private_memory.clear();
    for (void* p : b.heap) platform::FreeAligned(p);
    b.heap.clear();
  }

  void ReportDeadlock(bool more) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::sort(parked_.begin(), parked_.end(),
              [](const auto& a, const auto& b) { return a->state.index < b->state.index; });
    std::string lines;
    size_t shown = 0;
    for (const auto& p : parked_) {
      if (shown++ == 4) {
        absl::StrAppend(&lines, ", and ", parked_.size() - 4, " more");
        break;
      }
      absl::StrAppend(&lines, lines.empty() ? "" : ", ", "block (", p->state.id[0], ", ", p->state.id[1], ", ",
                      p->state.id[2], ") at ", code_.module->Where(p->state.waiting->loc, p->state.waiting->pos));
    }
    BlockState& first = parked_.front()->state;
    Trap(first, first.waiting, "vm.deadlock",
         absl::StrCat("all ", parked_.size(),
                      " blocks that are left wait for memory to change, and nobody changes it: ", lines,
                      more ? "; no memory is left to start the others" : ""),
         "check who should write what they wait for, and that a token orders the write before the end of its block");
    for (auto& p : parked_) EndBlock(p->state);
    parked_.clear();
  }

 public:
  int64_t blocks_run() const { return blocks_run_.load(); }
  void Abandon() {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto* list : {&parked_, &paused_}) {
      for (auto& p : *list) EndBlock(p->state);
      list->clear();
    }
  }

 private:
  LaunchState& state_;
  Checker* checker_;
  const Code& code_;
  const int64_t total_;
  const BlockSequence sequence_;
  const bool takes_turns_;  // blocks may stop before they end
  int64_t max_frames_ = 0, claim_size_ = 1;
  std::atomic<int64_t> next_{0}, own_blocks_run_{0};
  std::atomic<int64_t>& blocks_run_;
  std::atomic<bool> finished_{false};
  std::atomic<int64_t> idle_{0};
  std::mutex mutex_;
  int64_t running_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<std::unique_ptr<Running>> parked_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::unique_ptr<Running>> paused_ ABSL_GUARDED_BY(mutex_);
  int64_t stops_ ABSL_GUARDED_BY(mutex_) = 0;  // blocks that ended or began to wait
};

}  // namespace

namespace {

// No memory ends the launch, on whatever thread it is.
void WorkOrStop(Grid& grid, LaunchState& state, Watch* watch) {
  try {
    grid.Work(watch);
  } catch (const std::bad_alloc&) {
    state.no_memory.store(true, std::memory_order_relaxed);
    state.stop.store(true, std::memory_order_relaxed);
  }
}

}  // namespace

void RunGrid(LaunchState& state, int threads, Checker* checker) {
  threads = std::max(threads, 1);
  Grid grid(state, threads, checker);
  std::vector<std::thread> helpers;
  std::mutex mutex;
  std::condition_variable ended;
  int at_work = 0;
  const auto start = [&](int count) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      at_work += count;
    }
    for (int i = 0; i < count; ++i) {
      try {
        helpers.emplace_back([&] {
          WorkOrStop(grid, state, nullptr);
          std::lock_guard<std::mutex> lock(mutex);
          --at_work;
          ended.notify_one();
        });
      } catch (const std::exception&) {
        // No thread or no memory for one: those that there are do the work.
        std::lock_guard<std::mutex> lock(mutex);
        at_work -= count - i;
        return;
      }
    }
  };
  const ThreadPlan plan = grid.Plan(threads);
  start(plan.first - 1);
  Watch watch(
      state.launch->clock, plan.late_after_ns,
      plan.first == plan.all ? std::function<void()>() : [&] { start(plan.all - plan.first); });
  WorkOrStop(grid, state, &watch);
  for (std::unique_lock<std::mutex> lock(mutex); at_work > 0;) {
    if (ended.wait_for(lock, LaunchState::kPollInterval) == std::cv_status::timeout) state.Poll();
  }
  for (std::thread& t : helpers) t.join();
  grid.Abandon();
  state.outcome->blocks_run = grid.blocks_run();
  state.outcome->threads = 1 + static_cast<int>(helpers.size());
}

}  // namespace tile::vm
