// Binding of a call to a kernel's parameters, and the comparison of what comes out.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ir/float.h"
#include "tests/harness/op_file.h"
#include "tools/data/compare_arrays.h"
#include "tools/data/element_text.h"

namespace tile::ops {
namespace {

constexpr uint8_t kUnwritten = 0xA5;

absl::StatusOr<uint64_t> ParseValue(ir::Elem elem, absl::string_view text) {
  const bool is_bits = ir::IsFloat(elem) && absl::StartsWith(text, "0x") && !absl::StrContains(text, 'p');
  return tools::ParseElement(is_bits ? ir::Elem::kI64 : elem, text);
}

// Memory of the size of the list, holding it unless it is only an expectation.
absl::StatusOr<Memory> MakeMemory(const Field& field, ir::Elem elem, bool contents) {
  Memory m;
  m.name = field.name;
  absl::StatusOr<tools::Array> array = tools::Array::Make(ir::Element::Number(elem), field.shape);
  if (!array.ok()) return array.status();
  m.array = *std::move(array);
  std::memset(m.array.bytes.data(), kUnwritten, m.array.bytes.size());
  m.initialized =
      contents && std::any_of(field.values.begin(), field.values.end(), [](const auto& v) { return v != "_"; });
  for (size_t i = 0; m.initialized && i < field.values.size(); ++i) {
    if (field.values[i] == "_") continue;
    absl::StatusOr<uint64_t> bits = ParseValue(elem, field.values[i]);
    if (!bits.ok()) return bits.status();
    tools::StoreBits(elem, m.array.bytes.data(), static_cast<int64_t>(i), *bits);
  }
  return m;
}

// Positions of parameters by name, and what the kernel's interface adds to them.
class Binder {
 public:
  explicit Binder(const ir::Function& f) : f_(f), bound_(static_cast<size_t>(f.num_params()), false) {
    arguments_.params.resize(static_cast<size_t>(f.num_params()));
  }

  absl::Status Add(const Field& field, bool contents) {
    const ir::ArrayArg* arg = nullptr;
    int param = -1;
    if (f_.interface != nullptr) {
      for (const ir::ArrayArg& a : f_.interface->arrays) {
        if (a.name == field.name) arg = &a, param = a.pointer_param;
      }
      for (const ir::ScalarArg& s : f_.interface->scalars) {
        if (s.name == field.name) param = s.param;
      }
    }
    for (int i = 0; param < 0 && i < f_.num_params(); ++i) {
      if (f_.param(i)->name == field.name) param = i;
    }
    if (param < 0) return absl::InvalidArgumentError(absl::StrCat("no parameter ", field.name));
    if (bound_[static_cast<size_t>(param)])
      return absl::InvalidArgumentError(absl::StrCat(field.name, " is given twice"));
    const ir::Element element = f_.param(param)->type().element();
    if (element.is_pointer() != field.is_list) {
      return absl::InvalidArgumentError(
          absl::StrCat(field.name, element.is_pointer() ? " needs a list" : " needs a number"));
    }
    if (!field.is_list) {
      absl::StatusOr<uint64_t> bits = ParseValue(element.kind, field.values[0]);
      if (!bits.ok()) return bits.status();
      SetScalar(param, *bits);
      return absl::OkStatus();
    }
    absl::StatusOr<Memory> memory = MakeMemory(field, element.pointee, contents);
    if (!memory.ok()) return memory.status();
    bound_[static_cast<size_t>(param)] = true;
    arguments_.params[static_cast<size_t>(param)].memory = static_cast<int>(arguments_.memories.size());
    if (arg != nullptr) SetSizes(*arg, field.shape);
    arguments_.memories.push_back(*std::move(memory));
    return absl::OkStatus();
  }

  absl::StatusOr<Arguments> Finish() {
    if (f_.interface != nullptr) {
      for (const ir::ScalarArg& s : f_.interface->scalars) {
        if (s.default_bits && !bound_[static_cast<size_t>(s.param)]) SetScalar(s.param, *s.default_bits);
      }
    }
    for (int i = 0; i < f_.num_params(); ++i) {
      if (!bound_[static_cast<size_t>(i)]) {
        return absl::InvalidArgumentError(absl::StrCat("parameter ", f_.param(i)->name, " has no value"));
      }
    }
    return std::move(arguments_);
  }

 private:
  void SetScalar(int param, uint64_t bits) {
    bound_[static_cast<size_t>(param)] = true;
    arguments_.params[static_cast<size_t>(param)].bits = bits;
  }
  void SetSizes(const ir::ArrayArg& arg, const std::vector<int64_t>& shape) {
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0; stride *= shape[d]) {
      if (d < arg.shape.size() && arg.shape[d].param >= 0)
        SetScalar(arg.shape[d].param, static_cast<uint64_t>(shape[d]));
      if (d < arg.strides.size() && arg.strides[d].param >= 0)
        SetScalar(arg.strides[d].param, static_cast<uint64_t>(stride));
    }
  }

