#include "tests/harness/tile_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace tile {

std::vector<std::string> TileFiles(const std::string& folder, const std::string& extension) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == extension) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string StemOf(const std::string& path) { return std::filesystem::path(path).stem().string(); }

std::string ReadFile(const std::string& path) {
  std::stringstream buffer;
  buffer << std::ifstream(path).rdbuf();
  return buffer.str();
}

}  // namespace tile
