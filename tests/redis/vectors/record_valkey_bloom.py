"""Records what valkey-bloom answers and stores, into valkey-bloom.jsonl beside this file.

    python3 record_valkey_bloom.py VALKEY_SERVER MODULE

VALKEY_SERVER is Valkey 8.0 or later, and MODULE valkey-bloom's library. A line of the file is one of

    {"call": [words], "resp2": reply, "resp3": reply}
    {"filter": name, "calls": [[words]], "dump": hex, "load": hex, "found": [items]}

Of COMMAND LIST, only names in BF.* are kept. Calls are in order, on one server that was empty before; a reply is its bytes, each as one character,
and so is a word. `dump` is DUMP's payload without its version and checksum, saved without
compression, and `load` the data of BF.LOAD in an append-only file. `found` are the items among PROBES
that the filter answers 1 for.
"""

import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

SEED = "".join(map(chr, range(32)))
FIXED = bytes.fromhex("590ff522ea7811daa714d8093b3e7bd91d898a733e988887307f97cd28073383").decode("latin-1")
ITEMS = [f"item{i}" for i in range(60)]
PROBES = [f"{letter}{i}" for letter in ("item", "q") for i in range(400)]
FOOTER = 10  # of DUMP's payload

RESERVE_TAILS = [
    "", "x", "0.01", "0.01 0", "0.01 -1", "0.01 x", "0.01 9223372036854775808", "0.01 9223372036854775807",
    "0.01 1.5", "0 100", "1 100", "-0.1 100", "1.5 100", "x 100", "nan 100", "inf 100", "1e-400 100", "1e400 100",
    "+0.1 +100", ".5 10", "5e-1 10", "0.01 100 x", "0.01 100 NONSCALING x", "0.01 100 EXPANSION",
    "0.01 100 EXPANSION 0", "0.01 100 EXPANSION -1", "0.01 100 EXPANSION x", "0.01 100 EXPANSION 4294967296",
    "0.01 100 EXPANSION 2 NONSCALING", "0.01 100 EXPANSION 2 x y", "0.01 1000000000", "0.5 1", "0.999 1",
    "1e-300 5", "0.01 100", "0.01 100 nonscaling", "0.01 100 Expansion 3", "0.01 100 expansion 4294967295"]
INSERT_TAILS = [
    "", "x", "NOCREATE", "NOCREATE ITEMS a", "ITEMS", "ITEMS a", "items a b a", "ERROR", "ERROR x", "ERROR 0",
    "ERROR 1", "ERROR 0.1", "CAPACITY", "CAPACITY x", "CAPACITY 0", "CAPACITY -1", "CAPACITY 50", "CAPACITY 50 ITEMS",
    "EXPANSION", "EXPANSION x", "EXPANSION 0", "EXPANSION 3 ITEMS a", "NONSCALING ITEMS a b", "TIGHTENING",
    "TIGHTENING x", "TIGHTENING 0", "TIGHTENING 1", "TIGHTENING 0.7 ITEMS a", "SEED", "SEED short",
    "SEED {seed} ITEMS a b", "SEED {fixed} ITEMS a b", "VALIDATESCALETO", "VALIDATESCALETO x", "VALIDATESCALETO 0",
    "VALIDATESCALETO -1", "VALIDATESCALETO 1000", "VALIDATESCALETO 1000 NONSCALING",
    "VALIDATESCALETO 9223372036854775807", "VALIDATESCALETO 26214301", "VALIDATESCALETO 500 EXPANSION 1 ITEMS a",
    "TIGHTENING 1e-10 ERROR 1e-280 CAPACITY 1 VALIDATESCALETO 100", "CAPACITY 1000000000 ITEMS a",
    "CAPACITY 20 CAPACITY 30 ERROR 0.1 ERROR 0.2 EXPANSION 2 NONSCALING EXPANSION 5 ITEMS a",
    "ITEMS ITEMS NOCREATE", "foo bar ITEMS a", "ERROR 0.001 CAPACITY 2000 items 1", "ITEM a"]
FIELDS = ["CAPACITY", "SIZE", "FILTERS", "ITEMS", "ERROR", "EXPANSION", "TIGHTENING", "MAXSCALEDCAPACITY", "capacity",
          "x"]
LOADS = ["", "00", "02", "01", "0102", "01" + "02000000" + "00" * 40,
         # the header of an empty filter without sub-filters of wrong rates
         "01" + "02000000" + "000000000000f03f" + "000000000000e03f" + "00" + "00" * 8,
         "01" + "02000000" + "7b14ae47e17a843f" + "000000000000f03f" + "00" + "00" * 8,
         "01" + "02000000" + "7b14ae47e17a843f" + "000000000000e03f" + "02" + "00" * 8]


