// Whether threads have registers for tiles that are kept from one load to the next of the same.
//
//   KeptRegisters registers(p);
//   if (registers.WhyNot(words, 16).empty()) { …; registers.Grew(words); }   // the program needs at most so many more now
//
// Counting what lives takes time proportional to the program, so it is done only where what is known from before does not suffice, and
// a few times in a large program.
#ifndef TILE_CODEGEN_PASSES_KEPT_REGISTERS_H_
#define TILE_CODEGEN_PASSES_KEPT_REGISTERS_H_

#include <cstdint>
#include <string>

#include "codegen/passes/program.h"

namespace tile::codegen {

class KeptRegisters {
 public:
  explicit KeptRegisters(const Program& p);

  // Why threads have no registers for tiles of elements of `bits` bits that take `more` words; "" if they have.
  std::string WhyNot(int64_t more, int bits);
  // It is not known whether there are so many, unless what lives is counted again.
  bool IsOpen(int64_t more, int bits) const;
  void Count();
  void Grew(int64_t words);

 private:
  const Program& p_;
  const int most_counts_;
  const int64_t threads_;
  int64_t live_ = 0;  // at most
  bool is_exact_ = false, is_known_ = false;
  int counts_ = 0;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_KEPT_REGISTERS_H_
