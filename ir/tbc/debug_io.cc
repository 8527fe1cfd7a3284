#include "ir/tbc/debug_io.h"

#include <algorithm>
#include <array>

#include "absl/container/flat_hash_map.h"
#include "ir/tbc/pools_reader.h"

namespace tile::ir {
namespace {

std::array<LocId, 4> References(const DebugRecord& r) { return {r.scope, r.file, r.callee, r.caller}; }

// Empty if all is well. Whoever follows scopes and call sites must come to an end.
std::string RecordProblem(const std::vector<DebugRecord>& records) {
  bool ordered = true;
  for (size_t i = 0; i < records.size(); ++i) {
    for (LocId r : References(records[i])) {
      if (r > records.size()) return absl::StrCat("debug record ", i + 1, " refers to ", r, ", which does not exist");
      ordered &= r <= i;
    }
  }
  if (ordered) return "";
  // Depth first with a stack of our own; 1: on the way, 2: done.
  std::vector<uint8_t> state(records.size() + 1, 0);
  std::vector<std::pair<LocId, int>> stack;
  for (LocId root = 1; root <= records.size(); ++root) {
    if (state[root] == 0) stack.push_back({root, 0});
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      state[id] = 1;
      if (next == 4) {
        state[id] = 2;
        stack.pop_back();
        continue;
      }
      const LocId to = References(records[id - 1])[next++];
      if (to != 0 && state[to] == 1) return absl::StrCat("debug record ", to, " refers to itself in a circle");
      if (to != 0 && state[to] == 0) stack.push_back({to, 0});
    }
  }
  return "";
}

class DebugReader {
 public:
  DebugReader(const fbs::Debug& from, const std::vector<Op*>& ops, Module* module, ReadContext* context)
      : from_(from), ops_(ops), module_(*module), context_(*context) {}

  bool Run() {
    if (!ReadStrings(from_.strings(), "debug string", &module_, &context_, &strings_) || !Records()) return false;
    return Locations(from_.op_locations(), "operations", ops_.size(), [&](size_t i) { return &ops_[i]->loc; }) &&
           Locations(from_.function_locations(), "kernels", module_.functions.size(),
                     [&](size_t i) { return &module_.functions[i]->loc; }) &&
           Locations(from_.global_locations(), "globals", module_.globals.size(),
                     [&](size_t i) { return &module_.globals[i]->loc; });
  }

 private:
  bool String(uint32_t number, absl::string_view* out) {
    if (number > strings_.size()) return context_.Fail("debug", "debug string ", number, " does not exist");
    if (number != 0) *out = strings_[number - 1];
    return true;
  }

  bool Records() {
    absl::Span<const fbs::DebugRecord> rows;
    if (!context_.Items(from_.records(), &rows)) return false;
    module_.debug.resize(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const fbs::DebugRecord& r = rows[i];
      DebugRecord& out = module_.debug[i];
      if (r.kind() == fbs::DebugKind::None || r.kind() > fbs::DebugKind::MAX) {
        return context_.Fail("debug", "debug record ", i + 1, " is of unknown kind ", static_cast<int>(r.kind()),
                             context_.origin());
      }
      out.kind = static_cast<DebugRecord::Kind>(r.kind());
      out.scope = r.scope();
      out.file = r.file();
      out.callee = r.callee();
      out.caller = r.caller();
      out.line = r.line();
      out.column = r.column();
      out.scope_line = r.scope_line();
      out.flags = r.flags();
      if (!String(r.name(), &out.name) || !String(r.directory(), &out.directory) ||
          !String(r.linkage_name(), &out.linkage_name)) {
        return false;
      }
    }
    const std::string problem = RecordProblem(module_.debug);
    return problem.empty() || context_.Fail("debug", problem);
  }

