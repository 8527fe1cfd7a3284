// DLPack tensors of tilevm.h.
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/limits.h"
#include "runtime/capi/dlpack_types.h"
#include "runtime/capi/handles.h"

using tile::ir::Elem;
using tile::runtime::capi::Invalid;
using tile::runtime::capi::Report;
namespace ir = tile::ir;

namespace {

struct TypeRow {
  Elem elem;
  uint8_t code, bits;
};
// The first row of an element is what is exported. Integers are signless here.
constexpr TypeRow kTypes[] = {
    {Elem::kI1, kDLBool, 8},
    {Elem::kI8, kDLInt, 8},
    {Elem::kI16, kDLInt, 16},
    {Elem::kI32, kDLInt, 32},
    {Elem::kI64, kDLInt, 64},
    {Elem::kI8, kDLUInt, 8},
    {Elem::kI16, kDLUInt, 16},
    {Elem::kI32, kDLUInt, 32},
    {Elem::kI64, kDLUInt, 64},
    {Elem::kF16, kDLFloat, 16},
    {Elem::kF32, kDLFloat, 32},
    {Elem::kF64, kDLFloat, 64},
    {Elem::kBF16, kDLBfloat, 16},
    {Elem::kF8E4M3FN, kDLFloat8_e4m3fn, 8},
    {Elem::kF8E5M2, kDLFloat8_e5m2, 8},
    {Elem::kF8E8M0FNU, kDLFloat8_e8m0fnu, 8},
    {Elem::kF4E2M1FN, kDLFloat4_e2m1fn, 4},
};

bool OnDevice(const DLDevice& d, const tile::runtime::DeviceInfo& info) {
  if (info.kind == tile::runtime::DeviceKind::kCpu) return d.device_type == kDLCPU || d.device_type == kDLCUDAHost;
  if (d.device_type == kDLCUDAHost || d.device_type == kDLCUDAManaged) return true;
  return d.device_type == kDLCUDA && d.device_id == info.ordinal;
}

template <class Tensor>
void Release(void* tensor) {
  auto* t = static_cast<Tensor*>(tensor);
  if (t->deleter != nullptr) t->deleter(t);
}

template <class Tensor>
tilevm_status Import(tilevm_device* device, Tensor* tensor, tilevm_buffer** buffer, tilevm_array* array) {
  const DLTensor& t = tensor->dl_tensor;
  const TypeRow* type = nullptr;
  for (const TypeRow& row : kTypes) {
    if (row.code == t.dtype.code && row.bits == t.dtype.bits && type == nullptr) type = &row;
  }
  if (type == nullptr || t.dtype.lanes != 1) {
    return Invalid(absl::StrCat("a tensor of DLPack type (", int{t.dtype.code}, ", ", int{t.dtype.bits}, " bits, ",
                                int{t.dtype.lanes}, " lanes) has no counterpart"));
  }
  if (!OnDevice(t.device, device->shared.device->info())) {
    return Invalid(absl::StrCat("the tensor is on DLPack device (", t.device.device_type, ", ", t.device.device_id,
                                "), not on ", device->shared.device->info().name));
  }
  if (t.ndim < 0 || t.ndim > ir::kMaxRank || (t.ndim > 0 && t.shape == nullptr)) {
    return Invalid(absl::StrCat("a tensor of rank ", t.ndim));
  }
  auto memory = std::make_shared<SharedBuffer>();
  memory->shape.assign(t.shape, t.shape + t.ndim);
  if (t.strides != nullptr) memory->strides.assign(t.strides, t.strides + t.ndim);
  const tile::runtime::ArrayValue value = {true, memory->shape, memory->strides, 0};
  const auto bytes = tile::runtime::ExtentOf(value, type->elem, "of the tensor");
  if (!bytes.ok()) return Report(bytes.status());
  memory->size = *bytes;
  memory->address = reinterpret_cast<uint64_t>(t.data) + t.byte_offset;
  if (memory->size > 0 && t.data == nullptr) return Invalid("a tensor without address");
  memory->device = device->shared;
  memory->release = &Release<Tensor>;
  memory->user = tensor;
  device->shared.buffers->Add({memory->address, memory->size});
  *array = {reinterpret_cast<void*>(memory->address), ir::ElemInfoOf(type->elem).tag, t.ndim, memory->shape.data(),
            memory->strides.empty() ? nullptr : memory->strides.data()};
  *buffer = new tilevm_buffer{std::move(memory)};
  return TILEVM_OK;
}

// A tensor with what it needs.
template <class Tensor>
struct Exported {
  Tensor tensor = {};
  std::shared_ptr<SharedBuffer> memory;
  std::vector<int64_t> shape, strides;
};

template <class Tensor>
tilevm_status Export(const tilevm_buffer* buffer, const tilevm_array* array, Tensor** tensor) {
  tile::runtime::ArrayValue value;
  if (const tilevm_status s = tile::runtime::capi::ReadArray(array, "array", &value); s != TILEVM_OK) return s;
  const Elem elem = *ir::FindElemByTag(array->type);
  const TypeRow* type = nullptr;
  for (const TypeRow& row : kTypes) {
    if (row.elem == elem && type == nullptr) type = &row;
  }
  if (type == nullptr) return Invalid(absl::StrCat("DLPack has no type for ", ir::ElemInfoOf(elem).spelling));
  const SharedBuffer& memory = *buffer->memory;
  const auto bytes = tile::runtime::ExtentOf(value, elem, "to export");
  if (!bytes.ok()) return Report(bytes.status());
  if (value.address < memory.address || value.address - memory.address > memory.size ||
      *bytes > memory.size - (value.address - memory.address)) {
    return Invalid("the array does not lie in the buffer");
  }
  auto exported = std::make_unique<Exported<Tensor>>();
  exported->memory = buffer->memory;
  exported->shape = std::move(value.shape);
  exported->strides =
      value.strides.empty() ? tile::runtime::RowMajorStrides(exported->shape) : std::move(value.strides);
  DLTensor& t = exported->tensor.dl_tensor;
  const tile::runtime::DeviceInfo& info = memory.device.device->info();
  t.data = reinterpret_cast<void*>(value.address);
  t.device = info.kind == tile::runtime::DeviceKind::kCpu ? DLDevice{kDLCPU, 0} : DLDevice{kDLCUDA, info.ordinal};
  t.ndim = array->rank;
  t.dtype = {type->code, type->bits, 1};
  t.shape = exported->shape.data();
  t.strides = exported->strides.data();
  exported->tensor.manager_ctx = exported.get();
  exported->tensor.deleter = [](Tensor* self) { delete static_cast<Exported<Tensor>*>(self->manager_ctx); };
  *tensor = &exported.release()->tensor;
  return TILEVM_OK;
}

}  // namespace

