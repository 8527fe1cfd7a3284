#include "runtime/array_launch.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/cpp_name.h"
#include "runtime/error.h"

namespace tile::runtime {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

template <class... Parts>
absl::Status Invalid(const Parts&... parts) {
  return MakeError(kInvalid, "run.arguments", absl::StrCat(parts...));
}

// The launch rule asks how arrays are aligned.
bool ReadsAddresses(const ir::Interface& interface) {
  const auto reads = [](const ir::Expr& e) {
    return std::any_of(e.begin(), e.end(), [](const ir::ExprNode& n) { return n.op == ir::ExprOp::kAlign; });
  };
  bool any = std::any_of(interface.grid.begin(), interface.grid.end(), reads);
  for (const ir::ScalarArg& s : interface.scalars) any |= reads(s.value);
  for (const ir::Workspace& w : interface.workspaces) any |= reads(w.count);
  for (const ir::ArrayArg& a : interface.arrays) {
    any |= std::any_of(a.shape.begin(), a.shape.end(), [&](const ir::DimBinding& d) { return reads(d.size); });
  }
  return any;
}

bool Overlap(const Buffer& a, const Buffer& b) {
  return a.address < b.address + b.bytes && b.address < a.address + a.bytes;
}

bool AnyOverlap(const std::vector<Buffer>& memory) {
  for (size_t i = 0; i < memory.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (Overlap(memory[i], memory[j])) return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<uint64_t> ExtentOf(const ArrayValue& a, ir::Elem e, absl::string_view name) {
  const std::vector<int64_t> strides = a.strides.empty() ? RowMajorStrides(a.shape) : a.strides;
  int64_t last = 0;
  bool overflow = false, empty = false;
  for (size_t d = 0; d < a.shape.size(); ++d) {
    int64_t reach = 0;
    if (a.shape[d] < 0) return Invalid("array `", name, "` has a negative size");
    if (strides[d] < 0 && a.shape[d] > 1) return Invalid("array `", name, "` has a negative stride");
    empty |= a.shape[d] == 0;
    overflow |= a.shape[d] > 1 && __builtin_mul_overflow(a.shape[d] - 1, strides[d], &reach);
    overflow |= __builtin_add_overflow(last, reach, &last);
  }
  if (empty) return uint64_t{0};
  int64_t bits = 0;
  overflow |= __builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, ir::MemoryBits(e), &bits);
  if (overflow || bits > (int64_t{1} << 50)) return Invalid("array `", name, "` is larger than any memory");
  return (static_cast<uint64_t>(bits) + 7) / 8;
}

void BufferTable::Add(Range range) {
  std::lock_guard<std::mutex> lock(mutex_);
  ranges_.emplace(range.address, range.bytes);
}

void BufferTable::Remove(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (const auto it = ranges_.find(address); it != ranges_.end()) ranges_.erase(it);
}

std::optional<BufferTable::Range> BufferTable::Find(uint64_t address) const {
  std::lock_guard<std::mutex> lock(mutex_);
  // Wrapped buffers may overlap: the nearest that contains it.
  for (auto it = ranges_.upper_bound(address); it != ranges_.begin();) {
    --it;
    if (address - it->first < it->second || address == it->first) return Range{it->first, it->second};
    if (address - it->first > (uint64_t{1} << 40)) break;
  }
  return std::nullopt;
}

// Workspaces and patterns of a launch that was prepared.
class ArrayLaunch::OwnedMemory {
 public:
  explicit OwnedMemory(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  ~OwnedMemory() {
    for (const uint64_t address : addresses_) device_->Free(address);
  }
  OwnedMemory(const OwnedMemory&) = delete;
  OwnedMemory& operator=(const OwnedMemory&) = delete;
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes) {
    absl::StatusOr<uint64_t> address = device_->Allocate(bytes);
    if (address.ok()) addresses_.push_back(*address);
    return address;
  }

 private:
  const std::shared_ptr<Device> device_;
  std::vector<uint64_t> addresses_;
};

ArrayLaunch::ArrayLaunch(std::shared_ptr<Device> device, std::shared_ptr<const Program> program,
                         const ir::Function& function, std::shared_ptr<LoadedKernel> kernel,
                         std::shared_ptr<const BufferTable> buffers)
    : device_(std::move(device)),
      program_(std::move(program)),
      function_(function),
      kernel_(std::move(kernel)),
      buffers_(std::move(buffers)),
      environment_{device_->info().num_sms},
      reads_addresses_(function.interface != nullptr && ReadsAddresses(*function.interface)),
      words_(static_cast<size_t>(function.num_params())) {
  if (function.interface != nullptr) given_ = Arguments::For(*function.interface);
}

ArrayLaunch::~ArrayLaunch() = default;

bool ArrayLaunch::IsMoved(size_t i, const ArrayValue& value) const {
  const ArrayValue& before = given_.arrays[i];
  // With workspaces or initial values it would share them with a graph that recorded it.
  return prepared_ != nullptr && owned_ == nullptr && initial_.empty() && before.given && value.shape == before.shape &&
         value.strides == before.strides && spec_.memory.size() == given_.arrays.size() && !reads_addresses_;
}

bool ArrayLaunch::Follow() {
  has_moved_ = false;
  for (size_t i = 0; i < given_.arrays.size(); ++i) {
    const uint64_t address = given_.arrays[i].address;
    resolved_->arrays[i].address = address;
    spec_.words[static_cast<size_t>(function_.interface->arrays[i].pointer_param)] = address;
    spec_.arrays[i].address = address;
    spec_.memory[i].address = address;
  }
  return !AnyOverlap(spec_.memory) && prepared_->Follow(spec_);
}

void ArrayLaunch::Forget() {
  has_moved_ = false;
  resolved_.reset();
  prepared_.reset();
  spec_ = LaunchSpec();
  initial_.clear();
  owned_.reset();
}

absl::StatusOr<size_t> ArrayLaunch::FindArray(absl::string_view name) const {
  for (size_t i = 0; i < given_.arrays.size(); ++i) {
    if (function_.interface->arrays[i].name == name) return i;
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < given_.arrays.size(); ++i) names.push_back(function_.interface->arrays[i].name);
  return MakeError(absl::StatusCode::kNotFound, "run.no_argument",
                   absl::StrCat("kernel `", ir::ReadableName(function_.name), "` has no array `", name, "`",
                                names.empty() ? ": set its parameters by position"
                                              : absl::StrCat("; it has ", absl::StrJoin(names, ", "))));
}

absl::StatusOr<size_t> ArrayLaunch::FindScalar(absl::string_view name) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < given_.scalars.size(); ++i) {
    names.push_back(function_.interface->scalars[i].name);
    if (names.back() == name) return i;
  }
  return MakeError(absl::StatusCode::kNotFound, "run.no_argument",
                   absl::StrCat("kernel `", ir::ReadableName(function_.name), "` has no scalar `", name, "`",
                                names.empty() ? "" : absl::StrCat("; it has ", absl::StrJoin(names, ", "))));
}

