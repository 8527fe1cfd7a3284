#include "tools/tilec/compile_targets.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/did_you_mean.h"
#include "runtime/cuda/gpus.h"
#include "tools/cli/report.h"

namespace tile::tools {
namespace {

using codegen::Target;

// By what users write: 90, 90a, sm_90, sm_90a. Null: no target.
const Target* FindByName(absl::string_view name) {
  absl::ConsumePrefix(&name, "sm_");
  for (const Target& t : codegen::AllTargets()) {
    if (name == absl::StrCat(t.sm) || absl::StrCat("sm_", name) == t.arch) return &t;
  }
  return nullptr;
}

void Add(const Target* target, std::vector<const Target*>* targets) {
  if (std::find(targets->begin(), targets->end(), target) == targets->end()) targets->push_back(target);
}

int AddNative(std::vector<const Target*>* targets) {
  absl::StatusOr<runtime::GpuList> list = runtime::ListGpus();
  if (!list.ok()) return Fail(kEnvironment, "codegen.native", list.status());
  for (const runtime::Gpu& gpu : list->gpus) {
    const Target* t = TargetOfGpu(gpu.sm);
    if (t == nullptr) {
      return Fail(
          kEnvironment, "codegen.native",
          absl::StrCat("--sm=native: this machine's ", gpu.name, " is an sm_", gpu.sm, ", which no target is for"),
          absl::StrCat("compile PTX for an older one, which the driver translates; targets are ", TargetNames()));
    }
    Add(t, targets);
  }
  return kOk;
}

int NoTarget(const std::string& word) {
  std::vector<std::string> names = {"all", "native"};
  for (const Target& t : codegen::AllTargets()) names.push_back(absl::StrCat(t.sm));
  const std::string suggestion = ir::DidYouMean(word, {names.begin(), names.end()});
  return Fail(kUsage, "usage", absl::StrCat("--sm=", word, ": no such target"),
              absl::StrCat(suggestion, suggestion.empty() ? "" : " ", "known are ", TargetNames(), ", all and native"));
}

}  // namespace

const Target* TargetOfGpu(int sm) {
  const Target* best = nullptr;
  for (const Target& t : codegen::AllTargets()) {
    if (t.sm == sm) return &t;
    // Code of an `a` form runs on its own GPU only, other code on later ones of the generation.
    const bool runs = t.sm / 10 == sm / 10 && t.sm < sm && !absl::EndsWith(t.arch, "a");
    if (runs && (best == nullptr || t.sm > best->sm)) best = &t;
  }
  return best;
}

std::string TargetNames() {
  std::string names;
  for (const Target& t : codegen::AllTargets()) absl::StrAppend(&names, names.empty() ? "" : ", ", t.sm);
  return names;
}

int ReadTargets(const std::vector<std::string>& lists, std::vector<const Target*>* targets) {
  for (const std::string& list : lists) {
    const std::vector<std::string> words = absl::StrSplit(list, ',', absl::SkipEmpty());
    for (const std::string& word : words) {
      if (word == "all") {
        for (const Target& t : codegen::AllTargets()) Add(&t, targets);
      } else if (word == "native") {
        if (const int exit = AddNative(targets); exit != kOk) return exit;
      } else if (const Target* t = FindByName(word)) {
        Add(t, targets);
      } else {
        return NoTarget(word);
      }
    }
  }
  if (!targets->empty()) return kOk;
  return Fail(
      kUsage, "usage", "no --sm",
      absl::StrCat("say which GPU to compile for, for example --sm=90; known are ", TargetNames(), ", all and native"));
}

}  // namespace tile::tools
