// MLIR's generic form of operations, as tools print TTIR with --mlir-print-op-generic and MLIR a module that does not verify:
//
//   %c = "arith.cmpi"(%a, %b) <{predicate = 2 : i64}> : (i32, i32) -> i1        as pretty: %c = arith.cmpi slt, %a, %b : i32
//
// The parser reads its parts; here they are put where the pretty form has them, so that translations know one form.
#ifndef TILE_IR_TTIR_GENERIC_H_
#define TILE_IR_TTIR_GENERIC_H_

#include "ir/ttir/tree.h"

namespace tile::ir::ttir {

// Operations whose pretty form is the generic one (tt.reduce, …) stay as they are.
void ToPretty(Node* n);

}  // namespace tile::ir::ttir

#endif  // TILE_IR_TTIR_GENERIC_H_
