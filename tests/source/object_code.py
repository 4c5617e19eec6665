"""Instructions that the program must have, and that compilers have left out.

    object_code.py PROGRAM

Prefetches (docs/maintain/decisions/cpu/prefetch.md): from each function named below, direct calls and jumps must
lead to one. And vzeroupper on x86: no function returns with values in the upper halves of vectors,
because on Intel CPUs the SSE code that follows waits for them (docs/maintain/decisions/kinds/expandable-kernels.md).
"""

import collections
import re
import subprocess
import sys

HASHES = r"\(std::span<bloomset::hash64 const, \d+ul>"
BATCHES = [
    r"typed_model<bloomset::basic_(counting_)?bloom<.*>::may_contain" + HASHES,
    r"typed_model<bloomset::basic_((counting_)?bloom|cuckoo)<.*bloomset::owned_storage>.*::insert" + HASHES,
    r"\w+::LOCAL(may_contain|insert)_loop<bloomset::detail::(split_512|parquet_256|free_512)>",
    r"\w+::LOCALmay_contain_free_loop\(",
    r"cuckoo_\w+::LOCALcontains\(",
    r"LOCALcontains_each\(",
    r"fuse_may_contain(_avx512)?\(",
    r"retrieval_\w+::LOCAL(matches_fingerprints|retrieve_(64|128))\(",
    r"vq_\w+::LOCALvq_(may_contain|insert|erase|count)_loop[(<]",
    r"(scalar|bmi2)::LOCAL(contains_batch|prefetch|prefetch_to_insert)\(",
]
LABEL = re.compile(r"^[0-9a-f]+ <(.+)>:$", re.M)
TARGET = re.compile(r"\s(?:call|j\w+|lea|bl?|adr)[ \t]+[^<\n]*<(.+?)(?:\+0x[0-9a-f]+)?>$", re.M)
PREFETCH = re.compile(r"\s(?:prefetch|prfm)")

#: Address, name and operands.
INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\s+(\S+)[ \t]*([^#\n]*)", re.M)
JUMP_TO = re.compile(r"([0-9a-f]+) <")
TO_VECTOR = re.compile(r"%[yz]mm\d+(\{%k\d\})?(\{z\})?\s*$")

leads_to = collections.defaultdict(set)
prefetching = set()
wide = []  # the names and instructions of functions with vectors of 32 or 64 bytes
text = subprocess.run(["objdump", "-dC", "--no-show-raw-insn", sys.argv[1]],
                      check=True, capture_output=True, text=True).stdout
for block in text.split("\n\n"):
    if label := LABEL.search(block):
        leads_to[label[1]].update(TARGET.findall(block))
        if PREFETCH.search(block):
            prefetching.add(label[1])
        if re.search("%[yz]mm", block):
            wide.append((label[1], INSTRUCTION.findall(block)))


def reaches_prefetch(start):
    seen, todo = {start}, [start]
    while todo:
        at = todo.pop()
        if at in prefetching:
            return True
        new = leads_to[at] - seen
        seen |= new
        todo += new
    return False


def leaves_upper_halves(code):
    """Whether a path leads from a write to a vector of 32 or 64 bytes to the end without
    vzeroupper."""
    index = {address: i for i, (address, _, _) in enumerate(code)}
    seen, todo = set(), [(0, False)]
    while todo:
        i, is_used = todo.pop()
        while i < len(code) and (i, is_used) not in seen:
            seen.add((i, is_used))
            _, name, operands = code[i]
            if name.startswith("vzero"):
                is_used = False
            elif TO_VECTOR.search(operands):
                is_used = True
            to = JUMP_TO.match(operands) if name.startswith("j") else None
            if to and to[1] in index:
                todo.append((index[to[1]], is_used))
            elif is_used and (to or name.startswith("ret")):
                return True
            if name.startswith(("ret", "jmp")):
                break
            i += 1
    return False


failures = 0
for name, code in wide:
    if leaves_upper_halves(code):
        print(f"returns without vzeroupper: {name}")
        failures += 1
for batch in BATCHES:
    batch = batch.replace("LOCAL", r"\(anonymous namespace\)::")
    found = [name for name in leads_to
             if re.match(r"([\w: ]+ )?bloomset::detail::" + batch, name) and "[clone" not in name]
    if not found:
        print(f"no function has a name like {batch}")
        failures += 1
    for name in found:
        if not reaches_prefetch(name):
            print(f"does not prefetch: {name}")
            failures += 1
sys.exit(failures != 0)
