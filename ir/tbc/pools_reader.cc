#include "ir/tbc/pools_reader.h"

#include <cstring>

#include "ir/limits.h"
#include "ir/tbc/op_plan.h"
#include "ir/tbc/type_check.h"

namespace tile::ir {
namespace {

class PoolsReader {
 public:
  PoolsReader(const fbs::Code& code, Module* module, ReadContext* context, Pools* pools)
      : code_(code), module_(*module), context_(*context), pools_(*pools) {}

  bool Run() {
    return ReadNames() && ReadStrings(code_.strings(), "string", &module_, &context_, &pools_.strings) && ReadTypes() &&
           ReadConstants() && ReadNumbers() && ReadScalars() && ReadPredicates() && ReadHints();
  }

 private:
  bool ReadNames() {
    if (code_.names() == nullptr) return true;
    if (code_.names()->size() > 65536) return context_.Fail("limit", "more than 65536 names of fields");
    pools_.names.reserve(code_.names()->size());
    for (const flatbuffers::String* s : *code_.names()) {
      pools_.names.push_back(FindFieldName(absl::string_view(s->c_str(), std::min<size_t>(s->size(), 256))));
    }
    return true;
  }

  bool ReadTypes() {
    if (code_.types() == nullptr) return true;
    if (code_.types()->size() > kMaxTypes) return context_.Fail("limit", "more than ", kMaxTypes, " types");
    pools_.types.reserve(code_.types()->size());
    for (const fbs::Type* t : *code_.types()) {
      if (!ReadType(*t, pools_.types.size())) return false;
    }
    return true;
  }

  bool Dims(const flatbuffers::Vector<int64_t>* v, size_t index, std::vector<int64_t>* out) {
    absl::Span<const int64_t> items;
    if (!context_.Items(v, &items)) return false;
    if (items.size() > kMaxRank) return context_.Fail("limit", "type ", index, ": the rank is over ", kMaxRank);
    out->assign(items.begin(), items.end());
    return true;
  }

  bool ReadType(const fbs::Type& t, size_t index) {
    TypeData d;
    if (t.kind() > fbs::TypeKind::MAX || t.space() > fbs::MemorySpace::MAX) {
      return context_.Fail("type", "type ", index, ": unknown kind ", static_cast<int>(t.kind()), " or memory space ",
                           static_cast<int>(t.space()), context_.origin());
    }
    d.kind = static_cast<TypeKind>(t.kind());
    d.space = static_cast<MemorySpace>(t.space());
    const std::optional<Element> element = FromFbs(t.element(), t.pointee());
    if (!element) {
      return context_.Fail("type", "type ", index, ": unknown element ", static_cast<int>(t.element()), " or pointee ",
                           static_cast<int>(t.pointee()), context_.origin());
    }
    if (!Dims(t.shape(), index, &d.shape) || !Dims(t.strides(), index, &d.strides) ||
        !Dims(t.steps(), index, &d.steps)) {
      return false;
    }
    switch (d.kind) {
      case TypeKind::kTile:
      case TypeKind::kTensorView: d.element = *element; break;
      case TypeKind::kPartitionView:
      case TypeKind::kStridedView:
      case TypeKind::kGatherScatterView: {
        if (t.tensor() >= index) return context_.Fail("type", "type ", index, ": its tensor is no earlier type");
        d.tensor = pools_.types[t.tensor()].data();
        d.element = d.tensor->element;
        d.space = d.tensor->space;
        if (d.kind == TypeKind::kGatherScatterView) {
          d.sparse_dim = t.sparse_dim();
        } else if (t.dim_map() == nullptr) {
          for (size_t i = 0; i < d.shape.size(); ++i) d.dim_map.push_back(static_cast<int64_t>(i));
        } else if (t.dim_map()->size() <= kMaxRank) {
          d.dim_map.assign(t.dim_map()->begin(), t.dim_map()->end());
        }
        if (const auto padding = t.padding()) {
          if (!IsEnumValue(EnumId::kPadding, *padding)) {
            return context_.Fail("type", "type ", index, ": unknown padding ", static_cast<int>(*padding),
                                 context_.origin());
          }
          d.padding = static_cast<Padding>(*padding);
        }
        break;
      }
      case TypeKind::kToken:
      case TypeKind::kFunction: d = TypeData(); break;
    }
    if (d.kind != TypeKind::kTensorView && !d.strides.empty())
      return context_.Fail("type", "type ", index, ": strides");
    if (d.kind != TypeKind::kStridedView && !d.steps.empty()) return context_.Fail("type", "type ", index, ": steps");
    if (d.kind == TypeKind::kTile) d.space = MemorySpace::kGlobal;
    if (const char* problem = TypeProblem(d)) return context_.Fail("type", "type ", index, ": ", problem);
    if (!context_.Charge(sizeof(TypeData))) return false;
    pools_.types.push_back(module_.types().Intern(std::move(d)));
    return true;
  }

