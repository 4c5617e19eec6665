"""What the compiler says to a user of the library."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
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

DROPS = """\
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


def compiled(source, standard="20"):
    return subprocess.run([os.environ.get("CXX", "c++"), f"-std=c++{standard}", "-fsyntax-only", *INCLUDES, str(source)],
                          capture_output=True, text=True)


def test_each_dropped_result_is_a_warning(tmp_path):
    source = tmp_path / "dropped.cpp"
    source.write_text(DROPS % "\n".join(DROPPED))
    first = DROPS[: DROPS.index("%s")].count("\n") + 1
    done = compiled(source)
    assert done.returncode == 0, done.stderr
    warned = {int(line) for line in re.findall(r"dropped\.cpp:(\d+):.*\[-Wunused-result\]", done.stderr)}
    silent = [code for number, code in enumerate(DROPPED, first) if number not in warned]
    assert silent == [], done.stderr


def test_an_older_language_is_an_error_that_names_the_option(tmp_path):
    source = tmp_path / "old.cpp"
    source.write_text("#include <bloomset/bloomset.hpp>\n")
    done = compiled(source, "17")
    assert done.returncode != 0
    assert "Bloomset needs C++20: compile with -std=c++20" in done.stderr


@pytest.mark.parametrize("call", ["insert(3.5)", "may_contain(3.5f)", "insert(nullptr)"])
def test_a_value_that_is_no_key_is_an_error_that_says_what_one_is(tmp_path, call):
    source = tmp_path / "key.cpp"
    source.write_text(f"#include <bloomset/bloom.hpp>\nvoid use(bloomset::bloom& f) {{ f.{call}; }}\n")
    done = compiled(source)
    assert done.returncode != 0
    assert "a_key_is_a_string_bytes_or_an_integer" in done.stderr
