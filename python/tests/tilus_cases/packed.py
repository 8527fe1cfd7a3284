"""Packed elements and layouts in plain Python, for the cases to compare with."""
import torch


def pack(codes, bits):
    """Bytes with the codes one after the other, the first in the lowest bits."""
    whole = sum(int(code) << (i * bits) for i, code in enumerate(codes))
    return whole.to_bytes((len(codes) * bits + 7) // 8, "little")


def unpack(data, bits, count):
    whole = int.from_bytes(bytes(data), "little")
    return [(whole >> (i * bits)) & ((1 << bits) - 1) for i in range(count)]


def tensor_of(data):
    return torch.tensor(list(data), dtype=torch.uint8).cuda()


def number_of(code, dtype):
    """The number that bits stand for in a type of less than eight bits."""
    if dtype.is_integer():
        return code - (1 << dtype.nbits) if dtype.min_value < 0 and code >> (dtype.nbits - 1) else code
    e, m = dtype.exponent_nbits, dtype.mantissa_nbits
    sign = -1.0 if code >> (e + m) else 1.0
    exponent, mantissa = (code >> m) & ((1 << e) - 1), code & ((1 << m) - 1)
    bias = (1 << (e - 1)) - 1
    return sign * (mantissa * 2.0 ** (1 - bias - m) if exponent == 0 else (mantissa + 2 ** m) * 2.0 ** (exponent - bias - m))


def viewed(codes, bits, layout, new_bits, new_layout):
    """A dictionary {index: code} seen through another type and another layout: each thread keeps its bits."""
    found = {}
    for thread in range(layout.spatial_size):
        word = sum(codes[index_of(layout, thread, i)] << (i * bits) for i in range(layout.local_size))
        for i in range(new_layout.local_size):
            found.setdefault(index_of(new_layout, thread, i), (word >> (i * new_bits)) & ((1 << new_bits) - 1))
    return found


def index_of(layout, thread, element):
    return tuple(int(getattr(n, "value", n)) for n in layout.get_global(spatial_index=thread, local_index=element))
