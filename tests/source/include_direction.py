#!/usr/bin/env python3
"""Checks the direction of includes: a file may include files of layers to its left, not to its
right (ARCHITECTURE.md).

{detail/core, result, hash, probe, storage, concepts, layouts} < plan < filters < file < patch < any_filter
< teach < dialects, keys < cli, module, tests, ...

Prints each include that points the wrong way and exits 1; exits 0 if there is none.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A room's place in the order, by the first pattern that a path matches. Headers of one room may
# include each other.
ROOMS = [
    ("base", r"include/bloomset/(result|storage|memory_source|hash|hash_source|partitioned_hash|probe|image|labels|layers|exceptions|concepts)\.hpp"),
    ("base", r"src/core/|src/cpu/(dispatch|target|avx512)\.|include/bloomset/detail/core/(?!(filter_memory|built_once)\.hpp)"),
    ("base", r"include/bloomset/detail/([a-z_]+/layout|blocked_bloom/block_layout|counting_bloom/counter_array)\.hpp"),
    ("base", r"include/bloomset/detail/expandable/segment_(layout\.hpp|view\.inl)"),
    ("plan", r"include/bloomset/detail/retrieval/level\.hpp"),
    # An index of files is no filter, and opens its own files.
    ("registry", r"include/bloomset/file_index\.hpp|src/kinds/file_index/"),
    # The other details are the mechanics of filters, which know their plans.
    ("filters", r"include/bloomset/detail/"),
    ("plan", r"include/bloomset/plan/|src/plan/|src/kinds/[a-z_]+/(plan[a-z_]*\.[ch]pp|schedule\.hpp)"),
    ("registry", r"src/kinds/[a-z_]+/row\.cpp"),
    ("filters", r"src/(kinds|cpu)/"),
    ("file", r"include/bloomset/(file|unread_formats)\.hpp|src/file/"),
    ("patch", r"include/bloomset/patch\.hpp|src/patch/"),
    ("registry", r"include/bloomset/(any_filter|figures|partial|property|advise|defaults)\.hpp|src/registry/"),
    ("all", r"include/bloomset/bloomset\.hpp"),
    ("filters", r"include/bloomset/[a-z_]+\.hpp"),
    ("dialects", r"dialects/|integrations/leveldb/"),
    ("keys", r"keys/"),
    ("teach", r"teach/"),
    ("edge", r"(cli|integrations|explorer|tests|fuzz|bench|examples)/"),
]
ORDER = {name: at for at, name in
         enumerate(["base", "plan", "filters", "file", "patch", "registry", "teach", "all", "dialects", "keys", "edge"])}

RESULT = "include/bloomset/result.hpp"

# `bloomset explain` draws the cells of a kind, under hash functions that the student writes. any_filter
# hides both.
PICTURES = ("teach/cell_array.cpp", "teach/cuckoo_table.hpp")
# The small WebAssembly modules query views, because any_filter brings planners and builds along.
SMALL = ("integrations/wasm/src/reader.hpp",)


# A kind's own files. No kind includes another, except those named here: a scalable Bloom filter's
# members are Bloom filters, and a counting Bloom filter is planned as one. Retrieval is no kind, but
# the layer for kinds that store values.
KIND = r"(?:src/kinds|include/bloomset/detail)/([a-z_]+)/|include/bloomset/(?:plan/)?(?:partitioned_)?([a-z_]+?)(?:_plan|_concurrent)?\.hpp$"
# Words of one processor family. Only its kernels, the choice among them, the code for one key that
# -march=native compiles and the partition, which writes past the caches, know them.
FAMILY = r"(?i)x86|avx|sse[0-9]|bmi[12]?\b|pdep|immintrin|_mm[0-9_]"
FAMILY_FILES = (r"src/cpu/|src/core/partition\.hpp|src/(?:kinds/[a-z_]+|core/siphash)/kernels/|include/bloomset/detail/"
                r"(blocked_bloom/(avx2|avx512|native)|expandable/segment_native|core/xxhash)\.hpp")
# Calls that not every system has. Each file has a portable part.
SYSTEM_CALLS = (r"O_TMPFILE|madvise\(|sysinfo|F_FULLFSYNC|__linux__|__APPLE__|<linux/|explicit_bzero|posix_fadvise|posix_fallocate|"
                r"_SC_PHYS_PAGES|fdatasync|ppoll\(|memfd_create|fallocate\(")
SYSTEM_FILES = ("src/core/system.cpp", "cli/terminal/system.cpp")
KINDS = {path.name for path in (ROOT / "src" / "kinds").iterdir()}
MAY_INCLUDE = {("scalable_bloom", "bloom"), ("counting_bloom", "bloom"), ("ribbon", "retrieval"),
               ("exact", "retrieval"), ("file_index", "retrieval")}


def kind(path):
    """The kind that a file belongs to, or None."""
    match = re.match(KIND, path)
    name = match and (match[1] or match[2])
    return name if name in KINDS else None


def room(path):
    for name, pattern in ROOMS:
        if re.match(pattern, path):
            return name
    return None


# Where includes are looked for; first in the includer's own.
BASES = ("include", "src", "dialects/include", "dialects/src", "keys/include", "keys/src", "cli", "explorer/wasm",
         "integrations", "integrations/c/include", "integrations/leveldb/include", "integrations/redis/src",
         "integrations/python/src", ".")


def resolve(included, includer):
    """The project's file behind an include, or None for a foreign one."""
    beside = (ROOT / includer).parent / included
    if beside.is_file():
        return str(beside.relative_to(ROOT))
    for base in sorted(BASES, key=lambda base: not includer.startswith(base)):
        if (ROOT / base / included).is_file():
            return f"{base}/{included}" if base != "." else included
    return None


