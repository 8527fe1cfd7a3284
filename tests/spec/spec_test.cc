// The rules of the documents that the operations come from, shown by the files of this folder; tests/source-coverage.md
// says which rule stands where.
#include <string>

#include "gtest/gtest.h"
#include "tests/harness/file_on_vm.h"
#include "tests/harness/tile_files.h"

namespace tile::ops {
namespace {

class Spec : public testing::TestWithParam<std::string> {};

TEST_P(Spec, DoesWhatTheFileSays) { ExpectFileHolds(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Files, Spec, testing::ValuesIn(TileFiles("tests/spec")), TileFileName);

}  // namespace
}  // namespace tile::ops
