// The table of op_rules.def: one place that says how layouts, slices, facts and registers go through an operation.
//
//   switch (RuleOf(op).divisor) { case DivisorRule::kSource: … }
//
// Immutable; safe from any thread.
#ifndef TILE_CODEGEN_ANALYSIS_OP_RULES_H_
#define TILE_CODEGEN_ANALYSIS_OP_RULES_H_

#include "ir/module.h"

namespace tile::codegen {

// How the layouts of its tiles relate (passes/layouts/layout_rules.cc).
enum class LayoutRule : uint8_t {
  kAny,   // nothing asked, nothing decided: operands stay as they are, results get rows over threads
  kSame,  // all tiles of one layout
  kReshape,
  kPermute,
  kBroadcast,
  kCat,      // halves in registers of their own
  kExtract,  // the same, of a part that constants choose
  kInsert,   // the destination's
  kReduce,
  kLoadView,  // decides
  kStoreView,
  kMma,  // decides
  kIf,
  kLoop,    // for and loop: initial values as the arguments
  kBranch,  // operands as the values that receive them
};

// Which slices of its operands a slice of its result needs (slice_dims.cc).
enum class SliceRule : uint8_t {
  kWhole,  // it works on whole tiles
  kSame,   // the same slice of each tile
  kConstant,
  kIota,
  kBroadcast,
  kReshape,
  kPermute,
  kReduce,
  kScan,
  kView,  // an access by a view
  kScatter,
  kProduct,
};

// What divides all elements of the result (facts.cc).
enum class DivisorRule : uint8_t {
  kUnknown,
  kConstant,
  kAssume,
  kLeast,  // what divides both operands
  kProduct,
  kMost,  // what divides either operand
  kShift,
  kShiftRight,
  kQuotient,
  kSource,  // what divides operand 0
  kOffset,
  kChoice,     // what divides both choices of a select
  kAlignment,  // its attribute
};

// How neighbours along a dimension relate (facts_line.cc).
enum class LineRule : uint8_t {
  kUnknown,
  kElementwise,  // equal elements give equal elements
  kConstant,
  kIota,
  kSource,  // as operand 0
  kBroadcast,
  kPermute,
  kReshape,
  kAssume,
  kExtend,
  kTruncate,
  kPointer,  // another pointee
  kSum,
  kDifference,
  kProduct,
  kQuotient,  // division, remainder, shift to the right
  kBits,      // and, or, exclusive or
  kCompare,
  kChoice,
};

// The bounds of the result's integers (facts_range.cc).
enum class RangeRule : uint8_t {
  kUnknown,
  kConstant,
  kIota,
  kCount,  // not negative
  kAssume,
  kSource,  // as operand 0
  kExtend,
  kTruncate,
  kArithmetic,  // sum, difference, product, shift to the left
  kQuotient,    // division, remainder, shift to the right
  kSmaller,
  kLarger,
  kAnd,
  kOr,
  kChoice,
};

// What its result takes (live_registers.cc).
enum class RegisterRule : uint8_t {
  kOwn,
  kNone,    // made where it is used, or in shared memory
  kSource,  // operand 0's
  kRepeat,  // operand 0's, which are fewer
};

struct OpRule {
  LayoutRule layout;
  SliceRule slice;
  DivisorRule divisor;
  LineRule line;
  RangeRule range;
  RegisterRule registers;
};

const OpRule& RuleOf(const ir::Op& op);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_OP_RULES_H_
