// The property that every form of a program holds the same program.
//
//   EXPECT_EQ(RoundTripFault(module), "");
//
// text:  Parse(Print(m)) is m, with made names and with those of the text; printing it again gives the same text
// tbc:   ReadTbc(WriteTbc(m)) is m; writing it again gives the same bytes
// clone: CloneModule(m) is m and prints as m does
// both:  m from its bytes prints as m does, and m from its text gives the bytes that m gives
#ifndef TILE_TESTS_ROUNDTRIP_ROUND_TRIP_H_
#define TILE_TESTS_ROUNDTRIP_ROUND_TRIP_H_

#include <string>

#include "ir/module.h"

namespace tile {

// What does not hold, or nothing. A module that the verifier refuses need not have a binary form: with `verified` false
// it is enough that the binary form is refused or the same.
std::string RoundTripFault(const ir::Module& module, bool verified = true);

}  // namespace tile

#endif  // TILE_TESTS_ROUNDTRIP_ROUND_TRIP_H_
