// TMA descriptors that the kernel makes itself, of tensors that the host does not know.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "codegen/build_image.h"
#include "gtest/gtest.h"
#include "ir/expr.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

// Blocks walk over the tiles of groups, whose first rows and numbers of rows are loaded.
std::string Groups(int m, int n, int k) {
  return absl::StrReplaceAll(R"(
entry @groups(%rows: tile<ptr<i32>>, %a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %groups: tile<i32>, %k: tile<i32>) {
  %block, %y, %z = get_tile_block_id
  %blocks, %by, %bz = get_num_tile_blocks
  %as = assume div_by<16>, %a
  %bs = assume div_by<16>, %b
  %k0 = assume bounded<0, ?>, %k
  %ks = assume div_by<8>, %k0
  %zero = constant <f32: 0> : tile<MxNxf32>
  for %g in (0 to %groups, step 1) {
    %at = offset %rows, %g
    %n, %t = load_ptr_tko weak %at
    %from = muli %n, %ks
    %ag = offset %as, %from
    %size = assume bounded<0, ?>, %n
    %agt = make_tensor_view %ag, shape = [%size, %ks], strides = [%ks, 1]
    %bgt = make_tensor_view %bs, shape = [%ks, %size], strides = [N, 1]
    %ct = make_tensor_view %c, shape = [%size, N], strides = [N, 1]
    %av = make_partition_view %agt : partition_view<tile=(MxK), padding_value = zero>
    %bv = make_partition_view %bgt : partition_view<tile=(KxN), padding_value = zero>
    %cv = make_partition_view %ct : partition_view<tile=(MxN)>
    %tiles, %steps = get_index_space_shape %av
    for %i in (%block to %tiles, step %blocks) {
      %sum = for %step in (0 to %steps, step 1) iter_values(%acc = %zero) {
        %u = load_view_tko weak %av[%i, %step]
        %v = load_view_tko weak %bv[%step, 0]
        %next = mmaf %u, %v, %acc
        continue %next
      }
      store_view_tko weak %sum, %cv[%i, 0]
      continue
    }
    continue
  }
  return
}
)",
                             {{"MxN", absl::StrCat(m, "x", n)},
                              {"MxK", absl::StrCat(m, "x", k)},
                              {"KxN", absl::StrCat(k, "x", n)},
                              {"[N, 1]", absl::StrCat("[", n, ", 1]")},
                              {"[%size, N]", absl::StrCat("[%size, ", n, "]")}});
}

CompiledText Compiled90(const std::string& text) {
  const CompiledText c = CompileText(text, 90, "", true);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  return c;
}

bool Remarks(const CompiledText& c, absl::string_view what) {
  for (const std::string& line : c.remarks) {
    if (absl::StrContains(line, what)) return true;
  }
  return false;
}

TEST(MapPtx, TheKernelMakesDescriptors) {
  const CompiledText c = Compiled90(Groups(64, 64, 64));
  EXPECT_TRUE(Remarks(c, "tiles come by TMA"));
  // One for each operand, of 64 rows of 128 bytes, none of the host.
  EXPECT_EQ(Count(c.ptx, ".param .align 64 .b8"), 0);
  for (const char* field :
       {"global_address", "rank", "global_stride", "elemtype", "interleave_layout", "swizzle_mode", "fill_mode"}) {
    EXPECT_EQ(Count(c.ptx, absl::StrCat("tensormap.replace.tile.", field, ".")), 2) << field;
  }
  for (const char* field : {"box_dim", "global_dim", "element_stride"})
    EXPECT_EQ(Count(c.ptx, absl::StrCat("tensormap.replace.tile.", field, ".")), 4) << field;
  EXPECT_EQ(Count(c.ptx, ".elemtype.shared::cta.b1024.b32 ["), 2);
  // From shared memory to global memory, and TMA is told.
  EXPECT_EQ(Count(c.ptx, "tensormap.cp_fenceproxy.global.shared::cta"), 2);
  EXPECT_EQ(Count(c.ptx, "fence.proxy.tensormap::generic.acquire.gpu"), 2);
  EXPECT_GT(Count(c.ptx, "cp.async.bulk.tensor.2d.shared"), 0);
  EXPECT_EQ(Count(c.ptx, "cp.async.cg"), 0);
  // Both are on their way before the first fence.
  EXPECT_LT(c.ptx.rfind("tensormap.cp_fenceproxy"), c.ptx.find("fence.proxy.tensormap"));
  // What stays the same is written at the entry.
  EXPECT_LT(c.ptx.rfind(".box_dim."), c.ptx.find("bar.sync"));
  EXPECT_GT(c.ptx.find(".global_dim."), c.ptx.find("bar.sync"));
}

