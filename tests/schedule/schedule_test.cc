// Schedules at the GPU level that are right, and mistakes in them that must be found.
//
// A file of this folder has the kernel @before, without a schedule, and the same kernel with one. It must follow the rules and run without a
// fault for each seed. `faults.list` says what is found, and where, if something in a file is changed.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "codegen/gpu/schedule/run.h"
#include "codegen/gpu/schedule/verify.h"
#include "codegen/passes/gpu_text.h"
#include "codegen/passes/verify_program.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/target.h"
#include "gtest/gtest.h"
#include "ir/clone.h"
#include "ir/diagnostic.h"
#include "tests/harness/tile_files.h"
#include "tests/schedule/mutants.h"

namespace tile::codegen::schedule {
namespace {

constexpr int kSeeds = 200;
constexpr char kFolder[] = "tests/schedule/";

class Schedules {
 public:
  Schedules(const std::string& text, const std::string& name) {
    ir::Diagnostics diagnostics;
    module_ = ParseGpu(text, name, &layouts_, &diagnostics);
    EXPECT_NE(module_, nullptr) << diagnostics.ToString();
  }

  const ir::Function* before() const { return module_->FindFunction("before"); }
  std::vector<const ir::Function*> kernels() const {
    std::vector<const ir::Function*> kernels;
    for (const auto& f : module_->functions) {
      if (f.get() != before()) kernels.push_back(f.get());
    }
    return kernels;
  }
  // The first fault of any rule or run.
  std::string Faults() const {
    std::string faults;
    for (const ir::Function* f : kernels()) {
      if (faults.empty()) faults = GpuLevelFaults(*f);
      if (faults.empty()) faults = ScheduleFaults(*f, before(), kSeeds);
    }
    return faults;
  }

