// Runs test files of operations (tests/harness/op_file.h) and recorded launches (tools/launch/record.h) on a GPU, each kernel compiled
// by our code generator for it, and says what is not as expected.
//
//   gpu_check [--device=cuda:0] [--sm=90] [--ptx] [--opt=3] [--warps=N] [--join] [--recompute]
//             [--random=FIRST,LAST] FILE.tile… RECORD.json…
//   gpu_check litmus …        litmus_run.cc
//
// --random runs programs made from these seeds (tests/fuzz/random_program.h), here and on the VM. Of one that differs it
// looks for the step that goes wrong, and writes the program up to it, without what does not matter, to
// random_SEED.tile. With few warps (--warps=1) code generation cuts small tiles into slices, too.
// With --join the work of neighbouring blocks is done by one in small grids, too (codegen/passes/grid/coarsen_blocks.h). With --recompute loops
// compute addresses again, as in kernels that spill (codegen/llvm/recompute_addresses.h).
//
// With --ptx the driver compiles, so that a GPU also runs what code generation makes for older ones: --sm=75 --ptx.
//
// A line per file: passed, failed, skipped (calls whose mistake only the VM finds), refused. Floats of recorded launches
// may differ by rounding: the largest error relative to the norm of the array is printed, and judged by its type. With
// --device=none everything is compiled and nothing is run. Exit code 3 if anything failed.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/float.h"
#include "ir/forms/forms.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify/verify.h"
#include "runtime/host_memory.h"
#include "tests/fuzz/random_program.h"
#include "tests/gpu/litmus_run.h"
#include "tests/gpu/on_gpu.h"
#include "tests/harness/on_vm.h"
#include "tests/harness/op_file.h"
#include "tools/data/element_text.h"
#include "tools/launch/record.h"

namespace tile::ops {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

struct Tally {
  int passed = 0, failed = 0, skipped = 0, refused = 0;
};

// A tile that is too large for the registers of so few warps.
bool IsTooLarge(absl::string_view message) { return absl::StrContains(message, "error[codegen.registers]"); }

// What the target lacks, and tiles that are too large for its shared memory or, with --warps, for the warps.
bool Refuses(const Gpu& setup, const absl::Status& s) {
  return absl::IsUnimplemented(s) || absl::StrContains(s.message(), "error[codegen.shared]") ||
         (setup.num_warps != 0 && IsTooLarge(s.message()));
}

void RunOpFile(const Gpu& setup, const std::string& path, Tally* tally) {
  const absl::StatusOr<std::vector<Variant>> variants = ParseOpFile(ReadAll(path));
  if (!variants.ok()) {
    std::printf("FAIL %s: %s\n", path.c_str(), std::string(variants.status().message()).c_str());
    ++tally->failed;
    return;
  }
  const Engine engine = setup.Engine();
  for (const Variant& v : *variants) {
    ir::Diagnostics diagnostics;
    const std::unique_ptr<ir::Module> module = ir::Parse(v.text, path, &diagnostics);
    if (module == nullptr) {
      if (absl::StrContains(v.text, "// error: ")) continue;  // a test of mistakes
      std::printf("FAIL %s: %s %s\n", path.c_str(), v.name.c_str(), diagnostics.ToString().substr(0, 400).c_str());
      ++tally->failed;
      continue;
    }
    ir::Verify(*module, &diagnostics);
    for (const Call& call : v.calls) {
      // Mistakes that only the VM looks for are undefined behaviour here.
      const bool in_order =
          std::any_of(call.expected.begin(), call.expected.end(), [](const auto& e) { return e.in_order; });
      if (in_order || !call.refused.empty() || (!call.trap.empty() && !absl::StartsWith(call.trap, "vm.assert"))) {
        ++tally->skipped;
        continue;
      }
      if (setup.device == nullptr) {
        const auto loaded = setup.Load(*module, call.kernel);
        if (loaded.ok()) {
          ++tally->passed;
        } else {
          ++(absl::IsUnimplemented(loaded.status()) ? tally->refused : tally->failed);
          std::printf("%s %s:%d %s: %s\n", absl::IsUnimplemented(loaded.status()) ? "REFUSED" : "FAIL", path.c_str(),
                      call.line, v.name.c_str(), std::string(loaded.status().message()).substr(0, 400).c_str());
        }
        continue;
      }
      Call on_gpu = call;
      for (auto& e : on_gpu.expected) e.ulp = std::max(e.ulp, e.gpu_ulp);
      const std::string fault = RunCall(*module, on_gpu, false, engine);
      if (fault.empty()) {
        ++tally->passed;
      } else if (absl::StrContains(fault, "error[codegen.unsupported]") ||
                 (setup.num_warps != 0 && IsTooLarge(fault))) {
        ++tally->refused;
        std::printf("REFUSED %s:%d %s: %s\n", path.c_str(), call.line, v.name.c_str(), fault.substr(0, 300).c_str());
      } else {
        ++tally->failed;
        std::printf("FAIL %s:%d %s: %s\n", path.c_str(), call.line, v.name.c_str(), fault.substr(0, 400).c_str());
      }
    }
  }
}

// ‖a − b‖ / ‖b‖ over float elements, infinite if a NaN or infinity stands against something else.
double NormError(ir::Elem elem, const uint8_t* a, const uint8_t* b, int64_t n) {
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double x = ir::ToDouble(elem, tools::LoadBits(elem, a, i)),
                 y = ir::ToDouble(elem, tools::LoadBits(elem, b, i));
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y) {
      norm += std::isfinite(y) ? y * y : 0;
      continue;
    }
    if (!std::isfinite(x) || !std::isfinite(y)) return INFINITY;
    difference += (x - y) * (x - y);
    norm += y * y;
  }
  return difference == 0 ? 0 : norm == 0 ? std::sqrt(difference) : std::sqrt(difference / norm);
}

