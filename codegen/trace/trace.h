// What a compilation tells about itself, and which of its optional steps it takes: for people who look into the
// compiler.
//
//   Trace trace;
//   trace.on_text = [](absl::string_view pass, absl::string_view text) {…};   // after each pass, in order
//   trace.on_remark = [](const std::string& line) {…};                         // "k.tile:3:4: remark[vector]: …"
//   options.trace = &trace;                                                    // CompileOptions
//   … compile …
//   trace.times();                                                             // seconds of each pass
//
// A trace serves one compilation at a time; what it counts goes on in the next.
#ifndef TILE_CODEGEN_TRACE_TRACE_H_
#define TILE_CODEGEN_TRACE_TRACE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tile::codegen {

class Trace {
 public:
  // Passes whose text is wanted; null: all. Texts are made only for those.
  std::function<bool(absl::string_view pass)> wants_text;
  std::function<void(absl::string_view pass, absl::string_view text)> on_text;
  std::function<void(const std::string& line)> on_remark;
  // What people should know although nothing fails: "k.tile:3:4: warning[codegen.spill]: …".
  std::function<void(const std::string& line)> on_warning;
  // A pass begins.
  std::function<void(absl::string_view pass)> on_pass;
  // The largest tile that is worked on at once, for people: "k.tile:3:4: scan of tile<65536xf32>". Set after the pass "slice".
  std::string largest_tile;
  // Only the first so many optional steps are taken: a program that is right with N and wrong with N + 1 was broken by
  // that step. Steps are numbered from 1 in the order in which the compiler comes to them.
  std::optional<int64_t> step_limit;
  // The name of an optional pass (PassInfo) that takes no step; empty: none.
  std::string left_out;
  std::function<void(int64_t number, bool taken, absl::string_view step, absl::string_view of)> on_step;

  struct Time {
    std::string pass;
    double seconds = 0;
    int runs = 0;
  };
  const std::vector<Time>& times() const { return times_; }

  // --- for passes ---

  // make() gives the text.
  template <class Make>
  void Text(absl::string_view pass, Make&& make) {
    if (on_text && (!wants_text || wants_text(pass))) on_text(pass, make());
  }
  bool TakesStep(absl::string_view step, absl::string_view of) {
    if (!left_out.empty() && step == left_out) return false;
    if (!step_limit.has_value()) return true;
    const bool taken = *step_limit < 0 || steps_ < *step_limit;
    ++steps_;
    if (on_step) on_step(steps_, taken, step, of);
    return taken;
  }
  void AddTime(absl::string_view pass, double seconds) {
    for (Time& t : times_) {
      if (t.pass != std::string(pass)) continue;
      t.seconds += seconds;
      ++t.runs;
      return;
    }
    times_.push_back({std::string(pass), seconds, 1});
  }

 private:
  int64_t steps_ = 0;
  std::vector<Time> times_;
};

// Adds the time until it goes out of scope, or until Done. The trace may be null.
class TimedPass {
 public:
  TimedPass(Trace* trace, absl::string_view pass) : trace_(trace), pass_(pass), start_(Clock::now()) {
    if (trace != nullptr && trace->on_pass) trace->on_pass(pass);
  }
  ~TimedPass() { Done(); }
  TimedPass(const TimedPass&) = delete;
  TimedPass& operator=(const TimedPass&) = delete;
  void Done() {
    if (trace_ != nullptr) trace_->AddTime(pass_, std::chrono::duration<double>(Clock::now() - start_).count());
    trace_ = nullptr;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Trace* trace_;
  absl::string_view pass_;
  Clock::time_point start_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_TRACE_TRACE_H_
