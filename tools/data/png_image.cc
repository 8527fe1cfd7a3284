// libpng reports errors by longjmp, which must not cross live C++ objects: everything that has a destructor lives
// outside of the functions that call setjmp, and these keep their state in a struct of the caller.

#include "tools/data/png_image.h"

#include <png.h>

#include <csetjmp>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tile::tools {
namespace {

constexpr uint64_t kMaxExpansion = 1032;  // of deflate
constexpr png_uint_32 kMaxSide = 1 << 24;

struct Failure {
  char message[160] = "libpng failed";
};

[[noreturn]] void OnError(png_structp png, png_const_charp message) {
  Failure* failure = static_cast<Failure*>(png_get_error_ptr(png));
  std::strncpy(failure->message, message, sizeof(failure->message) - 1);
  png_longjmp(png, 1);
}
void OnWarning(png_structp, png_const_charp) {}

struct Reader {
  absl::Span<const uint8_t> file;
  size_t at = 0;
  Failure failure;
  png_structp png = nullptr;
  png_infop info = nullptr;
  png_uint_32 width = 0, height = 0;
  int depth = 0, channels = 0;
  size_t packed_row = 0;  // bytes of a row as it was compressed

  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
};

void OnRead(png_structp png, png_bytep out, size_t size) {
  Reader* r = static_cast<Reader*>(png_get_io_ptr(png));
  if (size > r->file.size() - r->at) png_error(png, "the file is cut off");
  std::memcpy(out, r->file.data() + r->at, size);
  r->at += size;
}

bool ReadHeader(Reader* r) {
  if (setjmp(png_jmpbuf(r->png)) != 0) return false;
  png_set_read_fn(r->png, r, OnRead);
  png_set_user_limits(r->png, kMaxSide, kMaxSide);
  png_read_info(r->png, r->info);
  r->width = png_get_image_width(r->png, r->info);
  r->height = png_get_image_height(r->png, r->info);
  r->depth = png_get_bit_depth(r->png, r->info);
  r->packed_row = png_get_rowbytes(r->png, r->info);
  const int color = png_get_color_type(r->png, r->info);
  if (color == PNG_COLOR_TYPE_PALETTE) {
    png_set_palette_to_rgb(r->png);
    if (png_get_valid(r->png, r->info, PNG_INFO_tRNS)) png_set_tRNS_to_alpha(r->png);
  } else if (r->depth < 8) {
    png_set_expand_gray_1_2_4_to_8(r->png);
  }
  png_set_interlace_handling(r->png);
  png_read_update_info(r->png, r->info);
  r->channels = png_get_channels(r->png, r->info);
  return true;
}

bool ReadRows(Reader* r, png_bytepp rows) {
  if (setjmp(png_jmpbuf(r->png)) != 0) return false;
  png_read_image(r->png, rows);
  png_read_end(r->png, nullptr);
  return true;
}

struct Writer {
  OutputFile* out;
  absl::Status* status;
  Failure failure;
  png_structp png = nullptr;
  png_infop info = nullptr;

  ~Writer() { png_destroy_write_struct(&png, &info); }
};

void OnWrite(png_structp png, png_bytep bytes, size_t size) {
  Writer* w = static_cast<Writer*>(png_get_io_ptr(png));
  if (w->status->ok()) *w->status = w->out->Write(absl::Span<const uint8_t>(bytes, size));
}
void OnFlush(png_structp) {}

bool WriteRows(Writer* w, png_uint_32 height, png_uint_32 width, int color, const uint8_t* bytes, size_t row) {
  if (setjmp(png_jmpbuf(w->png)) != 0) return false;
  png_set_write_fn(w->png, w, OnWrite, OnFlush);
  png_set_IHDR(w->png, w->info, width, height, 8, color, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(w->png, w->info);
  for (png_uint_32 y = 0; y < height; ++y) png_write_row(w->png, bytes + y * row);
  png_write_end(w->png, nullptr);
  return true;
}

}  // namespace

absl::StatusOr<Array> ReadPng(absl::Span<const uint8_t> file, absl::string_view name) {
  if (file.size() < 8 || png_sig_cmp(file.data(), 0, 8) != 0) return WithName(name, "is not a PNG image");
  Reader r;
  r.file = file;
  r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r.failure, OnError, OnWarning);
  if (r.png != nullptr) r.info = png_create_info_struct(r.png);
  if (r.info == nullptr) return WithName(name, absl::ResourceExhaustedError("no memory to read it"));
  const auto failed = [&] { return WithName(name, absl::StrCat("offset ", r.at, ": ", r.failure.message)); };
  if (!ReadHeader(&r)) return failed();
  if (r.depth > 8) {
    return WithName(name, absl::StrCat("has ", r.depth, " bits a sample; convert it to 8, or to .npy"));
  }
  // Each row is compressed with a byte in front of it.
  if ((uint64_t{r.packed_row} + 1) * r.height / kMaxExpansion > file.size()) {
    return WithName(
        name, absl::StrCat("offset 16: ", file.size(), " bytes cannot hold ", r.width, " x ", r.height, " pixels"));
  }
  std::vector<int64_t> shape = {r.height, r.width};
  if (r.channels > 1) shape.push_back(r.channels);
  absl::StatusOr<Array> array = Array::Make(ir::Element::Number(ir::Elem::kI8), std::move(shape));
  if (!array.ok()) return WithName(name, array.status());
  array->is_unsigned = true;
  const size_t row = size_t{r.width} * r.channels;
  std::vector<png_bytep> rows(r.height);
  for (size_t y = 0; y < rows.size(); ++y) rows[y] = array->bytes.data() + y * row;
  if (!ReadRows(&r, rows.data())) return failed();
  return array;
}

absl::Status WritePng(const ArrayView& array, OutputFile& out) {
  static constexpr int kColor[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                   PNG_COLOR_TYPE_RGB_ALPHA};
  const size_t rank = array.shape.size();
  const int64_t channels = rank == 3 ? array.shape[2] : 1;
  if (array.element.kind != ir::Elem::kI8 || rank < 2 || rank > 3 || channels < 1 || channels > 4) {
    return absl::InvalidArgumentError(
        absl::StrCat(TypeText(array),
                     " is not an image; .png takes i8 [height,width] or [height,width,1 to 4], .npy takes any array"));
  }
  const int64_t height = array.shape[0], width = array.shape[1];
  if (height < 1 || width < 1 || height > kMaxSide || width > kMaxSide) {
    return absl::InvalidArgumentError(
        absl::StrCat("an image of ", width, " x ", height, " pixels; .png takes 1 to ", kMaxSide, " a side"));
  }
  absl::Status status;
  Writer w;
  w.out = &out;
  w.status = &status;
  w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &w.failure, OnError, OnWarning);
  if (w.png != nullptr) w.info = png_create_info_struct(w.png);
  if (w.info == nullptr) return absl::ResourceExhaustedError("no memory to write a PNG image");
  const bool done = WriteRows(&w, height, width, kColor[channels - 1], array.bytes.data(), width * channels);
  if (!status.ok()) return status;
  return done ? absl::OkStatus() : absl::InternalError(w.failure.message);
}

}  // namespace tile::tools
