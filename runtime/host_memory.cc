#include "runtime/host_memory.h"

namespace tile::runtime {

HostMemory::~HostMemory() {
  for (const Copy& c : copies_) {
    if (!in_place()) device_->Free(c.address);
    if (c.kept != 0) device_->Free(c.kept);
  }
}

absl::StatusOr<uint64_t> HostMemory::Add(void* data, uint64_t bytes, Transfer transfer) {
  uint64_t address = reinterpret_cast<uint64_t>(data);
  if (!in_place()) {
    absl::StatusOr<uint64_t> allocated = device_->Allocate(bytes);
    if (!allocated.ok()) return allocated;
    address = *allocated;
  }
  copies_.push_back({data, bytes, transfer, address, 0});
  if (in_place() || transfer == Transfer::kOut) return address;
  Stream* stream = device_->default_stream();
  if (absl::Status s = device_->Upload(address, data, bytes, stream); !s.ok()) return s;
  if (absl::Status s = stream->Synchronize(); !s.ok()) return s;
  return address;
}

absl::Status HostMemory::Download() {
  if (in_place()) return absl::OkStatus();
  Stream* stream = device_->default_stream();
  for (const Copy& c : copies_) {
    if (c.transfer == Transfer::kIn) continue;
    if (absl::Status s = device_->Download(c.host, c.address, c.bytes, stream); !s.ok()) return s;
  }
  return stream->Synchronize();
}

absl::Status HostMemory::Keep() {
  Stream* stream = device_->default_stream();
  for (Copy& c : copies_) {
    if (c.transfer == Transfer::kOut) continue;
    if (c.kept == 0) {
      absl::StatusOr<uint64_t> kept = device_->Allocate(c.bytes);
      if (!kept.ok()) return kept.status();
      c.kept = *kept;
    }
    if (absl::Status s = device_->Copy(c.kept, c.address, c.bytes, stream); !s.ok()) return s;
  }
  return stream->Synchronize();
}

absl::Status HostMemory::Restore() {
  Stream* stream = device_->default_stream();
  for (const Copy& c : copies_) {
    if (c.kept == 0) continue;
    if (absl::Status s = device_->Copy(c.address, c.kept, c.bytes, stream); !s.ok()) return s;
  }
  return stream->Synchronize();
}

}  // namespace tile::runtime
