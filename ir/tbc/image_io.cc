#include "ir/tbc/image_io.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "ir/limits.h"
#include "ir/tbc/crc32.h"
#include "ir/tbc/interface_io.h"

namespace tile::ir {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::Vector;

class ImageReader {
 public:
  ImageReader(const OpenFile& file, ReadContext* context) : file_(file), context_(*context) {}

  bool Run(const fbs::Image& from, Image* to) {
    const size_t kernels = file_.code().functions() == nullptr ? 0 : file_.code().functions()->size();
    if (from.kernel() >= kernels)
      return context_.Fail("image", "an image of kernel ", from.kernel(), ", which does not exist");
    if (from.kind() > fbs::ImageKind::MAX) {
      return context_.Fail("image", "an image of unknown kind ", static_cast<int>(from.kind()), context_.origin());
    }
    to->kind = static_cast<ImageKind>(from.kind());
    to->kernel = from.kernel();
    to->threads = from.threads();
    to->shared_bytes = from.shared_bytes();
    to->cluster = {from.cluster_x(), from.cluster_y(), from.cluster_z()};
    to->driver_floor = from.driver_floor();
    to->registers = from.registers();
    to->flags = from.flags();
    to->static_shared_bytes = from.static_shared_bytes();
    if (from.code_hash() == nullptr || from.code_hash()->size() != to->code_hash.size()) {
      return context_.Fail("image", "the hash of an image is not 32 bytes long");
    }
    std::copy(from.code_hash()->begin(), from.code_hash()->end(), to->code_hash.begin());
    if (from.payload() != nullptr) {
      to->payload = {file_.InCallersBytes(from.payload()->data()), from.payload()->size()};
    }
    if (from.grid() != nullptr && from.grid()->size() != 3)
      return context_.Fail("image", "a grid of an image has 3 sizes");
    return Text(from.arch(), &to->arch) && Text(from.symbol(), &to->symbol) &&
           Each(from.requirements(), &to->requirements,
                [&](const fbs::Requirement& f, ImageRequirement* t) {
                  return ReadExpr(f.condition(), "a requirement", &context_, &t->condition) && Text(f.text(), &t->text);
                }) &&
           ReadExprs(from.grid(), "the grid of an image", &context_, &to->grid) &&
           Each(from.workspaces(), &to->workspaces, [&](const auto& f, ImageWorkspace* t) { return Work(f, t); }) &&
           Each(from.tma(), &to->tma, [&](const auto& f, TmaDescriptor* t) { return Tma(f, t); }) &&
           Each(from.params(), &to->params, [&](const auto& f, ImageParam* t) { return Param(f, *to, t); }) &&
           Each(from.sites(), &to->sites, [&](const auto& f, ImageSite* t) { return Site(f, t); });
  }

 private:
  template <class F, class T, class Fn>
  bool Each(const Vector<Offset<F>>* from, std::vector<T>* to, Fn fn) {
    if (from == nullptr) return true;
    if (from->size() > kMaxArguments) return context_.Fail("limit", "more than ", kMaxArguments, " parts in an image");
    for (const F* f : *from) {
      if (!context_.Charge(sizeof(T))) return false;
      to->emplace_back();
      if (!fn(*f, &to->back())) return false;
    }
    return true;
  }

  bool Text(const flatbuffers::String* from, std::string* to) {
    if (from == nullptr) return true;
    if (from->size() > kMaxNameBytes)
      return context_.Fail("limit", "a name of over ", kMaxNameBytes, " bytes in an image");
    if (!context_.Charge(from->size())) return false;
    to->assign(from->c_str(), from->size());
    return true;
  }

  bool Work(const fbs::ImageWorkspace& f, ImageWorkspace* t) {
    t->alignment = f.alignment();
    t->zeroed = f.zeroed();
    if (t->alignment == 0 || (t->alignment & (t->alignment - 1)) != 0) {
      return context_.Fail("image", "the alignment of a workspace is no power of two");
    }
    return ReadExpr(f.bytes(), "a workspace", &context_, &t->bytes);
  }

  bool Site(const fbs::ImageSite& f, ImageSite* t) {
    return Text(f.code(), &t->code) && Text(f.where(), &t->where) && Text(f.op(), &t->op) &&
           Text(f.message(), &t->message) &&
           Each(f.operands(), &t->operands, [&](const auto& o, ImageOperand* to) { return Operand(o, to); });
  }

  bool Operand(const fbs::ImageOperand& f, ImageOperand* t) {
    const std::optional<Elem> elem = FromFbs(f.element());
    absl::Span<const int64_t> shape;
    if (!elem) return context_.Fail("image", "an operand of unknown element ", static_cast<int>(f.element()));
    if (!context_.Items(f.shape(), &shape)) return false;
    if (shape.size() > kMaxRank) return context_.Fail("limit", "an operand of over ", kMaxRank, " dimensions");
    int64_t elements = 1;
    for (const int64_t n : shape) {
      if (n < 1 || n > kMaxTileElements || (elements *= n) > kMaxTileElements) {
        return context_.Fail("image", "an operand of more than ", kMaxTileElements, " elements");
      }
    }
    t->element = *elem;
    t->shape.assign(shape.begin(), shape.end());
    return true;
  }