  const ir::Function& f_;
  std::vector<bool> bound_;
  Arguments arguments_;
};

bool IsNan(ir::Elem elem, uint64_t bits) { return ir::IsFloat(elem) && std::isnan(ir::ToDouble(elem, bits)); }

bool Agrees(ir::Elem elem, uint64_t actual, const std::string& text, uint64_t ulp) {
  if (text == "_") return true;
  const absl::StatusOr<uint64_t> expected = ParseValue(elem, text);
  if (!expected.ok()) return false;
  if (actual == *expected) return true;
  if (IsNan(elem, *expected)) return text == "nan" && IsNan(elem, actual);
  return ulp > 0 && !IsNan(elem, actual) && tools::UlpDistance(elem, actual, *expected) <= ulp;
}

// Empty if the memory holds what is expected.
std::string CompareMemory(const Memory& m, const Expectation& e) {
  const ir::Elem elem = m.array.element.kind;
  std::vector<std::string> wanted = e.field.values;
  if (m.array.count() != static_cast<int64_t>(wanted.size())) {
    return absl::StrCat(m.name, " has ", m.array.count(), " elements, ", wanted.size(), " are expected");
  }
  for (const std::string& w : wanted) {
    if (w == "_") continue;
    if (const auto bits = ParseValue(elem, w); !bits.ok()) return std::string(bits.status().message());
  }
  for (int64_t i = 0; i < m.array.count(); ++i) {
    const uint64_t actual = tools::LoadBits(elem, m.array.bytes.data(), i);
    const std::string found =
        absl::StrCat(m.name, "[", i, "] is ", tools::FormatElement(elem, actual), " (0x", absl::Hex(actual), ")");
    if (!e.any_order) {
      const std::string& w = wanted[static_cast<size_t>(i)];
      if (!Agrees(elem, actual, w, e.ulp)) return absl::StrCat(found, ", expected ", w);
      continue;
    }
    auto match =
        std::find_if(wanted.begin(), wanted.end(), [&](const auto& w) { return Agrees(elem, actual, w, e.ulp); });
    if (match == wanted.end()) return absl::StrCat(found, ", which is not expected so often");
    wanted.erase(match);
  }
  return "";
}

bool Matches(absl::string_view report, absl::string_view expected) {
  const size_t colon = expected.find(": ");
  if (colon == absl::string_view::npos) return absl::StartsWith(report, absl::StrCat(expected, ":"));
  return absl::StartsWith(report, expected.substr(0, colon + 1)) &&
         absl::StrContains(report, expected.substr(colon + 2));
}

}  // namespace

absl::StatusOr<Arguments> Bind(const ir::Function& function, const Call& call) {
  Binder binder(function);
  for (const Field& f : call.fields) {
    if (absl::Status s = binder.Add(f, true); !s.ok()) return s;
  }
  for (const Expectation& e : call.expected) {
    const auto same_name = [&](const Field& f) { return f.name == e.field.name; };
    if (std::any_of(call.fields.begin(), call.fields.end(), same_name)) continue;
    if (absl::Status s = binder.Add(e.field, false); !s.ok()) return s;
  }
  absl::StatusOr<Arguments> arguments = binder.Finish();
  if (arguments.ok()) std::copy(call.grid, call.grid + 3, arguments->grid);
  return arguments;
}

std::string RunCall(const ir::Module& module, const Call& call, bool full_checks, const Engine& engine,
                    std::vector<Memory>* results) {
  const ir::Function* f = module.FindFunction(call.kernel);
  if (f == nullptr) return absl::StrCat("there is no kernel ", call.kernel);
  absl::StatusOr<Arguments> arguments = Bind(*f, call);
  if (!arguments.ok()) return std::string(arguments.status().message());
  const Answer answer = engine(module, call.kernel, &*arguments);
  if (!call.refused.empty()) {
    if (answer.refused.ok()) return "the kernel ran, though it should be refused";
    return absl::StrContains(answer.refused.message(), call.refused) ? "" : answer.refused.ToString();
  }
  if (!answer.refused.ok()) return answer.refused.ToString();
  const std::string& trap = full_checks && !call.full_trap.empty() ? call.full_trap : call.trap;
  if (!trap.empty()) {
    if (answer.reports.empty()) return absl::StrCat("nothing was reported, expected ", trap);
    return Matches(answer.reports[0], trap) ? "" : absl::StrCat(answer.reports[0], "\nexpected ", trap);
  }
  if (!answer.reports.empty()) return answer.reports[0];
  if (call.printed && answer.printed != *call.printed) {
    return absl::StrCat("printed \"", absl::CEscape(answer.printed), "\", expected \"", absl::CEscape(*call.printed),
                        "\"");
  }
  for (const Expectation& e : call.expected) {
    for (const Memory& m : arguments->memories) {
      if (m.name != e.field.name) continue;
      if (std::string difference = CompareMemory(m, e); !difference.empty()) return difference;
    }
  }
  if (results != nullptr) *results = std::move(arguments->memories);
  return "";
}

}  // namespace tile::ops
