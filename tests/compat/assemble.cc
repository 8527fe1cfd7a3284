// Text to .tbc, for freeze.sh: assemble IN.tile OUT.tbc.
#include <fstream>
#include <iostream>
#include <sstream>

#include "ir/tbc/writer.h"
#include "ir/text/parser.h"

int main(int argc, char** argv) {
  using namespace tile::ir;
  if (argc != 3) {
    std::cerr << "usage: assemble IN.tile OUT.tbc\n";
    return 2;
  }
  std::stringstream text;
  text << std::ifstream(argv[1]).rdbuf();
  Diagnostics diags;
  const std::unique_ptr<Module> module = Parse(text.str(), argv[1], &diags);
  if (module == nullptr) {
    std::cerr << diags.ToString();
    return 1;
  }
  const absl::StatusOr<std::string> bytes = WriteTbc(*module);
  if (!bytes.ok()) {
    std::cerr << argv[1] << ": " << bytes.status() << "\n";
    return 1;
  }
  std::ofstream file(argv[2], std::ios::binary);
  if (!(file << *bytes).flush()) {
    std::cerr << argv[2] << ": can't be written\n";
    return 1;
  }
  return 0;
}
