// Writes docs/operations.md:  bazel run //ir:write_reference
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "ir/reference.h"

int main() {
  const char* root = std::getenv("BUILD_WORKSPACE_DIRECTORY");  // set by `bazel run`
  const std::string path = std::string(root ? root : ".") + "/docs/operations.md";
  std::ofstream out(path);
  out << tile::ir::OperationsPage();
  out.close();
  if (!out) {
    std::cerr << path << ": error: cannot be written\n";
    return 5;
  }
  std::cout << path << "\n";
  return 0;
}
