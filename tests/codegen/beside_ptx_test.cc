// The backward pass of attention: four products an iteration, which run beside each other and beside the work on elements, and rows that come
// beside the tiles.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

// KK keys and NN queries.
constexpr char kBackward[] = R"(
entry @backward(%k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %q: tile<ptr<f16>>, %o: tile<ptr<f16>>, %m: tile<ptr<f32>>, %dv: tile<ptr<f32>>, %dk: tile<ptr<f32>>, %n: tile<i32>) {
  %kt = make_tensor_view %k, shape = [KK, 64], strides = [64, 1]
  %vt = make_tensor_view %v, shape = [KK, 64], strides = [64, 1]
  %qt = make_tensor_view %q, shape = [%n, 64], strides = [64, 1]
  %ot = make_tensor_view %o, shape = [%n, 64], strides = [64, 1]
  %mt = make_tensor_view %m, shape = [%n], strides = [1]
  %dvt = make_tensor_view %dv, shape = [KK, 64], strides = [64, 1]
  %dkt = make_tensor_view %dk, shape = [KK, 64], strides = [64, 1]
  %kv = make_partition_view %kt : partition_view<tile=(KKx64)>
  %vv = make_partition_view %vt : partition_view<tile=(KKx64)>
  %qv = make_partition_view %qt : partition_view<tile=(NNx64), padding_value = zero>
  %ov = make_partition_view %ot : partition_view<tile=(NNx64), padding_value = zero>
  %mv = make_partition_view %mt : partition_view<tile=(NN), padding_value = zero>
  %dvv = make_partition_view %dvt : partition_view<tile=(KKx64)>
  %dkv = make_partition_view %dkt : partition_view<tile=(KKx64)>
  %none = constant <f32: 0> : tile<KKxNNxf32>
  %none.d = constant <f32: 0> : tile<KKx64xf32>
  %key = load_view_tko weak %kv[0, 0]
  %value = load_view_tko weak %vv[0, 0]
  %sums:2 = for %i in (0 to %n, step 1) iter_values(%gv = %none.d, %gk = %none.d) {
    %query = load_view_tko weak %qv[%i, 0]
    %query.t = permute %query [1, 0] : tile<NNx64xf16> -> tile<64xNNxf16>
    %s = mmaf %key, %query.t, %none
    %row = load_view_tko weak %mv[%i]
    %row.1 = reshape %row : tile<NNxf32> -> tile<1xNNxf32>
    %row.n = broadcast %row.1 : tile<1xNNxf32> -> tile<KKxNNxf32>
    %less = subf %s, %row.n
    %p = exp2 %less
    %p.h = ftof %p : tile<KKxNNxf32> -> tile<KKxNNxf16>
    %out = load_view_tko weak %ov[%i, 0]
    %gv.1 = mmaf %p.h, %out, %gv
    %out.t = permute %out [1, 0] : tile<NNx64xf16> -> tile<64xNNxf16>
    %dp = mmaf %value, %out.t, %none
    %ds = mulf %p, %dp
    %ds.h = ftof %ds : tile<KKxNNxf32> -> tile<KKxNNxf16>
    %gk.1 = mmaf %ds.h, %query, %gk
    continue %gv.1, %gk.1
  }
  store_view_tko weak %sums#0, %dvv[0, 0]
  store_view_tko weak %sums#1, %dkv[0, 0]
  return
}
)";

CompiledText Backward(const char* keys, const char* queries) {
  CompiledText c = CompileText(absl::StrReplaceAll(kBackward, {{"KK", keys}, {"NN", queries}}), 90);
  EXPECT_EQ(c.error, "");
  return c;
}

int CountWaits(const std::string& ptx, int running) {
  return Count(ptx, absl::StrCat("wgmma.wait_group.sync.aligned ", running, ";"));
}

TEST(BesidePtx, ProductsAreWaitedForWhereTheyAreRead) {
  const CompiledText c = Backward("64", "32");
  // The second product runs while the first is waited for, and the third while the second is; the last two end behind the loop.
  EXPECT_EQ(CountWaits(c.ptx, 1), 2);
  EXPECT_EQ(CountWaits(c.ptx, 0), 1);
  EXPECT_EQ(AssemblerErrors(c, 90), "");
}

TEST(BesidePtx, ProductsBeginAsEarlyAsThereAreRegisters) {
  // Two blocks of eight warps on a multiprocessor leave a thread 128 registers: the second product begins behind the third, beside which
  // it runs, and both are waited for.
  const CompiledText c = Backward("128", "32");
  EXPECT_EQ(Count(c.ptx, ".minnctapersm 2"), 1);
  EXPECT_EQ(CountWaits(c.ptx, 1), 0);
  EXPECT_EQ(CountWaits(c.ptx, 0), 3);
}

TEST(BesidePtx, RowsComeWithoutABarrier) {
  // Where a row has more elements than a warp has lanes, each warp still holds all of it.
  const int few = Count(Backward("64", "32").ptx, "bar.sync"), many = Count(Backward("64", "64").ptx, "bar.sync");
  EXPECT_EQ(few, many);
}

}  // namespace
}  // namespace tile::codegen
