"""Mistakes of kernels that others published, as the checks found them, each reduced to what is wrong; docs/triton.md says where they are.
Run by test_triton.py with every check."""
import pytest
import tilevm
import torch
import triton
import triton.language as tl


@triton.jit
def gradient_of_rows(dy_ptr, dy_row_stride, dx_ptr, dx_row_stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    dy_ptr += row * dy_row_stride
    dx_ptr += row * dy_row_stride  # dx_row_stride is meant
    tl.store(dx_ptr + at, 2 * tl.load(dy_ptr + at, mask=at < n), mask=at < n)


def test_rows_of_the_output_by_the_stride_of_the_input():
    whole, dx = torch.ones(6, 96), torch.zeros(6, 64)
    dy = torch.ones(6, 64)
    gradient_of_rows[(6,)](dy, dy.stride(0), dx, dx.stride(0), 64, BLOCK=64)
    assert (dx == 2).all()
    dy = whole[:, :64]  # the gradient of a tensor that was concatenated
    with pytest.raises(tilevm.TrapError) as caught:
        gradient_of_rows[(6,)](dy, dy.stride(0), dx, dx.stride(0), 64, BLOCK=64)
    error = caught.value
    assert error.code == "vm.out_of_bounds" and error.array == "dx_ptr" and error.index == 384 and error.block == (4, 0, 0)


def test_a_gradient_that_is_one_number_everywhere():
    dy, dx = torch.ones(1).expand(6, 64), torch.zeros(6, 64)  # of y.sum()
    with pytest.raises(tilevm.TrapError) as caught:
        gradient_of_rows[(6,)](dy, dy.stride(0), dx, dx.stride(0), 64, BLOCK=64)
    assert caught.value.array == "dy_ptr" and caught.value.index == 1


@triton.jit
def pages(table_ptr, table_stride, cache_ptr, out_ptr, length, PAGE: tl.constexpr, TILE: tl.constexpr):
    sequence = tl.program_id(0)
    total = tl.zeros((TILE,), dtype=tl.float32)
    for j in range(tl.cdiv(length, TILE)):
        place = j * TILE + tl.arange(0, TILE)
        page = tl.load(table_ptr + sequence * table_stride + place // PAGE)  # without mask=place < length
        total += tl.load(cache_ptr + page * PAGE + place % PAGE, mask=place < length, other=0.0)
    tl.store(out_ptr + sequence, tl.sum(total))


def test_a_table_that_ends_within_the_last_tile():
    cache, out = torch.arange(64.0), torch.zeros(3)
    table = torch.tensor([[2], [0], [3]], dtype=torch.int32)
    with pytest.raises(tilevm.TrapError) as caught:
        pages[(3,)](table, 1, cache, out, 16, PAGE=16, TILE=32)
    error = caught.value
    assert error.code == "vm.out_of_bounds" and error.array == "table_ptr" and error.index == 3 and error.block == (2, 0, 0)


@triton.jit
def tokens_and_heads(x_ptr, out_ptr, tokens, HEADS: tl.constexpr, TOKENS: tl.constexpr, LANES: tl.constexpr):
    lane = tl.arange(0, LANES)
    token = tl.program_id(0) * TOKENS + lane // HEADS  # lanes beyond TOKENS * HEADS have a token of the next program
    at = token * HEADS + lane % HEADS
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=token < tokens), mask=token < tokens)


