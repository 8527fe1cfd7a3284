#include "vm/prepare/reliance.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"

namespace tile::vm {
namespace {

// What Reliance says of each load of a kernel with this body, in order. `%w` is a view of tiles of 4 × 16.
std::vector<uint32_t> ReliedOn(const std::string& body) {
  const std::string text = absl::StrCat(R"(entry @k(%p: tile<ptr<f32>>) {
  %v = make_tensor_view %p, shape = [64, 64], strides = [64, 1]
  %w = make_partition_view %v : partition_view<tile=(4x16)>
)",
                                        body, "  return\n}\n");
  ir::Diagnostics diagnostics;
  const std::unique_ptr<ir::Module> module = ir::Parse(text, "k.tile", &diagnostics);
  EXPECT_TRUE(diagnostics.ToStatus().ok()) << diagnostics.ToString() << text;
  std::vector<uint32_t> result;
  if (module == nullptr) return result;
  Reliance reliance;
  for (const ir::Op* op : *module->FindFunction("k")->body()) {
    if (op->info()->is_load()) result.push_back(reliance.Of(op->result(0)));
  }
  return result;
}

TEST(Reliance, OfStoredElementsIsNone) {
  EXPECT_EQ(ReliedOn("  %x = load_view_tko weak %w[0, 0]\n  %y = addf %x, %x\n  store_view_tko weak %y, %w[1, 0]\n"),
            std::vector<uint32_t>{0});
}

TEST(Reliance, OfAReductionIsAlongItsDimension) {
  EXPECT_EQ(ReliedOn(R"(  %x = load_view_tko weak %w[0, 0]
  %m = reduce %x dim=1 identities=[0] (%a, %b) {
    %r = addf %a, %b
    yield %r
  }
)"),
            std::vector<uint32_t>{2});
}

// The second load reaches what was followed for the first one; the third reaches what nothing is made of.
TEST(Reliance, OfOneTileHelpsWithTheNext) {
  EXPECT_EQ(ReliedOn(R"(  %x = load_view_tko weak %w[0, 0]
  %y = load_view_tko weak %w[1, 0]
  %z = load_view_tko weak %w[2, 0]
  %s = addf %x, %y
  %t = permute %s [1, 0]
  %m = reduce %t dim=1 identities=[0] (%a, %b) {
    %r = addf %a, %b
    yield %r
  }
  %u = addf %z, %z
)"),
            (std::vector<uint32_t>{1, 1, 0}));
}

// A carried value enters the next iteration.
TEST(Reliance, GoesAroundLoops) {
  EXPECT_EQ(ReliedOn(R"(  %x = load_view_tko weak %w[0, 0]
  %y = load_view_tko weak %w[1, 0]
  %s = for %i in (0 to 3, step 1) : tile<i32> iter_values(%k = %x) {
    %n = addf %k, %y
    continue %n
  }
  %m = reduce %s dim=0 identities=[0] (%a, %b) {
    %r = addf %a, %b
    yield %r
  }
)"),
            (std::vector<uint32_t>{1, 1}));
}

}  // namespace
}  // namespace tile::vm
