#include "runtime/host_launch.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/cpp_name.h"

namespace tile::runtime {
namespace {

constexpr uint64_t kAlignment = 4096;

}  // namespace

HostLaunch::~HostLaunch() {
  launch_.reset();
  for (const Copy& c : copies_) {
    device_->Free(c.allocation);
    if (c.pristine != 0) device_->Free(c.pristine);
  }
}

absl::StatusOr<uint64_t> HostLaunch::Translate(uint64_t address, int param) const {
  if (address == 0) return uint64_t{0};
  for (const Copy& c : copies_) {
    const auto begin = reinterpret_cast<uint64_t>(c.host.data);
    if (address >= begin && (address < begin + c.host.bytes || address == begin)) return c.address + (address - begin);
  }
  return absl::InvalidArgumentError(absl::StrCat("parameter ", param, " points to none of the arrays"));
}

absl::Status HostLaunch::Bind(const ir::Function& function, const std::array<int64_t, 3>& grid,
                              std::vector<uint64_t> words, std::vector<HostArray> arrays) {
  if (words.size() != static_cast<size_t>(function.num_params())) {
    return absl::InvalidArgumentError(absl::StrCat("kernel `", ir::ReadableName(function.name), "` takes ", function.num_params(),
                                                   " parameters, not ", words.size()));
  }
  LaunchSpec spec;
  spec.grid = grid;
  for (HostArray& a : arrays) {
    absl::StatusOr<uint64_t> allocation = device_->Allocate(a.bytes + kAlignment);
    if (!allocation.ok()) return allocation.status();
    const uint64_t address = (*allocation + kAlignment - 1) / kAlignment * kAlignment;
    spec.memory.push_back({a.name, address, a.bytes, a.element, a.shape, a.initialized});
    copies_.push_back({std::move(a), *allocation, address, 0});
  }
  if (absl::Status s = CopyIn(); !s.ok()) return s;
  for (Copy& c : copies_) {
    if (!c.host.restore || !c.host.initialized) continue;
    absl::StatusOr<uint64_t> pristine = device_->Allocate(c.host.bytes);
    if (!pristine.ok()) return pristine.status();
    c.pristine = *pristine;
    if (absl::Status s = device_->Copy(c.pristine, c.address, c.host.bytes, device_->default_stream()); !s.ok()) return s;
  }
  for (int i = 0; i < function.num_params(); ++i) {
    if (!function.param(i)->type().element().is_pointer()) continue;
    absl::StatusOr<uint64_t> address = Translate(words[static_cast<size_t>(i)], i);
    if (!address.ok()) return address.status();
    words[static_cast<size_t>(i)] = *address;
  }
  spec.words = std::move(words);
  absl::StatusOr<std::shared_ptr<PreparedLaunch>> launch = kernel_->Prepare(std::move(spec));
  if (!launch.ok()) return launch.status();
  launch_ = *std::move(launch);
  for (std::unique_ptr<Event>* e : {&start_, &end_}) {
    absl::StatusOr<std::unique_ptr<Event>> made = device_->CreateEvent();
    if (!made.ok()) return made.status();
    *e = *std::move(made);
  }
  return absl::OkStatus();
}

absl::Status HostLaunch::CopyIn() {
  Stream* stream = device_->default_stream();
  for (const Copy& c : copies_) {
    if (!c.host.initialized) continue;
    if (absl::Status s = device_->Upload(c.address, c.host.data, c.host.bytes, stream); !s.ok()) return s;
  }
  return stream->Synchronize();
}

absl::StatusOr<double> HostLaunch::Run() {
  Stream* stream = device_->default_stream();
  if (absl::Status s = start_->Record(stream); !s.ok()) return s;
  if (absl::Status s = launch_->Run(stream); !s.ok()) return s;
  if (absl::Status s = end_->Record(stream); !s.ok()) return s;
  if (absl::Status s = stream->Synchronize(); !s.ok()) return s;
  return end_->MillisecondsSince(start_.get());
}

absl::Status HostLaunch::Restore() {
  for (const Copy& c : copies_) {
    if (c.pristine == 0) continue;
    if (absl::Status s = device_->Copy(c.address, c.pristine, c.host.bytes, device_->default_stream()); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status HostLaunch::CopyOut() {
  Stream* stream = device_->default_stream();
  for (const Copy& c : copies_) {
    if (!c.host.copy_out) continue;
    if (absl::Status s = device_->Download(c.host.data, c.address, c.host.bytes, stream); !s.ok()) return s;
  }
  return stream->Synchronize();
}

}  // namespace tile::runtime
