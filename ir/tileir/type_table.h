// The type section. Items may refer forward, so they are decoded when first asked for; a type that contains itself is
// an error.
#ifndef TILE_IR_TILEIR_TYPE_TABLE_H_
#define TILE_IR_TILEIR_TYPE_TABLE_H_

#include <optional>
#include <vector>

#include "ir/tileir/tables.h"
#include "ir/type.h"

namespace tile::ir::tileir {

class TypeTable {
 public:
  TypeTable(int version, TypeContext* types) : version_(version), types_(types) {}
  bool Read(Cursor section);

  // The type whose index stands at `c`: of a value (tile, view, token), of an element, or a function's. After a
  // failure: null, i1.
  Type ReadValueType(Cursor& c) { return ReadKind(c, Kind::kValue).type; }
  Type ReadFunctionType(Cursor& c) { return ReadKind(c, Kind::kFunction).type; }
  Element ReadElement(Cursor& c) { return ReadKind(c, Kind::kElement).element; }

 private:
  enum class State : uint8_t { kNew, kBusy, kDone };
  enum class Kind : uint8_t { kElement, kValue, kFunction };
  struct Item {
    State state = State::kNew;
    Kind kind = Kind::kElement;
    Element element;
    Type type;
  };

  Item ReadKind(Cursor& c, Kind kind);
  Item Resolve(uint64_t index, Cursor& from);
  Item Decode(Cursor& c);
  Item Value(Type t) { return {State::kDone, Kind::kValue, {}, t}; }
  uint64_t ReadFlags(Cursor& c, int since, bool padding);
  std::vector<int64_t> ReadTileShape(Cursor& c);
  Type ReadTensor(Cursor& c);
  Type DecodeTile(Cursor& c);
  Type DecodeTensorView(Cursor& c);
  Type DecodePartitionView(Cursor& c);
  Type DecodeStridedView(Cursor& c);
  Type DecodeGatherScatterView(Cursor& c);
  Type DecodeFunction(Cursor& c);
  std::vector<int64_t> ReadDimMap(Cursor& c, size_t rank);
  std::optional<Padding> ReadPadding(Cursor& c, uint64_t present);

  static constexpr int kMaxDepth = 8;

  int version_;
  int depth_ = 0;
  TypeContext* types_;
  OffsetTable table_;
  std::vector<Item> items_;
};

}  // namespace tile::ir::tileir

#endif  // TILE_IR_TILEIR_TYPE_TABLE_H_
