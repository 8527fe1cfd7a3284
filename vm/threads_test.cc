// Threads that a launch takes, by clocks that the test makes: what is decided does not depend on how fast the machine is. The
// decision alone is tested in schedule/thread_plan_test.cc.
#include <atomic>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "vm/vm.h"

namespace tile::vm {
namespace {

// Adds 1 to a tile n times.
constexpr char kLoop[] = R"(
entry @k(%n: tile<i32>, %out: tile<ptr<f32>>) {
  %i, %j, %l = get_tile_block_id
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %x = constant <f32: 0.0> : tile<64xf32>
  %y = constant <f32: 1.0> : tile<64xf32>
  %t = make_tensor_view %out, shape = [4, 64], strides = [64, 1] : tensor_view<4x64xf32, strides=[64,1]>
  %v = make_partition_view %t : partition_view<tile=(1x64), tensor_view<4x64xf32, strides=[64,1]>>
  %sum = for %step in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %x) -> (tile<64xf32>) {
    %next = addf %acc, %y
    continue %next : tile<64xf32>
  }
  %row = reshape %sum : tile<64xf32> -> tile<1x64xf32>
  %k = store_view_tko weak %row, %v[%i, %zero] : tile<1x64xf32>, partition_view<tile=(1x64), tensor_view<4x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
)";

// Blocks take no time.
int64_t Stopped() { return 0; }

// Whenever somebody looks, a millisecond has gone by.
int64_t Racing() {
  static std::atomic<int64_t> ns{0};
  return ns += 1'000'000;
}

class Threads : public testing::Test {
 protected:
  Threads() {
    ir::Diagnostics diagnostics;
    module_ = ir::Parse(kLoop, "k.tile", &diagnostics);
    if (module_ != nullptr) ir::Verify(*module_, &diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << diagnostics.ToString();
    program_ = *Program::Prepare(*module_, "k");
  }
  // Threads that took part, of at most `threads`. Every block must have made its rounds.
  int Run(ClockNs clock, int threads = 4, CheckLevel check = CheckLevel::kBounds) {
    constexpr int32_t rounds = 100;
    std::vector<float> out(256);
    Launch launch;
    launch.grid[0] = 4;
    launch.threads = threads;
    launch.check = check;
    launch.clock = clock;
    launch.params = {static_cast<uint32_t>(rounds), reinterpret_cast<uint64_t>(out.data())};
    Buffer b;
    b.name = "out";
    b.address = out.data();
    b.bytes = out.size() * sizeof(float);
    b.element = ir::Element::Number(ir::Elem::kF32);
    launch.buffers.push_back(b);
    const Outcome outcome = program_->Run(launch);
    EXPECT_TRUE(outcome.ok()) << outcome.status;
    EXPECT_EQ(outcome.blocks_run, 4);
    for (const float x : out) {
      if (x != static_cast<float>(rounds)) ADD_FAILURE() << x << " of " << rounds;
    }
    return outcome.threads;
  }

  std::unique_ptr<ir::Module> module_;
  std::unique_ptr<Program> program_;
};

TEST_F(Threads, TheFirstLaunchTakesAll) { EXPECT_EQ(Run(Stopped), 4); }

// The launch that is measured has one thread: of several, the caller's may come too late for a block of its own to measure.
TEST_F(Threads, LittleWorkTakesOne) {
  EXPECT_EQ(Run(Stopped, 1), 1);
  EXPECT_EQ(Run(Stopped), 1);
  EXPECT_EQ(Run(Stopped), 1);
}

TEST_F(Threads, LongWorkTakesAll) {
  EXPECT_EQ(Run(Racing, 1), 1);
  EXPECT_EQ(Run(Racing), 4);
}

// The launch before says that one thread is enough; the others start in the first block.
TEST_F(Threads, LongBlocksTakeAllWhateverCameBefore) {
  EXPECT_EQ(Run(Stopped, 1), 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Run(Racing), 4);
}

TEST_F(Threads, FullChecksTakeOne) { EXPECT_EQ(Run(Racing, 4, CheckLevel::kFull), 1); }

// On the machine's own clock the number is open and the result is not.
TEST_F(Threads, ResultsAreRightHoweverManyThereAre) {
  for (int i = 0; i < 200; ++i) {
    const int threads = Run(SteadyNs);
    EXPECT_GE(threads, 1);
    EXPECT_LE(threads, 4);
  }
}

}  // namespace
}  // namespace tile::vm
