// tilevm replay: recorded launches against what was recorded (record.h).
#include <algorithm>
#include <cstdio>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "ir/cpp_name.h"
#include "ir/escape.h"
#include "runtime/host_memory.h"
#include "tools/cli/report.h"
#include "tools/data/compare_arrays.h"
#include "tools/data/files.h"
#include "tools/data/json.h"
#include "tools/launch/launch_command.h"
#include "tools/launch/record.h"
#include "tools/tilevm/commands.h"
#include "tools/tilevm/run_report.h"

namespace tile::tools {
namespace {

constexpr int64_t kMaxRecordText = 64 << 20;
constexpr uint64_t kBlockAlignment = 256;  // as the recordings had it

struct MemoryBlock {
  AlignedBuffer memory;
  uint8_t* data = nullptr;  // aligned
  int64_t bytes = 0;
};

struct Replayed {
  std::string name;
  int64_t differing = 0, elements = 0;
  double max_abs = 0, max_rel = 0;
  uint64_t max_ulp = 0;
  bool compared = false, trapped = false;
  double ms = 0;
  std::string first;  // the first difference
};

absl::Status ReadBlocks(const std::string& path, const RecordedLaunch& record, std::vector<MemoryBlock>* blocks) {
  absl::StatusOr<AlignedBuffer> file = ReadWholeFile(path);
  if (!file.ok()) return file.status();
  int64_t total = 0;
  for (int64_t n : record.sizes) total += n;
  if (static_cast<int64_t>(file->size()) != total) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": has ", file->size(), " bytes, the record says ", total));
  }
  int64_t at = 0;
  for (int64_t n : record.sizes) {
    MemoryBlock b;
    absl::StatusOr<AlignedBuffer> memory = AlignedBuffer::Uninitialized(static_cast<size_t>(n) + kBlockAlignment);
    if (!memory.ok()) return memory.status();
    b.memory = *std::move(memory);
    const auto p = reinterpret_cast<uintptr_t>(b.memory.data());
    b.data = reinterpret_cast<uint8_t*>((p + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment);
    b.bytes = n;
    std::copy(file->data() + at, file->data() + at + n, b.data);
    at += n;
    blocks->push_back(std::move(b));
  }
  return absl::OkStatus();
}

// The elements of an array, gathered by its strides.
absl::StatusOr<Array> Gather(const RecordedParam& p, const MemoryBlock& block) {
  absl::StatusOr<Array> a = Array::Make(p.element, p.shape);
  if (!a.ok()) return a;
  a->is_unsigned = p.is_unsigned;
  const int64_t n = a->count();
  const int64_t capacity = (block.bytes - p.offset) * 8 / ir::MemoryBits(p.element.kind);
  std::vector<int64_t> at(p.shape.size());
  for (int64_t i = 0; i < n; ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); ++d) offset += at[d] * p.strides[d];
    if (offset < 0 || offset >= capacity)
      return absl::InvalidArgumentError("an array of the record lies outside of its block");
    StoreBits(p.element.kind, a->bytes.data(), i, LoadBits(p.element.kind, block.data + p.offset, offset));
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < p.shape[d]) break;
      at[d] = 0;
    }
  }
  return a;
}

