// Atomic loads and stores: memory orders, thread scopes, how they are written, and messages from block to block.
#include "tile.h"

using Relaxed = ct::memory_order_relaxed_t;
using Acquire = ct::memory_order_acquire_t;
using Release = ct::memory_order_release_t;

#define LOAD(order, scope)                                                                                   \
  __tile_global__ void load_##order##_##scope(const int* x, const int* at, int* out) {                       \
    const auto from = x + ct::load(Each<4>(at));                                                             \
    ct::store(Each<4>(out), ct::atomic_load<ct::memory_order::order, ct::thread_scope::scope>(from));        \
  }
LOAD(relaxed, block)
LOAD(relaxed, device)
LOAD(relaxed, system)
LOAD(acquire, block)
LOAD(acquire, device)
LOAD(acquire, system)

#define STORE(order, scope)                                                                                  \
  __tile_global__ void store_##order##_##scope(const int* value, const int* at, int* out) {                  \
    const auto to = out + ct::load(Each<4>(at));                                                             \
    ct::atomic_store<ct::memory_order::order, ct::thread_scope::scope>(to, ct::load(Each<4>(value)));        \
  }
STORE(relaxed, block)
STORE(relaxed, device)
STORE(relaxed, system)
STORE(release, block)
STORE(release, device)
STORE(release, system)

__tile_global__ void load_masked(const int* x, const bool* mask, int* out) {
  const auto m = ct::load(Each<4>(mask));
  const auto loaded = ct::atomic_load_masked(Each<4>(x), m, Acquire{}, ct::thread_scope_device_t{});
  ct::store(Each<4>(out), ct::select(m, loaded, ct::full<Tile<int, 4>>(-1)));
}
__tile_global__ void load_padded(const int* x, const bool* mask, const int* pad, int* out) {
  ct::store(Each<4>(out), ct::atomic_load_masked(Each<4>(x), ct::load(Each<4>(mask)), ct::load(Each<4>(pad)), Relaxed{},
                                                 ct::thread_scope_device_t{}));
}
// A scope that is not given is the default one.
__tile_global__ void default_scope(const int* x, int* out) {
  const auto loaded = ct::atomic_load(Each<4>(x), Relaxed{});
  ct::atomic_store(Each<4>(out), loaded, Release{});
  ct::atomic_add(Each<4>(out), loaded, Relaxed{});
}
static_assert(ct::default_thread_scope() == ct::thread_scope::system);

// Order and scope as template arguments, or deduced from arguments.
__tile_global__ void by_template(int* data) {
  constexpr auto relaxed = ct::memory_order::relaxed;
  constexpr auto device = ct::thread_scope::device;
  const auto m = ct::iota<Tile<int, 4>>() < 3;
  const auto a = ct::atomic_load<relaxed, device>(Each<4>(data));
  const auto b = ct::atomic_load_masked<relaxed, device>(Each<4>(data), m, 7);
  ct::atomic_store<relaxed, device>(Each<4>(data), a + b);
  ct::atomic_store_masked<relaxed, device>(Each<4>(data + 4), a, m);
  ct::atomic_add<relaxed, device>(Each<4>(data), 1 + a);
  ct::atomic_compare_exchange<relaxed, device>(Each<4>(data), a, b);
}
__tile_global__ void by_constant(int* data) {
  constexpr Relaxed relaxed;
  constexpr ct::thread_scope_device_t device;
  const auto m = ct::iota<Tile<int, 4>>() < 3;
  const auto a = ct::atomic_load(Each<4>(data), relaxed, device);
  const auto b = ct::atomic_load_masked(Each<4>(data), m, 7, relaxed, device);
  ct::atomic_store(Each<4>(data), a + b, relaxed, device);
  ct::atomic_store_masked(Each<4>(data + 4), a, m, relaxed, device);
  ct::atomic_add(Each<4>(data), 1 + a, relaxed, device);
  ct::atomic_compare_exchange(Each<4>(data), a, b, relaxed, device);
}

__tile_global__ void latency(const int* x, int* out) {
  Tile<int, 4> loaded;
  [[using cutile : hint(0, latency = 2)]] loaded = ct::atomic_load(Each<4>(x), Relaxed{});
  [[using cutile : hint(0, latency = 4)]] ct::atomic_store(Each<4>(out), loaded, Relaxed{});
}

// Block 0 writes a message and raises a flag; the others wait for it and read.
__tile_global__ void message(int* data, int* flag, int* out) {
  const int block = ct::bid().x;
  if (block == 0) {
    ct::store(Each<8>(data), ct::iota<Tile<int, 8>>() * 3);
    ct::atomic_store(flag, 1, Release{}, ct::thread_scope_device_t{});
  } else {
    while (ct::atomic_load(flag, Acquire{}, ct::thread_scope_device_t{}) == 0) {
    }
    ct::store(Each<8>(out + (block - 1) * 8), ct::load(Each<8>(data)) + block);
  }
}
// The same without release and acquire: the flag says nothing about the message.
__tile_global__ void unordered_message(int* data, int* flag, int* out) {
  const int block = ct::bid().x;
  if (block == 0) {
    ct::store(Each<8>(data), ct::iota<Tile<int, 8>>() * 3);
    ct::atomic_store(flag, 1, Relaxed{}, ct::thread_scope_device_t{});
  } else {
    while (ct::atomic_load(flag, Relaxed{}, ct::thread_scope_device_t{}) == 0) {
    }
    ct::store(Each<8>(out + (block - 1) * 8), ct::load(Each<8>(data)) + block);
  }
}