tilevm_status tilevm_buffer_from_dlpack(tilevm_device* device, DLManagedTensorVersioned* tensor, tilevm_buffer** buffer,
                                        tilevm_array* array) try {
  TILEVM_NEED(buffer);
  *buffer = nullptr;
  TILEVM_NEED(device);
  TILEVM_NEED(tensor);
  TILEVM_NEED(array);
  if (tensor->version.major != 1) {
    return Invalid(absl::StrCat("a tensor of DLPack ", tensor->version.major, ".", tensor->version.minor,
                                "; this library knows 1.x"));
  }
  if ((tensor->flags & kDLPackSubbytePadded) != 0 && tensor->dl_tensor.dtype.bits < 8) {
    return Invalid("a tensor of sub-byte elements that take a byte each");
  }
  return Import(device, tensor, buffer, array);
}
TILEVM_CATCH

tilevm_status tilevm_buffer_from_dlpack_legacy(tilevm_device* device, DLManagedTensor* tensor, tilevm_buffer** buffer,
                                               tilevm_array* array) try {
  TILEVM_NEED(buffer);
  *buffer = nullptr;
  TILEVM_NEED(device);
  TILEVM_NEED(tensor);
  TILEVM_NEED(array);
  return Import(device, tensor, buffer, array);
}
TILEVM_CATCH

tilevm_status tilevm_buffer_to_dlpack(const tilevm_buffer* buffer, const tilevm_array* array,
                                      DLManagedTensorVersioned** tensor) try {
  TILEVM_NEED(tensor);
  *tensor = nullptr;
  TILEVM_NEED(buffer);
  const tilevm_status status = Export(buffer, array, tensor);
  if (status == TILEVM_OK) (*tensor)->version = {1, 0};
  return status;
}
TILEVM_CATCH

tilevm_status tilevm_buffer_to_dlpack_legacy(const tilevm_buffer* buffer, const tilevm_array* array,
                                             DLManagedTensor** tensor) try {
  TILEVM_NEED(tensor);
  *tensor = nullptr;
  TILEVM_NEED(buffer);
  return Export(buffer, array, tensor);
}
TILEVM_CATCH
