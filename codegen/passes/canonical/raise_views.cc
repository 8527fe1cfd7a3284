#include "codegen/passes/canonical/raise_views.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/facts.h"
#include "codegen/passes/signed_index.h"
#include "codegen/target/decisions.h"
#include "ir/float.h"
#include "ir/op_views.h"
#include "ir/ops.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Value;
namespace op = ir::ops;

using Terms = std::vector<Value*>;

Value* Spread(Value* v) {
  while (const auto spread = ir::DefAs<ir::BroadcastOp>(v)) v = spread->source();
  return v;
}

// More than the two tests, or the place, of each dimension; a chain that uses its own results twice has no end of them.
constexpr size_t kMostTerms = 64;

// Operands of a chain of such operations, from left to right, before they are spread over the tile.
void Flatten(Opcode code, Value* v, Terms* terms) {
  v = Spread(v);
  const Op* def = v->def();
  if (def == nullptr || def->opcode() != code || terms->size() > kMostTerms) return terms->push_back(v);
  Flatten(code, def->operand(0), terms);
  Flatten(code, def->operand(1), terms);
}

// The scalar that all elements are; null if they may differ.
Value* ScalarUnder(Value* v) {
  while (!v->type().is_scalar()) {
    const Op* def = v->def();
    if (def == nullptr || (def->opcode() != Opcode::kBroadcast && def->opcode() != Opcode::kReshape)) return nullptr;
    v = def->operand(0);
  }
  return v;
}

std::optional<int64_t> Constant(const Value* v) {
  while (const auto wide = ir::DefAs<ir::ExtiOp>(v)) {
    if (wide->signedness() != ir::Signedness::kSigned) return std::nullopt;
    v = wide->from();
  }
  const auto constant = ir::DefAs<ir::ConstantOp>(v);
  if (!constant || !ir::IsInt(v->type().elem()) || !constant->value().splat) return std::nullopt;
  const int bytes = ir::StorageBytes(v->type().elem());
  uint64_t bits = 0;
  std::memcpy(&bits, constant->value().bytes.data(), static_cast<size_t>(bytes));
  const int unused = 64 - 8 * bytes;
  return static_cast<int64_t>(bits << unused) >> unused;
}

// 0, 1, … along dimension d of a tile that has size 1 in all others.
bool IsLine(const Value* v, int d, int64_t size) {
  if (v->type().rank() <= d || v->type().shape()[static_cast<size_t>(d)] != size) return false;
  if (v->type().num_elements() != size) return false;
  for (const Op* def = v->def(); def != nullptr; def = def->operand(0)->def()) {
    if (ir::IotaOp::Is(def)) return true;
    const auto wide = ir::As<ir::ExtiOp>(def);
    if (!wide && def->opcode() != Opcode::kReshape) return false;
    if (def->operand(0)->type().num_elements() != size) return false;
  }
  return false;
}

// A block of a tensor: along each dimension the coordinate of its first element, the distance of neighbours, the tensor's size.
struct Dim {
  Value *offset = nullptr, *stride = nullptr, *size = nullptr;  // i64; a stride that is null is 1, an offset 0
  int64_t tile = 1;
  int64_t step = 1;  // of the view
  std::optional<int64_t> fixed_size, fixed_stride;
  bool clamped = false;  // a size below zero means zero
};
struct BlockAccess {
  Op* access = nullptr;
  Value* base = nullptr;
  std::vector<Dim> dims;
  std::optional<ir::Padding> padding;
  bool signed_index = false;
};

class Finder {
 public:
  std::optional<BlockAccess> Find(Op* access) {
    BlockAccess found;
    found.access = access;
    Value *pointers = nullptr, *mask = nullptr;
    if (const auto load = ir::As<ir::LoadPtrOp>(access)) {
      pointers = load->source();
      mask = load->mask();
      if (!PaddingOf(*load, &found)) return std::nullopt;
    } else if (const auto store = ir::As<ir::StorePtrOp>(access)) {
      pointers = store->destination();
      mask = store->mask();
    }
    if (mask == nullptr || ir::OrderingOf(*access) != ir::MemoryOrdering::kWeak) return std::nullopt;
    const ir::Elem elem = pointers->type().element().pointee;
    if (pointers->type().is_scalar() || elem == ir::Elem::kI1 || ir::MemoryBits(elem) < 8) return std::nullopt;
    for (int64_t n : pointers->type().shape()) found.dims.emplace_back().tile = n;
    if (!Places(mask, &found) || !Addresses(pointers, &found)) return std::nullopt;
    for (Dim& d : found.dims) {
      if (!Describe(&d, &found)) return std::nullopt;
    }
    return found;
  }

