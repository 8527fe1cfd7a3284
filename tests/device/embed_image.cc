// Writes a .tbc with an image that the fake driver runs: embed_image IN.tile OUT.tbc ARCH
#include <cstdio>
#include <fstream>
#include <sstream>

#include "ir/tbc/writer.h"
#include "ir/text/parser.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::stringstream text;
  text << std::ifstream(argv[1]).rdbuf();
  tile::ir::Diagnostics diagnostics;
  const auto module = tile::ir::Parse(text.str(), argv[1], &diagnostics);
  if (module == nullptr) return 1;
  const std::string code = "FAKECUBIN vector_add 8 8 8 8 4 4 4 8 8\n";
  tile::ir::Image i;
  i.arch = argv[3];
  i.symbol = "vector_add";
  i.threads = 128;
  i.flags = tile::ir::kTileAbi;
  i.code_hash = *tile::ir::HashCode(*module);
  i.payload = {reinterpret_cast<const uint8_t*>(code.data()), code.size()};
  const auto bytes = tile::ir::WriteTbc(*module, {.images = {&i, 1}});
  if (!bytes.ok()) return 1;
  std::ofstream(argv[2], std::ios::binary) << *bytes;
  return 0;
}
