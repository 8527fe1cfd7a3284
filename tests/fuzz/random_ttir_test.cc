// Random programs in TTIR keep their order: on the VM no check finds accesses that nothing orders, whichever pointers meet,
// and memory is what the statements make of it one by one.
//
//   random_ttir_test --seeds=FIRST,LAST     others than those of the test
#include "tests/fuzz/random_ttir.h"

#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "codegen/passes/canonical/raise_views.h"
#include "codegen/passes/tile_code.h"
#include "codegen/target/decisions.h"
#include "gtest/gtest.h"
#include "ir/op_views.h"
#include "ir/ttir/reader.h"
#include "ir/verify/verify.h"
#include "vm/vm.h"

namespace tile::fuzz {
namespace {

int64_t first_seed = 0, last_seed = 399;

std::unique_ptr<ir::Module> Read(const TtirProgram& p) {
  ir::Diagnostics d;
  const std::string text = PrintTtir(p);
  std::unique_ptr<ir::Module> m = ir::ReadTtir(text, "random.ttir", &d);
  if (m != nullptr) ir::Verify(*m, &d);
  EXPECT_TRUE(m != nullptr && d.ok()) << d.ToString() << text;
  return d.ok() ? std::move(m) : nullptr;
}

struct Result {
  std::vector<int32_t> memory, out;
  std::string report;  // the first; empty: there is none
};

Result RunOn(const ir::Module& m, const TtirProgram& p, vm::CheckLevel level) {
  Result r = {StartOf(p), std::vector<int32_t>(kTtirOut), ""};
  const auto program = vm::Program::Prepare(m, "random");
  if (!program.ok()) {
    r.report = program.status().ToString();
    return r;
  }
  vm::Launch launch;
  const auto element = ir::Element::Number(ir::Elem::kI32);
  for (const int offset : p.offsets) launch.params.push_back(reinterpret_cast<uint64_t>(r.memory.data() + offset));
  launch.params.push_back(reinterpret_cast<uint64_t>(r.out.data()));
  launch.buffers = {{"memory", r.memory.data(), r.memory.size() * sizeof(int32_t), element, {}},
                    {"out", r.out.data(), r.out.size() * sizeof(int32_t), element, {}}};
  launch.check = level;
  launch.threads = 1;
  launch.max_rounds = 1 << 20;
  const vm::Outcome outcome = (*program)->Run(launch);
  if (!outcome.ok()) r.report = outcome.reports.empty() ? outcome.status.ToString() : outcome.reports[0].ToString();
  return r;
}

TEST(RandomTtir, KeepsTheOrderOfTheProgram) {
  for (int64_t seed = first_seed; seed <= last_seed; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const TtirProgram p = MakeTtirProgram(static_cast<uint64_t>(seed));
    const std::unique_ptr<ir::Module> m = Read(p);
    ASSERT_NE(m, nullptr);
    std::vector<int32_t> memory = StartOf(p), out(kTtirOut);
    InterpretTtir(p, &memory, &out);
    for (const vm::CheckLevel level : {vm::CheckLevel::kFull, vm::CheckLevel::kNone}) {
      const Result r = RunOn(*m, p, level);
      ASSERT_EQ(r.report, "") << PrintTtir(p);
      ASSERT_EQ(r.memory, memory) << PrintTtir(p);
      ASSERT_EQ(r.out, out) << PrintTtir(p);
    }
  }
}

// Blocks of descriptors become accesses through views (codegen/passes/canonical/raise_views.h), which say the same.
TEST(RandomTtir, IsTheSameThroughViews) {
  codegen::ProgramOptions options;
  options.target = codegen::FindTarget(90);
  int raised = 0, with_sign = 0;
  for (int64_t seed = first_seed; seed <= last_seed; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const TtirProgram p = MakeTtirProgram(static_cast<uint64_t>(seed));
    const std::unique_ptr<ir::Module> m = Read(p);
    ASSERT_NE(m, nullptr);
    codegen::Program program(*m, *m->functions[0], options, {});
    ASSERT_TRUE(codegen::RaiseViews(program).ok());
    ir::Walk(program.function->body(), [&](const ir::Op* op) {
      raised += ir::LoadViewOp::Is(op) || ir::StoreViewOp::Is(op);
      with_sign += codegen::DecisionOf<codegen::Decision::kSignedIndex>(*op);
    });
    std::vector<int32_t> memory = StartOf(p), out(kTtirOut);
    InterpretTtir(p, &memory, &out);
    const Result r = RunOn(*codegen::TileCodeOf(*program.module), p, vm::CheckLevel::kNone);
    ASSERT_EQ(r.report, "") << PrintTtir(p);
    ASSERT_EQ(r.memory, memory) << PrintTtir(p);
    ASSERT_EQ(r.out, out) << PrintTtir(p);
  }
  EXPECT_GT(raised, 20);
  EXPECT_GT(with_sign, 20);
}

// The judge sees what is missing: without the tokens of stores, some of these programs are wrong.
TEST(RandomTtir, WouldBeFoundWithoutTokens) {
  int programs = 0, found = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const TtirProgram p = MakeTtirProgram(seed);
    const std::unique_ptr<ir::Module> m = Read(p);
    ASSERT_NE(m, nullptr);
    bool changed = false;
    ir::Walk(m->functions[0]->body(), [&](ir::Op* op) {
      ir::Value* token = ir::LoadPtrOp::Is(op) ? op->operand("token") : nullptr;
      if (token == nullptr || token->def() == nullptr || !ir::StorePtrOp::Is(token->def())) return;
      const ir::Type token_type = m->types().Token();
      ir::OpSpec spec;
      spec.info = ir::GetOp(ir::Opcode::kMakeToken);
      spec.results = absl::MakeSpan(&token_type, 1);
      ir::Op* nothing = m->CreateOp(spec);
      m->InsertBefore(op->block(), op, nothing);
      for (int i = 0; i < op->num_operands(); ++i) {
        if (op->operand(i) == token) op->set_operand(i, nothing->result(0));
      }
      changed = true;
    });
    programs += changed;
    found += changed && RunOn(*m, p, vm::CheckLevel::kFull).report.find("vm.missing_token") != std::string::npos;
  }
  EXPECT_GT(programs, 20);
  EXPECT_GT(found, 3);
}

}  // namespace
}  // namespace tile::fuzz

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  long first, last;
  if (argc > 1 && std::sscanf(argv[1], "--seeds=%ld,%ld", &first, &last) == 2) {
    tile::fuzz::first_seed = first;
    tile::fuzz::last_seed = last;
  }
  return RUN_ALL_TESTS();
}
