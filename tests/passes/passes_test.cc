// Programs before passes, and what stands in them behind. A file in tests/passes/NAME/ is about the pass NAME:
//
//   // passes: split-products fetch-ahead slice          of codegen/passes.def, which run in this order
//   // options: sm=90 warps=4 descriptors aligned joins
//   // check: TEXT                        stands in the printed program, behind what the check before found
//   // check-not: TEXT                    stands nowhere in it
//   // run: …  expect: …                  calls as in tests/ops, for the VM before and behind the passes
//
// The program may be GPU-level text. Behind each pass it is verified; what is printed must be read back as the same program, of which
// the passes that follow make the same PTX. All files of tests/ops, tests/spec, tests/codegen/regressions and the examples also go through the passes for two GPUs, and must give on the VM what they
// say. So must programs without each optional pass, of which machine code is made.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "codegen/gpu/ops.h"
#include "codegen/passes/gpu_text.h"
#include "codegen/passes/tile_code.h"
#include "codegen/pipeline.h"
#include "codegen/target/tuning.h"
#include "gtest/gtest.h"
#include "ir/compare.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "tests/harness/on_vm.h"
#include "tests/harness/op_file.h"
#include "tests/harness/tile_files.h"
#include "tests/passes/through_text.h"

namespace tile::codegen {
namespace {

struct PassFile {
  std::vector<std::string> passes, checks, absent;
  CompileOptions options;
};

PassFile ReadPassFile(const std::string& text) {
  PassFile file;
  file.options.target = FindTarget(90);
  file.options.verify_each = true;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "// check: ")) file.checks.emplace_back(line);
    if (absl::ConsumePrefix(&line, "// check-not: ")) file.absent.emplace_back(line);
    if (absl::ConsumePrefix(&line, "// passes: ")) file.passes = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (!absl::ConsumePrefix(&line, "// options: ")) continue;
    for (absl::string_view word : absl::StrSplit(line, ' ', absl::SkipEmpty())) {
      int number = 0;
      if (absl::ConsumePrefix(&word, "sm=")) {
        EXPECT_TRUE(absl::SimpleAtoi(word, &number));
        file.options.target = FindTarget(number);
      } else if (absl::ConsumePrefix(&word, "warps=")) {
        EXPECT_TRUE(absl::SimpleAtoi(word, &file.options.num_warps));
      } else if (word == "descriptors") {
        file.options.permissions.Allow(May::kTakeDescriptors);
      } else if (word == "joins") {
        file.options.permissions.Allow(May::kCoarsen);
      } else if (word == "spreads") {
        file.options.permissions.Allow(May::kUnpersist);
      } else if (word == "aligned") {
        file.options.permissions.Allow(May::kAssumeAligned);
      } else {
        ADD_FAILURE() << "unknown option " << word;
      }
    }
  }
  return file;
}

Candidate CandidateOf(const CompileOptions& options) {
  return options.permissions.may(May::kTakeDescriptors)
             ? Candidate{Ahead::kTma, tuning::kMostStages, options.num_warps}
             : Candidate{Ahead::kCopies, tuning::kMostCopyStages, options.num_warps};
}

// The same program, with its layouts and all that was decided about it.
void ReadsBack(Compilation& c) {
  const std::string text = PrintGpu(*c.module);
  ir::Diagnostics diagnostics;
  const std::unique_ptr<ir::Module> again = ParseGpu(text, "printed", &c.layouts, &diagnostics);
  ASSERT_NE(again, nullptr) << diagnostics.ToString() << text;
  EXPECT_EQ(ir::FirstDifference(*c.module, *again), "") << text;
}

// The passes behind those over tile code.
void RunGpuLevel(Compilation& c) {
  for (absl::string_view pass : GpuLevelPasses()) {
    const absl::Status s = RunPass(c, pass);
    ASSERT_TRUE(s.ok()) << pass << ": " << s;
  }
}

// What the calls of the kernel expect and did not get.
void GivesOnVm(const ir::Module& module, absl::string_view kernel, const std::vector<ops::Call>& calls) {
  for (const ops::Call& call : calls) {
    if (call.kernel != kernel) continue;
    EXPECT_EQ(ops::RunCall(module, call, false, ops::OnVm(vm::CheckLevel::kBounds, 1)), "") << "line " << call.line;
  }
}

