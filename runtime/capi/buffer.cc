// Buffers of tilevm.h.
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/capi/handles.h"

using tile::runtime::Stream;
using tile::runtime::capi::Invalid;
using tile::runtime::capi::OnStream;
using tile::runtime::capi::Report;

SharedBuffer::~SharedBuffer() {
  if (device.device == nullptr) return;
  device.buffers->Remove(address);
  if (owned) device.device->Free(address);
  if (release != nullptr) release(user);
}

namespace {

// The part of a buffer that a call names.
tilevm_status CheckRange(const tilevm_buffer* buffer, size_t offset, size_t size) {
  const size_t has = buffer->memory->size;
  if (offset <= has && size <= has - offset) return TILEVM_OK;
  return Invalid(absl::StrCat(size, " bytes at offset ", offset, " do not lie in a buffer of ", has, " bytes"));
}

uint64_t At(const tilevm_buffer* buffer, size_t offset) { return buffer->memory->address + offset; }

}  // namespace

tilevm_status tilevm_buffer_create(tilevm_device* device, size_t size, tilevm_buffer** buffer) try {
  TILEVM_NEED(buffer);
  *buffer = nullptr;
  TILEVM_NEED(device);
  auto address = device->shared.device->Allocate(size);
  if (!address.ok()) return Report(address.status());
  auto memory = std::make_shared<SharedBuffer>();
  memory->device = device->shared;
  memory->address = *address;
  memory->size = size;
  memory->owned = true;
  device->shared.buffers->Add({*address, size});
  *buffer = new tilevm_buffer{std::move(memory)};
  return TILEVM_OK;
}
TILEVM_CATCH

tilevm_status tilevm_buffer_wrap(tilevm_device* device, void* address, size_t size, void (*release)(void* user),
                                 void* user, tilevm_buffer** buffer) try {
  TILEVM_NEED(buffer);
  *buffer = nullptr;
  TILEVM_NEED(device);
  if (size > 0) TILEVM_NEED(address);
  auto memory = std::make_shared<SharedBuffer>();
  memory->device = device->shared;
  memory->address = reinterpret_cast<uint64_t>(address);
  memory->size = size;
  memory->release = release;
  memory->user = user;
  device->shared.buffers->Add({memory->address, size});
  *buffer = new tilevm_buffer{std::move(memory)};
  return TILEVM_OK;
}
TILEVM_CATCH

void tilevm_buffer_destroy(tilevm_buffer* buffer) { delete buffer; }
void* tilevm_buffer_data(const tilevm_buffer* buffer) {
  return buffer == nullptr ? nullptr : reinterpret_cast<void*>(buffer->memory->address);
}
size_t tilevm_buffer_size(const tilevm_buffer* buffer) { return buffer == nullptr ? 0 : buffer->memory->size; }

tilevm_status tilevm_buffer_upload(tilevm_buffer* buffer, size_t offset, const void* from, size_t size,
                                   tilevm_stream* stream) try {
  TILEVM_NEED(buffer);
  if (size > 0) TILEVM_NEED(from);
  if (const tilevm_status s = CheckRange(buffer, offset, size); s != TILEVM_OK) return s;
  const SharedDevice& d = buffer->memory->device;
  return OnStream(d, stream, [&](Stream* on) { return d.device->Upload(At(buffer, offset), from, size, on); });
}
TILEVM_CATCH

tilevm_status tilevm_buffer_download(const tilevm_buffer* buffer, size_t offset, void* to, size_t size,
                                     tilevm_stream* stream) try {
  TILEVM_NEED(buffer);
  if (size > 0) TILEVM_NEED(to);
  if (const tilevm_status s = CheckRange(buffer, offset, size); s != TILEVM_OK) return s;
  const SharedDevice& d = buffer->memory->device;
  return OnStream(d, stream, [&](Stream* on) { return d.device->Download(to, At(buffer, offset), size, on); });
}
TILEVM_CATCH

tilevm_status tilevm_buffer_copy(tilevm_buffer* to, size_t to_offset, const tilevm_buffer* from, size_t from_offset,
                                 size_t size, tilevm_stream* stream) try {
  TILEVM_NEED(to);
  TILEVM_NEED(from);
  for (const auto& [buffer, offset] : {std::pair<const tilevm_buffer*, size_t>(to, to_offset), {from, from_offset}}) {
    if (const tilevm_status s = CheckRange(buffer, offset, size); s != TILEVM_OK) return s;
  }
  const SharedDevice& d = to->memory->device;
  if (from->memory->device.device != d.device) return Invalid("the buffers belong to different devices");
  return OnStream(d, stream,
                  [&](Stream* on) { return d.device->Copy(At(to, to_offset), At(from, from_offset), size, on); });
}
TILEVM_CATCH

tilevm_status tilevm_buffer_fill(tilevm_buffer* buffer, size_t offset, uint8_t value, size_t size,
                                 tilevm_stream* stream) try {
  TILEVM_NEED(buffer);
  if (const tilevm_status s = CheckRange(buffer, offset, size); s != TILEVM_OK) return s;
  const SharedDevice& d = buffer->memory->device;
  return OnStream(d, stream, [&](Stream* on) { return d.device->Fill(At(buffer, offset), value, size, on); });
}
TILEVM_CATCH