def words(text):
    return [{"{seed}": SEED, "{fixed}": FIXED}.get(word, word) for word in text.split()]


def calls():
    yield ["CONFIG", "SET", "bf.bloom-use-random-seed", "no"]
    for command in ("ADD", "MADD", "EXISTS", "MEXISTS", "CARD", "RESERVE", "INSERT", "INFO", "LOAD"):
        yield ["BF." + command]
        yield ["BF." + command, "missing"]
        yield ["BF." + command, *["w"] * 7]
        yield ["DEL", "w"]
    yield ["BF.EXISTS", "missing", "a"]
    yield ["BF.MEXISTS", "missing", "a", "b"]
    yield ["BF.CARD", "missing"]
    yield ["BF.INFO", "missing", "SIZE"]
    yield ["SET", "text", "x"]
    for command in ("ADD text a", "MADD text a", "EXISTS text a", "MEXISTS text a", "CARD text", "INFO text",
                    "RESERVE text 0.01 10", "INSERT text ITEMS a", "LOAD text x"):
        yield words("BF." + command)
    for i, tail in enumerate(RESERVE_TAILS):
        yield ["BF.RESERVE", f"r{i}", *words(tail)]
        yield ["BF.INFO", f"r{i}"]
    yield ["BF.RESERVE", "r34", "0.01", "100"]
    for i, tail in enumerate(INSERT_TAILS):
        yield ["BF.INSERT", f"i{i}", *words(tail)]
        yield ["BF.INFO", f"i{i}"]
        yield ["BF.INSERT", "i5", *words(tail)]
    for key in ("r34", "r35", "i0", "i22"):
        for field in FIELDS:
            yield ["BF.INFO", key, field]
        yield ["BF.INFO", key, "SIZE", "x"]
    yield ["BF.RESERVE", "small", "0.01", "5"]
    for item in ITEMS:
        yield ["BF.ADD", "small", item]
        yield ["BF.INFO", "small"]
    yield ["BF.MEXISTS", "small", *ITEMS, "other", ""]
    yield ["BF.CARD", "small"]
    yield ["BF.RESERVE", "fixed", "0.01", "5", "NONSCALING"]
    yield ["BF.MADD", "fixed", *ITEMS]
    yield ["BF.ADD", "fixed", "item0"]
    yield ["BF.ADD", "fixed", "item50"]
    yield ["BF.INSERT", "fixed", "ITEMS", "item0", "item50", "item51"]
    yield ["BF.CARD", "fixed"]
    # Rates of 0, and the memory limit.
    yield ["BF.INSERT", "tight", "ERROR", "1e-300", "TIGHTENING", "1e-9", "CAPACITY", "1", "ITEMS", *ITEMS[:5]]
    yield ["BF.INFO", "tight"]
    yield ["CONFIG", "SET", "bf.bloom-memory-usage-limit", "2000"]
    yield ["BF.RESERVE", "limited", "0.01", "100"]
    yield ["BF.MADD", "limited", *(f"n{i}" for i in range(400))]
    yield ["BF.ADD", "limited", "one more item"]
    yield ["BF.INFO", "limited"]
    yield ["BF.RESERVE", "too large", "0.01", "10000"]
    yield ["BF.ADD", "by default", "a"]
    yield ["BF.INSERT", "by option", "CAPACITY", "100", "VALIDATESCALETO", "300"]
    yield ["BF.INSERT", "by option", "CAPACITY", "100", "VALIDATESCALETO", "900"]
    yield ["CONFIG", "SET", "bf.bloom-memory-usage-limit", "134217728"]
    # Defaults.
    for name, good, *bad in (("capacity", "7", "0", "x"), ("expansion", "3", "-1"), ("fp-rate", "0.2", "0", "1", "x"),
                             ("tightening-ratio", "0.75", "0", "1.75", "x"), ("use-random-seed", "no", "x"),
                             ("defrag-enabled", "no", "x"), ("memory-usage-limit", "100000", "-1")):
        for value in (*bad, good):
            yield ["CONFIG", "SET", "bf.bloom-" + name, value]
        yield ["CONFIG", "GET", "bf.bloom-" + name]
    yield ["BF.ADD", "changed", "a"]
    yield ["BF.INFO", "changed"]
    yield ["CONFIG", "SET", "bf.bloom-expansion", "0"]
    yield ["BF.ADD", "changed to fixed", "a"]
    yield ["BF.INFO", "changed to fixed"]
    for i, data in enumerate(LOADS):
        yield ["BF.LOAD", f"l{i}", bytes.fromhex(data).decode("latin-1")]
    yield ["BF.LOAD", "changed", "x"]
    for key in ("small", "fixed", "limited"):
        yield ["COPY", key, key + " again"]
        yield ["BF.INFO", key + " again"]
        yield ["TYPE", key]
    for category in ("bloom", "fast", "slow", "read", "write"):
        yield ["COMMAND", "LIST", "FILTERBY", "ACLCAT", category]


