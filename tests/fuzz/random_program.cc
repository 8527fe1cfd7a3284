#include "tests/fuzz/random_program.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "ir/float.h"
#include "ir/text/printer.h"
#include "ir/verify/verify.h"
#include "tests/fuzz/generator.h"
#include "tests/fuzz/random_loop.h"

namespace tile::fuzz {
namespace {

constexpr int64_t kMaxWork = 200000;  // elements of all tiles together

bool Even(const Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](int64_t n) { return n % 2 == 0; });
}

// Takes out what nobody uses. With `stores` writes too, if nothing waits for them.
void RemoveUnused(ir::Block* block, const std::vector<ir::Op*>& kept) {
  for (ir::Op* op = block->back(); op != nullptr;) {
    ir::Op* before = op->prev();
    for (int i = 0; i < op->num_regions(); ++i) {
      if (op->region(i) != nullptr) RemoveUnused(op->region(i), kept);
    }
    const bool removable = op->unused() && op != block->terminator() && op->num_regions() == 0 &&
                           std::find(kept.begin(), kept.end(), op) == kept.end();
    if (removable) op->Erase();
    op = before;
  }
}

}  // namespace

double LargestWhole(Elem e) {
  switch (e) {
    case Elem::kF16:
    case Elem::kTF32: return 2048;
    case Elem::kBF16: return 256;
    case Elem::kF32: return 1 << 24;
    case Elem::kF64: return 9007199254740992.0;
    case Elem::kF8E4M3FN: return 16;
    case Elem::kF8E5M2: return 8;
    default: return 0;
  }
}

bool Legal(Elem e, const Shape& shape) { return e != Elem::kF4E2M1FN || Even(shape); }

int64_t Count(const Shape& shape) {
  int64_t n = 1;
  for (const int64_t s : shape) n *= s;
  return n;
}

Shape Identity(int n) {
  Shape p;
  for (int i = 0; i < n; ++i) p.push_back(i);
  return p;
}

Generator::Generator(const RandomOptions& options) : options_(options), r_(options.seed), b_(nullptr, nullptr) {}

// --- the pool
// ---------------------------------------------------------------------------------------------------------

Val Generator::Pick(const std::function<bool(const Val&)>& wanted) {
  const auto n = static_cast<int64_t>(pool_.size());
  Val found;
  for (int i = 0; i < 12; ++i) {
    const int64_t back = std::min(r_.Below(n), r_.Below(n));
    const Val& v = pool_[static_cast<size_t>(n - 1 - back)];
    if (v.count() > kMaxElements) continue;
    if (wanted ? wanted(v) : v.exact) return v;
    if (v.exact) found = v;
  }
  if (found.v != nullptr) return found;
  return RandomConstant(IntElement(), {1});
}

Shape Generator::Permutation(int n) {
  Shape p = Identity(n);
  for (int i = n - 1; i > 0; --i) std::swap(p[static_cast<size_t>(i)], p[static_cast<size_t>(r_.Below(i + 1))]);
  return p;
}

int64_t Generator::RandomCount() {
  return int64_t{1} << (r_.Percent(60) ? r_.In(3, 10) : r_.Percent(80) ? r_.In(0, 11) : r_.In(11, 14));
}

Shape Generator::RandomShape(int64_t count, int max_rank) {
  Shape s(static_cast<size_t>(r_.In(count == 1 ? 0 : 1, max_rank)), 1);
  while (Count(s) < count) s[static_cast<size_t>(r_.Below(static_cast<int64_t>(s.size())))] *= 2;
  return s;
}

Elem Generator::IntElement() {
  for (int i = 0; i < 20; ++i) {
    const Elem e = Element();
    if (ir::IsInt(e)) return e;
  }
  return Elem::kI32;
}

Elem Generator::FloatElement() {
  for (int i = 0; i < 20; ++i) {
    const Elem e = Element();
    if (ir::IsFp(e)) return e;
  }
  return Elem::kF32;
}

