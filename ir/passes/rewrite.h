// Small steps that passes over tile code are made of. Internal to ir/passes.
//
//   WriteBefore(module, op, [&](Builder& b) { sum = ops::Addi(b, x, y); });   // keeps the place in the source
//   ReplaceOp(op, sum);                                                       // sum takes the name of its result
//   if (const auto n = SplatOf(v)) …                                          // an integer constant, all elements alike
#ifndef TILE_IR_PASSES_REWRITE_H_
#define TILE_IR_PASSES_REWRITE_H_

#include <cstdint>
#include <optional>

#include "ir/builder.h"
#include "ir/create_like.h"
#include "ir/module.h"

namespace tile::ir {

// The low bits of an integer, and the integer that they are.
inline uint64_t LowBits(uint64_t bits, int width) { return width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1); }
inline int64_t AsSigned(uint64_t bits, int width) { return static_cast<int64_t>(bits << (64 - width)) >> (64 - width); }
int WidthOf(const Value* v);  // bits of an integer element; i1 has 1

// The element of an integer constant whose elements are all alike, in its low bits.
std::optional<uint64_t> SplatOf(const Value* v);
// The same of a float constant.
std::optional<double> FloatSplatOf(const Value* v);
bool IsSplat(const Value* v, int64_t n);

// v is defined in one of the op's regions, or by the op.
bool IsInside(const Value* v, const Op* op);

// What `code` builds goes in front of `where`, with the place in the source that `where` has.
template <class Code>
void WriteBefore(Module* module, Op* where, Code&& code) {
  Block* apart = module->CreateBlock({});
  Builder b(module, apart);
  b.set_loc(where->loc);
  code(b);
  while (!apart->empty()) {
    Op* moved = apart->front();
    moved->pos = where->pos;
    moved->Unlink();
    module->InsertBefore(where->block(), where, moved);
  }
}

void MoveBefore(Module* module, Op* op, Op* where);
// All of a block but what ends it.
void MoveBodyBefore(Module* module, Block* from, Op* where);

// Users of `from` use `to`, which takes its name if it has none.
void Replace(Value* from, Value* to);
// The only result; the op goes.
void ReplaceOp(Op* op, Value* with);

// A copy of the op in front of `where` (ir/create_like.h).
Op* CopyBefore(Module* module, const Op& op, Op* where, ValueMap* values);

}  // namespace tile::ir

#endif  // TILE_IR_PASSES_REWRITE_H_
