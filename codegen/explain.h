// What limits a compiled kernel, in words and estimated microseconds: `tilec --explain`.
//
//   options.on_tile_code = [&](const ir::Function& f, const Schedule& s) { program = {s, WorkOf(f, s, sizes)}; };
//   … BuildImage(module, function, options, kind) …
//   Explanation e = Explain(target, "matmul", program, machine, FindChip(90, ""), &sizes);
//   e.text                        // several lines, for people
//   e.limits[0].name, .us         // "L2", 160.9: the longest first
//
// The estimate is a roofline over memory, L2, tensor cores, instructions and special functions, for the blocks that the busiest
// multiprocessor gets, and a latency bound for blocks that wait. How far resources overlap is a rule of thumb (Overlap), fitted to
// docs/gpu-performance.md; that page has the errors. Caches, bank conflicts and clocks under load are not modelled. Pure.
#ifndef TILE_CODEGEN_EXPLAIN_H_
#define TILE_CODEGEN_EXPLAIN_H_

#include <string>
#include <vector>

#include "codegen/plan/resources/work.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/chips.h"
#include "codegen/target/target.h"

namespace tile::codegen {

// What is known of the program from which machine code was made.
struct ProgramFacts {
  Schedule schedule;
  Work work;
};

// And of that.
struct MachineFacts {
  int threads = 0;
  int registers = 0;  // of a thread; 0: no assembler told
  int spill_bytes = 0;
  uint64_t shared_bytes = 0;
};

struct Limit {
  std::string name;
  double us = 0;
};

struct Explanation {
  std::string text;
  std::vector<Limit> limits;  // the longest first; empty without sizes or a chip
  double us = 0;              // all of it, with the launch
  int blocks = 0;             // that a multiprocessor holds at once
  std::string held_by;        // what allows no more: "registers"
};

// `chip` null: nothing was measured on such a GPU; `sizes` null: they were not given. Then there are no times.
Explanation Explain(const Target& target, const std::string& kernel, const ProgramFacts& program,
                    const MachineFacts& machine, const Chip* chip, const LaunchSizes* sizes);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EXPLAIN_H_
