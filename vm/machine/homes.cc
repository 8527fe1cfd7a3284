#include "vm/machine/homes.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "vm/machine/launch_state.h"
#include "vm/machine/memory_access.h"

namespace tile::vm {
namespace {

using Kind = PointerOrigin::Kind;

constexpr int64_t kMostStride = int64_t{1} << 48;  // elements; no memory has larger ones
constexpr size_t kMostMade = 64;  // pieces of memory that the pointers of one operation are told apart by

// The allocation that a parameter points into, or to the end of.
const Allocation* MemoryAt(const Memory& memory, uintptr_t address) {
  if (const Allocation* a = memory.Find(address, 1)) return a;
  return memory.Find(address, 0);
}

// Stride and size of each dimension, largest stride first, if no two elements share a place and some places have none.
std::vector<Allocation::Step> GridOf(const PointerArgument& p, const std::vector<int64_t>& strides) {
  std::vector<Allocation::Step> grid;
  int64_t count = 1;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (p.shape[d] <= 1) continue;
    grid.push_back({std::abs(strides[d]), p.shape[d]});
    count *= p.shape[d];
  }
  std::sort(grid.begin(), grid.end(), [](const auto& a, const auto& b) { return a.stride > b.stride; });
  __int128 reach = 0;  // of the dimensions inside
  for (size_t i = grid.size(); i-- > 0;) {
    if (grid[i].stride <= reach) return {};
    reach += __int128{grid[i].size - 1} * grid[i].stride;
  }
  return reach + 1 == count ? std::vector<Allocation::Step>{} : grid;
}

// Whether the array is row-major without gaps and takes all of its memory, by the same name: the usual case.
bool IsAllOf(const PointerArgument& p, uintptr_t address, const Allocation& memory) {
  if (address != memory.begin || p.name != memory.name) return false;
  const int64_t bits = p.element.is_pointer() ? 64 : ir::MemoryBits(p.element.kind);
  __int128 count = 1;
  for (size_t d = p.shape.size(); d-- > 0;) {
    if (!p.strides.empty() && p.shape[d] != 1 && p.strides[d] != count) return false;
    if (p.shape[d] < 1 || count > kMostStride) return false;
    count *= p.shape[d];
  }
  return (count * bits + 7) / 8 == memory.bytes;
}

// The array that a parameter was made from as a piece of `memory`: `memory` itself if it is all of that by the same name, or not all
// there.
const Allocation* ArrayOf(LaunchState* state, const PointerArgument& p, uintptr_t address, const Allocation* memory) {
  if (IsAllOf(p, address, *memory)) return memory;
  std::vector<int64_t> strides = p.strides;
  if (strides.empty()) {
    strides.assign(p.shape.size(), 1);
    for (size_t d = p.shape.size(); d-- > 1;) strides[d - 1] = strides[d] * std::max<int64_t>(p.shape[d], 1);
  }
  __int128 low = 0, high = 0;  // first and last element, from the one that the parameter points to
  bool empty = false;
  for (size_t d = 0; d < p.shape.size(); ++d) {
    if (std::abs(strides[d]) > kMostStride) return memory;
    empty |= p.shape[d] <= 0;
    (strides[d] < 0 ? low : high) += __int128{p.shape[d] - 1} * strides[d];
  }
  const int bits = p.element.is_pointer() ? 64 : ir::MemoryBits(p.element.kind);
  const __int128 begin = empty ? __int128{address} : __int128{address} + low * bits / 8;
  const __int128 end = empty ? begin : __int128{address} + ((high + 1) * bits + 7) / 8;
  if (begin < __int128{memory->begin} || end > __int128{memory->end()}) return memory;
  std::vector<Allocation::Step> grid;
  if (!empty && bits >= 8) grid = GridOf(p, strides);
  if (begin == memory->begin && end == memory->end() && grid.empty() && p.name == memory->name) return memory;
  Allocation& array = *state->arrays.emplace_back(std::make_unique<Allocation>());
  array.begin = static_cast<uintptr_t>(begin);
  array.bytes = static_cast<uint64_t>(end - begin);
  array.first = address;
  array.name = p.name;
  array.element = p.element;
  array.shape = p.shape;
  array.initialized = memory->initialized;
  array.grid = std::move(grid);
  return &array;
}

Home HomeOfParameter(LaunchState* state, int param) {
  const uint64_t word = state->launch->params[static_cast<size_t>(param)];
  Home home;
  const auto described = std::find_if(state->launch->pointers.begin(), state->launch->pointers.end(),
                                      [param](const PointerArgument& p) { return p.param == param; });
  if (word != 0) home.memory = home.own = MemoryAt(state->memory, word);
  if (home.memory == nullptr || described == state->launch->pointers.end()) return home;
  home.own = ArrayOf(state, *described, word, home.memory);
  return home;
}

Home HomeOfGlobal(const LaunchState& state, const ir::Global* global) {
  const Code::GlobalMemory* memory = state.code->FindGlobal(global);
  if (memory == nullptr) return {};
  const Allocation* a = MemoryAt(state.memory, reinterpret_cast<uintptr_t>(memory->data));
  return {a, a};
}

bool LeadsAnywhere(const BlockState& b, int set) { return set == kAnywhere || b.launch->launch->any_array; }

const PointerOrigin& OriginAt(const BlockState& b, int origin) { return b.code->origins[static_cast<size_t>(origin)]; }
const OriginSet& SetAt(const BlockState& b, int set) { return b.code->origin_sets[static_cast<size_t>(set)]; }
const Home& HomeAt(const BlockState& b, int origin) { return b.launch->homes[static_cast<size_t>(origin)]; }

// Whether a parameter points to memory that nobody named.
bool IsUnknown(const BlockState& b, int origin) {
  const PointerOrigin& o = OriginAt(b, origin);
  if (o.kind == Kind::kMade) return b.made[static_cast<size_t>(origin)].anywhere;
  return o.kind == Kind::kParameter && HomeAt(b, origin).own == nullptr &&
         b.launch->launch->params[static_cast<size_t>(o.param)] != 0;
}

// fn(const Allocation&) for each piece of memory of an origin, until it returns true.
template <class Fn>
bool AnyOf(const BlockState& b, int origin, Fn&& fn) {
  const PointerOrigin& o = OriginAt(b, origin);
  switch (o.kind) {
    case Kind::kAlloca:
      return std::any_of(b.private_memory.begin(), b.private_memory.end(),
                         [&](const Allocation* a) { return a->made_by == o.op && fn(*a); });
    case Kind::kMade: {
      const auto& memory = b.made[static_cast<size_t>(origin)].memory;
      return std::any_of(memory.begin(), memory.end(), [&](const Allocation* a) { return fn(*a); });
    }
    default: return HomeAt(b, origin).own != nullptr && fn(*HomeAt(b, origin).own);
  }
}

}  // namespace

