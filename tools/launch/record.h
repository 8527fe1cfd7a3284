// Recorded launches: NAME.json with the module beside it (.tbc, .tilebc, .ttir or .tile), the memory before (NAME.before) and
// after (NAME.after). The .json holds
//   {"symbol": kernel, "grid": [x, y, z], "sizes": [bytes of each memory block…],
//    "params": [["array", block, byte offset, element type, shape, strides, 32 or 64], ["scalar", type, value],
//               ["pointer", block, byte offset, element type], …]}
// An array stands for its pointer, its sizes and its strides, each a parameter of the kernel; a pointer for itself. Blocks
// are one after the other in .before and .after.
#ifndef TILE_TOOLS_LAUNCH_RECORD_H_
#define TILE_TOOLS_LAUNCH_RECORD_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "tools/data/files.h"
#include "tools/launch/run_launch.h"

namespace tile::tools {

struct RecordedParam {
  enum class Kind { kArray, kScalar, kPointer } kind = Kind::kScalar;
  int64_t block = 0, offset = 0;  // array, pointer
  ir::Element element;            // array, pointer; scalar: its type
  bool is_unsigned = false;
  std::vector<int64_t> shape, strides;  // array
  uint64_t bits = 0;                    // scalar
};

struct RecordedLaunch {
  std::string symbol;
  std::vector<int64_t> grid;
  std::vector<int64_t> sizes;
  std::vector<RecordedParam> params;
};

// Errors name the field and the offset in the text.
absl::StatusOr<RecordedLaunch> ParseRecord(absl::string_view json);

// The file of the module beside NAME.json; `base` is its path without ".json". Error: NotFound.
absl::StatusOr<std::string> FindRecordedModule(const std::string& base);

// Writes a launch: Before() ahead of running it, After() when it has run; only then the files appear. One that trapped has no
// .after. Errors: InvalidArgument if the module cannot be written, else of the system.
class Recorder {
 public:
  absl::Status Before(const std::string& name, const ir::Module& module, PreparedRun& run);
  absl::Status After(const PreparedRun& run, bool trapped);

 private:
  std::string name_;
  std::vector<size_t> blocks_;  // of the run's memory, in the order of the files
  OutputFile tbc_, json_, before_;
};

}  // namespace tile::tools

#endif  // TILE_TOOLS_LAUNCH_RECORD_H_
