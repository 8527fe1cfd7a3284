// One instruction while it is decoded: gives its suffixes and operands, each of which has to be asked for.
//
//   absl::Status DecodeAdd(Form& f, Instr* i) {          // add.s32 %r1, %r2, 7
//     const bool sat = f.Take("sat");
//     absl::StatusOr<Type> type = f.TakeType();
//     …
//     i->d = f.Destination(0); i->a = f.Source(1); i->b = f.Source(2);
//     return f.Finish();                                 // errors so far; suffixes or operands that nobody asked for
//   }
#ifndef TILE_TESTS_GPU_SIM_MACHINE_FORM_H_
#define TILE_TESTS_GPU_SIM_MACHINE_FORM_H_

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "tests/gpu_sim/machine/program.h"
#include "tests/gpu_sim/machine/type.h"
#include "tests/gpu_sim/ptx/syntax.h"

namespace tile::gpu_sim {

// Where variables are; of shared memory and parameters the offset.
struct Symbol {
  ptx::Space space = ptx::Space::kGlobal;
  uint64_t value = 0;
};

// The slots of constants of one program.
class Constants {
 public:
  Constants(Program* program, const absl::flat_hash_map<std::string, Symbol>& symbols)
      : program_(*program), symbols_(symbols) {}

  uint32_t Number(uint64_t bits);
  uint32_t Sink();  // for results that nobody wants
  // A variable, parameter or special register.
  absl::StatusOr<uint32_t> Named(absl::string_view name, uint64_t offset);
  Program& program() { return program_; }

 private:
  uint32_t Add(uint64_t bits);

  Program& program_;
  const absl::flat_hash_map<std::string, Symbol>& symbols_;
  absl::flat_hash_map<uint64_t, uint32_t> numbers_;
  absl::flat_hash_map<std::string, uint32_t> named_;
  uint32_t sink_ = 0;
};

class Form {
 public:
  Form(const ptx::Kernel& kernel, const ptx::Instruction& in, Constants& constants)
      : kernel_(kernel), in_(in), constants_(constants), taken_(in.words.size()), used_(in.operands.size()) {
    taken_[0] = true;
  }

  // Suffixes, in any order.
  bool Take(absl::string_view word);
  void Ignore(std::initializer_list<absl::string_view> words);
  void IgnorePrefixed(absl::string_view prefix);
  Type TakeType();  // the first that is left; an error (Finish) if there is none
  // The value of the first word of the table that is there; `otherwise` if none.
  template <class T>
  T TakeOf(std::initializer_list<std::pair<absl::string_view, T>> table, T otherwise) {
    for (const auto& [word, value] : table) {
      if (Take(word)) return value;
    }
    return otherwise;
  }
  void TakeAll() { taken_.assign(taken_.size(), true); }  // somebody else has looked at them
  const std::vector<absl::string_view>& words() const { return in_.words; }

  // Operands.
  size_t num_operands() const { return in_.operands.size(); }
  bool IsList(size_t i) const { return i < num_operands() && in_.operands[i].kind == ptx::Operand::Kind::kList; }
  bool IsAddress(size_t i) const { return i < num_operands() && in_.operands[i].kind == ptx::Operand::Kind::kAddress; }
  bool IsPair(size_t i) const { return i < num_operands() && in_.operands[i].kind == ptx::Operand::Kind::kPair; }
  uint32_t Source(size_t i);
  uint32_t SourceOrNot(size_t i, bool* negated);  // !%p1
  uint32_t Destination(size_t i);
  std::pair<uint32_t, uint32_t> DestinationPair(size_t i);
  Place Address(size_t i);
  // [base, {x, y}]: the parts after the base.
  const uint32_t* Coordinates(size_t i, uint32_t* count);
  const uint32_t* Sources(size_t i, uint32_t* count);                    // a list, or one
  const uint32_t* SourceRange(size_t first, size_t n, uint32_t* count);  // operands first…
  const uint32_t* Destinations(size_t i, uint32_t* count);
  const uint32_t* Slots(std::vector<uint32_t> slots) {  // or other numbers
    uint32_t count = 0;
    return Keep(std::move(slots), &count);
  }
  int64_t Number(size_t i);         // that stands there as such
  int Bits(size_t i, size_t part);  // of the register; 0 if it is none
  const ptx::Operand& Raw(size_t i);
  const ptx::Kernel& kernel() const { return kernel_; }

  template <class E>
  E* NewExtra(Instr* i) {
    auto extra = std::make_unique<E>();
    E* raw = extra.get();
    i->extra = raw;
    constants_.program().extras.push_back(std::move(extra));
    return raw;
  }
  Program& program() { return constants_.program(); }
  // Registers of all operands so far, each once.
  std::vector<uint32_t> Uses() const;
  uint32_t NumberSlot(uint64_t bits) { return constants_.Number(bits); }
  uint32_t Sink() { return constants_.Sink(); }

  void Fail(absl::string_view why);
  absl::Status Finish();
  absl::Status Unknown(absl::string_view why) const;

 private:
  uint32_t UseRegister(const ptx::Operand& o);
  uint32_t SourceOf(const ptx::Operand& o);
  uint32_t DestinationOf(const ptx::Operand& o);
  const ptx::Operand* Use(size_t i);
  const uint32_t* Keep(std::vector<uint32_t> slots, uint32_t* count);

  const ptx::Kernel& kernel_;
  const ptx::Instruction& in_;
  Constants& constants_;
  std::vector<bool> taken_, used_;
  std::vector<uint32_t> uses_;
  absl::Status status_;
};

struct OpRow {
  absl::string_view name;  // the word before the first dot
  absl::Status (*decode)(Form&, Instr*);
};

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_FORM_H_