  template <class Place>
  bool Locations(const flatbuffers::Vector<uint32_t>* rows, absl::string_view what, size_t count, Place place) {
    absl::Span<const uint32_t> items;
    if (!context_.Items(rows, &items)) return false;
    if (items.empty()) return true;
    if (items.size() != count) return context_.Fail("debug", items.size(), " locations for ", count, " ", what);
    for (size_t i = 0; i < count; ++i) {
      if (items[i] > module_.debug.size()) return context_.Fail("debug", "location ", items[i], " does not exist");
      *place(i) = items[i];
    }
    return true;
  }

  const fbs::Debug& from_;
  const std::vector<Op*>& ops_;
  Module& module_;
  ReadContext& context_;
  std::vector<absl::string_view> strings_;
};

class DebugWriter {
 public:
  explicit DebugWriter(flatbuffers::FlatBufferBuilder* fbb) : fbb_(*fbb) {}

  absl::StatusOr<flatbuffers::Offset<fbs::Debug>> Run(const Module& module, const std::vector<const Op*>& ops) {
    if (const std::string problem = RecordProblem(module.debug); !problem.empty()) {
      return absl::InvalidArgumentError(problem);
    }
    std::vector<fbs::DebugRecord> records;
    for (const DebugRecord& r : module.debug) {
      const uint32_t name = String(r.name);
      const uint32_t directory = String(r.directory);
      const uint32_t linkage_name = String(r.linkage_name);
      records.emplace_back(static_cast<fbs::DebugKind>(r.kind), 0, 0, r.scope, r.file, r.callee, r.caller, name,
                           directory, linkage_name, r.line, r.column, r.scope_line, r.flags);
    }
    std::vector<LocId> op_locs, function_locs, global_locs;
    for (const Op* op : ops) op_locs.push_back(op->loc);
    for (const auto& f : module.functions) function_locs.push_back(f->loc);
    for (const auto& g : module.globals) global_locs.push_back(g->loc);
    for (const auto* list : {&op_locs, &function_locs, &global_locs}) {
      for (LocId loc : *list) {
        if (loc > module.debug.size()) {
          return absl::InvalidArgumentError(absl::StrCat("location ", loc, " is no debug record of the module"));
        }
      }
    }
    if (records.empty()) return flatbuffers::Offset<fbs::Debug>(0);
    const auto strings = strings_.empty() ? 0 : fbb_.CreateVectorOfStrings(strings_);
    const auto record_rows = fbb_.CreateVectorOfStructs(records);
    const auto op_rows = Locations(op_locs), function_rows = Locations(function_locs),
               global_rows = Locations(global_locs);
    return fbs::CreateDebug(fbb_, strings, record_rows, op_rows, function_rows, global_rows);
  }

 private:
  uint32_t String(absl::string_view s) {
    if (s.empty()) return 0;
    const auto [it, added] = numbers_.try_emplace(std::string(s), static_cast<uint32_t>(strings_.size() + 1));
    if (added) strings_.emplace_back(s);
    return it->second;
  }

  flatbuffers::Offset<flatbuffers::Vector<uint32_t>> Locations(const std::vector<LocId>& list) {
    const bool any = std::any_of(list.begin(), list.end(), [](LocId l) { return l != 0; });
    return any ? fbb_.CreateVector(list) : 0;
  }

  flatbuffers::FlatBufferBuilder& fbb_;
  std::vector<std::string> strings_;
  absl::flat_hash_map<std::string, uint32_t> numbers_;
};

}  // namespace

bool ReadDebug(const fbs::Debug& from, const std::vector<Op*>& ops, Module* module, ReadContext* context) {
  return DebugReader(from, ops, module, context).Run();
}

absl::StatusOr<flatbuffers::Offset<fbs::Debug>> WriteDebug(const Module& module, const std::vector<const Op*>& ops,
                                                           flatbuffers::FlatBufferBuilder* fbb) {
  return DebugWriter(fbb).Run(module, ops);
}

}  // namespace tile::ir