  bool ReadConstants() {
    if (code_.constants() == nullptr) return true;
    pools_.constants.reserve(code_.constants()->size());
    for (const fbs::Constant* c : *code_.constants()) {
      const size_t index = pools_.constants.size();
      const std::optional<Elem> elem = FromFbs(c->element());
      if (!elem) {
        return context_.Fail("constant", "constant ", index, ": unknown element ", static_cast<int>(c->element()),
                             context_.origin());
      }
      absl::Span<const uint8_t> bytes;
      if (!context_.Items(c->data(), &bytes)) return false;
      if (const char* problem = ConstantProblem(*elem, c->splat(), bytes)) {
        return context_.Fail("constant", "constant ", index, ": ", problem);
      }
      if (!context_.Charge(static_cast<int64_t>(bytes.size() + sizeof(Dense)))) return false;
      Dense* d = module_.arena().New<Dense>();
      d->elem = *elem;
      d->splat = c->splat();
      d->bytes = CopyAligned(bytes);
      pools_.constants.push_back(d);
    }
    return true;
  }

  // Elements are read as numbers of up to 8 bytes and with vectors.
  absl::Span<const uint8_t> CopyAligned(absl::Span<const uint8_t> bytes) {
    if (bytes.empty()) return {};
    uint8_t* p = static_cast<uint8_t*>(module_.arena().Allocate(bytes.size(), 16));
    std::memcpy(p, bytes.data(), bytes.size());
    return {p, bytes.size()};
  }

  bool ReadNumbers() {
    if (!context_.Items(code_.numbers(), &pools_.numbers)) return false;
    pools_.numbers = module_.arena().Copy(pools_.numbers);
    return true;
  }

  bool ReadScalars() {
    absl::Span<const fbs::Scalar> rows;
    if (!context_.Items(code_.scalars(), &rows)) return false;
    Scalar* scalars = module_.arena().NewArray<Scalar>(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::optional<Elem> elem = FromFbs(rows[i].element());
      if (!elem || *elem == Elem::kPtr) {
        return context_.Fail("constant", "scalar ", i, ": unknown element ", static_cast<int>(rows[i].element()),
                             context_.origin());
      }
      uint8_t bytes[8];
      for (int b = 0; b < 8; ++b) bytes[b] = static_cast<uint8_t>(rows[i].bits() >> (8 * b));
      const int size = StorageBytes(*elem);
      if (size < 8 && rows[i].bits() >> (8 * size) != 0) return context_.Fail("constant", "scalar ", i, ": too wide");
      if (const char* problem = ConstantProblem(*elem, true, {bytes, static_cast<size_t>(size)})) {
        return context_.Fail("constant", "scalar ", i, ": ", problem);
      }
      scalars[i] = {*elem, rows[i].bits()};
    }
    pools_.scalars = {scalars, rows.size()};
    return true;
  }

