#include "ir/tbc/file.h"

#include <cstring>
#include <new>

#include "absl/strings/str_join.h"
#include "ir/limits.h"
#include "ir/tbc/version.h"

namespace tile::ir {
namespace {

// Every table costs the verifier some time; a file needs one per type, constant, argument and the like.
constexpr flatbuffers::uoffset_t kMaxTables = 1 << 22;

flatbuffers::Verifier MakeVerifier(const uint8_t* data, size_t size) {
  flatbuffers::Verifier::Options options;
  options.max_depth = 16;
  options.max_tables = kMaxTables;
  options.check_nested_flatbuffers = false;  // with the options above, below
  return flatbuffers::Verifier(data, size, options);
}

}  // namespace

void OpenFile::Free::operator()(uint8_t* p) const { ::operator delete (p, std::align_val_t{kTbcAlignment}); }

bool OpenFile::Open(absl::Span<const uint8_t> bytes, ReadContext* context, bool only_look) {
  if (static_cast<int64_t>(bytes.size()) > kMaxFileBytes)
    return context->Fail("limit", "a .tbc file is smaller than 2 GiB");
  if (bytes.size() < 16 || std::memcmp(bytes.data() + 4, "TBC", 3) != 0) {
    return context->Fail("format", "this is no .tbc file");
  }
  callers_ = base_ = bytes.data();
  if (reinterpret_cast<uintptr_t>(base_) % kTbcAlignment != 0) {
    copy_.reset(static_cast<uint8_t*>(::operator new (bytes.size(), std::align_val_t{kTbcAlignment})));
    std::memcpy(copy_.get(), bytes.data(), bytes.size());
    base_ = copy_.get();
  }
  if (base_[7] != fbs::FileIdentifier()[3]) {
    return context->Fail("version", "the file is of format TBC",
                         absl::string_view(reinterpret_cast<const char*>(base_) + 7, 1),
                         ", this reader knows TBC0 (versions 0.1 to ", kCurrentTbcVersion.ToString(), ")");
  }
  flatbuffers::Verifier verifier = MakeVerifier(base_, bytes.size());
  if (!fbs::VerifyFileBuffer(verifier)) return context->Fail("format", "the file is damaged or cut short");
  root_ = fbs::GetFile(base_);

  const TbcVersion version = {root_->version_major(), root_->version_minor()};
  if (version.major != kCurrentTbcVersion.major && !only_look) {
    return context->Fail("version", "the file is of version ", version.ToString(), ", this reader knows 0.1 to ",
                         kCurrentTbcVersion.ToString());
  }
  const uint64_t unknown = root_->features() & ~KnownTbcFeatures();
  if (unknown != 0 && !only_look) {
    return context->Fail("feature", "the file needs features that this reader does not know: ",
                         absl::StrJoin(TbcFeatureNames(unknown), ", "), "; the file is of version ", version.ToString(),
                         ", this reader of ", kCurrentTbcVersion.ToString());
  }
  if (kCurrentTbcVersion < version) {
    context->set_origin(absl::StrCat("; the file is of version ", version.ToString(), ", this reader of ",
                                     kCurrentTbcVersion.ToString()));
  }
  if (root_->code() == nullptr) return context->Fail("format", "the file has no code section");
  const uint8_t* code = root_->code()->data();
  const size_t size = root_->code()->size();
  if ((code - base_) % kTbcAlignment != 0)
    return context->Fail("format", "the code section is not aligned to 32 bytes");
  flatbuffers::Verifier nested = MakeVerifier(code, size);
  if (!nested.VerifyBuffer<fbs::Code>(nullptr)) return context->Fail("format", "the code section is damaged");
  code_ = flatbuffers::GetRoot<fbs::Code>(code);
  return true;
}

}  // namespace tile::ir