absl::Status ArrayLaunch::SetArray(absl::string_view name, ir::Elem element, ArrayValue value) {
  absl::StatusOr<size_t> i = FindArray(name);
  if (!i.ok()) return i.status();
  const ir::ArrayArg& arg = function_.interface->arrays[*i];
  const ir::Element want = arg.element;
  if (want.kind != element) {
    return Invalid("array `", name, "` is of ", ir::ElemInfoOf(element).spelling, ", the kernel takes ",
                   ir::ElemInfoOf(want.kind).spelling);
  }
  if (value.shape.size() != arg.shape.size()) {
    return Invalid("array `", name, "` has rank ", value.shape.size(), ", the kernel takes rank ", arg.shape.size());
  }
  for (size_t d = 0; d < value.shape.size(); ++d) {
    if (const auto& size = arg.shape[d].constant; size && *size != value.shape[d]) {
      return Invalid("array `", name, "` has size ", value.shape[d], " in dimension ", d, ", the kernel takes ", *size);
    }
  }
  absl::StatusOr<uint64_t> bytes = ExtentOf(value, element, name);
  if (!bytes.ok()) return bytes.status();
  if (*bytes > 0 && value.address == 0) return Invalid("array `", name, "` has no address");
  if (const auto buffer = buffers_->Find(value.address);
      buffer && *bytes > buffer->bytes - (value.address - buffer->address)) {
    return Invalid("array `", name, "` of ", *bytes, " bytes does not fit its buffer, which has ",
                   buffer->bytes - (value.address - buffer->address), " from there on");
  }
  value.given = true;
  if (IsMoved(*i, value)) {
    has_moved_ = true;
  } else {
    Forget();
  }
  given_.arrays[*i] = std::move(value);
  return absl::OkStatus();
}

