// Runs the schedules of whole programs, and finds out which changed ones are found:
//
//   mutants [--seeds=N] FILE…        tile code or Tile IR bytecode
//
// Each kernel goes through the passes for sm_90, once for each image that it may have (codegen/variants.def). A program whose loops are expanded
// must have no fault in N runs (200). Then each synchronising operation is changed (mutants.h). Prints what was not found, and a table.
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "codegen/gpu/ops.h"
#include "codegen/gpu/schedule/run.h"
#include "codegen/gpu/schedule/verify.h"
#include "codegen/passes/gpu_text.h"
#include "codegen/passes/tile_code.h"
#include "codegen/pipeline.h"
#include "codegen/target/tuning.h"
#include "codegen/variants.h"
#include "ir/clone.h"
#include "ir/tileir/reader.h"
#include "ir/verify/verify.h"
#include "tests/harness/tile_files.h"
#include "tests/schedule/mutants.h"

namespace tile::codegen::schedule {
namespace {

class Programs {
 public:
  explicit Programs(int seeds) : seeds_(seeds) {}

  void Add(const std::string& path) {
    const std::string bytes = ReadFile(path);
    ir::Diagnostics diagnostics;
    LayoutTable layouts;
    std::unique_ptr<ir::Module> module;
    if (absl::EndsWith(path, ".tilebc")) {
      auto read = ir::ReadTileIr({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, path);
      if (read.ok()) module = *std::move(read);
    } else {
      module = ParseGpu(bytes, path, &layouts, &diagnostics);
    }
    if (module == nullptr) return;
    ir::Verify(*TileCodeOf(*module), &diagnostics);
    if (!diagnostics.ok()) return;
    for (const auto& f : module->functions) {
      for (const Variant& variant : AllVariants()) AddVariant(path, *module, *f, variant);
    }
  }

  // Exit code.
  int Finish() const {
    for (const std::string& s : not_found_) std::printf("not found: %s\n", s.c_str());
    std::printf("%d programs, %d faults, %d of %d runs cut off\n%s", programs_, faults_, cut_off_, runs_,
                table_.ToString().c_str());
    return faults_ > 0 ? 1 : 0;
  }

 private:
  static constexpr int kSeedsOfMutant = 60;

  void AddVariant(const std::string& path, const ir::Module& module, const ir::Function& function,
                  const Variant& variant) {
    CompileOptions options;
    options.target = FindTarget(90);
    options.permissions = variant.permissions;
    Compilation c(module, function, options, Candidate{Ahead::kTma, tuning::kMostStages, 0});
    std::unique_ptr<ir::Module> before;
    for (const PassInfo& pass : AllPasses()) {
      if (!pass.of_program) break;
      if (!pass.of_tile_code && before == nullptr) before = ir::CloneModule(*c.module);
      if (!RunPass(c, pass.name).ok() || !c.applies) return;
    }
    const std::string text = PrintGpu(*c.module);
    if (!IsExpanded(*c.function) || !seen_.insert(text).second) return;
    ir::Diagnostics diagnostics;
    LayoutTable layouts;
    const std::unique_ptr<ir::Module> read = ParseGpu(text, path, &layouts, &diagnostics);
    if (read == nullptr) return Fail(path, diagnostics.ToString());
    AddProgram(path, *read, *before->functions[0]);
  }

  void AddProgram(const std::string& path, const ir::Module& module, const ir::Function& before) {
    const ir::Function& function = *module.functions[0];
    ++programs_;
    if (const std::string fault = GpuLevelFaults(function); !fault.empty()) return Fail(path, fault);
    for (int seed = 1; seed <= seeds_; ++seed) {
      const Outcome outcome = RunSchedule(function, &before, static_cast<uint64_t>(seed));
      ++runs_;
      cut_off_ += outcome.ended ? 0 : 1;
      if (outcome.fault.found()) return Fail(path, absl::StrCat(schedule::ToString(outcome.fault), " seed ", seed));
    }
    const size_t known = table_.survivors().size();
    table_.Add(module, &before, kSeedsOfMutant);
    for (size_t i = known; i < table_.survivors().size(); ++i)
      not_found_.push_back(
          absl::StrCat(path, " @", function.name, ": ", table_.survivors()[i].place, ": ", table_.survivors()[i].kind));
  }

  void Fail(const std::string& path, const std::string& fault) {
    std::printf("%s: %s\n", path.c_str(), fault.c_str());
    ++faults_;
  }

  const int seeds_;
  std::set<std::string> seen_;  // texts of programs
  std::vector<std::string> not_found_;
  MutantTable table_;
  int programs_ = 0, faults_ = 0, runs_ = 0, cut_off_ = 0;
};

int Main(int argc, char** argv) {
  int seeds = 200, first = 1;
  absl::string_view option = argc > 1 ? argv[1] : "";
  if (absl::ConsumePrefix(&option, "--seeds=")) {
    if (!absl::SimpleAtoi(option, &seeds)) return 2;
    first = 2;
  }
  Programs programs(seeds);
  for (int i = first; i < argc; ++i) programs.Add(argv[i]);
  return programs.Finish();
}

}  // namespace
}  // namespace tile::codegen::schedule

int main(int argc, char** argv) { return tile::codegen::schedule::Main(argc, argv); }
