#include "ir/debug_lines.h"

#include "gtest/gtest.h"
#include "ir/compare.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/writer.h"
#include "ir/text/check.h"
#include "ir/tileir/reader.h"
#include "ir/tileir/writer.h"
#include "ir/verify/verify.h"

namespace tile::ir {
namespace {

constexpr char kText[] =
    "entry @k(%p: tile<ptr<f32>>, %c: tile<i1>) {\n"
    "  %x = load_ptr_tko weak %p\n"
    "  if %c {\n"
    "    %y = load_ptr_tko weak %p\n"
    "  }\n"
    "  return\n"
    "}\n"
    "entry @l() {\n"
    "  return\n"
    "}\n";

std::unique_ptr<Module> Read(absl::string_view text) {
  Diagnostics diags;
  auto m = ParseAndVerify(text, "dir/k.tile", &diags);
  EXPECT_NE(m, nullptr) << diags.ToString();
  return m != nullptr ? std::move(m) : std::make_unique<Module>();
}

std::unique_ptr<Module> ThroughFile(const Module& m) {
  const auto bytes = WriteTbc(m);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  auto back = ReadTbc({reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size()}, "k.tbc");
  EXPECT_TRUE(back.ok()) << back.status();
  return *std::move(back);
}

std::vector<std::string> Places(const Module& m) {
  std::vector<std::string> places;
  for (const auto& f : m.functions) {
    places.push_back(m.Where(f->loc, f->pos));
    Walk(f->body(), [&](Op* op) { places.push_back(m.Where(op->loc, op->pos)); });
  }
  return places;
}

TEST(DebugLines, AFileKeepsThem) {
  const auto m = Read(kText);
  AddDebugLines(m.get());
  Diagnostics diags;
  Verify(*m, &diags);
  EXPECT_TRUE(diags.list().empty()) << diags.ToString();
  const std::vector<std::string> expected = {"dir/k.tile:1:7", "dir/k.tile:2:8", "dir/k.tile:3:3", "dir/k.tile:4:10",
                                             "dir/k.tile:5:3", "dir/k.tile:6:3", "dir/k.tile:8:7", "dir/k.tile:9:3"};
  EXPECT_EQ(Places(*m), expected);
  EXPECT_EQ(Places(*ThroughFile(*m)), expected);
  EXPECT_EQ(FirstDifference(*m, *Read(kText), {.debug = false}), "");
  EXPECT_EQ(*HashCode(*m), *HashCode(*Read(kText)));
  // As NVIDIA's container wants it, too.
  EXPECT_TRUE(WriteTileIr(*m, 1303).ok()) << WriteTileIr(*m, 1303).status();
}

TEST(DebugLines, WithoutThemOperationsAreNumbered) {
  EXPECT_EQ(Places(*ThroughFile(*Read(kText))),
            (std::vector<std::string>{"k.tbc", "k.tbc: operation 1", "k.tbc: operation 2", "k.tbc: operation 3",
                                      "k.tbc: operation 4", "k.tbc: operation 5", "k.tbc", "k.tbc: operation 1"}));
  EXPECT_NE(NoteOnLines("k.tbc: operation 4"), "");
  EXPECT_EQ(NoteOnLines("k.tile:4:1"), "");
}

TEST(DebugLines, LocationsOfTheTextStay) {
  const auto m =
      Read("entry @k(%n: tile<i32>) {\n  %a = negi %n loc(#1)\n  %b = negi %n\n  return\n}\n#1 = loc(\"k.py\":7:8)\n");
  AddDebugLines(m.get());
  EXPECT_EQ(Places(*m), (std::vector<std::string>{"dir/k.tile:1:7", "k.py:7:8", "dir/k.tile:3:8", "dir/k.tile:4:3"}));
  Diagnostics diags;
  Verify(*m, &diags);
  EXPECT_TRUE(diags.list().empty()) << diags.ToString();
}

// As nvcc writes it for code that it makes itself.
TEST(DebugLines, ACallOfCodeWithoutPlaceStandsWhereItsCallerDoes) {
  const auto m = Read(
      "entry @k() {\n"
      "  %0 = make_token : token loc(#2)\n"
      "  %1 = make_token : token loc(#3)\n"
      "  return loc(#4)\n"
      "}\n"
      "#1 = loc(\"k.cu\":7:5)\n"
      "#2 = call_site<caller = #1>\n"
      "#3 = call_site<callee = #1>\n"
      "#4 = call_site<>\n");
  const std::vector<std::string> places = Places(*ThroughFile(*m));
  ASSERT_EQ(places.size(), 4u);
  EXPECT_EQ(places[1], "k.cu:7:5");
  EXPECT_EQ(places[2], "k.cu:7:5");
  EXPECT_NE(places[3], "k.cu:7:5");
  const auto bytecode = WriteTileIr(*m, 1305);
  ASSERT_TRUE(bytecode.ok()) << bytecode.status();
  const auto back = ReadTileIr({reinterpret_cast<const uint8_t*>(bytecode->data()), bytecode->size()}, "k.tilebc");
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(Places(**back)[1], "k.cu:7:5");
}

}  // namespace
}  // namespace tile::ir