absl::StatusOr<ir::Elem> ArrayLaunch::ScalarType(absl::string_view name) const {
  absl::StatusOr<size_t> i = FindScalar(name);
  if (!i.ok()) return i.status();
  return function_.param(function_.interface->scalars[*i].param)->type().elem();
}

absl::Status ArrayLaunch::SetScalar(absl::string_view name, uint64_t bits) {
  absl::StatusOr<size_t> i = FindScalar(name);
  if (!i.ok()) return i.status();
  Forget();
  given_.scalars[*i] = bits;
  return absl::OkStatus();
}

absl::Status ArrayLaunch::SetParameter(uint32_t index, uint64_t word) {
  if (function_.interface != nullptr) {
    return Invalid("kernel `", ir::ReadableName(function_.name), "` has an interface: set its arguments by name");
  }
  if (index >= words_.size()) {
    return Invalid("kernel `", ir::ReadableName(function_.name), "` has ", words_.size(),
                   " parameters; there is no parameter ", index);
  }
  Forget();
  words_[index] = word;
  const int param = static_cast<int>(index);
  std::erase_if(pointers_, [param](const PointerArgument& p) { return p.param == param; });
  return absl::OkStatus();
}

absl::Status ArrayLaunch::SetPointer(uint32_t index, absl::string_view name, ir::Elem element, ArrayValue value) {
  if (absl::Status s = SetParameter(index, value.address); !s.ok()) return s;
  if (!function_.param(static_cast<int>(index))->type().element().is_pointer()) {
    return Invalid("parameter ", index, " of kernel `", ir::ReadableName(function_.name), "` is no pointer, but a ",
                   function_.param(static_cast<int>(index))->type().ToString());
  }
  const int param = static_cast<int>(index);
  pointers_.push_back(
      {param, std::string(name), ir::Element::Number(element), std::move(value.shape), std::move(value.strides)});
  return absl::OkStatus();
}

void ArrayLaunch::SetGrid(const std::array<int64_t, 3>& grid) {
  Forget();
  grid_ = grid;
}

absl::Status ArrayLaunch::SetOptions(RunOptions options) {
  if (device_->info().kind != DeviceKind::kCpu && options.check > CheckLevel::kNone) {
    return MakeError(absl::StatusCode::kUnimplemented, "run.check", "code for GPUs carries no checks",
                     "launch on the cpu device to have accesses checked");
  }
  if (device_->info().kind != DeviceKind::kCpu &&
      (!options.order.empty() || options.unspecified != Unspecified::kZero)) {
    return MakeError(absl::StatusCode::kUnimplemented, "run.option",
                     "a GPU starts blocks, and fills what nobody specified, in its own way",
                     "choose an order of blocks or unspecified values on the cpu device");
  }
  Forget();
  options_ = std::move(options);
  return absl::OkStatus();
}

