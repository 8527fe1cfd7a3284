// The .tile files of a test folder.
//
//   INSTANTIATE_TEST_SUITE_P(All, Checks, testing::ValuesIn(TileFiles("tests/checks")), TileFileName);
#ifndef TILE_TESTS_HARNESS_TILE_FILES_H_
#define TILE_TESTS_HARNESS_TILE_FILES_H_

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace tile {

// Paths, sorted; empty if there is no such folder. `extension`: of other files than tile code.
std::vector<std::string> TileFiles(const std::string& folder, const std::string& extension = ".tile");

// "tests/ops/addf.tile" → "addf"
std::string StemOf(const std::string& path);
inline std::string TileFileName(const testing::TestParamInfo<std::string>& info) { return StemOf(info.param); }

// Empty if it cannot be read.
std::string ReadFile(const std::string& path);

}  // namespace tile

#endif  // TILE_TESTS_HARNESS_TILE_FILES_H_
