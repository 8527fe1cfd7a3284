// A .tbc file, opened: the bytes at an aligned place, the structure verified, version and features accepted. Nothing in
// it has been read beyond that. Internal to ir/tbc.
#ifndef TILE_IR_TBC_FILE_H_
#define TILE_IR_TBC_FILE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ir/tbc/read_context.h"
#include "ir/tbc/schema.h"

namespace tile::ir {

inline constexpr size_t kTbcAlignment = 32;

class OpenFile {
 public:
  // False after Fail. With `only_look`, a newer version or unknown feature is no error: enough to describe the file.
  bool Open(absl::Span<const uint8_t> bytes, ReadContext* context, bool only_look = false);

  const fbs::File& root() const { return *root_; }
  const fbs::Code& code() const { return *code_; }
  // The code section, as it is hashed.
  absl::Span<const uint8_t> code_bytes() const { return {root_->code()->data(), root_->code()->size()}; }
  // Where the caller's bytes differ from the ones that were read: the same offset in `bytes` as `p` has here.
  const uint8_t* InCallersBytes(const uint8_t* p) const { return callers_ + (p - base_); }

 private:
  struct Free {
    void operator()(uint8_t* p) const;
  };
  const uint8_t* callers_ = nullptr;
  const uint8_t* base_ = nullptr;
  std::unique_ptr<uint8_t, Free> copy_;  // if the caller's bytes are not aligned
  const fbs::File* root_ = nullptr;
  const fbs::Code* code_ = nullptr;
};

}  // namespace tile::ir

#endif  // TILE_IR_TBC_FILE_H_