void FindHomes(LaunchState* state) {
  const Code& code = *state->code;
  state->homes.reserve(code.origins.size());
  for (const PointerOrigin& o : code.origins) {
    state->homes.push_back(o.kind == Kind::kParameter ? HomeOfParameter(state, o.param)
                           : o.kind == Kind::kGlobal  ? HomeOfGlobal(*state, o.global)
                                                      : Home{});
  }
  state->set_homes.resize(code.origin_sets.size());
  if (state->launch->any_array) return;
  for (size_t s = 0; s < code.origin_sets.size(); ++s) {
    const OriginSet& set = code.origin_sets[s];
    if (set.empty()) continue;
    SetHome& home = state->set_homes[s];
    home.first = state->homes[static_cast<size_t>(set.front())].own;
    if (set.size() == 1) home.only = home.first;
  }
}

void ResetHomes(BlockState& b) {
  const auto& sets = b.launch->set_homes;
  b.homes.resize(sets.size());
  for (size_t s = 0; s < sets.size(); ++s) b.homes[s] = sets[s].first;
  if (b.code->makes_pointers) b.made.assign(b.code->origins.size(), {});
}

const Allocation* FindHome(BlockState& b, int set, uintptr_t address, uint64_t bytes) {
  if (LeadsAnywhere(b, set)) return FindAllocation(b, address, bytes);
  const Allocation* found = nullptr;
  const auto holds = [&](const Allocation& a) {
    if (!a.Contains(address, bytes)) return false;
    found = &a;
    return true;
  };
  for (const int origin : SetAt(b, set)) {
    if (IsUnknown(b, origin)) return FindAllocation(b, address, bytes);
    if (OriginAt(b, origin).kind == Kind::kAlloca) {  // a block may have made thousands
      const Allocation* own = FindPrivate(b, address, bytes);
      if (own != nullptr && own->made_by == OriginAt(b, origin).op) return own;
    } else if (AnyOf(b, origin, holds)) {
      return found;
    }
  }
  return nullptr;
}

