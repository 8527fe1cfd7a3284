// Programs that the verifier accepts and nobody would write: what they cost can be bounded, each limit ends in an error that
// names the place; addresses that no integer holds are outside like any other.
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "vm/vm.h"

namespace tile::vm {
namespace {

using testing::HasSubstr;

std::unique_ptr<ir::Module> Module(absl::string_view text) {
  ir::Diagnostics d;
  auto module = ir::Parse(text, "k.tile", &d);
  if (module != nullptr) ir::Verify(*module, &d);
  EXPECT_TRUE(d.ok()) << d.ToString();
  return module;
}

Outcome RunKernel(absl::string_view text, const std::function<void(Launch&)>& limit) {
  const auto module = Module(text);
  auto program = Program::Prepare(*module, "k");
  EXPECT_TRUE(program.ok()) << program.status();
  Launch launch;
  limit(launch);
  return (*program)->Run(launch);
}

std::string Prepared(absl::string_view text, uint64_t max_constant_bytes) {
  const auto module = Module(text);
  return std::string(Program::Prepare(*module, "k", {.max_constant_bytes = max_constant_bytes}).status().message());
}

TEST(Limits, RoundsOfLoops) {
  constexpr char kEndless[] = R"(entry @k() {
  loop {
    continue
  }
  return
}
)";
  const Outcome o = RunKernel(kEndless, [](Launch& l) { l.max_rounds = 1000; });
  ASSERT_EQ(o.reports.size(), 1u);
  EXPECT_EQ(o.reports[0].code, "vm.round_limit");
  EXPECT_EQ(o.reports[0].where, "k.tile:2:3");
}

// Blocks that take centuries, of the launching thread, and of its helpers when it has nothing left to do.
TEST(Interrupt, StopsFromOutside) {
  constexpr char kCounts[] = R"(entry @k() {
  %zero = constant <i64: 0> : tile<i64>
  %one = constant <i64: 1> : tile<i64>
  %many = constant <i64: 4611686018427387904> : tile<i64>
  for %i in (%zero to %many, step %one) : tile<i64> {
  }
  return
}
)";
  constexpr char kLastCounts[] = R"(entry @k() {
  %zero = constant <i64: 0> : tile<i64>
  %one = constant <i64: 1> : tile<i64>
  %x, %y, %z = get_tile_block_id
  %id = exti %x signed : tile<i32> -> tile<i64>
  %factor = constant <i64: 4611686018427387904> : tile<i64>
  %many = muli %id, %factor : tile<i64>
  for %i in (%zero to %many, step %one) : tile<i64> {
  }
  return
}
)";
  for (const char* text : {kCounts, kLastCounts}) {
    for (const int threads : {1, 2}) {
      for (const CheckLevel check : {CheckLevel::kNone, CheckLevel::kFull}) {
        std::atomic<int> asked = 0;
        const std::thread::id self = std::this_thread::get_id();
        const Outcome o = RunKernel(text, [&](Launch& l) {
          l.grid[0] = 2;
          l.threads = threads;
          l.check = check;
          l.interrupted = [&] {
            EXPECT_EQ(std::this_thread::get_id(), self);
            return ++asked == 2;
          };
        });
        EXPECT_TRUE(absl::IsCancelled(o.status)) << o.status;
        EXPECT_THAT(std::string(o.status.message()), HasSubstr("error[vm.interrupted]"));
        EXPECT_TRUE(o.reports.empty());
        EXPECT_EQ(asked, 2);
      }
    }
  }
}

// Memory lives until the block ends, so that a loop adds up.
TEST(Limits, AllocationsOfABlock) {
  constexpr char kAllocates[] = R"(entry @k() {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %n = constant <i32: 10> : tile<i32>
  for %i in (%zero to %n, step %one) : tile<i32> {
    %p = alloca num_elem = 100, alignment = 64 : tile<ptr<f32>>
    continue
  }
  return
}
)";
  EXPECT_TRUE(RunKernel(kAllocates, [](Launch&) {}).ok());
  EXPECT_TRUE(
      RunKernel(kAllocates, [](Launch& l) { l.max_alloca_bytes = 4480; }).ok());  // 10 times 400, to multiples of 64
  const Outcome o = RunKernel(kAllocates, [](Launch& l) { l.max_alloca_bytes = 4479; });
  ASSERT_EQ(o.reports.size(), 1u);
  EXPECT_EQ(o.reports[0].code, "vm.out_of_memory");
  EXPECT_EQ(o.reports[0].message, "alloca of 400 bytes: the block already holds 4032 of at most 4479");
}

TEST(Limits, Tiles) {
  constexpr char kLarge[] = R"(entry @k() {
  %i = iota : tile<16777216xi32>
  %j = addi %i, %i : tile<16777216xi32>
  print_tko "%i", %j : tile<16777216xi32> -> token
  return
}
)";
  const Outcome o = RunKernel(kLarge, [](Launch& l) { l.max_tile_bytes = 1 << 20; });
  EXPECT_THAT(o.status.ToString(), HasSubstr("take 67108864 bytes, more than the limit of 1048576"));
}

// A few letters of text, gigabytes of memory: refused before it is taken.
TEST(Limits, Constants) {
  std::string text = "entry @k() {\n";
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&text, "  %", i, " = iota : tile<16777216xi64>\n");
  absl::StrAppend(&text, "  return\n}\n");
  EXPECT_EQ(
      Prepared(text, 1 << 20),
      "k.tile:2:8: error[vm.out_of_memory]: iota: the constants of the kernel up to this one take 134217728 bytes; the "
      "limit leaves 1048576");
  EXPECT_EQ(Prepared("entry @k() {\n  %0 = iota : tile<64xi64>\n  return\n}\n", 512), "");
}

