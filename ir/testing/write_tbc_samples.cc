// Writes the sample modules as files: write_tbc_samples FOLDER.
#include <fstream>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "ir/tbc/writer.h"
#include "ir/testing/tbc_samples.h"

int main(int argc, char** argv) {
  using namespace tile::ir;
  if (argc != 2) {
    std::cerr << "usage: write_tbc_samples FOLDER\n";
    return 2;
  }
  const Image image = SampleImage();
  const struct {
    const char* name;
    std::unique_ptr<Module> module;
    absl::Span<const Image> images;
  } samples[] = {{"empty", std::make_unique<Module>(), {}},
                 {"least", EveryOp(false), {}},
                 {"full", EveryOp(true), {}},
                 {"else", EverythingElse(), {&image, 1}},
                 {"typical", Typical(40), {}}};
  for (const auto& s : samples) {
    const absl::StatusOr<std::string> bytes = WriteTbc(*s.module, {.images = s.images});
    if (!bytes.ok()) {
      std::cerr << s.name << ": " << bytes.status() << "\n";
      return 1;
    }
    std::ofstream file(absl::StrCat(argv[1], "/", s.name, ".tbc"), std::ios::binary);
    if (!(file << *bytes).flush()) {
      std::cerr << argv[1] << ": can't write " << s.name << ".tbc\n";
      return 1;
    }
  }
  return 0;
}