Around FindAround(const BlockState& b, int set, uintptr_t address, uint64_t bytes) {
  for (const int origin : SetAt(b, set)) {
    const Home& home = HomeAt(b, origin);
    if (home.memory != nullptr && home.memory != home.own && home.memory->Contains(address, bytes)) {
      return {home.memory, home.own};
    }
  }
  return {};
}

const Allocation* HomeOfBase(BlockState& b, int set, uintptr_t base) {
  // The base may be outside of the one array that it leads to, while the elements are not.
  if (const Allocation* only = b.launch->set_homes[static_cast<size_t>(set)].only) return only;
  return FindHome(b, set, base, 1);
}

std::vector<Around> HomesOf(const BlockState& b, int set) {
  std::vector<Around> all;
  for (const int origin : SetAt(b, set)) {
    if (IsUnknown(b, origin)) return {};
    AnyOf(b, origin, [&](const Allocation& a) {
      const auto is_this = [&a](const Around& other) { return other.array == &a; };
      const Allocation* memory = HomeAt(b, origin).memory;
      if (std::none_of(all.begin(), all.end(), is_this)) all.push_back({memory != nullptr ? memory : &a, &a});
      return false;
    });
  }
  return all;
}

int NullParameter(const BlockState& b, int set) {
  for (const int origin : SetAt(b, set)) {
    const PointerOrigin& o = OriginAt(b, origin);
    if (o.kind == Kind::kParameter && b.launch->launch->params[static_cast<size_t>(o.param)] == 0) return o.param;
  }
  return -1;
}

std::string NameOfParameter(const BlockState& b, int param) {
  for (const PointerArgument& p : b.launch->launch->pointers) {
    if (p.param == param) return p.name;
  }
  const absl::string_view name = b.code->function->param(param)->name;
  return name.empty() ? absl::StrCat("parameter ", param) : std::string(name);
}

void NoteMade(BlockState& b, int origin, absl::Span<const int> sets, const uint64_t* pointers, int64_t n) {
  MadePointers& made = b.made[static_cast<size_t>(origin)];
  if (!OriginAt(b, origin).carried) {
    // Those of before are gone.
    made = {};
    for (const int set : sets) b.homes[static_cast<size_t>(set)] = b.launch->set_homes[static_cast<size_t>(set)].first;
  }
  const Allocation* last = nullptr;
  for (int64_t i = 0; i < n && !made.anywhere; ++i) {
    if (pointers[i] == 0 || (last != nullptr && last->Contains(pointers[i], 1))) continue;
    last = FindAllocation(b, pointers[i], 1);
    if (last == nullptr || last->kind == Allocation::Kind::kAlloca) {  // what a block allocates may go meanwhile
      made.anywhere = true;
      last = nullptr;
    } else if (std::find(made.memory.begin(), made.memory.end(), last) == made.memory.end()) {
      made.memory.push_back(last);
      made.anywhere = made.memory.size() > kMostMade;
    }
  }
}

}  // namespace tile::vm