 private:
  static bool PaddingOf(const ir::LoadPtrOp& load, BlockAccess* found) {
    if (load.padding_value() == nullptr) return true;
    const auto constant = ir::DefAs<ir::ConstantOp>(load.padding_value());
    if (!constant || !constant->value().splat) return false;
    const ir::Elem elem = load.result()->type().elem();
    uint64_t bits = 0;
    std::memcpy(&bits, constant->value().bytes.data(), static_cast<size_t>(ir::StorageBytes(elem)));
    for (const ir::Padding p : {ir::Padding::kZero, ir::Padding::kNan}) {
      if ((p == ir::Padding::kZero || ir::IsFloat(elem)) && bits == ir::PaddingBits(elem, p)) found->padding = p;
    }
    return found->padding.has_value();
  }

  // The mask: of every dimension, in this order, 0 <= offset + line < size, or the same by one comparison without a sign.
  bool Places(Value* mask, BlockAccess* found) {
    Terms terms;
    Flatten(Opcode::kAndi, mask, &terms);
    size_t at = 0;
    for (size_t k = 0; k < found->dims.size(); ++k) {
      Dim& d = found->dims[k];
      std::vector<ir::CmpIOp> tests;
      for (bool more = true; more && at < terms.size(); ++at) {
        const auto test = ir::DefAs<ir::CmpIOp>(terms[at]);
        if (!test) return false;
        tests.push_back(*test);
        more = test->predicate() == ir::ComparisonPredicate::kGreaterThanOrEqual;
      }
      if (tests.empty() || tests.size() > 2) return false;
      const ir::CmpIOp& below = tests.back();
      if (below.predicate() != ir::ComparisonPredicate::kLessThan) return false;
      if (tests.size() == 2) {
        // Signed, and of the same place.
        const auto zero = Constant(tests[0].rhs());
        if (tests[0].lhs() != below.lhs() || zero != 0 || tests[0].signedness() != ir::Signedness::kSigned ||
            below.signedness() != ir::Signedness::kSigned) {
          return false;
        }
      }
      d.size = ScalarUnder(below.rhs());
      if (d.size == nullptr || d.size->type().elem() != ir::Elem::kI64) return false;
      // A size below zero holds nothing where signs count, and everything where they don't.
      d.clamped = facts_.RangeOf(d.size).negative();
      if (!Place(below.lhs(), static_cast<int>(k), &d)) return false;
      if (tests.size() == 2) continue;
      const bool is_signed = below.signedness() == ir::Signedness::kSigned;
      if (is_signed ? d.offset != nullptr && facts_.RangeOf(d.offset).negative() : d.clamped) return false;
    }
    return at == terms.size();
  }

  static bool Place(Value* place, int k, Dim* d) {
    if (IsLine(place, k, d->tile)) return true;
    const auto sum = ir::DefAs<ir::AddiOp>(place);
    if (!sum) return false;
    for (const auto& [line, offset] : {std::pair(sum->lhs(), sum->rhs()), std::pair(sum->rhs(), sum->lhs())}) {
      if (!IsLine(line, k, d->tile)) continue;
      d->offset = ScalarUnder(offset);
      return d->offset != nullptr && d->offset->type().elem() == ir::Elem::kI64;
    }
    return false;
  }

