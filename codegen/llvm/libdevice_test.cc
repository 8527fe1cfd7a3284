// A module is linked with a library of its own: two functions, one of which can't be read.
#include "codegen/llvm/libdevice.h"

#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace tile::codegen {
namespace {

std::unique_ptr<llvm::Module> Parse(const std::string& text, llvm::LLVMContext* context) {
  llvm::SMDiagnostic why;
  auto module = llvm::parseAssemblyString(text, why, *context);
  EXPECT_NE(module, nullptr) << why.getMessage().str();
  return module;
}

std::string Bitcode(const std::string& text) {
  llvm::LLVMContext context;
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  llvm::WriteBitcodeToFile(*Parse(text, &context), out);
  return bytes;
}

// Where __nv_b adds and where it multiplies the bitcode differs in its body alone, which becomes nonsense.
std::string Library() {
  const std::string text = R"(
define float @__nv_a(float %x) { %r = fmul float %x, %x
  ret float %r }
define float @__nv_b(float %x) { %r = fadd float %x, %x
  ret float %r }
)";
  std::string library = Bitcode(text);
  const std::string other = Bitcode(absl::StrReplaceAll(text, {{"fadd", "fdiv"}}));
  EXPECT_EQ(library.size(), other.size());
  int differ = 0;
  for (size_t i = 0; i < library.size() && i < other.size(); ++i) {
    if (library[i] == other[i]) continue;
    library[i] = static_cast<char>(0xFF);
    ++differ;
  }
  EXPECT_GT(differ, 0);
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/library.bc";
  std::ofstream(path, std::ios::binary) << library;
  return path;
}

std::string Calls(const std::string& name) {
  return absl::StrReplaceAll(R"(
declare float @NAME(float)
define float @kernel(float %x) { %r = call float @NAME(float %x)
  ret float %r }
)",
                             {{"NAME", name}});
}

TEST(Libdevice, IsNotOpenedForNothing) {
  llvm::LLVMContext context;
  EXPECT_TRUE(LinkLibdevice("/there/is/none.bc", Parse(Calls("own"), &context).get()).ok());
  EXPECT_FALSE(LinkLibdevice("/there/is/none.bc", Parse(Calls("__nv_a"), &context).get()).ok());
}

TEST(Libdevice, OnlyWhatIsCalledIsRead) {
  const std::string library = Library();
  llvm::LLVMContext context;
  const auto module = Parse(Calls("__nv_a"), &context);
  const absl::Status linked = LinkLibdevice(library, module.get());
  ASSERT_TRUE(linked.ok()) << linked;
  EXPECT_FALSE(module->getFunction("__nv_a")->isDeclaration());
  EXPECT_EQ(module->getFunction("__nv_b"), nullptr);
}

}  // namespace
}  // namespace tile::codegen