Val Generator::RandomConstant(Elem e, const Shape& shape) {
  const ir::Type t = Tile(e, shape);
  const int64_t n = Count(shape);
  if (ir::IsInt(e)) {
    if (n <= 64 && r_.Percent(30)) {
      std::vector<double> values;
      for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<double>(r_.In(-100, 100)));
      return {op::Elements(b_, t, values)};
    }
    return {op::Integer(b_, t, r_.Percent(50) ? r_.In(-4, 9) : static_cast<int64_t>(r_.Next()))};
  }
  if (ir::IsFloat(e)) {
    const double largest = std::min(4.0, LargestWhole(e));
    if (LargestWhole(e) > 0 && r_.Percent(60)) {
      const double value = static_cast<double>(r_.In(-4, 4));
      return {op::Splat(b_, t, value), largest};
    }
    const double value = r_.Of({0.5, 1.5, 3.0, -0.75, 1e30, 6e-8, -0.0, 448.0});
    return {op::Splat(b_, t, value), -1, true, !std::isnan(value)};
  }
  return Converted({op::Integer(b_, Tile(Elem::kI8, shape), static_cast<int64_t>(r_.Next()))}, e);
}

Val Generator::Operand(Elem e, const Shape& shape) {
  const auto same = [&](const Val& v) { return v.exact && v.elem() == e && v.shape() == shape; };
  if (r_.Percent(70)) {
    const Val v = Pick(same);
    if (same(v)) return v;
  }
  if (r_.Percent(15) && e != Elem::kI4) return RandomConstant(e, shape);
  Val v = Exact();
  if (v.elem() == e) return Shaped(v, shape);
  // A tile of f4E2M1FN keeps an even size on the way.
  const bool convert_first = v.elem() == Elem::kF4E2M1FN || (e != Elem::kF4E2M1FN && r_.Percent(50));
  return convert_first ? Shaped(Converted(v, e), shape) : Converted(Shaped(v, shape), e);
}

Val Generator::Small(Elem e, const Shape& shape, double bound) {
  bound = std::min(bound, LargestWhole(e));
  const auto fits = [&](const Val& v) { return v.exact && v.elem() == e && v.bound >= 0 && v.bound <= bound; };
  if (r_.Percent(60)) {
    const Val v = Pick([&](const Val& x) { return fits(x) && x.shape() == shape; });
    if (fits(v) && v.shape() == shape) return v;
  }
  if (r_.Percent(50)) {
    const Val v = Pick(fits);
    if (fits(v)) return Shaped(v, shape);
  }
  int64_t half = 1;
  while (half * 2 <= bound && half < 64) half *= 2;
  const Elem from = r_.Of({Elem::kI8, Elem::kI16, Elem::kI32, Elem::kI64});
  Value* v = Operand(from, shape).v;
  v = op::Andi(b_, v, Splat(from, shape, 2 * half - 1));
  v = op::Subi(b_, v, Splat(from, shape, half));
  return {op::IToF(b_, Tile(e, shape), v, ir::Signedness::kSigned), static_cast<double>(half)};
}

Elem Generator::IndexType(int64_t largest) {
  std::vector<Elem> types = {Elem::kI32, Elem::kI32, Elem::kI64};
  if (largest < 0x8000) types.push_back(Elem::kI16);
  if (largest < 0x80) types.push_back(Elem::kI8);
  return r_.Of(types);
}

Value* Generator::Index(int64_t n, Elem type) {
  if (n == 1 && r_.Percent(60)) return Constant(type, 0);
  if (r_.Percent(40)) return Constant(type, r_.Below(n));
  Value* any = r_.Percent(40) ? Converted({block_}, type).v : Operand(type, {}).v;
  return op::Remi(b_, any, Constant(type, n), ir::Signedness::kUnsigned);
}

Value* Generator::Number(Elem e, int64_t n) {
  if (r_.Percent(50)) return Constant(e, n);
  for (const auto& [param, value] : scalars_) {
    if (param->type().elem() != e || r_.Percent(40)) continue;
    Value* v = n == value ? param : op::Addi(b_, param, Constant(e, n - value));
    if (n > 0 && n % 16 == 0 && r_.Percent(40)) {
      ir::Predicate p;
      p.divisor = 16;
      v = op::Assume(b_, v, p);
    }
    return v;
  }
  return Constant(e, n);
}

