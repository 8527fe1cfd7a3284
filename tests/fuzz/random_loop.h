// Loops around matrix products, as gated layers, attention, state spaces and recurrences write them: one to four products that share
// operands, follow each other, or stand under a condition, with loads, reductions, scans and stores between them; in a loop that walks
// over tiles, or not. They are what compilers pipeline.
//
//   ProductLoop(&generator).Emit();   // one more step of the program; its results are stored, and go to the pool
//
// A loop is planned first (which products, of what) and then emitted. All numbers are so small that every order of summing gives the same.
#ifndef TILE_TESTS_FUZZ_RANDOM_LOOP_H_
#define TILE_TESTS_FUZZ_RANDOM_LOOP_H_

#include <functional>
#include <optional>
#include <vector>

#include "tests/fuzz/generator.h"

namespace tile::fuzz {

class ProductLoop {
 public:
  explicit ProductLoop(Generator* g) : g_(*g), r_(g->r_), b_(g->b_) {}
  void Emit();

 private:
  // How a tile of a matrix comes: through a partition view, as Triton's descriptors do, through a tile of pointers that follows from the
  // iteration, or through one that the loop carries.
  enum class Way { kView, kBlock, kPointers, kCarriedPointers };

  // A matrix in memory of which the loop takes a tile in each iteration.
  struct Matrix {
    Elem memory = Elem::kF16, elem = Elem::kF16;  // as it is stored, and as a product takes it
    int64_t rows = 0, columns = 0;                // of a tile
    size_t depth = 0;                             // the dimension along which the loop goes
    bool invariant = false;                       // the same tile in all iterations
    Way way = Way::kView;
    bool casts = false;   // it is loaded as integers, whose bits are what is stored
    bool paged = false;   // which tile an iteration takes stands in a table
    bool turned = false;  // the view's dimensions are those of the tensor in the other order
    Cut cut;
    Region region, table;
    int64_t limit = -1;  // of a mask along the depth; -1: none
    int slot = -1;       // of carried pointers
    Value* offsets = nullptr;

    Shape tile() const { return {rows, columns}; }
  };

  // An operand of products.
  struct Factor {
    enum class From { kMatrix, kTurned, kResult, kComputed, kCarried } from = From::kMatrix;
    int of = 0;  // number of the matrix, the factor that is turned or computed with, the product, or the slot
    Elem elem = Elem::kF16;
    int64_t rows = 0, columns = 0;
  };

  enum class Sum { kCarried, kZero, kAfter };

  struct Product {
    int lhs = 0, rhs = 0;  // factors
    Sum sum = Sum::kCarried;
    int of = 0;  // carried: the slot; after: the product whose sums it goes on with
    Elem elem = Elem::kF32;
    int64_t m = 0, n = 0, k = 0;
    bool guarded = false;  // stands under a condition
    bool inner = false;    // stands in a loop of its own, of two iterations
  };

  static constexpr double kTiny = 2;  // of what is in the matrices

  // What the loop carries.
  struct Slot {
    Val init, now;
    double bound = -1;  // in the loop
  };

  // --- the plan (random_loop.cc)
  void Plan();
  void PlanProduct();
  void PlanAttention();
  void PlanGradients();
  void PlanGradientsOfComing();
  void PlanRecurrence();
  // `lhs`: the loop mostly goes along its columns, else along its rows.
  int NewMatrix(Elem elem, int64_t rows, int64_t columns, bool invariant, bool lhs);
  int PlanLhs(Elem elem);
  int PlanRhs(Factor lhs);
  int Turned(int factor);
  int Computed(int factor, int percent);
  int AddFactor(const Factor& f);
  Elem FactorElem();
  Elem SumOf(Elem factor);
  // Of whole numbers that are sums of this type; -1: any integers.
  static double BoundOf(Elem sum) { return sum == Elem::kI32 ? -1 : sum == Elem::kF16 ? 1000 : 1 << 18; }
  int64_t Edge() { return tidy_ ? r_.Of({64, 64, 128}) : r_.Of({16, 32, 64, 64, 64, 128}); }
  int NewSlot(Val init, double bound);
  Val StartOf(Elem e, const Shape& shape);
  void Around(const std::function<void(Value* tile)>& body);
  void EmitLoop(Value* tile);
  void EmitRounds();
  op::Values Loop(const std::function<op::Values(Value*, const op::Values&)>& body);
  void StoreAll(Value* tile);

  // --- tiles and rounds in one loop (random_flat.cc)
  bool IsFlat() const { return g_.options_.seed >= kFlatSeeds && g_.options_.seed < kKeptSeeds && !attends_; }
  void PlanFlat();
  void EmitFlat();
  op::Values EndPart(Value* is_last);
  Value* IsEqual(Value* x, Value* y);

  // --- its parts (random_loop_body.cc)
  bool Place(Matrix* matrix);
  void PreparePointers(Matrix* matrix);
  Val Load(Matrix* matrix, Value* round, Value* tile);
  Val LoadMatrix(int matrix);
  Val FactorNow(int factor);
  Val ComputedOf(const Val& x);
  Val Shrunk(Val x, Elem to);
  Val Clamped(Val x, double low, double high);
  Val ReducedRows(const Val& x, bool sum);
  Val Spread(const Val& rows, const Shape& shape);
  void EmitBody();
  void EmitAttention();
  void EmitProduct(size_t number);
  Value* Multiply(const Product& p, Value* x, Value* y, Value* acc);
  Value* Condition();
  Val Between(const Product& p, Val result);
  void MultiplyBehind(const Val& x, Value* tile);
  void EarlyContinue();
  Value* Page(const Matrix& m, Value* round);
  // In memory of its own for each tile that the grid walks over and, in the loop, each iteration.
  void StoreTile(Val x, Value* tile, bool in_loop);

  Generator& g_;
  Random& r_;
  ir::Builder& b_;
  Elem main_ = Elem::kF16;  // of most factors
  bool attends_ = false;
  int state_ = -1;      // the slot of a recurrence: what the first product became
  bool tidy_ = false;   // as kernels that were made fast: large tiles through views, little between the products
  bool counts_ = true;  // the loop is a for
  int64_t rounds_ = 0, tiles_ = 1, step_ = 1;
  int64_t work_ = 0;  // multiplications in all
  std::vector<Matrix> matrices_;
  std::vector<Factor> factors_;
  std::vector<Product> products_;
  std::vector<Slot> slots_;
  // While the body is emitted: this iteration's number, the tile's, factors and results that are there.
  Value *round_ = nullptr, *tile_ = nullptr;
  std::vector<std::optional<Val>> factor_now_, result_now_;
  std::vector<Val> invariants_;
};

}  // namespace tile::fuzz

#endif  // TILE_TESTS_FUZZ_RANDOM_LOOP_H_