TEST(Limits, Globals) {
  constexpr char kGlobals[] = R"(global @a <f64: 1.0> : tile<16777216xf64>
global @b <f64: 1.0> : tile<1024xf64>
entry @k() {
  return
}
)";
  EXPECT_THAT(Prepared(kGlobals, 1 << 20),
              HasSubstr("k.tile:1:1: error[vm.out_of_memory]: global `a` takes 134217792 bytes"));
  EXPECT_THAT(Prepared(kGlobals, (128 << 20) + 4096), HasSubstr("k.tile:2:1: error[vm.out_of_memory]: global `b`"));
  EXPECT_EQ(Prepared(kGlobals, (128 << 20) + 16384), "");
}

// --- addresses ------------------------------------------------------------------------------------------------------

// Runs the kernel on one buffer of 64 integers.
Outcome RunOn(std::array<int32_t, 64>& x, absl::string_view text) {
  return RunKernel(text, [&](Launch& l) {
    l.threads = 1;
    l.params = {reinterpret_cast<uintptr_t>(x.data())};
    l.buffers = {{"x", x.data(), sizeof(x), ir::Element::Number(ir::Elem::kI32), {64}}};
  });
}

// Row 2^60 of 16 elements begins 2^64 elements behind row 0.
TEST(Addresses, RowOfAGatherWrapsAround) {
  std::array<int32_t, 64> x = {};
  const Outcome o = RunOn(x, R"(entry @k(%x: tile<ptr<i32>>) {
  %n = constant <i64: 4611686018427387904> : tile<i64>
  %s = constant <i64: 16> : tile<i64>
  %j = constant <i64: 0> : tile<i64>
  %rows = constant <i64: [0, 1152921504606846976]> : tile<2xi64>
  %t = make_tensor_view %x, shape = [%n, 4], strides = [%s, 1] : tile<i64> -> tensor_view<?x4xi32, strides=[?,1]>
  %v = make_gather_scatter_view %t : gather_scatter_view<tile=(2x4), tensor_view<?x4xi32, strides=[?,1]>, sparse_dim=0>
  %a, %k = load_view_tko weak %v[%rows, %j] -> tile<2x4xi32>, token
  return
}
)");
  ASSERT_EQ(o.reports.size(), 1u) << o.status;
  EXPECT_EQ(o.reports[0].code, "vm.out_of_bounds");
}

TEST(Addresses, ElementOfAScatterWrapsAround) {
  std::array<int32_t, 64> x = {};
  const Outcome o = RunOn(x, R"(entry @k(%x: tile<ptr<i32>>) {
  %n = constant <i64: 4611686018427387904> : tile<i64>
  %at = constant <i64: [1, 16]> : tile<2xi64>
  %one = constant <i32: 1> : tile<2xi32>
  %t = make_tensor_view %x, shape = [%n], strides = [%n] : tile<i64> -> tensor_view<?xi32, strides=[?]>
  %r, %done = atomic_scatter_view_tko relaxed device %t[%at], add, %one dim = 0 -> tile<2xi32>, token
  return
}
)");
  ASSERT_EQ(o.reports.size(), 1u) << o.status;
  EXPECT_EQ(o.reports[0].code, "vm.out_of_bounds");
}

TEST(Addresses, AsManyTilesAsFitIntoTheLargestTensor) {
  std::array<int32_t, 64> x = {};
  const Outcome o = RunOn(x, R"(entry @k(%x: tile<ptr<i32>>) {
  %t = make_tensor_view %x, shape = [9223372036854775807], strides = [1] : tensor_view<9223372036854775807xi32, strides=[1]>
  %v = make_partition_view %t : partition_view<tile=(4), tensor_view<9223372036854775807xi32, strides=[1]>>
  %n = get_index_space_shape %v -> tile<i64>
  %p = ptr_to_ptr %x : tile<ptr<i32>> -> tile<ptr<i64>>
  store_ptr_tko weak %p, %n -> token
  return
}
)");
  ASSERT_TRUE(o.ok()) << o.status;
  int64_t n = 0;
  std::memcpy(&n, x.data(), sizeof(n));
  EXPECT_EQ(n, int64_t{1} << 61);
}

// Two buffers side by side: what runs from one into the other is followed in both.
TEST(Addresses, AcrossTwoBuffers) {
  std::array<int32_t, 8> x = {};
  const auto module = Module(R"(entry @k(%x: tile<ptr<i32>>) {
  %one = constant <i32: 1> : tile<8xi32>
  %i = iota : tile<8xi32>
  %s = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
  %b = broadcast %s : tile<1xptr<i32>> -> tile<8xptr<i32>>
  %p = offset %b, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
  store_ptr_tko weak %p, %one -> token
  return
}
)");
  auto program = Program::Prepare(*module, "k");
  ASSERT_TRUE(program.ok()) << program.status();
  Launch l;
  l.params = {reinterpret_cast<uintptr_t>(x.data())};
  const ir::Element i32 = ir::Element::Number(ir::Elem::kI32);
  l.buffers = {{"a", x.data(), 16, i32, {4}}, {"b", x.data() + 4, 16, i32, {4}}};
  EXPECT_FALSE((*program)->Run(l).ok());  // a pointer of one leads into the other
  l.any_array = true;
  EXPECT_TRUE((*program)->Run(l).ok());
  EXPECT_EQ(x, (std::array<int32_t, 8>{1, 1, 1, 1, 1, 1, 1, 1}));
  l.check = CheckLevel::kFull;
  EXPECT_TRUE((*program)->Run(l).ok());
  l.grid[0] = 2;
  const Outcome o = (*program)->Run(l);
  ASSERT_EQ(o.reports.size(), 1u);
  EXPECT_EQ(o.reports[0].code, "vm.race");
}

}  // namespace
}  // namespace tile::vm