// --- steps
// ------------------------------------------------------------------------------------------------------------

void Generator::StepValues() {
  switch (r_.Below(4)) {
    case 0: {
      const Elem e = IntElement();
      const int64_t n = std::min(RandomCount(), int64_t{1} << std::min(14, ir::ElemInfoOf(e).bits));
      return Add({op::Iota(b_, Tile(e, {n}))});
    }
    case 1: {
      const auto ids = r_.Percent(60) ? op::GetTileBlockId(b_) : op::GetNumTileBlocks(b_);
      return Add({ids[static_cast<size_t>(r_.Below(3))]});
    }
    default: {
      const Elem e = Element();
      const Shape s = RandomShape(RandomCount());
      if (Legal(e, s)) Add(RandomConstant(e, s));
    }
  }
}

void Generator::Step() {
  const int64_t w = r_.Below(100);
  const bool deep = depth_ >= 2;
  if (w < 14) return StepInteger();
  if (w < 28) return StepFloat();
  if (w < 35) return StepCompare();
  if (w < 42) return StepConvert();
  if (w < 56) return StepShape();
  if (w < 64) return StepReduce();
  if (w < 68) return StepMatrix();
  if (w < 76) return StepLoad();
  if (w < 82) return StepMemory();
  if (w < 86) return StepAtomic();
  if (w < 88) return StepInexact();
  if (w < 89) return r_.Percent(70) ? StepGlobal() : StepReturn();
  if (w < 91) return StepValues();
  if (w < 94) return Store(Exact());
  if (deep) return StepInteger();
  if (w < 96) return StepIf();
  if (w < 98) return StepFor();
  StepLoop();
}

// Values from `first` on that nothing uses.
void Generator::StoreResults(size_t first) {
  int stored = 0;
  for (size_t i = pool_.size(); i-- > first && stored < 8;) {
    const Val& v = pool_[i];
    if (v.v->has_uses() || v.v->type().element().is_pointer()) continue;
    Store(v);
    ++stored;
  }
}

// Element types of this program: integers, floats, sometimes a narrow one.
void Generator::ChooseElements() {
  std::vector<Elem> ints = {Elem::kI8, Elem::kI16, Elem::kI32, Elem::kI64, Elem::kI1};
  std::vector<Elem> floats = {Elem::kF16, Elem::kBF16, Elem::kF32, Elem::kF64};
  const auto take = [&](std::vector<Elem>& from) {
    const auto i = static_cast<size_t>(r_.Below(static_cast<int64_t>(from.size())));
    elems_.push_back(from[i]);
    from.erase(from.begin() + static_cast<int64_t>(i));
  };
  for (int i = 0; i < 2; ++i) take(ints), take(floats);
  if (elems_[0] == Elem::kI1 || elems_[2] == Elem::kI1) take(ints);
  multiplies_ = r_.Percent(20) || OfProducts();
  if (OfProducts()) elems_ = {Elem::kI8, Elem::kI16, Elem::kI32, Elem::kF16, Elem::kBF16, Elem::kF32};
  if (multiplies_) elems_.push_back(r_.Of({Elem::kF16, Elem::kBF16, Elem::kTF32, Elem::kI8}));
  std::sort(elems_.begin(), elems_.end());
  elems_.erase(std::unique(elems_.begin(), elems_.end()), elems_.end());
  if (r_.Percent(40)) {
    elems_.push_back(
        r_.Of({Elem::kF8E4M3FN, Elem::kF8E5M2, Elem::kF8E8M0FNU, Elem::kF4E2M1FN, Elem::kTF32, Elem::kF8E5M3FNU}));
    if (std::count(elems_.begin(), elems_.end(), elems_.back()) > 1) elems_.pop_back();
  }
}