absl::Status CompareBlocks(const RecordedLaunch& record, const std::vector<MemoryBlock>& actual,
                           const std::vector<MemoryBlock>& expected, const Tolerance& tolerance, Replayed* out) {
  out->compared = true;
  // Elements of arrays by their type; every byte that belongs to none must be equal.
  std::vector<std::vector<bool>> covered(actual.size());
  for (size_t i = 0; i < actual.size(); ++i) covered[i].resize(static_cast<size_t>(actual[i].bytes));
  for (size_t i = 0; i < record.params.size(); ++i) {
    RecordedParam p = record.params[i];
    if (p.kind == RecordedParam::Kind::kScalar) continue;
    const auto b = static_cast<size_t>(p.block);
    const int64_t element_bytes = std::max(1, ir::MemoryBits(p.element.kind) / 8);
    if (p.kind == RecordedParam::Kind::kPointer) {
      p.shape = {(actual[b].bytes - p.offset) / element_bytes};
      p.strides = {1};
    }
    absl::StatusOr<Array> x = Gather(p, actual[b]), y = Gather(p, expected[b]);
    if (!x.ok()) return x.status();
    if (!y.ok()) return y.status();
    absl::StatusOr<Comparison> c = Compare(*x, *y, tolerance);
    if (!c.ok()) return c.status();
    out->elements += c->count;
    out->max_abs = std::max(out->max_abs, c->max_abs);
    out->max_rel = std::max(out->max_rel, c->max_rel);
    out->max_ulp = std::max(out->max_ulp, c->max_ulp);
    out->differing += c->differing;
    if (!c->ok() && out->first.empty()) out->first = absl::StrCat("parameter ", i, ": ", Describe(*c, *x, *y));
    std::vector<int64_t> at(p.shape.size());
    for (int64_t n = x->count(); n > 0; --n) {
      int64_t offset = 0;
      for (size_t d = 0; d < at.size(); ++d) offset += at[d] * p.strides[d];
      const int64_t byte = p.offset + offset * ir::MemoryBits(p.element.kind) / 8;
      for (int64_t k = byte; k < byte + element_bytes; ++k) covered[b][static_cast<size_t>(k)] = true;
      for (size_t d = at.size(); d-- > 0;) {
        if (++at[d] < p.shape[d]) break;
        at[d] = 0;
      }
    }
  }
  for (size_t b = 0; b < actual.size(); ++b) {
    for (int64_t i = 0; i < actual[b].bytes; ++i) {
      if (covered[b][static_cast<size_t>(i)] || actual[b].data[i] == expected[b].data[i]) continue;
      ++out->differing;
      if (out->first.empty())
        out->first = absl::StrCat("byte ", i, " of block ", b, ", outside of every array, changed");
    }
  }
  return absl::OkStatus();
}

// The launch as it was recorded, on a device.
absl::Status BindRecord(const RecordedLaunch& record, const ir::Function& f, const std::vector<MemoryBlock>& blocks,
                        runtime::HostMemory* memory, runtime::LaunchSpec* spec) {
  std::copy(record.grid.begin(), record.grid.end(), spec->grid.begin());
  for (const MemoryBlock& b : blocks) {
    const absl::StatusOr<uint64_t> address = memory->Add(b.data, static_cast<uint64_t>(b.bytes));
    if (!address.ok()) return address.status();
    spec->memory.push_back({"", *address, static_cast<uint64_t>(b.bytes), {}, {}, true});
  }
  for (const RecordedParam& p : record.params) {
    if (p.kind == RecordedParam::Kind::kScalar) {
      spec->words.push_back(p.bits);
      continue;
    }
    runtime::Buffer& m = spec->memory[static_cast<size_t>(p.block)];
    const size_t index = spec->words.size();
    if (m.name.empty()) {
      const bool named = index < static_cast<size_t>(f.num_params()) && !f.param(static_cast<int>(index))->name.empty();
      m.name = named ? std::string(f.param(static_cast<int>(index))->name) : absl::StrCat("parameter ", index);
    }
    spec->words.push_back(m.address + static_cast<uint64_t>(p.offset));
    for (int64_t n : p.shape) spec->words.push_back(static_cast<uint64_t>(n));
    for (int64_t n : p.strides) spec->words.push_back(static_cast<uint64_t>(n));
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (spec->memory[i].name.empty()) spec->memory[i].name = absl::StrCat("block ", i);
  }
  if (spec->words.size() == static_cast<size_t>(f.num_params())) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("kernel `", ir::ReadableName(f.name), "` takes ", f.num_params(),
                                                 " parameters, not ", spec->words.size()));
}

