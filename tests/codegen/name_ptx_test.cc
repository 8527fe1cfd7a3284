// Any name of a kernel or a global that the format takes compiles, through LLVM and through ptxas.
#include <cstdio>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "codegen/emit/context/symbol.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

// Whatever stands in the machine code beside the kernel: a global, a table of constants, shared memory of the program
// and of the compiler, the workspace, a function of CUDA's device library.
constexpr char kText[] = R"(
global @"GLOBAL" <i32: [1, 2, 3, 4]> : tile<4xi32>
entry @"KERNEL"(%y: tile<ptr<f32>>, %z: tile<ptr<i32>>) {
  %p = get_global @"GLOBAL" : tile<ptr<i32>>
  %v, %t = load_ptr_tko weak %p -> tile<i32>, token
  store_ptr_tko weak %z, %v
  %s = alloc_shared alignment = 16 : tensor_view<64xf32, strides=[1], shared>
  %i = constant <i32: 0> : tile<i32>
  %sv = make_partition_view %s : partition_view<tile=(64), tensor_view<64xf32, strides=[1], shared>>
  %x, %t1 = load_view_tko weak %sv[%i] -> tile<64xf32>, token
  %c = constant <f32: [1.0, 2.0, 3.0, 4.0]> : tile<4xf32>
  %b = reshape %c : tile<4xf32> -> tile<1x4xf32>
  %x4 = reshape %x : tile<64xf32> -> tile<16x4xf32>
  %b4 = broadcast %b : tile<1x4xf32> -> tile<16x4xf32>
  %m = mulf %x4, %b4 : tile<16x4xf32>
  %e = cos %m : tile<16x4xf32>
  %f = reshape %e : tile<16x4xf32> -> tile<64xf32>
  %r = reduce %f dim=0 identities=[0.0 : f32] : tile<64xf32> -> tile<f32> (%g: tile<f32>, %h: tile<f32>) {
    %u = addf %g, %h : tile<f32>
    yield %u : tile<f32>
  }
  %a = alloca num_elem = 4, alignment = 16 : tile<ptr<f32>>
  store_ptr_tko weak %a, %r
  store_ptr_tko weak %y, %r
  return
}
)";

std::string Escaped(absl::string_view name) {
  std::string out;
  for (const char c : name) absl::StrAppend(&out, "\\x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
  return out;
}

// What is wrong; "" if nothing.
std::string TryName(absl::string_view kernel, absl::string_view global) {
  const CompiledText c =
      CompileText(absl::StrReplaceAll(kText, {{"KERNEL", Escaped(kernel)}, {"GLOBAL", Escaped(global)}}), 90);
  if (!c.error.empty()) return c.error;
  if (!absl::StrContains(c.ptx, absl::StrCat(".entry ", KernelSymbol(kernel), "("))) return "no such entry in " + c.ptx;
  return AssemblerErrors(c, 90);
}

TEST(Names, CompileAndAssemble) {
  if (FindLibdevice().empty()) GTEST_SKIP() << "libdevice was not found, which the kernel needs";
  for (const char* name : {"a.b",       "1a",
                           "_",         "größe",
                           "a b",       "a-b",
                           "a<b>",      "🙂",
                           "$",         ".a",
                           "a$b",       "%r1",
                           "\"",        "'",
                           "a\\b",      "\xff\xfe",
                           "{}",        ";",
                           "//",        "*/",
                           "@a",        "a,b",
                           "[x]",       "llvm.nvvm.barrier0",
                           "llvm.used", "nvvm.annotations",
                           "\xc2\x80",  "-1",
                           " "}) {
    EXPECT_EQ(TryName(name, "g"), "") << name;
    EXPECT_EQ(TryName("k", name), "") << name;
  }
}

// Of PTX, of LLVM, of CUDA's libraries, of this compiler.
TEST(Names, ThatSomebodyElseHas) {
  if (FindLibdevice().empty()) GTEST_SKIP() << "libdevice was not found, which the kernel needs";
  for (const char* name : {"add",
                           "ld",
                           "st",
                           "reg",
                           "entry",
                           "func",
                           "global",
                           "shared",
                           "local",
                           "param",
                           "pred",
                           "b32",
                           "f32",
                           "v4",
                           "volatile",
                           "WARP_SZ",
                           "tid",
                           "true",
                           "ring",
                           "scratch",
                           "workspace_size",
                           "constant",
                           "tile",
                           "main",
                           "printf",
                           "vprintf",
                           "malloc",
                           "free",
                           "memcpy",
                           "memset",
                           "abort",
                           "cosf",
                           "__nv_cosf",
                           "__cosf",
                           "__internal_trig_reduction_slowpath",
                           "__cudart_i2opi_f",
                           "__assertfail",
                           "__local_depot0",
                           "global_g",
                           "k_param_0",
                           "g"}) {
    EXPECT_EQ(TryName(name, "k"), "") << name;
    EXPECT_EQ(TryName("k", name), "") << name;
  }
  for (const char* name :
       {"shared$", "ring$", "scratch$", "workspace_size$", "constant$", "global$k", "tile$k", "$L__BB0_1"}) {
    EXPECT_EQ(TryName(name, "k"), "") << name;
    EXPECT_EQ(TryName("k", name), "") << name;
  }
}

TEST(Names, Long) {
  if (FindLibdevice().empty()) GTEST_SKIP() << "libdevice was not found, which the kernel needs";
  for (const char* unit : {"a", ".", "ö"}) {
    std::string name;
    while (name.size() < 10000) name += unit;
    EXPECT_EQ(TryName(name, "k"), "") << unit;
    EXPECT_EQ(TryName("k", name), "") << unit;
  }
}

TEST(Names, EveryByte) {
  for (int c = 0x20; c < 0x100; ++c) {
    if (c == 0x7f) continue;  // control characters are no part of names
    const std::string name(1, static_cast<char>(c));
    const CompiledText text = CompileText(absl::StrCat("entry @\"", Escaped(name), "\"() {\n  return\n}\n"), 90);
    EXPECT_EQ(text.error, "") << c;
    EXPECT_TRUE(absl::StrContains(text.ptx, absl::StrCat(".entry ", KernelSymbol(name), "("))) << text.ptx;
  }
}

}  // namespace
}  // namespace tile::codegen