def test_lanes_that_are_left_over():
    x, out = torch.arange(32.0), torch.zeros(32)
    tokens_and_heads[(2,)](x, out, 8, HEADS=4, TOKENS=4, LANES=16)
    assert torch.equal(x, out)
    x, out = torch.arange(30.0), torch.zeros(30)
    with pytest.raises(tilevm.TrapError) as caught:
        tokens_and_heads[(2,)](x, out, 6, HEADS=5, TOKENS=16 // 5, LANES=16)
    assert caught.value.code == "vm.race" and caught.value.array == "out_ptr" and caught.value.index == 15


@triton.jit
def levels(scales_ptr, out_ptr, length, LEVELS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    level = tl.where(i < 16, i // 4, 5)  # of rows beyond `length` more than there are
    row = tl.minimum(i, length - 1)
    value = tl.load(scales_ptr + row * LEVELS + level)  # without mask=i < length
    tl.store(out_ptr + i, value, mask=i < length)


def test_rows_that_are_clamped_and_columns_that_are_not():
    out = torch.zeros(15)
    with pytest.raises(tilevm.TrapError) as caught:
        levels[(1,)](torch.ones(15, 5), out, 15, LEVELS=5, BLOCK=32)
    assert caught.value.code == "vm.out_of_bounds" and caught.value.array == "scales_ptr" and caught.value.index == 75


@triton.jit
def append_to_cache(b_ptr, cache_ptr, HEADS_OF_A_GROUP: tl.constexpr, SIZE: tl.constexpr):
    group = tl.program_id(1) // HEADS_OF_A_GROUP
    at = group * SIZE + tl.arange(0, SIZE)
    if tl.program_id(0) == 0:  # and tl.program_id(1) % HEADS_OF_A_GROUP == 0 is meant
        tl.store(cache_ptr + at, tl.load(b_ptr + at))


def test_heads_that_write_what_their_group_shares():
    b, cache = torch.arange(32.0), torch.zeros(32)
    append_to_cache[(2, 4)](b, cache, HEADS_OF_A_GROUP=1, SIZE=8)
    assert torch.equal(b, cache)
    with pytest.raises(tilevm.TrapError) as caught:
        append_to_cache[(2, 4)](b, cache, HEADS_OF_A_GROUP=2, SIZE=8)
    assert caught.value.code == "vm.race" and caught.value.array == "cache_ptr" and caught.value.block == (0, 1, 0)


@triton.jit
def product(a_ptr, b_ptr, c_ptr, size, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = (i < size)[:, None] & (i < size)[None, :]
    at = i[:, None] * size + i[None, :]
    a, b = tl.load(a_ptr + at, mask=mask), tl.load(b_ptr + at, mask=mask)  # without other=0.0
    tl.store(c_ptr + at, tl.dot(a, b), mask=mask)


def test_masked_loads_without_a_value_that_are_summed():
    a, c = torch.eye(16), torch.zeros(16, 16)
    product[(1,)](a, a, c, 16, BLOCK=16)
    assert torch.equal(a, c)
    with pytest.raises(tilevm.TrapError) as caught:
        product[(1,)](a, a, c, 12, BLOCK=16)
    assert caught.value.code == "vm.uninitialized" and "whose mask leaves elements out" in caught.value.message


@triton.jit
def promised(x_ptr, out_ptr, n, WHAT: tl.constexpr, BLOCK: tl.constexpr):
    if WHAT == "parameter":
        n = tl.multiple_of(n, 16)
    if WHAT == "pointer":
        x_ptr = tl.multiple_of(x_ptr, 64)
    total = 0
    for at in range(0, n, 8):
        if WHAT == "loop":
            at = tl.multiple_of(at, 16)
        total += tl.sum(tl.load(x_ptr + at + tl.arange(0, BLOCK)))
    if WHAT == "value":
        total = tl.multiple_of(total, 24)
    if WHAT == "assumption":
        tl.assume((total > 3) | (n > 30))
    tl.store(out_ptr, total)


@pytest.mark.parametrize("what, said", [("parameter", "24 is not a multiple of 16"), ("pointer", "is not a multiple of 64"),
                                        ("loop", "8 is not a multiple of 16"), ("value", "32 is not a multiple of 24"),
                                        ("assumption", "the condition that is assumed is false")])
def test_promises_of_scalars(what, said):
    whole, out = torch.zeros(128, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    begin = -(whole.data_ptr() // 4) % 16
    x = whole[begin + 4:]  # 16 bytes beyond a multiple of 64
    if what == "value":
        x += 1
    with pytest.raises(tilevm.TrapError) as caught:
        promised[(1,)](x, out, 32 if what == "value" else 24, WHAT=what, BLOCK=8)
    assert caught.value.code == "vm.assume" and said in caught.value.message
    whole.zero_()
    promised[(1,)](whole[begin:], out, 8 if what == "loop" else 32, WHAT=what, BLOCK=8)


@triton.jit
def dense_rows(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]  # without x.stride(0)
    tl.store(out_ptr + at, tl.load(x_ptr + at))


def test_a_view_taken_for_a_dense_tensor():
    whole, out = torch.arange(256.0).reshape(8, 32), torch.zeros(8, 16)
    dense_rows[(1,)](whole[:, :16].contiguous(), out, M=8, N=16)
    assert torch.equal(out, whole[:, :16])
    with pytest.raises(tilevm.TrapError) as caught:
        dense_rows[(1,)](whole[:, :16], out, M=8, N=16)
    assert caught.value.code == "vm.outside_view" and caught.value.array == "x_ptr" and caught.value.index == 16
    assert "between its elements, whose strides are 32, 1" in caught.value.message
    assert ".contiguous()" in str(caught.value)
    with pytest.raises(tilevm.TrapError, match="vm.outside_view") as caught:
        dense_rows[(1,)](whole[4:6, :].reshape(-1)[:64], out, M=8, N=16)
    assert caught.value.index == 64 and "in the rest of" in caught.value.message