  // Pointers: the base, moved by the sum of all offset * stride, and by the sum of all line * stride.
  bool Addresses(Value* pointers, BlockAccess* found) {
    const auto outer = ir::DefAs<ir::OffsetOp>(pointers);
    if (!outer) return false;
    Terms lines, starts;
    Flatten(Opcode::kAddi, outer->op().operand(1), &lines);
    if (lines.size() != found->dims.size()) return false;
    for (size_t k = 0; k < lines.size(); ++k) {
      Dim& d = found->dims[k];
      Value* line = lines[k];
      if (IsLine(line, static_cast<int>(k), d.tile)) continue;
      const auto product = ir::DefAs<ir::MuliOp>(line);
      if (!product || !IsLine(product->lhs(), static_cast<int>(k), d.tile)) return false;
      d.stride = ScalarUnder(product->rhs());
      if (d.stride == nullptr || d.stride->type().elem() != ir::Elem::kI64) return false;
    }
    found->base = ScalarUnder(outer->op().operand(0));
    if (found->base == nullptr) return false;
    if (const auto inner = ir::DefAs<ir::OffsetOp>(found->base)) {
      Flatten(Opcode::kAddi, inner->op().operand(1), &starts);
      found->base = inner->op().operand(0);
    }
    for (const Dim& d : found->dims) {
      if (d.offset == nullptr || Constant(d.offset) == 0) continue;
      const auto start = std::find_if(starts.begin(), starts.end(), [&](Value* v) { return IsStart(v, d); });
      if (start == starts.end()) return false;
      starts.erase(start);
    }
    return std::all_of(starts.begin(), starts.end(), [](const Value* v) { return IsZero(v); });
  }

  bool IsStart(Value* v, const Dim& d) {
    if (v == d.offset) return d.stride == nullptr || facts_.RangeOf(d.stride).is(1);
    const auto product = ir::DefAs<ir::MuliOp>(v);
    return product && product->lhs() == d.offset && product->rhs() == d.stride;
  }
  static bool IsZero(const Value* v) {
    if (const auto product = ir::DefAs<ir::MuliOp>(v)) return Constant(product->lhs()) == 0;
    return Constant(v) == 0;
  }

  // What is known of the dimension; false if no view can have it so.
  bool Describe(Dim* d, BlockAccess* found) {
    const Facts::Range size = facts_.RangeOf(d->size);
    if (size.upper <= 0) return false;
    if (size.lower == size.upper) d->fixed_size = size.lower;
    if (d->stride == nullptr) {
      d->fixed_stride = 1;
    } else if (const Facts::Range stride = facts_.RangeOf(d->stride); stride.lower == stride.upper) {
      if (stride.lower <= 0) return false;
      d->fixed_stride = stride.lower;
    }
    const std::optional<int64_t> constant = d->offset == nullptr ? 0 : Constant(d->offset);
    const uint64_t divisor = constant == 0 ? Facts::kMax : facts_.Divisor(d->offset);
    d->step = divisor >= static_cast<uint64_t>(d->tile) ? d->tile : 1;
    found->signed_index |= d->step < d->tile && facts_.RangeOf(d->offset).negative();
    return true;
  }

  Facts facts_;
};

class Rewriter {
 public:
  explicit Rewriter(ir::Module* module) : module_(module), b_(module, nullptr) {}

  void Rewrite(const BlockAccess& found) {
    Op* old = found.access;
    ir::Block* apart = module_->CreateBlock({});
    b_.set_block(apart);
    b_.set_loc(old->loc);
    op::Access how;
    how.token = ir::AccessOp(*old).token();
    how.hints = ir::OpView<ir::WithFields<ir::Field::kHints>>(*old).hints();
    how.ordering = ir::MemoryOrdering::kWeak;
    Value* view = View(found);
    const op::Values index = Index(found);
    Op* made = nullptr;
    if (const auto store = ir::As<ir::StorePtrOp>(old)) {
      Value* token = op::StoreView(b_, store->value(), view, index, how);
      made = token->def();
      store->result_token()->ReplaceAllUsesWith(token);
    } else {
      const ir::LoadPtrOp load(*old);
      const op::Loaded loaded = op::LoadView(b_, view, index, how);
      made = loaded.value->def();
      load.result()->ReplaceAllUsesWith(loaded.value);
      load.result_token()->ReplaceAllUsesWith(loaded.token);
    }
    if (found.signed_index) Decide<Decision::kSignedIndex>(module_, made, true);
    MoveBefore(module_, apart, old);
    old->Erase();
  }