def main():
    wrong = []
    edges = 0
    for folder in ("include", "src", "teach", "dialects", "keys", "cli", "integrations", "explorer"):
        for file in sorted((ROOT / folder).rglob("*.[chi][pn][pl]")):
            path = str(file.relative_to(ROOT))
            here = room(path)
            is_module = path.startswith("integrations/redis/")
            is_dialect = here == "dialects"
            if here is None:
                wrong.append(f"{path}: in no room; name it in tests/source/include_direction.py")
                continue
            text = file.read_text()
            # What is stored or decides a size is the same on every machine (plan/numeric.hpp).
            if folder in ("include", "src") or is_dialect or is_module:
                for call in re.findall(r"std::(?:exp|exp2|expm1|log|log2|log10|log1p|pow)\(|long double", text):
                    wrong.append(f"{path}: {call} differs between machines; use bloomset::numeric's")
            if folder in ("include", "src") and not re.match(FAMILY_FILES, path):
                for word in re.findall(FAMILY, text):
                    wrong.append(f"{path}: {word} belongs into a kernel file")
            if path not in SYSTEM_FILES:
                for call in re.findall(SYSTEM_CALLS, text):
                    wrong.append(f"{path}: {call} is not on every system; only {' and '.join(SYSTEM_FILES)} have such calls")
            for included in re.findall(r'^\s*#include\s+["<]([^">]+)[">]', text, re.M):
                target = resolve(included, path)
                if target is None:
                    continue
                edges += 1
                if ORDER[room(target)] > ORDER[here]:
                    wrong.append(f"{path} ({here}) includes {target} ({room(target)})")
                ours, theirs = kind(path), kind(target)
                if (theirs and ours != theirs and (ours, theirs) not in MAY_INCLUDE
                        and folder in ("include", "src") and here != "all"):
                    wrong.append(f"{path}: {ours or 'what no kind owns'} includes {target}, of {theirs}")
                edge = folder in ("teach", "cli", "integrations") and not is_dialect
                if edge and room(target) in ("filters", "all") and path not in PICTURES + SMALL:
                    wrong.append(f"{path}: {folder} sees filters only through any_filter, "
                                 f"not {target}")
                private = target.startswith(("src/", "include/bloomset/detail/"))
                if (is_dialect or is_module) and private:
                    wrong.append(f"{path}: dialects and the module stand on public headers only, not on "
                                 f"{target}")
                if edge and target.startswith(("cli/", "integrations/redis/")) and target.split("/")[:2] != path.split("/")[:2]:
                    if not (folder == "cli" and target.startswith("cli/")):
                        wrong.append(f"{path}: command line and module do not know each other ({target})")
                if folder == "cli" and target.startswith(("dialects/src/", "keys/src/")):
                    wrong.append(f"{path}: the command line sees dialects and readers only through "
                                 f"their registries, not {target}")
                if folder == "keys" and room(target) != "keys" and target != RESULT:
                    wrong.append(f"{path}: readers know no filters, only {RESULT}, not {target}")
    if edges == 0:
        wrong.append("no include was found: the check looks in the wrong place")
    print("\n".join(wrong) if wrong else f"{edges} includes, all in the order of the rooms")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
