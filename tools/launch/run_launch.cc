#include "tools/launch/run_launch.h"

#include <algorithm>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/cpp_name.h"
#include "runtime/launch_rule.h"
#include "tools/cli/report.h"
#include "tools/data/cast.h"
#include "tools/data/element_text.h"

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

// A value as an array of the element that the parameter has. `text` is what stands on the command line.
absl::StatusOr<Array> ToArray(absl::string_view text, Value value, Element want, absl::string_view name, const LaunchRequest& request) {
  const auto error = [&](absl::string_view message) { return Error(Located(text, "run.value", message)); };
  if (value.is_scalar()) {
    return error(absl::StrCat("argument `", name, "` is an array of ", ir::ToString(want), ", but `", value.scalar(),
                              "` is a number; pass a file, or full:", ir::ToString(want), "[…]=", value.scalar()));
  }
  absl::StatusOr<Array> a = Take(std::move(value), name, request.progress);
  if (!a.ok()) return ValueError(text, a.status());
  if (a->element == want) return a;
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
    return Error(Located(text, "run.value", absl::StrCat("argument `", name, "` is a number, but the value is an array")));
  }
  absl::StatusOr<uint64_t> bits = ParseElement(cpp_type == "bool" ? ir::Elem::kI1 : elem, value.scalar());
  if (!bits.ok()) return Error(Located(text, "run.value", absl::StrCat("argument `", name, "`: ", bits.status().message())));
  return bits;
}

void AddBuffer(PreparedRun& run, const std::string& name, Array& a, bool initialized) {
  vm::Buffer b;
  b.name = name;
  b.data = a.bytes.data();
  b.bytes = a.bytes.size();
  b.element = a.element;
  b.shape = a.shape;
  b.initialized = initialized;
  run.launch.buffers.push_back(std::move(b));
}

