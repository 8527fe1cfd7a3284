// The class that turns the tree of a TTIR module into a module of ours: a method per kind of operation, chosen by the row
// in ttir_ops.def. Files: translator.cc (functions, blocks, dispatch), translate_<family>.cc.
//
// Values: what is a tile there is a tile here. A descriptor or block pointer becomes its parts: base, sizes, strides and
// offsets, which loops and branches carry one by one.
#ifndef TILE_IR_TTIR_TRANSLATOR_H_
#define TILE_IR_TTIR_TRANSLATOR_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/diagnostic.h"
#include "ir/op_views.h"
#include "ir/ops.h"
#include "ir/ttir/order.h"
#include "ir/ttir/places.h"
#include "ir/ttir/ptx.h"
#include "ir/ttir/tree.h"

namespace tile::ir::ttir {

class Translator;

struct OpRow {
  absl::string_view name;
  int operands;
  bool (Translator::*translate)(const Node&, const OpRow&);  // null: refused
  Opcode op;
  int variant;
  Effect effect;
  absl::string_view fix;  // of what is refused: what would work
};
// Null if there is no such row.
const OpRow* FindTtirOp(absl::string_view name);
// The mathematical operation that MLIR and libdevice call by its mnemonic, as nearly all are: "sin". Null if there is none.
const OpInfo* SameMathOp(absl::string_view name);

// The number that every element of a constant tile of integers is, also of one that is spread from it.
std::optional<int64_t> IntegerIn(const Value* v);

// A value of TTIR.
struct Val {
  TtType type;
  std::vector<Value*> parts;  // a tile; or base, sizes, strides, and offsets of a block pointer
  bool nan_padding = false;   // of a descriptor

  Value* tile() const { return parts[0]; }
  bool is_tile() const { return type.kind == TtType::Kind::kTile; }
  int rank() const { return type.tile.rank(); }
  Value* size(int d) const { return parts[1 + d]; }
  Value* stride(int d) const { return parts[1 + rank() + d]; }
  Value* offset(int d) const { return parts[1 + 2 * rank() + d]; }
};

class Translator {
 public:
  Translator(const Tree* tree, Module* module, Diagnostics* diags)
      : tree_(*tree), module_(*module), diags_(*diags), places_(tree, module), b_(module, nullptr) {}

  // False after an error.
  bool Run();

