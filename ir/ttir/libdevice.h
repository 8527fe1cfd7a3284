// Functions of libdevice, which Triton kernels call by name, as tile code.
//
//   Value* y = MakeLibdevice(b, "__nv_expm1f", {x}, x->type());     // null: there is no such function of these types
//
// Those that are an operation of ours become it (SameMathOp in translator.h); others are made of several, to within the error that
// libdevice documents. Files: libdevice_float.cc (floats), libdevice_bits.cc (integers and conversions), libdevice_floats.h (the arithmetic
// that they are made of). docs/triton.md says what differs.
#ifndef TILE_IR_TTIR_LIBDEVICE_H_
#define TILE_IR_TTIR_LIBDEVICE_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/ops.h"

namespace tile::ir::ttir {

Value* MakeLibdevice(Builder& b, absl::string_view symbol, absl::Span<Value* const> x, Type result);

// Its parts; names are without `__nv_`. The operands are of one float type.
Value* MakeFloatFunction(Builder& b, absl::string_view name, absl::Span<Value* const> x, Type result);
// Any operands.
Value* MakeIntegerFunction(Builder& b, absl::string_view name, absl::Span<Value* const> x, Type result);
Value* MakeConversion(Builder& b, absl::string_view name, Value* x, Type result);

}  // namespace tile::ir::ttir

#endif  // TILE_IR_TTIR_LIBDEVICE_H_
