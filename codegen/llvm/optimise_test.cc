#include "codegen/llvm/optimise.h"

#include <map>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "codegen/llvm/machine.h"
#include "codegen/target/target.h"
#include "codegen/trace/trace.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"

namespace tile::codegen {
namespace {

// A loop that divides what it does not change, asks twice, and stores through an address that is known to be aligned.
constexpr char kKernel[] = R"(
define void @kernel(ptr addrspace(1) align 16 %p, i32 %n, i32 %a, i32 %b) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %joined ]
  %q = udiv i32 %a, %b
  %c = icmp ult i32 %i, %a
  br i1 %c, label %first, label %between
first:
  store i32 %q, ptr addrspace(1) %p, align 4
  br label %between
between:
  br i1 %c, label %second, label %joined
second:
  %at = getelementptr i8, ptr addrspace(1) %p, i64 16
  store i32 %i, ptr addrspace(1) %at, align 4
  br label %joined
joined:
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
)";

class Optimised : public ::testing::Test {
 protected:
  void Run(int opt_level, bool is_large = false) {
    auto code = LlvmCode::Make(*FindTarget(90), "test", opt_level);
    ASSERT_TRUE(code.ok()) << code.status();
    code_ = *std::move(code);
    llvm::SMDiagnostic why;
    auto parsed = llvm::parseAssemblyString(kKernel, why, code_->module().getContext());
    ASSERT_NE(parsed, nullptr) << why.getMessage().str();
    parsed->setDataLayout(code_->module().getDataLayout());
    parsed->setTargetTriple(code_->module().getTargetTriple());
    ASSERT_FALSE(llvm::Linker::linkModules(code_->module(), std::move(parsed)));
    Trace trace;
    trace.step_limit = -1;
    trace.on_step = [&](int64_t, bool, absl::string_view step, absl::string_view) { ++runs_[std::string(step)]; };
    Optimise(&code_->module(), &code_->machine(), opt_level, is_large, &trace);
    ASSERT_EQ(code_->Faults(), "");
  }
  const llvm::Function& kernel() { return *code_->module().getFunction("kernel"); }

  std::map<std::string, int> runs_;  // of LLVM's passes, by their names
  std::unique_ptr<LlvmCode> code_;
};

// LLVM's own list runs instcombine more often, and passes for what the emitter never writes.
TEST_F(Optimised, ByFewPasses) {
  Run(3);
  EXPECT_EQ(runs_["InstCombinePass"], 3);
  EXPECT_GE(runs_["SimplifyCFGPass"], 4);
  for (const char* pass :
       {"TailCallElimPass", "LoopIdiomRecognizePass", "MemCpyOptPass", "LoopUnrollPass", "SLPVectorizerPass"})
    EXPECT_EQ(runs_[pass], 0) << pass;
}

TEST_F(Optimised, ByPassesThatAreLinearIfItIsLarge) {
  Run(3, /*is_large=*/true);
  for (const char* pass : {"InstCombinePass", "SimplifyCFGPass", "GVNPass", "EarlyCSEPass", "LICMPass"})
    EXPECT_EQ(runs_[pass], 0) << pass;
  EXPECT_EQ(runs_["ADCEPass"], 1);
}

TEST_F(Optimised, AsWellAsByAll) {
  Run(3);
  int branches = 0;
  for (const llvm::BasicBlock& block : kernel()) {
    for (const llvm::Instruction& i : block) {
      // What does not change leaves the loop, which is the block that a branch enters again.
      const bool in_loop = llvm::is_contained(llvm::successors(&block), &block);
      EXPECT_FALSE(in_loop && i.getOpcode() == llvm::Instruction::UDiv);
      if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&i)) branches += branch->isConditional();
      if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
        EXPECT_EQ(store->getAlign().value(), 16u);
      }
    }
  }
  EXPECT_EQ(branches, 2);  // of the loop, and one for both stores
}

}  // namespace
}  // namespace tile::codegen