// Parameters: arrays for each element type, and scalars.
void Generator::Declare() {
  ir::Module& m = *out_.module;
  std::vector<ir::Type> params;
  const auto array = [&](const std::string& name, Elem e, Role role, Fill fill, int64_t count, double tolerance = 0) {
    out_.arrays.push_back({name, e, count, fill, tolerance});
    roles_.push_back(role);
    used_.push_back(0);
    params.push_back(m.types().Scalar(ir::Element::Pointer(e)));
  };
  for (const Elem e : elems_) {
    const std::string name = ir::ElemInfoOf(e).spelling;
    array("in_" + name, e, Role::kInput, Fill::kBits, r_.In(1000, 12000) * 2);
    if (LargestWhole(e) > 0 && (multiplies_ || r_.Percent(60)))
      array("small_" + name, e, Role::kInput, Fill::kSmall, r_.In(4000, 17000) * (OfProducts() ? 8 : 2));
  }
  for (const Elem e : matrix_elems_) {
    array(absl::StrCat("tiny_", ir::ElemInfoOf(e).spelling), e, Role::kInput, Fill::kTiny, kMatrixElements);
  }
  if (OfScaled()) {
    array(absl::StrCat("scale_", ir::ElemInfoOf(scaled_.scale).spelling), scaled_.scale, Role::kInput, Fill::kScale,
          kMatrixElements);
  }
  for (const Elem e : elems_) {
    const std::string name = ir::ElemInfoOf(e).spelling;
    array("out_" + name, e, Role::kOutput, Fill::kUnwritten, 0);
    if (!ir::IsFp(e)) continue;
    array("near_" + name, e, Role::kInexact, Fill::kUnwritten, 0,
          e == Elem::kF64   ? 1e-11
          : e == Elem::kF32 ? 1e-4
          : e == Elem::kF16 ? 2e-2
                            : 1e-1);
    array("sum_" + name, e, Role::kUpdates, Fill::kZero, 0);
  }
  for (const Elem e : {Elem::kI32, Elem::kI64}) {
    array(absl::StrCat("sum_", ir::ElemInfoOf(e).spelling), e, Role::kUpdates, Fill::kBits, 0);
  }
  for (const Elem e : {Elem::kI8, Elem::kI16, Elem::kI32, Elem::kI32, Elem::kI64}) {
    params.push_back(m.types().Scalar(e));
    out_.scalars.push_back(static_cast<uint64_t>(r_.In(1, 100)));
  }
  ir::Function* f = m.AddFunction("random", params);
  b_ = ir::Builder(&m, f->body());
  for (size_t i = 0; i < params.size(); ++i) {
    Value* p = f->param(static_cast<int>(i));
    if (i < out_.arrays.size()) {
      p->name = m.Copy(out_.arrays[i].name);
      arrays_.push_back(p);
    } else {
      p->name = m.Copy(absl::StrCat("s", i - out_.arrays.size()));
      scalars_.push_back({p, static_cast<int64_t>(out_.scalars[i - out_.arrays.size()])});
    }
  }
  ids_ = op::GetTileBlockId(b_);
  block_ = op::Addi(b_, ids_[0],
                    op::Muli(b_, Constant(Elem::kI32, out_.grid[0]),
                             op::Addi(b_, ids_[1], op::Muli(b_, ids_[2], Constant(Elem::kI32, out_.grid[1])))));
  token_ = op::MakeToken(b_);
}

