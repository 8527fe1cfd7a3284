#include "codegen/llvm/recompute_addresses.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "codegen/llvm/machine.h"
#include "codegen/target/target.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"

namespace tile::codegen {
namespace {

// Two addresses follow from one value, and a third one from two that nothing else needs. What is stored is loaded first.
constexpr char kKernel[] = R"(
define ptx_kernel void @kernel(ptr addrspace(1) %p, i32 %n) {
entry:
  %base = load i64, ptr addrspace(1) %p, align 8
  %x = load volatile i64, ptr addrspace(1) %p, align 8
  %y = load volatile i64, ptr addrspace(1) %p, align 8
  %first = or i64 %base, 1152921504606846976
  %second = or i64 %base, 2305843009213693952
  %sum = add i64 %x, %y
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %wide = zext i32 %i to i64
  %third = shl i64 %wide, 3
  %fourth = add i64 %third, %wide
  call void asm sideeffect "use $0;", "l"(i64 %first)
  call void asm sideeffect "use $0;", "l"(i64 %second)
  call void asm sideeffect "use $0;", "l"(i64 %sum)
  call void asm sideeffect "use $0, $1, $2;", "l,l,l"(i64 %fourth, i64 %third, i64 %wide)
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  call void asm sideeffect "last $0;", "l"(i64 %first)
  ret void
}
)";

class Recomputed : public ::testing::Test {
 protected:
  void SetUp() override {
    auto code = LlvmCode::Make(*FindTarget(90), "kernel", 3);
    ASSERT_TRUE(code.ok()) << code.status();
    code_ = *std::move(code);
    llvm::SMDiagnostic why;
    auto parsed = llvm::parseAssemblyString(kKernel, why, code_->module().getContext());
    ASSERT_NE(parsed, nullptr) << why.getMessage().str();
    parsed->setDataLayout(code_->module().getDataLayout());
    parsed->setTargetTriple(code_->module().getTargetTriple());
    ASSERT_FALSE(llvm::Linker::linkModules(code_->module(), std::move(parsed)));
    RecomputeAddresses(&code_->module());
    ASSERT_EQ(code_->Faults(), "");
  }

  // Operations of a kind in a block.
  int Count(const std::string& block, unsigned opcode) const {
    int n = 0;
    for (const llvm::BasicBlock& b : *code_->module().getFunction("kernel")) {
      for (const llvm::Instruction& op : b) n += b.getName() == block && op.getOpcode() == opcode ? 1 : 0;
    }
    return n;
  }

  std::unique_ptr<LlvmCode> code_;
};

TEST_F(Recomputed, InFrontOfEachUse) {
  EXPECT_EQ(Count("entry", llvm::Instruction::Or), 0);
  EXPECT_EQ(Count("loop", llvm::Instruction::Or), 2);
  EXPECT_EQ(Count("exit", llvm::Instruction::Or), 1);
}

TEST_F(Recomputed, NotFromMoreRegisters) {
  EXPECT_EQ(Count("entry", llvm::Instruction::Add), 1);
  EXPECT_EQ(Count("loop", llvm::Instruction::Add), 2);  // the counter, and what it goes into
}

TEST_F(Recomputed, CodeGeneratorLeavesIt) {
  auto ptx = code_->Ptx();
  ASSERT_TRUE(ptx.ok()) << ptx.status();
  const size_t loop = ptx->find("$L__BB0_1:");
  ASSERT_NE(loop, std::string::npos);
  EXPECT_FALSE(absl::StrContains(ptx->substr(0, loop), "or.b64")) << *ptx;
  EXPECT_TRUE(absl::StrContains(ptx->substr(loop), "or.b64")) << *ptx;
}

// In front of the first of their users, of which some have moved themselves.
TEST_F(Recomputed, LateInItsBlock) {
  std::vector<std::string> names;
  for (const llvm::BasicBlock& block : *code_->module().getFunction("kernel")) {
    for (const llvm::Instruction& op : block) {
      if (block.getName() != "loop" || op.getOpcode() == llvm::Instruction::PHI) continue;
      names.push_back(op.getType()->isVoidTy() ? "use" : op.getName().str());
    }
  }
  const std::vector<std::string> late = {"use", "wide", "third", "fourth", "use"};
  EXPECT_NE(std::search(names.begin(), names.end(), late.begin(), late.end()), names.end());
}

}  // namespace
}  // namespace tile::codegen
