// An operation once more: with other operands, or in another place of the same module.
//
//   Op* half = CreateLike(module, *load, operands, {tile, token});   // not yet in a block; regions are empty
//   Op* again = CopyOp(module, *op, &values);                        // with its regions; not yet in a block
//   CopyOps(module, *reduce->region(0), body, &values);              // all operations of a block, behind those of `body`
//
// The new operation has the attributes, the location and the annotations of the old one: what a compiler decided about an
// operation (ir/module.h) also holds for its copy. A pass that changes what a decision is about decides again. Not thread-safe.
// A copy in another module is a clone: ir/clone.h.
#ifndef TILE_IR_CREATE_LIKE_H_
#define TILE_IR_CREATE_LIKE_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "ir/module.h"

namespace tile::ir {

// `operand_ends` (of each operand field, as in OpSpec) is needed only if fields have other numbers of operands than before.
Op* CreateLike(Module* module, const Op& from, absl::Span<Value* const> operands, absl::Span<const Type> results,
               absl::Span<const uint32_t> operand_ends = {});

std::vector<Type> ResultTypesOf(const Op& op);
std::vector<Value*> OperandsOf(const Op& op);
// The same tile or view of elements of this type.
Type WithElement(Module* module, Type type, Element element);

using ValueMap = absl::flat_hash_map<const Value*, Value*>;
// Operands that are in the map are taken from there, others stay; results and arguments of regions are added, with their names.
Op* CopyOp(Module* module, const Op& from, ValueMap* values);
void CopyOps(Module* module, const Block& from, Block* to, ValueMap* values);

}  // namespace tile::ir

#endif  // TILE_IR_CREATE_LIKE_H_
