"""Every batch of keys prefetches, in the compiled program.

    prefetches.py PROGRAM

A compiler may delete prefetches without a warning (docs/decisions/prefetch.md). This test
disassembles PROGRAM. From each function named below, direct calls and jumps must lead to a prefetch.
"""

import collections
import re
import subprocess
import sys

HASHES = r"\(std::span<bloomery::hash64 const, \d+ul>"
BATCHES = [
    r"typed_model<bloomery::basic_(counting_)?bloom<bloomery::double_hashing, .*>"
    r"::(may_contain|insert)" + HASHES,
    r"typed_model<bloomery::basic_scalable_bloom<.*>::may_contain" + HASHES,
    r"typed_model<bloomery::basic_(scalable_bloom|cuckoo)<bloomery::owned_storage>.*::insert" + HASHES,
    r"\w+::LOCAL(may_contain|insert)_loop<bloomery::detail::(split_512|parquet_256|free_512)>",
    r"cuckoo_\w+::LOCALcontains\(",
    r"LOCALcontains_each\(",
    r"fuse_may_contain(_avx512)?\(",
    r"ribbon_\w+::LOCALmay_contain\(",
    r"vq_\w+::LOCALvq_(may_contain|insert|erase|count)_loop[(<]",
    r"(scalar|bmi2)::LOCAL(contains_batch|prefetch|prefetch_to_insert)\(",
]
LABEL = re.compile(r"^[0-9a-f]+ <(.+)>:$")
TARGET = re.compile(r"\s(?:call|j\w+|lea|bl?|adr)\s+[^<]*<(.+?)(?:\+0x[0-9a-f]+)?>$")
PREFETCH = re.compile(r"\s(?:prefetch|prfm)")

leads_to = collections.defaultdict(set)
prefetching = set()
function = None
text = subprocess.run(["objdump", "-dC", "--no-show-raw-insn", sys.argv[1]],
                      check=True, capture_output=True, text=True).stdout
for line in text.splitlines():
    if label := LABEL.match(line):
        function = label[1]
        leads_to[function]
    elif PREFETCH.search(line):
        prefetching.add(function)
    elif target := TARGET.search(line):
        leads_to[function].add(target[1])


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


failures = 0
for batch in BATCHES:
    batch = batch.replace("LOCAL", r"\(anonymous namespace\)::")
    found = [name for name in leads_to
             if re.match(r"([\w: ]+ )?bloomery::detail::" + batch, name) and "[clone" not in name]
    if not found:
        print(f"no function has a name like {batch}")
        failures += 1
    for name in found:
        if not reaches_prefetch(name):
            print(f"does not prefetch: {name}")
            failures += 1
sys.exit(failures != 0)