double Tolerance(ir::Elem elem) {
  return elem == ir::Elem::kF64 ? 1e-12 : elem == ir::Elem::kF32 ? 1e-5 : elem == ir::Elem::kBF16 ? 8e-3 : 2e-3;
}

void RunRecord(const Gpu& setup, const std::string& path, Tally* tally) {
  const std::string base = path.substr(0, path.size() - 5);
  auto fail = [&](absl::string_view what) {
    std::printf("FAIL %s: %s\n", path.c_str(), std::string(what).substr(0, 500).c_str());
    ++tally->failed;
  };
  const auto record = tools::ParseRecord(ReadAll(path));
  if (!record.ok()) return fail(record.status().message());
  const absl::StatusOr<std::string> path_of_module = tools::FindRecordedModule(base);
  if (!path_of_module.ok()) return fail(path_of_module.status().message());
  const std::string bytes = ReadAll(*path_of_module);
  ir::Diagnostics diagnostics;
  const auto program = ir::ReadProgram({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, *path_of_module,
                                       /*verify=*/true, &diagnostics);
  if (!program.ok()) return fail(program.status().message());
  auto loaded = setup.Load(*program->module, record->symbol);
  if (!loaded.ok()) return fail(loaded.status().message());
  if (setup.device == nullptr) {
    ++tally->passed;
    return;
  }
  const std::string before = ReadAll(base + ".before"), after = ReadAll(base + ".after");
  std::vector<std::string> blocks;
  size_t at = 0;
  for (int64_t n : record->sizes) {
    blocks.push_back(before.substr(at, static_cast<size_t>(n)));
    at += static_cast<size_t>(n);
  }
  runtime::HostMemory memory(setup.device);
  runtime::LaunchSpec spec;
  for (size_t i = 0; i < record->grid.size() && i < 3; ++i) spec.grid[i] = record->grid[i];
  for (size_t i = 0; i < blocks.size(); ++i) {
    const absl::StatusOr<uint64_t> address = memory.Add(blocks[i].data(), blocks[i].size());
    if (!address.ok()) return fail(address.status().message());
    spec.memory.push_back({absl::StrCat("block ", i),
                           *address,
                           blocks[i].size(),
                           ir::Element::Number(ir::Elem::kI8),
                           {static_cast<int64_t>(blocks[i].size())},
                           true});
  }
  for (const tools::RecordedParam& p : record->params) {
    if (p.kind == tools::RecordedParam::Kind::kScalar) {
      spec.words.push_back(p.bits);
      continue;
    }
    spec.words.push_back(spec.memory[static_cast<size_t>(p.block)].address + static_cast<uint64_t>(p.offset));
    spec.words.insert(spec.words.end(), p.shape.begin(), p.shape.end());
    spec.words.insert(spec.words.end(), p.strides.begin(), p.strides.end());
  }
  const absl::StatusOr<std::shared_ptr<runtime::PreparedLaunch>> launch = loaded->kernel->Prepare(std::move(spec));
  absl::Status s = launch.status();
  if (s.ok()) s = (*launch)->Run(setup.device->default_stream());
  if (s.ok()) s = setup.device->default_stream()->Synchronize();
  if (s.ok()) s = memory.Download();
  if (!s.ok()) return fail(s.message());

  // Floats by the error of each array, all else bit by bit.
  at = 0;
  std::vector<std::string> expected;
  for (int64_t n : record->sizes) {
    expected.push_back(after.substr(at, static_cast<size_t>(n)));
    at += static_cast<size_t>(n);
  }
  std::string worst;
  bool exact = true, good = true;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i] == expected[i]) continue;
    exact = false;
    ir::Elem elem = ir::Elem::kI8;
    for (const tools::RecordedParam& p : record->params) {
      if (p.kind != tools::RecordedParam::Kind::kScalar && static_cast<size_t>(p.block) == i) elem = p.element.kind;
    }
    size_t first = 0;
    while (blocks[i][first] == expected[i][first]) ++first;
    if (!ir::IsFp(elem)) {
      good = false;
      absl::StrAppend(&worst, " block ", i, " (", ir::ElemInfoOf(elem).spelling, ") differs from byte ", first, " on;");
      continue;
    }
    const double error = NormError(elem, reinterpret_cast<const uint8_t*>(blocks[i].data()),
                                   reinterpret_cast<const uint8_t*>(expected[i].data()),
                                   static_cast<int64_t>(blocks[i].size()) / ir::StorageBytes(elem));
    good = good && error <= Tolerance(elem);
    absl::StrAppend(&worst, " block ", i, " (", ir::ElemInfoOf(elem).spelling, ") norm error ", error, " from byte ",
                    first, ";");
  }
  if (good) {
    ++tally->passed;
    if (!exact) std::printf("CLOSE %s:%s\n", path.c_str(), worst.c_str());
  } else {
    fail(worst);
  }
}

