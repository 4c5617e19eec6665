"""Thrift's compact protocol, read and written without a schema: the structures of a Parquet footer."""

import io


class Struct:
    """Fields in their order: [number, type, value]. A boolean's value is its type."""

    def __init__(self, fields):
        self.fields = fields

    def get(self, number):
        return next(value for i, _, value in self.fields if i == number)


def varint(file):
    value = shift = 0
    while True:
        byte = file.read(1)[0]
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value


def put_varint(value):
    made = b""
    while value >= 128:
        made += bytes([value & 127 | 128])
        value >>= 7
    return made + bytes([value])


def value_of(file, kind):
    if kind in (1, 2):
        return None
    if kind == 3:
        return file.read(1)
    if kind in (4, 5, 6):
        return varint(file)
    if kind == 7:
        return file.read(8)
    if kind == 8:
        return file.read(varint(file))
    if kind == 9:
        head = file.read(1)[0]
        size = head >> 4 if head >> 4 != 15 else varint(file)
        return [head & 15, *((file.read(1) if head & 15 < 3 else value_of(file, head & 15)) for _ in range(size))]
    assert kind == 12, kind
    fields, last = [], 0
    while True:
        head = file.read(1)[0]
        if head == 0:
            return Struct(fields)
        if head >> 4:
            last += head >> 4
        else:
            number = varint(file)
            last = number >> 1 ^ -(number & 1)
        fields.append([last, head & 15, value_of(file, head & 15)])


def bytes_of(kind, value):
    if kind in (1, 2):
        return b""
    if kind in (4, 5, 6):
        return put_varint(value)
    if kind == 8:
        return put_varint(len(value)) + value
    if kind == 9:
        of, *items = value
        head = bytes([len(items) << 4 | of]) if len(items) < 15 else bytes([0xf0 | of]) + put_varint(len(items))
        return head + b"".join(item if of < 3 else bytes_of(of, item) for item in items)
    if kind == 12:
        made, last = b"", 0
        for number, each, item in value.fields:
            step = number - last
            made += bytes([step << 4 | each]) if 0 < step < 16 else bytes([each]) + put_varint(number << 1)
            made += bytes_of(each, item)
            last = number
        return made + b"\0"
    return value


def read(data):
    return value_of(io.BytesIO(data), 12)


def write(struct):
    return bytes_of(12, struct)
