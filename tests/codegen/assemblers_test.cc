// How assemblers are run: before there is PTX, beside each other. A script stands for ptxas.
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "codegen/build_image.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

class Assemblers : public ::testing::Test {
 protected:
  void SetUp() override {
    ptxas_ = FindPtxas();
    if (ptxas_.empty()) GTEST_SKIP() << "no ptxas";
    const char* base = std::getenv("TEST_TMPDIR");
    folder_ = absl::StrCat(base != nullptr ? base : "/tmp", "/assemblers-XXXXXX");
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { unsetenv("TILEC_PTXAS"); }

  // Its last arguments are the PTX, -o and the cubin.
  void UseScript(const std::string& lines) {
    const std::string path = folder_ + "/ptxas";
    std::ofstream(path) << "#!/bin/bash\nin=\"${@: -3:1}\"\n" << lines << "\nexec " << ptxas_ << " \"$@\"\n";
    ASSERT_EQ(chmod(path.c_str(), 0700), 0);
    setenv("TILEC_PTXAS", path.c_str(), 1);
  }
  absl::StatusOr<std::vector<BuiltImage>> Build(const std::string& text) {
    ir::Diagnostics diags;
    module_ = ir::Parse(text, "test.tile", &diags);
    EXPECT_NE(module_, nullptr) << diags.ToString();
    CompileOptions options;
    options.target = FindTarget(90);
    trace_.on_remark = [this](const std::string& line) { absl::StrAppend(&remarks_, line, "\n"); };
    options.trace = &trace_;
    return BuildImages(*module_, *module_->functions[0], options, ir::ImageKind::kCubin);
  }

  std::string ptxas_, folder_;
  std::unique_ptr<ir::Module> module_;
  Trace trace_;
  std::string remarks_;
};

TEST_F(Assemblers, BeforeThereIsPtx) {
  UseScript(absl::StrCat("[ -p \"$in\" ] && touch ", folder_, "/early"));
  const std::string ptx = CompileText(ProductText(128, 128, 64), 90).ptx;
  const absl::StatusOr<Assembled> late = Assemble(ptx, "sm_90a", {});
  ASSERT_TRUE(late.ok()) << late.status();
  EXPECT_NE(access((folder_ + "/early").c_str(), R_OK), 0);
  Assembly assembly("sm_90a", {});
  const absl::StatusOr<Assembled> early = assembly.Finish(ptx);
  ASSERT_TRUE(early.ok()) << early.status();
  EXPECT_EQ(access((folder_ + "/early").c_str(), R_OK), 0);
  EXPECT_EQ(early->registers, late->registers);
  EXPECT_EQ(early->cubin.size(), late->cubin.size());
}

TEST_F(Assemblers, HaveLargePages) {
  UseScript(absl::StrCat("[[ $GLIBC_TUNABLES == *malloc.hugetlb=1* ]] && touch ", folder_, "/large"));
  ASSERT_TRUE(Assemble(CompileText(ProductText(64, 64, 64), 90).ptx, "sm_90a", {}).ok());
  EXPECT_EQ(access((folder_ + "/large").c_str(), R_OK), 0);
}

// As ptxas says it of wgmma beside a tile that lives on.
constexpr char kNoRegisters[] =
    "{ echo \"ptxas fatal : Register allocation failed with register count of '128'\"; exit 255; }";

TEST_F(Assemblers, ThatFindNoRegistersForWgmma) {
  UseScript(absl::StrCat("[ -p \"$in\" ] && exit 1\ngrep -q wgmma \"$in\" && ", kNoRegisters));
  const absl::StatusOr<std::vector<BuiltImage>> images = Build(ProductText(128, 128, 64));
  ASSERT_TRUE(images.ok()) << images.status();
  ASSERT_FALSE(images->empty());
  for (const BuiltImage& image : *images) EXPECT_FALSE(absl::StrContains(image.compiled.ptx, "wgmma"));
  EXPECT_TRUE(absl::StrContains(images->back().compiled.ptx, "mma.sync"));
  EXPECT_TRUE(images->back().image.requirements.empty());
  EXPECT_TRUE(absl::StrContains(remarks_, "an image is left out")) << remarks_;
  EXPECT_TRUE(absl::StrContains(remarks_, "mma.sync does the products")) << remarks_;
}

TEST_F(Assemblers, ThatFindNoRegistersAtAll) {
  UseScript(kNoRegisters);
  const absl::Status why = Build(ProductText(128, 128, 64)).status();
  EXPECT_TRUE(absl::IsInternal(why) && absl::StrContains(why.message(), "Register allocation failed")) << why;
}

TEST_F(Assemblers, ThatTakeNoPipe) {
  UseScript("[ -p \"$in\" ] && exit 1");
  const absl::StatusOr<Assembled> a = Assembly("sm_90a", {}).Finish(CompileText(ProductText(64, 64, 64), 90).ptx);
  EXPECT_TRUE(a.ok()) << a.status();
}

TEST_F(Assemblers, MistakesAreTold) {
  const absl::StatusOr<Assembled> a = Assembly("sm_90a", {}).Finish(".version 8.3\n.target sm_90a\nnonsense\n");
  EXPECT_TRUE(absl::IsInternal(a.status()));
  EXPECT_TRUE(absl::StrContains(a.status().message(), "nonsense")) << a.status();
}

// Each waits until another one is there.
TEST_F(Assemblers, BesideEachOther) {
  UseScript(absl::StrCat("cp \"$in\" ", folder_, "/ptx.$$; for i in {1..200}; do ls ", folder_,
                         "/ptx.* | grep -c . | grep -qv ^1 && break; sleep 0.05; done; [ $i = 200 ] && exit 1"));
  const auto images = Build(ProductText(128, 256, 64));
  ASSERT_TRUE(images.ok()) << images.status();
  ASSERT_GE(images->size(), 2u);
  for (const BuiltImage& i : *images) EXPECT_GT(i.assembled.registers, 0);
  EXPECT_FALSE((*images)[0].image.tma.empty());
  EXPECT_TRUE(images->back().image.tma.empty());
}

// Rows of which a block of 512 threads has one. Some of its blocks of code are rare.
constexpr char kRows[] = R"(
entry @rows(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %rows: tile<i32>, %n: tile<i32>) {
  %b, %by, %bz = get_tile_block_id
  %nb, %nby, %nbz = get_num_tile_blocks
  %i = iota -> tile<16384xi32>
  %n1 = reshape %n -> tile<1xi32>
  %nn = broadcast %n1 -> tile<16384xi32>
  %mask = cmpi less_than %i, %nn, signed
  %pad = constant <f32: 0xFF800000> : tile<16384xf32>
  for %r in (%b to %rows, step %nb) {
    %o = muli %r, %n
    %xp = offset %x, %o
    %xp1 = reshape %xp -> tile<1xptr<f32>>
    %xps = broadcast %xp1 -> tile<16384xptr<f32>>
    %xpi = offset %xps, %i
    %v, %t = load_ptr_tko weak %xpi, %mask, %pad
    %m = reduce %v dim=0 identities=[0xFF800000 : f32] : tile<16384xf32> -> tile<f32> (%e: tile<f32>, %a: tile<f32>) {
      %q = maxf %e, %a
      yield %q
    }
    %m1 = reshape %m -> tile<1xf32>
    %mm = broadcast %m1 -> tile<16384xf32>
    %d = subf %v, %mm
    %w = exp %d
    %s = reduce %w dim=0 identities=[0.0 : f32] : tile<16384xf32> -> tile<f32> (%e2: tile<f32>, %a2: tile<f32>) {
      %q2 = addf %e2, %a2
      yield %q2
    }
    %s1 = reshape %s -> tile<1xf32>
    %ss = broadcast %s1 -> tile<16384xf32>
    %z = divf %w, %ss
    %yp = offset %y, %o
    %yp1 = reshape %yp -> tile<1xptr<f32>>
    %yps = broadcast %yp1 -> tile<16384xptr<f32>>
    %ypi = offset %yps, %i
    %t2 = store_ptr_tko weak %ypi, %z, %mask
    continue
  }
  return
}
)";

TEST_F(Assemblers, TakeFewRegistersWhereAnotherBlockFits) {
  // As ptxas 13.0 says it of such a kernel, told which blocks are rare and not.
  UseScript(
      absl::StrCat("[ -p \"$in\" ] && exit 1; n=62; grep -q 'pragma \"frequency' \"$in\" && n=74; said=$(", ptxas_,
                   " \"$@\" 2>&1); code=$?; echo \"$said\" | sed \"s/Used [0-9]* registers/Used $n registers/\" >&2",
                   "; exit $code"));
  const auto images = Build(kRows);
  ASSERT_TRUE(images.ok()) << images.status();
  for (const BuiltImage& i : *images) EXPECT_EQ(i.assembled.registers, 62);
}

}  // namespace
}  // namespace tile::codegen
