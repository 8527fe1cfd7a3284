// Arrays that only move between launches: what was prepared follows them, or is prepared again where it may not.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/tilevm.hpp"
#include "tests/capi/fake_module.h"

namespace {

// y[i] = x[i] + 1. As many blocks as x has elements; in `aligned` fewer where x is not aligned to 64 bytes.
constexpr char kText[] = R"(
entry @plus(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) interface {
  in x: f32[%n] at %x
  out y: f32[%n] at %y
  grid x.shape[0]
} {
  %b, %_, %__ = get_tile_block_id
  %p = offset %x, %b
  %v, %t = load_ptr_tko weak %p
  %one = constant <f32: 1.0> : tile<f32>
  %w = addf %v, %one
  %q = offset %y, %b
  store_ptr_tko weak %q, %w token = %t
  return
}
entry @aligned(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) interface {
  in x: f32[%n] at %x
  inout y: f32[%n] at %y
  grid select(x.align < 64, 1, x.shape[0])
} {
  %b, %_, %__ = get_tile_block_id
  %p = offset %x, %b
  %v, %t = load_ptr_tko weak %p
  %q = offset %y, %b
  store_ptr_tko weak %q, %v token = %t
  return
}
entry @reset(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) interface {
  in x: f32[1] at %x
  out y: f32[2] at %y init 7.0
  grid 1
} {
  %v, %t = load_ptr_tko weak %x
  store_ptr_tko weak %y, %v token = %t
  return
}
entry @outside(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) interface {
  in x: f32[%n] at %x
  out y: f32[4] at %y
  grid 4
} {
  %b, %_, %__ = get_tile_block_id
  %p = offset %x, %b
  %v, %t = load_ptr_tko weak %p
  %q = offset %y, %b
  store_ptr_tko weak %q, %v token = %t
  return
}
)";

using Numbers = std::vector<float>;

class Moved : public testing::Test {
 protected:
  tilevm::Launch Make(const char* kernel) {
    kernels_.push_back(tilevm::Kernel::Create(device_, module_, kernel).value());
    return tilevm::Launch::Create(kernels_.back()).value();
  }
  static void Set(tilevm::Launch& launch, const char* name, float* data, int64_t size) {
    launch.Set(name, tilevm::Array{data, TILEVM_F32, {size}, {}});
  }

  const std::string bytes_ = tile::FakeModule(kText, "plus", "8 8 4");
  tilevm::Device device_ = tilevm::Device::Open("cpu").value();
  tilevm::Module module_ = tilevm::Module::FromBytes(bytes_.data(), bytes_.size()).value();
  std::vector<tilevm::Kernel> kernels_;
};

TEST_F(Moved, EachCallUsesItsArrays) {
  tilevm::Launch launch = Make("plus");
  Numbers a = {1, 2, 3}, b = {4, 5, 6}, y(3), z(3);
  for (int round = 0; round < 3; ++round) {
    for (auto [x, to] : {std::pair{&a, &y}, {&b, &z}, {&a, &z}, {&z, &y}}) {
      const Numbers before = *x;
      Set(launch, "x", x->data(), 3);
      Set(launch, "y", to->data(), 3);
      ASSERT_FALSE(launch.Run());
      EXPECT_EQ(*to, (Numbers{before[0] + 1, before[1] + 1, before[2] + 1}));
    }
  }
}

TEST_F(Moved, OneOfTheArraysOnly) {
  tilevm::Launch launch = Make("plus");
  Numbers a = {1, 2, 3}, b = {4, 5, 6}, y(3);
  Set(launch, "x", a.data(), 3);
  Set(launch, "y", y.data(), 3);
  ASSERT_FALSE(launch.Run());
  Set(launch, "x", b.data(), 3);
  ASSERT_FALSE(launch.Run());
  EXPECT_EQ(y, (Numbers{5, 6, 7}));
  EXPECT_EQ(a, (Numbers{1, 2, 3}));
}

