// Writes the samples of every version into a folder: where the fuzz target starts.

#include <fstream>
#include <iostream>

#include "ir/testing/tileir_samples.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: write_tileir_samples FILE...   each named NAME.VERSION.tilebc\n";
    return 2;
  }
  for (int i = 1; i < argc; ++i) {
    const std::string path = argv[i], file = path.substr(path.find_last_of('/') + 1);
    const std::string name = file.substr(0, file.find('.'));
    const int version = std::stoi(file.substr(file.find('.') + 1));
    bool found = false;
    for (const tile::ir::tileir::Sample& s : tile::ir::tileir::Samples(version)) {
      if (s.name != name) continue;
      std::ofstream(path, std::ios::binary) << s.bytes;
      found = true;
    }
    if (!found) {
      std::cerr << file << ": there is no such sample\n";
      return 1;
    }
  }
  return 0;
}
