// tilevm diff: one launch on two engines, or of two programs; where do they begin to differ?
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/escape.h"
#include "ir/probe.h"
#include "tools/cli/report.h"
#include "tools/data/json.h"
#include "tools/launch/launch_command.h"
#include "tools/tilevm/commands.h"
#include "tools/tilevm/run_report.h"

namespace tile::tools {
namespace {

constexpr int64_t kMostProbeBytes = int64_t{1} << 28;

// One of the two.
struct Side {
  std::unique_ptr<LaunchJob> job;
  std::string name;  // for people
};

struct ArrayDifference {
  std::string name;
  Comparison comparison;
  std::string text;  // Describe, with the distance of the first elements
};

struct Origin {
  std::string op, where, text;  // where: in the first program
};

// "3 of 8 elements differ, first at [1]: 1.5 on the VM, 1.25 on cuda:0 (…)". The comparison's `actual` is the second.
std::string DescribeBoth(const Comparison& c, const ArrayView& first, const ArrayView& second) {
  std::string text = Describe(c, second, first);
  if (c.first < 0 || !ir::IsFloat(first.element.kind) || first.element.kind != second.element.kind) return text;
  if (c.nan_differing > 0) return text;
  const uint64_t x = LoadBits(first.element.kind, first.bytes.data(), c.first);
  const uint64_t y = LoadBits(second.element.kind, second.bytes.data(), c.first);
  const size_t line = text.find('\n');
  return text.insert(line == std::string::npos ? text.size() : line,
                     absl::StrCat(", ", UlpDistance(first.element.kind, x, y), " ULP apart"));
}

// Arrays of both sides that may have been written, by position.
absl::Status CheckAlike(Side& a, Side& b) {
  const auto &x = a.job->run->arrays, &y = b.job->run->arrays;
  if (x.size() != y.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the kernels take ", x.size(), " and ", y.size(), " arrays"));
  }
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i].direction == ir::Direction::kIn && y[i].direction == ir::Direction::kIn) continue;
    if (absl::Status s = CheckComparable(y[i].array, x[i].array); !s.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("output `", y[i].name, "` ", s.message()));
    }
  }
  return absl::OkStatus();
}

std::vector<ArrayDifference> CompareOutputs(Side& a, Side& b, const Tolerance& tolerance) {
  std::vector<ArrayDifference> all;
  for (size_t i = 0; i < a.job->run->arrays.size(); ++i) {
    const BoundArray &x = a.job->run->arrays[i], &y = b.job->run->arrays[i];
    if (x.direction == ir::Direction::kIn && y.direction == ir::Direction::kIn) continue;
    const Comparison c = *Compare(y.array, x.array, tolerance);
    all.push_back({x.name, c, DescribeBoth(c, x.array, y.array)});
  }
  return all;
}

// The values of one result in all blocks. An error if it cannot be looked at there.
absl::StatusOr<Array> Look(Side& side, const ir::ProbePoint& point) {
  LaunchJob& job = *side.job;
  std::vector<int64_t> shape = {job.run->blocks()};
  shape.insert(shape.end(), point.type.shape().begin(), point.type.shape().end());
  absl::StatusOr<Array> values = Array::Make(point.type.element(), shape);
  if (!values.ok()) return values;
  std::memset(values->bytes.data(), 0, values->bytes.size());
  LoadedModule loaded;
  loaded.module = ir::WithProbe(*job.loaded->module, *job.function, point);
  absl::StatusOr<DeviceKernel> kernel = job.device->TryLoad(loaded, *loaded.module->FindFunction(job.function->name));
  if (!kernel.ok()) return kernel.status();
  runtime::Stream* stream = kernel->device->default_stream();
  absl::Status status = job.run->memory->Restore();
  if (status.ok()) status = job.run->launch->Initialize(stream);
  if (!status.ok()) return status;
  runtime::HostMemory memory(kernel->device);
  absl::StatusOr<uint64_t> probe = memory.Add(values->bytes.data(), values->bytes.size());
  if (!probe.ok()) return probe.status();
  runtime::LaunchSpec spec = job.run->spec;
  spec.options.blocks_done = nullptr;
  spec.words.push_back(*probe);
  spec.memory.push_back({"probe", *probe, values->bytes.size(), point.type.element(), shape, true});
  SetPrint(
      *kernel, [](absl::string_view) {}, nullptr);
  absl::StatusOr<std::shared_ptr<runtime::PreparedLaunch>> launch = kernel->loaded->Prepare(spec);
  if (!launch.ok()) return launch.status();
  const RunOutcome outcome = RunTimed(*kernel, spec.options, job.run->blocks(), &job.run->log,
                                      [&](runtime::Stream* s) { return (*launch)->Run(s); });
  if (!outcome.status.ok()) return outcome.status;
  if (!outcome.reports.empty()) return absl::AbortedError(outcome.reports[0].ToString());
  status = memory.Download();
  if (!status.ok()) return status;
  return values;
}

