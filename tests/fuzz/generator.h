// The making of a random program (random_program.h): what all kinds of steps share. Each file random_<kind>.cc holds
// the steps of its kind.
//
// A step takes values of the pool, brings them to the types that it wants by conversions and changes of shape, and puts
// what it makes into the pool. At the end what nobody used is stored.
#ifndef TILE_TESTS_FUZZ_GENERATOR_H_
#define TILE_TESTS_FUZZ_GENERATOR_H_

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/ops.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/random_program.h"

namespace tile::fuzz {

namespace op = ir::ops;
using ir::Elem;
using ir::Value;
using Shape = std::vector<int64_t>;

inline constexpr int64_t kMaxElements = 16384;                // of a tile
inline constexpr int64_t kMatrixElements = int64_t{1} << 17;  // of the arrays that hold matrices of loops

// A value with what is known of it.
struct Val {
  Value* v = nullptr;
  // Floats: whole numbers of at most this magnitude, and no -0; -1: anything. Of an inexact value its magnitude.
  double bound = -1;
  bool exact = true;
  bool plain = true;  // its bits are defined: no NaN that came out of arithmetic

  Elem elem() const { return v->type().elem(); }
  Shape shape() const { return Shape(v->type().shape().begin(), v->type().shape().end()); }
  int64_t count() const { return v->type().num_elements(); }
  int rank() const { return v->type().rank(); }
};

// Memory of one block, or of all: `size` elements from `pointer` on.
struct Region {
  Value* pointer = nullptr;
  Elem elem = Elem::kI32;
  int64_t size = 0;
  double bound = -1;     // of what it holds, as Val::bound
  bool aligned = false;  // to 16 bytes
};

enum class Role { kInput, kOutput, kInexact, kUpdates };

enum class ViewKind { kPartition, kStrided, kGather };

// A tensor in memory and how a view cuts it.
struct Cut {
  ViewKind kind = ViewKind::kPartition;
  Shape sizes, strides;  // of the tensor
  int64_t span = 0;      // elements of memory from its first to its last, with both
  Shape tile;
  Shape dim_map;        // tile dimension k runs along tensor dimension dim_map[k]
  Shape steps;          // of a strided view
  int sparse = 0;       // of a gather_scatter_view
  bool inside = false;  // no tile leaves the tensor
  Value* view = nullptr;
};

// A tensor in memory of which blocks are taken by descriptors.
struct Block {
  Shape tile, sizes, strides;
  int64_t span = 0;  // elements of memory
};

// What a product with block scales multiplies: a scale serves so many elements along K.
struct ScaledForm {
  Elem data = Elem::kF8E4M3FN, scale = Elem::kF8E8M0FNU;
  int64_t block = 32;
};
ScaledForm RandomScaledForm(Random& r);

// How large whole numbers of the type may be so that all up to them can be represented.
double LargestWhole(Elem e);
bool Legal(Elem e, const Shape& shape);
int64_t Count(const Shape& shape);
Shape Identity(int n);  // 0, 1 … n-1

class Generator {
 public:
  explicit Generator(const RandomOptions& options);
  RandomProgram Run();

 private:
  // --- the pool (random_program.cc) ---------------------------------------------------------------------------------
  void Add(Val v) { pool_.push_back(v); }
  Val Pick(const std::function<bool(const Val&)>& wanted = {});  // exact, number; later ones more often
  Val Exact() { return Pick(); }
  // An exact value of this type: of the pool, or made from it.
  Val Operand(Elem e, const Shape& shape);
  // An exact float tile of whole numbers up to about `bound`, at most LargestWhole.
  Val Small(Elem e, const Shape& shape, double bound);
  Val Widened();
  // A scalar index in 0 … n-1, of an integer type that can hold n.
  Value* Index(int64_t n, Elem type);
  Elem IndexType(int64_t largest);
  // The number, not always as a constant.
  Value* Number(Elem e, int64_t n);
  Value* Constant(Elem e, int64_t n) { return op::Integer(b_, b_.types().Scalar(e), n); }
  Value* Splat(Elem e, const Shape& shape, int64_t n) { return op::Integer(b_, Tile(e, shape), n); }
  ir::Type Tile(Elem e, const Shape& shape) { return b_.types().Tile(ir::Element::Number(e), shape); }
  Val RandomConstant(Elem e, const Shape& shape);
  Elem Element() { return r_.Of(elems_); }
  Elem IntElement();
  Elem FloatElement();
  Shape RandomShape(int64_t count, int max_rank = 4);
  int64_t RandomCount();
  Shape Permutation(int n);

