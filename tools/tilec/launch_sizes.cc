#include "tools/tilec/launch_sizes.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/launch_rule.h"

namespace tile::tools {
namespace {

using Given = std::pair<std::string, std::vector<int64_t>>;  // "a", {4096, 4096}

constexpr uint64_t kAddress = 4096;  // of every array: as well aligned as any

absl::Status Wrong(absl::string_view option, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(option, ": expected ", expected));
}

absl::StatusOr<std::vector<Given>> ReadArgs(const Options& options) {
  std::vector<Given> all;
  for (const std::string& text : options.values("arg")) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
    Given given{parts.first, {}};
    for (absl::string_view part : absl::StrSplit(parts.second, 'x')) {
      int64_t n = 0;
      if (!absl::SimpleAtoi(part, &n))
        return Wrong(absl::StrCat("--arg ", text), "NAME=INTEGER, or NAME=ROWSxCOLUMNS of an array");
      given.second.push_back(n);
    }
    all.push_back(std::move(given));
  }
  return all;
}

absl::Status ReadGrid(const Options& options, std::array<int64_t, 3>* grid) {
  const std::vector<std::string> parts = absl::StrSplit(options.value("grid"), ',');
  if (parts.size() > 3) return Wrong("--grid", "X[,Y[,Z]]");
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!absl::SimpleAtoi(parts[i], &(*grid)[i]) || (*grid)[i] < 1)
      return Wrong("--grid", "X[,Y[,Z]], each at least 1");
  }
  return absl::OkStatus();
}

// Integers, of which an interface says nothing.
absl::Status ByNumber(const ir::Function& kernel, const std::vector<Given>& given, codegen::LaunchSizes* sizes) {
  for (const auto& [name, values] : given) {
    int number = -1;
    if (!absl::SimpleAtoi(name, &number) || number < 0 || number >= kernel.num_params() || values.size() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("--arg ", name, ": the kernel has no interface: expected NUMBER=INTEGER, a parameter from 0 to ",
                       kernel.num_params() - 1));
    }
    sizes->params[static_cast<size_t>(number)] = values[0];
  }
  return absl::OkStatus();
}

absl::Status ByInterface(const ir::Function& kernel, const std::vector<Given>& given, int multiprocessors,
                         bool wants_grid, codegen::LaunchSizes* sizes) {
  const ir::Interface& interface = *kernel.interface;
  runtime::Arguments args = runtime::Arguments::For(interface);
  for (const auto& [name, values] : given) {
    const auto is_it = [&, wanted = name](const auto& x) { return x.name == wanted; };
    const auto array = std::find_if(interface.arrays.begin(), interface.arrays.end(), is_it);
    const auto scalar = std::find_if(interface.scalars.begin(), interface.scalars.end(), is_it);
    if (array != interface.arrays.end()) {
      args.arrays[static_cast<size_t>(array - interface.arrays.begin())] = {true, values, {}, kAddress};
    } else if (scalar != interface.scalars.end() && values.size() == 1) {
      args.scalars[static_cast<size_t>(scalar - interface.scalars.begin())] = static_cast<uint64_t>(values[0]);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("--arg ", name, ": the kernel's interface has no such array or scalar"));
    }
  }
  // What is no size does not matter.
  for (size_t i = 0; i < interface.scalars.size(); ++i) {
    const ir::ScalarArg& s = interface.scalars[i];
    if (!args.scalars[i] && s.value.empty() && !s.default_bits && ir::IsFloat(kernel.param(s.param)->type().elem()))
      args.scalars[i] = 0;
  }
  const runtime::Environment environment{multiprocessors};
  if (absl::Status s = runtime::Resolve(kernel, &args, environment); !s.ok()) return s;
  for (runtime::ArrayValue& a : args.arrays) a.address = kAddress;
  args.workspaces.assign(interface.workspaces.size(), kAddress);
  absl::StatusOr<std::vector<uint64_t>> words = runtime::MakeParams(kernel, args, environment);
  if (!words.ok()) return words.status();
  for (int i = 0; i < kernel.num_params(); ++i) {
    const ir::Type t = kernel.param(i)->type();
    const auto u = static_cast<size_t>(i);
    if (!t.element().is_pointer() && !ir::IsFloat(t.elem())) sizes->params[u] = static_cast<int64_t>((*words)[u]);
  }
  if (!wants_grid) return absl::OkStatus();
  absl::StatusOr<std::array<int64_t, 3>> grid = runtime::EvaluateGrid(kernel, args, environment);
  if (grid.ok()) sizes->grid = *grid;
  return grid.status();
}

}  // namespace

absl::StatusOr<std::optional<codegen::LaunchSizes>> ReadLaunchSizes(const Options& options, const ir::Function& kernel,
                                                                    int multiprocessors) {
  if (!options.has("arg") && !options.has("grid")) return std::nullopt;
  codegen::LaunchSizes sizes;
  sizes.params.resize(static_cast<size_t>(kernel.num_params()));
  absl::StatusOr<std::vector<Given>> given = ReadArgs(options);
  if (!given.ok()) return given.status();
  if (options.has("grid")) {
    if (absl::Status s = ReadGrid(options, &sizes.grid); !s.ok()) return s;
  } else if (kernel.interface == nullptr) {
    return absl::InvalidArgumentError("the kernel has no launch rule: --grid is needed");
  }
  const absl::Status s = kernel.interface == nullptr || (given->empty() && options.has("grid"))
                             ? ByNumber(kernel, *given, &sizes)
                             : ByInterface(kernel, *given, multiprocessors, !options.has("grid"), &sizes);
  if (!s.ok()) return s;
  return sizes;
}

}  // namespace tile::tools
