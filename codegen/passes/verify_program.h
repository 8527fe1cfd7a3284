// Judges a program between two passes.
//
//   std::string faults = ProgramFaults(target, module, schedule);   // "" if there are none
//
// * As tile code (tile_code.h) it must be what ir/verify/verify.h wants of any program. At the GPU level it is no tile code.
// * fetch_ahead, copy_ahead: are in the body of a for, take its induction variable, yield tiles of the types of their
//   results, which are operands of products in that loop and nothing else. From the schedule on it is decided where these are in a
//   stage, one after the other, and which TMA descriptor each load of a fetch_ahead has.
// * After the pass that assigns layouts: every product has an instruction (Decision::kInstruction); every tile of rank 1 and more has
//   a layout, of its own shape and of the schedule's warps; an elementwise operation, or an access through pointers, has one layout for its operands and its result;
//   convert_layout changes the layout and nothing else; rings have the stages of the schedule, and shared memory has room for them and
//   the arrays of the program.
// * At the GPU level, where it is no tile code: the rules of codegen/gpu/schedule/verify.h.
#ifndef TILE_CODEGEN_PASSES_VERIFY_PROGRAM_H_
#define TILE_CODEGEN_PASSES_VERIFY_PROGRAM_H_

#include <string>

#include "codegen/plan/schedule.h"
#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

// Null schedule: before it is made.
std::string ProgramFaults(const Target& target, const ir::Module& module, const Schedule* schedule);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_VERIFY_PROGRAM_H_
