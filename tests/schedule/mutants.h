// Changes each synchronising operation of a program at the GPU level once, and counts how many of the changed programs are found to be wrong.
//
//   MutantTable table;
//   table.Add(module, before, 20);        // the first kernel of the module; `before` may be null (codegen/gpu/schedule/run.h)
//   table.ToString();                     // for each kind of change: mutants, found by rules, found by runs, not found
//   table.survivors();                    // {"barrier_wait dropped", "barrier_wait of line 12"}
//
// A change leaves an operation out, or moves it behind the next or in front of the previous operation that has to do with memory,
// synchronisation or control flow, where the values that it takes and gives allow that.
#ifndef TILE_TESTS_SCHEDULE_MUTANTS_H_
#define TILE_TESTS_SCHEDULE_MUTANTS_H_

#include <map>
#include <string>
#include <vector>

#include "ir/module.h"

namespace tile::codegen::schedule {

class MutantTable {
 public:
  struct Survivor {
    std::string kind, place;
  };

  void Add(const ir::Module& module, const ir::Function* before, int seeds);

  std::string ToString() const;
  const std::vector<Survivor>& survivors() const { return survivors_; }
  int mutants() const;

 private:
  struct Row {
    int mutants = 0, by_rules = 0, by_runs = 0;
  };
  std::map<std::string, Row> rows_;  // by what was changed
  std::vector<Survivor> survivors_;
};

}  // namespace tile::codegen::schedule

#endif  // TILE_TESTS_SCHEDULE_MUTANTS_H_
