#include "ir/places.h"

#include <map>
#include <utility>

namespace tile::ir {

void KeepPlaces(Module* module) {
  const absl::string_view file = module->Copy(module->source_name.empty() ? "<input>" : module->source_name);
  std::map<std::pair<uint32_t, uint32_t>, LocId> known;
  const auto place = [&](SourcePos pos) {
    LocId& id = known[{pos.line, pos.column}];
    if (id == 0) {
      DebugRecord record;
      record.name = file;
      record.line = pos.line;
      record.column = pos.column;
      module->debug.push_back(record);
      id = static_cast<LocId>(module->debug.size());
    }
    return id;
  };
  const auto keep = [&](LocId* loc, SourcePos pos) {
    if (*loc == 0 && pos.line != 0) *loc = place(pos);
  };
  for (const auto& g : module->globals) keep(&g->loc, g->pos);
  for (const auto& f : module->functions) {
    // An entry with a scope of its own may hold locations without one.
    keep(&f->loc, f->pos);
    Walk(f->body(), [&](Op* op) { keep(&op->loc, op->pos); });
  }
}

}  // namespace tile::ir
