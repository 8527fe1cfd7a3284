// The generated schema, and proof that its numbers are those of the tables in ir/. Internal to ir/tbc.
//
// FlatBuffers' own check of compatibility (`flatc --conform`) does not see structs grow or shrink, so their sizes and
// offsets are asserted here: they are part of every released version.
#ifndef TILE_IR_TBC_SCHEMA_H_
#define TILE_IR_TBC_SCHEMA_H_

#include <cstddef>
#include <optional>

#include "ir/module.h"
#include "schemas/tbc_generated.h"

namespace tile::ir {

namespace fbs = ::tile::tbc;

// --- fixed structs --------------------------------------------------------------------------------------------------

static_assert(sizeof(fbs::Op) == 32 && alignof(fbs::Op) == 4);
static_assert(sizeof(fbs::Attribute) == 16 && alignof(fbs::Attribute) == 8);
static_assert(sizeof(fbs::Group) == 4 && alignof(fbs::Group) == 2);
static_assert(sizeof(fbs::Block) == 16 && alignof(fbs::Block) == 4);
static_assert(sizeof(fbs::Scalar) == 16 && alignof(fbs::Scalar) == 8);
static_assert(sizeof(fbs::ExprNode) == 24 && alignof(fbs::ExprNode) == 8);
static_assert(sizeof(fbs::DebugRecord) == 48 && alignof(fbs::DebugRecord) == 4);

// --- numbers --------------------------------------------------------------------------------------------------------

#define TILE_ELEMENT(Name, spelling, bits, storage, tag, since, groups) \
  static_assert(static_cast<int>(fbs::Element::Name) == tag, "Element of tbc.fbs and elements.def differ");
#include "ir/elements.def"

// The enumerations that are the same list on both sides.
#define TILE_SAME(Ir, Fbs) static_assert(static_cast<int>(Ir) == static_cast<int>(fbs::Fbs), "tbc.fbs and ir/ differ");
TILE_SAME(TypeKind::kTile, TypeKind::Tile)
TILE_SAME(TypeKind::kTensorView, TypeKind::TensorView)
TILE_SAME(TypeKind::kPartitionView, TypeKind::PartitionView)
TILE_SAME(TypeKind::kStridedView, TypeKind::StridedView)
TILE_SAME(TypeKind::kGatherScatterView, TypeKind::GatherScatterView)
TILE_SAME(TypeKind::kToken, TypeKind::MAX)
TILE_SAME(MemorySpace::kGlobal, MemorySpace::Global)
TILE_SAME(MemorySpace::kShared, MemorySpace::MAX)
TILE_SAME(AttrKind::kFlag, AttrKind::Flag)
TILE_SAME(AttrKind::kBool, AttrKind::Bool)
TILE_SAME(AttrKind::kInt, AttrKind::Int)
TILE_SAME(AttrKind::kEnum, AttrKind::Enum)
TILE_SAME(AttrKind::kString, AttrKind::String)
TILE_SAME(AttrKind::kSymbol, AttrKind::Symbol)
TILE_SAME(AttrKind::kDense, AttrKind::Dense)
TILE_SAME(AttrKind::kInts, AttrKind::Ints)
TILE_SAME(AttrKind::kBools, AttrKind::Bools)
TILE_SAME(AttrKind::kPredicate, AttrKind::Predicate)
TILE_SAME(AttrKind::kHints, AttrKind::Hints)
TILE_SAME(AttrKind::kScalars, AttrKind::MAX)
TILE_SAME(Predicate::Kind::kDivBy, PredicateKind::DivBy)
TILE_SAME(Predicate::Kind::kBounded, PredicateKind::Bounded)
TILE_SAME(Predicate::Kind::kSameElements, PredicateKind::MAX)
TILE_SAME(Hint::Kind::kInt, HintKind::Int)
TILE_SAME(Hint::Kind::kBool, HintKind::Bool)
TILE_SAME(Hint::Kind::kString, HintKind::MAX)
TILE_SAME(DebugRecord::Kind::kCompileUnit, DebugKind::CompileUnit)
TILE_SAME(DebugRecord::Kind::kFile, DebugKind::File)
TILE_SAME(DebugRecord::Kind::kLexicalBlock, DebugKind::LexicalBlock)
TILE_SAME(DebugRecord::Kind::kLocation, DebugKind::Location)
TILE_SAME(DebugRecord::Kind::kSubprogram, DebugKind::Subprogram)
TILE_SAME(DebugRecord::Kind::kCallSite, DebugKind::MAX)
TILE_SAME(Direction::kIn, Direction::In)
TILE_SAME(Direction::kOut, Direction::Out)
TILE_SAME(Direction::kInOut, Direction::MAX)
TILE_SAME(InitKind::kUndefined, InitKind::Undefined)
TILE_SAME(InitKind::kZero, InitKind::Zero)
TILE_SAME(InitKind::kValue, InitKind::MAX)
TILE_SAME(ExprOp::kConst, ExprOp::Const)
TILE_SAME(ExprOp::kShape, ExprOp::Shape)
TILE_SAME(ExprOp::kStride, ExprOp::Stride)
TILE_SAME(ExprOp::kAlign, ExprOp::Align)
TILE_SAME(ExprOp::kScalar, ExprOp::Scalar)
TILE_SAME(ExprOp::kNumSms, ExprOp::NumSms)
TILE_SAME(ExprOp::kAdd, ExprOp::Add)
TILE_SAME(ExprOp::kSub, ExprOp::Sub)
TILE_SAME(ExprOp::kMul, ExprOp::Mul)
TILE_SAME(ExprOp::kDiv, ExprOp::Div)
TILE_SAME(ExprOp::kCeilDiv, ExprOp::CeilDiv)
TILE_SAME(ExprOp::kMod, ExprOp::Mod)
TILE_SAME(ExprOp::kMin, ExprOp::Min)
TILE_SAME(ExprOp::kMax, ExprOp::Max)
TILE_SAME(ExprOp::kLess, ExprOp::Less)
TILE_SAME(ExprOp::kEqual, ExprOp::Equal)
TILE_SAME(ExprOp::kSelect, ExprOp::MAX)
#undef TILE_SAME

// --- elements -------------------------------------------------------------------------------------------------------

inline fbs::Element ToFbs(Elem e) { return static_cast<fbs::Element>(ElemInfoOf(e).tag); }

inline std::optional<Elem> FromFbs(fbs::Element e) { return FindElemByTag(static_cast<int>(e)); }

// Nothing if a number is unknown, a pointer points to a pointer, or a number has a pointee.
inline std::optional<Element> FromFbs(fbs::Element kind, fbs::Element pointee) {
  const std::optional<Elem> k = FromFbs(kind), p = FromFbs(pointee);
  if (!k || !p || *p == Elem::kPtr || (*k != Elem::kPtr && *p != Elem::kI1)) return std::nullopt;
  return Element{*k, *p};
}

}  // namespace tile::ir

#endif  // TILE_IR_TBC_SCHEMA_H_
