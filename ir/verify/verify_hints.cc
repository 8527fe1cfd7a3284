// Optimisation hints (semantics 9.8). They never change results, so a hint without effect is a warning.

#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {
namespace {

enum Place : uint8_t { kOnEntry = 1, kOnView = 2, kOnPointer = 4 };

struct HintRow {
  absl::string_view name;
  uint8_t places;
  Hint::Kind kind;
  int64_t least, most;
  bool power_of_two;
};
constexpr HintRow kRows[] = {
    {"num_cta_in_cga", kOnEntry, Hint::Kind::kInt, 1, 16, true},
    {"occupancy", kOnEntry, Hint::Kind::kInt, 1, 32, false},
    {"num_worker_warps_per_cta", kOnEntry, Hint::Kind::kInt, 1, 32, true},
    {"allow_tma", kOnView, Hint::Kind::kBool, 0, 1, false},
    {"latency", kOnView | kOnPointer, Hint::Kind::kInt, 1, 10, false},
};

constexpr absl::string_view kArchs[] = {"sm_80",  "sm_86",  "sm_87",  "sm_88",  "sm_89",  "sm_90",  "sm_100",
                                        "sm_103", "sm_107", "sm_110", "sm_120", "sm_121", "default"};

bool IsKnown(absl::string_view arch) {
  for (absl::string_view a : kArchs) {
    if (a == arch) return true;
  }
  return false;
}

const HintRow* Find(absl::string_view name) {
  for (const HintRow& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

void Verifier::CheckHints(const Hints& hints, const Op* op, const Function* function) {
  const uint8_t place = op == nullptr ? kOnEntry : op->info()->family == Family::kView ? kOnView : kOnPointer;
  const auto warn = [&](Rule rule, const std::string& message) {
    Report(rule, op, op ? op->loc : function->loc, op ? op->pos : function->pos,
           op ? op->info()->mnemonic : absl::StrCat("entry @", function->name), message, "");
  };
  for (const ArchHints& arch : hints.archs) {
    if (!IsKnown(arch.arch)) {
      warn(Rule::kHintArch, absl::StrCat("hints for the unknown architecture ", arch.arch, " have no effect"));
      continue;
    }
    for (const Hint& h : arch.hints) {
      const HintRow* row = Find(h.name);
      if (row == nullptr || !(row->places & place)) {
        warn(Rule::kHintName, absl::StrCat("the hint ", h.name, row ? " has no effect here" : " is unknown"));
        continue;
      }
      const bool early = arch.arch.size() == 5 && arch.arch < absl::string_view("sm_90");
      const int64_t most = early && row->name == "num_cta_in_cga" ? 1 : row->most;
      if (h.kind == row->kind && h.number >= row->least && h.number <= most &&
          (!row->power_of_two || IsPowerOfTwo(h.number))) {
        continue;
      }
      warn(Rule::kHintValue,
           absl::StrCat(h.name, " for ", arch.arch, " must be ", row->power_of_two ? "a power of two " : "",
                        h.kind == row->kind              ? ""
                        : row->kind == Hint::Kind::kBool ? "true or false, "
                                                         : "an integer ",
                        "from ", row->least, " to ", most,
                        h.kind == Hint::Kind::kInt ? absl::StrCat(", not ", h.number) : ""));
    }
  }
}

}  // namespace tile::ir::verify
