// What a kernel did wrong while it ran, or what may be a mistake: the same for every engine, so that programs can tell and
// people read one form.
//
//   RunReport r;
//   r.code = "vm.assert";
//   …
//   r.ToString();   // "k.tile:3:1: error[vm.assert]: n must be even\n  in kernel `k`, block (0, 0, 0), at assert"
#ifndef TILE_IR_RUN_REPORT_H_
#define TILE_IR_RUN_REPORT_H_

#include <cstdint>
#include <string>

namespace tile::ir {

struct RunReport {
  bool warning = false;  // it went on, as hardware would
  std::string code;      // stable: "vm.out_of_bounds", "vm.race", "vm.assert", "vm.deadlock", …
  std::string where;     // file:line:col of the op
  std::string kernel;
  int64_t block[3] = {0, 0, 0};  // -1: not known
  std::string op;                // mnemonic
  std::string message;           // what is wrong: tensor, index, extent
  std::string fix;               // may be empty
  std::string order;             // of the blocks, as --order has it, where it is not the linear one; else empty

  // "where: error[code]: message", or warning, and lines with kernel, block, op, order and fix.
  std::string ToString() const;
};

}  // namespace tile::ir

#endif  // TILE_IR_RUN_REPORT_H_