  bool ReadPredicates() {
    if (code_.predicates() == nullptr) return true;
    const auto optional = [](flatbuffers::Optional<int64_t> v) {
      return v ? std::optional<int64_t>(*v) : std::nullopt;
    };
    for (const fbs::Predicate* p : *code_.predicates()) {
      const size_t index = pools_.predicates.size();
      if (p->kind() > fbs::PredicateKind::MAX) {
        return context_.Fail("predicate", "predicate ", index, ": unknown kind ", static_cast<int>(p->kind()),
                             context_.origin());
      }
      Predicate* out = module_.arena().New<Predicate>();
      out->kind = static_cast<Predicate::Kind>(p->kind());
      out->divisor = p->divisor();
      out->every = optional(p->every());
      out->along = optional(p->along());
      out->lower = optional(p->lower());
      out->upper = optional(p->upper());
      if (!context_.Items(p->groups(), &out->groups)) return false;
      if (out->groups.size() > kMaxListItems) return context_.Fail("limit", "predicate ", index, ": too many groups");
      if (!context_.Charge(static_cast<int64_t>(sizeof(Predicate) + out->groups.size() * 8))) return false;
      out->groups = module_.arena().Copy(out->groups);
      pools_.predicates.push_back(out);
    }
    return true;
  }

  bool String(uint32_t index, absl::string_view what, absl::string_view* out) {
    if (index >= pools_.strings.size())
      return context_.Fail("string", what, " is string ", index, ", which does not exist");
    *out = pools_.strings[index];
    return true;
  }

  bool ReadHints() {
    if (code_.hints() == nullptr) return true;
    for (const fbs::HintSet* set : *code_.hints()) {
      std::vector<ArchHints> archs;
      if (set->archs() != nullptr) {
        if (set->archs()->size() > kMaxListItems) return context_.Fail("limit", "too many architectures in hints");
        for (const fbs::ArchHints* a : *set->archs()) {
          archs.emplace_back();
          if (!ReadArch(*a, &archs.back())) return false;
        }
      }
      if (!context_.Charge(static_cast<int64_t>(sizeof(Hints) + archs.size() * sizeof(ArchHints)))) return false;
      Hints* hints = module_.arena().New<Hints>();
      hints->archs = module_.arena().Copy(absl::MakeConstSpan(archs));
      pools_.hints.push_back(hints);
    }
    return true;
  }

  bool ReadArch(const fbs::ArchHints& from, ArchHints* to) {
    if (!String(from.arch(), "an architecture of hints", &to->arch)) return false;
    std::vector<Hint> hints;
    if (from.hints() != nullptr) {
      if (from.hints()->size() > kMaxListItems) return context_.Fail("limit", "too many hints");
      for (const fbs::Hint* h : *from.hints()) {
        Hint hint;
        if (!String(h->name(), "the name of a hint", &hint.name)) return false;
        if (h->kind() > fbs::HintKind::MAX) {
          return context_.Fail("hint", "hint ", hint.name.substr(0, 80), ": unknown kind ", static_cast<int>(h->kind()),
                               context_.origin());
        }
        hint.kind = static_cast<Hint::Kind>(h->kind());
        hint.number = h->number();
        hint.int_bits = h->int_bits();
        if (hint.kind == Hint::Kind::kString && !String(h->text(), "the text of a hint", &hint.text)) return false;
        hints.push_back(hint);
      }
    }
    if (!context_.Charge(static_cast<int64_t>(hints.size() * sizeof(Hint)))) return false;
    to->hints = module_.arena().Copy(absl::MakeConstSpan(hints));
    return true;
  }

  const fbs::Code& code_;
  Module& module_;
  ReadContext& context_;
  Pools& pools_;
};

}  // namespace

bool ReadStrings(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* from, absl::string_view what,
                 Module* module, ReadContext* context, std::vector<absl::string_view>* out) {
  if (from == nullptr) return true;
  out->reserve(from->size());
  for (const flatbuffers::String* s : *from) {
    if (!context->Charge(static_cast<int64_t>(s->size()))) return false;
    if (s->size() > kMaxNameBytes) {
      return context->Fail("limit", what, " ", out->size(), " has more than ", kMaxNameBytes, " bytes");
    }
    out->push_back(module->Copy(absl::string_view(s->c_str(), s->size())));
  }
  return true;
}

bool ReadPools(const fbs::Code& code, Module* module, ReadContext* context, Pools* pools) {
  return PoolsReader(code, module, context, pools).Run();
}

}  // namespace tile::ir
