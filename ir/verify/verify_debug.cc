// Debug information (semantics 9.9): records refer to the right kinds, never to themselves, and scopes fit entries.

#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {
namespace {

using Kind = DebugRecord::Kind;

constexpr uint32_t kFile = Bits(Kind::kFile), kUnit = Bits(Kind::kCompileUnit),
                   kScope = Bits(Kind::kSubprogram, Kind::kLexicalBlock),
                   kPlace = Bits(Kind::kLocation, Kind::kCallSite);

// What a record may refer to; `may_miss`: or to nothing.
struct Reference {
  LocId to;
  uint32_t kinds;
  bool may_miss;
};
struct References {
  Reference list[3];
  int n;
};

References ReferencesOf(const DebugRecord& r) {
  switch (r.kind) {
    case Kind::kCompileUnit: return {{{r.file, kFile, true}}, 1};
    case Kind::kFile: return {{}, 0};
    case Kind::kLexicalBlock: return {{{r.scope, kScope, false}, {r.file, kFile, true}}, 2};
    case Kind::kLocation: return {{{r.scope, kScope, true}}, 1};
    case Kind::kSubprogram: return {{{r.scope, kUnit, true}, {r.file, kFile, true}}, 2};
    case Kind::kCallSite: return {{{r.callee, kPlace, true}, {r.caller, kPlace, true}}, 2};
  }
  return {{}, -1};
}

bool IsOfKind(const DebugRecord* r, uint32_t kinds) { return r != nullptr && (kinds & Bits(r->kind)); }

// The record that decides in which subprogram this one lies, 0 if none does.
LocId Outer(const DebugRecord& r) {
  if (r.kind == Kind::kLexicalBlock || r.kind == Kind::kLocation) return r.scope;
  return r.kind == Kind::kCallSite ? r.caller : 0;
}

}  // namespace

void Verifier::CheckDebugRecords() {
  const std::vector<DebugRecord>& debug = module_.debug;
  if (debug.empty()) return;
  const auto fail = [&](Rule rule, size_t i, const std::string& message) {
    Report(rule, nullptr, 0, SourcePos(), absl::StrCat("debug record ", i + 1), message, "");
  };
  bool good = true;
  for (size_t i = 0; i < debug.size() && !full(); ++i) {
    const References refs = ReferencesOf(debug[i]);
    if (refs.n < 0) {
      fail(Rule::kDebugRef, i, "is of an unknown kind");
      good = false;
    }
    for (int k = 0; k < refs.n; ++k) {
      const Reference& ref = refs.list[k];
      if ((ref.to == 0 && ref.may_miss) || IsOfKind(module_.FindDebug(ref.to), ref.kinds)) continue;
      fail(Rule::kDebugRef, i, absl::StrCat("refers to record ", ref.to, ", which is missing or of the wrong kind"));
      good = false;
    }
  }
  if (!good) return;

  // Records that refer only to records already done are done; what is left over goes round in circles.
  std::vector<uint8_t> waits(debug.size());
  std::vector<std::vector<LocId>> waiting(debug.size());
  std::vector<LocId> ready;
  for (size_t i = 0; i < debug.size(); ++i) {
    const References refs = ReferencesOf(debug[i]);
    for (int k = 0; k < refs.n; ++k) {
      if (refs.list[k].to == 0) continue;
      waiting[refs.list[k].to - 1].push_back(static_cast<LocId>(i + 1));
      ++waits[i];
    }
    if (waits[i] == 0) ready.push_back(static_cast<LocId>(i + 1));
  }
  std::vector<LocId> subprograms(debug.size());
  for (size_t done = 0; done < ready.size(); ++done) {
    const LocId id = ready[done];
    const DebugRecord& r = debug[id - 1];
    const LocId outer = Outer(r);
    subprograms[id - 1] = r.kind == Kind::kSubprogram ? id : outer == 0 ? 0 : subprograms[outer - 1];
    for (LocId w : waiting[id - 1]) {
      if (--waits[w - 1] == 0) ready.push_back(w);
    }
  }
  if (ready.size() == debug.size()) {
    subprograms_ = std::move(subprograms);
    return;
  }
  for (size_t i = 0; i < debug.size(); ++i) {
    if (waits[i] != 0) return fail(Rule::kDebugCycle, i, "leads back to itself");
  }
}

bool Verifier::LocationExists(LocId loc, SourcePos pos, absl::string_view subject) {
  if (IsOfKind(module_.FindDebug(loc), kPlace)) return !subprograms_.empty();
  Report(Rule::kDebugRef, nullptr, 0, pos, subject, absl::StrCat("its location ", loc, " is no location or call site"),
         "");
  return false;
}

void Verifier::CheckEntryLocation(const Function& f) {
  if (f.loc == 0) return;
  const std::string subject = absl::StrCat("entry @", f.name);
  if (!LocationExists(f.loc, f.pos, subject)) return;
  const DebugRecord& place = *module_.FindDebug(f.loc);
  if (place.kind == Kind::kCallSite) {
    return Report(Rule::kDebugCallSite, nullptr, f.loc, f.pos, subject, "its location is a call site", "");
  }
  const DebugRecord* scope = module_.FindDebug(place.scope);
  if (scope == nullptr || (scope->kind == Kind::kSubprogram && scope->linkage_name == f.name)) return;
  Report(Rule::kDebugEntry, nullptr, f.loc, f.pos, subject,
         scope->kind == Kind::kSubprogram ? absl::StrCat("its scope has the linkage name ", scope->linkage_name)
                                          : std::string("its scope is no subprogram"),
         "");
}

void Verifier::CheckGlobalLocation(const Global& g) {
  if (g.loc == 0) return;
  const std::string subject = absl::StrCat("global @", g.name);
  if (!LocationExists(g.loc, g.pos, subject) || subprograms_[g.loc - 1] == 0) return;
  Report(Rule::kDebugGlobal, nullptr, g.loc, g.pos, subject, "its location has a scope", "");
}

void Verifier::CheckLocation(const Op& op, const Function& f) {
  if (!LocationExists(op.loc, op.pos, op.info()->mnemonic)) return;
  const LocId scope = subprograms_[op.loc - 1];
  const LocId of_entry = f.loc == 0 || f.loc > subprograms_.size() ? 0 : subprograms_[f.loc - 1];
  if (scope == 0 || scope == of_entry) return;
  Report(Rule::kDebugOp, nullptr, op.loc, op.pos, op.info()->mnemonic,
         of_entry == 0 ? "has a scope, but its entry has none" : "lies in another subprogram than its entry", "");
}

}  // namespace tile::ir::verify
