// Runs the files of this folder on the VM: one thread and two, without, with bounds and with full checks, all to the
// same result. BUILD.bazel runs this once per instruction set.
#include <algorithm>
#include <memory>
#include <set>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "tests/harness/on_vm.h"
#include "tests/harness/tile_files.h"
#include "tests/roundtrip/round_trip.h"

namespace tile::ops {
namespace {

const std::vector<std::string> kFiles = TileFiles("tests/ops");

class Ops : public testing::TestWithParam<std::string> {};

TEST_P(Ops, DoesWhatTheFileSays) {
  const absl::StatusOr<std::vector<Variant>> variants = ParseOpFile(ReadFile(GetParam()));
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
      ir::Walk(f->body(), [&](ir::Op* op) { has_op |= op->info()->mnemonic == StemOf(GetParam()); });
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
        EXPECT_EQ(RunCall(*module, call, level == vm::CheckLevel::kFull, OnVm(level, threads), &results), "") << where;
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

INSTANTIATE_TEST_SUITE_P(All, Ops, testing::ValuesIn(kFiles), TileFileName);

TEST(OpsFolder, HasAFileForEachOperation) {
  std::set<std::string> files, ops;
  for (const std::string& f : kFiles) files.insert(StemOf(f));
  for (const ir::OpInfo& op : ir::AllOps()) ops.insert(op.mnemonic);
  EXPECT_EQ(files, ops);
}

}  // namespace
}  // namespace tile::ops
