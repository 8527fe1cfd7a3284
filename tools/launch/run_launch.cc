#include "tools/launch/run_launch.h"

#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/cpp_name.h"
#include "tools/cli/report.h"
#include "tools/data/cast.h"
#include "tools/data/element_text.h"
#include "tools/data/value.h"

namespace tile::tools {
namespace {

using ir::Direction;
using ir::Element;

absl::Status Error(std::string message) { return absl::InvalidArgumentError(std::move(message)); }

// Values of the command line, numbered so that two `rand:` differ.
class Values {
 public:
  explicit Values(const LaunchRequest& request) : request_(request) {}
  absl::StatusOr<Value> Parse(absl::string_view text, std::optional<Element> as) {
    ValueOptions options;
    options.seed = request_.seed;
    options.stream = stream_++;
    if (as && !as->is_pointer()) options.raw_as = as->kind;
    absl::StatusOr<Value> value = ParseValue(text, options);
    return value.ok() ? std::move(value) : ValueError(text, value.status());
  }

 private:
  const LaunchRequest& request_;
  uint64_t stream_ = 0;
};

// Made arrays take time.
absl::StatusOr<Array> Take(Value value, absl::string_view name, Progress* progress) {
  if (progress == nullptr || !progress->active()) return std::move(value).TakeArray();
  progress->Begin(absl::StrCat("making ", name), 0, 1, *CountElements(value.shape()), "elements");
  absl::StatusOr<Array> a = std::move(value).TakeArray(progress->done());
  progress->End();
  return a;
}

// A value as an array of the element that the parameter has. `text` is what is on the command line.
absl::StatusOr<Array> ToArray(absl::string_view text, Value value, Element want, absl::string_view name,
                              const LaunchRequest& request) {
  const auto error = [&](absl::string_view message) { return Error(Located(text, "run.value", message)); };
  if (value.is_scalar()) {
    return error(absl::StrCat("argument `", name, "` is an array of ", ir::ToString(want), ", but `", value.scalar(),
                              "` is a number; pass a file, or full:", ir::ToString(want), "[…]=", value.scalar()));
  }
  const Value::Raw raw = value.raw();
  absl::StatusOr<Array> a = Take(std::move(value), name, request.progress);
  if (!a.ok()) return ValueError(text, a.status());
  if (a->element == want) return a;
  if (!raw.what.empty()) {
    return error(
        absl::StrCat("argument `", name, "` takes ", ir::ToString(want), ", but ", raw.what, "\n  fix: ", raw.fix));
  }
  if (!request.cast) {
    return error(absl::StrCat("argument `", name, "` takes ", ir::ToString(want), ", but the value is ", TypeText(*a),
                              "; convert it with --cast"));
  }
  return Cast(*a, want);
}

// cpp_type: that of the parameter, if its kernel comes from C++, where bool takes a byte.
absl::StatusOr<uint64_t> ToScalar(absl::string_view text, const Value& value, ir::Elem elem, absl::string_view name,
                                  absl::string_view cpp_type = "") {
  if (!value.is_scalar()) {
    return Error(
        Located(text, "run.value", absl::StrCat("argument `", name, "` is a number, but the value is an array")));
  }
  absl::StatusOr<uint64_t> bits = ParseElement(cpp_type == "bool" ? ir::Elem::kI1 : elem, value.scalar());
  if (!bits.ok())
    return Error(Located(text, "run.value", absl::StrCat("argument `", name, "`: ", bits.status().message())));
  return bits;
}

// An array whose memory, fresh from the system, is zero and takes no room before it is touched.
absl::StatusOr<Array> MakeZeroed(Element element, const std::vector<int64_t>& shape) {
  absl::StatusOr<int64_t> count = CountElements(shape);
  if (!count.ok()) return count.status();
  absl::StatusOr<int64_t> bytes = BytesOf(element, *count);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<AlignedBuffer> zero = AlignedBuffer::Zeroed(static_cast<size_t>(*bytes));
  if (!zero.ok()) return zero.status();
  Array a;
  a.element = element;
  a.shape = shape;
  a.bytes = *std::move(zero);
  return a;
}

using Transfer = runtime::HostMemory::Transfer;

// Its address on the device.
absl::StatusOr<uint64_t> Place(PreparedRun* run, Array& a, Transfer transfer) {
  return run->memory->Add(a.bytes.data(), a.bytes.size(), transfer);
}

absl::Status SetArray(PreparedRun* run, BoundArray& bound, Transfer transfer) {
  absl::StatusOr<uint64_t> address = Place(run, bound.array, transfer);
  if (!address.ok()) return address.status();
  return run->launch->SetArray(bound.name, bound.array.element.kind, {true, bound.array.shape, {}, *address});
}

absl::Status Missing(const ir::ArrayArg& arg) {
  const std::string type = ir::ToString(arg.element);
  const std::vector<int> sizes(arg.shape.size(), 64);
  return Error(absl::StrCat("argument `", arg.name, "` (", arg.direction == Direction::kIn ? "in" : "inout", " ", type,
                            ", rank ", sizes.size(), ") is missing\n  fix: add a file of NumPy, ", arg.name,
                            ".npy, or an array such as ones:", type, "[", absl::StrJoin(sizes, ","), "]"));
}

absl::Status PrepareByInterface(const ir::Function& f, const LaunchRequest& request, PreparedRun* run) {
  const ir::Interface& interface = *f.interface;
  Values values(request);
  std::vector<std::string> text(interface.arrays.size());
  std::vector<std::pair<size_t, std::string>> scalars;
  size_t next = 0;
  for (const std::string& input : request.inputs) {
    while (next < interface.arrays.size() && interface.arrays[next].direction == Direction::kOut) ++next;
    if (next == interface.arrays.size() && scalars.size() < interface.scalars.size()) {
      scalars.push_back({scalars.size(), input});
      continue;
    }
    if (next == interface.arrays.size()) {
      std::vector<std::string> names;
      for (const ir::ArrayArg& a : interface.arrays) {
        if (a.direction != Direction::kOut) names.push_back(a.name);
      }
      for (const ir::ScalarArg& a : interface.scalars) names.push_back(a.name);
      return Error(absl::StrCat("too many inputs: `", input, "` has no argument left; kernel `",
                                ir::ReadableName(f.name), "` takes ", names.size(), " (", absl::StrJoin(names, ", "),
                                ")"));
    }
    text[next++] = input;
  }
  for (const auto& [name, value] : request.args) {
    bool found = false;
    for (size_t i = 0; i < interface.arrays.size(); ++i) {
      if (interface.arrays[i].name != name) continue;
      if (!text[i].empty()) return Error(absl::StrCat("argument `", name, "` is given twice"));
      text[i] = value;
      found = true;
    }
    for (size_t i = 0; i < interface.scalars.size(); ++i) {
      if (interface.scalars[i].name != name) continue;
      const auto is_this = [&](const auto& given) { return given.first == i; };
      if (std::any_of(scalars.begin(), scalars.end(), is_this))
        return Error(absl::StrCat("argument `", name, "` is given twice"));
      scalars.push_back({i, value});
      found = true;
    }
    if (!found) {
      std::vector<std::string> names;
      for (const ir::ArrayArg& a : interface.arrays) names.push_back(a.name);
      for (const ir::ScalarArg& a : interface.scalars) names.push_back(a.name);
      return Error(absl::StrCat("kernel `", ir::ReadableName(f.name), "` has no argument `", name, "`; it has ",
                                absl::StrJoin(names, ", ")));
    }
  }
  run->arrays.resize(interface.arrays.size());
  for (size_t i = 0; i < interface.arrays.size(); ++i) {
    const ir::ArrayArg& arg = interface.arrays[i];
    run->arrays[i].name = arg.name;
    run->arrays[i].direction = arg.direction;
    if (text[i].empty()) {
      if (arg.direction == Direction::kOut) continue;
      return Missing(arg);
    }
    absl::StatusOr<Value> value = values.Parse(text[i], arg.element);
    if (!value.ok()) return value.status();
    absl::StatusOr<Array> array = ToArray(text[i], *std::move(value), arg.element, arg.name, request);
    if (!array.ok()) return array.status();
    BoundArray& bound = run->arrays[i];
    bound.array = *std::move(array);
    if (absl::Status s = SetArray(run, bound, arg.direction == Direction::kIn ? Transfer::kIn : Transfer::kBoth);
        !s.ok())
      return s;
  }
  for (const auto& [i, literal] : scalars) {
    const std::string& name = interface.scalars[i].name;
    absl::StatusOr<Value> value = values.Parse(literal, std::nullopt);
    if (!value.ok()) return value.status();
    absl::StatusOr<ir::Elem> type = run->launch->ScalarType(name);
    if (!type.ok()) return type.status();
    absl::StatusOr<uint64_t> bits = ToScalar(literal, *value, *type, name);
    if (!bits.ok()) return bits.status();
    if (absl::Status s = run->launch->SetScalar(name, *bits); !s.ok()) return s;
  }
  for (size_t i = 0; i < interface.arrays.size(); ++i) {
    const ir::ArrayArg& arg = interface.arrays[i];
    if (arg.direction != Direction::kOut || !text[i].empty()) continue;
    ir::Element element;
    absl::StatusOr<const runtime::ArrayValue*> value = run->launch->GetArray(arg.name, &element);
    if (!value.ok()) return value.status();
    absl::StatusOr<Array> a = MakeZeroed(arg.element, (*value)->shape);
    if (!a.ok()) return Error(absl::StrCat("output `", arg.name, "`: ", a.status().message()));
    BoundArray& bound = run->arrays[i];
    bound.array = *std::move(a);
    if (absl::Status s = SetArray(run, bound, Transfer::kOut); !s.ok()) return s;
  }
  if (request.grid.empty() && interface.grid.empty()) {
    return Error(
        absl::StrCat("kernel `", ir::ReadableName(f.name), "` has no launch rule: give the grid (--grid X[,Y[,Z]])"));
  }
  return absl::OkStatus();
}

// Without interface: parameter i is called by its name in the text or by its number. The symbol of a kernel from C++ says
// what each one is, so that a pointer to const is an input.
absl::Status PrepareByParameter(const ir::Function& f, const LaunchRequest& request, PreparedRun* run) {
  const auto n = static_cast<size_t>(f.num_params());
  std::vector<std::string> text(n), names(n), cpp = ir::CppParameters(f.name);
  const bool from_cpp = cpp.size() == n;
  cpp.resize(n);
  for (size_t i = 0; i < n; ++i) {
    const absl::string_view name = f.param(static_cast<int>(i))->name;
    names[i] = name.empty() ? absl::StrCat(i) : std::string(name);
  }
  if (request.inputs.size() > n) {
    return Error(absl::StrCat("too many inputs: kernel `", ir::ReadableName(f.name), "` takes ", n, " parameters"));
  }
  for (size_t i = 0; i < request.inputs.size(); ++i) text[i] = request.inputs[i];
  for (const auto& [name, value] : request.args) {
    size_t i = 0;
    while (i < n && names[i] != name && absl::StrCat(i) != name) ++i;
    if (i == n)
      return Error(absl::StrCat("kernel `", ir::ReadableName(f.name), "` has no parameter `", name, "`; it has ",
                                absl::StrJoin(names, ", ")));
    if (!text[i].empty()) return Error(absl::StrCat("parameter `", name, "` is given twice"));
    text[i] = value;
  }
  Values values(request);
  run->arrays.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    const ir::Type type = f.param(static_cast<int>(i))->type();
    if (text[i].empty()) {
      return Error(absl::StrCat("parameter ", i, " of kernel `", ir::ReadableName(f.name), "` (",
                                from_cpp ? cpp[i] : absl::StrCat("%", names[i], ": ", type.ToString()),
                                ") is missing: the kernel has no interface, so each parameter needs a value (--arg ",
                                names[i], "=VALUE)"));
    }
    const bool pointer = type.element().is_pointer();
    const Element pointee = Element::Number(type.element().pointee);
    absl::StatusOr<Value> value = values.Parse(text[i], pointer ? std::optional<Element>(pointee) : std::nullopt);
    if (!value.ok()) return value.status();
    if (!pointer) {
      absl::StatusOr<uint64_t> bits = ToScalar(text[i], *value, type.elem(), names[i], cpp[i]);
      if (!bits.ok()) return bits.status();
      if (absl::Status s = run->launch->SetParameter(static_cast<uint32_t>(i), *bits); !s.ok()) return s;
      continue;
    }
    absl::StatusOr<Array> array = ToArray(text[i], *std::move(value), pointee, names[i], request);
    if (!array.ok()) return array.status();
    const Direction direction = ir::IsPointerToConst(cpp[i]) ? Direction::kIn : Direction::kInOut;
    run->arrays.push_back({names[i], direction, *std::move(array)});
    Array& a = run->arrays.back().array;
    absl::StatusOr<uint64_t> address = Place(run, a, direction == Direction::kIn ? Transfer::kIn : Transfer::kBoth);
    if (!address.ok()) return address.status();
    absl::Status s = run->launch->SetParameter(static_cast<uint32_t>(i), *address);
    if (s.ok()) s = run->launch->AddMemory(names[i], pointee.kind, {true, a.shape, {}, *address});
    if (!s.ok()) return s;
  }
  if (request.grid.empty()) {
    return Error(absl::StrCat("kernel `", ir::ReadableName(f.name),
                              "` has neither a launch rule nor a grid: give --grid X[,Y[,Z]]"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValueError(absl::string_view text, const absl::Status& status) {
  // The file of "x.bin:f16[4]" is x.bin: messages begin with the one or the other.
  const size_t colon = text.find(':');
  const absl::string_view file = text.substr(0, colon);
  const bool about_file =
      colon != absl::string_view::npos && absl::StartsWith(status.message(), absl::StrCat(file, ": "));
  return absl::Status(status.code(), Located(about_file ? file : text, "run.value", status.message()));
}

BoundArray* PreparedRun::Find(absl::string_view name) {
  for (BoundArray& a : arrays) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

absl::StatusOr<std::unique_ptr<PreparedRun>> PrepareRun(const DeviceKernel& kernel, const LaunchRequest& request) {
  const ir::Function& f = *kernel.function;
  auto run = std::make_unique<PreparedRun>();
  run->kernel = kernel;
  run->memory = std::make_unique<runtime::HostMemory>(kernel.device);
  run->launch = std::make_unique<runtime::ArrayLaunch>(kernel.device, kernel.program, f, kernel.loaded,
                                                       std::make_shared<runtime::BufferTable>());
  absl::Status s = f.interface ? PrepareByInterface(f, request, run.get()) : PrepareByParameter(f, request, run.get());
  if (!s.ok()) return s;
  if (!request.grid.empty()) {
    std::array<int64_t, 3> grid = {1, 1, 1};
    std::copy(request.grid.begin(), request.grid.end(), grid.begin());
    run->launch->SetGrid(grid);
  }
  if (!kernel.is_gpu()) {
    runtime::RunOptions options = request.options;
    run->log.Attach(&options);
    if (s = run->launch->SetOptions(std::move(options)); !s.ok()) return s;
  }
  absl::StatusOr<const runtime::LaunchSpec*> spec = run->launch->Spec();
  if (!spec.ok()) return spec.status();
  run->spec = **spec;
  return run;
}

}  // namespace tile::tools