 private:
  Value* View(const BlockAccess& found) {
    std::vector<int64_t> sizes, strides, tile, steps;
    op::Values open_sizes, open_strides;
    for (const Dim& d : found.dims) {
      sizes.push_back(d.fixed_size.value_or(ir::kDynamic));
      strides.push_back(d.fixed_stride.value_or(ir::kDynamic));
      Value* size = d.size;
      if (d.clamped) size = op::Maxi(b_, size, op::Integer(b_, size->type(), 0), ir::Signedness::kSigned);
      if (!d.fixed_size) open_sizes.push_back(size);
      if (!d.fixed_stride) open_strides.push_back(d.stride);
      tile.push_back(d.tile);
      steps.push_back(d.step);
    }
    const ir::Elem elem = found.base->type().element().pointee;
    const ir::Type tensor = b_.types().TensorView(ir::Element::Number(elem), sizes, strides);
    Value* whole = op::MakeTensorView(b_, tensor, found.base, open_sizes, open_strides);
    if (steps == tile)
      return op::MakePartitionView(b_, b_.types().PartitionView(tile, tensor, {}, found.padding), whole);
    return op::MakeStridedView(b_, b_.types().StridedView(tile, steps, tensor, {}, found.padding), whole);
  }

  // Offsets by steps, as i32 if all of them were.
  op::Values Index(const BlockAccess& found) {
    bool narrow = true;
    for (const Dim& d : found.dims) narrow = narrow && (d.offset == nullptr || Narrow(d.offset) != nullptr);
    const ir::Type type = b_.types().Scalar(narrow ? ir::Elem::kI32 : ir::Elem::kI64);
    op::Values index;
    for (const Dim& d : found.dims) {
      Value* at = d.offset == nullptr ? op::Integer(b_, type, 0) : narrow ? Narrow(d.offset) : d.offset;
      if (d.step > 1 && Constant(at) != 0) at = Quotient(at, d.step);
      index.push_back(at);
    }
    return index;
  }
  // Of a multiple of `step`, a power of two. What was multiplied by it, as the number of a block is, if that did not overflow.
  Value* Quotient(Value* v, int64_t step) {
    if (const auto product = ir::DefAs<ir::MuliOp>(v)) {
      const bool exact =
          product->overflow() == ir::Overflow::kNoSignedWrap || product->overflow() == ir::Overflow::kNoWrap;
      if (exact && Constant(product->rhs()) == step) return product->lhs();
    }
    const int bits = __builtin_ctzll(static_cast<uint64_t>(step));
    return op::Shri(b_, v, op::Integer(b_, v->type(), bits), ir::Signedness::kSigned);
  }
  // What was extended, if it has 32 bits.
  static Value* Narrow(Value* offset) {
    const auto wide = ir::DefAs<ir::ExtiOp>(offset);
    const bool i32 =
        wide && wide->signedness() == ir::Signedness::kSigned && wide->from()->type().elem() == ir::Elem::kI32;
    return i32 ? wide->from() : nullptr;
  }

  ir::Module* module_;
  ir::Builder b_;
};

}  // namespace

absl::Status RaiseViews(Program& p) {
  std::vector<BlockAccess> found;
  Finder finder;
  ir::Walk(p.function->body(), [&](Op* op) {
    if (!ir::LoadPtrOp::Is(op) && !ir::StorePtrOp::Is(op)) return;
    if (auto access = finder.Find(op)) found.push_back(*std::move(access));
  });
  Rewriter rewriter(p.module.get());
  for (const BlockAccess& access : found) {
    const Op& op = *access.access;
    const std::string where = p.module->Where(op.loc, op.pos);
    if (!p.trace().TakesStep("raise-views", absl::StrCat(op.info()->mnemonic, " at ", where))) continue;
    if (p.trace().on_remark) {
      p.trace().on_remark(absl::StrCat(where, ": remark[raise-views]: ", op.info()->mnemonic,
                                       ": of a block of a tensor, by a view",
                                       access.signed_index ? " and an index that may be negative" : ""));
    }
    rewriter.Rewrite(access);
  }
  return absl::OkStatus();
}

}  // namespace tile::codegen
