// Modules with machine code for the GPU that runtime/cuda/fake_cuda.h plays.
#ifndef TILE_TESTS_CAPI_FAKE_MODULE_H_
#define TILE_TESTS_CAPI_FAKE_MODULE_H_

#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "ir/tbc/writer.h"
#include "ir/text/parser.h"

namespace tile {

// The .tbc of `text` with an image for sm_90a of its kernel `symbol`, whose parameters take `parameters` bytes each, in the words of the
// fake driver ("8 8 4"). `edit` changes the image.
inline std::string FakeModule(absl::string_view text, const std::string& symbol, absl::string_view parameters,
                              const std::function<void(ir::Image*)>& edit = nullptr) {
  ir::Diagnostics diagnostics;
  const auto module = ir::Parse(text, "k.tile", &diagnostics);
  EXPECT_NE(module, nullptr) << diagnostics.ToString();
  const std::string code = absl::StrCat("FAKECUBIN ", symbol, " ", parameters, "\n");
  ir::Image image;
  image.arch = "sm_90a";
  image.symbol = symbol;
  image.threads = 128;
  image.flags = ir::kTileAbi;
  image.code_hash = *ir::HashCode(*module);
  image.payload = {reinterpret_cast<const uint8_t*>(code.data()), code.size()};
  if (edit) edit(&image);
  return *ir::WriteTbc(*module, {.images = {&image, 1}});
}

}  // namespace tile

#endif  // TILE_TESTS_CAPI_FAKE_MODULE_H_