// The first operation whose result differs. Empty `op`: all agree, or the values could not be looked at (why in
// `text`).
Origin FindOrigin(Side& a, Side& b, const Tolerance& tolerance, Progress* progress) {
  const std::vector<ir::ProbePoint> pa = ir::ProbePoints(*a.job->function), pb = ir::ProbePoints(*b.job->function);
  const auto pairs = ir::MatchProbePoints(pa, pb);
  Origin origin;
  int64_t looked = 0;
  for (const auto& [x, y] : pairs) {
    progress->Begin("looking for the first difference", static_cast<double>(looked) / static_cast<double>(pairs.size()),
                    1, 0);
    ++looked;
    if (x->elements() > kMostProbeBytes / 8 / std::max<int64_t>(a.job->run->blocks(), 1)) continue;
    absl::StatusOr<Array> first = Look(a, *x);
    absl::StatusOr<Array> second = first.ok() ? Look(b, *y) : first.status();
    if (!second.ok()) {
      origin.text = std::string(second.status().message());
      break;
    }
    const Comparison c = *Compare(*second, *first, tolerance);
    if (c.ok()) continue;
    origin = {x->name == y->name ? x->name : absl::StrCat(x->name, " (", y->name, " there)"), x->where,
              DescribeBoth(c, *first, *second)};
    break;
  }
  progress->End();
  return origin;
}

std::string Json(const std::vector<ArrayDifference>& arrays, const Origin& origin, bool trapped) {
  bool differs = false;
  const std::string list = absl::StrJoin(arrays, ",", [&](std::string* out, const ArrayDifference& d) {
    const Comparison& c = d.comparison;
    differs |= !c.ok();
    absl::StrAppend(out, "{\"name\":", JsonQuote(ir::Escaped(d.name)), ",\"count\":", c.count,
                    ",\"differing\":", c.differing, ",\"first\":", c.first, ",\"max_abs\":", JsonNumber(c.max_abs),
                    ",\"max_rel\":", JsonNumber(c.max_rel), ",\"max_ulp\":", c.max_ulp, "}");
  });
  std::string s = absl::StrCat("{\"result\":\"",
                               trapped   ? "trapped"
                               : differs ? "differs"
                                         : "equal",
                               "\",\"arrays\":[", list, "]");
  if (!origin.op.empty()) {
    absl::StrAppend(&s, ",\"first_op\":{\"op\":", JsonQuote(ir::Escaped(origin.op)),
                    ",\"where\":", JsonQuote(ir::Escaped(origin.where)),
                    ",\"text\":", JsonQuote(ir::Escaped(origin.text)), "}");
  }
  return s + "}";
}