// What the GPU makes of a random program and the VM does not; empty if nothing.
struct RandomResult {
  std::string difference;
  bool refused = false, lost = false;  // lost: the device is of no more use
};

RandomResult CompareRandom(const Gpu& setup, const fuzz::RandomProgram& program) {
  RandomResult result;
  if (setup.device == nullptr) {
    const auto loaded = setup.Load(*program.module, "random");
    if (!loaded.ok()) result.difference = std::string(loaded.status().message());
    result.refused = Refuses(setup, loaded.status());
    return result;
  }
  Arguments expected = fuzz::MakeArguments(program), actual = fuzz::MakeArguments(program);
  const Answer vm = OnVm(vm::CheckLevel::kBounds, 1)(*program.module, "random", &expected);
  if (!vm.refused.ok() || !vm.reports.empty()) {
    result.difference = absl::StrCat("the VM: ", vm.refused.ToString(), vm.reports.empty() ? "" : vm.reports[0]);
    return result;
  }
  const Answer gpu = setup.Run(*program.module, "random", &actual);
  if (!gpu.refused.ok() || !gpu.reports.empty()) {
    result.refused = Refuses(setup, gpu.refused);
    result.lost = !result.refused;
    result.difference = absl::StrCat(gpu.refused.ToString(), gpu.reports.empty() ? "" : gpu.reports[0]);
    return result;
  }
  result.difference = fuzz::Difference(program, expected, actual);
  return result;
}

// Compares the programs of these seeds; gives the seed to go on with in another process, or -1.
int64_t RunRandom(const Gpu& setup, int64_t first, int64_t last, Tally* tally) {
  for (int64_t seed = first; seed <= last; ++seed) {
    const fuzz::RandomOptions options = {.seed = static_cast<uint64_t>(seed)};
    fuzz::RandomProgram program = fuzz::MakeRandomProgram(options);
    RandomResult result = CompareRandom(setup, program);
    if (result.difference.empty()) {
      ++tally->passed;
      continue;
    }
    ++(result.refused ? tally->refused : tally->failed);
    const std::string what = result.difference;
    const int steps = program.steps;
    int found = steps;
    for (int n = 1; n <= steps && !result.refused && !result.lost; ++n) {
      fuzz::RandomProgram fewer = fuzz::MakeRandomProgram({.seed = options.seed, .steps = n, .last_only = true});
      result = CompareRandom(setup, fewer);
      if (result.difference.empty()) continue;
      found = n;
      program = std::move(fewer);
      break;
    }
    std::printf("%s random %lld: %s\n  step %d of %d: %s\n", result.refused ? "REFUSED" : "FAIL",
                static_cast<long long>(seed), what.substr(0, 400).c_str(), found, steps,
                result.difference.substr(0, 400).c_str());
    std::ofstream(absl::StrCat("random_", seed, ".tile")) << ir::Print(*program.module);
    if (result.lost) return seed + 1;
  }
  return -1;
}

