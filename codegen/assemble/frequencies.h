// How often blocks of PTX are done, where the compiler knows. It says so in comments, so that every assembler reads its PTX; one that reads PTX 9.0
// gets pragmas of them, by which ptxas 13 puts what is rare apart from what is not.
//
//   // tile.frequency 1        →     .pragma "frequency 1";
//
// Pure functions.
#ifndef TILE_CODEGEN_ASSEMBLE_FREQUENCIES_H_
#define TILE_CODEGEN_ASSEMBLE_FREQUENCIES_H_

#include <string>

namespace tile::codegen {

inline constexpr char kFrequencyMark[] = "// tile.frequency ";
inline constexpr int kPtxOfFrequencies = 90;

bool HasFrequencies(const std::string& ptx);
// With pragmas, as PTX 9.0 if its version was an older one.
std::string WithFrequencies(const std::string& ptx);
// Without the comments.
std::string WithoutFrequencies(const std::string& ptx);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ASSEMBLE_FREQUENCIES_H_