  // One method per Translation of ttir_ops.def. The operands are in `in_`.
  // --- translate_elementwise.cc ---
  bool Elementwise(const Node& n, const OpRow& row);
  bool SignBit(const Node& n, const OpRow& row);
  bool ElementwiseF32(const Node& n, const OpRow& row);
  bool ElementwiseNan(const Node& n, const OpRow& row);
  bool DivideUp(const Node& n, const OpRow& row);
  bool DivideDown(const Node& n, const OpRow& row);
  bool Convert(const Node& n, const OpRow& row);
  bool ConvertFloat(const Node& n, const OpRow& row);
  bool IndexCast(const Node& n, const OpRow& row);
  bool Bitcast(const Node& n, const OpRow& row);
  bool CompareInt(const Node& n, const OpRow& row);
  bool CompareFloat(const Node& n, const OpRow& row);
  bool SelectValue(const Node& n, const OpRow& row);
  bool MultiplyWide(const Node& n, const OpRow& row);
  bool CopySign(const Node& n, const OpRow& row);
  bool Truncate(const Node& n, const OpRow& row);
  bool Clamp(const Node& n, const OpRow& row);
  // --- translate_libdevice.cc ---
  bool Extern(const Node& n, const OpRow& row);
  // --- translate_constant.cc ---
  bool ConstantValue(const Node& n, const OpRow& row);
  bool Poison(const Node& n, const OpRow& row);
  bool GridIndex(const Node& n, const OpRow& row);
  bool MakeRange(const Node& n, const OpRow& row);
  bool Nothing(const Node& n, const OpRow& row);
  bool AssertTrue(const Node& n, const OpRow& row);
  // --- translate_shape.cc ---
  bool Spread(const Node& n, const OpRow& row);
  bool Reshaped(const Node& n, const OpRow& row);
  bool OneElement(const Node& n, const OpRow& row);
  bool Transpose(const Node& n, const OpRow& row);
  bool Concatenate(const Node& n, const OpRow& row);
  bool JoinTiles(const Node& n, const OpRow& row);
  bool SplitTile(const Node& n, const OpRow& row);
  bool GatherTile(const Node& n, const OpRow& row);
  // --- translate_fold.cc ---
  bool Fold(const Node& n, const OpRow& row);
  bool Histogram(const Node& n, const OpRow& row);
  // --- translate_dot.cc ---
  bool Dot(const Node& n, const OpRow& row);
  bool DotScaled(const Node& n, const OpRow& row);
  // --- translate_memory.cc, translate_atomic.cc, translate_descriptor.cc ---
  bool Load(const Node& n, const OpRow& row);
  bool Store(const Node& n, const OpRow& row);
  bool Barrier(const Node& n, const OpRow& row);
  bool GridDependency(const Node& n, const OpRow& row);
  bool AtomicUpdate(const Node& n, const OpRow& row);
  bool AtomicCompare(const Node& n, const OpRow& row);
  bool AtomicLoad(const Node& n, const OpRow& row);
  bool AtomicStore(const Node& n, const OpRow& row);
  bool AtomicPoll(const Node& n, const OpRow& row);
  bool MakeDescriptor(const Node& n, const OpRow& row);
  bool AdvanceBlock(const Node& n, const OpRow& row);
  bool DescriptorLoad(const Node& n, const OpRow& row);
  bool DescriptorStore(const Node& n, const OpRow& row);
  bool DescriptorReduce(const Node& n, const OpRow& row);
  bool DescriptorGather(const Node& n, const OpRow& row);
  bool DescriptorScatter(const Node& n, const OpRow& row);
  // --- translate_promise.cc ---
  bool AssumeCondition(const Node& n, const OpRow& row);
  // --- translate_control.cc ---
  bool ForLoop(const Node& n, const OpRow& row);
  bool WhileLoop(const Node& n, const OpRow& row);
  bool IfElse(const Node& n, const OpRow& row);
  // --- translate_call.cc ---
  bool Call(const Node& n, const OpRow& row);
  // --- translate_map.cc, translate_asm.cc, translate_print.cc ---
  bool MapElements(const Node& n, const OpRow& row);
  bool InlineAsm(const Node& n, const OpRow& row);
  bool PrintValues(const Node& n, const OpRow& row);

 private:
  // --- errors ---
  // Reports, with Python's place of the operation if it is known; returns false.
  bool Fail(const Node& n, absl::string_view code, absl::string_view message, absl::string_view fix = "");
  bool Unsupported(const Node& n, absl::string_view message, absl::string_view fix) {
    return Fail(n, "ttir.unsupported", message, fix);
  }
  bool WrongType(const Node& n, absl::string_view message) { return Fail(n, "ttir.type", message); }

  // --- functions and blocks (translator.cc) ---
  bool Refusals(const std::vector<Node>& ops);
  bool AddFunction(const Node& f);
  bool AddParams(const Node& f, Function* made);
  bool TranslateOps(const std::vector<Node>& ops);  // all but the terminator
  bool TranslateOp(const Node& n);
  LocId LocOf(const Node& n) { return places_.Within(places_.Of(n.loc), caller_); }

  // --- blocks that end in branches, as structured code; functions that are called (translate_call.cc) ---
  // Where the blocks end: with this operation, which gives values of these types to who called.
  struct Exit {
    absl::string_view op;
    absl::Span<const TtType> types;
    Effect effect = kNone;
    std::vector<Val> values;
  };
  // The blocks of a region: where each one is, and those that lead to the one at hand.
  struct Blocks {
    absl::flat_hash_map<absl::string_view, const NodeBlock*> labels;
    absl::flat_hash_set<const NodeBlock*> on_path;
    std::vector<const NodeBlock*> path;
  };
  void SetBlocks(const NodeRegion& region);
  void LeavePath(size_t mark);
  bool EnterBlock(const Node& from, const Successor& to, const NodeBlock** block);
  bool TranslateCfg(const NodeBlock* block, int depth);
  bool BranchToReturn(const NodeBlock** block, Value* condition, int depth);
  bool BranchToExits(const NodeBlock* block, Value* condition, int depth);
  bool HandOn(const Node& end, std::vector<Val> values, int depth);
  Effect EffectOfFunction(absl::string_view symbol);

