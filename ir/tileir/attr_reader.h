// Decodes attributes: inline ones, whose form follows from the operation's row, and tagged ones, whose tag says what they are
// (predicates of assume, values of hints, identities of reductions).
#ifndef TILE_IR_TILEIR_ATTR_READER_H_
#define TILE_IR_TILEIR_ATTR_READER_H_

#include "ir/attr.h"
#include "ir/tileir/tables.h"
#include "ir/tileir/type_table.h"

namespace tile::ir::tileir {

class AttrReader {
 public:
  AttrReader(int version, Module* module, StringTable* strings, TypeTable* types, ConstantTable* constants)
      : version_(version), module_(module), strings_(strings), types_(types), constants_(constants) {}

  // The attribute described by `info` (not a flag). `result`: type of the operation's first result, which constants
  // follow; may be null.
  Attr Read(Cursor& c, const AttrInfo& info, Type result);
  // A tagged hints attribute, of an entry.
  const Hints* ReadTaggedHints(Cursor& c);
  // A tagged array that must be empty: attributes of arguments, of which none is known.
  void ReadEmptyArray(Cursor& c, absl::string_view what);
  // A number of the enumeration that exists at the file's version.
  int64_t ReadEnum(Cursor& c, EnumId id);

 private:
  uint64_t ReadTag(Cursor& c, absl::string_view what);
  void FailTag(Cursor& c, uint64_t at, uint64_t tag, absl::string_view what, absl::string_view expected);
  const Hints* ReadHints(Cursor& c);
  Hint ReadHint(Cursor& c);
  Attr ReadPredicate(Cursor& c);
  Attr ReadScalars(Cursor& c);
  Scalar ReadScalar(Cursor& c);

  int version_;
  Module* module_;
  StringTable* strings_;
  TypeTable* types_;
  ConstantTable* constants_;
};

}  // namespace tile::ir::tileir

#endif  // TILE_IR_TILEIR_ATTR_READER_H_