// Memory of arrays that overlap is one range for the checks, before and after.
TEST_F(Moved, IntoAndOutOfEachOther) {
  tilevm::Launch launch = Make("plus");
  Numbers memory = {1, 2, 3, 4, 5}, y(4);
  for (int round = 0; round < 2; ++round) {
    Set(launch, "x", memory.data(), 4);
    Set(launch, "y", y.data(), 4);
    ASSERT_FALSE(launch.Run());
    EXPECT_EQ(y, (Numbers{2, 3, 4, 5}));
    Numbers same = {1, 2, 3, 4};
    Set(launch, "x", same.data(), 4);
    Set(launch, "y", same.data(), 4);
    ASSERT_FALSE(launch.Run());
    EXPECT_EQ(same, (Numbers{2, 3, 4, 5}));
  }
}

TEST_F(Moved, OfAnotherSize) {
  tilevm::Launch launch = Make("plus");
  Numbers a = {1, 2, 3}, y(3, 0);
  for (const int64_t size : {3, 2, 0, 3, 1}) {
    y = {0, 0, 0};
    Set(launch, "x", a.data(), size);
    Set(launch, "y", y.data(), size);
    ASSERT_FALSE(launch.Run());
    for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(y[static_cast<size_t>(i)], i < size ? a[static_cast<size_t>(i)] + 1 : 0);
  }
}

TEST_F(Moved, AGraphKeepsItsArrays) {
  tilevm::Launch launch = Make("plus");
  tilevm::Stream stream = tilevm::Stream::Create(device_).value();
  Numbers a = {1}, b = {5}, y(1), z(1);
  Set(launch, "x", a.data(), 1);
  Set(launch, "y", y.data(), 1);
  ASSERT_FALSE(launch.Prepare());
  ASSERT_FALSE(stream.BeginCapture());
  ASSERT_FALSE(launch.Run(&stream));
  Set(launch, "x", b.data(), 1);
  Set(launch, "y", z.data(), 1);
  ASSERT_FALSE(launch.Prepare());
  ASSERT_FALSE(launch.Run(&stream));
  tilevm::Graph graph = tilevm::Graph::EndCapture(stream).value();
  Numbers c = {9}, w(1);
  Set(launch, "x", c.data(), 1);
  Set(launch, "y", w.data(), 1);
  ASSERT_FALSE(launch.Run());
  ASSERT_FALSE(graph.Run(&stream));
  EXPECT_EQ(y[0], 2);
  EXPECT_EQ(z[0], 6);
  EXPECT_EQ(w[0], 10);
}

// A grid that asks for the alignment is computed for each address.
TEST_F(Moved, WhereTheRuleAsksForAddresses) {
  tilevm::Launch launch = Make("aligned");
  alignas(64) std::array<float, 3> memory = {1, 2, 3};
  for (int round = 0; round < 2; ++round) {
    Numbers y(2);
    Set(launch, "x", memory.data(), 2);
    Set(launch, "y", y.data(), 2);
    ASSERT_FALSE(launch.Run());
    EXPECT_EQ(y, (Numbers{1, 2}));
    y = {0, 0};
    Set(launch, "x", memory.data() + 1, 2);
    ASSERT_FALSE(launch.Run());
    EXPECT_EQ(y, (Numbers{2, 0}));
  }
}

TEST_F(Moved, WithInitialValues) {
  tilevm::Launch launch = Make("reset");
  Numbers a = {1}, y(2), z(2);
  for (Numbers* to : {&y, &z, &y}) {
    *to = {0, 0};
    Set(launch, "x", a.data(), 1);
    Set(launch, "y", to->data(), 2);
    ASSERT_FALSE(launch.Run());
    EXPECT_EQ(*to, (Numbers{1, 7}));
  }
}

// Checks hold accesses to the new array.
TEST_F(Moved, ChecksMoveToo) {
  tilevm::Launch launch = Make("outside");
  Numbers memory(64), y(4);
  Set(launch, "x", memory.data(), 4);
  Set(launch, "y", y.data(), 4);
  ASSERT_FALSE(launch.Run());
  Set(launch, "x", memory.data() + 8, 4);
  ASSERT_FALSE(launch.Run());
  Set(launch, "x", memory.data(), 3);
  EXPECT_EQ(launch.Run().status(), TILEVM_TRAPPED);
  Set(launch, "x", memory.data() + 32, 3);
  const tilevm::Error error = launch.Run();
  EXPECT_EQ(error.status(), TILEVM_TRAPPED);
  EXPECT_NE(error.message().find("index 3 of `x`"), std::string::npos) << error.message();
}

}  // namespace