// Before the launch nobody tests what a descriptor asks for, so the program must say it.
TEST(MapPtx, WhatIsNotKnownGoesOtherwise) {
  const std::string text = Groups(64, 64, 64);
  const auto why = [&](std::vector<std::pair<absl::string_view, absl::string_view>> changes, absl::string_view remark) {
    const CompiledText c = Compiled90(absl::StrReplaceAll(text, changes));
    EXPECT_EQ(Count(c.ptx, "tensormap"), 0) << remark;
    EXPECT_GT(Count(c.ptx, "cp.async.cg"), 0) << remark;
    EXPECT_TRUE(Remarks(c, remark)) << remark;
  };
  why({{"assume div_by<16>, %a", "assume div_by<8>, %a"}}, "its address is a multiple of 16 bytes");
  why({{"shape = [%size, %ks], strides = [%ks, 1]", "shape = [%size, %ks], strides = [%k0, 1]"}},
      "its stride 0 is what TMA takes");
  why({{"assume bounded<0, ?>, %k", "assume bounded<-8, ?>, %k"}}, "is what TMA takes");
  why({{"assume bounded<0, ?>, %n", "assume bounded<-8, ?>, %n"}}, "its size 0 is what TMA takes");
  // Another tensor for each step.
  why({{"        %u = load",
        "        %far = offset %ag, %step\n        %near = assume div_by<16>, %far\n"
        "        %other = make_tensor_view %near, shape = [%size, %ks], strides = [%ks, 1]\n"
        "        %av.1 = make_partition_view %other : partition_view<tile=(64x64), padding_value = zero>\n"
        "        %u = load"},
       {"%av[%i, %step]", "%av.1[%i, %step]"}},
      "each iteration may have another tensor");
}

// Each block of the hardware has its own descriptors; there is nothing to require for them.
TEST(MapPtx, DescriptorsLieInTheWorkspace) {
  const std::vector<BuiltImage> images = Images(Groups(64, 64, 64));
  ASSERT_EQ(images.size(), 2u);  // the first one for results that are aligned
  EXPECT_GT(Count(images[0].compiled.ptx, "tensormap.replace"), 0);
  const ir::Image& image = images[1].image;
  EXPECT_TRUE(image.requirements.empty());
  EXPECT_TRUE(image.tma.empty());
  ASSERT_EQ(image.workspaces.size(), 1u);
  const auto bytes = ir::EvaluateExpr(image.workspaces[0].bytes, [](const ir::ExprNode& n) -> absl::StatusOr<int64_t> {
    EXPECT_EQ(n.a, -2);
    return n.b == 0 ? 10 : 1;
  });
  EXPECT_EQ(*bytes, 10 * 256);
}

// Two hardware blocks do the parts of a block of 256 x 256, where the grid has fewer than there are multiprocessors.
TEST(MapPtx, BlocksAreDoneInParts) {
  const std::vector<BuiltImage> images = Images(Groups(256, 256, 64));
  ASSERT_EQ(images.size(), 2u);
  const BuiltImage& parts = images[0];
  EXPECT_EQ(parts.compiled.parts, 2);
  EXPECT_GT(Count(parts.compiled.ptx, "tensormap.replace"), 0);
  // 64 along K are left together: registers hold one block, and it has room for four of them.
  EXPECT_EQ(Count(parts.compiled.ptx, "wgmma.mma_async.sync.aligned.m64n256k16"), 4);
  ASSERT_EQ(parts.image.grid.size(), 3u);
  const auto grid = [&](size_t d) {
    return *ir::EvaluateExpr(parts.image.grid[d],
                             [](const ir::ExprNode& n) -> absl::StatusOr<int64_t> { return n.b == 0 ? 66 : 3; });
  };
  EXPECT_EQ(grid(0), 132);
  EXPECT_EQ(grid(1), 3);
  EXPECT_FALSE(parts.image.requirements.empty());
  EXPECT_EQ(images[1].compiled.parts, 1);
  EXPECT_TRUE(images[1].image.grid.empty());
}