void FillArray(Array& a, uint64_t bits) {
  const int64_t n = a.count();
  for (int64_t i = 0; i < n; ++i) StoreBits(a.element.kind, a.bytes.data(), i, bits);
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

// Initial contents of outputs and workspaces; those that are `fresh` are zero already.
void Initialize(const ir::Function& f, PreparedRun* run, bool fresh) {
  const auto zero = [fresh](Array& a) {
    if (!fresh) std::fill(a.bytes.span().begin(), a.bytes.span().end(), uint8_t{0});
  };
  for (Array& w : run->workspaces) zero(w);
  for (size_t i = 0; f.interface != nullptr && i < run->arrays.size(); ++i) {
    const ir::ArrayArg& arg = f.interface->arrays[i];
    if (run->arrays[i].given) continue;
    if (arg.init == ir::InitKind::kZero) zero(run->arrays[i].array);
    if (arg.init == ir::InitKind::kValue) FillArray(run->arrays[i].array, arg.init_bits);
  }
}

absl::Status PrepareByInterface(const ir::Function& f, const LaunchRequest& request, PreparedRun* run) {
  const ir::Interface& interface = *f.interface;
  runtime::Arguments args = runtime::Arguments::For(interface);
  runtime::Environment env;
  env.num_sms = request.threads > 0 ? request.threads : static_cast<int64_t>(std::thread::hardware_concurrency());
  if (request.num_sms > 0) env.num_sms = request.num_sms;
  Values values(request);
  std::vector<std::string> text(interface.arrays.size());
  size_t next = 0;
  for (const std::string& input : request.inputs) {
    while (next < interface.arrays.size() && interface.arrays[next].direction == Direction::kOut) ++next;
    if (next == interface.arrays.size()) {
      std::vector<std::string> names;
      for (const ir::ArrayArg& a : interface.arrays) {
        if (a.direction != Direction::kOut) names.push_back(a.name);
      }
      return Error(absl::StrCat("too many inputs: `", input, "` has no argument left; kernel `", ir::ReadableName(f.name), "` takes ",
                                names.size(), " (", absl::StrJoin(names, ", "), ")"));
    }
    text[next++] = input;
  }
  std::vector<std::pair<size_t, std::string>> scalars;
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
      scalars.push_back({i, value});
      found = true;
    }
    if (!found) {
      std::vector<std::string> names;
      for (const ir::ArrayArg& a : interface.arrays) names.push_back(a.name);
      for (const ir::ScalarArg& a : interface.scalars) names.push_back(a.name);
      return Error(absl::StrCat("kernel `", ir::ReadableName(f.name), "` has no argument `", name, "`; it has ", absl::StrJoin(names, ", ")));
    }
  }
  run->arrays.resize(interface.arrays.size());
  for (size_t i = 0; i < interface.arrays.size(); ++i) {
    const ir::ArrayArg& arg = interface.arrays[i];
    run->arrays[i].name = arg.name;
    run->arrays[i].direction = arg.direction;
    if (text[i].empty()) continue;
    absl::StatusOr<Value> value = values.Parse(text[i], arg.element);
    if (!value.ok()) return value.status();
    absl::StatusOr<Array> array = ToArray(text[i], *std::move(value), arg.element, arg.name, request);
    if (!array.ok()) return array.status();
    run->arrays[i].array = *std::move(array);
    args.arrays[i].given = true;
    args.arrays[i].shape = run->arrays[i].array.shape;
    args.arrays[i].address = reinterpret_cast<uint64_t>(run->arrays[i].array.bytes.data());
  }
  for (const auto& [i, literal] : scalars) {
    absl::StatusOr<Value> value = values.Parse(literal, std::nullopt);
    if (!value.ok()) return value.status();
    absl::StatusOr<uint64_t> bits = ToScalar(literal, *value, f.param(interface.scalars[i].param)->type().elem(), interface.scalars[i].name);
    if (!bits.ok()) return bits.status();
    args.scalars[i] = *bits;
  }
  if (absl::Status s = runtime::Resolve(f, &args, env); !s.ok()) return s;
  for (size_t i = 0; i < interface.arrays.size(); ++i) {
    const ir::ArrayArg& arg = interface.arrays[i];
    if (!args.arrays[i].given) {
      absl::StatusOr<Array> a = MakeZeroed(arg.element, args.arrays[i].shape);
      if (!a.ok()) return Error(absl::StrCat("output `", arg.name, "`: ", a.status().message()));
      run->arrays[i].given = false;
      run->arrays[i].initialized = arg.init != ir::InitKind::kUndefined;
      run->arrays[i].array = *std::move(a);
      args.arrays[i].address = reinterpret_cast<uint64_t>(run->arrays[i].array.bytes.data());
    }
    AddBuffer(*run, arg.name, run->arrays[i].array, run->arrays[i].initialized);
    // What an output is to hold comes from the kernel or the launch rule, also in memory of the caller.
    const bool initialized = arg.direction != Direction::kOut || arg.init != ir::InitKind::kUndefined;
    Array& array = run->arrays[i].array;
    run->launch.arrays.push_back({arg.name, array.bytes.data(), array.element, array.shape, {}, arg.direction, initialized});
  }
  for (size_t i = 0; i < interface.workspaces.size(); ++i) {
    const ir::Workspace& w = interface.workspaces[i];
    absl::StatusOr<Array> a = MakeZeroed(w.element, {args.workspace_elements[i]});
    if (!a.ok()) return Error(absl::StrCat("workspace `", w.name, "`: ", a.status().message()));
    args.workspaces.push_back(reinterpret_cast<uint64_t>(a->bytes.data()));
    run->workspaces.push_back(*std::move(a));
  }
  for (size_t i = 0; i < interface.workspaces.size(); ++i) AddBuffer(*run, interface.workspaces[i].name, run->workspaces[i], true);
  Initialize(f, run, /*fresh=*/true);
  absl::StatusOr<std::vector<uint64_t>> words = runtime::MakeParams(f, args, env);
  if (!words.ok()) return words.status();
  run->launch.params = *std::move(words);
  if (request.grid.empty()) {
    absl::StatusOr<std::array<int64_t, 3>> grid = runtime::EvaluateGrid(f, args, env);
    if (!grid.ok()) return grid.status();
    for (int d = 0; d < 3; ++d) run->launch.grid[d] = (*grid)[static_cast<size_t>(d)];
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
    if (i == n) return Error(absl::StrCat("kernel `", ir::ReadableName(f.name), "` has no parameter `", name, "`; it has ", absl::StrJoin(names, ", ")));
    if (!text[i].empty()) return Error(absl::StrCat("parameter `", name, "` is given twice"));
    text[i] = value;
  }
  Values values(request);
  run->arrays.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    const ir::Type type = f.param(static_cast<int>(i))->type();
    if (text[i].empty()) {
      return Error(absl::StrCat("parameter ", i, " of kernel `", ir::ReadableName(f.name), "` (", from_cpp ? cpp[i] : absl::StrCat("%", names[i], ": ", type.ToString()),
                                ") is missing: the kernel has no interface, so each parameter needs a value (--arg ", names[i], "=VALUE)"));
    }
    const bool pointer = type.element().is_pointer();
    const Element pointee = Element::Number(type.element().pointee);
    absl::StatusOr<Value> value = values.Parse(text[i], pointer ? std::optional<Element>(pointee) : std::nullopt);
    if (!value.ok()) return value.status();
    if (!pointer) {
      absl::StatusOr<uint64_t> bits = ToScalar(text[i], *value, type.elem(), names[i], cpp[i]);
      if (!bits.ok()) return bits.status();
      run->launch.params.push_back(*bits);
      continue;
    }
    absl::StatusOr<Array> array = ToArray(text[i], *std::move(value), pointee, names[i], request);
    if (!array.ok()) return array.status();
    const Direction direction = ir::IsPointerToConst(cpp[i]) ? Direction::kIn : Direction::kInOut;
    run->arrays.push_back({names[i], direction, *std::move(array), true});
    Array& a = run->arrays.back().array;
    run->launch.params.push_back(reinterpret_cast<uint64_t>(a.bytes.data()));
    AddBuffer(*run, names[i], a, true);
  }
  if (request.grid.empty()) {
    return Error(absl::StrCat("kernel `", ir::ReadableName(f.name), "` has neither a launch rule nor a grid: give --grid X[,Y[,Z]]"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValueError(absl::string_view text, const absl::Status& status) {
  // The file of "x.bin:f16[4]" is x.bin: messages begin with the one or the other.
  const size_t colon = text.find(':');
  const absl::string_view file = text.substr(0, colon);
  const bool about_file = colon != absl::string_view::npos && absl::StartsWith(status.message(), absl::StrCat(file, ": "));
  return absl::Status(status.code(), Located(about_file ? file : text, "run.value", status.message()));
}

BoundArray* PreparedRun::Find(absl::string_view name) {
  for (BoundArray& a : arrays) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

void ResetRun(const ir::Function& f, PreparedRun* run) { Initialize(f, run, /*fresh=*/false); }

absl::StatusOr<std::unique_ptr<PreparedRun>> PrepareRun(const ir::Function& f, const LaunchRequest& request) {
  auto run = std::make_unique<PreparedRun>();
  for (size_t d = 0; d < request.grid.size() && d < 3; ++d) run->launch.grid[d] = request.grid[d];
  run->launch.threads = request.threads;
  run->launch.unspecified = request.unspecified;
  run->launch.order = request.order;
  absl::Status s = f.interface ? PrepareByInterface(f, request, run.get()) : PrepareByParameter(f, request, run.get());
  if (!s.ok()) return s;
  return run;
}

}  // namespace tile::tools
