// The parser: recursive descent with one token of lookahead. Functions called Parse… return false after reporting an
// error and leave the rest of the operation to Recover(). A name whose definition failed is kept without a value, so
// that its uses are not reported again; operations on such values are read but not built, unless they have regions:
// what stands in those can be judged. Reading keeps record of all that is missing.
#ifndef TILE_IR_TEXT_PARSER_INTERNAL_H_
#define TILE_IR_TEXT_PARSER_INTERNAL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "ir/diagnostic.h"
#include "ir/did_you_mean.h"
#include "ir/limits.h"
#include "ir/module.h"
#include "ir/reading.h"
#include "ir/text/infer.h"
#include "ir/text/lexer.h"
#include "ir/text/second_table.h"
#include "ir/text/syntax.h"

namespace tile::ir::text {

// What a name of the text stands for: an argument, one result, or several results together (%for:3).
struct Definition {
  Value* value = nullptr;  // null: its definition had an error
  uint32_t count = 1;      // of results that share the name; value is the first of them
  uint32_t line = 0;
};

struct ResultName {
  Token token;
  uint32_t count = 1;
  bool shared = false;  // written with `:count`
};

// A value that a region starts with; without a type if its type is not known because of an error.
struct Argument {
  Token name;
  Type type;
};

// The operation that is being read.
struct PendingOp {
  const OpInfo* info = nullptr;
  Token mnemonic;
  std::vector<ResultName> names;
  std::vector<std::vector<Value*>> operands;  // per field
  std::vector<Attr> attrs;
  std::vector<std::vector<SourcePos>> places;  // of the operands, per field
  // An operand written as a number; its place among the operands holds null until its type is known.
  struct Number {
    int field = 0;
    size_t index = 0;
    Token at, digits;
    bool negative = false;
  };
  std::vector<Number> numbers;
  std::vector<Op*> inserted;  // in front of it, for operands written in short
  bool poisoned = false;      // an operand's definition had an error
  Token list;                 // of a constant written as nested lists
  std::vector<int64_t> list_shape;

  size_t num_names() const {
    size_t n = 0;
    for (const ResultName& r : names) n += r.count;
    return n;
  }
};

// A name that the text gives to tokens: `#loc = loc("k.py":5:9)`, `!t = !cuda_tile.tile<4xf32>`.
struct Alias {
  Token name, first, last;   // first and last of its tokens
  std::optional<LocId> loc;  // once it was read as a location
};

// A global, an entry or a module in generic form, as far as its attributes say.
struct GenericItem {
  absl::string_view name;
  bool kernel = false, is_constant = false, is_private = false;
  uint64_t alignment = 0;
  Dense value;
  std::vector<int64_t> value_shape;
  Type type;
  Token value_at;
  Hints* hints = nullptr;
};

class Parser {
 public:
  Parser(absl::string_view text, absl::string_view file_name, Diagnostics* diags, Reading* reading,
         const SecondTable& second = {});
  // Null after an error, unless it is wanted `partly`.
  std::unique_ptr<Module> ParseModule(bool partly);

 private:
  friend class InterfaceParser;

  // --- tokens and errors (parser.cc)
  const Token& tok() const { return tok_; }
  void Advance();
  void Next();
  bool Accept(absl::string_view s);
  bool Expect(absl::string_view s, absl::string_view where, absl::string_view fix = "");
  bool Fail(const Token& at, absl::string_view code, absl::string_view message, absl::string_view fix = "");
  // "expected WHAT, found …" at the current token, or behind the last one if the line ends there.
  bool FailExpected(absl::string_view what, absl::string_view fix = "");
  void Recover();
  std::string At(const Token& t) const;  // file:line:col
  bool stop() const { return diags_->full(); }

