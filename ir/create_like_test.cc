#include "ir/create_like.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "ir/compare.h"
#include "ir/testing/tbc_samples.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

namespace tile::ir {
namespace {

const AttrInfo kBy = {.name = "by", .kind = AttrKind::kString};
const AttrInfo kSizes = {.name = "sizes", .kind = AttrKind::kInts};

// Copies of all operations of a function, in one that takes its place.
void CopyInPlace(Module* module, size_t i) {
  const Function& from = *module->functions[i];
  std::vector<Type> params;
  for (const Value* param : from.body()->args()) params.push_back(param->type());
  Function* to = module->AddFunction(from.name, params);
  ValueMap values;
  for (int p = 0; p < from.num_params(); ++p) {
    to->param(p)->name = from.param(p)->name;
    values[from.param(p)] = to->param(p);
  }
  CopyOps(module, *from.body(), to->body(), &values);
  to->hints = from.hints;
  to->loc = from.loc;
  module->functions[i] = std::move(module->functions.back());
  module->functions.pop_back();
}

void ExpectEqualCopies(std::unique_ptr<Module> module, std::unique_ptr<Module> expected) {
  for (size_t i = 0; i < module->functions.size(); ++i) CopyInPlace(module.get(), i);
  EXPECT_EQ(FirstDifference(*expected, *module), "");
  EXPECT_EQ(Print(*expected, {.keep_names = true}), Print(*module, {.keep_names = true}));
}

TEST(CreateLike, EveryOperationWithAllItMayHave) { ExpectEqualCopies(EveryOp(true), EveryOp(true)); }
TEST(CreateLike, EveryOperationWithWhatItMustHave) { ExpectEqualCopies(EveryOp(false), EveryOp(false)); }

class CopiesOfText : public testing::Test {
 protected:
  void SetUp() override {
    Diagnostics diagnostics;
    module_ = Parse(R"(
entry @k(%p: tile<ptr<f32>>) {
  %a, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
  %zero = constant <i32: 0> : tile<i32>
  %s = for %i in (%zero to %zero, step %zero) : tile<i32> iter_values(%z = %a) -> (tile<f32>) {
    %y = addf %z, %a : tile<f32>
    continue %y : tile<f32>
  }
  return
}
)",
                    "k.tile", &diagnostics);
    ASSERT_NE(module_, nullptr) << diagnostics.ToString();
    load_ = module_->functions[0]->body()->front();
    loop_ = module_->functions[0]->body()->back()->prev();
  }

  std::unique_ptr<Module> module_;
  Op *load_ = nullptr, *loop_ = nullptr;
};

// As the passes of code generation need it, which decide about operations and copy them afterwards.
TEST_F(CopiesOfText, KeepAnnotationsAndPositions) {
  module_->Annotate(load_, kBy, Attr::String(AttrKind::kString, "tma"));
  const int64_t sizes[] = {64, 8};
  module_->Annotate(load_, kSizes, Attr::Ints(sizes));
  Value* p = module_->functions[0]->param(0);
  const Op* like = CreateLike(module_.get(), *load_, {&p, 1}, ResultTypesOf(*load_));
  EXPECT_EQ(like->annotation(kBy).as_string(), "tma");
  EXPECT_EQ(like->annotation(kSizes).ints(), absl::MakeConstSpan(sizes));
  EXPECT_EQ(like->pos.line, load_->pos.line);
  EXPECT_EQ(like->block(), nullptr);

  Op* inside = loop_->region(0)->front();
  module_->Annotate(inside, kBy, Attr::String(AttrKind::kString, "fma"));
  ValueMap values;
  const Op* loop = CopyOp(module_.get(), *loop_, &values);
  EXPECT_EQ(loop->region(0)->front()->annotation(kBy).as_string(), "fma");
}

TEST_F(CopiesOfText, TakeOperandsFromTheMap) {
  ValueMap values = {{load_->result(0), loop_->result(0)}};
  Op* loop = CopyOp(module_.get(), *loop_, &values);
  module_->InsertBefore(loop_->block(), loop_->next(), loop);
  const Block* body = loop->region(0);
  EXPECT_EQ(loop->operand(3), loop_->result(0));
  EXPECT_EQ(body->front()->operand(0), body->arg(1)) << "its own argument, not that of the other loop";
  EXPECT_EQ(body->front()->operand(1), loop_->result(0));
  EXPECT_EQ(values.at(loop_->result(0)), loop->result(0));
  EXPECT_EQ(loop->result(0)->name, "s");
}

// A load with a token has one operand more, in a field that was empty.
TEST_F(CopiesOfText, MayHaveOtherNumbersOfOperands) {
  const FormatInfo& format = *load_->info()->format;
  std::vector<Value*> operands;
  std::vector<uint32_t> ends;
  for (size_t f = 0; f < format.operands.size(); ++f) {
    const int field = static_cast<int>(f);
    for (int i = load_->group_begin(field); i < load_->group_end(field); ++i) operands.push_back(load_->operand(i));
    if (format.operands[f].name == "token") operands.push_back(load_->result(1));
    ends.push_back(static_cast<uint32_t>(operands.size()));
  }
  const Op* waits = CreateLike(module_.get(), *load_, operands, ResultTypesOf(*load_), ends);
  EXPECT_EQ(waits->operand("token"), load_->result(1));
  EXPECT_EQ(waits->operand("source"), module_->functions[0]->param(0));
}

}  // namespace
}  // namespace tile::ir
