// The tables that operations index: a section holds a count, offsets and the items' data back to back.
//
//   OffsetTable table;
//   if (table.Read(section, 4, "string")) table.Item(3, at);   // the bytes of item 3
#ifndef TILE_IR_TILEIR_TABLES_H_
#define TILE_IR_TILEIR_TABLES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "ir/attr.h"
#include "ir/module.h"
#include "ir/tileir/cursor.h"

namespace tile::ir::tileir {

class OffsetTable {
 public:
  // `width`: bytes of one offset. `what` names an item in messages and must outlive the table.
  bool Read(Cursor section, int width, const char* what);
  uint64_t size() const { return offsets_.size(); }
  Cursor Item(uint64_t i) const;
  // Reads an index at `c` and gives its item; after a failure an empty cursor.
  uint64_t ReadIndex(Cursor& c) const { return c.Index(what_, size()); }

 private:
  const char* what_ = "";
  std::vector<uint64_t> offsets_;
  Cursor data_{{}, 0, nullptr};
};

// Strings are copied into the arena when first used, equal ones once: equal strings have equal addresses, and the
// copies are never larger than the section, however often they are referred to.
class StringTable {
 public:
  explicit StringTable(Module* module) : module_(module) {}
  bool Read(Cursor section);
  // A string by the index at `c`.
  absl::string_view ReadString(Cursor& c);

 private:
  Module* module_;
  OffsetTable table_;
  std::vector<std::optional<absl::string_view>> copies_;
  absl::flat_hash_set<absl::string_view> known_;
};

// Elements of constants. One copy in the arena per (item, element type, form) however many operations use it.
class ConstantTable {
 public:
  explicit ConstantTable(Module* module) : module_(module) {}
  bool Read(Cursor section) { return table_.Read(section, 8, "constant"); }
  // The constant whose index stands at `c` as the value of a tile of `type`; null after a failure.
  const Dense* ReadConstant(Cursor& c, Type type);

 private:
  const Dense* Decode(Cursor item, Elem elem, int64_t count);

  Module* module_;
  OffsetTable table_;
  std::map<std::tuple<uint64_t, Elem, int64_t>, const Dense*> decoded_;
};

}  // namespace tile::ir::tileir

#endif  // TILE_IR_TILEIR_TABLES_H_