  bool Words(const Vector<uint32_t>* from, std::vector<uint32_t>* to) {
    absl::Span<const uint32_t> items;
    if (!context_.Items(from, &items)) return false;
    if (items.size() > kMaxRank) return context_.Fail("limit", "a descriptor of over ", kMaxRank, " dimensions");
    to->assign(items.begin(), items.end());
    return true;
  }

  bool Tma(const fbs::TmaDescriptor& f, TmaDescriptor* t) {
    const std::optional<Elem> elem = FromFbs(f.element());
    if (!elem) return context_.Fail("image", "a descriptor of unknown element ", static_cast<int>(f.element()));
    t->element = *elem;
    t->base_param = f.base();
    t->swizzle = f.swizzle();
    t->interleave = f.interleave();
    t->l2_promotion = f.l2_promotion();
    t->fill = f.fill();
    return ReadExpr(f.offset(), "a descriptor", &context_, &t->offset) &&
           ReadExprs(f.sizes(), "a descriptor", &context_, &t->sizes) &&
           ReadExprs(f.strides(), "a descriptor", &context_, &t->strides) && Words(f.box(), &t->box) &&
           Words(f.element_strides(), &t->element_strides);
  }

  bool Param(const fbs::ImageParam& f, const Image& image, ImageParam* t) {
    if (f.kind() > fbs::ImageParamKind::MAX)
      return context_.Fail("image", "a parameter of unknown kind", context_.origin());
    t->kind = static_cast<ImageParam::Kind>(f.kind());
    t->index = f.index();
    if ((t->kind == ImageParam::Kind::kWorkspace && t->index >= image.workspaces.size()) ||
        (t->kind == ImageParam::Kind::kTmaDescriptor && t->index >= image.tma.size())) {
      return context_.Fail("image", "a parameter refers to a workspace or descriptor that does not exist");
    }
    return ReadExpr(f.value(), "a parameter of an image", &context_, &t->value);
  }