std::vector<std::string> PassFiles() {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& folder : std::filesystem::directory_iterator("tests/passes", error)) {
    for (std::string& f : TileFiles(folder.path().string())) files.push_back(std::move(f));
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string NameOf(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(info.param.find('/') + 1);
  name.resize(name.size() - 5);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

class Passes : public testing::TestWithParam<std::string> {};

TEST_P(Passes, DoWhatTheFileSays) {
  const std::string text = ReadFile(GetParam());
  const PassFile file = ReadPassFile(text);
  ASSERT_NE(file.options.target, nullptr);
  ASSERT_FALSE(file.passes.empty());
  const std::string about = std::filesystem::path(GetParam()).parent_path().filename();
  EXPECT_NE(std::find(file.passes.begin(), file.passes.end(), about), file.passes.end()) << "it is about " << about;
  ASSERT_FALSE(file.checks.empty());
  ir::Diagnostics diagnostics;
  LayoutTable layouts;
  const std::unique_ptr<ir::Module> module = ParseGpu(text, GetParam(), &layouts, &diagnostics);
  ASSERT_NE(module, nullptr) << diagnostics.ToString();
  const std::unique_ptr<ir::Module> before = TileCodeOf(*module);
  ir::Verify(*before, &diagnostics);
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.ToString();
  const auto variants = ops::ParseOpFile(text);
  ASSERT_TRUE(variants.ok()) << variants.status();

  std::string printed;
  for (const auto& f : module->functions) {
    Compilation c(*module, *f, file.options, CandidateOf(file.options));
    for (const std::string& pass : file.passes) {
      const absl::Status s = RunPass(c, pass);
      ASSERT_TRUE(s.ok()) << pass << ": " << s;
    }
    absl::StrAppend(&printed, PrintGpu(*c.module));
    ReadsBack(c);
    GivesOnVm(*before, f->name, variants->front().calls);
    if (!IsExpanded(*c.function)) GivesOnVm(*TileCodeOf(*c.module), f->name, variants->front().calls);
  }
  size_t at = 0;
  for (const std::string& check : file.checks) {
    const size_t found = printed.find(check, at);
    ASSERT_NE(found, std::string::npos) << check << "\nis missing in\n" << printed;
    at = found + check.size();
  }
  for (const std::string& absent : file.absent)
    EXPECT_FALSE(absl::StrContains(printed, absent)) << absent << "\nstands in\n" << printed;
}

// Of the programs of tests/passes, whatever the pass that they are about. Read back behind each pass that changes the text; behind the others,
// whose decisions must be in the text as well, by turns: each file takes a fifth of them.
class ThroughText : public testing::TestWithParam<std::string> {};

TEST_P(ThroughText, GivesTheSamePtx) {
  const std::string text = ReadFile(GetParam());
  CompileOptions options = ReadPassFile(text).options;
  ir::Diagnostics diagnostics;
  LayoutTable layouts;
  const std::unique_ptr<ir::Module> module = ParseGpu(text, GetParam(), &layouts, &diagnostics);
  ASSERT_NE(module, nullptr) << diagnostics.ToString();
  constexpr size_t kTurns = 5;
  size_t turn = std::hash<std::string>()(GetParam()) % kTurns;
  for (const bool aligned : {false, true}) {
    options.permissions.Allow(May::kAssumeAligned, aligned);
    for (const auto& f : module->functions) {
      const auto straight = PtxThroughText(*module, *f, options, CandidateOf(options), "");
      if (!straight.ok()) continue;  // does not fit: Compile tries another way
      const std::vector<std::string> changing = PassesThatChange(*module, *f, options, CandidateOf(options));
      for (absl::string_view pass : ProgramPasses()) {
        if (std::find(changing.begin(), changing.end(), pass) == changing.end() && ++turn % kTurns != 0) continue;
        const auto ptx = PtxThroughText(*module, *f, options, CandidateOf(options), pass);
        ASSERT_TRUE(ptx.ok()) << pass << ": " << ptx.status();
        EXPECT_EQ(*ptx, *straight) << "as text behind " << pass;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, ThroughText, testing::ValuesIn(PassFiles()), NameOf);
INSTANTIATE_TEST_SUITE_P(Files, Passes, testing::ValuesIn(PassFiles()), NameOf);

std::vector<std::string> TestFiles() {
  std::vector<std::string> files;
  for (const char* folder : {"tests/ops", "tests/spec", "tests/codegen/regressions"}) {
    for (std::string& f : TileFiles(folder)) files.push_back(std::move(f));
  }
  return files;
}

class AllPasses : public testing::TestWithParam<std::string> {};

TEST_P(AllPasses, GiveTheSameOnTheVm) {
  const auto variants = ops::ParseOpFile(ReadFile(GetParam()));
  ASSERT_TRUE(variants.ok()) << variants.status();
  const ops::Variant& v = variants->front();
  ir::Diagnostics diagnostics;
  const std::unique_ptr<ir::Module> module = ir::Parse(v.text, GetParam(), &diagnostics);
  if (module == nullptr) return;  // shows errors
  ir::Verify(*module, &diagnostics);
  if (!diagnostics.ok()) return;
  for (const int sm : {80, 90}) {
    for (const auto& f : module->functions) {
      SCOPED_TRACE(absl::StrCat("@", f->name, " for sm_", sm));
      CompileOptions options;
      options.target = FindTarget(sm);
      options.permissions.Allow(May::kTakeDescriptors, sm == 90);
      options.verify_each = true;
      Compilation c(*module, *f, options, CandidateOf(options));
      for (absl::string_view pass : TileCodePasses()) {
        const absl::Status s = RunPass(c, pass);
        if (c.fit != Fit::kFits) break;
        ASSERT_TRUE(s.ok()) << pass << ": " << s;
        ReadsBack(c);
      }
      GivesOnVm(*TileCodeOf(*c.module), f->name, v.calls);
      if (c.fit != Fit::kFits) continue;
      RunGpuLevel(c);
      ReadsBack(c);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, AllPasses, testing::ValuesIn(TestFiles()), NameOf);

// --- without each optional pass ---

struct Outcome {
  absl::Status status;
  bool fits = true;
  std::unique_ptr<Compilation> compilation;
  std::string text;  // of the program after the last pass over tile code
};

// `left_out` is an optional pass, or empty. `trace` must live as long as the outcome.
Outcome RunWithout(const std::string& left_out, const ir::Module& module, const ir::Function& function,
                   CompileOptions options, Trace* trace) {
  trace->left_out = left_out;
  options.verify_each = true;
  options.trace = trace;
  Outcome out;
  out.compilation = std::make_unique<Compilation>(module, function, options, CandidateOf(options));
  for (absl::string_view pass : TileCodePasses()) {
    out.status = RunPass(*out.compilation, pass);
    if (!out.status.ok()) break;
  }
  out.fits = out.compilation->fit == Fit::kFits;
  out.text = PrintGpu(*out.compilation->module);
  return out;
}

// A kernel of a test with options under which it compiles. Its calls are read from the file where they run: the arrays of all files together
// take 15 GB.
struct Case {
  std::string file;
  std::shared_ptr<const ir::Module> module;
  const ir::Function* function;
  CompileOptions options;
  std::vector<std::string> changing;  // passes that change it
  std::string text;                   // of the program with all passes
};

CompileOptions OptionsFor(int sm) {
  CompileOptions options;
  options.target = FindTarget(sm);
  options.permissions.Allow(May::kTakeDescriptors, sm == 90);
  return options;
}

// The programs of this folder for the options that they name, and the tests of whole programs for two GPUs. Without those that show errors.
std::vector<Case> MakeCases() {
  static auto& layouts = *new std::vector<std::unique_ptr<LayoutTable>>;
  std::vector<Case> cases;
  std::vector<std::string> files = PassFiles();
  for (std::string& f : TileFiles("tests/codegen/regressions")) files.push_back(std::move(f));
  for (const std::string& file : files) {
    const std::string text = ReadFile(file);
    const auto variants = ops::ParseOpFile(text);
    if (!variants.ok()) continue;
    ir::Diagnostics diagnostics;
    layouts.push_back(std::make_unique<LayoutTable>());
    const std::shared_ptr<const ir::Module> module =
        ParseGpu(variants->front().text, file, layouts.back().get(), &diagnostics);
    if (module == nullptr) continue;
    std::vector<CompileOptions> options = {OptionsFor(80), OptionsFor(90)};
    if (absl::StrContains(file, "tests/passes/")) options = {ReadPassFile(text).options};
    for (const CompileOptions& o : options) {
      for (const auto& f : module->functions) {
        Trace trace;
        Outcome whole = RunWithout("", *module, *f, o, &trace);
        if (!whole.status.ok()) continue;
        cases.push_back(
            {file, module, f.get(), o, PassesThatChange(*module, *f, o, CandidateOf(o)), std::move(whole.text)});
      }
    }
  }
  return cases;
}

const std::vector<Case>& Cases() {
  static const auto& cases = *new std::vector<Case>(MakeCases());
  return cases;
}

std::string NameOf(const Case& c) {
  return absl::StrCat(c.file, " @", c.function->name, " for sm_", c.options.target->sm);
}

std::vector<std::string> OptionalPasses(bool of_program) {
  std::vector<std::string> names;
  for (const PassInfo& pass : codegen::AllPasses()) {
    if (pass.optional && pass.of_program == of_program) names.push_back(pass.name);
  }
  return names;
}

std::string NameOfPass(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class WithoutPass : public testing::TestWithParam<std::string> {};

// A program that a pass changes is right without it, too, and machine code is made of it.
TEST_P(WithoutPass, ProgramsStayRight) {
  constexpr int kMostEmitted = 2;
  int changed = 0, emitted = 0;
  for (const Case& c : Cases()) {
    if (std::find(c.changing.begin(), c.changing.end(), GetParam()) == c.changing.end()) continue;
    SCOPED_TRACE(NameOf(c));
    Trace trace;
    const Outcome less = RunWithout(GetParam(), *c.module, *c.function, c.options, &trace);
    if (less.text == c.text) continue;
    ++changed;
    if (!less.fits) continue;  // Compile tries another way, or refuses tiles that exceed the registers
    ASSERT_TRUE(less.status.ok()) << less.status;
    const auto variants = ops::ParseOpFile(ReadFile(c.file));
    ASSERT_TRUE(variants.ok()) << variants.status();
    GivesOnVm(*TileCodeOf(*less.compilation->module), c.function->name, variants->front().calls);
    if (emitted++ >= kMostEmitted) continue;
    const absl::Status s = RunMachinePasses(*less.compilation);
    ASSERT_TRUE(s.ok()) << s;
  }
  // Products whose operands exceed shared memory and don't come ahead: no program here has one.
  if (GetParam() == "fit-k" && changed == 0) GTEST_SKIP() << "it changes no program of the tests";
  EXPECT_GT(changed, 0) << "it changes no program of the tests";
}

INSTANTIATE_TEST_SUITE_P(Tile, WithoutPass, testing::ValuesIn(OptionalPasses(true)), NameOfPass);

class WithoutMachinePass : public testing::TestWithParam<std::string> {};

TEST_P(WithoutMachinePass, MachineCodeIsMade) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(NameOf(c));
    std::string ptx[2];
    for (const bool less : {false, true}) {
      Trace trace;
      const Outcome out = RunWithout(less ? GetParam() : "", *c.module, *c.function, c.options, &trace);
      ASSERT_TRUE(out.status.ok()) << out.status;
      const absl::Status s = RunMachinePasses(*out.compilation);
      ASSERT_TRUE(s.ok()) << s;
      ptx[less ? 1 : 0] = out.compilation->result.ptx;
    }
    if (ptx[0] != ptx[1]) return;  // it does something, and can be left out
  }
  ADD_FAILURE() << "it changes no program of the tests";
}

INSTANTIATE_TEST_SUITE_P(Llvm, WithoutMachinePass, testing::ValuesIn(OptionalPasses(false)), NameOfPass);

TEST(PassFolders, AreThere) {
  EXPECT_GT(PassFiles().size(), 4u);
  EXPECT_GT(TestFiles().size(), 100u);
}

}  // namespace
}  // namespace tile::codegen