void Generator::AllocateShared() {
  for (int64_t i = r_.Below(3); i > 0; --i) {
    const Elem e = Element();
    Shape sizes;
    for (int64_t d = r_.In(1, 3); d > 0; --d)
      sizes.push_back(r_.Percent(60) ? int64_t{1} << r_.In(0, 5) : r_.In(1, 20));
    if (ir::IsSubByte(e)) sizes.back() = (sizes.back() + 1) / 2 * 2;
    Shape strides(sizes.size(), 1);
    for (size_t d = sizes.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * sizes[d + 1];
    const int64_t count = strides[0] * sizes[0];
    if (count > 2048) continue;
    const ir::Type t = b_.types().TensorView(ir::Element::Number(e), sizes, strides, ir::MemorySpace::kShared);
    shared_.push_back({op::AllocShared(b_, t, r_.Of({8, 16, 128})), e, count});
  }
}

// Returns the first of the pool's values that the last step made.
size_t Generator::EmitSteps() {
  const bool products = OfProducts();
  Add({block_});
  for (const auto& [param, value] : scalars_) Add({param});
  int wanted = static_cast<int>(OfLoops()                               ? r_.Of({1, 1, 2, 3})
                                : products || Carries() || Normalises() ? r_.In(1, 6)
                                                                        : r_.In(4, 24));
  for (int i = 0; i < (OfLoops() ? 1 : 3); ++i) StepLoad();
  for (int64_t i = Carries() ? r_.In(1, 2) : 0; i > 0; --i) StepCarried();
  for (int i = 0; Widens() && i < 2; ++i) StepReduce();
  if (Normalises()) StepNormalised();
  for (int64_t i = OfLoops() || Carries() ? 0 : products ? r_.In(1, 3) : multiplies_; i > 0; --i) StepProductLoop();
  size_t last = 0;
  while (out_.steps < wanted && (options_.steps < 0 || out_.steps < options_.steps)) {
    last = pool_.size();
    if (!OfLoops() || (out_.steps > 0 && !r_.Percent(30))) {
      Step();
    } else {
      OfScaled() ? StepScaledLoop() : ProductLoop(this).Emit();
    }
    ++out_.steps;
    if (ir::Op* op = b_.block()->back(); op != nullptr && op->num_results() > 0 && op->result(0)->type().is_tile()) {
      work_ += op->result(0)->type().num_elements();
    }
    if (work_ > kMaxWork) break;
  }
  return last;
}

// The interface, now that the sizes are known.
void Generator::Finish(ir::Function* f) {
  f->interface = std::make_unique<ir::Interface>();
  for (size_t i = 0; i < arrays_.size(); ++i) {
    RandomArray& a = out_.arrays[i];
    if (roles_[i] != Role::kInput) a.count = (used_[i] + 17) / 2 * 2;
    ir::ArrayArg arg;
    arg.name = a.name;
    arg.direction = roles_[i] == Role::kInput ? ir::Direction::kIn : ir::Direction::kInOut;
    arg.element = ir::Element::Number(a.elem);
    arg.pointer_param = static_cast<int>(i);
    arg.shape.resize(1);
    arg.shape[0].constant = a.count;
    f->interface->arrays.push_back(std::move(arg));
  }
  for (size_t i = 0; i < out_.scalars.size(); ++i) {
    ir::ScalarArg arg;
    arg.param = static_cast<int>(arrays_.size() + i);
    arg.name = absl::StrCat("s", i);
    arg.default_bits = out_.scalars[i];
    f->interface->scalars.push_back(std::move(arg));
  }
  for (const int64_t n : out_.grid) f->interface->grid.push_back({{ir::ExprOp::kConst, 0, 0, n}});

  ir::Diagnostics diagnostics;
  ir::Verify(*out_.module, &diagnostics);
  if (!diagnostics.ok()) {
    std::fprintf(stderr, "%s\nseed %llu makes no program:\n%s\n", ir::Print(*out_.module).c_str(),
                 static_cast<unsigned long long>(options_.seed), diagnostics.ToString().c_str());
    std::abort();
  }
}

RandomProgram Generator::Run() {
  out_.seed = options_.seed;
  out_.module = std::make_unique<ir::Module>();
  for (int64_t& n : out_.grid) n = r_.Percent(50) ? 1 : r_.In(1, OfLoops() ? 2 : 3);
  if (OfLoops()) out_.grid[2] = 1;
  blocks_ = out_.grid[0] * out_.grid[1] * out_.grid[2];
  OfScaled() ? ChooseElementsOfScaled() : OfLoops() ? ChooseElementsOfLoops() : ChooseElements();
  Declare();
  if (!OfLoops()) AllocateShared();
  ir::Function* f = out_.module->FindFunction("random");
  const size_t last = EmitSteps();
  std::vector<ir::Op*> kept;
  ir::Op* end = f->body()->back();
  StoreResults(options_.last_only ? last : 0);
  for (ir::Op* op = end; op != nullptr; op = op->next()) kept.push_back(op);
  op::Return(b_);
  if (options_.last_only) RemoveUnused(f->body(), kept);
  Finish(f);
  return std::move(out_);
}

RandomProgram MakeRandomProgram(const RandomOptions& options) { return Generator(options).Run(); }

}  // namespace tile::fuzz
