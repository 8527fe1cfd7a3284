// What is prepared once for each operation: of ops.def at the start, of a second table (second_table.h) when it is first asked
// for. Thread-safe. Internal to ir/text.
//
//   const Rules& RulesOf(const OpInfo& info) { return PerOp<Rules>(info, BuildRules); }
#ifndef TILE_IR_TEXT_PER_OP_H_
#define TILE_IR_TEXT_PER_OP_H_

#include <map>
#include <mutex>
#include <vector>

#include "ir/op_info.h"

namespace tile::ir::text {

// There is one `build` for each T.
template <class T>
const T& PerOp(const OpInfo& info, T (*build)(const OpInfo&)) {
  static const auto* own = [build] {
    auto* table = new std::vector<T>();
    for (const OpInfo& op : AllOps()) table->push_back(build(op));
    return table;
  }();
  const auto index = static_cast<size_t>(info.index);
  if (index < own->size() && &AllOps()[index] == &info) return (*own)[index];
  static auto* mutex = new std::mutex;
  static auto* others = new std::map<const OpInfo*, T>;  // their addresses stay
  const std::lock_guard<std::mutex> lock(*mutex);
  const auto it = others->find(&info);
  return it != others->end() ? it->second : others->emplace(&info, build(info)).first->second;
}

}  // namespace tile::ir::text

#endif  // TILE_IR_TEXT_PER_OP_H_