absl::Status ArrayLaunch::AddMemory(absl::string_view name, ir::Elem element, const ArrayValue& value) {
  if (function_.interface != nullptr) {
    return Invalid("kernel `", ir::ReadableName(function_.name), "` has an interface, which says what it may touch");
  }
  absl::StatusOr<uint64_t> bytes = ExtentOf(value, element, name);
  if (!bytes.ok()) return bytes.status();
  if (*bytes > 0 && value.address == 0) return Invalid("memory `", name, "` has no address");
  Forget();
  memory_.push_back({std::string(name), value.address, *bytes, ir::Element::Number(element), value.shape, true});
  return absl::OkStatus();
}

absl::Status ArrayLaunch::SetWritten(const WrittenBytes& written) {
  if (std::none_of(memory_.begin(), memory_.end(), [&](const Buffer& m) {
        return written.address >= m.address && written.bytes <= m.bytes &&
               written.address - m.address <= m.bytes - written.bytes;
      })) {
    return Invalid("bytes that are marked as written lie in no memory that was added to the launch");
  }
  Forget();
  written_.push_back(written);
  return absl::OkStatus();
}

absl::Status ArrayLaunch::Resolve() {
  if (resolved_ || function_.interface == nullptr) return absl::OkStatus();
  Arguments args = given_;
  if (absl::Status s = runtime::Resolve(function_, &args, environment_); !s.ok()) return Invalid(s.message());
  resolved_ = std::move(args);
  return absl::OkStatus();
}

absl::StatusOr<const ArrayValue*> ArrayLaunch::GetArray(absl::string_view name, ir::Element* element) {
  absl::StatusOr<size_t> i = FindArray(name);
  if (!i.ok()) return i.status();
  *element = function_.interface->arrays[*i].element;
  if (given_.arrays[*i].given) return &given_.arrays[*i];
  if (absl::Status s = Resolve(); !s.ok()) return s;
  return &resolved_->arrays[*i];
}

absl::StatusOr<std::array<int64_t, 3>> ArrayLaunch::GetGrid() {
  if (grid_) return *grid_;
  if (absl::Status s = Resolve(); !s.ok()) return s;
  if (!resolved_ || function_.interface->grid.empty()) {
    return Invalid("kernel `", ir::ReadableName(function_.name), "` has no launch rule: set the grid");
  }
  absl::StatusOr<std::array<int64_t, 3>> grid = EvaluateGrid(function_, *resolved_, environment_);
  if (!grid.ok()) return Invalid(grid.status().message());
  return grid;
}

absl::StatusOr<uint64_t> ArrayLaunch::Allocate(uint64_t bytes) {
  if (owned_ == nullptr) owned_ = std::make_shared<OwnedMemory>(device_);
  return owned_->Allocate(bytes);
}

absl::Status ArrayLaunch::AddInitial(const ir::ArrayArg& arg, const ArrayValue& value, uint64_t bytes) {
  if (arg.direction != ir::Direction::kOut || arg.init == ir::InitKind::kUndefined || bytes == 0)
    return absl::OkStatus();
  if (!value.strides.empty() && value.strides != RowMajorStrides(value.shape)) {
    return Invalid("array `", arg.name, "` gets an initial value and must be row-major without gaps");
  }
  const uint64_t bits = arg.init == ir::InitKind::kZero ? 0 : arg.init_bits;
  const size_t width = static_cast<size_t>(ir::MemoryBits(arg.element.kind)) / 8;
  std::vector<uint8_t> element(std::max<size_t>(width, 1));
  for (size_t b = 0; b < element.size(); ++b) element[b] = static_cast<uint8_t>(bits >> (8 * b));
  if (width == 0) element[0] = static_cast<uint8_t>((bits & 15) | (bits & 15) << 4);
  Initial initial = {value.address, bytes, element[0], 0};
  if (std::any_of(element.begin(), element.end(), [&](uint8_t b) { return b != element[0]; })) {
    absl::StatusOr<uint64_t> pattern = Allocate(bytes);
    if (!pattern.ok()) return pattern.status();
    std::vector<uint8_t> host(bytes);
    for (size_t i = 0; i < host.size(); ++i) host[i] = element[i % element.size()];
    Stream* stream = device_->default_stream();
    if (absl::Status s = device_->Upload(*pattern, host.data(), bytes, stream); !s.ok()) return s;
    if (absl::Status s = stream->Synchronize(); !s.ok()) return s;
    initial.pattern = *pattern;
  }
  initial_.push_back(initial);
  return absl::OkStatus();
}

