// Looking into a kernel while it runs, on any engine: a copy of the program that also writes one value to memory of its
// own.
//
//   for (const ProbePoint& p : ProbePoints(*f)) {
//     std::unique_ptr<Module> m = WithProbe(*f->module(), *f, p);
//     // its kernel has one more parameter, the last: the address of p.elements() elements for each block of the grid,
//     // which receive the value as each block leaves it (in a loop: as the last round does)
//   }
//
// Reads only; thread-safe while nobody changes the module.
#ifndef TILE_IR_PROBE_H_
#define TILE_IR_PROBE_H_

#include <memory>
#include <string>
#include <vector>

#include "ir/module.h"

namespace tile::ir {

// A result of an operation.
struct ProbePoint {
  int op = 0;  // position in the text, as Walk counts
  int result = 0;
  Type type;          // a tile or scalar of numbers of 8 bits and more, or i1
  std::string name;   // mnemonic
  std::string where;  // "file:line:col"

  int64_t elements() const { return type.num_elements(); }
  // Alike in two versions of a program.
  std::string Key() const;
};

// In the order in which values depend on each other: what is in a region before the results of its operation. Left out:
// what has no operands, addresses, views, tokens, 4-bit elements, and bodies of reduce and scan.
std::vector<ProbePoint> ProbePoints(const Function& f);

std::unique_ptr<Module> WithProbe(const Module& module, const Function& f, const ProbePoint& point);

// Pairs of equal keys, in order, as many as possible; between them what is of equal type in the same place.
std::vector<std::pair<const ProbePoint*, const ProbePoint*>> MatchProbePoints(const std::vector<ProbePoint>& a,
                                                                              const std::vector<ProbePoint>& b);

}  // namespace tile::ir

#endif  // TILE_IR_PROBE_H_
