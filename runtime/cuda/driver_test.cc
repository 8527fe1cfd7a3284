// Each way in which a driver can be missing or too old, played by fake libraries.
#include "runtime/cuda/driver.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "runtime/error.h"

namespace tile::runtime::cuda {
namespace {

constexpr char kFake[] = "runtime/cuda/libfake_cuda.so";

// An environment variable for the time of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

void ExpectError(const absl::StatusOr<std::shared_ptr<const Driver>>& driver, absl::string_view code,
                 absl::string_view part) {
  ASSERT_FALSE(driver.ok()) << code;
  EXPECT_EQ(ErrorCodeOf(driver.status()), code) << driver.status();
  EXPECT_EQ(driver.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(driver.status().message(), part)) << driver.status();
  EXPECT_TRUE(absl::StrContains(driver.status().message(), "\n  fix: ")) << driver.status();
}

TEST(Driver, Opens) {
  auto driver = Driver::Open(kFake);
  ASSERT_TRUE(driver.ok()) << driver.status();
  EXPECT_EQ((*driver)->version(), 13000);
  EXPECT_EQ((*driver)->path(), kFake);
  int n = 0;
  EXPECT_TRUE((*driver)->Check((*driver)->cuDeviceGetCount(&n), "counting").ok());
  EXPECT_EQ(n, 1);
}

TEST(Driver, PathComesFromTheEnvironment) {
  Variable v("TILEVM_LIBCUDA", kFake);
  auto driver = Driver::Open();
  ASSERT_TRUE(driver.ok()) << driver.status();
  EXPECT_EQ((*driver)->path(), kFake);
}

TEST(Driver, NoLibrary) {
  ExpectError(Driver::Open("libno_such_driver.so.1"), "cuda.no_library", "there is no CUDA driver here");
  ExpectError(Driver::Open("runtime/cuda/libnone.so"), "cuda.no_library", "libnone.so");
}

TEST(Driver, BadLibrary) {
  const std::string path = testing::TempDir() + "/not_a_library.so";
  std::FILE* f = std::fopen(path.c_str(), "w");
  ASSERT_NE(f, nullptr);
  std::fputs("no ELF file", f);
  std::fclose(f);
  ExpectError(Driver::Open(path), "cuda.bad_library", "can't be loaded");
}

TEST(Driver, MissingSymbol) {
  ExpectError(Driver::Open("runtime/cuda/libfake_cuda_incomplete.so"), "cuda.missing_symbol", "cuLaunchKernel");
  // Any other library.
  ExpectError(Driver::Open("libm.so.6"), "cuda.missing_symbol", "cuInit");
}

TEST(Driver, OldDriver) {
  Variable v("FAKE_CUDA_VERSION", "10020");
  ExpectError(Driver::Open(kFake), "cuda.old_driver", "is for CUDA 10.2; at least 11.4");
  // Called old even if it lacks functions.
  ExpectError(Driver::Open("runtime/cuda/libfake_cuda_incomplete.so"), "cuda.old_driver", "10.2");
}

TEST(Driver, OptionalFunctions) {
  Variable v("FAKE_CUDA_VERSION", "11040");
  auto driver = Driver::Open("runtime/cuda/libfake_cuda_old.so");
  ASSERT_TRUE(driver.ok()) << driver.status();
  const absl::Status s = (*driver)->Require((*driver)->cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled", 12000);
  EXPECT_EQ(ErrorCodeOf(s), "cuda.old_driver");
  EXPECT_TRUE(
      absl::StrContains(s.message(), "for CUDA 11.4 and has no cuTensorMapEncodeTiled, which came with CUDA 12.0"))
      << s;
  EXPECT_TRUE((*driver)->Require((*driver)->cuLaunchKernel, "cuLaunchKernel", 4000).ok());
}

TEST(Driver, AnswersOfInit) {
  const struct {
    const char *answer, *code, *part;
  } kCases[] = {
      {"3", "cuda.fork", "forked from one that used it"},
      {"34", "cuda.stub_library", "stub"},
      {"100", "cuda.no_device", "found no GPU"},
      {"802", "cuda.not_ready", "not ready"},
      {"803", "cuda.driver_mismatch", "kernel module"},
      {"804", "cuda.compat", "forward-compatibility"},
      {"999", "cuda.init", "CUDA_ERROR_UNKNOWN (999): unknown error"},
      {"12345", "cuda.init", "an unknown error (12345)"},
  };
  for (const auto& c : kCases) {
    Variable v("FAKE_CUDA_INIT", c.answer);
    ExpectError(Driver::Open(kFake), c.code, c.part);
  }
}

TEST(Driver, Errors) {
  auto driver = Driver::Open(kFake);
  ASSERT_TRUE(driver.ok());
  const absl::Status s = (*driver)->Check(CUDA_ERROR_ILLEGAL_ADDRESS, "running `k`");
  EXPECT_EQ(s.message(),
            "error[cuda.driver]: running `k`: the CUDA driver says CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory "
            "access was encountered");
  EXPECT_EQ((*driver)->Check(CUDA_ERROR_OUT_OF_MEMORY, "x").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(VersionText(12040), "12.4");
}

}  // namespace
}  // namespace tile::runtime::cuda
