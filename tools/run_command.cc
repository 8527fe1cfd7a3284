// tilevm run: a kernel on data.
#include <chrono>
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/cli/report.h"
#include "tools/commands.h"
#include "tools/data/compare.h"
#include "tools/data/summary.h"
#include "tools/data/write.h"
#include "tools/load.h"
#include "tools/record.h"
#include "tools/run_launch.h"

namespace tile::tools {
namespace {

// NAME=FILE; a name alone stands for the only output.
struct NamedFile {
  std::string name, file;
};

std::vector<NamedFile> ParseNamed(const std::vector<std::string>& list, const PreparedRun* run) {
  std::vector<NamedFile> named;
  for (const std::string& text : list) {
    const size_t eq = text.find('=');
    const std::string name = text.substr(0, eq == std::string::npos ? 0 : eq);
    const bool known = run != nullptr && const_cast<PreparedRun*>(run)->Find(name) != nullptr;
    if (eq == std::string::npos || (!known && text.find('/') < eq)) {
      named.push_back({"", text});
    } else {
      named.push_back({name, text.substr(eq + 1)});
    }
  }
  return named;
}

// The array that a name or, without one, being the only output means.
absl::StatusOr<BoundArray*> OutputFor(PreparedRun& run, const std::string& name) {
  if (!name.empty()) {
    BoundArray* a = run.Find(name);
    if (a == nullptr) return absl::InvalidArgumentError(absl::StrCat("there is no argument `", name, "`"));
    return a;
  }
  BoundArray* only = nullptr;
  std::vector<std::string> names;
  for (BoundArray& a : run.arrays) {
    if (a.direction == ir::Direction::kIn) continue;
    only = &a;
    names.push_back(a.name);
  }
  if (names.size() == 1) return only;
  return absl::InvalidArgumentError(names.empty() ? "the kernel has no output"
                                                  : absl::StrCat("the kernel has several outputs (", absl::StrJoin(names, ", "), "): say NAME=FILE"));
}

absl::Status WriteOutputs(PreparedRun& run, const std::vector<NamedFile>& outputs) {
  // Arrays for one file go into it together.
  std::vector<std::pair<std::string, std::vector<NamedArray>>> files;
  for (const NamedFile& out : outputs) {
    absl::StatusOr<BoundArray*> a = OutputFor(run, out.name);
    if (!a.ok()) return a.status();
    auto it = std::find_if(files.begin(), files.end(), [&](const auto& f) { return f.first == out.file; });
    if (it == files.end()) it = files.insert(files.end(), {out.file, {}});
    it->second.push_back({(*a)->name, (*a)->array.view()});
  }
  for (const auto& [file, arrays] : files) {
    if (absl::Status s = WriteArrays(file, arrays); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status CompareOutputs(PreparedRun& run, const std::vector<NamedFile>& expected, const Tolerance& tolerance,
                            const Options& options, bool* differs) {
  for (const NamedFile& e : expected) {
    absl::StatusOr<BoundArray*> a = OutputFor(run, e.name);
    if (!a.ok()) return a.status();
    absl::StatusOr<Value> value = ParseValue(e.file, {.raw_as = (*a)->array.element.kind});
    if (!value.ok()) return value.status();
    if (value->is_scalar()) return absl::InvalidArgumentError(absl::StrCat("--expect ", e.file, ": a number; pass a file or full:…"));
    absl::StatusOr<Array> array = std::move(*value).TakeArray();
    if (!array.ok()) return array.status();
    absl::StatusOr<Comparison> c = Compare((*a)->array, *array, tolerance);
    if (!c.ok()) return absl::InvalidArgumentError(absl::StrCat("--expect ", (*a)->name, ": ", c.status().message()));
    if (options.has("json")) {
      std::printf("{\"expect\":\"%s\",\"differing\":%lld,\"count\":%lld,\"max_abs\":%.9g,\"max_rel\":%.9g,\"max_ulp\":%llu}\n",
                  (*a)->name.c_str(), static_cast<long long>(c->differing), static_cast<long long>(c->count), c->max_abs,
                  c->max_rel, static_cast<unsigned long long>(c->max_ulp));
    }
    if (!c->ok()) {
      *differs = true;
      PrintDiagnostics(absl::StrCat("error[run.differs]: ", (*a)->name, ": ", Describe(*c, (*a)->array, *array)));
    }
  }
  return absl::OkStatus();
}

int Run(const Options& options) {
  int exit = kOk;
  if (options.positional().empty()) return Fail(kUsage, "usage", "no kernel file", "tilevm run K [INPUTS…]");
  LaunchRequest request;
  vm::CheckLevel check;
  if (!ParseLaunchOptions(options, &request, &check, &exit)) return exit;
  Tolerance tolerance;
  absl::StatusOr<double> rtol = options.Number("rtol", 0), atol = options.Number("atol", 0);
  absl::StatusOr<int64_t> ulp = options.Integer("ulp", 0, 0, int64_t{1} << 62);
  if (!rtol.ok()) return Fail(kUsage, "usage", rtol.status());
  if (!atol.ok()) return Fail(kUsage, "usage", atol.status());
  if (!ulp.ok()) return Fail(kUsage, "usage", ulp.status());
  tolerance.rtol = *rtol;
  tolerance.atol = *atol;
  tolerance.ulp = static_cast<uint64_t>(*ulp);

  auto loaded = Load(options.positional()[0], &exit);
  if (loaded == nullptr) return exit;
  const ir::Function* f = PickKernel(*loaded->module, options.value("kernel"), &exit);
  if (f == nullptr) return exit;
  request.inputs.assign(options.positional().begin() + 1, options.positional().end());
  absl::StatusOr<std::unique_ptr<PreparedRun>> run = PrepareRun(*f, request);
  if (!run.ok()) return Fail(kRejected, "run.arguments", run.status());
  // Before the kernel runs, so that no result is lost to a misspelt name.
  const std::vector<NamedFile> outputs = ParseNamed(options.values("output"), run->get());
  const std::vector<NamedFile> expected = ParseNamed(options.values("expect"), run->get());
  for (const NamedFile& out : outputs) {
    absl::StatusOr<BoundArray*> a = OutputFor(**run, out.name);
    if (!a.ok()) return Fail(kRejected, "run.output", a.status());
    if (absl::Status s = CheckOutputPath(out.file); !s.ok()) return Fail(kRejected, "run.output", s);
  }
  auto program = vm::Program::Prepare(*loaded->module, f->name);
  if (!program.ok()) return Fail(kRejected, "run.prepare", program.status());
  vm::Launch& launch = (*run)->launch;
  launch.check = check;
  Recorder recorder;
  if (options.has("record")) {
    if (absl::Status s = recorder.Before(options.value("record"), *loaded->module, *f, **run); !s.ok()) {
      return Fail(kRejected, "run.record", s);
    }
  }
  const auto start = std::chrono::steady_clock::now();
  const vm::Outcome outcome = (*program)->Run(launch);
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (!outcome.status.ok()) return Fail(kRejected, "run.launch", outcome.status);
  for (const vm::Report& r : outcome.reports) PrintDiagnostics(r.ToString());
  if (!outcome.reports.empty()) return kTrapped;
  if (options.has("record")) {
    if (absl::Status s = recorder.After(**run); !s.ok()) return Fail(kRejected, "run.record", s);
  }
  if (absl::Status s = WriteOutputs(**run, outputs); !s.ok()) return Fail(kRejected, "run.output", s);
  bool differs = false;
  if (absl::Status s = CompareOutputs(**run, expected, tolerance, options, &differs); !s.ok()) {
    return Fail(kRejected, "run.expect", s);
  }
  if (outputs.empty() && expected.empty() && !options.has("json")) {
    for (const BoundArray& a : (*run)->arrays) {
      if (a.direction != ir::Direction::kIn) std::printf("%s: %s\n", a.name.c_str(), Summary(a.array).c_str());
    }
  }
  if (options.has("time")) {
    std::fprintf(stderr, "%lld blocks in %.3f ms\n", static_cast<long long>(outcome.blocks_run), ms);
  }
  return differs ? kDiffers : kOk;
}

}  // namespace

bool ParseLaunchOptions(const Options& options, LaunchRequest* request, vm::CheckLevel* check, int* exit) {
  for (absl::string_view part : absl::StrSplit(options.value("grid"), ',', absl::SkipEmpty())) {
    int64_t n;
    if (!absl::SimpleAtoi(part, &n) || n < 1 || request->grid.size() == 3) {
      *exit = Fail(kUsage, "usage", absl::StrCat("--grid ", options.value("grid"), ": expected X[,Y[,Z]], each at least 1"));
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
    *check = vm::CheckLevel::kNone;
  } else if (level == "bounds") {
    *check = vm::CheckLevel::kBounds;
  } else if (level == "full") {
    *check = vm::CheckLevel::kFull;
  } else {
    *exit = Fail(kUsage, "usage", absl::StrCat("--check ", level, ": expected none, bounds or full"));
    return false;
  }
  if (options.has("device") && options.value("device") != "cpu" && options.value("device") != "auto") {
    *exit = Fail(kEnvironment, "run.device", absl::StrCat("device `", options.value("device"), "`: this build runs kernels on the cpu"),
                 "use --device=cpu");
    return false;
  }
  absl::StatusOr<int64_t> threads = options.Integer("threads", 0, 1, 4096);
  absl::StatusOr<int64_t> seed = options.Integer("seed", 0, 0, std::numeric_limits<int64_t>::max());
  for (const auto* n : {&threads, &seed}) {
    if (!n->ok()) {
      *exit = Fail(kUsage, "usage", n->status());
      return false;
    }
  }
  request->threads = static_cast<int>(*threads);
  request->seed = static_cast<uint64_t>(*seed);
  request->cast = options.has("cast");
  return true;
}

std::vector<OptionSpec> LaunchOptionSpecs() {
  return {
      {"kernel", 'k', "NAME", "which kernel of the file (may be left out if it has one)"},
      {"grid", 'g', "X[,Y[,Z]]", "blocks to launch, instead of the launch rule"},
      {"arg", 'a', "NAME=VALUE", "an argument by name: a number or an array", true},
      {"device", 0, "cpu|auto", "where to run"},
      {"threads", 't', "N", "threads of the VM (default: all cores)"},
      {"check", 0, "none|bounds|full", "what to check while running (default: bounds)"},
      {"seed", 0, "N", "seed of rand: and normal: (default 0)"},
      {"cast", 0, nullptr, "convert arrays whose element type differs from the parameter's"},
  };
}

const Command kRunCommand = {
    "run",
    "K [INPUTS…] [options]",
    "runs a kernel of a .tbc, .tile or Tile IR bytecode file on data",
    [] {
      std::vector<OptionSpec> o = LaunchOptionSpecs();
      o.insert(o.end(), {{"output", 'o', "[NAME=]FILE", "write an output (.npy .npz .safetensors .png .bin .txt, - for stdout)", true},
                         {"expect", 'e', "[NAME=]VALUE", "compare an output; exit code 3 if it differs", true},
                         {"rtol", 0, "R", "relative tolerance of --expect (default 0)"},
                         {"atol", 0, "A", "absolute tolerance of --expect (default 0)"},
                         {"ulp", 0, "U", "tolerance of --expect in units in the last place (default 0)"},
                         {"record", 0, "NAME", "write the launch as NAME.json, .tbc, .before and .after, for `tilevm replay`"},
                         {"time", 0, nullptr, "print how long the kernel ran"},
                         {"json", 0, nullptr, "print comparisons as JSON"}});
      return o;
    }(),
    R"(INPUTS bind to the kernel's in and inout arrays in order. A VALUE is
  3.5, true, 0x10             a number
  x.npy, x.npz:name, x.safetensors:name, x.png
  any other file              its bytes, as u8[n]; x.bin:f16[64,64]: as that type
  rand:f32[128,128]           uniform in [0, 1); also normal:, zeros:, ones:, arange:, full:f32[4]=3.5
Without -o a short summary of every output is printed.

examples:
  tilevm run examples/histogram.tile README.md
  tilevm run examples/matmul.tile a.npy b.npy -o c.npy --expect c=expected.npy --rtol 1e-5
  tilevm run examples/softmax.tile rand:f32[128,1000] -o -.txt
)",
    &Run};

}  // namespace tile::tools
