// Kernels that code generation once got wrong, or whose tiles it takes apart: on the VM, which says what is right. On a GPU
// tests/gpu runs the same files.
#include <string>

#include "gtest/gtest.h"
#include "tests/harness/file_on_vm.h"
#include "tests/harness/tile_files.h"

namespace tile::ops {
namespace {

class Regressions : public testing::TestWithParam<std::string> {};

TEST_P(Regressions, DoesWhatTheFileSays) { ExpectFileHolds(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Files, Regressions, testing::ValuesIn(TileFiles("tests/codegen/regressions")), TileFileName);

}  // namespace
}  // namespace tile::ops
