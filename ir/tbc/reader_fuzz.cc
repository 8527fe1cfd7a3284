// Any bytes: an error, or a module that can be written, and what was written reads back as the same module.
#include <cstdio>
#include <cstdlib>

#include "ir/compare.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/writer.h"
#include "ir/verify/verify.h"

namespace {

void Require(bool ok, const std::string& what) {
  if (ok) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tile::ir;
  static_cast<void>(InspectTbc({data, size}));
  const auto module = ReadTbc({data, size}, "fuzz");
  if (!module.ok()) return 0;
  Diagnostics ignored;
  Verify(**module, &ignored);  // must be able to run
  const auto images = ReadTbcImages({data, size}, "fuzz");
  Require(images.ok(), images.status().ToString());
  const auto bytes = WriteTbc(**module, {.images = *images});
  Require(bytes.ok(), bytes.status().ToString());
  const auto again = ReadTbc({reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size()}, "fuzz");
  Require(again.ok(), again.status().ToString());
  const std::string difference = FirstDifference(**module, **again);
  Require(difference.empty(), difference);
  return 0;
}
