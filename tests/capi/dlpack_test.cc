// Tensors of another library, played by the test.
#include "runtime/capi/dlpack_types.h"

#include <string>

#include "gtest/gtest.h"
#include "runtime/tilevm.h"

namespace {

class Dlpack : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(tilevm_device_open("cpu", &device_), TILEVM_OK);
    tensor_.version = {1, 1};
    tensor_.manager_ctx = &deleted_;
    tensor_.deleter = [](DLManagedTensorVersioned* t) { ++*static_cast<int*>(t->manager_ctx); };
    tensor_.dl_tensor = {data_, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape_, nullptr, 0};
  }
  void TearDown() override { tilevm_device_close(device_); }
  tilevm_status Import() { return tilevm_buffer_from_dlpack(device_, &tensor_, &buffer_, &array_); }

  tilevm_device* device_ = nullptr;
  tilevm_buffer* buffer_ = nullptr;
  tilevm_array array_ = {};
  float data_[20] = {};
  int64_t shape_[2] = {4, 5}, strides_[2] = {5, 1};
  int deleted_ = 0;
  DLManagedTensorVersioned tensor_ = {};
};

TEST_F(Dlpack, Import) {
  ASSERT_EQ(Import(), TILEVM_OK) << tilevm_error();
  EXPECT_EQ(tilevm_buffer_data(buffer_), data_);
  EXPECT_EQ(tilevm_buffer_size(buffer_), sizeof data_);
  EXPECT_EQ(array_.type, TILEVM_F32);
  EXPECT_EQ(array_.rank, 2);
  EXPECT_EQ(array_.shape[1], 5);
  EXPECT_EQ(array_.strides, nullptr);
  EXPECT_EQ(deleted_, 0);
  tilevm_buffer_destroy(buffer_);
  EXPECT_EQ(deleted_, 1);
}

TEST_F(Dlpack, ImportWithOffsetAndStrides) {
  tensor_.dl_tensor.byte_offset = 8;
  shape_[1] = 3;
  tensor_.dl_tensor.strides = strides_;
  ASSERT_EQ(Import(), TILEVM_OK) << tilevm_error();
  EXPECT_EQ(array_.data, data_ + 2);
  EXPECT_EQ(array_.strides[0], 5);
  EXPECT_EQ(tilevm_buffer_size(buffer_), (3 * 5 + 3) * sizeof(float));
  tilevm_buffer_destroy(buffer_);
}

TEST_F(Dlpack, Rejected) {
  const auto rejected = [&](const char* part) {
    EXPECT_EQ(Import(), TILEVM_INVALID_ARGUMENT);
    EXPECT_EQ(buffer_, nullptr);
    EXPECT_NE(std::string(tilevm_error()).find(part), std::string::npos) << tilevm_error();
    EXPECT_EQ(deleted_, 0);
  };
  tensor_.version.major = 2;
  rejected("DLPack 2.1");
  tensor_.version.major = 1;
  tensor_.dl_tensor.dtype.lanes = 4;
  rejected("4 lanes");
  tensor_.dl_tensor.dtype = {5, 64, 1};  // complex
  rejected("type (5, 64 bits, 1 lanes)");
  tensor_.dl_tensor.dtype = {kDLFloat4_e2m1fn, 4, 1};
  tensor_.flags = kDLPackSubbytePadded;
  rejected("sub-byte");
  tensor_.flags = 0;
  tensor_.dl_tensor.dtype = {kDLFloat, 32, 1};
  tensor_.dl_tensor.device = {kDLCUDA, 0};
  rejected("on DLPack device (2, 0), not on cpu");
  tensor_.dl_tensor.device = {kDLCPU, 0};
  tensor_.dl_tensor.ndim = 17;
  rejected("rank 17");
  tensor_.dl_tensor.ndim = -1;
  rejected("rank -1");
  tensor_.dl_tensor.ndim = 2;
  shape_[0] = -4;
  rejected("negative size");
  shape_[0] = int64_t{1} << 62;
  rejected("larger than any memory");
  shape_[0] = 4;
  tensor_.dl_tensor.strides = strides_;
  strides_[0] = -5;
  rejected("negative stride");
  strides_[0] = 5;
  tensor_.dl_tensor.data = nullptr;
  rejected("without address");
}

TEST_F(Dlpack, ExportOutlivesTheBuffer) {
  ASSERT_EQ(tilevm_buffer_create(device_, 100, &buffer_), TILEVM_OK);
  const int64_t shape[] = {3, 8};
  tilevm_array array = {tilevm_buffer_data(buffer_), TILEVM_BF16, 2, shape, nullptr};
  DLManagedTensorVersioned* tensor = nullptr;
  ASSERT_EQ(tilevm_buffer_to_dlpack(buffer_, &array, &tensor), TILEVM_OK) << tilevm_error();
  DLManagedTensor* legacy = nullptr;
  ASSERT_EQ(tilevm_buffer_to_dlpack_legacy(buffer_, &array, &legacy), TILEVM_OK) << tilevm_error();
  tilevm_buffer_destroy(buffer_);
  EXPECT_EQ(tensor->version.major, 1u);
  const DLTensor& t = tensor->dl_tensor;
  EXPECT_EQ(t.data, array.data);
  EXPECT_EQ(t.device.device_type, kDLCPU);
  EXPECT_EQ(t.ndim, 2);
  EXPECT_EQ(t.dtype.code, kDLBfloat);
  EXPECT_EQ(t.dtype.bits, 16);
  EXPECT_EQ(t.shape[1], 8);
  EXPECT_EQ(t.strides[0], 8);
  static_cast<uint8_t*>(t.data)[47] = 1;  // still there
  // What is exported can be imported, and so on.
  tilevm_buffer* again = nullptr;
  tilevm_array same = {};
  ASSERT_EQ(tilevm_buffer_from_dlpack(device_, tensor, &again, &same), TILEVM_OK) << tilevm_error();
  EXPECT_EQ(same.data, array.data);
  EXPECT_EQ(same.type, TILEVM_BF16);
  legacy->deleter(legacy);
  tilevm_buffer_destroy(again);
}

TEST_F(Dlpack, ExportRejected) {
  ASSERT_EQ(tilevm_buffer_create(device_, 100, &buffer_), TILEVM_OK);
  DLManagedTensorVersioned* tensor = nullptr;
  const int64_t shape[] = {26};
  tilevm_array array = {tilevm_buffer_data(buffer_), TILEVM_F32, 1, shape, nullptr};
  EXPECT_EQ(tilevm_buffer_to_dlpack(buffer_, &array, &tensor), TILEVM_INVALID_ARGUMENT);
  array.data = data_;
  EXPECT_EQ(tilevm_buffer_to_dlpack(buffer_, &array, &tensor), TILEVM_INVALID_ARGUMENT);
  array = {tilevm_buffer_data(buffer_), TILEVM_TF32, 1, shape, nullptr};
  EXPECT_EQ(tilevm_buffer_to_dlpack(buffer_, &array, &tensor), TILEVM_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(tilevm_error()), "error[run.arguments]: DLPack has no type for tf32");
  EXPECT_EQ(tensor, nullptr);
  tilevm_buffer_destroy(buffer_);
}

}  // namespace
