// A test file on the VM: everything that it says, with and without checks, on one thread and on two.
//
//   INSTANTIATE_TEST_SUITE_P(Files, Spec, testing::ValuesIn(TileFiles("tests/spec")), TileFileName);
//   TEST_P(Spec, DoesWhatTheFileSays) { ExpectFileHolds(GetParam()); }
#ifndef TILE_TESTS_HARNESS_FILE_ON_VM_H_
#define TILE_TESTS_HARNESS_FILE_ON_VM_H_

#include <string>

namespace tile::ops {

// A file either is of the form of tests/harness/op_file.h and runs every kernel that it has, or, if it announces something
// (tests/harness/announced.h), is a program on which the parser or the verifier must report exactly that.
void ExpectFileHolds(const std::string& path);

}  // namespace tile::ops

#endif  // TILE_TESTS_HARNESS_FILE_ON_VM_H_