// False after an error on stderr.
bool ReplayOne(const std::string& json_path, const Options& options, const Tolerance& tolerance,
               const LaunchRequest& request, DeviceChoice& device, Progress* progress, double from, double to,
               Replayed* out, int* exit) {
  const std::string base = absl::EndsWith(json_path, ".json") ? json_path.substr(0, json_path.size() - 5) : json_path;
  const size_t slash = base.find_last_of('/');
  out->name = slash == std::string::npos ? base : base.substr(slash + 1);
  const std::string json = base + ".json";
  const auto fail_in = [&](const std::string& file, const absl::Status& s) {
    *exit = FailAt(file, kRejected, "replay.read", s);
    return false;
  };
  const auto fail = [&](const absl::Status& s) { return fail_in(json, s); };
  absl::StatusOr<AlignedBuffer> text = ReadWholeFile(json, kMaxRecordText);
  if (!text.ok()) return fail(text.status());
  absl::StatusOr<RecordedLaunch> record = ParseRecord({reinterpret_cast<const char*>(text->data()), text->size()});
  if (!record.ok()) return fail(record.status());
  absl::StatusOr<std::string> module_path = FindRecordedModule(base);
  if (!module_path.ok()) return fail(module_path.status());
  auto loaded = Load(*module_path, exit, {.warnings = false});
  if (loaded == nullptr) return false;
  const ir::Function* f = PickKernel(*loaded->module, *module_path, record->symbol, exit);
  if (f == nullptr) return false;
  std::vector<MemoryBlock> blocks;
  if (absl::Status s = ReadBlocks(base + ".before", *record, &blocks); !s.ok()) return fail_in(base + ".before", s);

  const std::optional<DeviceKernel> kernel = device.Load(*loaded, *f, *module_path, exit);
  if (!kernel) return false;
  runtime::HostMemory memory(kernel->device);
  runtime::LaunchSpec spec;
  absl::Status bound = BindRecord(*record, *f, blocks, &memory, &spec);
  if (!bound.ok()) return fail(bound);
  const int64_t count = spec.grid[0] * spec.grid[1] * spec.grid[2];
  RunLog log;
  if (!kernel->is_gpu()) {
    spec.options = request.options;
    log.Attach(&spec.options);
    if (progress->active()) spec.options.blocks_done = progress->done();
  }
  const bool quiet = options.has("json");
  SetPrint(*kernel, quiet ? PrintFunction([](absl::string_view) {}) : nullptr, progress);
  const absl::StatusOr<std::shared_ptr<runtime::PreparedLaunch>> launch = kernel->loaded->Prepare(spec);
  if (!launch.ok()) return fail(launch.status());
  progress->Begin(f->name, from, to, count);
  RunOutcome outcome =
      RunTimed(*kernel, spec.options, count, &log, [&](runtime::Stream* s) { return (*launch)->Run(s); });
  progress->End();
  if (outcome.ok()) outcome.status = memory.Download();
  out->ms = outcome.ms;
  if (!outcome.status.ok()) return fail(outcome.status);
  if (options.positional().size() == 1 && !quiet) ReportOrders(spec, outcome);
  for (const runtime::Report& r : outcome.warnings) PrintDiagnostics(r.ToString());
  for (const runtime::Report& r : outcome.reports) PrintDiagnostics(r.ToString());
  if (!outcome.reports.empty()) {
    out->trapped = true;
    out->first = outcome.reports[0].code;
    return true;
  }
  FILE* after = std::fopen((base + ".after").c_str(), "rb");
  if (after == nullptr) return true;
  std::fclose(after);
  std::vector<MemoryBlock> expected;
  if (absl::Status s = ReadBlocks(base + ".after", *record, &expected); !s.ok()) return fail_in(base + ".after", s);
  if (absl::Status s = CompareBlocks(*record, blocks, expected, tolerance, out); !s.ok()) return fail(s);
  return true;
}