  // --- file level (parser.cc)
  bool ItemStarts() const;
  bool ParseItem();
  bool ParseHeader();
  bool CloseModule();
  bool ParseGlobal();
  bool ParseEntry();
  void BeginModule(absl::string_view name, bool named);
  bool AddGlobal(absl::string_view name, const Token& symbol, const Dense& value, Type type, const Token& type_at,
                 uint64_t alignment, bool is_constant, bool is_private, LocId loc);
  // `pointers`: a type may be a pointer that is no tile, as functions of NVIDIA's tests have; it is read as a tile of one.
  bool ParseParams(std::vector<Token>* params, std::vector<Type>* types, bool pointers = false);
  bool ParseParamType(Type* type, bool pointers);
  // Null after an error.
  Function* BeginEntry(absl::string_view name, const Token& at, const std::vector<Token>& params,
                       const std::vector<Type>& types, bool kernel);
  bool ParseBody(Function* f, const Token& open);  // behind its opening brace, to the closing one
  void ImplyReturn(Function* f);
  bool HasBraces() const;
  absl::string_view UniqueSymbol(const Token& at, absl::string_view name);
  void TellLeftOut();
  bool ParseEntryOptions(Function* f);
  void CheckLocs();

  // --- around tile code (parse_mlir.cc)
  bool in_dialect() const { return !open_modules_.empty(); }
  void FindAliases();
  size_t Part(const Token& t) const;  // of the file, as cut by `// -----`
  Alias* FindAlias(const Token& t);
  bool FailAlias();
  bool Expand();  // if the token is an alias, the tokens that it stands for come next
  bool ParseAliasDefinition();
  LocId Intern(const DebugRecord& r);
  bool ParsePlace(LocId* loc);
  bool ParseFilePlace(absl::string_view file, LocId* loc);
  bool ParseCallSite(LocId* loc);
  bool ParseFused(LocId* loc);
  bool SkipDictionary();
  bool ParseModuleAttributes();

  // --- the generic form (parse_generic.cc)
  template <class Fn>
  bool ParseDictionary(Fn&& entry);
  bool SkipValue();
  bool ParseArray(std::vector<int64_t>* values);
  bool ParseGenericDense(Dense* dense, std::vector<int64_t>* shape, Type* type);
  bool ParseGenericAttr(const AttrInfo& info, PendingOp& op, Attr* attr);
  bool ParseGenericAttrs(PendingOp& op, std::vector<int64_t>* segments);
  bool SpreadOperands(PendingOp& op, const Token& at, const std::vector<Value*>& values, std::vector<int64_t> segments);
  bool ParseGenericRegion(Block** body);
  bool ParseFunctionType(std::vector<Type>* operands, std::vector<Type>* results);
  bool ParseGenericOp(PendingOp& op, Block* block, Op** created);
  bool ParseGenericItem();
  bool ParseItemAttrs(GenericItem* item);
  bool ParseItemEnd(LocId* loc);
  bool ParseGenericGlobal(const GenericItem& item, const Token& at);
  bool ParseGenericEntry(const GenericItem& item, const Token& at);

  // --- types (parse_type.cc)
  bool ParseType(Type* type);
  bool ParseTypeList(std::vector<Type>* types, std::vector<Token>* tokens = nullptr);
  bool ParseElement(Element* element);
  bool ParseElem(Elem* elem);
  bool ParseDims(std::vector<int64_t>* dims);
  bool ParseTensorView(Type* type);
  bool ParseView(TypeKind kind, Type* type);
  std::string ViewAdvice(TypeKind kind) const;
  bool ParseExtents(std::vector<int64_t>* extents);  // [?, 1]

