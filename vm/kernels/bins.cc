// Loops that compilers turn into vectors, but for `add`: four chains of additions that go on beside each other.
#include "vm/kernels/bins.h"

#include <type_traits>

namespace tile::vm::TILE_VM_ISA {
namespace {

template <class Index>
bool OfIndices(Bin* bins, const void* indices, int64_t n, int64_t size) {
  using U = std::make_unsigned_t<Index>;
  const auto* index = static_cast<const Index*>(indices);
  // A type of few bits may not reach the last bins, and its negative numbers must not.
  constexpr U kPositive = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  const U end = static_cast<uint64_t>(size) < kPositive ? static_cast<U>(size) : kPositive;
  U outside = 0;
  for (int64_t i = 0; i < n; ++i) {
    const U u = static_cast<U>(index[i]);
    const bool in = u < end;
    bins[i] = in ? static_cast<Bin>(u) : static_cast<Bin>(size);
    outside |= static_cast<U>(!in);
  }
  return outside != 0;
}

bool OfAnyIndices(Bin* bins, const void* indices, int index_bytes, int64_t n, int64_t size) {
  if (index_bytes == 1) return OfIndices<int8_t>(bins, indices, n, size);
  if (index_bytes == 2) return OfIndices<int16_t>(bins, indices, n, size);
  if (index_bytes == 4) return OfIndices<int32_t>(bins, indices, n, size);
  return OfIndices<int64_t>(bins, indices, n, size);
}

template <int shift>
void OfAddresses(Bin* bins, const uint64_t* addresses, const uint8_t* mask, int64_t n, uint64_t base, int64_t size) {
  if (mask == nullptr) {
    for (int64_t i = 0; i < n; ++i) bins[i] = static_cast<Bin>((addresses[i] - base) >> shift);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      const auto bin = static_cast<Bin>((addresses[i] - base) >> shift);
      bins[i] = mask[i] != 0 ? bin : static_cast<Bin>(size);
    }
  }
}

void OfAnyAddresses(Bin* bins, const uint64_t* addresses, const uint8_t* mask, int64_t n, uint64_t base, int bytes,
                    int64_t size) {
  (bytes == 4 ? OfAddresses<2> : OfAddresses<3>)(bins, addresses, mask, n, base, size);
}

template <class T, bool one_value>
TILE_VM_INLINE void AddTo(T* tables, int64_t step, const Bin* bins, const T* values, int64_t n) {
  T *a = tables, *b = a + step, *c = b + step, *d = c + step;
  const T one = values[0];
  int64_t i = 0;
  for (; i + kCopies <= n; i += kCopies) {
    a[bins[i]] += one_value ? one : values[i];
    b[bins[i + 1]] += one_value ? one : values[i + 1];
    c[bins[i + 2]] += one_value ? one : values[i + 2];
    d[bins[i + 3]] += one_value ? one : values[i + 3];
  }
  for (; i < n; ++i) a[bins[i]] += one_value ? one : values[i];
}

template <class T>
void Add(void* tables, int copies, const Bin* bins, const void* values, bool one_value, int64_t n, int64_t size) {
  if (n <= 0) return;
  auto* t = static_cast<T*>(tables);
  const auto* v = static_cast<const T*>(values);
  const int64_t step = copies == 1 ? 0 : BinStride(size);
  one_value ? AddTo<T, true>(t, step, bins, v, n) : AddTo<T, false>(t, step, bins, v, n);
}

void AddAny(void* tables, int copies, const Bin* bins, const void* values, bool one_value, int64_t n, int64_t size,
            int bytes) {
  (bytes == 4 ? Add<uint32_t> : Add<uint64_t>)(tables, copies, bins, values, one_value, n, size);
}

template <class T>
void Sum(void* tables, int copies, int64_t size) {
  auto* first = static_cast<T*>(tables);
  for (int copy = 1; copy < copies; ++copy) {
    T* other = first + copy * BinStride(size);
    // With what is after the bins, so that other tables find zeros there.
    for (int64_t i = 0; i < BinStride(size); ++i) {
      first[i] += other[i];
      other[i] = 0;
    }
  }
}

void SumAny(void* tables, int copies, int64_t size, int bytes) {
  (bytes == 4 ? Sum<uint32_t> : Sum<uint64_t>)(tables, copies, size);
}

}  // namespace

const BinKernels kBinKernels = {
    .of_indices = OfAnyIndices,
    .of_addresses = OfAnyAddresses,
    .add = AddAny,
    .sum = SumAny,
};

}  // namespace tile::vm::TILE_VM_ISA
