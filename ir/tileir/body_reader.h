// Bodies of kernels: operations one after the other, decoded by the rows of ir/formats.def.
#ifndef TILE_IR_TILEIR_BODY_READER_H_
#define TILE_IR_TILEIR_BODY_READER_H_

#include <vector>

#include "ir/module.h"
#include "ir/tileir/attr_reader.h"
#include "ir/tileir/debug_table.h"
#include "ir/tileir/format.h"

namespace tile::ir::tileir {

class BodyReader {
 public:
  BodyReader(int version, Module* module, AttrReader* attrs, TypeTable* types, DebugTable* debug)
      : version_(version), layouts_(version), module_(module), attrs_(attrs), types_(types), debug_(debug) {}

  // Fills the body of `f` from all of `c`. `debug_function`: its number in the debug section, 0: none.
  bool Read(Cursor c, Function* f, uint64_t debug_function);

 private:
  // What one operation is made of, reused from one to the next.
  struct Parts {
    std::vector<Type> results;
    std::vector<Attr> attrs;
    std::vector<Value*> operands;
    std::vector<uint32_t> ends;
  };

  const OpInfo* ReadOpcode(Cursor& c);
  void FailPreview(Cursor& c, uint64_t at, uint64_t number);
  void ReadOp(Cursor& c, Block* block, int depth);
  void ReadResults(Cursor& c, const OpInfo* info, Parts& p);
  void ReadOperands(Cursor& c, const OpInfo* info, uint64_t flags, Parts& p);
  void ReadRegions(Cursor& c, Op* op, int depth);
  Block* ReadBlock(Cursor& c, Op* op, int region, int depth);
  Value* ReadValue(Cursor& c);
  void Define(absl::Span<Value* const> values);

  int version_;
  FormatLayouts layouts_;
  Module* module_;
  AttrReader* attrs_;
  TypeTable* types_;
  DebugTable* debug_;

  uint64_t debug_function_ = 0;
  uint64_t ordinal_ = 0;  // of the operation in its kernel, from 1
  int64_t num_ops_ = 0;   // of the module so far
  int64_t num_values_ = 0;
  std::vector<Value*> values_;  // by number; those of a region go when it ends
  Parts parts_;
};

}  // namespace tile::ir::tileir

#endif  // TILE_IR_TILEIR_BODY_READER_H_
