// Files by their first bytes, by their text, and by their names where neither says anything.
#include "ir/foreign_file.h"

#include "gtest/gtest.h"

namespace tile::ir {
namespace {

using Kind = ForeignKind;

// The kind as a number; -1: none.
int KindOf(const std::string& bytes, absl::string_view name = "x") {
  const ForeignFile* f = FindForeignFile({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, name);
  return f == nullptr ? -1 : static_cast<int>(f->kind);
}
#define EXPECT_KIND(kind, ...) EXPECT_EQ(KindOf(__VA_ARGS__), static_cast<int>(Kind::kind))

TEST(ForeignFile, BinaryForms) {
  EXPECT_KIND(kTorchZip, std::string("PK\x03\x04........archive/data.pkl....", 34));
  EXPECT_KIND(kNpz, "PK\x03\x04........arr_0.npy....");
  EXPECT_KIND(kZip, "PK\x03\x04........readme....");
  EXPECT_KIND(kPickle, std::string("\x80\x04\x95\x00\x00.", 6));
  EXPECT_KIND(kTorchZip, "\x80\x02\x8A\nl\xFC\x9C\x46\xF9 j\xA8P\x19.");
  EXPECT_KIND(kGguf, "GGUF\x03...");
  EXPECT_KIND(kHdf5, "\x89HDF\r\n\x1a\n....");
  EXPECT_KIND(kParquet, "PAR1....");
  EXPECT_KIND(kNpy, "\x93NUMPY....");
  EXPECT_KIND(kImage, "\xFF\xD8\xFF....");
  EXPECT_KIND(kGzip, "\x1F\x8B....");
  EXPECT_KIND(kXz, std::string("\xFD\x37zXZ\0...", 9));
  EXPECT_KIND(kFatbin, "\x50\xED\x55\xBA....");
  EXPECT_KIND(kLlvmBitcode, "BC\xC0\xDE....");
  EXPECT_KIND(kMlirBytecode, "ML\xEFR....");
  std::string elf(
      "\x7F"
      "ELF\x02\x01\x01",
      7);
  elf.resize(64);
  EXPECT_KIND(kElf, elf);
  elf[18] = static_cast<char>(190);
  EXPECT_KIND(kCubin, elf);
  EXPECT_KIND(kSafetensors, std::string("\x10\0\0\0\0\0\0\0{\"x\":{}}", 16));
  std::string tar(512, '\0');
  tar.replace(257, 5, "ustar");
  EXPECT_KIND(kTar, tar);
}

TEST(ForeignFile, Programs) {
  EXPECT_KIND(kPtx, "//\n.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\nret;\n}\n");
  EXPECT_KIND(kLlvmIr, "; ModuleID = 'k'\nsource_filename = \"k\"\n");
  EXPECT_KIND(kLlvmIr, "define void @k() {\n  ret void\n}\n");
  EXPECT_KIND(kTritonPython, "import torch\nimport triton\n\n@triton.jit\ndef k(x):\n  pass\n");
  EXPECT_KIND(kCutilePython, "import cuda.tile as ct\n");
  EXPECT_KIND(kScriptPython, "from tilevm import script\n");
  EXPECT_KIND(kPython, "#!/usr/bin/env python3\nprint(1)\n");
  EXPECT_KIND(kCudaCpp, "#include <cuda.h>\n__global__ void k() {}\n");
  EXPECT_KIND(kTileCpp, "#include <cuda_tile.h>\n__tile_global__ void k() {}\n");
  EXPECT_KIND(kTtgir, "#blocked = #ttg.blocked<{}>\nmodule attributes {\"ttg.num-warps\" = 4 : i32} {\n");
  EXPECT_KIND(kStableHlo, "module @m {\n  func.func @main() {\n    stablehlo.return\n");
  EXPECT_KIND(kHlo, "HloModule m\n\nENTRY e {\n}\n");
  EXPECT_KIND(kGpuDialect, "gpu.module @m {\n  gpu.func @k() kernel {\n");
  EXPECT_KIND(kOtherMlir, "func.func @f() {\n  return\n}\n");
}

TEST(ForeignFile, Numbers) {
  EXPECT_KIND(kCsv, "1,2,3\n4,5,6\n");
  EXPECT_KIND(kNumberText, "0\n2.5\n-1e-3\nnan\ninf\n");
  EXPECT_KIND(kJson, "[1, 2, 3]\n");
  EXPECT_KIND(kJson, "{\"a\": 1}\n");
  EXPECT_KIND(kLfsPointer, "version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
  EXPECT_KIND(kHtml, "<!DOCTYPE html>\n<html>");
}

TEST(ForeignFile, NamesCountWhereContentsSayNothing) {
  EXPECT_KIND(kTorchZip, "????", "model.PT");
  EXPECT_KIND(kGguf, "", "m.gguf");
  EXPECT_KIND(kCsv, "a,b\nc,d\n", "t.csv");
  EXPECT_KIND(kText, "hello", "t.txt");
  EXPECT_KIND(kGguf, "GGUF....", "model.pt");
  EXPECT_EQ(KindOf("????", "x.bin"), -1);
  EXPECT_EQ(KindOf("entry @k() {\nreturn\n}\n", "k.tile"), -1);
  EXPECT_EQ(KindOf("cuda_tile.module @m {\n}\n", "k.mlir"), -1);
  EXPECT_EQ(KindOf(""), -1);
}

TEST(ForeignFile, TextMayBeAKernelWithErrors) {
  const auto named = [](absl::string_view name) { return FindForeignKernel({}, name); };
  EXPECT_EQ(named("kernel.txt"), nullptr);
  EXPECT_NE(named("kernel.py"), nullptr);
}

TEST(ForeignFile, AdviceHasTheNameOfTheFile) {
  const ForeignFile* f = FindForeignFile({}, "a b.pt");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->ForArray("a b.pt").substr(0, 74),
            "write the tensor as an array: numpy.save('x.npy', torch.load('a b.pt').num");
  f = FindForeignFile({}, "k.py");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->ForKernel("k.py").substr(0, 40), "run it whole: python -m tilevm.triton k.");
}

}  // namespace
}  // namespace tile::ir
