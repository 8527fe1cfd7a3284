// Why an address is wrong: the integer operation that wrapped around on the way to it. Asked once an access has failed, so that
// nothing costs anything before; works at every check level.
//
// The element of the operand is computed again, back to parameters, constants, numbers of blocks, what is in memory and what
// loops carry now. Where that gives another value than the one that was used, because memory has changed since, nothing is
// said. Operations that bound a value (remi, mini, comparisons) end the search, as in check_wraps.h.
#ifndef TILE_VM_CHECK_FIND_WRAP_H_
#define TILE_VM_CHECK_FIND_WRAP_H_

#include <cstdint>
#include <string>

#include "vm/machine/code.h"

namespace tile::vm {

// "; 70000 * 40000 at k.py:3:7 does not fit i32 and becomes -1494967296", or "". `operand`: of the operation `user`, which the
// block is at.
std::string FindWrap(BlockState& b, const ir::Op& user, const ir::Value* operand, int64_t lane);

}  // namespace tile::vm

#endif  // TILE_VM_CHECK_FIND_WRAP_H_