  const OpenFile& file_;
  ReadContext& context_;
};

static_assert(static_cast<int>(ImageKind::kPtx) == static_cast<int>(fbs::ImageKind::MAX));
static_assert(static_cast<int>(ImageParam::Kind::kWorkspace) == static_cast<int>(fbs::ImageParamKind::Workspace));
static_assert(static_cast<int>(ImageParam::Kind::kTmaDescriptor) ==
              static_cast<int>(fbs::ImageParamKind::TmaDescriptor));
static_assert(static_cast<int>(ImageParam::Kind::kValue32) == static_cast<int>(fbs::ImageParamKind::Value32));
static_assert(static_cast<int>(ImageParam::Kind::kValue64) == static_cast<int>(fbs::ImageParamKind::MAX));

template <class T, class List, class Fn>
Offset<Vector<Offset<T>>> WriteAll(const List& list, FlatBufferBuilder* fbb, Fn fn) {
  std::vector<Offset<T>> rows;
  for (const auto& item : list) rows.push_back(fn(item));
  return rows.empty() ? 0 : fbb->CreateVector(rows);
}

Offset<fbs::TmaDescriptor> WriteTma(const TmaDescriptor& t, FlatBufferBuilder* fbb) {
  const auto offset = WriteExpr(t.offset, fbb);
  const auto sizes = WriteExprs(t.sizes, fbb);
  const auto strides = WriteExprs(t.strides, fbb);
  const auto box = t.box.empty() ? 0 : fbb->CreateVector(t.box);
  const auto element_strides = t.element_strides.empty() ? 0 : fbb->CreateVector(t.element_strides);
  return fbs::CreateTmaDescriptor(*fbb, ToFbs(t.element), t.base_param, offset, sizes, strides, box, element_strides,
                                  t.swizzle, t.interleave, t.l2_promotion, t.fill);
}

Offset<fbs::ImageSite> WriteSite(const ImageSite& s, FlatBufferBuilder* fbb) {
  const auto text = [&](const std::string& t) {
    return t.empty() ? Offset<flatbuffers::String>(0) : fbb->CreateString(t);
  };
  const auto code = text(s.code), where = text(s.where), op = text(s.op), message = text(s.message);
  const auto operands = WriteAll<fbs::ImageOperand>(s.operands, fbb, [&](const ImageOperand& o) {
    const auto shape = o.shape.empty() ? 0 : fbb->CreateVector(o.shape);
    return fbs::CreateImageOperand(*fbb, ToFbs(o.element), shape);
  });
  return fbs::CreateImageSite(*fbb, code, where, op, message, operands);
}

Offset<fbs::Image> WriteImage(const Image& image, FlatBufferBuilder* fbb) {
  const auto arch = fbb->CreateString(image.arch);
  const auto symbol = fbb->CreateString(image.symbol);
  const auto requirements = WriteAll<fbs::Requirement>(image.requirements, fbb, [&](const ImageRequirement& r) {
    const auto condition = WriteExpr(r.condition, fbb);
    const auto text = fbb->CreateString(r.text);
    return fbs::CreateRequirement(*fbb, condition, text);
  });
  const auto grid = WriteExprs(image.grid, fbb);
  const auto params = WriteAll<fbs::ImageParam>(image.params, fbb, [&](const ImageParam& p) {
    const auto value = WriteExpr(p.value, fbb);
    return fbs::CreateImageParam(*fbb, static_cast<fbs::ImageParamKind>(p.kind), p.index, value);
  });
  const auto workspaces = WriteAll<fbs::ImageWorkspace>(image.workspaces, fbb, [&](const ImageWorkspace& w) {
    const auto bytes = WriteExpr(w.bytes, fbb);
    return fbs::CreateImageWorkspace(*fbb, bytes, w.alignment, w.zeroed);
  });
  const auto tma =
      WriteAll<fbs::TmaDescriptor>(image.tma, fbb, [&](const TmaDescriptor& t) { return WriteTma(t, fbb); });
  const auto sites = WriteAll<fbs::ImageSite>(image.sites, fbb, [&](const ImageSite& s) { return WriteSite(s, fbb); });
  const auto hash = fbb->CreateVector(image.code_hash.data(), image.code_hash.size());
  fbb->ForceVectorAlignment(image.payload.size(), 1, kTbcAlignment);
  const auto payload = fbb->CreateVector(image.payload.data(), image.payload.size());
  return fbs::CreateImage(*fbb, static_cast<fbs::ImageKind>(image.kind), arch, image.kernel, symbol, requirements,
                          image.threads, image.shared_bytes, image.cluster[0], image.cluster[1], image.cluster[2], grid,
                          params, workspaces, tma, image.driver_floor, image.registers, image.flags, hash, payload,
                          image.static_shared_bytes, sites, Crc32(image.payload));
}

std::string KernelName(const OpenFile& file, uint32_t kernel) {
  const auto* strings = file.code().strings();
  const uint32_t name = file.code().functions()->Get(kernel)->name();
  return strings != nullptr && name < strings->size() ? strings->Get(name)->str() : absl::StrCat("number ", kernel);
}

bool CheckPayload(const OpenFile& file, const fbs::Image& from, const Image& image, size_t position,
                  ReadContext* context) {
  if (!from.payload_crc32().has_value()) return true;                              // of an earlier writer
  if (!context->Charge(static_cast<int64_t>(image.payload.size()))) return false;  // images may share a payload
  const uint32_t crc = Crc32(image.payload);
  if (crc == *from.payload_crc32()) return true;
  return context->Fail("damaged", "image ", position, ", ", image.arch, " code of kernel `",
                       KernelName(file, image.kernel).substr(0, kMaxNameBytes), "`, is damaged: ",
                       absl::StrFormat("its CRC-32 is %08x, the file says %08x", crc, *from.payload_crc32()),
                       "\n  fix: take an undamaged copy of the file, or compile the module again");
}

}  // namespace

bool ReadImages(const OpenFile& file, ReadContext* context, std::vector<Image>* images, bool check_payloads) {
  if (file.root().images() == nullptr) return true;
  if (file.root().images()->size() > kMaxFunctions)
    return context->Fail("limit", "more than ", kMaxFunctions, " images");
  for (const fbs::Image* i : *file.root().images()) {
    if (!context->Charge(sizeof(Image))) return false;
    images->emplace_back();
    if (!ImageReader(file, context).Run(*i, &images->back())) return false;
    if (check_payloads && !CheckPayload(file, *i, images->back(), images->size() - 1, context)) return false;
  }
  return true;
}

absl::StatusOr<Offset<ImageList>> WriteImages(absl::Span<const Image> images, size_t num_kernels,
                                              FlatBufferBuilder* fbb) {
  std::vector<Offset<fbs::Image>> rows;
  for (const Image& image : images) {
    if (image.kernel >= num_kernels) {
      return absl::InvalidArgumentError(
          absl::StrCat("an image of kernel ", image.kernel, ", the module has ", num_kernels));
    }
    if (!image.grid.empty() && image.grid.size() != 3)
      return absl::InvalidArgumentError("a grid of an image has 3 sizes");
    rows.push_back(WriteImage(image, fbb));
  }
  return rows.empty() ? Offset<ImageList>(0) : fbb->CreateVector(rows);
}

}  // namespace tile::ir
