#include "tools/launch/launch_command.h"

#include <cstdio>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/cpu_device.h"
#include "tools/cli/report.h"

namespace tile::tools {

namespace {

// Initial values are not measured.
RunOutcome Timed(LaunchJob& job, PrintFunction print, Progress* progress, double from, double to) {
  PreparedRun& run = *job.run;
  SetPrint(run.kernel, std::move(print), progress);
  progress->Begin(job.function->name, from, to, run.blocks());
  runtime::Stream* stream = run.kernel.device->default_stream();
  RunOutcome outcome;
  outcome.status = run.launch->Initialize(stream);
  if (outcome.status.ok()) outcome.status = stream->Synchronize();
  if (!outcome.status.ok()) return outcome;
  return RunTimed(run.kernel, run.spec.options, run.blocks(), &run.log,
                  [&](runtime::Stream* s) { return run.launch->Launch(s); });
}

}  // namespace

bool ParseLaunchOptions(const Options& options, LaunchRequest* request, int* exit) {
  const std::string grid = options.value("grid");
  if (options.has("grid") && grid.empty()) {
    *exit = Fail(kUsage, "usage", "--grid: expected X[,Y[,Z]], each at least 1");
    return false;
  }
  for (absl::string_view part : absl::StrSplit(grid, ',')) {
    if (grid.empty()) break;
    int64_t n;
    if (!absl::SimpleAtoi(part, &n) || n < 1 || request->grid.size() == 3) {
      *exit = Fail(kUsage, "usage", absl::StrCat("--grid ", grid, ": expected X[,Y[,Z]], each at least 1"));
      return false;
    }
    request->grid.push_back(n);
  }
  for (const std::string& arg : options.values("arg")) {
    const size_t eq = arg.find('=');
    if (eq == std::string::npos || eq == 0) {
      *exit = Fail(kUsage, "usage", absl::StrCat("--arg ", arg, ": expected NAME=VALUE"));
      return false;
    }
    request->args.push_back({arg.substr(0, eq), arg.substr(eq + 1)});
  }
  const std::string level = options.has("check") ? options.value("check") : "bounds";
  if (level == "none") {
    request->options.check = runtime::CheckLevel::kNone;
  } else if (level == "bounds") {
    request->options.check = runtime::CheckLevel::kBounds;
  } else if (level == "full") {
    request->options.check = runtime::CheckLevel::kFull;
  } else {
    *exit = Fail(kUsage, "usage", absl::StrCat("--check ", level, ": expected none, bounds or full"));
    return false;
  }
  const std::string unspecified = options.has("unspecified") ? options.value("unspecified") : "zero";
  if (unspecified == "zero") {
    request->options.unspecified = runtime::Unspecified::kZero;
  } else if (unspecified == "ones") {
    request->options.unspecified = runtime::Unspecified::kOnes;
  } else if (unspecified == "random") {
    request->options.unspecified = runtime::Unspecified::kRandom;
  } else {
    *exit = Fail(kUsage, "usage", absl::StrCat("--unspecified ", unspecified, ": expected zero, ones or random"));
    return false;
  }
  absl::StatusOr<int64_t> seed = options.Integer("seed", 0, 0, std::numeric_limits<int64_t>::max());
  if (!seed.ok()) {
    *exit = Fail(kUsage, "usage", seed.status());
    return false;
  }
  if (options.has("order")) {
    request->options.order = options.value("order");
    if (absl::Status s = runtime::CheckOrder(request->options.order); !s.ok()) {
      *exit = Fail(kUsage, "usage", absl::StrCat("--order ", s.message()));
      return false;
    }
  }
  request->options.any_array = options.has("any-array");
  request->seed = static_cast<uint64_t>(*seed);
  request->cast = options.has("cast");
  return true;
}

std::vector<OptionSpec> DeviceOptionSpecs() {
  return {
      {"device", 0, "cpu|cuda[:N]|auto", "where to run (default: cpu, the VM); auto: a GPU if there is one"},
      {"images", 0, "FILE|FOLDER",
       "machine code for --device=cuda from another .tbc, or from the one of this name in a folder"},
      {"compile", 0, nullptr, "with --device=cuda: compile missing machine code with libtilec.so and cache it on disk"},
      {"threads", 't', "N", "threads of the VM (default: all cores)"},
      {"check", 0, "none|bounds|full", "what to check while running (default: bounds)"},
      {"unspecified", 0, "zero|ones|random", "value of unspecified elements on the VM (default: zero, as on GPUs)"},
      {"any-array", 0, nullptr, "allow a pointer to reach another array than its own; an error otherwise"},
      {"order", 0, "linear|reverse|random[:SEED]",
       "how blocks start on the VM (default: linear; --check=full tries several)"},
  };
}

std::vector<OptionSpec> LaunchOptionSpecs() {
  std::vector<OptionSpec> specs = {
      {"kernel", 'k', "NAME", "which kernel of the file (may be left out if it has one)"},
      {"grid", 'g', "X[,Y[,Z]]", "blocks to launch, instead of the launch rule"},
      {"arg", 'a', "NAME=VALUE", "an argument by name: a number or an array", true},
  };
  for (const OptionSpec& spec : DeviceOptionSpecs()) specs.push_back(spec);
  specs.push_back({"seed", 0, "N", "seed of rand: and normal: (default 0)"});
  specs.push_back({"cast", 0, nullptr, "convert arrays whose element type differs from the parameter's"});
  return specs;
}

bool ParseTolerance(const Options& options, Tolerance* tolerance, int* exit) {
  const absl::StatusOr<double> rtol = options.Number("rtol", 0), atol = options.Number("atol", 0);
  const absl::StatusOr<int64_t> ulp = options.Integer("ulp", 0, 0, int64_t{1} << 62);
  for (const absl::Status& s : {rtol.status(), atol.status(), ulp.status()}) {
    if (s.ok()) continue;
    *exit = Fail(kUsage, "usage", s);
    return false;
  }
  tolerance->rtol = *rtol;
  tolerance->atol = *atol;
  tolerance->ulp = static_cast<uint64_t>(*ulp);
  return true;
}

std::unique_ptr<DeviceChoice> ChooseOnlyDevice(const Options& options, int* exit) {
  std::unique_ptr<DeviceChoice> device = ChooseDevice(options, exit);
  if (device == nullptr || !device->is_gpu() || !options.has("unspecified")) return device;
  *exit = Fail(kUsage, "usage", "--unspecified is for the VM: a GPU gives what it gives");
  return nullptr;
}

std::unique_ptr<LaunchJob> PrepareJob(const Options& options, Progress* progress, int* exit, const std::string& order) {
  if (options.positional().empty()) {
    *exit = Fail(kUsage, "usage", "no kernel file", "name a .tbc, .tile or Tile IR bytecode file, then its inputs");
    return nullptr;
  }
  std::unique_ptr<DeviceChoice> device = ChooseOnlyDevice(options, exit);
  if (device == nullptr) return nullptr;
  return PrepareJob(options, options.positional()[0], std::move(device), options.value("kernel"), progress, exit,
                    order);
}

std::unique_ptr<LaunchJob> PrepareJob(const Options& options, const std::string& path,
                                      std::unique_ptr<DeviceChoice> device, const std::string& name, Progress* progress,
                                      int* exit, const std::string& order) {
  LaunchRequest request;
  request.progress = progress;
  if (!ParseLaunchOptions(options, &request, exit)) return nullptr;
  if (request.options.order.empty()) request.options.order = order;
  if (progress->active()) request.options.blocks_done = progress->done();
  request.inputs.assign(options.positional().begin() + 1, options.positional().end());
  auto job = std::make_unique<LaunchJob>();
  job->device = std::move(device);
  job->file = NameOf(path);
  job->loaded = Load(path, exit);
  if (job->loaded == nullptr) return nullptr;
  job->function = PickKernel(*job->loaded->module, job->file, name, exit);
  if (job->function == nullptr) return nullptr;
  std::optional<DeviceKernel> kernel = job->device->Load(*job->loaded, *job->function, path, exit);
  if (!kernel) return nullptr;
  absl::StatusOr<std::unique_ptr<PreparedRun>> run = PrepareRun(*kernel, request);
  if (!run.ok()) {
    *exit = FailAt(job->file, kRejected, "run.arguments", run.status());
    return nullptr;
  }
  job->run = *std::move(run);
  return job;
}

void SetPrint(const DeviceKernel& kernel, PrintFunction print, Progress* progress) {
  // What the kernel prints would be in the middle of the bar.
  if (!print && progress != nullptr && progress->active())
    print = [progress](absl::string_view text) { progress->Print(text); };
  kernel.device->set_print(std::move(print));
}

RunOutcome RunJob(LaunchJob& job, PrintFunction print, Progress* progress, double from, double to) {
  RunOutcome outcome = Timed(job, std::move(print), progress, from, to);
  progress->End();
  if (!outcome.status.ok()) return outcome;
  const absl::Status downloaded = job.run->memory->Download();
  if (outcome.ok()) outcome.status = downloaded;
  return outcome;
}

RunOutcome RepeatJob(LaunchJob& job, PrintFunction print, Progress* progress, double from, double to) {
  RunOutcome outcome;
  outcome.status = job.kept ? job.run->memory->Restore() : job.run->memory->Keep();
  job.kept = true;
  return outcome.ok() ? Timed(job, std::move(print), progress, from, to) : outcome;
}

void ReportOrders(const runtime::LaunchSpec& spec, const RunOutcome& outcome) {
  const int64_t blocks = spec.grid[0] * spec.grid[1] * spec.grid[2];
  if (spec.options.check != runtime::CheckLevel::kFull || !spec.options.order.empty() || blocks < 2 || !outcome.ok())
    return;
  std::fprintf(stderr, "note: checked in %d order%s of blocks\n", outcome.counts.orders,
               outcome.counts.orders == 1 ? "" : "s");
}

int ReportOutcome(const RunOutcome& outcome, const std::string& file) {
  if (!outcome.status.ok()) return FailAt(file, kRejected, "run.launch", outcome.status);
  for (const runtime::Report& r : outcome.warnings) PrintDiagnostics(r.ToString());
  for (const runtime::Report& r : outcome.reports) PrintDiagnostics(r.ToString());
  return outcome.reports.empty() ? kOk : kTrapped;
}

}  // namespace tile::tools
