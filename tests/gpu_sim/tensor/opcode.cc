#include "tests/gpu_sim/tensor/opcode.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tile::gpu_sim {

absl::Status UnknownForm(Opcode opcode, absl::string_view why) {
  return absl::UnimplementedError(
      absl::StrCat("the simulator does not know `", absl::StrJoin(opcode, "."), "`: ", why));
}

bool OpcodeReader::Take(absl::string_view part) {
  if (done() || opcode_[at_] != part) return false;
  ++at_;
  return true;
}

absl::string_view OpcodeReader::Next() { return done() ? absl::string_view() : opcode_[at_++]; }

absl::Status OpcodeReader::Finish() const {
  return done() ? absl::OkStatus() : Unknown(absl::StrCat("it has `.", opcode_[at_], "`"));
}

}  // namespace tile::gpu_sim
