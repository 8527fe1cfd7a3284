#include "ir/debug_lines.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"

namespace tile::ir {
namespace {

class Lines {
 public:
  explicit Lines(Module* module) : module_(*module), file_name_(module->Copy(module->source_name)) {}

  void Add(Function* f) {
    scope_ = 0;
    places_.clear();
    // An entry that has a location keeps it, and its operations get places without a scope: they lie in no other
    // subprogram.
    if (f->loc == 0 && f->pos.line != 0) {
      DebugRecord r;
      r.kind = DebugRecord::Kind::kSubprogram;
      r.name = r.linkage_name = f->name;
      r.file = File();
      r.scope = unit_;
      r.line = r.scope_line = f->pos.line;
      scope_ = Record(r);
      f->loc = At(f->pos);
    }
    Walk(f->body(), [&](Op* op) {
      if (op->loc == 0 && op->pos.line != 0) op->loc = At(op->pos);
    });
  }

 private:
  LocId Record(const DebugRecord& r) {
    module_.debug.push_back(r);
    return static_cast<LocId>(module_.debug.size());
  }

  // Also the compile unit.
  LocId File() {
    if (file_ != 0) return file_;
    DebugRecord r;
    r.kind = DebugRecord::Kind::kFile;
    const size_t slash = file_name_.find_last_of('/');
    r.name = slash == absl::string_view::npos ? file_name_ : file_name_.substr(slash + 1);
    if (slash != absl::string_view::npos) r.directory = file_name_.substr(0, slash == 0 ? 1 : slash);
    file_ = Record(r);
    DebugRecord unit;
    unit.kind = DebugRecord::Kind::kCompileUnit;
    unit.file = file_;
    unit_ = Record(unit);
    return file_;
  }

  LocId At(SourcePos pos) {
    LocId& id = places_[{pos.line, pos.column}];
    if (id != 0) return id;
    DebugRecord r;
    r.kind = DebugRecord::Kind::kLocation;
    r.name = file_name_;
    r.line = pos.line;
    r.column = pos.column;
    r.scope = scope_;
    return id = Record(r);
  }

  Module& module_;
  const absl::string_view file_name_;
  LocId file_ = 0, unit_ = 0, scope_ = 0;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, LocId> places_;  // of the entry at hand
};

}  // namespace

void AddDebugLines(Module* module) {
  Lines lines(module);
  for (const auto& f : module->functions) lines.Add(f.get());
}

absl::string_view NoteOnLines(absl::string_view where) {
  if (!absl::StrContains(where, ": operation ")) return "";
  return "\n  note: the file keeps no lines, `tilevm as -g` does; `tilevm dis -n` numbers the operations";
}

}  // namespace tile::ir