  Val Spread(const Val& x, const Shape& shape);  // a scalar, or a tile with a dimension of size 1

  // The parts of a program (random_program.cc).
  bool Widens() const { return options_.seed >= kWidenedSeeds && options_.seed < kNormalisedSeeds; }
  bool Stays() const { return options_.seed >= kStayingSeeds; }
  bool Recurs() const { return options_.seed >= kRecurrentSeeds && !Stays(); }
  bool WidensFactors() const { return options_.seed >= kWidenedFactorSeeds && options_.seed < kRecurrentSeeds; }
  bool Normalises() const { return options_.seed >= kNormalisedSeeds && options_.seed < kWidenedFactorSeeds; }
  bool MultipliesBehind() const { return options_.seed >= kBehindSeeds && options_.seed < kWidenedSeeds; }
  bool Casts() const { return options_.seed >= kCastSeeds && options_.seed < kBehindSeeds; }
  bool Repeats() const { return options_.seed >= kRepeatedSeeds && options_.seed < kCastSeeds; }
  bool OfScaled() const { return options_.seed >= kScaledSeeds && options_.seed < kRepeatedSeeds; }
  bool Carries() const { return options_.seed >= kCarriedSeeds && options_.seed < kScaledSeeds; }
  bool OfLoops() const {
    const bool among_first = options_.seed >= kLoopSeeds && options_.seed < kWidenedSeeds;
    return WidensFactors() || Recurs() || Stays() || (among_first && !Carries() && !Repeats());
  }
  bool OfProducts() const { return options_.seed >= kProductSeeds && options_.seed < kLoopSeeds; }
  void ChooseElements();
  void ChooseElementsOfLoops();
  void ChooseElementsOfScaled();
  void Declare();
  void AllocateShared();
  size_t EmitSteps();
  void Finish(ir::Function* f);

  // Steps: which, at top level or inside of a region.
  void Step();
  void Steps(int n) {
    for (int i = 0; i < n; ++i) Step();
  }
  void StepValues();
  void StoreResults(size_t first);

  // --- elementwise (random_elementwise.cc) --------------------------------------------------------------------------
  Val Converted(Val x, Elem to);
  Val Bits(Val x);  // what may be read as bits
  ir::Rounding FtofRounding(Elem from, Elem to);
  ir::Rounding Ieee();
  ir::Signedness Sign() { return r_.Percent(50) ? ir::Signedness::kSigned : ir::Signedness::kUnsigned; }
  // The operation of the table on as many of these as it has operands.
  Value* Plain(ir::Opcode opcode, Value* x, Value* y, Value* z);
  ir::ComparisonPredicate Predicate() { return static_cast<ir::ComparisonPredicate>(r_.Below(6)); }
  void StepInteger();
  void StepFloat();
  void StepCompare();
  void StepConvert();
  void StepInexact();

  // --- shape, reduce, matrices (random_shape.cc, random_reduce.cc, random_product.cc)
  // --------------------------------------------------
  Val Shaped(Val x, const Shape& shape);
  Val Made(Value* v, const Val& like) { return {v, like.bound, like.exact, like.plain}; }
  void StepShape();
  void StepReduce();
  void StepReduce(Val x);
  void StepMatrix();
  void StepScaled();
  void StepProductLoop();
  // random_scaled.cc
  struct ScaledMatrix;
  ScaledMatrix PlaceScaled(Elem e, Fill fill, const Shape& tile, size_t depth, int64_t rounds, bool ragged);
  Value* LoadScaled(const ScaledMatrix& m, Value* round);
  void StepScaledLoop();
  void StoreProduct(Val x);

