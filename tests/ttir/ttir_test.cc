// Kernels written in Triton: read, verified, stored and run on the VM with every level of checks. The text is what
// Triton printed; the calls are in its comments.
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/ttir/reader.h"
#include "ir/verify/verify.h"
#include "tests/harness/on_vm.h"
#include "tests/harness/tile_files.h"
#include "tests/roundtrip/round_trip.h"

namespace tile::ops {
namespace {

const std::vector<std::string> kFiles = TileFiles("tests/ttir", ".ttir");

class Ttir : public testing::TestWithParam<std::string> {};

TEST_P(Ttir, DoesWhatTheFileSays) {
  const absl::StatusOr<std::vector<Variant>> variants = ParseOpFile(ReadFile(GetParam()));
  ASSERT_TRUE(variants.ok()) << variants.status();
  int calls = 0;
  for (const Variant& v : *variants) {
    ASSERT_TRUE(ir::LooksLikeTtir(v.text));
    ir::Diagnostics diagnostics;
    const std::unique_ptr<ir::Module> module = ir::ReadTtir(v.text, GetParam(), &diagnostics);
    ASSERT_NE(module, nullptr) << diagnostics.ToString();
    ir::Verify(*module, &diagnostics);
    ASSERT_TRUE(diagnostics.ok()) << diagnostics.ToString();
    EXPECT_EQ(RoundTripFault(*module), "");
    // Every access and product knows its line of Python.
    ir::Walk(module->functions[0]->body(), [&](ir::Op* op) {
      if (!op->info()->is_access() && !op->info()->has(ir::kProduct)) return;
      EXPECT_TRUE(absl::StrContains(module->Where(op->loc, op->pos), ".py:")) << op->info()->mnemonic;
    });
    for (const Call& call : v.calls) {
      ++calls;
      for (const auto& [level, threads] : {std::pair(vm::CheckLevel::kBounds, 1), std::pair(vm::CheckLevel::kBounds, 2),
                                           std::pair(vm::CheckLevel::kNone, 1), std::pair(vm::CheckLevel::kFull, 1)}) {
        EXPECT_EQ(RunCall(*module, call, level == vm::CheckLevel::kFull, OnVm(level, threads)), "")
            << absl::StrCat("line ", call.line, ", threads ", threads, ", check level ", level);
      }
    }
  }
  EXPECT_GT(calls, 0) << "nothing is run";
}

INSTANTIATE_TEST_SUITE_P(All, Ttir, testing::ValuesIn(kFiles), TileFileName);

TEST(TtirFolder, HasFiles) { EXPECT_GE(kFiles.size(), 20u); }

}  // namespace
}  // namespace tile::ops