int Diff(const Options& options) {
  if (options.positional().empty()) {
    return Fail(kUsage, "usage", "no kernel file", "name a .tbc, .tile or Tile IR bytecode file, then its inputs");
  }
  const std::string &file = options.positional()[0], device = options.value("device"), with = options.value("with");
  if (with.empty() && (device.empty() || device == "cpu")) {
    return Fail(kUsage, "usage", "nothing to compare with",
                "--device=cuda compares a GPU with the VM, --with=FILE another program with this one");
  }
  if (device == "auto") return Fail(kUsage, "usage", "--device auto: say which: cpu, cuda or cuda:N");
  const auto is_stdin = [](absl::string_view s) {
    return s == "-" || absl::StartsWith(s, "-:") || absl::StartsWith(s, "-.");
  };
  for (size_t i = 1; i < options.positional().size(); ++i) {
    if (is_stdin(options.positional()[i]))
      return Fail(kUsage, "usage", "inputs cannot come from stdin: each side reads them");
  }
  if (file == "-" || with == "-") return Fail(kUsage, "usage", "programs cannot come from stdin: they are read twice");
  int exit = kOk;
  Tolerance tolerance;
  if (!ParseTolerance(options, &tolerance, &exit)) return exit;
  Progress progress(!options.has("json"));

  Side a, b;
  std::unique_ptr<DeviceChoice> vm = ChooseVm(options, &exit);
  if (vm == nullptr) return exit;
  a.job = PrepareJob(options, file, std::move(vm), options.value("kernel"), &progress, &exit);
  if (a.job == nullptr) return exit;
  std::unique_ptr<DeviceChoice> choice = ChooseDevice(options, &exit);
  if (choice == nullptr) return exit;
  const std::string second_kernel = options.has("with-kernel") ? options.value("with-kernel") : options.value("kernel");
  b.job = PrepareJob(options, with.empty() ? file : with, std::move(choice), second_kernel, &progress, &exit);
  if (b.job == nullptr) return exit;
  a.name = absl::StrCat(file, " on the VM");
  b.name = absl::StrCat(with.empty() ? file : with, " on ", device.empty() || device == "cpu" ? "the VM" : device);
  if (absl::Status s = CheckAlike(a, b); !s.ok()) return FailAt(file, kRejected, "diff.unlike", s);

  bool trapped = false;
  double part = 0;
  for (Side* side : {&a, &b}) {
    if (absl::Status s = side->job->run->memory->Keep(); !s.ok())
      return FailAt(side->job->file, kRejected, "run.launch", s);
    // What kernels print would be there twice.
    const RunOutcome outcome = RunJob(
        *side->job, [](absl::string_view) {}, &progress, part, part + 0.5);
    part += 0.5;
    exit = ReportOutcome(outcome, side->job->file);
    if (exit != kOk && exit != kTrapped) return exit;
    if (exit == kTrapped) std::fprintf(stderr, "note: that was %s\n", side->name.c_str());
    trapped |= exit == kTrapped;
  }
  if (trapped) {
    if (options.has("json")) PrintJson(Json({}, {}, true));
    return kTrapped;
  }
  const std::vector<ArrayDifference> arrays = CompareOutputs(a, b, tolerance);
  const bool differs =
      std::any_of(arrays.begin(), arrays.end(), [](const ArrayDifference& d) { return !d.comparison.ok(); });
  Origin origin;
  if (differs && !options.has("outputs-only")) origin = FindOrigin(a, b, tolerance, &progress);
  if (options.has("json")) {
    PrintJson(Json(arrays, origin, false));
    return differs ? kDiffers : kOk;
  }
  for (const ArrayDifference& d : arrays) std::printf("%s: %s\n", ir::Escaped(d.name).c_str(), d.text.c_str());
  if (!differs) return kOk;
  std::printf("actual: %s; expected: %s\n", b.name.c_str(), a.name.c_str());
  if (!origin.op.empty()) {
    std::printf("%s: the first result that differs, of %s, by block: %s\n", origin.where.c_str(), origin.op.c_str(),
                origin.text.c_str());
  } else if (!origin.text.empty()) {
    std::fprintf(stderr, "note: the first operation that differs is not known: %s\n", origin.text.c_str());
  } else if (!options.has("outputs-only")) {
    std::printf("no result of an operation that both have differs: look at what is stored, and where\n");
  }
  return kDiffers;
}

}  // namespace

const Command kDiffCommand = {
    "diff",
    "K [INPUTS…] [--with FILE] [--device cuda[:N]] [options]",
    "runs a launch twice, on two engines or of two programs, and says where they begin to differ",
    [] {
      std::vector<OptionSpec> o = LaunchOptionSpecs();
      for (OptionSpec& spec : o) {
        if (absl::string_view(spec.name) == "device")
          spec = {"device", 0, "cpu|cuda[:N]", "where the second run is (default: cpu, the VM)"};
      }
      o.insert(o.end(), {{"with", 'w', "FILE", "the program of the second run (default: K)"},
                         {"with-kernel", 0, "NAME", "its kernel (default: as --kernel)"},
                         {"rtol", 0, "R", "relative tolerance (default 0)"},
                         {"atol", 0, "A", "absolute tolerance (default 0)"},
                         {"ulp", 0, "U", "tolerance in units in the last place (default 0)"},
                         {"outputs-only", 0, nullptr, "do not look for the first operation that differs"},
                         {"json", 0, nullptr, "one JSON object"}});
      return o;
    }(),
    R"(The first run is K on the VM. All arrays that the kernel may write are compared; exit code 3 if one differs beyond the
tolerance. Then the program is run again with its values exposed, one operation after the other in the order of the text, to
find the first whose result differs. Inside loops, values of the last iteration are compared. Operations of two programs are matched
by kind and type. On a GPU the instrumented program must be compiled first: pass --compile, otherwise only outputs are compared.

examples:
  tilevm diff matmul.tbc rand:f32[512,512] rand:f32[512,512] --device cuda --rtol 1e-5
  tilevm diff before.tile x.npy --with after.tile
)",
    &Diff};

}  // namespace tile::tools