  // --- memory (random_memory.cc) ------------------------------------------------------------------------------------
  Region InputRegion();
  // Memory for `size` elements of each block, or of all of them; for inexact values elsewhere.
  Region OutputRegion(Elem e, int64_t size, bool of_block, bool exact = true);
  int FindArray(Role role, Elem e) const;  // -1: none
  Region Part(int array, Value* first, int64_t size, bool aligned);
  Cut Design(Elem e, const Shape& tile, int64_t room, bool store);
  Cut DesignOver(const Shape& sizes, const Shape& strides, const Shape& tile);
  void Settle(Cut* cut);
  Value* Tensor(const Region& region, const Shape& sizes, const Shape& strides);
  void MakeView(Cut* cut, Value* tensor, bool load);
  op::Values Indices(const Cut& cut, bool store);
  op::Access How(Value* token, bool store, Elem e);
  Val LoadCut(const Region& region, Cut cut, Value* token, Value** done);
  Val LoadPointers(const Region& region, const Shape& shape, Value* token, Value** done);
  Value* Repeated(Elem e, const Shape& shape);
  Value* Pointers(const Region& region, Value* offsets);
  Val Load(const Region& region, const Shape& tile, Value* token, Value** done);
  Value* StorePointers(Val x, Value* token);
  Value* StoreCut(Val x, Value* token);
  Value* StoreOfAll(Val x, Value* token);
  Value* StoreScatter(Val x, Value* token);
  Value* Shuffled(Elem e, int64_t n);
  void Store(Val x);
  void StepLoad();
  void StepMemory();
  void StepGlobal();
  // The token that orders accesses to memory that the block writes, and what to do with the one behind them.
  Value* Before() { return in_loop_ || r_.Percent(50) ? token_ : nullptr; }
  void After(Value* token);

  // --- blocks of tensors (random_block.cc) --------------------------------------------------------------------------
  Block DesignBlock(const Shape& tile, int64_t room);
  Value* BlockOffset(const Block& block, size_t d);
  Value* BlockPointers(const Region& region, const Block& block, const op::Values& offsets, Value** mask);
  Val LoadBlock(const Region& region, const Block& block, const op::Values& offsets, op::Access how, Value** done);
  Val LoadBlock(const Region& region, const Shape& tile, Value* token, Value** done);
  Value* StoreBlock(const Val& x, Value* token);

  // --- updates (random_atomic.cc) -----------------------------------------------------------------------------------
  void StepAtomic();
  op::Access UpdateAccess(bool own);
  void UpdateCommuting(Elem e);
  void UpdateOwn(Elem e);

  // --- control (random_control.cc) ----------------------------------------------------------------------------------
  void StepIf();
  void StepFor();
  void StepLoop();
  void StepReturn();
  op::Values Inside(const std::function<op::Values()>& body);  // with the pool as it was afterwards
  std::vector<Val> Carried(int most);
  // Loops that carry large tiles (random_carried.cc).
  void StepCarried();
  // A tile of floats, divided by the largest absolute values along a dimension.
  Val Normalised(const Val& x, int64_t dim);
  void StepNormalised();
  Val Joined(const Val& carried, const Val& x);

  friend class ProductLoop;  // a step of its own

  RandomOptions options_;
  Random r_;
  RandomProgram out_;
  ir::Builder b_;
  std::vector<Elem> elems_;
  // Of loops of products: the types of factors, and of the matrices that they come from.
  std::vector<Elem> factor_elems_, matrix_elems_;
  ScaledForm scaled_;
  bool multiplies_ = false;
  std::vector<Val> pool_;
  std::vector<Value*> arrays_;  // parameter of each array
  std::vector<Role> roles_;
  std::vector<int64_t> used_;                        // elements given away of arrays that are no inputs
  std::vector<std::pair<Value*, int64_t>> scalars_;  // parameters whose value is known here
  std::vector<Region> shared_;                       // shared arrays: `pointer` is the tensor
  Value* block_ = nullptr;                           // number of the block
  std::array<Value*, 3> ids_{};
  Value* token_ = nullptr;
  bool in_loop_ = false;
  int depth_ = 0;
  int64_t rounds_ = 1;  // how often this place runs at most
  int64_t blocks_ = 1;
  int64_t work_ = 0;  // elements made so far
};

}  // namespace tile::fuzz

#endif  // TILE_TESTS_FUZZ_GENERATOR_H_
