// Small modules as NVIDIA's tools would write them, at any version that can hold them: what the tests damage, the fuzz
// target starts from and the writer is compared with.
#ifndef TILE_IR_TESTING_TILEIR_SAMPLES_H_
#define TILE_IR_TESTING_TILEIR_SAMPLES_H_

#include <string>
#include <vector>

namespace tile::ir::tileir {

struct Sample {
  std::string name;
  std::string bytes;
};

// Those that exist at this version (1301 to 1305).
std::vector<Sample> Samples(int version);

}  // namespace tile::ir::tileir

#endif  // TILE_IR_TESTING_TILEIR_SAMPLES_H_
