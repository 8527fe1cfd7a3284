#include "ir/ttir/places.h"

namespace tile::ir::ttir {

namespace {
constexpr int kMaxSteps = 64;
}

LocId Places::Find(LocRef loc, int depth) {
  if (loc == 0 || loc > made_.size() || depth > kMaxSteps) return 0;
  if (!made_[loc - 1].done) {
    made_[loc - 1].done = true;  // what leads back here says nothing
    const LocId id = Make(tree_.locations[loc - 1], depth + 1);
    made_[loc - 1].id = id;
  }
  return made_[loc - 1].id;
}

LocId Places::Make(const Location& loc, int depth) {
  DebugRecord r;
  switch (loc.kind) {
    case Location::Kind::kUnknown: return 0;
    case Location::Kind::kAlias: {
      const auto it = tree_.aliases.find(loc.text);
      return it == tree_.aliases.end() ? 0 : Find(it->second, depth);
    }
    case Location::Kind::kName: return Find(loc.inner, depth);
    case Location::Kind::kFile: {
      if (loc.line == 0 || loc.text.size() > static_cast<size_t>(64 << 10)) return 0;
      auto [it, is_new] = files_.try_emplace(loc.text);
      if (is_new) it->second = module_.Copy(loc.text);
      r.kind = DebugRecord::Kind::kLocation;
      r.name = it->second;
      r.line = loc.line;
      r.column = loc.column;
      return Record(r);
    }
    case Location::Kind::kCallSite: {
      const LocId callee = Find(loc.inner, depth);
      return Within(callee, Find(loc.outer, depth));
    }
  }
  return 0;
}

LocId Places::Within(LocId callee, LocId caller) {
  if (callee == 0 || caller == 0) return callee != 0 ? callee : caller;
  DebugRecord r;
  r.kind = DebugRecord::Kind::kCallSite;
  r.callee = callee;
  r.caller = caller;
  return Record(r);
}

LocId Places::Record(const DebugRecord& r) {
  const Key key = {{r.name, uint64_t{r.line} << 32 | r.column}, uint64_t{r.callee} << 32 | r.caller};
  const auto [it, is_new] = known_.try_emplace(key, static_cast<LocId>(module_.debug.size() + 1));
  if (is_new) module_.debug.push_back(r);
  return it->second;
}

}  // namespace tile::ir::ttir