absl::Status ArrayLaunch::AddArrays(LaunchSpec* spec) {
  for (size_t i = 0; i < resolved_->arrays.size(); ++i) {
    const ir::ArrayArg& arg = function_.interface->arrays[i];
    const ArrayValue& value = resolved_->arrays[i];
    absl::StatusOr<uint64_t> bytes = ExtentOf(value, arg.element.kind, arg.name);
    if (!bytes.ok()) return bytes.status();
    if (!value.given && *bytes > 0) {
      return Invalid("output `", arg.name, "` (", ir::ElemInfoOf(arg.element.kind).spelling, "[",
                     absl::StrJoin(value.shape, ","), "]) is not set");
    }
    if (absl::Status s = AddInitial(arg, value, *bytes); !s.ok()) return s;
    spec->memory.push_back({arg.name, value.address, *bytes, arg.element, value.shape, true});
    const bool initialized = arg.direction != ir::Direction::kOut || arg.init != ir::InitKind::kUndefined;
    spec->arrays.push_back(
        {arg.name, value.address, arg.element, value.shape, value.strides, arg.direction, initialized});
    if (arg.pointer_param >= 0) {
      spec->pointers.push_back({arg.pointer_param, arg.name, arg.element, value.shape, value.strides});
    }
  }
  return absl::OkStatus();
}

absl::Status ArrayLaunch::AddWorkspaces(LaunchSpec* spec) {
  for (size_t i = 0; i < function_.interface->workspaces.size(); ++i) {
    const ir::Workspace& w = function_.interface->workspaces[i];
    const uint64_t bytes = (static_cast<uint64_t>(resolved_->workspace_elements[i]) *
                                static_cast<uint64_t>(ir::MemoryBits(w.element.kind)) +
                            7) /
                           8;
    absl::StatusOr<uint64_t> address = Allocate(bytes);
    if (!address.ok()) return address.status();
    resolved_->workspaces.push_back(*address);
    if (bytes > 0) initial_.push_back({*address, bytes, 0, 0});
    spec->memory.push_back({w.name, *address, bytes, w.element, {resolved_->workspace_elements[i]}, true});
  }
  return absl::OkStatus();
}

absl::Status ArrayLaunch::AddRawParameters(LaunchSpec* spec) {
  spec->memory = memory_;
  spec->written = written_;
  spec->pointers = pointers_;
  for (size_t i = 0; i < words_.size(); ++i) {
    const ir::Value* param = function_.param(static_cast<int>(i));
    const ir::Element element = param->type().element();
    if (!words_[i]) {
      const std::vector<std::string> cpp = ir::CppParameters(function_.name);
      return Invalid("parameter ", i, " of kernel `", ir::ReadableName(function_.name), "` (",
                     cpp.size() == words_.size() ? cpp[i] : param->type().ToString(), ") is not set");
    }
    spec->words.push_back(*words_[i]);
    if (!element.is_pointer() || *words_[i] == 0) continue;
    if (std::any_of(memory_.begin(), memory_.end(),
                    [&](const Buffer& m) { return *words_[i] == m.address || *words_[i] - m.address < m.bytes; })) {
      continue;
    }
    const auto buffer = buffers_->Find(*words_[i]);
    const auto named = std::find_if(pointers_.begin(), pointers_.end(),
                                    [i](const PointerArgument& p) { return p.param == static_cast<int>(i); });
    const std::string name = named != pointers_.end() ? named->name
                             : param->name.empty()    ? absl::StrCat("parameter ", i)
                                                      : std::string(param->name);
    if (buffer) {
      spec->memory.push_back({name, buffer->address, buffer->bytes, ir::Element::Number(element.pointee), {}, true});
    } else if (device_->info().kind == DeviceKind::kCpu) {
      return Invalid("parameter ", i, " of kernel `", ir::ReadableName(function_.name),
                     "` points to no buffer of the device");
    }
  }
  return absl::OkStatus();
}