  // --- attributes (parse_attr.cc)
  bool ParseAttr(const AttrInfo& info, PendingOp& op, Attr* attr);
  bool ParseInt(int64_t* value);
  bool ParseUint(uint64_t* value, uint64_t max);
  bool ParseIntList(std::vector<int64_t>* values);
  bool ParseString(absl::string_view* value);
  bool ParseKey(absl::string_view* value);
  bool ParseSymbol(absl::string_view* value);
  bool ParseEnum(EnumId id, int64_t* number);
  bool ParseNumberOf(Elem elem, uint64_t* bits);
  static std::string NumberAdvice(Elem elem, const Token& digits);
  // As ParseNumber (number.h); in a module of the dialect a float beyond its type is infinite.
  std::optional<std::string> ReadNumber(Elem elem, bool negative, absl::string_view digits, uint64_t* bits) const;
  bool ParseDense(Dense* dense, std::vector<int64_t>* shape);
  bool ParseElements(Dense* dense, std::vector<int64_t>* shape);  // dense->elem is known
  bool ParseDenseList(Elem elem, size_t level, std::vector<int64_t>* shape, std::vector<uint8_t>* bytes);
  bool ParsePredicate(Predicate* predicate);
  bool ParseBound(std::optional<int64_t>* bound);
  bool ParseHints(Hints* hints);
  bool ParseHint(Hint* hint);
  bool ParseScalars(const PendingOp& op, std::vector<Scalar>* scalars);

  // --- operations (parse_op.cc)
  void ParseOps(Block* block);
  bool ParseOp(Block* block);
  bool FailUnknownOp(const Token& mnemonic);
  std::string ValueAdvice() const;
  bool ParseResultNames(PendingOp& op);
  bool ParseItems(PendingOp& op, const std::vector<SyntaxItem>& items);
  bool ParseGroups(PendingOp& op, const std::vector<SyntaxItem>& items, size_t* i);
  void MoveFromMask(PendingOp& op, const SyntaxItem& item, const SyntaxItem& next);
  bool GroupStarts(const PendingOp& op, const SyntaxItem& group) const;
  bool ParseUse(PendingOp& op, std::vector<Value*>* values);
  bool ParseTypes(PendingOp& op, Block* block, std::vector<Type>* results);
  bool OperandTypesAgree(const PendingOp& op, const std::vector<Type>& types);
  bool FailOperandTypes(const PendingOp& op, const std::vector<Type>& types, const std::vector<Token>& tokens);
  bool CheckResultCount(const PendingOp& op, size_t types, size_t* n);
  // Null if the operation is poisoned and has no regions; then its results are poisoned, too. With regions it takes
  // values without a type in place of those that are not known.
  Op* Create(const PendingOp& op, const std::vector<Type>& results, Block* block);
  void DefineResults(const PendingOp& op, Op* created);
  bool ParseAnnotations(PendingOp& op, Op* created);
  bool ParseLoc(LocId* loc);

  // --- operands (parse_operand.cc)
  bool NumberStarts() const;
  bool ParseOperand(PendingOp& op, int field);
  bool ParseOperands(PendingOp& op, int field);
  // The operation as far as it is read; the vectors hold its operands.
  OpenOp Open(const PendingOp& op, std::vector<Value*>* values, std::vector<uint32_t>* ends);
  // The constant that stands for a number whose type does not follow.
  std::string ConstantFor(const PendingOp& op, const PendingOp::Number& n) const;
  // Makes the constants; `fallback` is their element where none follows.
  bool PlaceNumbers(PendingOp& op, Block* block, std::optional<Element> fallback = std::nullopt);
  bool OfAnotherElement(const PendingOp& op, int field) const;
  bool StretchOperands(PendingOp& op, Block* block, const std::vector<Type>& written);
  Value* Insert(PendingOp& op, Block* block, Opcode opcode, Value* operand, Attr attr, Type type, SourcePos pos);

  // --- names (parse_op.cc)
  bool Define(const Token& name, Value* value, uint32_t count = 1);
  void CloseScope(size_t size);
  std::string ClosestName(absl::string_view name) const;

