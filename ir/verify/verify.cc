// Module, globals and entries; how a rule becomes a diagnostic. Bodies are walked in verify_structure.cc.

#include "ir/verify/verify.h"

#include "absl/strings/str_join.h"
#include "ir/limits.h"
#include "ir/verify/verify_internal.h"

namespace tile::ir {

void Verify(const Module& module, Diagnostics* diagnostics) { verify::Verifier(module, nullptr, diagnostics).Run(); }

void Verify(const Module& module, const Reading& reading, Diagnostics* diagnostics) {
  verify::Verifier(module, &reading, diagnostics).Run();
}

namespace verify {

// --- sets of pointers -----------------------------------------------------------------------------------------------

size_t PointerSet::Find(const void* p) const {
  const size_t mask = slots_.size() - 1;
  size_t i = (reinterpret_cast<uintptr_t>(p) * 0x9E3779B97F4A7C15u >> 20) & mask;
  while (slots_[i] != nullptr && slots_[i] != p) i = (i + 1) & mask;
  return i;
}

bool PointerSet::Insert(const void* p) {
  if (2 * (size_ + 1) > slots_.size()) {
    std::vector<const void*> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const void* q : old) {
      if (q != nullptr) slots_[Find(q)] = q;
    }
  }
  const size_t i = Find(p);
  if (slots_[i] == p) return false;
  slots_[i] = p;
  ++size_;
  return true;
}

// --- reports --------------------------------------------------------------------------------------------------------

namespace {

// What to do about a rule that says nothing more special: what it asks for, and where that is written.
std::string FixOf(const RuleInfo& info, const Op* op) {
  std::string fix = absl::StrCat("what must hold: ", info.text);
  while (!fix.empty() && fix.back() == '.') fix.pop_back();
  if (op != nullptr) absl::StrAppend(&fix, "; `tilevm ops ", op->info()->mnemonic, "` has the types");
  return fix;
}

}  // namespace

const Reading::Entry* Verifier::PlacesOf(const Function& function) const {
  if (reading_ == nullptr) return nullptr;
  const auto it = reading_->entries.find(&function);
  return it == reading_->entries.end() ? nullptr : &it->second;
}

void Verifier::Report(Rule rule, const Op* op, LocId loc, SourcePos pos, absl::string_view subject,
                      absl::string_view message, absl::string_view fix) {
  const RuleInfo& info = AllRules()[static_cast<int>(rule)];
  std::string code = info.Code();
  if (code.empty()) code = info.CodeFor(*op->info());
  const std::string text = subject.empty() ? std::string(message) : absl::StrCat(subject, ": ", message);
  const std::string where = module_.Where(loc, pos);
  std::string rule_text;
  if (fix.empty()) {
    rule_text = FixOf(info, op);
    fix = rule_text;
  }
  if (info.severity == Severity::kError) {
    diagnostics_->Error(code, where, text, fix);
  } else {
    diagnostics_->Warning(code, where, text, fix);
  }
}

void OpCheck::Fail(Rule rule, absl::string_view message, absl::string_view fix) {
  failed = true;
  verifier.Report(rule, &op, op.loc, op.pos, op.info()->mnemonic, message, fix);
}

std::string List(absl::Span<const int64_t> numbers) { return absl::StrCat("[", absl::StrJoin(numbers, ", "), "]"); }

bool IsGoodName(absl::string_view name) {
  for (char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return false;
  }
  return !name.empty() && static_cast<int64_t>(name.size()) <= static_cast<int64_t>(kMaxNameBytes);
}

bool CanonicalBits(const Dense& dense) {
  uint8_t unused = 0;  // of each byte
  size_t stride = 1;
  switch (dense.elem) {
    case Elem::kI1: unused = 0xFE; break;
    case Elem::kI4:
    case Elem::kF4E2M1FN: unused = 0xF0; break;
    case Elem::kTF32: stride = 4; break;
    default: return true;
  }
  for (size_t i = 0; i < dense.bytes.size(); i += stride) {
    if (dense.bytes[i] & unused) return false;
    if (stride == 4 && (dense.bytes[i] != 0 || (dense.bytes[i + 1] & 0x1F) != 0)) return false;
  }
  return true;
}

// --- module ---------------------------------------------------------------------------------------------------------

const Global* Verifier::FindGlobal(absl::string_view name) const {
  auto it = globals_.find(name);
  return it == globals_.end() ? nullptr : it->second;
}

void Verifier::Run() {
  CheckSymbols();
  if (reading_ == nullptr || !reading_->lacks_debug) CheckDebugRecords();
  for (const auto& g : module_.globals) CheckGlobal(*g);
  for (const auto& f : module_.functions) {
    if (full()) return;
    CheckFunction(*f);
  }
}

void Verifier::CheckSymbols() {
  absl::flat_hash_map<absl::string_view, bool> seen;
  const auto check = [&](absl::string_view name, LocId loc, SourcePos pos, const char* what) {
    if (!IsGoodName(name)) {
      Report(Rule::kSymbolName, nullptr, loc, pos, what, "the name is empty, too long or has control characters",
             "name it with letters, digits and _");
    }
    if (!seen.emplace(name, true).second) {
      Report(Rule::kSymbolUnique, nullptr, loc, pos, what, absl::StrCat("@", name, " is defined twice"),
             "rename one of them");
    }
  };
  for (const auto& g : module_.globals) {
    check(g->name, g->loc, g->pos, "global");
    globals_.emplace(g->name, g.get());
  }
  for (const auto& f : module_.functions) check(f->name, f->loc, f->pos, "entry");
}

void Verifier::CheckGlobal(const Global& g) {
  const auto fail = [&](Rule rule, const std::string& message, absl::string_view fix = "") {
    Report(rule, nullptr, g.loc, g.pos, absl::StrCat("global @", g.name), message, fix);
  };
  const Dense& v = g.value;
  if (reading_ == nullptr || !reading_->lacks_debug) CheckGlobalLocation(g);
  if (!IsNum(v.elem) || g.count <= 0 || !g.type || !g.type.is_tile() || g.type.element() != Element::Number(v.elem) ||
      g.type.shape() != absl::Span<const int64_t>({g.count})) {
    return fail(Rule::kGlobalType, absl::StrCat("the type is ", g.type ? g.type.ToString() : "missing", ", the value ",
                                                g.count, " of ", ElemInfoOf(v.elem).spelling));
  }
  CheckType(g.type, nullptr, nullptr);
  const uint64_t size = StorageBytes(v.elem);
  const uint64_t held = v.bytes.size() / size;
  if (v.bytes.size() % size != 0 || held != (v.splat ? 1 : static_cast<uint64_t>(g.count))) {
    fail(Rule::kGlobalValue, absl::StrCat("the value has ", held, " elements, ", g.type.ToString(), " needs ", g.count),
         "give one element for all, or each of them");
  } else if (!CanonicalBits(v)) {
    fail(Rule::kGlobalBits, absl::StrCat("an element has bits that ", ElemInfoOf(v.elem).spelling, " does not use"));
  }
  if (g.alignment != 0 &&
      (!IsPowerOfTwo(static_cast<int64_t>(g.alignment)) || g.alignment < size || g.alignment > kMaxAlignment)) {
    fail(Rule::kGlobalAlignment, absl::StrCat("alignment ", g.alignment, " of ", ElemInfoOf(v.elem).spelling),
         "use 0 for the natural alignment");
  }
}

// --- entries --------------------------------------------------------------------------------------------------------

void Verifier::CheckFunction(const Function& f) {
  const auto fail = [&](Rule rule, const std::string& message, absl::string_view fix = "") {
    Report(rule, nullptr, f.loc, f.pos, absl::StrCat("entry @", f.name), message, fix);
  };
  if (f.num_params() > kMaxArguments) fail(Rule::kEntryParams, absl::StrCat("has ", f.num_params(), " parameters"));
  bool params_ok = true;
  const Reading::Entry* places = PlacesOf(f);
  for (int i = 0; i < f.num_params() && !full(); ++i) {
    const Type t = f.param(i)->type();
    const SourcePos pos = places != nullptr ? places->params[i] : f.pos;
    if (!CheckType(t, nullptr, &f, pos)) {
      params_ok = false;
    } else if (!LeftOut(f) && (!t.is_scalar() || t.elem() == Elem::kI4)) {
      params_ok = false;
      Report(Rule::kEntryParams, nullptr, f.loc, pos, absl::StrCat("entry @", f.name),
             absl::StrCat("parameter ", i, " is ", t.ToString()),
             "pass scalars and pointers, and make tiles and views of them in the body");
    }
  }
  const int* c = f.blocks_per_cluster;
  for (int d = 0; d < 3; ++d) {
    if (c[d] >= 1 && c[d] <= 16 && (d > 0 || (c[1] <= 16 && c[2] <= 16 && c[0] * c[1] * c[2] <= 16))) continue;
    fail(Rule::kEntryCluster, absl::StrCat("blocks_per_cluster is (", c[0], ", ", c[1], ", ", c[2], ")"));
    break;
  }
  if (f.hints != nullptr) CheckHints(*f.hints, nullptr, &f);
  if (reading_ == nullptr || !reading_->lacks_debug) CheckEntryLocation(f);
  if (f.interface != nullptr && params_ok) CheckInterface(f);
  shared_bytes = 0;
  CheckBody(*this, f);
  if (diagnostics_->ok()) CheckOutputs(f);  // of what is wrong otherwise it would be one complaint more
}

}  // namespace verify
}  // namespace tile::ir