// A producer goes where the others go: loops that carry what is loaded, and end by a break.
std::string Walk(const char* type, int m, int n, int k) {
  return absl::StrReplaceAll(R"(
entry @walk(%table: tile<ptr<i64>>, %c: tile<ptr<f32>>, %groups: tile<i32>) {
  %block, %y, %z = get_tile_block_id
  %blocks, %by, %bz = get_num_tile_blocks
  %zero = constant <f32: 0> : tile<MxNxf32>
  %none = constant <i32: 0> : tile<i32>
  %rows = make_tensor_view %table, shape = [%groups, 4], strides = [4, 1]
  %row = make_partition_view %rows : partition_view<tile=(1x4)>
  %ct = make_tensor_view %c, shape = [%groups, N], strides = [N, 1]
  %cv = make_partition_view %ct : partition_view<tile=(MxN)>
  %end, %last = for %g in (0 to %groups, step 1) iter_values(%first = %none, %tile = %block) {
    %entry, %t = load_view_tko weak %row[%g, 0]
    %of.a = extract %entry[0, 0] : tile<1x1xi64>
    %of.b = extract %entry[0, 1] : tile<1x1xi64>
    %of.m = extract %entry[0, 2] : tile<1x1xi64>
    %of.k = extract %entry[0, 3] : tile<1x1xi64>
    %at.a = reshape %of.a : tile<i64>
    %at.b = reshape %of.b : tile<i64>
    %m.long = reshape %of.m : tile<i64>
    %k.long = reshape %of.k : tile<i64>
    %m.any = trunci %m.long : tile<i32>
    %k.any = trunci %k.long : tile<i32>
    %m = assume bounded<0, ?>, %m.any
    %k.some = assume bounded<0, ?>, %k.any
    %k = assume div_by<16>, %k.some
    %a.any = int_to_ptr %at.a : tile<ptr<TYPE>>
    %b.any = int_to_ptr %at.b : tile<ptr<TYPE>>
    %a = assume div_by<16>, %a.any
    %b = assume div_by<16>, %b.any
    %at = make_tensor_view %a, shape = [%m, %k], strides = [%k, 1]
    %bt = make_tensor_view %b, shape = [N, %k], strides = [%k, 1]
    %av = make_partition_view %at : partition_view<tile=(MxK), padding_value = zero>
    %bv = make_partition_view %bt : partition_view<tile=(NxK), padding_value = zero>
    %tiles, %steps = get_index_space_shape %av
    %behind = addi %first, %tiles
    %next.tile = loop iter_values(%i = %tile) : tile<i32> -> tile<i32> {
      %here = cmpi less_than %i, %behind, signed
      if %here {
        yield
      } else {
        break %i
      }
      %in.group = subi %i, %first
      %sum = for %step in (0 to %steps, step 1) iter_values(%acc = %zero) {
        %u = load_view_tko weak %av[%in.group, %step]
        %v = load_view_tko weak %bv[0, %step]
        %vt = permute %v [1, 0]
        %next = mmaf %u, %vt, %acc
        continue %next
      }
      store_view_tko weak %sum, %cv[%i, 0]
      %following = addi %i, %blocks
      continue %following
    }
    continue %behind, %next.tile
  }
  return
}
)",
                             {{"MxN", absl::StrCat(m, "x", n)},
                              {"MxK", absl::StrCat(m, "x", k)},
                              {"NxK", absl::StrCat(n, "x", k)},
                              {"KxN", absl::StrCat(k, "x", n)},
                              {"TYPE", type},
                              {"[N, ", absl::StrCat("[", n, ", ")},
                              {"%groups, N]", absl::StrCat("%groups, ", n, "]")}});
}

TEST(MapPtx, AProducerFollowsLoopsAndLoads) {
  const std::string text = Walk("f8E5M2", 64, 64, 128);
  const CompiledText c = Compiled90(text);
  EXPECT_TRUE(Remarks(c, "operands are fetched ahead"));
  EXPECT_EQ(Count(c.ptx, ".reqntid 160"), 1);
  EXPECT_FALSE(c.persistent);
  // In 16 bits that was slower.
  EXPECT_EQ(Count(Compiled90(Walk("f16", 64, 64, 64)).ptx, ".reqntid 160"), 0);
  // Its copies of other tensors have come before it makes descriptors anew: those of each stage are waited for, beside what a free and a full
  // stage take.
  EXPECT_EQ(Count(c.ptx, "mbarrier.try_wait"), 2 + Count(c.ptx, "mbarrier.init") / 2);
  // Not where how often the loop runs depends on what the kernel may have stored, or a thread may end it.
  EXPECT_EQ(
      Count(
          Compiled90(absl::StrReplaceAll(text, {{"load_view_tko weak %row", "load_view_tko relaxed device %row"}})).ptx,
          ".reqntid 160"),
      0);
}

// Iterations of 64 8-bit floats are joined. The size along K is not known before, so the second tensor ends where the tiles of the first one do.
TEST(MapPtx, IterationsAreJoinedWhereOnlyTheKernelKnowsTheirNumber) {
  const std::vector<BuiltImage> images = Images(Walk("f8E5M2", 128, 256, 64));
  // The one whose blocks do whole tiles, by TMA; the last one is for results that the host can't describe.
  ASSERT_EQ(images.size(), 3u);
  const Compiled& c = images[1].compiled;
  EXPECT_EQ(c.parts, 1);
  EXPECT_FALSE(c.widens_k);  // nothing is asked of the launch for that
  EXPECT_EQ(Count(c.ptx, "wgmma.mma_async.sync.aligned.m64n128k32.f32.e5m2.e5m2"), 8);  // of 128 along K, two halves
  // The producer of descriptors keeps more registers than another.
  EXPECT_EQ(Count(c.ptx, "setmaxnreg.dec.sync.aligned.u32 40;"), 1);
  EXPECT_EQ(Count(c.ptx, "setmaxnreg.inc.sync.aligned.u32 232;"), 1);
}

}  // namespace
}  // namespace tile::codegen
