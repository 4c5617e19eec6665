"""What a batch loads is what it prefetched.

    batch_lines.py PROGRAM [KIND query|insert [OPTION=VALUE ...]]

Compares the lines of the filter's memory that the instructions of one batch load or store with those
that were prefetched before (docs/maintain/decisions/cpu/prefetch.md). A kernel whose load ends behind
what it prefetches gives right answers, and waits for memory. PROGRAM is bloomset_batch_lines, which
runs the batch an instruction at a time.
"""

import array
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from kinds import KINDS  # noqa: E402

#: For filters of which kernels prefetch less if they are small: at 1/256 a key has a byte or more.
SECOND_LEVEL = subprocess.run(["getconf", "LEVEL2_CACHE_SIZE"], check=True, capture_output=True, text=True).stdout
MANY = max(1 << 23, 4 * int(SECOND_LEVEL or 0))
FEWER = 1 << 20
#: Kind, operation and options; the keys of the filter; and how many lines the 160 keys of a batch may
#: load without a prefetch. Those are of the filter's description, and of small parts that stay in the
#: caches: the descriptions of the segments of `expandable`, and the thresholds of retrieval
#: structures, a byte per bucket. `scalable_bloom` prefetches nothing.
BATCHES = {
    "bloom query": (MANY, 4),
    "bloom insert": (MANY, 4),
    "counting_bloom query": (MANY, 4),
    "counting_bloom insert": (MANY, 4),
    "blocked_bloom query": (MANY, 4),
    "blocked_bloom insert": (MANY, 4),
    "blocked_bloom query layout=free": (MANY, 4),
    "blocked_bloom insert layout=free": (MANY, 4),
    "blocked_bloom query layout=parquet": (MANY, 4),
    "cuckoo query": (MANY, 4),
    "cuckoo query slots=8 fingerprint_bits=12": (MANY, 4),
    "cuckoo insert": (MANY, 4),
    "vector_quotient query": (MANY, 4),
    "vector_quotient query remainder_bits=13": (MANY, 4),
    "vector_quotient insert": (MANY, 4),
    "fuse query fingerprint_bits=8": (MANY, 4),
    "fuse query fingerprint_bits=13": (MANY, 4),
    "expandable query": (FEWER, 108),
    "expandable insert": (FEWER, 108),
    "ribbon query": (FEWER, 44),
    "exact query": (FEWER, 52),
}
STATE_BYTES = 4096  # of a gather

