// What `tilevm run --json` prints: one object on one line.
//
//   {"kernel":"matmul","grid":[4,4,1],"blocks":16,"orders":1,"ms":1.25,"result":"ok",
//    "outputs":[{"name":"c","type":"f32","shape":[128,128],"min":-1.5,"max":3.25,"mean":0.5,"nan":0,"inf":0,"files":["c.npy"]}],
//    "expect":[{"name":"c","count":16384,"differing":0,"max_abs":0,"max_rel":0,"max_ulp":0}]}
//
// `result` is ok, differs or trapped. min, max and mean are those of the finite elements, null if there are none; largest
// differences that are not finite are null. A trapped launch has "reports" instead of outputs: diagnostics as in diagnostic_json.h, with
// where (file:line:col), kernel, op, block, and order if the blocks started in another than the linear one. A report that several blocks make
// stands once, with the first of them and "others":{"count":31,"first":[1,0,0],"last":[31,0,0]}. "warnings" is a list of the same, if there
// are any.
#ifndef TILE_TOOLS_TILEVM_RUN_REPORT_H_
#define TILE_TOOLS_TILEVM_RUN_REPORT_H_

#include <string>
#include <vector>

#include "tools/data/compare_arrays.h"
#include "tools/launch/run_launch.h"
#include "tools/launch/timed_run.h"

namespace tile::tools {

struct RunReport {
  struct Output {
    const BoundArray* array;
    std::vector<std::string> files;
  };
  struct Expected {
    std::string name;
    Comparison comparison;
  };
  std::string kernel;
  std::vector<Output> outputs;
  std::vector<Expected> expected;
};

std::string ToJson(const RunReport& report, const PreparedRun& run, const RunOutcome& outcome);

// A number as JSON has it: null if it is not finite.
std::string JsonNumber(double x);

}  // namespace tile::tools

#endif  // TILE_TOOLS_TILEVM_RUN_REPORT_H_
