#include "codegen/target/machine.h"

#include <algorithm>
#include <iterator>

namespace tile::codegen {
namespace {

// By sm, the least first.
constexpr Machine kMachines[] = {
#define TILE_MACHINE(sm, issue, special, fma, fragment, staged, l2_bytes, l2_latency, figures) \
  {sm, issue, special, fma, fragment, staged, l2_bytes, l2_latency, FiguresAre::figures},
#include "codegen/target/machines.def"
};

}  // namespace

const Machine& MachineOf(const Target& target) {
  const Machine* after = std::upper_bound(std::begin(kMachines), std::end(kMachines), target.sm,
                                          [](int sm, const Machine& m) { return sm < m.sm; });
  return *std::max(after - 1, std::begin(kMachines));
}

}  // namespace tile::codegen
