// tilevm bench: how long a kernel takes, as the median over repeated launches.
#include <algorithm>
#include <cstdio>

#include "absl/strings/str_format.h"
#include "ir/cpp_name.h"
#include "ir/escape.h"
#include "tools/cli/report.h"
#include "tools/launch/launch_command.h"
#include "tools/tilevm/commands.h"

namespace tile::tools {
namespace {

int Bench(const Options& options) {
  int exit = kOk;
  absl::StatusOr<double> seconds = options.Number("seconds", 0.5), flops = options.Number("flops", 0);
  for (const absl::Status& s : {seconds.status(), flops.status()}) {
    if (!s.ok()) return Fail(kUsage, "usage", s);
  }
  Progress progress(!options.has("json"));
  // Under full checks a run is one order of the blocks, too.
  std::unique_ptr<LaunchJob> job = PrepareJob(options, &progress, &exit, "linear");
  if (job == nullptr) return exit;
  std::vector<double> times;
  double total = 0;
  // The first run touches memory for the first time and is not counted.
  for (int i = 0; i < 6 || (total < *seconds && i < 100000); ++i) {
    // At least six runs, and as many as fit into the time: whatever is further from its end.
    const double so_far = *seconds > 0 ? std::min(i / 6.0, total / *seconds) : i / 6.0;
    RunOutcome outcome = RepeatJob(
        *job, [](absl::string_view) {}, &progress, so_far, so_far + (1 - so_far) / std::max(6 - i, 1));
    if (i > 0) outcome.warnings.clear();  // said already
    if (!outcome.ok()) progress.End();
    if (exit = ReportOutcome(outcome, job->file); exit != kOk) return exit;
    if (i == 0) continue;
    times.push_back(outcome.ms * 1e-3);
    total += outcome.ms * 1e-3;
    if (total > 10 * *seconds && i >= 3) break;
  }
  progress.End();
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  // Each array is counted once, twice if it is read and written.
  double bytes = 0;
  for (const BoundArray& a : job->run->arrays) {
    bytes += static_cast<double>(a.array.bytes.size()) *
             (job->function->interface && a.direction == ir::Direction::kInOut ? 2 : 1);
  }
  const double gbs = bytes / median * 1e-9, gflops = *flops / median * 1e-9;
  if (options.has("json")) {
    PrintJson(absl::StrFormat(
        "{\"median_ms\":%.6g,\"min_ms\":%.6g,\"max_ms\":%.6g,\"runs\":%d,\"gb_per_s\":%.6g,\"gflop_per_s\":%.6g}",
        median * 1e3, times.front() * 1e3, times.back() * 1e3, times.size(), gbs, gflops));
  } else {
    std::printf("%s: median %.4g ms (%.4g to %.4g, %zu runs), %.4g GB/s",
                ir::Escaped(ir::ReadableName(job->function->name)).c_str(), median * 1e3, times.front() * 1e3,
                times.back() * 1e3, times.size(), gbs);
    if (*flops > 0) std::printf(", %.4g GFLOP/s", gflops);
    std::printf("\n");
  }
  return kOk;
}

}  // namespace

const Command kBenchCommand = {
    "bench",
    "K [INPUTS…] [options]",
    "measures a kernel: median time, GB/s, GFLOP/s",
    [] {
      std::vector<OptionSpec> o = LaunchOptionSpecs();
      o.insert(o.end(), {{"seconds", 0, "S", "how long to repeat (default 0.5)"},
                         {"flops", 0, "N", "operations of one launch, to print GFLOP/s"},
                         {"json", 0, nullptr, "as one JSON object"}});
      return o;
    }(),
    "GB/s counts every array once, inout arrays twice.\n\nexample:\n  tilevm bench examples/matmul.tile rand:f32[1024,1024] "
    "rand:f32[1024,1024] --flops 2147483648\n",
    &Bench};

}  // namespace tile::tools
