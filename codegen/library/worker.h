// One compilation in a process of its own, which libtilec.so starts for each tilec_compile. A fatal error of LLVM, a
// crash, or lack of memory or time ends only that process; the caller gets it as an answer.
//
// The process `tilec-worker` gets the request in a file as its standard input and writes the answer to another, its
// standard output. What it says on standard error explains an answer that is missing. Both files begin with a header of
// fixed size; that of the answer is written last, so that an answer is whole or absent.
#ifndef TILE_CODEGEN_LIBRARY_WORKER_H_
#define TILE_CODEGEN_LIBRARY_WORKER_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/jit/tilec_abi.h"

namespace tile::codegen {

inline constexpr uint64_t kWorkerMagic = 0x31726b77636c6974;  // "tilcwrk1"

struct WorkerRequest {
  uint64_t magic = kWorkerMagic;
  int32_t compute_capability = 0;
  int32_t parent = 0;         // process that waits; without it nobody needs the answer
  uint64_t kernel_bytes = 0;  // the kernel's name and the .tbc file follow
  uint64_t tbc_bytes = 0;
};

struct WorkerAnswer {
  uint64_t magic = kWorkerMagic;
  int32_t status = TILEC_INTERNAL;
  uint32_t reserved = 0;
  uint64_t bytes = 0;                  // follow
  std::array<char, 40> build_id = {};  // of the program that answers
};

// What the caller of tilec_compile gets.
struct Answer {
  tilec_status status = TILEC_INTERNAL;
  std::string bytes;  // the .tbc file or the message
};

// Where the program is: TILEC_WORKER, else tilevm/tilec-worker in the folder of the library that has this function; ""
// if nowhere.
std::string FindWorker();

// Starts it and waits. `build_id`: what the program must have. Thread-safe; installs no handlers, needs nothing of the
// host's, leaves no process and no file behind.
Answer AskWorker(const std::string& program, const std::string& build_id, absl::Span<const uint8_t> tbc,
                 absl::string_view kernel, int32_t compute_capability);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LIBRARY_WORKER_H_
