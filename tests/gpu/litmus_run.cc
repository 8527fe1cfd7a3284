// Runs litmus tests (litmus.h) on a GPU and prints what came out how often.
//
//   gpu_check litmus [--device=cuda:0] [--sm=90] [--rounds=1024] [--tests=128] [--launches=20] FILE.tile…
//
// A line per form of each file. Exit code 3 if a form that is not weakened showed what is forbidden.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "tests/gpu/litmus.h"
#include "tests/gpu/litmus_run.h"
#include "tests/gpu/on_gpu.h"

namespace tile::ops {
namespace {

struct Options {
  std::string device = "cuda:0";
  int64_t sm = 90, rounds = 1024, tests = 128, launches = 20;
};

absl::Status RunOne(const Gpu& gpu, const LitmusTest& test, const Options& o, LitmusCounts* counts) {
  ir::Diagnostics diagnostics;
  const auto module = ir::Parse(test.text, "litmus.tile", &diagnostics);
  if (module != nullptr) ir::Verify(*module, &diagnostics);
  if (!diagnostics.ok()) return diagnostics.ToStatus();
  auto compiled = gpu.Load(*module, "litmus");
  if (!compiled.ok() || gpu.device == nullptr) return compiled.status();
  for (int64_t i = 0; i < o.launches; ++i) {
    auto arguments = LitmusArguments(test, *module->FindFunction("litmus"), o.rounds, o.tests);
    if (!arguments.ok()) return arguments.status();
    const Answer answer = gpu.Launch(*compiled, &*arguments);
    if (!answer.refused.ok()) return answer.refused;
    if (!answer.reports.empty()) return absl::AbortedError(answer.reports[0]);
    CountOutcomes(test, *arguments, o.rounds, o.tests, counts);
  }
  return absl::OkStatus();
}

}  // namespace

int RunLitmus(int argc, char** argv) {
  Options o;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    absl::string_view a = argv[i];
    bool good = true;
    if (absl::ConsumePrefix(&a, "--device=")) {
      o.device = std::string(a);
    } else if (absl::ConsumePrefix(&a, "--sm=")) {
      good = absl::SimpleAtoi(a, &o.sm);
    } else if (absl::ConsumePrefix(&a, "--rounds=")) {
      good = absl::SimpleAtoi(a, &o.rounds) && o.rounds > 0;
    } else if (absl::ConsumePrefix(&a, "--tests=")) {
      good = absl::SimpleAtoi(a, &o.tests) && o.tests > 0;
    } else if (absl::ConsumePrefix(&a, "--launches=")) {
      good = absl::SimpleAtoi(a, &o.launches);
    } else {
      files.push_back(argv[i]);
    }
    if (!good) {
      std::fprintf(stderr, "litmus: %s\n", argv[i]);
      return 2;
    }
  }
  Gpu gpu;
  gpu.target = codegen::FindTarget(static_cast<int>(o.sm));
  if (gpu.target == nullptr) return 2;
  if (o.device != "none") {
    auto opened = runtime::OpenDevice(o.device);
    if (!opened.ok()) {
      std::fprintf(stderr, "%s\n", std::string(opened.status().message()).c_str());
      return 5;
    }
    gpu.device = *opened;
  }
  int failed = 0;
  for (const std::string& f : files) {
    std::ifstream in(f, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    const auto tests = ParseLitmus(text.str());
    if (!tests.ok()) {
      std::printf("FAIL %s: %s\n", f.c_str(), std::string(tests.status().message()).c_str());
      ++failed;
      continue;
    }
    for (const LitmusTest& t : *tests) {
      LitmusCounts counts;
      const absl::Status s = RunOne(gpu, t, o, &counts);
      const bool bad = !s.ok() || (!t.weaker && counts.forbidden > 0);
      failed += bad;
      std::printf("%s %s (%s): %s\n",
                  bad        ? "FAIL"
                  : t.weaker ? "WEAK"
                             : "OK",
                  f.c_str(), t.name.c_str(),
                  s.ok()
                      ? absl::StrCat(counts.forbidden, " forbidden of ", counts.runs, "; ", counts.ToString()).c_str()
                      : std::string(s.message()).c_str());
      std::fflush(stdout);
    }
  }
  return failed > 0 ? 3 : 0;
}

}  // namespace tile::ops
