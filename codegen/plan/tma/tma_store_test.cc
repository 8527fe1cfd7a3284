// Which stores TMA can do, and that every element comes to lie where the copy of its box looks for it.
#include "codegen/plan/tma/tma_store.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "codegen/layout/fragments.h"
#include "codegen/target/decisions.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"

namespace tile::codegen {
namespace {

constexpr char kStore[] = R"(
entry @k(%c: tile<ptr<bf16>>, %n: tile<i32>) {
  %j, %i, %z = get_tile_block_id
  %ct = make_tensor_view %c, shape = [%n, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xbf16, strides=[?,1]>
  %cv = make_partition_view %ct : partition_view<tile=(128x256), tensor_view<?x?xbf16, strides=[?,1]>>
  %v = constant <bf16: 1> : tile<128x256xbf16>
  %done = store_view_tko weak %v, %cv[%i, %j] : tile<128x256xbf16>, partition_view<tile=(128x256), tensor_view<?x?xbf16, strides=[?,1]>>, tile<i32> -> token
  return
}
)";

Layout OfProduct() { return WgmmaLayout({256, 16, 128, 256, 64, 2, 1}, Operand::kC); }

struct Store {
  std::unique_ptr<ir::Module> module;
  ir::Op* op = nullptr;
};

Store Parse(const std::string& text) {
  ir::Diagnostics diags;
  Store s{ir::Parse(text, "test.tile", &diags)};
  if (s.module != nullptr) ir::Verify(*s.module, &diags);
  EXPECT_TRUE(s.module != nullptr && diags.ok()) << diags.ToString();
  ir::Walk(s.module->functions[0]->body(), [&](ir::Op* op) {
    if (op->opcode() == ir::Opcode::kStoreView && s.op == nullptr) s.op = op;
  });
  return s;
}

TensorMap TensorOf(const ir::Op& store, const TmaStore& s) { return *MapTensor(store, s.box, 1); }

bool Plans(const std::string& text) { return PlanTmaStore(*Parse(text).op, OfProduct()).has_value(); }

// The copy reads a box as the hardware defines a swizzle of 128 bytes: 16-byte pieces of a row change places with the
// row's number.
TEST(TmaStore, ElementsLieWhereTheCopyLooksForThem) {
  const Store store = Parse(kStore);
  const Layout layout = OfProduct();
  const std::optional<TmaStore> plan = PlanTmaStore(*store.op, layout);
  ASSERT_TRUE(plan.has_value());
  const TmaStore* s = &*plan;
  EXPECT_EQ(s->box.rows(), 16);
  EXPECT_EQ(s->box.swizzle, 128);
  ASSERT_EQ(s->boxes.size(), 4u);
  EXPECT_EQ(TensorOf(*store.op, *plan).descriptor.box, (std::vector<uint32_t>{64, 16}));
  EXPECT_EQ(s->warp_bytes(), 4096);
  std::set<std::pair<int64_t, int64_t>> seen;
  for (uint32_t w = 0; w < 8; ++w) {
    const auto first = layout.Coordinates(layout.Apply(0, 0, w));
    for (Mask box : s->boxes) {
      const auto begin = layout.Coordinates(layout.Apply(0, 0, w) ^ box);
      for (uint32_t r = 0; r < static_cast<uint32_t>(layout.registers()); ++r) {
        if ((layout.Apply(r, 0, 0) & s->between) != box) continue;
        for (uint32_t l = 0; l < 32; ++l) {
          const auto at = layout.Coordinates(layout.Apply(r, l, w));
          const int64_t row = at[0] - begin[0], column = at[1] - begin[1];
          ASSERT_TRUE(row >= 0 && row < 16 && column >= 0 && column < 64) << row << " " << column;
          const int64_t bytes =
              2 * static_cast<int64_t>(s->map.Apply(layout.Apply(r, 0, 0)) ^ s->map.Apply(layout.Apply(0, l, 0)));
          EXPECT_EQ(bytes, (row * 128 + column * 2) ^ ((row & 7) << 4));
          EXPECT_TRUE(seen.insert({at[0], at[1]}).second);
        }
      }
    }
    EXPECT_EQ(first[1], 0);
  }
  EXPECT_EQ(seen.size(), 128u * 256u);
}

// Rows that lanes have alone: a box has all of them, 64 bytes each, swizzled by 64 bytes.
TEST(TmaStore, RowsOfLanes) {
  const Store store = Parse(kStore);
  const auto bits = [](int64_t from, int64_t to) {
    Masks all;
    for (int64_t mask = from; mask < to; mask *= 2) all.push_back(static_cast<Mask>(mask));
    return all;
  };
  Masks warps = bits(32 * 256, 128 * 256);
  warps.push_back(128);
  const Layout layout = Layout::FromBases({128, 256}, bits(1, 128), bits(256, 32 * 256), warps);
  const std::optional<TmaStore> plan = PlanTmaStore(*store.op, layout);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(TensorOf(*store.op, *plan).descriptor.box, (std::vector<uint32_t>{32, 32}));
  EXPECT_EQ(plan->box.swizzle, 64);
  EXPECT_EQ(plan->boxes.size(), 4u);
  EXPECT_EQ(plan->warp_bytes(), 4096);
  for (const uint32_t r : {0u, 5u, 31u}) {
    for (const uint32_t lane : {0u, 3u, 30u}) {
      const int64_t bytes =
          2 * static_cast<int64_t>(plan->map.Apply(layout.Apply(r, 0, 0)) ^ plan->map.Apply(layout.Apply(0, lane, 0)));
      EXPECT_EQ(bytes, (lane * 64 + r * 2) ^ ((lane / 2 & 3) << 4));
    }
  }
  // The same layout with one row less in the lanes: its runs are long, and it writes them itself.
  Masks lanes = bits(256, 16 * 256);
  lanes.push_back(16 * 256);
  lanes[4] = 128;
  Masks others = bits(16 * 256, 128 * 256);
  EXPECT_FALSE(PlanTmaStore(*store.op, Layout::FromBases({128, 256}, bits(1, 128), lanes, others)).has_value());
}

TEST(TmaStore, OnlyWhereNothingWaitsAndTheHostKnowsTheTensor) {
  EXPECT_TRUE(Plans(kStore));
  // A load waits for it; it is more than a store.
  EXPECT_TRUE(Plans(absl::StrReplaceAll(kStore, {{"  return", "  %all = join_tokens %done, %done\n  return"}})));
  EXPECT_FALSE(Plans(absl::StrReplaceAll(
      kStore, {{"  return",
                "  %all = join_tokens %done, %done\n  %x, %t = load_ptr_tko weak %c token = %all : tile<ptr<bf16>> -> "
                "tile<bf16>, token\n  return"}})));
  EXPECT_FALSE(Plans(absl::StrReplaceAll(kStore, {{"weak", "relaxed device"}})));
  // The address is computed.
  EXPECT_FALSE(Plans(absl::StrReplaceAll(
      kStore, {{"  %ct =", "  %d = offset %c, %n : tile<ptr<bf16>>, tile<i32>\n  %ct ="}, {"view %c,", "view %d,"}})));
  // No dimension is contiguous.
  EXPECT_FALSE(Plans(absl::StrReplaceAll(
      kStore, {{"strides = [%n, 1] : tile<i32>", "strides = [%n, %n] : tile<i32>"}, {"[?,1]", "[?,?]"}})));
}

// The hardware writes along the contiguous dimension up to a multiple of 16 bytes, elements beyond the tensor's end too.
TEST(TmaStore, TheTensorEndsAtAMultipleOf16Bytes) {
  const auto text = [](const char* shape, const char* type) {
    return absl::StrReplaceAll(kStore, {{"shape = [%n, %n]", absl::StrCat("shape = ", shape)}, {"<?x?x", type}});
  };
  EXPECT_TRUE(Plans(text("[%n, 504]", "<?x504x")));
  EXPECT_FALSE(Plans(text("[%n, 505]", "<?x505x")));
  EXPECT_FALSE(Plans(text("[%n, 508]", "<?x508x")));
  EXPECT_TRUE(Plans(text("[505, %n]", "<505x?x")));
  const auto requires_multiple = [](const std::string& of) {
    const Store store = Parse(of);
    const TensorMap tensor = TensorOf(*store.op, *PlanTmaStore(*store.op, OfProduct()));
    return std::any_of(tensor.requirements.begin(), tensor.requirements.end(), [](const ir::ImageRequirement& r) {
      return r.text == "size 1 of the tensor at parameter 0 is a multiple of 16 bytes";
    });
  };
  EXPECT_TRUE(requires_multiple(kStore));
  EXPECT_FALSE(requires_multiple(text("[%n, 504]", "<?x504x")));
  // A stride that TMA does not take.
  EXPECT_FALSE(Plans(absl::StrReplaceAll(
      kStore, {{"strides = [%n, 1] : tile<i32>", "strides = [516, 1] : tile<i32>"}, {"[?,1]", "[516,1]"}})));
}

TEST(TmaStore, KnowsWhetherAnythingComesBefore) {
  const auto ordered = [](const char* before) {
    const Store store = Parse(absl::StrReplaceAll(
        kStore, {{"  %v =", absl::StrCat(before, "  %v =")}, {"%cv[%i, %j] :", "%cv[%i, %j] token = %t :"}}));
    return PlanTmaStore(*store.op, OfProduct())->ordered;
  };
  EXPECT_FALSE(ordered("  %t = make_token : token\n"));
  EXPECT_FALSE(ordered("  %a = make_token : token\n  %b = make_token : token\n  %t = join_tokens %a, %b\n"));
  EXPECT_TRUE(ordered("  %x, %t = load_ptr_tko weak %c : tile<ptr<bf16>> -> tile<bf16>, token\n"));
}

// A loop hands its token on. `next`: what else the body does, and the token that it carries.
std::string Walking(const char* next, const char* view = "partition_view<tile=(128x256)") {
  return absl::StrReplaceAll(
      kStore,
      {{"  %done = store",
        "  %start = make_token : token\n  %end = for %w in (%i to %n, step 1) : tile<i32> iter_values(%t = %start) -> "
        "token {\n  %done = store"},
       {"%cv[%i, %j] :", "%cv[%w, %j] token = %t :"},
       {"  return", absl::StrCat(next, "\n  }\n  return")},
       {"partition_view<tile=(128x256)", view},
       {"make_partition_view",
        absl::StrCat("make_", absl::string_view(view).substr(0, absl::string_view(view).find('<')))}});
}

TEST(TmaStore, MayWaitForItself) {
  const auto plan = [](const std::string& text) { return PlanTmaStore(*Parse(text).op, OfProduct()); };
  const std::optional<TmaStore> itself = plan(Walking("  continue %done : token"));
  ASSERT_TRUE(itself.has_value());
  EXPECT_TRUE(itself->repeats);
  EXPECT_FALSE(itself->ordered);
  EXPECT_FALSE(plan(kStore)->repeats);
  const auto apart =
      plan(Walking("  continue %done : token", "strided_view<tile=(128x256), traversal_strides=[128,256]"));
  EXPECT_TRUE(apart.has_value());
  // Tiles that overlap: another warp may have written there.
  EXPECT_FALSE(
      plan(Walking("  continue %done : token", "strided_view<tile=(128x256), traversal_strides=[64,256]")).has_value());
  // A load takes the token in the iteration, in the next one, or behind the loop.
  const char* load = "  %x, %u = load_ptr_tko weak %c token = %done : tile<ptr<bf16>> -> tile<bf16>, token\n";
  EXPECT_FALSE(plan(Walking(absl::StrCat(load, "  continue %done : token").c_str())).has_value());
  EXPECT_FALSE(
      plan(Walking(absl::StrCat(absl::StrReplaceAll(load, {{"%done", "%t"}}), "  continue %done : token").c_str()))
          .has_value());
  EXPECT_FALSE(
      plan(absl::StrReplaceAll(
               Walking("  continue %done : token"),
               {{"  }\n  return", absl::StrCat("  }\n", absl::StrReplaceAll(load, {{"%done", "%end"}}), "  return")}}))
          .has_value());
  // One that comes before it is no access of its own, which it must follow.
  const auto behind = plan(absl::StrReplaceAll(
      Walking("  continue %done : token"),
      {{"%start = make_token : token", "%x, %start = load_ptr_tko weak %c : tile<ptr<bf16>> -> tile<bf16>, token"}}));
  ASSERT_TRUE(behind.has_value());
  EXPECT_TRUE(behind->repeats && behind->ordered);
}

TEST(TmaStore, TheEmitterGetsWhatWasDecided) {
  for (const char* before : {"", "  %x, %t = load_ptr_tko weak %c : tile<ptr<bf16>> -> tile<bf16>, token\n"}) {
    std::string text = absl::StrReplaceAll(kStore, {{"  %v =", absl::StrCat(before, "  %v =")}});
    if (*before != 0) text = absl::StrReplaceAll(text, {{"%cv[%i, %j] :", "%cv[%i, %j] token = %t :"}});
    const Store store = Parse(text);
    const TmaStore plan = *PlanTmaStore(*store.op, OfProduct());
    Decide(store.module.get(), store.op, plan, 3);
    EXPECT_EQ(DecisionOf<Decision::kTensorMap>(*store.op), 3);
    const TmaStore s = TmaStoreOf(*store.op, OfProduct());
    EXPECT_EQ(s.ordered, *before != 0);
    EXPECT_EQ(s.ordered, plan.ordered);
    EXPECT_EQ(s.boxes, plan.boxes);
    EXPECT_EQ(s.between, plan.between);
    EXPECT_EQ(s.warp_bytes(), plan.warp_bytes());
    for (Mask offset = 1; offset < 128 * 256; offset <<= 1) EXPECT_EQ(s.map.Apply(offset), plan.map.Apply(offset));
  }
}

// What the plan keeps free before it knows layouts is what the store takes.
TEST(TmaStore, TakesTheRoomThatIsKept) {
  const Store store = Parse(kStore);
  EXPECT_EQ(TmaStoreBytes(*store.op, 8), 8 * PlanTmaStore(*store.op, OfProduct())->warp_bytes());
  const Store relaxed = Parse(absl::StrReplaceAll(kStore, {{"weak", "relaxed device"}}));
  EXPECT_EQ(TmaStoreBytes(*relaxed.op, 8), 0);
}

TEST(TmaStore, OnlyWhereInstructionsWouldWriteShortRuns) {
  const Store wide = Parse(absl::StrReplaceAll(kStore, {{"bf16", "f32"}})), store = Parse(kStore);
  const std::optional<TmaStore> s = PlanTmaStore(*wide.op, OfProduct());
  ASSERT_TRUE(s.has_value());
  EXPECT_EQ(s->boxes.size(), 8u);
  EXPECT_EQ(TensorOf(*wide.op, *s).descriptor.box, (std::vector<uint32_t>{32, 16}));
  // Rows over threads, 16 bytes each.
  EXPECT_FALSE(PlanTmaStore(*store.op, Layout::Default({128, 256}, 8, 8)).has_value());
  // A warp without whole boxes.
  EXPECT_FALSE(PlanTmaStore(*store.op, Layout::Blocked({128, 256}, {1, 2}, {32, 1}, {1, 8}, {1, 0})).has_value());
}

}  // namespace
}  // namespace tile::codegen
