// The program in memory: SSA values with structured regions. A Module owns everything below it in one arena; ops stand in
// doubly linked lists inside blocks, every region has exactly one block, every value knows its uses.
//
//   Module m;
//   Function* f = m.AddFunction("k", {m.types().Scalar(Element::Pointer(Elem::kF32))});
//   Builder b(&m, f->body());                     // ir/builder.h
//   Value* id = b.Create(Opcode::kGetTileBlockId, {}, {i32, i32, i32})->result(0);
//
//   for (Op* op : *f->body()) …                   // in order
//   LoadPtrOp(op).mask();                         // by its view, ir/op_views.h; by position: op->operand(i)
//   op->operand("mask"), op->attr("rounding");    // by name: for what works on any operation, and for tests
//
// Not thread-safe for writing; any number of threads may read.
#ifndef TILE_IR_MODULE_H_
#define TILE_IR_MODULE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/arena.h"
#include "ir/attr.h"
#include "ir/interface.h"
#include "ir/op_info.h"
#include "ir/type.h"

namespace tile::ir {

class Block;
class Function;
class Module;
class Op;
class Value;

// One operand: a link in the list of uses of its value.
struct Use {
  Value* value = nullptr;
  Op* owner = nullptr;
  Use* next = nullptr;
  Use** link = nullptr;  // what points to this use
};

class Value {
 public:
  Type type() const { return type_; }
  void set_type(Type t) { type_ = t; }
  Op* def() const { return def_; }         // null for a block argument
  Block* block() const { return block_; }  // of a block argument
  int index() const { return index_; }     // among results or arguments
  Use* uses() const { return uses_; }
  bool has_uses() const { return uses_ != nullptr; }
  void ReplaceAllUsesWith(Value* other);

  absl::string_view name;  // as in the text, without %; may be empty
  int32_t id = -1;         // scratch of whoever numbers values at the moment

 private:
  friend class Module;
  friend class Block;
  friend class Op;
  friend class Arena;
  Type type_;
  Op* def_ = nullptr;
  Block* block_ = nullptr;
  int index_ = 0;
  Use* uses_ = nullptr;
};

// Where a line of text stands; 1-based, 0: unknown.
struct SourcePos {
  uint32_t line = 0, column = 0;
};

// Debug information (semantics 9.9). Records refer to each other by id: position in Module::debug + 1; 0: unknown.
using LocId = uint32_t;
struct DebugRecord {
  enum class Kind : uint8_t {
    kCompileUnit = 1,
    kFile = 2,
    kLexicalBlock = 3,
    kLocation = 4,
    kSubprogram = 5,
    kCallSite = 6
  };
  Kind kind = Kind::kLocation;
  LocId scope = 0;                 // lexical block: parent; location: scope; subprogram: compile unit
  LocId file = 0;                  // compile unit, lexical block, subprogram: a file record
  LocId callee = 0, caller = 0;    // call site
  absl::string_view name;          // file, subprogram; location: file name
  absl::string_view directory;     // file
  absl::string_view linkage_name;  // subprogram
  uint32_t line = 0, column = 0;   // column: lexical block, location
  uint32_t scope_line = 0;         // subprogram
  uint32_t flags = 0;              // subprogram, 13.5
};

class Block {
 public:
  int num_args() const { return static_cast<int>(args_.size()); }
  Value* arg(int i) const { return args_[i]; }
  absl::Span<Value* const> args() const { return args_; }
  Op* parent() const { return parent_; }  // null: the body of a function
  int region_index() const { return region_index_; }
  Function* function() const;
  bool empty() const { return first_ == nullptr; }
  Op* front() const { return first_; }
  Op* back() const { return last_; }
  // The op that ends the block, or null.
  Op* terminator() const;

  class Iterator {
   public:
    explicit Iterator(Op* op) : op_(op) {}
    Op* operator*() const { return op_; }
    Iterator& operator++();
    friend bool operator==(Iterator, Iterator) = default;

   private:
    Op* op_;
  };
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(nullptr); }

 private:
  friend class Module;
  friend class Op;
  Op* parent_ = nullptr;
  Function* function_ = nullptr;
  int region_index_ = 0;
  absl::Span<Value* const> args_;
  Op* first_ = nullptr;
  Op* last_ = nullptr;
};

// What a compiler decided about an operation, beside the attributes of its format: its later passes read it. `info`, the name
// and kind, is a row of a table of the compiler's own (codegen/target/decisions.def). Stored programs have none.
struct Annotation {
  const AttrInfo* info = nullptr;
  Attr value;
  Annotation* next = nullptr;
};

class Op {
 public:
  const OpInfo* info() const { return info_; }
  Opcode opcode() const { return info_->opcode; }
  Block* block() const { return block_; }  // null while not inserted
  Op* prev() const { return prev_; }
  Op* next() const { return next_; }
  Op* parent() const { return block_ ? block_->parent() : nullptr; }

  int num_operands() const { return num_operands_; }
  Value* operand(int i) const { return operands_[i].value; }
  // Which operand of this operation the use is.
  int position(const Use& use) const { return static_cast<int>(&use - operands_); }
  void set_operand(int i, Value* v);
  // The operand of a field that is not `...`; null if it is absent. A name that the format lacks ends the process.
  Value* operand(absl::string_view field) const;
  // Operands of a field by its position in the format; of a `...` field any number.
  int group_begin(int field) const { return field == 0 ? 0 : operand_ends_[field - 1]; }
  int group_end(int field) const { return operand_ends_[field]; }
  std::vector<Value*> group(absl::string_view field) const;