absl::Status ArrayLaunch::Prepare() {
  if (prepared_ != nullptr && (!has_moved_ || Follow())) return absl::OkStatus();
  Forget();
  absl::StatusOr<std::array<int64_t, 3>> grid = GetGrid();
  if (!grid.ok()) return grid.status();
  LaunchSpec spec;
  spec.grid = *grid;
  spec.options = options_;
  absl::Status status;
  if (function_.interface == nullptr) {
    status = AddRawParameters(&spec);
  } else {
    status = Resolve();  // a grid that was set did not need it
    if (status.ok()) status = AddArrays(&spec);
    if (status.ok()) status = AddWorkspaces(&spec);
    if (status.ok()) {
      absl::StatusOr<std::vector<uint64_t>> words = MakeParams(function_, *resolved_, environment_);
      if (!words.ok()) {
        status = Invalid(words.status().message());
      } else {
        spec.words = *std::move(words);
      }
    }
  }
  // Arrays may share memory; what the device gets must not overlap. Elsewhere it stays in the order of the arrays (Follow).
  if (status.ok() && AnyOverlap(spec.memory)) {
    std::stable_sort(spec.memory.begin(), spec.memory.end(),
                     [](const Buffer& a, const Buffer& b) { return a.address < b.address; });
    std::vector<Buffer> merged;
    for (Buffer& m : spec.memory) {
      if (merged.empty() || m.address >= merged.back().address + merged.back().bytes) {
        merged.push_back(std::move(m));
        continue;
      }
      Buffer& before = merged.back();
      before.bytes = std::max(before.address + before.bytes, m.address + m.bytes) - before.address;
      if (before.name != m.name) absl::StrAppend(&before.name, ", ", m.name);
      if (before.shape != m.shape) before.shape.clear();
      before.initialized |= m.initialized;
    }
    spec.memory = std::move(merged);
  }
  if (status.ok()) {
    spec.keeps = owned_;
    spec_ = std::move(spec);
    absl::StatusOr<std::shared_ptr<PreparedLaunch>> prepared = kernel_->Prepare(spec_);
    status = prepared.status();
    if (prepared.ok()) prepared_ = *std::move(prepared);
  }
  if (!status.ok()) Forget();
  return status;
}

absl::StatusOr<const LaunchSpec*> ArrayLaunch::Spec() {
  if (absl::Status s = Prepare(); !s.ok()) return s;
  return &spec_;
}

absl::Status ArrayLaunch::Initialize(Stream* stream) {
  if (absl::Status s = Prepare(); !s.ok()) return s;
  for (const Initial& i : initial_) {
    absl::Status s = i.pattern != 0 ? device_->Copy(i.address, i.pattern, i.bytes, stream)
                                    : device_->Fill(i.address, i.value, i.bytes, stream);
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status ArrayLaunch::Launch(Stream* stream) {
  if (absl::Status s = Prepare(); !s.ok()) return s;
  return prepared_->Run(stream);
}

absl::Status ArrayLaunch::AddTo(void* graph) {
  if (absl::Status s = Prepare(); !s.ok()) return s;
  if (initial_.empty()) return prepared_->AddTo(graph);
  return MakeError(absl::StatusCode::kUnimplemented, "run.graph",
                   absl::StrCat("`", ir::ReadableName(function_.name),
                                "` gives its outputs or workspaces a value before it runs, which a node can't"),
                   "record the launch: tilevm_stream_begin_capture");
}

absl::Status ArrayLaunch::Run(Stream* stream) {
  if (absl::Status s = Initialize(stream); !s.ok()) return s;
  return prepared_->Run(stream);
}

}  // namespace tile::runtime
