#!/usr/bin/env python3
"""Draws examples/spheres.png, the picture that examples/sobel.tile finds edges in: three spheres over a chequered floor, in grey.

    python3 docs/figures/spheres.py        # writes it again
"""
import pathlib
import struct
import zlib

WIDTH, HEIGHT = 320, 200
SPHERES = ((105, 105, 62), (215, 88, 44), (262, 148, 26))  # centre and radius
LIGHT = (-0.5, -0.62, 0.6)
OUT = pathlib.Path(__file__).resolve().parents[2] / "examples/spheres.png"


def grey(x, y):
    for cx, cy, radius in reversed(SPHERES):
        dx, dy = (x - cx) / radius, (y - cy) / radius
        inside = 1 - dx * dx - dy * dy
        if inside > 0:
            shade = max(0.0, dx * LIGHT[0] + dy * LIGHT[1] + inside**0.5 * LIGHT[2])
            return int(30 + 215 * shade)
    if y < 120:
        return 200 - y // 2
    depth = 2400 / (y - 100)
    return 210 if (int(depth / 12) + int((x - WIDTH / 2) * depth / 900 + 100)) % 2 else 90


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def main():
    rows = b"".join(b"\0" + bytes(grey(x, y) for x in range(WIDTH)) for y in range(HEIGHT))
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 0, 0, 0, 0)
    OUT.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


if __name__ == "__main__":
    main()