  int num_results() const { return num_results_; }
  Value* result(int i) const { return &results_[i]; }
  // The result of a field that is not `...`; null if it is absent.
  Value* result(absl::string_view field) const;

  const Attr& attr(int i) const { return attrs_[i]; }
  const Attr& attr(absl::string_view name) const;
  void set_attr(int i, Attr a) { attrs_[i] = a; }
  void set_attr(absl::string_view name, Attr a);

  int num_regions() const { return num_regions_; }
  Block* region(int i) const { return regions_[i]; }  // its one block; null: an empty region (no block)
  void set_region(int i, Block* b);

  // The first one, in the order in which they were set; null: there is none.
  const Annotation* annotations() const { return annotations_; }
  // Not present if the op has no such annotation.
  Attr annotation(const AttrInfo& info) const;
  void DropAnnotations() { annotations_ = nullptr; }

  LocId loc = 0;  // debug information, part of the program
  SourcePos pos;  // line of the text it was read from; not part of the program

  // Takes the op out of its block. Its memory stays in the arena.
  void Unlink();
  // Gives up the operands, so that their definitions may go.
  void DropOperands();
  // Unlink and give up its operands. No result may be used.
  void Erase();
  bool unused() const;  // no result has uses

 private:
  friend class Module;
  friend class Block;
  const OpInfo* info_ = nullptr;
  Block* block_ = nullptr;
  Op *prev_ = nullptr, *next_ = nullptr;
  Use* operands_ = nullptr;
  Value* results_ = nullptr;
  Attr* attrs_ = nullptr;
  Annotation* annotations_ = nullptr;
  Block** regions_ = nullptr;
  uint32_t* operand_ends_ = nullptr;  // per operand field
  uint32_t num_operands_ = 0, num_results_ = 0;
  uint16_t num_regions_ = 0;
};

// What Module::CreateOp needs. Operands are given per field of the format, in order; a result field that is optional or
// `...` follows from the number of result types.
struct OpSpec {
  const OpInfo* info = nullptr;
  absl::Span<Value* const> operands;
  absl::Span<const uint32_t> operand_ends;  // one per operand field: end of the field's operands
  absl::Span<const Type> results;
  absl::Span<const Attr> attrs;  // one per attribute of the format; not present: default
  LocId loc = 0;
  SourcePos pos;
};

// A kernel.
class Function {
 public:
  absl::string_view name;
  Visibility visibility = Visibility::kPublic;
  const Hints* hints = nullptr;  // may be null
  int blocks_per_cluster[3] = {1, 1, 1};
  std::unique_ptr<Interface> interface;  // may be null
  LocId loc = 0;
  SourcePos pos;

  Module* module() const { return module_; }
  Block* body() const { return body_; }
  int num_params() const { return body_->num_args(); }
  Value* param(int i) const { return body_->arg(i); }

 private:
  friend class Module;
  Module* module_ = nullptr;
  Block* body_ = nullptr;
};

struct Global {
  absl::string_view name;
  Dense value;             // value.splat: one element for all `count`
  int64_t count = 0;       // elements
  uint64_t alignment = 0;  // bytes; 0: natural
  bool constant = false;
  Visibility visibility = Visibility::kPublic;
  Type type;  // tile<count x elem>
  LocId loc = 0;
  SourcePos pos;
};

class Module {
 public:
  Module();
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  std::string name = "kernels";
  std::string producer;
  std::string source_name;  // file it was read from, for diagnostics; not part of the program
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<std::unique_ptr<Global>> globals;  // AddGlobal adds; none goes, and none gets another name
  std::vector<DebugRecord> debug;                // strings live in the arena

  TypeContext& types() { return types_; }
  Arena& arena() { return arena_; }
  absl::string_view Copy(absl::string_view s) { return arena_.Copy(s); }

  Function* AddFunction(absl::string_view name, absl::Span<const Type> params);
  Global* AddGlobal(absl::string_view name, Elem elem, int64_t count);
  Function* FindFunction(absl::string_view name) const;  // null if there is none
  Global* FindGlobal(absl::string_view name) const;      // the first of several; takes no longer where there are many
  const DebugRecord* FindDebug(LocId id) const { return id == 0 || id > debug.size() ? nullptr : &debug[id - 1]; }

  // A block with arguments, not yet in a region.
  Block* CreateBlock(absl::Span<const Type> args);
  // An op not yet in a block; missing attributes take their defaults, regions are empty.
  Op* CreateOp(const OpSpec& spec);
  void Append(Block* block, Op* op) { InsertBefore(block, nullptr, op); }
  // Before `where`, or at the end if it is null.
  void InsertBefore(Block* block, Op* where, Op* op);
  // In place of an earlier annotation of this kind, or behind the others. `info` and what the value points to must outlive the
  // module.
  void Annotate(Op* op, const AttrInfo& info, Attr value);

  // "file:line:col" of an op, or of the text line it was read from; without either the file, or "<unknown>".
  std::string Where(LocId loc, SourcePos pos) const;

 private:
  Arena arena_;
  TypeContext types_;
  absl::flat_hash_map<absl::string_view, Global*> global_by_name_;
};

// Calls fn(Op*) for every op of the block and, after each op, of its regions, in textual order.
template <class Fn>
void Walk(Block* block, Fn&& fn) {
  if (block == nullptr) return;
  for (Op* op = block->front(); op != nullptr;) {
    Op* next = op->next();
    fn(op);
    for (int r = 0; r < op->num_regions(); ++r) Walk(op->region(r), fn);
    op = next;
  }
}

}  // namespace tile::ir

#endif  // TILE_IR_MODULE_H_