  // --- a function mapped over elements (translate_map.cc) ---
  struct Mapping {
    const Node* node;
    int64_t pack, count;        // elements of a group, groups
    std::vector<Value*> flat;   // operands: groups by elements
    std::vector<TtType> types;  // of the scalars that the function gives
  };
  bool MapRegion(const Mapping& m, const std::vector<Value*>& args, std::vector<Val>* out);
  bool MapAll(Mapping& m, std::vector<Value*>* columns);
  bool MapOneByOne(Mapping& m, std::vector<Value*>* columns);
  Value* Interleave(std::vector<Value*> parts);

  // --- inline assembly (translate_asm.cc) ---
  struct Packing {
    int64_t share;  // elements of a register
    int bits;       // its width
  };
  static Packing PackingOf(Elem e, int64_t pack);
  bool AsmEffect(const Node& n, const std::vector<PtxLine>& lines, bool* done);
  std::vector<Value*> ToRegisters(Value* v, int64_t pack);
  Value* FromRegisters(const std::vector<Value*>& registers, Type t, int64_t pack);

  // --- values ---
  const Val* Find(const Node& n, const ValueRef& ref);
  bool Lookup(const Node& n, const std::vector<ValueRef>& refs, std::vector<Val>* out);
  bool Define(const Node& n, std::vector<Val> values);
  bool Define(const Node& n, Value* tile) { return Define(n, {TileVal(tile)}); }
  void Bind(absl::string_view name, std::vector<Val> values);
  void Lift(std::vector<Val>* values);
  size_t OpenScope() const { return undo_.size(); }
  void CloseScope(size_t mark);
  static Val TileVal(Value* v) { return {{TtType::Kind::kTile, v->type()}, {v}}; }
  // Operand i of the operation at hand.
  const Val& in(size_t i) const { return in_[i]; }
  Value* tile(size_t i) const { return in_[i].parts[0]; }
  // The one type behind -> or `to`, or else behind the colon, which must be a tile; false after an error.
  bool Output(const Node& n, Type* t);

  // --- promises (translate_promise.cc) ---
  static bool IsStartOfBlock(const Value* x, const Value* y);
  bool AssumeDivisible(const RemiOp& rem);
  // The result of a signed division, with what Triton takes for granted of neighbours (translate_division.cc).
  Value* WithNeighbours(Value* divided);
  void TakeHints(const Node& n);
  void PromiseOfDescriptor(Val* v);
  // From here on the name means another value, if it still means this one.
  void Rebind(const ValueRef& ref, Value* from, Value* to);

  // --- carried values (translate_control.cc) ---
  std::vector<Type> PartTypes(const TtType& t);
  bool BindArgs(const Node& n, const std::vector<Argument>& args, const std::vector<Val>& like, Block* block,
                int first);
  Effect EffectOf(const NodeRegion& region);
  // Ends a region with the operands of its last operation and, if it has memory operations, their token. `like`: what the
  // operands are carried as, which descriptors that pad with NaN must be alike.
  bool EndRegion(const Node& n, Opcode with, size_t first_operand, const std::vector<Type>& expected, Effect effect,
                 const std::vector<Val>& like = {});
  bool Flatten(const Node& n, const std::vector<ValueRef>& refs, size_t first, const std::vector<Val>& like,
               Builder::Groups* out);
  bool PaddingDiffers(const Node& n) {
    return Unsupported(n, "hands on a descriptor that pads with NaN", "make the descriptor where it is used");
  }
  std::vector<Val> Unflatten(absl::Span<const TtType> types, const std::vector<Val>& like, const Op* op);
  bool TranslateRegion(const Node& n, const NodeRegion& region, Opcode end, const std::vector<Type>& expected,
                       Effect effect, const std::vector<Val>& like = {});

  // A carried tile of pointers of which every element moves by the same distance.
  struct MovedPointer {
    Value* init = nullptr;             // null: it is none
    const ValueRef* step = nullptr;    // inside of the body, or
    Value* outer_step = nullptr;       // outside
    const Node* only_moves = nullptr;  // the addition, if nothing else uses it
  };
  MovedPointer FindMoved(const NodeBlock& body, size_t carried, const Val& init);
  Value* MoveBy(const MovedPointer& m, Value* distance);
  bool LoopBody(const Node& n, const std::vector<Val>& carried, const std::vector<MovedPointer>& moved,
                const std::vector<Type>& types, Effect effect, Block* block);