int Main(int argc, char** argv) {
  Gpu setup;
  std::string device = "cuda:0";
  int sm = 90;
  std::vector<std::string> files;
  int64_t seeds[2] = {0, -1};
  for (int i = 1; i < argc; ++i) {
    absl::string_view a = argv[i];
    if (absl::ConsumePrefix(&a, "--device=")) {
      device = std::string(a);
    } else if (absl::ConsumePrefix(&a, "--sm=")) {
      sm = std::atoi(std::string(a).c_str());
    } else if (a == "--ptx") {
      setup.kind = ir::ImageKind::kPtx;
    } else if (absl::ConsumePrefix(&a, "--opt=")) {
      setup.opt_level = std::atoi(std::string(a).c_str());
    } else if (a == "--join") {
      setup.joins = true;
    } else if (a == "--recompute") {
      setup.recomputes_addresses = true;
    } else if (absl::ConsumePrefix(&a, "--warps=")) {
      setup.num_warps = std::atoi(std::string(a).c_str());
    } else if (absl::ConsumePrefix(&a, "--random=")) {
      const std::vector<std::string> both = absl::StrSplit(a, ',');
      if (both.size() != 2 || !absl::SimpleAtoi(both[0], &seeds[0]) || !absl::SimpleAtoi(both[1], &seeds[1])) {
        std::fprintf(stderr, "gpu_check: --random=FIRST,LAST\n");
        return 2;
      }
    } else {
      files.push_back(argv[i]);
    }
  }
  setup.target = codegen::FindTarget(sm);
  if (setup.target == nullptr) {
    std::fprintf(stderr, "gpu_check: no target sm_%d\n", sm);
    return 2;
  }
  if (device != "none") {
    auto opened = runtime::OpenDevice(device);
    if (!opened.ok()) {
      std::fprintf(stderr, "%s\n", std::string(opened.status().message()).c_str());
      return 5;
    }
    setup.device = *opened;
  }
  int failed = 0;
  if (seeds[0] <= seeds[1]) {
    Tally t;
    const int64_t next = RunRandom(setup, seeds[0], seeds[1], &t);
    const int64_t end = next < 0 ? seeds[1] : next - 1;
    failed += t.failed;
    std::printf("DONE random %lld,%lld: %d passed, %d failed, %d skipped, %d refused\n",
                static_cast<long long>(seeds[0]), static_cast<long long>(end), t.passed, t.failed, t.skipped,
                t.refused);
    std::fflush(stdout);
    if (next >= 0 && next <= seeds[1]) {
      // A kernel that the hardware stops takes the process's device with it.
      std::string rest = absl::StrCat("--random=", next, ",", seeds[1]);
      std::vector<char*> arguments(argv, argv + argc);
      for (char*& a : arguments) {
        if (absl::StartsWith(a, "--random=")) a = rest.data();
      }
      arguments.push_back(nullptr);
      execv("/proc/self/exe", arguments.data());
      return 70;
    }
  }
  for (const std::string& f : files) {
    Tally t;
    if (absl::EndsWith(f, ".json")) {
      RunRecord(setup, f, &t);
    } else {
      RunOpFile(setup, f, &t);
    }
    failed += t.failed;
    std::printf("DONE %s: %d passed, %d failed, %d skipped, %d refused\n", f.c_str(), t.passed, t.failed, t.skipped,
                t.refused);
    std::fflush(stdout);
  }
  return failed > 0 ? 3 : 0;
}

}  // namespace
}  // namespace tile::ops

int main(int argc, char** argv) {
  if (argc > 1 && absl::string_view(argv[1]) == "litmus") return tile::ops::RunLitmus(argc - 1, argv + 1);
  return tile::ops::Main(argc, argv);
}
