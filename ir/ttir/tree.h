// A TTIR module as it is written: operations with operands by name, attributes, types and regions. Nothing is resolved;
// the text must outlive it, as names point there.
//
//   Tree tree;
//   if (!ParseTtir(text, &module, &tree, &diagnostics)) …   // ir/ttir/parser.h
//   for (const Node& f : tree.functions) …                  // tt.func: name in `symbol`, arguments of regions[0].blocks[0]
#ifndef TILE_IR_TTIR_TREE_H_
#define TILE_IR_TTIR_TREE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "ir/module.h"

namespace tile::ir::ttir {

// A type of TTIR. Scalars, tensors and pointers are tiles; what describes memory names the tile that an access moves. A
// pointer to pointers is one to i64, which memory holds.
struct TtType {
  enum class Kind : uint8_t { kNone, kTile, kDescriptor, kBlockPointer };
  Kind kind = Kind::kNone;
  Type tile;
  // How the text puts it, which is no part of the type: what a pointer to pointers leads to in the end; whether the elements
  // are `ui…`.
  std::optional<Element> inner = std::nullopt;
  bool is_unsigned = false;
  friend bool operator==(const TtType& a, const TtType& b) { return a.kind == b.kind && a.tile == b.tile; }
};

// A number of a constant: sign and digits as written, or true, false.
struct Literal {
  bool negative = false;
  absl::string_view text;
};

struct Attribute {
  absl::string_view name;     // empty: a string that stands by itself
  absl::string_view text;     // word, string, or digits of a number
  std::vector<int64_t> ints;  // an integer, or the elements of an array
  bool is_string = false;
};

// Locations refer to each other by position in Tree::locations + 1; 0: unknown.
using LocRef = uint32_t;
struct Location {
  enum class Kind : uint8_t { kUnknown, kAlias, kFile, kName, kCallSite };
  Kind kind = Kind::kUnknown;
  absl::string_view text;  // alias; file
  uint32_t line = 0, column = 0;
  LocRef inner = 0, outer = 0;  // kName: inner; kCallSite: callee, caller
};

// `%a`, or `%a#1`.
struct ValueRef {
  absl::string_view name;
  uint32_t part = 0;
  SourcePos pos;
};

struct Argument {
  absl::string_view name;
  TtType type;
  std::vector<Attribute> attrs;
};

struct Successor {
  absl::string_view block;
  std::vector<ValueRef> args;
};

struct Node;
struct NodeBlock {
  absl::string_view label;  // empty: the first block of a region
  std::vector<Argument> args;
  std::vector<Node> ops;
};
struct NodeRegion {
  std::vector<NodeBlock> blocks;
};

struct ResultName {
  absl::string_view name;
  uint32_t count = 1;
};

struct Node {
  absl::string_view name;    // "arith.addi"
  absl::string_view symbol;  // @name of a function or callee
  SourcePos pos;
  LocRef loc = 0;
  std::vector<ResultName> results;
  std::vector<ValueRef> operands;
  std::vector<uint32_t> groups;          // positions among the operands at which a `[…]` list begins and ends
  std::vector<absl::string_view> words;  // slt, acq_rel, …
  std::vector<uint32_t> word_places;     // how many operands stand before each of them
  std::vector<Attribute> attrs;
  std::vector<Literal> literals;       // arith.constant
  bool splat = false, raw = false;     // of the literals: one for all elements; one string of bytes in hexadecimal
  std::vector<TtType> types, outputs;  // behind the colon; behind -> or `to`
  std::vector<Successor> successors;
  std::vector<NodeRegion> regions;

  const Attribute* attr(absl::string_view wanted) const {
    for (const Attribute& a : attrs) {
      if (a.name == wanted) return &a;
    }
    return nullptr;
  }
  int64_t number(absl::string_view wanted, int64_t otherwise) const {
    const Attribute* a = attr(wanted);
    return a == nullptr || a->ints.size() != 1 ? otherwise : a->ints[0];
  }
  absl::string_view word(absl::string_view wanted, absl::string_view otherwise = "") const {
    const Attribute* a = attr(wanted);
    return a == nullptr ? otherwise : a->text;
  }
};

struct Tree {
  std::vector<Node> functions;
  std::vector<Location> locations;
  absl::flat_hash_map<absl::string_view, LocRef> aliases;
};

}  // namespace tile::ir::ttir

#endif  // TILE_IR_TTIR_TREE_H_
