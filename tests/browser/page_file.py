"""Reads the data of an HTML page, by tools/report/README.md: a reader of its own, which shares no code with the page's."""

import base64
import json
import re
import struct
import zlib

BLOCK = re.compile(r'<script type="application/octet-stream" id="debubble-data">([^<]*)</script>')


class PageFile:
    def __init__(self, path):
        self.html = path.read_text(encoding="utf-8")
        data = zlib.decompress(base64.b64decode(BLOCK.search(self.html).group(1), validate=True))
        (size,) = struct.unpack("<I", data[:4])
        self.header = json.loads(data[4:4 + size])
        self.bytes = data[4 + size:]

    def text(self, name):
        entry = next(one for one in self.header["documents"] if one["name"] == name)
        return self.bytes[entry["offset"]:entry["offset"] + entry["bytes"]].decode("utf-8")

    def table(self, run, name):
        """Column name to numbers."""
        table = self.header["runs"][run]["tables"][name]
        columns = {}
        for key, column in table["columns"].items():
            data = self.bytes[column["offset"]:column["offset"] + column["bytes"]]
            values = list(numbers(data, column["delta"]))
            assert len(values) == table["rows"], f"{name}.{key}: {len(values)} of {table['rows']} rows"
            columns[key] = values
        return columns


def numbers(data, delta):
    """Zigzag LEB128; with `delta` each is the difference to the one before."""
    last = value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte & 128:
            continue
        number = (value >> 1) ^ -(value & 1)
        last = number + (last if delta else 0)
        yield last
        value = shift = 0