FILTERS = {
    "empty": [["BF.INSERT", "k", "SEED", SEED]],
    "of three items": [["BF.INSERT", "k", "SEED", FIXED, "ITEMS", "hello", "world", ""]],
    "of three sub-filters": [["BF.INSERT", "k", "CAPACITY", "10", "SEED", SEED, "ITEMS", *ITEMS[:35]]],
    "that does not grow": [["BF.INSERT", "k", "CAPACITY", "20", "ERROR", "0.001", "NONSCALING", "SEED", SEED],
                           ["BF.MADD", "k", *ITEMS[:20]]],
    "of other ratios": [["BF.INSERT", "k", "CAPACITY", "7", "ERROR", "0.2", "TIGHTENING", "0.8", "EXPANSION", "1",
                         "SEED", SEED, "ITEMS", *ITEMS]],
    "of one hash function": [["BF.INSERT", "k", "CAPACITY", "100", "ERROR", "0.9", "SEED", SEED, "ITEMS", *ITEMS]],
    "of long items": [["BF.INSERT", "k", "SEED", SEED, "ITEMS", *("x" * i for i in range(40))]],
}


def encode(call):
    parts = [word.encode("latin-1") for word in call]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


def read_reply(stream):
    """The bytes of one reply."""
    line = stream.readline()
    sort, rest = line[:1], line[1:].strip()
    if sort in (b"$", b"=") and rest != b"-1":
        line += stream.read(int(rest) + 2)
    elif sort in (b"*", b"~", b"%") and rest != b"-1":
        for _ in range(int(rest) * (2 if sort == b"%" else 1)):
            line += read_reply(stream)
    return line


class Link:
    def __init__(self, port, protocol=2):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.stream = self.socket.makefile("rb")
        self.call("HELLO", str(protocol))

    def call(self, *call):
        self.socket.sendall(encode(call))
        return read_reply(self.stream)


def replies(port, protocol):
    link = Link(port, protocol)
    for call in calls():
        reply = link.call(*call).decode("latin-1")
        if call[0] == "COMMAND":
            reply = " ".join(sorted(name for name in reply.split("\r\n") if name.startswith("bf.")))
        yield call, reply


class Valkey:
    def __init__(self, program, module):
        self.folder = tempfile.TemporaryDirectory()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(
            [program, "--port", str(self.port), "--dir", self.folder.name, "--save", "", "--rdbcompression", "no",
             "--aof-use-rdb-preamble", "no", "--loadmodule", module], stdout=subprocess.DEVNULL)
        while True:
            try:
                Link(self.port)
                return
            except OSError:
                assert self.process.poll() is None, "the server did not start"
                time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()


def bulk(reply):
    return reply.partition(b"\r\n")[2][:-2]


def record_filter(server, name, commands):
    link = Link(server.port)
    for command in commands:
        link.call(*command)
    dump = bulk(link.call("DUMP", "k"))[:-FOOTER]
    link.call("CONFIG", "SET", "appendonly", "yes")
    folder = pathlib.Path(server.folder.name, "appendonlydir")
    while True:  # the rewrite is in the background
        content = b"".join(path.read_bytes() for path in folder.glob("*.base.aof"))
        if b"BF.LOAD" in content:
            break
        time.sleep(0.05)
    load = bulk(content[content.index(b"$7\r\nBF.LOAD") + len(b"$7\r\nBF.LOAD\r\n$1\r\nk\r\n"):])
    answers = link.call("BF.MEXISTS", "k", *PROBES).split(b"\r\n")[1:-1]
    return {"filter": name, "calls": commands, "dump": dump.hex(), "load": load.hex(),
            "found": [probe for probe, answer in zip(PROBES, answers) if answer == b":1"]}


def main(program, module):
    lines = []
    with Valkey(program, module) as resp2, Valkey(program, module) as resp3:
        for (call, reply), (_, reply3) in zip(replies(resp2.port, 2), replies(resp3.port, 3)):
            lines.append({"call": call, "resp2": reply, "resp3": reply3})
    for name, commands in FILTERS.items():
        with Valkey(program, module) as server:
            lines.append(record_filter(server, name, commands))
    path = pathlib.Path(__file__).with_name("valkey-bloom.jsonl")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    print(len(lines), "lines,", path.stat().st_size, "bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
