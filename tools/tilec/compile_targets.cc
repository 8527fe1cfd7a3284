#include "tools/tilec/compile_targets.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "codegen/assemble/ptxas.h"
#include "ir/did_you_mean.h"
#include "runtime/cuda/gpus.h"
#include "tools/cli/report.h"

namespace tile::tools {
namespace {

using codegen::FindTarget;
using codegen::Target;
using codegen::TargetNames;
using codegen::TargetOfGpu;

void Add(const Target* target, std::vector<const Target*>* targets) {
  if (std::find(targets->begin(), targets->end(), target) == targets->end()) targets->push_back(target);
}

// Every GPU's own target, without families. An assembler that is older than a GPU cannot make code for it, which costs a note, as
// the others are what was asked for.
void AddAll(std::vector<const Target*>* targets) {
  const int newest = codegen::NewestPtx();
  std::string left_out;
  for (const Target& t : codegen::AllTargets()) {
    if (t.is_family()) continue;
    if (newest == 0 || t.ptx <= newest) {
      Add(&t, targets);
    } else {
      absl::StrAppend(&left_out, left_out.empty() ? "" : ", ", t.name());
    }
  }
  if (!left_out.empty()) {
    PrintDiagnostics(absl::StrCat("warning[codegen.old_assembler]: --sm=all leaves out ", left_out,
                                  ": ptxas is older than these GPUs\n"));
  }
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

// For a number that is none's, as 95 or sm_95a, the target next to it, the older one of two: newer GPUs have what it has.
std::string Nearest(absl::string_view word) {
  constexpr int kNear = 9;
  absl::ConsumePrefix(&word, "sm_");
  if (!absl::ConsumeSuffix(&word, "a")) absl::ConsumeSuffix(&word, "f");
  int number = 0;
  if (!absl::SimpleAtoi(word, &number)) return "";
  const Target* nearest = nullptr;
  for (const Target& t : codegen::AllTargets()) {
    if (nearest == nullptr || std::abs(t.sm - number) < std::abs(nearest->sm - number)) nearest = &t;
  }
  return std::abs(nearest->sm - number) > kNear ? "" : absl::StrCat("did you mean ", nearest->name(), "?");
}

int NoTarget(const std::string& word) {
  std::vector<std::string> names = {"all", "native"};
  for (const Target& t : codegen::AllTargets()) names.push_back(t.name());
  std::string suggestion = Nearest(word);
  if (suggestion.empty()) suggestion = ir::DidYouMean(word, {names.begin(), names.end()});
  return Fail(kUsage, "usage", absl::StrCat("--sm=", word, ": no such target"),
              absl::StrCat(suggestion, suggestion.empty() ? "" : " ", "known are ", TargetNames(), ", all and native"));
}

}  // namespace

int ReadTargets(const std::vector<std::string>& lists, std::vector<const Target*>* targets) {
  for (const std::string& list : lists) {
    const std::vector<std::string> words = absl::StrSplit(list, ',', absl::SkipEmpty());
    for (const std::string& word : words) {
      if (word == "all") {
        AddAll(targets);
      } else if (word == "native") {
        if (const int exit = AddNative(targets); exit != kOk) return exit;
      } else if (const Target* t = FindTarget(word)) {
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
