// What a reader of text knows beside the program: where its parts stand, and what it could not read. With it the
// verifier judges a program of which some lines are wrong, and speaks of the rest only; without an error it tells
// places better.
#ifndef TILE_IR_READING_H_
#define TILE_IR_READING_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/diagnostic.h"
#include "ir/module.h"

namespace tile::ir {

struct Reading {
  // Places of the parts of an entry; the lists are as long as those of the program.
  struct Entry {
    std::vector<SourcePos> params;
    SourcePos end;                                             // its closing brace
    std::vector<SourcePos> arrays, scalars, workspaces, grid;  // of its interface
  };
  absl::flat_hash_map<const Function*, Entry> entries;

  // Blocks that lack an operation, perhaps their terminator, and operations whose regions were not read to the end.
  absl::flat_hash_set<const Block*> short_blocks;
  absl::flat_hash_set<const Op*> short_ops;
  // Functions that are no kernels, as tests of the cuda_tile dialect have them: they take and return values of any type.
  // They are judged, but no part of the program.
  absl::flat_hash_set<const Function*> left_out;
  bool lacks_symbols = false;  // a global or an entry
  bool lacks_debug = false;    // debug records
};

// Verify (ir/verify/verify.h) of a program that was read in part. Values without a type are results of operations with an
// error: nothing is said about operations that have or use them.
void Verify(const Module& module, const Reading& reading, Diagnostics* diagnostics);

}  // namespace tile::ir

#endif  // TILE_IR_READING_H_
