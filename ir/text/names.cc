#include "ir/text/names.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ir/loops.h"
#include "ir/text/lexer.h"
#include "ir/text/number.h"

namespace tile::ir::text {
namespace {

// Can be written behind % and read back as one name.
bool IsValueName(absl::string_view s) {
  if (s.empty()) return false;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '-' && i > 0 && i + 1 < s.size() && absl::ascii_isdigit(s[i + 1])) continue;
    if (!IsNameChar(s[i])) return false;
  }
  return true;
}

// Names that readers of disassembled tile code know.
constexpr struct {
  const char *full, *brief;
} kBrief[] = {
    {"tensor_view", "tview"},          {"partition_view", "pview"}, {"strided_view", "sview"},
    {"gather_scatter_view", "gsview"}, {"broadcast", "bcast"},
};

std::string BaseOf(const Op& op) {
  absl::string_view name = op.info()->mnemonic;
  absl::ConsumePrefix(&name, "make_");
  absl::ConsumePrefix(&name, "get_");
  absl::ConsumeSuffix(&name, "_tko");
  for (const auto& b : kBrief) {
    if (name == b.full) return b.brief;
  }
  return std::string(name);
}

// "cst_1_i32", "cst_0_f32"; "cst" if the value makes no short name.
std::string ConstantName(const Op& op) {
  const int i = op.info()->format->attr_index("value");
  const Attr& value = op.attr(i);
  if (!value.present() || value.kind() != AttrKind::kDense || !value.dense().splat) return "cst";
  const Dense& d = value.dense();
  uint64_t bits = 0;
  for (size_t b = 0; b < d.bytes.size() && b < 8; ++b) bits |= uint64_t{d.bytes[b]} << (8 * b);
  std::string number = FormatNumber(d.elem, bits);
  if (const size_t e = number.find('e'); e != std::string::npos && IsFloat(d.elem)) {
    if (!absl::EndsWith(number, "e+00")) return "cst";
    number.resize(e);
    while (absl::EndsWith(number, "0")) number.pop_back();
    if (absl::EndsWith(number, ".")) number.pop_back();
  }
  if (number.size() > 8 || !IsValueName(absl::StrCat("cst_", number))) return "cst";
  if (d.elem == Elem::kI1) return number;
  return absl::StrCat("cst_", number, "_", ElemInfoOf(d.elem).spelling);
}

bool NamedTogether(const Op& op) {
  const auto& fields = op.info()->format->results;
  return op.num_results() > 1 &&
         std::any_of(fields.begin(), fields.end(), [](const FieldInfo& f) { return f.arity == Arity::kVariadic; });
}

}  // namespace

std::string Names::Unique(const std::string& base) {
  if (taken_.insert(base).second) return base;
  int& n = next_suffix_[base];
  std::string name;
  do {
    name = absl::StrCat(base, "_", ++n);
  } while (!taken_.insert(name).second);
  return name;
}

void Names::Name(const Value* v, const std::string& base) {
  const bool kept = keep_ && IsValueName(v->name);
  names_[v] = Unique(kept ? std::string(v->name) : base);
}

void Names::AddArguments(Block* block) {
  const Op* parent = block->parent();
  for (int i = 0; i < block->num_args(); ++i) {
    std::string base = absl::StrCat("arg", i);
    if (parent != nullptr) {
      const int carried = IsLoop(parent) ? CarryingLoop(*parent).carried_by(block->arg(i)) : i;
      base = carried < 0 ? "i" : absl::StrCat("iter", carried);
      // Of reduce and scan: pairs of an element and an accumulator.
      if (parent->info()->has(kElementBody)) {
        base = absl::StrCat(i % 2 == 0 ? "elem" : "acc", block->num_args() > 2 ? absl::StrCat(i / 2) : "");
      }
    }
    Name(block->arg(i), base);
  }
}

void Names::AddOp(Op* op) {
  const FormatInfo& format = *op->info()->format;
  if (op->num_results() == 0) return;
  const std::string mnemonic = format.id == Format::kConstant ? ConstantName(*op) : BaseOf(*op);
  if (NamedTogether(*op)) {
    // The text names them together, so they share what stands before #.
    absl::string_view kept = op->result(0)->name;
    kept = kept.substr(0, kept.find('#'));
    bool same = keep_ && IsValueName(kept);
    for (int i = 0; i < op->num_results(); ++i) same &= op->result(i)->name == absl::StrCat(kept, "#", i);
    const std::string base = Unique(same ? std::string(kept) : mnemonic);
    for (int i = 0; i < op->num_results(); ++i) names_[op->result(i)] = absl::StrCat(base, "#", i);
    return;
  }
  for (int i = 0; i < op->num_results(); ++i) {
    const Value* v = op->result(i);
    const std::string field = i < static_cast<int>(format.results.size()) ? format.results[i].name : "result";
    if (keep_ && IsValueName(v->name)) {
      Name(v, "");
    } else if (field.size() == 1) {
      Name(v, absl::StrCat(mnemonic, "_", field));
    } else if (op->num_results() == 1 && op->info()->has(kElementwise)) {
      names_[v] = Unique(absl::StrCat(next_number_++));
    } else {
      Name(v, field == "result" || field == "results" || field == "sizes" ? mnemonic : field);
    }
  }
}

void Names::AddBlock(Block* body) {
  if (body == nullptr) return;
  AddArguments(body);
  for (Op* op : *body) {
    AddOp(op);
    for (int r = 0; r < op->num_regions(); ++r) AddBlock(op->region(r));
  }
}

std::string Names::Of(const Value* v) const {
  const auto it = names_.find(v);
  return it == names_.end() ? "%?" : absl::StrCat("%", it->second);
}

std::string Names::Results(const Op& op) const {
  if (op.num_results() == 0) return "";
  if (NamedTogether(op)) {
    const std::string first = Of(op.result(0));
    return absl::StrCat(first.substr(0, first.find('#')), ":", op.num_results());
  }
  std::string s = Of(op.result(0));
  for (int i = 1; i < op.num_results(); ++i) absl::StrAppend(&s, ", ", Of(op.result(i)));
  return s;
}

}  // namespace tile::ir::text
