// tilevm run: a kernel on data.
#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/escape.h"
#include "tools/cli/report.h"
#include "tools/data/summary.h"
#include "tools/data/value.h"
#include "tools/data/write.h"
#include "tools/launch/launch_command.h"
#include "tools/launch/record.h"
#include "tools/tilevm/commands.h"
#include "tools/tilevm/run_report.h"

namespace tile::tools {
namespace {

// NAME=FILE; without a name it is the only output. `full:f32[4]=1` and `a/b=c.npy` have none.
struct NamedFile {
  std::string name, file;
};

std::vector<NamedFile> ParseNamed(const std::vector<std::string>& list, PreparedRun& run) {
  std::vector<NamedFile> named;
  for (const std::string& text : list) {
    const size_t eq = text.find('=');
    const std::string name = text.substr(0, eq == std::string::npos ? 0 : eq);
    if (eq == std::string::npos || (run.Find(name) == nullptr && text.find_first_of("/:") < eq)) {
      named.push_back({"", text});
    } else {
      named.push_back({name, text.substr(eq + 1)});
    }
  }
  return named;
}

// The array that a name or, without one, being the only output means.
absl::StatusOr<BoundArray*> OutputFor(PreparedRun& run, const std::string& name) {
  std::vector<std::string> names;
  BoundArray* only = nullptr;
  for (BoundArray& a : run.arrays) {
    if (a.direction == ir::Direction::kIn) continue;
    if (a.name == name) return &a;
    only = &a;
    names.push_back(a.name);
  }
  if (names.empty()) return absl::InvalidArgumentError("the kernel has no output");
  const std::string list = absl::StrJoin(names, ", ");
  if (!name.empty())
    return absl::InvalidArgumentError(absl::StrCat("there is no output `", name, "`; outputs: ", list));
  if (names.size() == 1) return only;
  return absl::InvalidArgumentError(absl::StrCat("the kernel has several outputs (", list, "): say NAME=FILE"));
}

// Arrays for one file go into it together.
struct OutputPlan {
  std::string file;
  std::vector<BoundArray*> arrays;
};

// Everything about the outputs that can be wrong is found before the kernel runs, so that no result is lost to it.
int PlanOutputs(const Options& options, LaunchJob& job, std::vector<OutputPlan>* plans) {
  for (const NamedFile& out : ParseNamed(options.values("output"), *job.run)) {
    absl::StatusOr<BoundArray*> a = OutputFor(*job.run, out.name);
    if (!a.ok()) return FailAt(job.file, kRejected, "run.output", a.status());
    auto it = std::find_if(plans->begin(), plans->end(), [&](const OutputPlan& p) { return p.file == out.file; });
    if (it == plans->end()) it = plans->insert(plans->end(), {out.file, {}});
    it->arrays.push_back(*a);
  }
  for (const OutputPlan& p : *plans) {
    if (absl::Status s = CheckOutputForm(p.file, p.arrays.size()); !s.ok())
      return FailAt(p.file, kUsage, "output.form", s);
    if (options.has("json") && IsStdout(p.file)) {
      return Fail(kUsage, "usage", "--json prints on stdout: give the output a file");
    }
    if (absl::Status s = CheckOutputPath(p.file); !s.ok()) return FailAt(p.file, kEnvironment, "output.write", s);
  }
  return kOk;
}

// All or none of them.
int WriteOutputs(const std::vector<OutputPlan>& plans, Progress* progress) {
  std::vector<OutputFile> files(plans.size());
  for (size_t i = 0; i < plans.size(); ++i) {
    std::vector<NamedArray> arrays;
    int64_t bytes = 0;
    for (const BoundArray* a : plans[i].arrays) {
      arrays.push_back({a->name, a->array.view()});
      bytes += static_cast<int64_t>(a->array.bytes.size());
    }
    // Text is longer or shorter than what it stands for, a picture is compressed: the bar is near the truth.
    progress->Begin(absl::StrCat("writing ", plans[i].file), 0, 1, bytes, "bytes");
    if (progress->active()) files[i].set_progress(progress->done());
    absl::Status s = WriteArrays(plans[i].file, arrays, &files[i]);
    progress->End();
    if (!s.ok()) {
      return FailAt(plans[i].file, absl::IsInvalidArgument(s) ? kRejected : kEnvironment, "output.write", s);
    }
  }
  for (size_t i = 0; i < plans.size(); ++i) {
    if (absl::Status s = files[i].Commit(); !s.ok()) return FailAt(plans[i].file, kEnvironment, "output.write", s);
  }
  return kOk;
}

struct Expected {
  BoundArray* actual;
  Array array;
};

int LoadExpected(const Options& options, LaunchJob& job, std::vector<Expected>* expected) {
  for (const NamedFile& e : ParseNamed(options.values("expect"), *job.run)) {
    absl::StatusOr<BoundArray*> actual = OutputFor(*job.run, e.name);
    if (!actual.ok()) return FailAt(job.file, kRejected, "run.expect", actual.status());
    absl::StatusOr<Value> value = ParseValue(e.file, {.raw_as = (*actual)->array.element.kind});
    if (!value.ok()) return Fail(kRejected, "run.expect", ValueError(e.file, value.status()));
    if (value->is_scalar()) return FailAt(e.file, kRejected, "run.expect", "a number; pass a file or full:…");
    const Value::Raw raw = value->raw();
    absl::StatusOr<Array> array = std::move(*value).TakeArray();
    if (!array.ok()) return Fail(kRejected, "run.expect", ValueError(e.file, array.status()));
    if (absl::Status s = CheckComparable((*actual)->array, *array); !s.ok()) {
      if (!raw.what.empty()) return FailAt(e.file, kRejected, "run.expect", raw.what, raw.fix);
      return FailAt(e.file, kRejected, "run.expect", absl::StrCat("output `", (*actual)->name, "` ", s.message()));
    }
    expected->push_back({*actual, *std::move(array)});
  }
  return kOk;
}

void Summarize(const PreparedRun& run) {
  for (const BoundArray& a : run.arrays) {
    if (a.direction != ir::Direction::kIn)
      std::printf("%s: %s\n", ir::Escaped(a.name).c_str(), Summary(a.array).c_str());
  }
}

int Run(const Options& options) {
  int exit = kOk;
  Tolerance tolerance;
  if (!ParseTolerance(options, &tolerance, &exit)) return exit;
  for (const char* name : {"rtol", "atol", "ulp"}) {
    if (options.has(name) && !options.has("expect")) {
      return Fail(kUsage, "usage", absl::StrCat("--", name, " without --expect: there is nothing to compare"),
                  "name what you expect with --expect [NAME=]VALUE");
    }
  }
  Progress progress(!options.has("json"));
  std::unique_ptr<LaunchJob> job = PrepareJob(options, &progress, &exit);
  if (job == nullptr) return exit;
  std::vector<OutputPlan> outputs;
  std::vector<Expected> expected;
  if (exit = PlanOutputs(options, *job, &outputs); exit != kOk) return exit;
  if (exit = LoadExpected(options, *job, &expected); exit != kOk) return exit;
  Recorder recorder;
  if (options.has("record")) {
    if (absl::Status s = recorder.Before(options.value("record"), *job->loaded->module, *job->run); !s.ok()) {
      return FailAt(job->file, absl::IsInvalidArgument(s) ? kRejected : kEnvironment, "run.record", s);
    }
  }
  RunReport report;
  report.kernel = std::string(job->function->name);
  PrintFunction print;
  if (options.has("json"))
    print = [](absl::string_view s) { ir::WritePrinted(s, stderr); };  // stdout is for the report alone
  const RunOutcome outcome = RunJob(*job, print, &progress, 0, 1);
  exit = ReportOutcome(outcome, job->file);
  ReportOrders(job->run->spec, outcome);
  if (exit == kTrapped && options.has("json")) PrintJson(ToJson(report, *job->run, outcome));
  if (options.has("record") && (exit == kOk || exit == kTrapped)) {
    if (absl::Status s = recorder.After(*job->run, exit == kTrapped); !s.ok()) {
      return FailAt(job->file, kEnvironment, "run.record", s);
    }
  }
  if (exit != kOk) return exit;
  if (exit = WriteOutputs(outputs, &progress); exit != kOk) return exit;
  for (const Expected& e : expected) {
    const Comparison c = *Compare(e.actual->array, e.array, tolerance);
    report.expected.push_back({e.actual->name, c});
    if (c.ok()) continue;
    exit = FailAt(job->file, kDiffers, "run.differs",
                  absl::StrCat("output `", e.actual->name, "`: ", Describe(c, e.actual->array, e.array)));
  }
  if (options.has("json")) {
    for (const BoundArray& a : job->run->arrays) {
      if (a.direction == ir::Direction::kIn) continue;
      report.outputs.push_back({&a, {}});
      for (const OutputPlan& p : outputs) {
        if (std::find(p.arrays.begin(), p.arrays.end(), &a) != p.arrays.end())
          report.outputs.back().files.push_back(p.file);
      }
    }
    PrintJson(ToJson(report, *job->run, outcome));
  } else if (outputs.empty() && expected.empty()) {
    Summarize(*job->run);
  }
  if (options.has("time")) {
    std::fprintf(stderr, "%lld blocks in %.3f ms\n", static_cast<long long>(outcome.counts.blocks), outcome.ms);
  }
  return exit;
}

}  // namespace

const Command kRunCommand = {
    "run",
    "K [INPUTS…] [options]",
    "runs a kernel of a .tbc, .tile, Tile IR bytecode or TTIR file on data",
    [] {
      std::vector<OptionSpec> o = LaunchOptionSpecs();
      o.insert(o.end(),
               {{"output", 'o', "[NAME=]FILE", "write an output (.npy .npz .safetensors .png .bin .txt, - for stdout)",
                 true},
                {"expect", 'e', "[NAME=]VALUE", "compare an output; exit code 3 if it differs", true},
                {"rtol", 0, "R", "relative tolerance of --expect (default 0)"},
                {"atol", 0, "A", "absolute tolerance of --expect (default 0)"},
                {"ulp", 0, "U", "tolerance of --expect in units in the last place (default 0)"},
                {"record", 0, "NAME", "write the launch as NAME.json, .tbc, .before and .after, for `tilevm replay`"},
                {"time", 0, nullptr, "print how long the kernel ran"},
                {"json", 0, nullptr, "print one JSON object about the run, see below"}});
      return o;
    }(),
    R"(INPUTS bind to the kernel's in and inout arrays in order, then to its scalars. A VALUE is
  3.5, true, 0x10             a number
  x.npy, x.npz:name, x.safetensors:name, x.png
  any other file              its bytes, as u8[n], for an argument of bytes; x.bin:f16[64,64]: as that type
  rand:f32[128,128]           uniform in [0, 1); also normal:, zeros:, ones:, arange:, full:f32[4]=3.5
Without -o a short summary of every output is printed. Outputs are written after the kernel has run, all or none of them.
If something fails, their files keep their contents. A launch that traps is recorded without .after.

--json prints one object on stdout; what the kernel prints goes to stderr:
  kernel, grid [x,y,z], blocks (that ran), orders (of blocks that were tried), ms, result: "ok", "differs" or "trapped"
  outputs: a list of name, type, shape, min, max, mean (of finite elements, else null), nan and inf (how many), files
  expect: a list of name, count, differing, max_abs, max_rel, max_ulp, one for each --expect
  warnings, if there are any: as reports
  reports, if the kernel trapped, instead of outputs: a list of severity, code, file, line, col, message, fix, details, as
    every diagnostic has them, and where (file:line:col), kernel, op, block (the first), and order if not linear

--order is the order in which blocks start; a program must not depend on it. Without it, --check=full runs several orders
from the same memory: the linear one, whose results count, the reverse one, and random ones. The further orders take at most 2 s of
processor time, or 2.5 times the first one. The output says how many were run. An error that only another order shows names
that order: --order=random:7 repeats it. A result that differs from the linear order's is an error, vm.order. If all of
them are right, --order=linear checks one order only.

examples:
  tilevm run examples/histogram.tile README.md
  tilevm run examples/matmul.tile a.npy b.npy -o c.npy --expect c=expected.npy --rtol 1e-5
  tilevm run examples/softmax.tile rand:f32[128,1000] -o -.txt
)",
    &Run};

}  // namespace tile::tools
