#include <cstring>
#include <string>

#include "gtest/gtest.h"
#include "runtime/forms/tilevm_forms.h"

namespace {

constexpr char kText[] = R"(entry @twice(%x: tile<ptr<f32>>) interface {
  inout x: f32[1] at %x
  grid 1
} {
  %v, %t = load_ptr_tko weak %x : tile<ptr<f32>> -> tile<f32>, token
  %w = addf %v, %v : tile<f32>
  %u = store_ptr_tko weak %x, %w token = %t : tile<ptr<f32>>, tile<f32> -> token
  return
}
)";

struct Result {
  tilevm_status status;
  std::string bytes, warnings;
};

Result Translate(const std::string& in, tilevm_translate_options o) {
  o.struct_size = sizeof o;
  if (o.name == nullptr) o.name = "twice.tile";
  tilevm_bytes* out = nullptr;
  Result r{tilevm_translate(in.data(), in.size(), &o, &out), "", ""};
  EXPECT_NE(out, nullptr);
  r.bytes.assign(tilevm_bytes_data(out), tilevm_bytes_size(out));
  EXPECT_EQ(tilevm_bytes_data(out)[r.bytes.size()], '\0');
  r.warnings = tilevm_bytes_warnings(out);
  tilevm_bytes_destroy(out);
  return r;
}

tilevm_translate_options To(int32_t form) {
  tilevm_translate_options o = {};
  o.form = form;
  return o;
}

TEST(Translate, EveryFormToEveryOther) {
  const Result tbc = Translate(kText, To(TILEVM_FORM_TBC));
  ASSERT_EQ(tbc.status, TILEVM_OK) << tbc.bytes;
  const Result tileir = Translate(tbc.bytes, To(TILEVM_FORM_TILEIR));
  ASSERT_EQ(tileir.status, TILEVM_OK) << tileir.bytes;
  const Result text = Translate(tbc.bytes, To(TILEVM_FORM_TEXT));
  ASSERT_EQ(text.status, TILEVM_OK) << text.bytes;
  EXPECT_NE(text.bytes.find("entry @twice"), std::string::npos) << text.bytes;
  EXPECT_EQ(Translate(text.bytes, To(TILEVM_FORM_TEXT)).bytes, text.bytes);
  EXPECT_EQ(Translate(tbc.bytes, To(TILEVM_FORM_TBC)).bytes, tbc.bytes);
  const Result back = Translate(tileir.bytes, To(TILEVM_FORM_TEXT));
  ASSERT_EQ(back.status, TILEVM_OK) << back.bytes;
  EXPECT_NE(back.bytes.find("addf"), std::string::npos);
  for (const std::string& in : {std::string(kText), tbc.bytes, tileir.bytes}) {
    const Result json = Translate(in, To(TILEVM_FORM_JSON));
    ASSERT_EQ(json.status, TILEVM_OK) << json.bytes;
    EXPECT_NE(json.bytes.find("\"name\": \"twice\""), std::string::npos) << json.bytes;
  }
  EXPECT_NE(Translate(tileir.bytes, To(TILEVM_FORM_JSON)).bytes.find(R"("form": "tileir", "version": "13.1")"),
            std::string::npos);
}

TEST(Translate, MistakesHaveTheirPlaces) {
  std::string wrong = kText;
  wrong.replace(wrong.find("addf"), 4, "addi");
  const Result r = Translate(wrong, To(TILEVM_FORM_TBC));
  EXPECT_EQ(r.status, TILEVM_INVALID_MODULE);
  EXPECT_EQ(r.bytes.rfind("twice.tile:6:", 0), 0u) << r.bytes;
  EXPECT_NE(r.bytes.find("error["), std::string::npos) << r.bytes;
  tilevm_translate_options unverified = To(TILEVM_FORM_TEXT);
  unverified.no_verify = 1;
  EXPECT_EQ(Translate(wrong, unverified).status, TILEVM_OK);
}

TEST(Translate, PlacesOfTheTextStay) {
  const Result tbc = Translate(kText, To(TILEVM_FORM_TBC));
  const Result text = Translate(tbc.bytes, To(TILEVM_FORM_TEXT));
  EXPECT_NE(text.bytes.find(R"(loc("twice.tile":6:8 in)"), std::string::npos) << text.bytes;
  tilevm_translate_options without = To(TILEVM_FORM_TBC);
  without.no_debug = 1;
  EXPECT_EQ(Translate(Translate(tbc.bytes, without).bytes, To(TILEVM_FORM_TEXT)).bytes.find("loc("), std::string::npos);
}

TEST(Translate, OtherBytesAndOptionsAreRefused) {
  EXPECT_NE(Translate("", To(TILEVM_FORM_TBC)).bytes.find("error[file.form]"), std::string::npos);
  EXPECT_NE(Translate(std::string("\0\1\2\3", 4), To(TILEVM_FORM_TBC)).bytes.find("error[file.form]"),
            std::string::npos);
  EXPECT_EQ(Translate(kText, To(7)).status, TILEVM_INVALID_ARGUMENT);
  tilevm_translate_options o = To(TILEVM_FORM_TILEIR);
  o.version = 1309;
  EXPECT_NE(Translate(kText, o).bytes.find("error[forms.version]"), std::string::npos);
  EXPECT_EQ(tilevm_translate(kText, strlen(kText), nullptr, nullptr), TILEVM_INVALID_ARGUMENT);
  tilevm_bytes* out = nullptr;
  tilevm_translate_options unset = {};
  EXPECT_EQ(tilevm_translate(kText, strlen(kText), &unset, &out), TILEVM_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tilevm_bytes_data(out)).find("struct_size"), std::string::npos);
  tilevm_bytes_destroy(out);
  EXPECT_EQ(tilevm_translate(nullptr, 4, nullptr, &out), TILEVM_INVALID_ARGUMENT);
  tilevm_bytes_destroy(out);
  tilevm_bytes_destroy(nullptr);
}

}  // namespace
