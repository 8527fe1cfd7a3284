// The opcode of an instruction, split at its dots: {"mma", "sync", "aligned", "m16n8k16", "row", …}.
#ifndef TILE_TESTS_GPU_SIM_TENSOR_OPCODE_H_
#define TILE_TESTS_GPU_SIM_TENSOR_OPCODE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tile::gpu_sim {

using Opcode = absl::Span<const absl::string_view>;

// "the simulator does not know `mma.sync.…`: <why>".
absl::Status UnknownForm(Opcode opcode, absl::string_view why);

// Takes the opcode apart, part by part.
class OpcodeReader {
 public:
  explicit OpcodeReader(Opcode opcode) : opcode_(opcode) {}

  // True, and the part is consumed, if it is the next one.
  bool Take(absl::string_view part);
  // The next part; empty behind the last.
  absl::string_view Next();
  absl::string_view Peek() const { return done() ? absl::string_view() : opcode_[at_]; }
  bool done() const { return at_ >= opcode_.size(); }
  // An error that names the whole opcode.
  absl::Status Unknown(absl::string_view why) const { return UnknownForm(opcode_, why); }
  // An error if parts are left, or the next one was not as expected.
  absl::Status Finish() const;

 private:
  Opcode opcode_;
  size_t at_ = 0;
};

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_TENSOR_OPCODE_H_
