// Types as text: tile<16x8xf32>, ptr<f16>, tensor_view<?x8xf32, strides=[?,1], shared>, the views over it, token.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "ir/foreign_names.h"
#include "ir/text/parser_internal.h"

namespace tile::ir::text {

bool Parser::ParseElem(Elem* elem) {
  if (!Expand()) return false;
  const std::optional<Elem> e = tok_.kind == Tok::kIdent ? FindElem(tok_.text) : std::nullopt;
  if (!e) {
    return FailExpected("an element type", tok_.kind == Tok::kIdent ? ElementAdvice(tok_.text)
                                           : tok_.is(">")           ? "name the element behind the sizes: tile<4x8xf32>"
                                           : tok_.kind == Tok::kFloat || tok_.kind == Tok::kInt
                                               ? "name the element first: <f32: 0.0>"
                                               : "");
  }
  *elem = *e;
  Advance();
  return true;
}

bool Parser::ParseElement(Element* element) {
  if (!Expand()) return false;
  if (!Accept("ptr")) {
    Elem e;
    if (!ParseElem(&e)) return false;
    *element = Element::Number(e);
    return true;
  }
  Elem to;
  if (!Expect("<", "after ptr") || !ParseElem(&to) || !Expect(">", "after the element of a pointer")) return false;
  *element = Element::Pointer(to);
  return true;
}

// Sizes joined by `x`, with one behind the last if an element type follows: `16x8x`. They are no tokens ("8xf32" is a
// word for the lexer), so they are read as characters.
bool Parser::ParseDims(std::vector<int64_t>* dims) {
  const absl::string_view text = lexer_.text();
  const auto at = [&](uint32_t i) { return i < text.size() ? text[i] : '\0'; };
  uint32_t i = tok_.begin;
  while (absl::ascii_isdigit(at(i)) || at(i) == '?') {
    if (at(i) == '?') {
      dims->push_back(kDynamic);
      ++i;
    } else {
      const uint32_t begin = i;
      while (absl::ascii_isdigit(at(i))) ++i;
      int64_t n;
      if (!absl::SimpleAtoi(text.substr(begin, i - begin), &n))
        return Fail(tok_, "number", "a size is too large for 64 bits");
      dims->push_back(n);
    }
    if (dims->size() > kMaxRank)
      return Fail(tok_, "limit", absl::StrCat("a type has at most ", kMaxRank, " dimensions"));
    if (at(i) != 'x') break;
    ++i;
  }
  if (i == tok_.begin) return true;
  lexer_.Reset(tok_, i);
  Next();
  return true;
}

bool Parser::ParseExtents(std::vector<int64_t>* extents) {
  if (!Expect("[", "before a list of numbers")) return false;
  while (!tok_.is("]")) {
    if (!extents->empty() && !Expect(",", "or ']' in a list of numbers")) return false;
    int64_t n = kDynamic;
    const Token at = tok_;
    if (!Accept("?")) {
      if (!ParseInt(&n)) return false;
      if (n == kDynamic) return Fail(at, "number", "a stride is too large for 64 bits");
    }
    extents->push_back(n);
    if (extents->size() > kMaxRank)
      return Fail(tok_, "limit", absl::StrCat("a type has at most ", kMaxRank, " dimensions"));
  }
  Advance();
  return true;
}

bool Parser::ParseTensorView(Type* type) {
  std::vector<int64_t> shape, strides;
  Element element;
  MemorySpace space = MemorySpace::kGlobal;
  if (!Expect("<", "after tensor_view") || !ParseDims(&shape) || !ParseElement(&element)) return false;
  const Token at = tok_;
  while (Accept(",")) {
    if (Accept("strides")) {
      if (!strides.empty()) return Fail(at, "type", "the strides stand twice");
      if (!Expect("=", "after strides") || !ParseExtents(&strides)) return false;
    } else if (Accept("shared")) {
      space = MemorySpace::kShared;
    } else {
      return FailExpected("strides=[…] or shared");
    }
  }
  if (!Expect(">", "at the end of the tensor_view")) return false;
  if (shape.size() != strides.size()) {
    return Fail(at, "type",
                absl::StrCat("the tensor_view has ", shape.size(), " sizes and ", strides.size(), " strides"),
                "write one stride per size: strides=[?,1]");
  }
  *type = module_->types().TensorView(element, shape, strides, space);
  return true;
}

// The properties of a view, and which of them is meant.
std::string Parser::ViewAdvice(TypeKind kind) const {
  std::vector<absl::string_view> all = {"tile", "padding_value"};
  if (kind == TypeKind::kStridedView) all.push_back("traversal_strides");
  all.push_back(kind == TypeKind::kGatherScatterView ? "sparse_dim" : "dim_map");
  constexpr std::pair<absl::string_view, absl::string_view> kOthers[] = {
      {"padding", "padding_value"}, {"pad", "padding_value"},         {"padding_mode", "padding_value"},
      {"fill", "padding_value"},    {"strides", "traversal_strides"}, {"steps", "traversal_strides"},
      {"order", "dim_map"},         {"permutation", "dim_map"},       {"dim", "sparse_dim"},
  };
  std::string meant = tok_.kind == Tok::kIdent ? DidYouMean(tok_.text, all) : "";
  for (const auto& [other, own] : kOthers) {
    if (tok_.is(other) && std::count(all.begin(), all.end(), own) > 0) meant = absl::StrCat("did you mean ", own, "?");
  }
  return absl::StrCat(meant, meant.empty() ? "" : " ", "properties: ", absl::StrJoin(all, ", "));
}

bool Parser::ParseView(TypeKind kind, Type* type) {
  std::vector<int64_t> tile, steps, dim_map;
  std::optional<Padding> padding;
  Type tensor;
  uint64_t sparse_dim = 0;
  const Token at = tok_;
  if (!Expect("<", "after the kind of the view") || !Expect("tile", "=(…): the size of a tile")) return false;
  if (!Expect("=", "after tile") || !Expect("(", "before the size of the tile") || !ParseDims(&tile) ||
      !Expect(")", "behind the size of the tile")) {
    return false;
  }
  while (Accept(",")) {
    if (tok_.is("tensor_view")) {
      if (!ParseType(&tensor)) return false;
    } else if (Accept("padding_value")) {
      int64_t n;
      if (!Expect("=", "after padding_value") || !ParseEnum(EnumId::kPadding, &n)) return false;
      padding = static_cast<Padding>(n);
    } else if (kind == TypeKind::kStridedView && Accept("traversal_strides")) {
      if (!Expect("=", "after traversal_strides") || !ParseIntList(&steps)) return false;
    } else if (kind != TypeKind::kGatherScatterView && Accept("dim_map")) {
      if (!Expect("=", "after dim_map") || !ParseIntList(&dim_map)) return false;
    } else if (kind == TypeKind::kGatherScatterView && Accept("sparse_dim")) {
      if (!Expect("=", "after sparse_dim") || !ParseUint(&sparse_dim, kMaxRank)) return false;
    } else {
      return FailExpected("tensor_view<…> or a property of the view", ViewAdvice(kind));
    }
  }
  if (!Expect(">", "at the end of the view")) return false;
  if (!tensor) tensor = source_tensor_;
  if (!tensor) return Fail(at, "type", "the view lacks the tensor_view it cuts", "add tensor_view<…>");
  if (std::max(steps.size(), dim_map.size()) > kMaxRank) {
    return Fail(at, "limit", absl::StrCat("a type has at most ", kMaxRank, " dimensions"));
  }
  TypeContext& types = module_->types();
  if (kind == TypeKind::kPartitionView) *type = types.PartitionView(tile, tensor, dim_map, padding);
  if (kind == TypeKind::kStridedView) *type = types.StridedView(tile, steps, tensor, dim_map, padding);
  if (kind == TypeKind::kGatherScatterView) {
    *type = types.GatherScatterView(tile, tensor, static_cast<int>(sparse_dim), padding);
  }
  return true;
}

bool Parser::ParseType(Type* type) {
  if (!Expand()) return false;
  if (Accept("token")) {
    *type = module_->types().Token();
    return true;
  }
  if (Accept("tile")) {
    std::vector<int64_t> shape;
    Element element;
    const Token at = tok_;
    if (!Expect("<", "after tile") || !ParseDims(&shape) || !ParseElement(&element)) return false;
    for (int64_t n : shape) {
      if (n == kDynamic)
        return Fail(at, "type", "the sizes of a tile are constants", "only a tensor_view can have '?'");
    }
    *type = module_->types().Tile(element, shape);
    return Expect(">", "at the end of the type");
  }
  if (Accept("tensor_view")) return ParseTensorView(type);
  if (Accept("partition_view")) return ParseView(TypeKind::kPartitionView, type);
  if (Accept("strided_view")) return ParseView(TypeKind::kStridedView, type);
  if (Accept("gather_scatter_view")) return ParseView(TypeKind::kGatherScatterView, type);
  const ForeignName* foreign =
      tok_.kind == Tok::kIdent ? FindForeignName(ForeignName::Kind::kElement, tok_.text) : nullptr;
  const bool element = tok_.kind == Tok::kIdent && (FindElem(tok_.text) || tok_.text == "ptr");
  if (foreign != nullptr && !element) {
    return FailExpected("a type", absl::StrCat("values are tiles: tile<", foreign->own, "> is a single number"));
  }
  if (tok_.is("tensor") || tok_.is("memref") || tok_.is("vector")) {
    return FailExpected("a type",
                        "a tile of numbers is tile<4x8xf32>, an array in memory tensor_view<?x8xf32, strides=[?,1]>");
  }
  return FailExpected(
      "a type", element                    ? tok_.is("ptr") ? "values are tiles: tile<ptr<f32>> is a single pointer"
                                                            : absl::StrCat("values are tiles: tile<", tok_.text, "> is a single number")
                                   : tok_.kind == Tok::kIdent ? DidYouMean(tok_.text, {"token", "tile", "tensor_view", "partition_view",
                                                                                       "strided_view", "gather_scatter_view"})
                                           : "");
}

bool Parser::ParseTypeList(std::vector<Type>* types, std::vector<Token>* tokens) {
  do {
    if (tokens != nullptr) tokens->push_back(tok_);
    types->emplace_back();
    if (!ParseType(&types->back())) return false;
  } while (Accept(","));
  return true;
}

}  // namespace tile::ir::text
