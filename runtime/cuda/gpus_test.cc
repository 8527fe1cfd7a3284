#include "runtime/cuda/gpus.h"

#include <cstdlib>

#include "gtest/gtest.h"
#include "runtime/error.h"

namespace tile::runtime {
namespace {

TEST(Gpus, ThoseOfTheDriver) {
  setenv("TILEVM_LIBCUDA", "runtime/cuda/libfake_cuda.so", 1);
  setenv("FAKE_CUDA_DEVICES", "2", 1);
  setenv("FAKE_CUDA_CC", "86", 1);
  setenv("FAKE_CUDA_VERSION", "12080", 1);
  const absl::StatusOr<GpuList> list = ListGpus();
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->driver_version, 12080);
  ASSERT_EQ(list->gpus.size(), 2u);
  for (const Gpu& g : list->gpus) {
    EXPECT_EQ(g.sm, 86);
    EXPECT_FALSE(g.name.empty());
  }
}

TEST(Gpus, NoDriver) {
  setenv("TILEVM_LIBCUDA", "libno_such_driver.so.1", 1);
  EXPECT_EQ(ErrorCodeOf(ListGpus().status()), "cuda.no_library");
}

}  // namespace
}  // namespace tile::runtime
