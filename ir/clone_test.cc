#include "ir/clone.h"

#include "gtest/gtest.h"
#include "ir/compare.h"
#include "ir/testing/tbc_samples.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

namespace tile::ir {
namespace {

// Of a module that is gone by the time the clone is read: a sanitizer sees what refers to it.
void ExpectEqualClone(std::unique_ptr<Module> module, std::unique_ptr<Module> same) {
  const std::unique_ptr<Module> clone = CloneModule(*module);
  EXPECT_EQ(FirstDifference(*module, *clone), "");
  module.reset();
  EXPECT_EQ(FirstDifference(*same, *clone), "");
  EXPECT_EQ(Print(*same, {.keep_names = true}), Print(*clone, {.keep_names = true}));
  EXPECT_EQ(clone->source_name, same->source_name);
}

TEST(Clone, EveryOperationWithAllItMayHave) { ExpectEqualClone(EveryOp(true), EveryOp(true)); }
TEST(Clone, EveryOperationWithWhatItMustHave) { ExpectEqualClone(EveryOp(false), EveryOp(false)); }
TEST(Clone, TypesGlobalsHintsInterfaceDebugRecords) { ExpectEqualClone(EverythingElse(), EverythingElse()); }

constexpr char kText[] = R"(
entry @first(%p: tile<ptr<f32>>) {
  %one = constant <f32: 1> : tile<f32>
  %t = store_ptr_tko weak %p, %one : tile<ptr<f32>>, tile<f32> -> token
  return
}
entry @second(%n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%x = %zero) -> (tile<i32>) {
    %next = addi %x, %i : tile<i32>
    continue %next : tile<i32>
  }
  %less = cmpi less_than %sum, %n, signed : tile<i32> -> tile<i1>
  assert %less, "message" : tile<i1>
  return
}
)";

std::unique_ptr<Module> Read() {
  Diagnostics diagnostics;
  std::unique_ptr<Module> module = Parse(kText, "clone.tile", &diagnostics);
  EXPECT_NE(module, nullptr) << diagnostics.ToString();
  return module;
}

TEST(Clone, KeepsPositionsAndNames) {
  const auto module = Read();
  ASSERT_NE(module, nullptr);
  const auto clone = CloneModule(*module);
  EXPECT_EQ(clone->source_name, "clone.tile");
  ASSERT_EQ(clone->functions.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const Function &a = *module->functions[i], &b = *clone->functions[i];
    EXPECT_EQ(a.pos.line, b.pos.line);
    EXPECT_GT(b.pos.line, 0u);
    std::vector<std::string> places, again;
    Walk(a.body(), [&](Op* op) { places.push_back(module->Where(op->loc, op->pos)); });
    Walk(b.body(), [&](Op* op) { again.push_back(clone->Where(op->loc, op->pos)); });
    EXPECT_EQ(places, again);
  }
  EXPECT_EQ(clone->functions[1]->param(0)->name, "n");
}

TEST(Clone, OneKernelOnly) {
  const auto module = Read();
  ASSERT_NE(module, nullptr);
  const auto clone = CloneModule(*module, *module->functions[1]);
  ASSERT_EQ(clone->functions.size(), 1u);
  module->functions.erase(module->functions.begin());
  EXPECT_EQ(FirstDifference(*module, *clone), "");
}

TEST(Clone, ChangesStayInTheClone) {
  const auto module = Read(), same = Read();
  ASSERT_NE(module, nullptr);
  const auto clone = CloneModule(*module);
  Function* f = clone->functions[1].get();
  Walk(f->body(), [&](Op* op) {
    if (op->opcode() == Opcode::kAddi) op->set_operand(1, op->operand(0));
  });
  EXPECT_NE(FirstDifference(*module, *clone), "");
  EXPECT_EQ(FirstDifference(*module, *same), "");
}

TEST(Clone, FunctionUnderAnotherName) {
  const auto module = Read();
  ASSERT_NE(module, nullptr);
  Function* again = CloneFunction(*module->functions[1], "again", module.get());
  EXPECT_EQ(again->name, "again");
  ASSERT_EQ(module->functions.size(), 3u);
  EXPECT_EQ(module->functions[2].get(), again);
  const auto expected = Read();
  expected->functions[1]->name = "again";
  module->functions.erase(module->functions.begin() + 1);
  EXPECT_EQ(FirstDifference(*expected, *module), "");
}

TEST(Clone, AnnotationsAreCopied) {
  const AttrInfo list{.name = "list", .kind = AttrKind::kInts}, word{.name = "word", .kind = AttrKind::kString};
  auto module = Read(), same = Read();
  ASSERT_NE(module, nullptr);
  for (Module* m : {module.get(), same.get()}) {
    Op* op = m->functions[1]->body()->front();
    m->Annotate(op, list, Attr::Ints(m->arena().Copy(absl::Span<const int64_t>({1, 2}))));
    m->Annotate(op, word, Attr::String(AttrKind::kString, m->Copy("yes")));
  }
  ExpectEqualClone(std::move(module), std::move(same));
}

TEST(Clone, EncodingsStay) {
  Module module;
  TypeData data = *module.types().Tile(Element::Number(Elem::kF32), {8}).data();
  const int encoding = 0;
  data.encoding = &encoding;
  Function* f = module.AddFunction("k", {module.types().Intern(data)});
  const auto clone = CloneModule(module, *f);
  EXPECT_EQ(clone->functions[0]->param(0)->type()->encoding, &encoding);
  EXPECT_NE(clone->functions[0]->param(0)->type(), f->param(0)->type()) << "types belong to their module";
}

}  // namespace
}  // namespace tile::ir
