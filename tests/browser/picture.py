"""Pictures small enough to keep: a screenshot as a grid of mean colours, read and written as PNG with zlib alone."""

import struct
import zlib

CELL = 16  # pixels of a side


def decode(data):
    """(width, height, rows of RGB bytes) of a PNG with 8 bits per channel, as Chromium writes it."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    place, packed, header = 8, b"", None
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place:place + 8])
        body = data[place + 8:place + 8 + length]
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
        place += 12 + length
    width, height, depth, colour, _, _, interlaced = header
    assert depth == 8 and colour in (2, 6) and not interlaced, "another kind of PNG"
    channels = 3 if colour == 2 else 4
    return width, height, [without_alpha(row, channels) for row in unfiltered(zlib.decompress(packed), width * channels,
                                                                             channels)]


def without_alpha(row, channels):
    if channels == 3:
        return bytes(row)
    found = bytearray(len(row) // 4 * 3)
    for channel in range(3):
        found[channel::3] = row[channel::4]
    return bytes(found)


def unfiltered(raw, length, channels):
    before = bytearray(length)
    for begin in range(0, len(raw), length + 1):
        kind, row = raw[begin], bytearray(raw[begin + 1:begin + 1 + length])
        if kind == 2:
            row = bytearray((one + above) & 255 for one, above in zip(row, before))
        elif kind:
            for k in range(length):
                left = row[k - channels] if k >= channels else 0
                corner = before[k - channels] if k >= channels else 0
                guess = {1: left, 3: (left + before[k]) // 2, 4: paeth(left, before[k], corner)}[kind]
                row[k] = (row[k] + guess) & 255
        yield row
        before = row


def paeth(left, above, corner):
    guess = left + above - corner
    return min((left, above, corner), key=lambda one: abs(guess - one))


def grid(data):
    """(columns, lines, RGB bytes): the mean colour of every whole cell."""
    width, height, rows = decode(data)
    columns, lines = width // CELL, height // CELL
    found = bytearray()
    for line in range(lines):
        sums = [0] * (3 * columns)
        for row in rows[line * CELL:(line + 1) * CELL]:
            for column in range(columns):
                part = row[3 * CELL * column:3 * CELL * (column + 1)]
                for channel in range(3):
                    sums[3 * column + channel] += sum(part[channel::3])
        found += bytes(one // (CELL * CELL) for one in sums)
    return columns, lines, bytes(found)


def encode(columns, lines, colours):
    raw = b"".join(b"\0" + colours[3 * columns * line:3 * columns * (line + 1)] for line in range(lines))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", columns, lines, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks)
