#!/usr/bin/env python3
"""The upper left square of a PGM image as PNG, for builds without libnetpbm.

tests/gpu/png_of.py IMAGE.pgm IMAGE.png WIDTH
"""

import pathlib
import re
import struct
import sys
import zlib


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(pgm, width):
    head = re.match(rb"P5\s+(\d+)\s+(\d+)\s+255\s", pgm)
    if not head or len(pgm) != head.end() + int(head[1]) * int(head[2]):
        raise ValueError("only binary PGM images of 8 bits without comments are read here")
    starts = (head.end() + int(head[1]) * i for i in range(width))
    lines = (pgm[at : at + width] for at in starts)
    data = zlib.compress(b"".join(b"\0" + line for line in lines))
    size = struct.pack(">IIBBBBB", width, width, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_bytes(png(pathlib.Path(sys.argv[1]).read_bytes(), int(sys.argv[3])))
