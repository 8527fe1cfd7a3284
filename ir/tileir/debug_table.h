// The debug section: which record describes the n-th operation of a function. Records go into Module::debug when first
// asked for, those they refer to before them, equal ones once; so the module holds only what it uses.
#ifndef TILE_IR_TILEIR_DEBUG_TABLE_H_
#define TILE_IR_TILEIR_DEBUG_TABLE_H_

#include <array>
#include <map>
#include <vector>

#include "ir/tileir/tables.h"

namespace tile::ir::tileir {

class DebugTable {
 public:
  DebugTable(int version, Module* module, StringTable* strings)
      : version_(version), module_(module), strings_(strings) {}
  bool Read(Cursor section);

  uint64_t num_functions() const { return starts_.size(); }
  // Record of the n-th thing of a function (0: the function itself, then its operations in preorder). `function`:
  // 1-based, 0: without debug information. Notes a failure at `c`.
  LocId Find(Cursor& c, uint64_t function, uint64_t n);

 private:
  LocId Resolve(Cursor& c, uint64_t id);
  LocId ReadReference(Cursor& c);
  uint32_t ReadNumber(Cursor& c);
  LocId Add(const DebugRecord& record);

  static constexpr int kMaxDepth = 512;  // of call sites and scopes

  int version_;
  int depth_ = 0;
  Module* module_;
  StringTable* strings_;
  std::vector<uint32_t> starts_;   // per function: its first entry in indices_
  std::vector<uint64_t> indices_;  // ids of records, 0: unknown
  OffsetTable records_;
  std::vector<LocId> resolved_;                      // per record; kUnresolved, kBusy or the id in the module
  std::map<std::array<uint64_t, 12>, LocId> known_;  // by content; equal strings are one string
};

}  // namespace tile::ir::tileir

#endif  // TILE_IR_TILEIR_DEBUG_TABLE_H_