REGISTERS = "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15".split()
BYTES = {"BYTE": 1, "WORD": 2, "DWORD": 4, "QWORD": 8, "XMMWORD": 16, "YMMWORD": 32, "ZMMWORD": 64}
INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t(.+\[.+)$", re.M)
OPERAND = re.compile(r"(BYTE|[DQ]?WORD|[XYZ]MMWORD) (?:PTR|BCST) (?:ds:)?\[([^\]]+)\]")
TERM = re.compile(r"([+-]?)(0x[0-9a-f]+|[a-z][a-z0-9]*)(?:\*(\d))?")
NO_ACCESS = ("lea", "nop", "nopw", "cs", "data16")


class Operand:
    """The operand in memory of an instruction, as objdump writes it."""

    def __init__(self, line):
        self.text = line.strip()
        self.name = line.split()[0]
        found = OPERAND.search(line)
        self.is_access = bool(found) and self.name not in NO_ACCESS
        if not self.is_access:
            return
        self.is_prefetch = self.name.startswith("prefetch")
        self.bytes = 1 if self.is_prefetch else BYTES[found[1]]
        self.fixed, self.terms, self.index = 0, [], None
        for sign, what, times in TERM.findall(found[2]):
            if what.startswith("0x"):
                self.fixed += int(sign + what, 16)
            elif what in REGISTERS:
                self.terms.append((REGISTERS.index(what), int(times or 1)))
            elif what[1:3] == "mm":
                self.index = (what, int(times or 1))
            else:
                self.is_access = False  # relative to the program, or to a thread

    def addresses(self, registers, vectors):
        at = self.fixed + sum(registers[i] * times for i, times in self.terms)
        if self.index is None:
            return [at % 2**64]
        return [(at + x * self.index[1]) % 2**64 for x in vectors.lanes_of_gather(self)]


class Vectors:
    """The extended state at each gather, in order."""

    def __init__(self, raw):
        self.upper_ymm, self.masks, self.upper_zmm, self.high_zmm = struct.unpack_from("4I", raw)
        self.states = iter([raw[i:i + STATE_BYTES] for i in range(16, len(raw), STATE_BYTES)])

    def vector(self, state, name):
        i, size = int(name[3:]), {"x": 16, "y": 32, "z": 64}[name[0]]
        if i >= 16:
            return state[self.high_zmm + 64 * (i - 16):][:size]
        return (state[160 + 16 * i:][:16] + state[self.upper_ymm + 16 * i:][:16]
                + state[self.upper_zmm + 32 * i:][:32])[:size]

    def lanes_of_gather(self, operand):
        """The indices that a gather uses: those that its mask has."""
        state = next(self.states)
        bytes_of_index = 8 if operand.name[-2] == "q" else 4
        raw = self.vector(state, operand.index[0])
        lanes = [int.from_bytes(raw[i:i + bytes_of_index], "little", signed=True)
                 for i in range(0, len(raw), bytes_of_index)]
        if k := re.search(r"\{k(\d)\}", operand.text):
            mask = int.from_bytes(state[self.masks + 8 * int(k[1]):][:8], "little")
            return [x for i, x in enumerate(lanes) if mask >> i & 1]
        mask = self.vector(state, re.split(r"[,\s]+", operand.text)[-1])
        return [x for i, x in enumerate(lanes) if mask[(i + 1) * operand.bytes - 1] >> 7]


def memory_of_filter(maps):
    """The mappings of 1 MiB or more that belong to no file, but for the stack."""
    found = []
    for line in maps.splitlines():
        where, _, _, _, inode, *name = line.split()
        begin, end = (int(x, 16) for x in where.split("-"))
        if inode == "0" and end - begin >= 1 << 20 and name != ["[stack]"]:
            found.append((begin, end))
    return found


class Program:
    """bloomset_batch_lines, and its instructions as far as they were read."""

    def __init__(self, path):
        text = subprocess.run(["objdump", "-d", "-M", "intel", "--no-show-raw-insn", path],
                              check=True, capture_output=True, text=True).stdout
        self.path = path
        self.lines = {int(at, 16): line for at, line in INSTRUCTION.findall(text)}
        self.operands = {}
        self.gathers = "\n".join(f"{at:x}" for at, line in self.lines.items()
                                 if re.match(r"v\w*(gather|scatter)", line))

    def operand(self, at):
        if at not in self.operands:
            self.operands[at] = Operand(self.lines.get(at, "nop"))
        return self.operands[at]

    def traces(self, batch, keys):
        """What each kernel did in a batch."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "gathers").write_text(self.gathers, encoding="ascii")
            subprocess.run([self.path, folder, str(keys), *batch.split()], check=True)
            memory = memory_of_filter((folder / "maps").read_text(encoding="utf-8"))
            for steps in sorted(folder.glob("*.steps")):
                vectors = Vectors(steps.with_suffix(".vectors").read_bytes())
                yield Trace(self, steps.stem, array.array("Q", steps.read_bytes()), vectors, memory)


class Trace:
    """The lines of the filter that a kernel used, and the places of those that it had not
    prefetched."""

    def __init__(self, program, kernel, steps, vectors, memory):
        self.kernel, self.steps, self.late = kernel, len(steps) // 17, {}
        known = set()
        for i in range(1, len(steps), 17):
            operand = program.operand(steps[i] - steps[0])
            if not operand.is_access:
                continue
            for address in operand.addresses(steps[i + 1:i + 17], vectors):
                if not any(first <= address < end for first, end in memory):
                    continue
                for line in range(address >> 6, (address + operand.bytes - 1 >> 6) + 1):
                    if line not in known and not operand.is_prefetch:
                        self.late.setdefault(operand.text, set()).add(line)
                    known.add(line)
        self.lines = len(known)


def main():
    program, *chosen = sys.argv[1:]
    program = Program(program)
    batches = {" ".join(chosen): (MANY, 0)} if chosen else BATCHES
    failures = 0
    for kind in [] if chosen else set(KINDS) - {batch.split()[0] for batch in batches} - {"scalable_bloom"}:
        print(f"no batch of {kind}: add a line to BATCHES")
        failures += 1
    for batch, (keys, allowed) in batches.items():
        for trace in program.traces(batch, keys):
            late = sum(len(lines) for lines in trace.late.values())
            print(f"{batch}, {trace.kernel}: {trace.steps} instructions, {trace.lines} lines, {late} not prefetched",
                  flush=True)
            if late > allowed or trace.lines < 160:
                failures += 1
                for text, lines in trace.late.items():
                    print(f"    {len(lines)} by  {text}")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
