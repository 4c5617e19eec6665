"""The compiler warns of a result that is dropped, whatever function returned it."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDES = [f"-I{ROOT / folder}" for folder in ("include", "dialects/include", "keys/include")]

# Each line by itself drops a result.
DROPPED = """\
save(f, "f.bloom");
save(any, "f.bloom");
open("f.bloom");
load("f.bloom");
open<bloom_view>("f.bloom");
f.merge(f);
f.intersect(f);
any.merge(any);
any.insert(texts);
any.erase(texts, flags);
any.copy();
bloom::make({});
fuse::build({.fpr = 0.01}, strings);
plan_bloom({});
find_kind("bloom");
(*find_kind("bloom"))->create({});
advise({}, {});
write_file(f.image(), "f.bloom");
file_lock::acquire("f.bloom");
owned_storage::make(1);
dialects::find("dcso");
dialects::open(mapped_storage());
keys::make_reader("email");
reader.read("a@b.com", list);
fail(errc::io, "a sentence");
""".splitlines()

PROGRAM = """\
#include <bloomset/bloomset.hpp>
#include <bloomset/dialects/dialect.hpp>
#include <bloomset/keys/reader.hpp>
using namespace bloomset;
void drop(bloom& f, any_filter& any, keys::reader& reader, keys::key_list& list,
          std::span<const std::string_view> texts, std::span<bool> flags,
          const std::vector<std::string>& strings) {
%s
}
"""


def test_each_is_a_warning(tmp_path):
    source = tmp_path / "dropped.cpp"
    source.write_text(PROGRAM % "\n".join(DROPPED))
    first = PROGRAM[: PROGRAM.index("%s")].count("\n") + 1
    done = subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", *INCLUDES,
                           str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    warned = {int(line) for line in re.findall(r"dropped\.cpp:(\d+):.*\[-Wunused-result\]", done.stderr)}
    silent = [code for number, code in enumerate(DROPPED, first) if number not in warned]
    assert silent == [], done.stderr
