#include "codegen/llvm/large_function.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace tile::codegen {
namespace {

class LargeFunction : public ::testing::Test {
 protected:
  void Read(const std::string& text) {
    llvm::SMDiagnostic why;
    module_ = llvm::parseAssemblyString(text, why, context_);
    ASSERT_NE(module_, nullptr) << why.getMessage().str();
  }
  // A block with `length` additions, where each takes the sum of the one before it.
  static std::string Chain(int length) {
    std::string text = "define i32 @f(i32 %v0) {\n";
    for (int i = 0; i < length; ++i) absl::StrAppend(&text, "  %v", i + 1, " = add i32 %v", i, ", %v0\n");
    return absl::StrCat(text, "  ret i32 %v", length, "\n}\n");
  }
  // A chain of `count` loops.
  static std::string Loops(int count) {
    std::string text = "define void @f(i1 %c) {\nentry:\n  br label %b0\n";
    for (int i = 0; i < count; ++i)
      absl::StrAppend(&text, "b", i, ":\n  br i1 %c, label %b", i, ", label %b", i + 1, "\n");
    return absl::StrCat(text, "b", count, ":\n  ret void\n}\n");
  }

  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
};

TEST_F(LargeFunction, IsOneWithManyInstructions) {
  Read(Chain(kMostInstructions - 1));
  EXPECT_EQ(WhyLarge(*module_), "");
  Read(Chain(kMostInstructions));
  EXPECT_EQ(WhyLarge(*module_), absl::StrCat(kMostInstructions + 1, " instructions; ", kMostInstructions, " at most"));
}

TEST_F(LargeFunction, IsOneWithManyLoops) {
  Read(Loops(kMostLoops));
  EXPECT_EQ(WhyLarge(*module_), "");
  Read(Loops(kMostLoops + 1));
  EXPECT_EQ(WhyLarge(*module_), absl::StrCat(kMostLoops + 1, " loops; ", kMostLoops, " at most"));
}

TEST_F(LargeFunction, HasShortBlocksAfterwards) {
  Read(Chain(10000));
  SplitLongBlocks(module_.get());
  const llvm::Function& f = *module_->getFunction("f");
  EXPECT_EQ(f.getInstructionCount(), 10001u + f.size() - 1);
  EXPECT_GE(f.size(), 9u);
  for (const llvm::BasicBlock& block : f) EXPECT_LE(block.size(), 1100u);
  EXPECT_FALSE(llvm::verifyModule(*module_));
}

TEST_F(LargeFunction, CallsCopiesOfBusyFunctions) {
  std::string text = "define internal float @g(float %x) noinline {\n  ret float %x\n}\ndefine float @f(float %v0) {\n";
  for (int i = 0; i < 1200; ++i) absl::StrAppend(&text, "  %v", i + 1, " = call float @g(float %v", i, ")\n");
  Read(absl::StrCat(text, "  ret float %v1200\n}\n"));
  CopyBusyFunctions(module_.get());
  int functions = 0;
  for (const llvm::Function& f : *module_) {
    ++functions;
    EXPECT_LE(f.getNumUses(), 512u);
  }
  EXPECT_EQ(functions, 4);
  EXPECT_FALSE(llvm::verifyModule(*module_));
}

}  // namespace
}  // namespace tile::codegen
