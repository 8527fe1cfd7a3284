// The operation table as data: ops.def and formats.def, parsed once. Every layer asks this table instead of switching
// over opcodes.
//
//   const OpInfo* op = FindOp("addf");          // or GetOp(Opcode::kAddf)
//   op->format->operands[0].name;               // "lhs"
//   op->format->place(Field::kRounding).attr;   // position among the attributes, -1 if it has none
//   op->has(kLoop), op->is_access()
//
// What the operands and attributes of one operation are is asked through the views of op_views.h.
//
// Immutable after first use; safe from any thread.
#ifndef TILE_IR_OP_INFO_H_
#define TILE_IR_OP_INFO_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "ir/element.h"

namespace tile::ir {

enum class Opcode : uint16_t {
#define TILE_OP(number, Name, ...) k##Name = number,
#define TILE_STRUCTURE(number, Name, ...) k##Name = number,
#include "ir/ops.def"
};

enum class Format : uint8_t {
#define TILE_FORMAT(Name, ...) k##Name,
#include "ir/formats.def"
};

// Every name that formats.def gives to an operand, an attribute or a result.
enum class Field : uint8_t {
#define TILE_FIELD(Name, name) k##Name,
#include "ir/fields.def"
};
inline constexpr int kNumFields = 0
#define TILE_FIELD(...) +1
#include "ir/fields.def"
    ;
const char* FieldName(Field f);  // "lower_bound"

enum class Family : uint8_t {
  kAtomic,
  kCompare,
  kConstant,
  kControl,
  kConvert,
  kFloat,
  kInteger,
  kMath,
  kMemory,
  kMma,
  kMultimem,
  kReduce,
  kShape,
  kToken,
  kView,
};
const char* FamilyName(Family f);  // "atomic"

enum Trait : uint16_t {
  kPure = 1,  // no effect; may be removed, repeated, moved
  kElementwiseBit = 2,
  kElementwise = 3,     // pure, and result element i depends on operand elements i only
  kCommutative = 4,     // the first two operands may be swapped
  kTerminator = 8,      // ends a block
  kReads = 16,          // may read memory
  kWrites = 32,         // may write memory
  kTko = 64,            // ordered by tokens only
  kEffect = 128,        // must stay even if its results are unused
  kRegions = 256,       // has regions; effects are those of its body
  kLoop = 512,          // runs its body again and again, carrying values: ir/loops.h
  kElementBody = 1024,  // its body combines two elements: scalars in, scalars out
  kAlias = 2048,    // the result is operand 0, bit for bit and in order: only its type or what is known of it differs
  kMoves = 4096,    // each element of the result is one of operand 0, unchanged
  kProduct = 8192,  // acc + lhs * rhs of matrices, without scales
};

enum class Arity : uint8_t { kOne, kOptional, kVariadic };

// A group of operands or results.
struct FieldInfo {
  std::string name;
  Arity arity = Arity::kOne;
  int since = 0;  // Tile IR version that introduced the field, 0: as the operation
};

enum class AttrKind : uint8_t {
  kFlag,
  kBool,
  kInt,
  kEnum,
  kString,
  kSymbol,
  kDense,
  kInts,
  kBools,
  kPredicate,
  kHints,
  kScalars,
};

struct AttrInfo {
  std::string name;
  AttrKind kind = AttrKind::kInt;
  EnumId enum_id = EnumId::kSignedness;  // of kEnum
  bool optional = false;                 // may be absent; a flag is never optional but false
  int64_t default_value = 0;             // of kEnum: what a missing field means
  int since = 0;
};

// Where a format has a field: positions among its operand fields, attributes and result fields; -1: nowhere.
struct FieldPlace {
  int8_t operand = -1, attr = -1, result = -1;
};

struct FormatInfo {
  Format id;
  const char* name;
  const char* syntax;
  std::vector<FieldInfo> operands, results;
  std::vector<AttrInfo> attrs;
  std::vector<std::string> regions;
  bool operands_counted = false;  // leading `#`: one count before all operands in NVIDIA's container
  bool results_counted = false;   // leading `*`
  std::array<FieldPlace, kNumFields> places;

  FieldPlace place(Field f) const { return places[static_cast<size_t>(f)]; }
  // By name, for code that works on any format; -1 if there is none.
  int operand_index(absl::string_view name) const;
  int attr_index(absl::string_view name) const;
  int result_index(absl::string_view name) const;
};

struct OpInfo {
  Opcode opcode;
  const char* name;      // "Addf"
  const char* mnemonic;  // "addf"
  const FormatInfo* format;
  Family family;
  int since;  // Tile IR version, 0: extension
  uint16_t traits;
  const char* constraints;
  int index;  // position in AllOps()

  bool has(Trait t) const { return (traits & t) == t; }
  bool is_access() const { return (traits & (kReads | kWrites)) != 0; }
  bool is_load() const { return (traits & (kReads | kWrites | kRegions)) == kReads; }
  bool is_extension() const { return static_cast<int>(opcode) >= 0x8000; }
};

// Every operation that can stand in a body, by ascending number.
const std::vector<OpInfo>& AllOps();
const std::vector<FormatInfo>& AllFormats();
// Null if the number or the mnemonic belongs to no operation of a body. "pow" and "print" (older names) are found.
const OpInfo* FindOp(int number);
const OpInfo* FindOp(absl::string_view mnemonic);
inline const OpInfo* GetOp(Opcode c) { return FindOp(static_cast<int>(c)); }
const FormatInfo& GetFormat(Format f);

// Rows of file structure: module, entry, global.
struct StructureInfo {
  Opcode opcode;
  const char* mnemonic;
  int since;
};
const std::vector<StructureInfo>& AllStructures();

}  // namespace tile::ir

#endif  // TILE_IR_OP_INFO_H_