int Replay(const Options& options) {
  if (options.positional().empty()) return Fail(kUsage, "usage", "no recorded launch", "tilevm replay NAME.json…");
  if (absl::c_linear_search(options.positional(), "-")) {
    return Fail(kUsage, "usage", "a recorded launch is several files and cannot come from stdin", "name its .json");
  }
  int exit = kOk;
  LaunchRequest request;
  if (!ParseLaunchOptions(options, &request, &exit)) return exit;
  Tolerance tolerance;
  if (!ParseTolerance(options, &tolerance, &exit)) return exit;
  std::unique_ptr<DeviceChoice> device = ChooseOnlyDevice(options, &exit);
  if (device == nullptr) return exit;
  Progress progress(!options.has("json"));
  const double count = static_cast<double>(options.positional().size());
  int64_t index = 0;
  int64_t differ = 0, trapped = 0, failed = 0;
  for (const std::string& path : options.positional()) {
    Replayed r;
    int one = kOk;
    const double from = static_cast<double>(index++) / count;
    if (!ReplayOne(path, options, tolerance, request, *device, &progress, from, from + 1 / count, &r, &one)) {
      ++failed;
      exit = std::max(exit, one);
      if (options.has("json"))
        PrintJson(absl::StrCat("{\"name\":", JsonQuote(ir::Escaped(r.name)), ",", FailureMembers(one), "}"));
      continue;
    }
    trapped += r.trapped;
    differ += r.differing > 0;
    if (options.has("json")) {
      PrintJson(absl::StrFormat(
          "{\"name\":%s,\"result\":\"%s\",\"elements\":%d,\"differing\":%d,\"max_abs\":%s,\"max_rel\":%s,"
          "\"max_ulp\":%d,\"ms\":%.3f,\"first\":%s}",
          JsonQuote(ir::Escaped(r.name)),
          r.trapped         ? "trapped"
          : !r.compared     ? "ran"
          : r.differing > 0 ? "differs"
                            : "equal",
          r.elements, r.differing, JsonNumber(r.max_abs), JsonNumber(r.max_rel), r.max_ulp, r.ms,
          JsonQuote(ir::Escaped(r.first))));
    } else if (r.differing > 0) {
      std::printf("%s: differs: %s\n", ir::Escaped(r.name).c_str(), ir::Escaped(r.first).c_str());
    } else if (!r.trapped && options.positional().size() == 1) {
      std::printf("%s: %s\n", r.name.c_str(), r.compared ? "equal" : "ran (nothing to compare with)");
    }
  }
  if (!options.has("json") && options.positional().size() > 1) {
    std::printf("%zu launches: %lld differ, %lld trapped, %lld could not run\n", options.positional().size(),
                static_cast<long long>(differ), static_cast<long long>(trapped), static_cast<long long>(failed));
  }
  if (trapped > 0) return kTrapped;
  if (exit != kOk) return exit;
  return differ > 0 ? kDiffers : kOk;
}

std::vector<OptionSpec> ReplayOptionSpecs() {
  std::vector<OptionSpec> specs = DeviceOptionSpecs();
  specs.push_back({"rtol", 0, "R", "relative tolerance of floats (default 0)"});
  specs.push_back({"atol", 0, "A", "absolute tolerance of floats (default 0)"});
  specs.push_back({"ulp", 0, "U", "tolerance of floats in units in the last place (default 0)"});
  specs.push_back({"json", 0, nullptr, "one line of JSON a launch, with the largest differences"});
  return specs;
}

}  // namespace

const Command kReplayCommand = {
    "replay",
    "NAME.json… [options]",
    "runs recorded launches and compares the memory afterwards with the recording",
    ReplayOptionSpecs(),
    R"(A launch is NAME.json with the module (.tbc, .tilebc or .tile), NAME.before and, to compare with, NAME.after in the same folder.
`tilevm run --record NAME` writes one.

example:
  tilevm replay launches/*.json --rtol 1e-3 --json
)",
    &Replay};

}  // namespace tile::tools
