// In how many orders a launch is checked, by clocks that the test makes: that does not depend on how fast the machine is.
#include <atomic>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "vm/vm.h"

namespace tile::vm {
namespace {

// Adds 1 to a row of its own.
constexpr char kRows[] = R"(
entry @k(%x: tile<ptr<f32>>) {
  %i, %j, %l = get_tile_block_id
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <f32: 1.0> : tile<1x8xf32>
  %t = make_tensor_view %x, shape = [16, 8], strides = [8, 1] : tensor_view<16x8xf32, strides=[8,1]>
  %v = make_partition_view %t : partition_view<tile=(1x8), tensor_view<16x8xf32, strides=[8,1]>>
  %old, %k = load_view_tko weak %v[%i, %zero] -> tile<1x8xf32>, token
  %new = addf %old, %one
  store_view_tko weak %new, %v[%i, %zero]
  return
}
)";

int64_t Stopped() { return 0; }

// Whenever somebody looks, ten seconds have gone by. A launch looks before each block.
int64_t Racing() {
  static std::atomic<int64_t> ns{0};
  return ns += 10'000'000'000;
}

// Orders of n blocks. Whatever they are, memory is as one of them leaves it.
int OrdersOf(int64_t blocks, ClockNs work_clock) {
  ir::Diagnostics diagnostics;
  const std::unique_ptr<ir::Module> module = ir::Parse(kRows, "k.tile", &diagnostics);
  if (module != nullptr) ir::Verify(*module, &diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.ToString();
  const std::unique_ptr<Program> program = *Program::Prepare(*module, "k");
  std::vector<float> x(16 * 8, 2.0f);
  Launch launch;
  launch.grid[0] = blocks;
  launch.check = CheckLevel::kFull;
  launch.work_clock = work_clock;
  launch.params = {reinterpret_cast<uint64_t>(x.data())};
  Buffer b;
  b.name = "x";
  b.address = x.data();
  b.bytes = x.size() * sizeof(float);
  b.element = ir::Element::Number(ir::Elem::kF32);
  launch.buffers.push_back(b);
  const Outcome outcome = program->Run(launch);
  EXPECT_TRUE(outcome.ok()) << outcome.status;
  EXPECT_EQ(outcome.blocks_run, blocks);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(x[i], static_cast<int64_t>(i / 8) < blocks ? 3.0f : 2.0f) << i;
  }
  return outcome.orders;
}

TEST(Orders, AsManyAsMatterIfTheyTakeNoTime) {
  EXPECT_EQ(OrdersOf(1, Stopped), 1);
  EXPECT_EQ(OrdersOf(2, Stopped), 2);
  EXPECT_EQ(OrdersOf(3, Stopped), 8);
  EXPECT_EQ(OrdersOf(16, Stopped), 8);
}

TEST(Orders, ALongLaunchRunsTwice) {
  EXPECT_EQ(OrdersOf(1, Racing), 1);
  EXPECT_EQ(OrdersOf(2, Racing), 2);
  EXPECT_EQ(OrdersOf(3, Racing), 2);
}

// Four times the first and a second: 41 s by this clock, which shows the first no block.
TEST(Orders, OneThatTakesMuchLongerIsGivenUp) { EXPECT_EQ(OrdersOf(16, Racing), 1); }

}  // namespace
}  // namespace tile::vm