  // --- operations with regions (parse_custom.cc)
  bool ParseCustom(PendingOp& op, Block* block, Op** created);
  bool ParseFor(PendingOp& op, Block* block, Op** created);
  bool ParseLoop(PendingOp& op, Block* block, Op** created);
  bool ParseIf(PendingOp& op, Block* block, Op** created);
  bool TakeResultTypes(const PendingOp& op, Op* created, const Op* passes, absl::string_view what);
  bool ParseReduce(PendingOp& op, Block* block, Op** created);
  bool ReducedTypes(const PendingOp& op, std::vector<Type>* results);
  bool ParseMakeTensorView(PendingOp& op, Block* block, Op** created);
  bool ParseSizes(PendingOp& op, absl::string_view name, std::vector<std::optional<int64_t>>* sizes,
                  std::vector<Value*>* values);
  bool TensorOfLists(const PendingOp& op, const std::vector<std::optional<int64_t>>& shape,
                     const std::vector<std::optional<int64_t>>& strides, Type* type);
  bool ParseIterValues(PendingOp& op, std::vector<Token>* names, std::vector<Value*>* inits);
  bool ParseArrowTypes(std::vector<Type>* types);
  bool ParseRegion(Op* op, int index, const std::vector<Argument>& args, std::optional<Opcode> implied);
  std::vector<Argument> LoopArguments(const std::vector<Token>& names, const std::vector<Value*>& inits,
                                      const std::vector<Type>& results);

  // --- debug information (parse_debug.cc)
  bool ParseDebugRecord();
  bool ParseDebugFields(DebugRecord* record);
  bool ParseRef(LocId* id);
  bool ParseDebugFile(DebugRecord* record);

  template <class T>
  absl::Span<const T> Copy(const std::vector<T>& v) {
    return module_->arena().Copy(absl::Span<const T>(v));
  }

  Lexer lexer_;
  Diagnostics* diags_;
  Reading* reading_;
  const SecondTable second_;
  std::unique_ptr<Module> module_;
  const OpInfo* info_ = nullptr;  // of the operation that is being read, for its form in messages
  Value* error_value_ = nullptr;  // without a type, made when needed
  Token tok_, last_;
  size_t errors_ = 0;
  int depth_ = 0;
  int64_t num_ops_ = 0, num_values_ = 0;
  uint64_t next_record_ = 1;
  Type source_tensor_;  // what a view type that names no tensor_view lies over, while one may be left out
  absl::flat_hash_map<absl::string_view, Definition> names_;
  std::vector<absl::string_view> scope_;             // names in order of definition
  std::vector<uint32_t> loops_;                      // lines of the for and loop operations around
  std::vector<std::pair<LocId, Token>> references_;  // to debug records, checked at the end

  // Text of the dialect.
  struct OpenModule {
    bool generic = false;
  };
  std::vector<OpenModule> open_modules_;
  int modules_ = 0;  // begun so far
  bool named_ = false;
  size_t first_function_ = 0;                                                  // of the last module
  absl::flat_hash_map<absl::string_view, int> symbols_;                        // name → the module that defines it
  absl::flat_hash_map<absl::string_view, absl::string_view> renamed_globals_;  // of the last module
  bool told_renamed_ = false, told_attributes_ = false;                        // warnings that come once
  std::vector<uint32_t> splits_;                                               // bytes at which `// -----` stands
  absl::flat_hash_map<std::pair<size_t, absl::string_view>, Alias> aliases_;   // by part of the file and name
  struct Expansion {
    Lexer resume;
    uint32_t end;
  };
  std::vector<Expansion> expansions_;  // aliases whose tokens are being read
  size_t expanded_ = 0;                // bytes
  absl::flat_hash_map<std::string, LocId> interned_;
};

// Interface block behind `interface {` up to its closing brace (parse_interface.cc).
bool ParseInterface(Parser& parser, Function* f);

// "the form is: addf $lhs, $rhs …", as `tilevm ops` prints it.
std::string FormOf(const OpInfo& info);

}  // namespace tile::ir::text

#endif  // TILE_IR_TEXT_PARSER_INTERNAL_H_
