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
  int64_t block[3] = {0, 0, 0};  // the first in linear order; -1: not known
  // Other blocks that made the same report, perhaps of other elements: how many, and the first and the last of them in linear order.
  int64_t others = 0;
  int64_t first_other[3] = {0, 0, 0}, last_other[3] = {0, 0, 0};
  std::string op;        // mnemonic
  std::string message;   // what is wrong: tensor, index, extent
  std::string elements;  // follows the message: the elements of a tile in which it is wrong in `block`; may be empty
  std::string fix;       // may be empty
  std::string order;     // of the blocks, as --order has it, where it is not the linear one; else empty

  // "where: error[code]: message", or warning, and lines with kernel, blocks, op, order and fix.
  std::string ToString() const;
  // Whether `other` says the same of another block, or of the same one. The elements do not count.
  bool SaysSame(const RunReport& other) const;
  // Takes the block of a report that says the same; it is none of those that this report has.
  void AddBlock(const RunReport& other);
};

}  // namespace tile::ir

#endif  // TILE_IR_RUN_REPORT_H_