 private:
  LayoutTable layouts_;
  std::unique_ptr<ir::Module> module_;
};

class Right : public testing::TestWithParam<std::string> {};

TEST_P(Right, HasNoFault) {
  const Schedules schedules(ReadFile(GetParam()), GetParam());
  ASSERT_NE(schedules.before(), nullptr);
  ASSERT_FALSE(schedules.kernels().empty());
  EXPECT_EQ(schedules.Faults(), "");
}

// A run that is cut off shows less, and one of few steps has few iterations.
TEST_P(Right, RunsToItsEnd) {
  const Schedules schedules(ReadFile(GetParam()), GetParam());
  int ended = 0, without_iterations = 0;
  int64_t most = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const Outcome outcome = RunSchedule(*schedules.kernels()[0], schedules.before(), static_cast<uint64_t>(seed));
    ended += outcome.ended ? 1 : 0;
    most = std::max(most, outcome.products);
    without_iterations += outcome.products == 0 ? 1 : 0;
  }
  EXPECT_GE(ended, kSeeds * 9 / 10);
  // Of all warps; where sums are in tensor memory one of them begins the products of all.
  const std::string stem = StemOf(GetParam());
  EXPECT_GE(most, stem == "columns" || stem == "scaled_columns" ? 7 : 16) << "no run goes around the ring";
  EXPECT_GE(without_iterations, 1);
}

TEST_P(Right, IsTheSameForASeed) {
  const Schedules schedules(ReadFile(GetParam()), GetParam());
  const auto steps = [&] { return RunSchedule(*schedules.kernels()[0], schedules.before(), 7).steps; };
  EXPECT_EQ(steps(), steps());
}

INSTANTIATE_TEST_SUITE_P(Files, Right, testing::ValuesIn(TileFiles("tests/schedule")), TileFileName);

// --- mistakes ---

struct Mistake {
  std::string what, file, old_text, new_text, code, at;
};

std::vector<Mistake> Mistakes() {
  std::vector<Mistake> mistakes;
  std::string what;
  const std::string list = ReadFile(absl::StrCat(kFolder, "faults.list"));
  for (absl::string_view line : absl::StrSplit(list, '\n')) {
    if (absl::ConsumePrefix(&line, "# ")) what = std::string(line);
    if (absl::ConsumePrefix(&line, "in ")) mistakes.push_back({what, std::string(line), "", "", "", ""});
    if (mistakes.empty()) continue;
    Mistake& m = mistakes.back();
    if (absl::ConsumePrefix(&line, "- ")) absl::StrAppend(&m.old_text, m.old_text.empty() ? "" : "\n", line);
    if (absl::ConsumePrefix(&line, "+ ")) absl::StrAppend(&m.new_text, m.new_text.empty() ? "" : "\n", line);
    if (!absl::ConsumePrefix(&line, "says ")) continue;
    const std::pair<std::string, std::string> words = absl::StrSplit(line, absl::MaxSplits(" at ", 1));
    m.code = words.first;
    m.at = words.second;
  }
  return mistakes;
}

class Wrong : public testing::TestWithParam<Mistake> {};

TEST_P(Wrong, IsFoundWhereItIs) {
  const Mistake& m = GetParam();
  const std::string right = ReadFile(kFolder + m.file);
  const size_t at = right.find(m.old_text);
  ASSERT_NE(at, std::string::npos) << m.old_text << "\nis not in " << m.file;
  ASSERT_EQ(right.find(m.old_text, at + 1), std::string::npos) << m.old_text << "\nstands twice in " << m.file;
  std::string wrong = right;
  wrong.replace(at, m.old_text.size(), m.new_text);

  const std::string faults = Schedules(wrong, m.file).Faults();
  ASSERT_TRUE(absl::StrContains(faults, absl::StrCat("error[", m.code, "]"))) << m.what << "\n" << faults;
  const std::vector<absl::string_view> place = absl::StrSplit(faults, absl::MaxSplits(':', 2));
  size_t line = 0;
  ASSERT_TRUE(absl::SimpleAtoi(place[1], &line)) << faults;
  const std::vector<std::string> lines = absl::StrSplit(wrong, '\n');
  EXPECT_TRUE(absl::StrContains(lines[line - 1], m.at)) << m.what << "\n" << faults << lines[line - 1];
}

INSTANTIATE_TEST_SUITE_P(List, Wrong, testing::ValuesIn(Mistakes()));

// The verifier between passes asks for the rules.
TEST(ProgramFaults, HoldTheRules) {
  const std::string text = ReadFile(absl::StrCat(kFolder, "ring.tile"));
  const std::string right = text.substr(text.find("entry @ring"));
  const std::string wrong = absl::StrReplaceAll(right, {{"bytes = 8192\n", "bytes = 4096\n"}});
  const auto faults = [](const std::string& of) {
    ir::Diagnostics diagnostics;
    LayoutTable layouts;
    const std::unique_ptr<ir::Module> module = ParseGpu(of, "ring.tile", &layouts, &diagnostics);
    const Schedule schedule = *ScheduleOf(*module->functions[0]);
    return codegen::ProgramFaults(*FindTarget(90), *module, &schedule);
  };
  EXPECT_EQ(faults(right), "");
  EXPECT_TRUE(absl::StrContains(faults(wrong), "error[schedule.bytes]")) << faults(wrong);
}

// --- every change of a synchronising operation ---

// Those that are as right as the original, and why:
// * expects behind their first copy: bytes may land before they are expected, as the phase still misses the arrival;
// * releases behind the last iteration: where the ring does not go on, nobody fills the stage again;
// * the fence and the barrier of the entry, exchanged with first_block, which only computes, and with alloc_columns;
// * turns at other places, as they order nothing that is read, and the last wait for one, behind which nobody multiplies;
// * the end of a group of copies, behind a product: the next wait comes later;
// * where each product has a barrier of all workers in front of it: the one that stores the loop's left operand, and the wait for a free stage;
// * fences of tensor memory, and barriers of all workers, on the other side of what uses neither;
// * waits that come earlier, or later but before what needs them; releases on the other side of a sync_warp, which is about lanes.
std::vector<std::string> EquivalentIn(absl::string_view file) {
  if (file == "ring")
    return {"barrier_arrive dropped", "barrier_arrive moved up", "barrier_expect moved down", "mma_wait moved down"};
  if (file == "cluster") return {"barrier_arrive moved up", "barrier_expect moved down", "mma_wait moved down"};
  if (file == "copies") {
    return {
        "barrier_arrive dropped",  "barrier_arrive moved down", "barrier_arrive moved down", "barrier_arrive moved up",
        "barrier_arrive moved up", "barrier_expect moved down", "barrier_expect moved down", "barrier_wait moved down",
        "mma_wait moved down",     "mma_wait moved down",       "mma_wait moved up",         "mma_wait moved up",
        "mma_wait moved up",       "turn_pass moved down",      "turn_pass moved down",      "turn_pass moved down",
        "turn_pass moved up",      "turn_pass moved up",        "turn_pass moved up",        "turn_pass moved up",
        "turn_wait dropped",       "turn_wait moved down",      "turn_wait moved down",      "turn_wait moved up",
        "turn_wait moved up"};
  }
  if (file == "columns") {
    return {"barrier_expect moved down", "barrier_wait moved down",   "barrier_wait moved down",
            "block_barrier moved up",    "fence_barriers moved down", "fence_barriers moved up"};
  }
  if (file == "added_columns") {
    return {"barrier_arrive moved up",         "barrier_expect moved down",
            "barrier_expect moved down",       "barrier_wait dropped",
            "barrier_wait moved down",         "barrier_wait moved down",
            "barrier_wait moved up",           "fence_barriers moved up",
            "fence_columns_before moved down", "fence_columns_before moved down",
            "fence_proxy_async moved down",    "worker_barrier dropped",
            "worker_barrier moved down",       "worker_barrier moved up",
            "worker_barrier moved up",         "worker_barrier moved up"};
  }
  if (file == "scaled_columns") return {"fence_barriers moved up", "worker_barrier moved up"};
  if (file == "threads" || file == "pieces") return {"commit_copies moved down"};
  if (file == "threads_running" || file == "threads_converted") return {};
  return {"barrier_expect moved down", "block_barrier moved up", "fence_barriers moved down"};
}

TEST_P(Right, IsTheOnlyOneOfItsMutants) {
  ir::Diagnostics diagnostics;
  LayoutTable layouts;
  const std::unique_ptr<ir::Module> module = ParseGpu(ReadFile(GetParam()), GetParam(), &layouts, &diagnostics);
  ASSERT_EQ(module->functions.size(), 2u);
  MutantTable table;
  table.Add(*ir::CloneModule(*module, *module->functions[1]), module->FindFunction("before"), kSeeds);
  EXPECT_GE(table.mutants(), 10);
  std::vector<std::string> survivors;
  for (const MutantTable::Survivor& s : table.survivors()) survivors.push_back(s.kind);
  std::sort(survivors.begin(), survivors.end());
  EXPECT_EQ(survivors, EquivalentIn(StemOf(GetParam()))) << table.ToString();
}

TEST(FaultsList, IsThere) {
  EXPECT_GE(Mistakes().size(), 30u);
  EXPECT_GE(TileFiles("tests/schedule").size(), 4u);
}

}  // namespace
}  // namespace tile::codegen::schedule
