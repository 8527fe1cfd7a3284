// Runs the files of this folder on the VM: one thread and two, without, with bounds and with full checks, all to the
// same result. BUILD.bazel runs this once per instruction set.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify.h"
#include "tests/ops/op_file.h"
#include "tests/roundtrip/round_trip.h"
#include "vm/vm.h"

namespace tile::ops {
namespace {

constexpr char kFolder[] = "tests/ops";

Answer RunOnVm(const ir::Module& module, absl::string_view kernel, Arguments* arguments, vm::CheckLevel level,
               int threads) {
  Answer answer;
  auto program = vm::Program::Prepare(module, kernel);
  if (!program.ok()) {
    answer.refused = program.status();
    return answer;
  }
  vm::Launch launch;
  std::copy(arguments->grid, arguments->grid + 3, launch.grid);
  launch.check = level;
  launch.threads = threads;
  launch.max_rounds = 1 << 20;
  launch.print = [&](absl::string_view text) { absl::StrAppend(&answer.printed, text); };
  for (Memory& m : arguments->memories) {
    launch.buffers.push_back(
        {m.name, m.array.bytes.data(), m.array.bytes.size(), m.array.element, m.array.shape, m.initialized});
  }
  for (const Param& p : arguments->params) {
    launch.params.push_back(
        p.memory < 0 ? p.bits : reinterpret_cast<uintptr_t>(launch.buffers[static_cast<size_t>(p.memory)].data));
  }
  const vm::Outcome outcome = (*program)->Run(launch);
  answer.refused = outcome.status;
  for (const vm::Report& r : outcome.reports)
    answer.reports.push_back(absl::StrCat(r.code, ": ", r.message, " at ", r.where));
  return answer;
}

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream buffer;
  buffer << file.rdbuf();
  return buffer.str();
}

std::vector<std::string> Files() {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder, error)) {
    if (entry.path().extension() == ".tile") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string OpOf(const std::string& path) { return std::filesystem::path(path).stem().string(); }

class Ops : public testing::TestWithParam<std::string> {};

TEST_P(Ops, DoesWhatTheFileSays) {
  const absl::StatusOr<std::vector<Variant>> variants = ParseOpFile(Read(GetParam()));
  ASSERT_TRUE(variants.ok()) << variants.status();
  int calls = 0;
  for (const Variant& v : *variants) {
    SCOPED_TRACE(v.name.empty() ? GetParam() : absl::StrCat(GetParam(), " with ", v.name));
    ir::Diagnostics diagnostics;
    const std::unique_ptr<ir::Module> module = ir::Parse(v.text, GetParam(), &diagnostics);
    ASSERT_NE(module, nullptr) << diagnostics.ToString();
    ir::Verify(*module, &diagnostics);
    ASSERT_TRUE(diagnostics.ok()) << diagnostics.ToString();
    EXPECT_EQ(RoundTripFault(*module), "");
    bool has_op = false;
    for (const auto& f : module->functions) {
      ir::Walk(f->body(), [&](ir::Op* op) { has_op |= op->info()->mnemonic == OpOf(GetParam()); });
    }
    EXPECT_TRUE(has_op) << "the operation does not occur";

    for (const Call& call : v.calls) {
      ++calls;
      std::vector<Memory> first;
      for (const auto& [level, threads] : {std::pair(vm::CheckLevel::kBounds, 1), std::pair(vm::CheckLevel::kBounds, 2),
                                           std::pair(vm::CheckLevel::kNone, 1), std::pair(vm::CheckLevel::kFull, 1)}) {
        // Without checks a kernel that traps may do anything.
        if (level == vm::CheckLevel::kNone && !call.trap.empty()) continue;
        const std::string where = absl::StrCat("line ", call.line, ", threads ", threads, ", check level ", level);
        std::vector<Memory> results;
        const auto engine = [level = level, threads = threads](const ir::Module& m, absl::string_view k, Arguments* a) {
          return RunOnVm(m, k, a, level, threads);
        };
        EXPECT_EQ(RunCall(*module, call, level == vm::CheckLevel::kFull, engine, &results), "") << where;
        if (first.empty()) first = std::move(results);
        for (size_t i = 0; i < results.size() && threads == 1; ++i) {
          const auto a = results[i].array.bytes.span(), b = first[i].array.bytes.span();
          EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()))
              << where << ": " << results[i].name << " differs";
        }
      }
    }
  }
  EXPECT_GT(calls, 0) << "nothing is run";
}

INSTANTIATE_TEST_SUITE_P(All, Ops, testing::ValuesIn(Files()), [](const auto& info) { return OpOf(info.param); });

TEST(OpsFolder, HasAFileForEachOperation) {
  std::set<std::string> files, ops;
  for (const std::string& f : Files()) files.insert(OpOf(f));
  for (const ir::OpInfo& op : ir::AllOps()) ops.insert(op.mnemonic);
  EXPECT_EQ(files, ops);
}

}  // namespace
}  // namespace tile::ops
