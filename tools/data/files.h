// Whole files in and out.
//
// In: a regular file of 1 MiB or more is mapped (private, copy-on-write), so that reading it costs no second copy in
// memory; smaller ones, pipes and "-" (stdin) are read. A stream, whose size is not known beforehand, may be kMaxStreamBytes long. stdin can
// be read once in a process; a second time is an error, not an empty file.
//
// Out: bytes go to FILE.tmp.PID, which Commit() renames to FILE: whoever opens FILE sees the old contents or all of the
// new ones. Without Commit() the temporary file is removed. A symbolic link stays one; what is not a regular file
// (/dev/null, a pipe) is written directly; "-" is stdout.
//
// Messages begin with the file's name. What keeps an output from being written is never kInvalidArgument. Objects belong
// to one thread.
#ifndef TILE_TOOLS_DATA_FILES_H_
#define TILE_TOOLS_DATA_FILES_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/data/array.h"

namespace tile::tools {

inline constexpr int64_t kMaxStreamBytes = int64_t{8} << 30;

// More than `most_bytes` is an error, before memory is taken for it.
absl::StatusOr<AlignedBuffer> ReadWholeFile(const std::string& path, int64_t most_bytes = kMaxBytes);

// `name: message`, with the status's code.
absl::Status WithName(absl::string_view name, const absl::Status& status);
absl::Status WithName(absl::string_view name, absl::string_view message);  // kInvalidArgument

class OutputFile {
 public:
  OutputFile() = default;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();  // removes what was not committed

  // Whether Open would do, found out before there is anything to write. Leaves nothing behind.
  static absl::Status Check(const std::string& path);
  absl::Status Open(const std::string& path);
  absl::Status Write(absl::Span<const uint8_t> bytes);  // small pieces are gathered
  absl::Status Write(absl::string_view text);
  absl::Status Flush();  // so that Commit has nothing left to write
  absl::Status Commit();
  bool is_terminal() const;
  // Counts bytes as they are written.
  void set_progress(std::atomic<int64_t>* written) { written_ = written; }

 private:
  absl::Status WriteOut(absl::Span<const uint8_t> bytes);

  std::string path_;    // as told, for messages
  std::string target_;  // behind symbolic links
  std::string temp_;    // empty: written directly
  std::string pending_;
  int fd_ = -1;
  std::atomic<int64_t>* written_ = nullptr;
};

}  // namespace tile::tools

#endif  // TILE_TOOLS_DATA_FILES_H_
