"""What the kernels of orders.cu do, element by element."""

from harness import bools, case, i32

SCOPES = {"block": "tl_blk", "device": "device", "system": "sys"}


def load(x, at, out):
    for i in range(4):
        out[i] = x[at[i]]


def store(value, at, out):
    for i in range(4):
        out[at[i]] = value[i]


for scope, written in SCOPES.items():
    for order in ("relaxed", "acquire"):
        case("load_%s_%s" % (order, scope), x=i32(range(8)), at=i32([7, 0, 0, 3]), out=i32(4),
             says=["load_ptr_tko %s %s" % (order, written)])(load)
    for order in ("relaxed", "release"):
        case("store_%s_%s" % (order, scope), value=i32([5, 6, 7, 8]), at=i32([7, 0, 2, 3]), out=i32(8),
             says=["store_ptr_tko %s %s" % (order, written)])(store)


@case(x=i32([2, 7, 5, 8]), mask=bools([1, 0, 0, 1]), out=i32(4), says=["load_ptr_tko acquire device"])
def load_masked(x, mask, out):
    for i in range(4):
        out[i] = x[i] if mask[i] else -1


@case(x=i32([2, 7, 5, 8]), mask=bools([1, 0, 0, 1]), pad=i32([-7, -3, -22, -100]), out=i32(4), says=["load_ptr_tko relaxed device"])
def load_padded(x, mask, pad, out):
    for i in range(4):
        out[i] = x[i] if mask[i] else pad[i]
    assert out.values == [2, -3, -22, 8]


@case(x=i32([1, 2, 3, 4]), out=i32(4), says=["load_ptr_tko relaxed sys", "store_ptr_tko release sys", "atomic_rmw_tko relaxed sys"])
def default_scope(x, out):
    for i in range(4):
        out[i] = x[i] + x[i]


@case("by_template", data=i32([1, 2, 3, 4, 5, 6, 7, 8]))
@case("by_constant", data=i32([1, 2, 3, 4, 5, 6, 7, 8]),
      says=["load_ptr_tko relaxed device", "store_ptr_tko relaxed device", "atomic_rmw_tko relaxed device", "atomic_cas_tko relaxed device"])
def both_ways(data):
    for i in range(4):
        a, b = data[i], data[i] if i < 3 else 7
        data[i] = a + b
        if i < 3:
            data[4 + i] = a
        data[i] = data[i] + 1 + a
        if data[i] == a:
            data[i] = b


@case(x=i32([1, 2, 3, 4]), out=i32(4), says=["default = {latency = 2}", "default = {latency = 4}"])
def latency(x, out):
    for i in range(4):
        out[i] = x[i]


def message(data, flag, out):
    flag[0] = 1
    for i in range(8):
        data[i] = 3 * i
        for block in range(1, 4):
            out[(block - 1) * 8 + i] = data[i] + block


for name, full in (("message", None), ("unordered_message", "vm.race")):
    case(name, grid=4, data=i32(8), flag=i32([0]), out=i32(24), full=full)(message)
