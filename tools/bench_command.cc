// tilevm bench: how long a kernel takes, as the median over repeated launches.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "tools/cli/report.h"
#include "tools/commands.h"
#include "tools/load.h"

namespace tile::tools {
namespace {

int Bench(const Options& options) {
  int exit = kOk;
  if (options.positional().empty()) return Fail(kUsage, "usage", "no kernel file", "tilevm bench K [INPUTS…]");
  LaunchRequest request;
  vm::CheckLevel check;
  if (!ParseLaunchOptions(options, &request, &check, &exit)) return exit;
  absl::StatusOr<double> seconds = options.Number("seconds", 0.5), flops = options.Number("flops", 0);
  for (const absl::Status& s : {seconds.status(), flops.status()}) {
    if (!s.ok()) return Fail(kUsage, "usage", s);
  }
  auto loaded = Load(options.positional()[0], &exit);
  if (loaded == nullptr) return exit;
  const ir::Function* f = PickKernel(*loaded->module, options.value("kernel"), &exit);
  if (f == nullptr) return exit;
  request.inputs.assign(options.positional().begin() + 1, options.positional().end());
  absl::StatusOr<std::unique_ptr<PreparedRun>> run = PrepareRun(*f, request);
  if (!run.ok()) return Fail(kRejected, "run.arguments", run.status());
  auto program = vm::Program::Prepare(*loaded->module, f->name);
  if (!program.ok()) return Fail(kRejected, "run.prepare", program.status());
  vm::Launch& launch = (*run)->launch;
  launch.check = check;
  launch.print = [](absl::string_view) {};
  std::vector<double> times;
  double total = 0;
  // The first run touches memory for the first time and is not counted.
  for (int i = 0; i < 6 || (total < *seconds && i < 100000); ++i) {
    ResetRun(*f, run->get());
    const auto start = std::chrono::steady_clock::now();
    const vm::Outcome outcome = (*program)->Run(launch);
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!outcome.status.ok()) return Fail(kRejected, "run.launch", outcome.status);
    for (const vm::Report& r : outcome.reports) PrintDiagnostics(r.ToString());
    if (!outcome.reports.empty()) return kTrapped;
    if (i == 0) continue;
    times.push_back(s);
    total += s;
    if (total > 10 * *seconds && i >= 3) break;
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  // Each array is counted once, twice if it is read and written.
  double bytes = 0;
  for (const BoundArray& a : (*run)->arrays) {
    bytes += static_cast<double>(a.array.bytes.size()) * (f->interface && a.direction == ir::Direction::kInOut ? 2 : 1);
  }
  const double gbs = bytes / median * 1e-9, gflops = *flops / median * 1e-9;
  if (options.has("json")) {
    std::printf("{\"median_ms\":%.6g,\"min_ms\":%.6g,\"max_ms\":%.6g,\"runs\":%zu,\"gb_per_s\":%.6g,\"gflop_per_s\":%.6g}\n",
                median * 1e3, times.front() * 1e3, times.back() * 1e3, times.size(), gbs, gflops);
  } else {
    std::printf("%s: median %.4g ms (%.4g to %.4g, %zu runs), %.4g GB/s", std::string(f->name).c_str(), median * 1e3,
                times.front() * 1e3, times.back() * 1e3, times.size(), gbs);
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
