#include "ir/forms/forms.h"

#include <map>
#include <string>

#include "gtest/gtest.h"
#include "ir/tbc/writer.h"
#include "ir/tileir/writer.h"

namespace tile::ir {
namespace {

constexpr char kText[] = R"(entry @twice(%x: tile<f32>) {
  %y = addf %x, %x : tile<f32>
  return
}
)";
constexpr char kTtir[] = R"(module {
  tt.func public @twice(%x: f32) {
    %y = arith.addf %x, %x : f32
    tt.return
  }
}
)";

absl::Span<const uint8_t> Bytes(absl::string_view s) { return {reinterpret_cast<const uint8_t*>(s.data()), s.size()}; }

absl::StatusOr<ProgramRead> Read(absl::string_view bytes, const std::string& name, bool verify = true) {
  Diagnostics diagnostics;
  return ReadProgram(Bytes(bytes), name, verify, &diagnostics);
}

// A program of each form.
std::map<FormKind, std::string> Examples() {
  const absl::StatusOr<ProgramRead> text = Read(kText, "twice.tile");
  EXPECT_TRUE(text.ok()) << text.status();
  return {{FormKind::kText, kText},
          {FormKind::kTtir, kTtir},
          {FormKind::kTbc, *WriteTbc(*text->module)},
          {FormKind::kTileIr, *WriteTileIr(*text->module, 1305)}};
}

TEST(Forms, EveryRowReadsItsProgramAndNoOther) {
  const std::map<FormKind, std::string> examples = Examples();
  ASSERT_EQ(examples.size(), Forms().size());
  for (const Form& form : Forms()) {
    SCOPED_TRACE(form.name);
    const std::string& bytes = examples.at(form.kind);
    EXPECT_EQ(FormOf(Bytes(bytes)), &form);
    const absl::StatusOr<ProgramRead> program = Read(bytes, "given");
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_EQ(program->form, &form);
    EXPECT_EQ(program->version, form.kind == FormKind::kTileIr ? 1305 : 0);
    ASSERT_EQ(program->module->functions.size(), 1u);
    EXPECT_EQ(program->module->functions[0]->name, "twice");
    EXPECT_NE(program->module->source_name, "");
  }
}

TEST(Forms, DamageIsAnErrorWithCodeAndFile) {
  for (const auto& [kind, bytes] : Examples()) {
    const absl::StatusOr<ProgramRead> program = Read(absl::string_view(bytes).substr(0, bytes.size() / 2), "cut");
    ASSERT_FALSE(program.ok());
    EXPECT_EQ(program.status().message().substr(0, 3), "cut") << program.status();
    EXPECT_NE(program.status().message().find(": error["), std::string::npos) << program.status();
  }
}

TEST(Forms, WhatIsNoProgramNamesEveryForm) {
  const std::string message(Read(std::string("\0\1\2\3", 4), "x.bin").status().message());
  EXPECT_EQ(message.find("x.bin: error[file.form]: not a kernel"), 0u) << message;
  for (const Form& form : Forms()) EXPECT_NE(message.find(form.noun), std::string::npos) << message;
  EXPECT_EQ(Read("", "x").status().message().substr(0, 40), "x: error[file.form]: the file is empty\n ");
  EXPECT_EQ(ImportedForms(), "Tile IR bytecode or TTIR");
}

TEST(Forms, AnotherKindOfFileIsNamed) {
  const std::string message(Read("PK\3\4 of a zip archive", "x.npz").status().message());
  EXPECT_NE(message.find("error[file.form]: not a kernel but "), std::string::npos) << message;
  // A text is read as tile code first; what the reader says of it is of no use.
  Diagnostics diagnostics;
  const std::string python = "import torch\n\ndef f(x):\n  return x\n";
  const auto program = ReadProgram(Bytes(python), "x.py", true, &diagnostics);
  EXPECT_NE(program.status().message().find("not a kernel but "), std::string::npos) << program.status();
  EXPECT_TRUE(diagnostics.list().empty()) << diagnostics.ToString();
}

TEST(Forms, VerifiesOnlyIfAsked) {
  constexpr char kWrong[] = "entry @f(%x: tile<i32>) {\n  %y = addf %x, %x : tile<i32>\n  return\n}\n";
  Diagnostics diagnostics;
  EXPECT_FALSE(ReadProgram(Bytes(kWrong), "f.tile", true, &diagnostics).ok());
  EXPECT_FALSE(diagnostics.ok());
  const absl::StatusOr<ProgramRead> unverified = Read(kWrong, "f.tile", false);
  ASSERT_TRUE(unverified.ok()) << unverified.status();
  const absl::StatusOr<std::string> tbc = WriteTbc(*unverified->module);
  ASSERT_TRUE(tbc.ok()) << tbc.status();
  EXPECT_TRUE(Read(*tbc, "f.tbc", false).ok());
  EXPECT_NE(Read(*tbc, "f.tbc").status().message().find("error[addf."), std::string::npos);
}

}  // namespace
}  // namespace tile::ir