  void PrintElements(const std::string& format, const ops::Values& program, Value* v, const ops::Values& place);

  // --- helpers ---
  Type WithElem(Elem e, const Value* like) { return b_.types().Tile(Element::Number(e), like->type().shape()); }
  Type WithShape(const Value* like, absl::Span<const int64_t> shape) {
    return b_.types().Tile(like->type().element(), shape);
  }
  Value* Reshape(Value* v, absl::Span<const int64_t> shape);
  Value* BroadcastTo(Value* v, absl::Span<const int64_t> shape);  // same rank, or a scalar
  Value* ToI64(Value* v);
  Value* Create(Opcode op, const std::vector<Value*>& operands, Type result, const Builder::NamedAttrs& attrs = {});
  Value* IndexAlong(Value* index, int64_t axis, int64_t size);  // (translate_shape.cc)
  // 0, 1, … along dimension d of a tile of this shape, as i64.
  Value* Along(absl::Span<const int64_t> shape, int d);
  // A call of one of ours for each element, with the attributes that `variant` stands for.
  Value* Elements(Opcode op, const std::vector<Value*>& operands, int variant);
  bool Dense(const Node& n, Type t);
  // An operand of a scaled product as 16-bit floats (translate_dot.cc).
  struct Scaled {
    absl::string_view format;
    Value* data = nullptr;
    Value* scale = nullptr;  // null: none
    int k = 0;               // the dimension that is summed over
    bool packed_k = true;    // f4: two neighbours along k, else along the other dimension, are one byte
    bool fast = false;       // NaN scales do not matter
  };
  Value* UnpackF4(Value* bytes, int dim, Elem e);
  Value* ScaleOperand(const Node& n, const Scaled& s, Elem e);

  struct BlockAccess {
    Value* pointers = nullptr;
    Value* mask = nullptr;  // may be null
  };
  BlockAccess Address(const Val& block, absl::Span<Value* const> offsets, absl::Span<const int64_t> checked_dims);
  static bool IsPointer(const Value* v) { return v->type().is_tile() && v->type().element().is_pointer(); }
  Value* AsStored(Value* v);
  // Null for a constant mask of which all elements are set.
  static Value* UsefulMask(Value* mask);
  bool LoadFrom(const Node& n, Value* pointers, Value* mask, Value* padding, Value** result);
  bool StoreTo(const Node& n, Value* pointers, Value* value, Value* mask);
  bool Ordering(const Node& n, size_t word, ops::Access* access);
  Value* Inside(Value* place, Value* size);
  bool DescriptorAccess(const Node& n, size_t descriptor, BlockAccess* access);
  bool RowsAccess(const Node& n, size_t descriptor, Type tile, BlockAccess* access);

  const Tree& tree_;
  Module& module_;
  Diagnostics& diags_;
  Places places_;
  Builder b_;
  Order order_;
  std::vector<Val> in_;
  absl::flat_hash_map<absl::string_view, std::vector<Val>> values_;
  struct Undo {
    absl::string_view name;
    std::vector<Val> before;
  };
  std::vector<Undo> undo_;
  absl::flat_hash_set<const Op*> contractible_;  // products and sums of the program itself (contract.h)
  std::vector<Op*> pipelined_;                   // loops that Triton may pipeline (pass_stores.h)
  absl::flat_hash_map<const Value*, ValueRef>
      operands_of_;  // of comparisons, remainders and pointers as integers: the name of the first operand
  Blocks blocks_;    // of the function or mapped region at hand
  absl::flat_hash_map<absl::string_view, const Node*> functions_;
  absl::flat_hash_map<absl::string_view, Effect> effects_;  // of functions that are called
  const std::vector<int64_t>* lift_ = nullptr;              // what is scalar in the text is a tile of this shape here
  Exit* exit_ = nullptr;                                    // null: of a kernel
  LocId caller_ = 0;                                        // where the function at hand is called; 0: it is a kernel
  int calls_ = 0;                                           // within each other
  int64_t num_ops_ = 0;                                     // in the text
  int64_t budget_ = 0;                                      // operations that may still be built from this kernel
};

}  // namespace tile::ir::ttir

#endif  // TILE_IR_TTIR_TRANSLATOR_H_
