"""Filters of other programs on the command line. DCSO's own command reads Bloomset's filters, and
the reverse."""

import gzip
import json
import shutil
import subprocess

import pytest

DCSO = shutil.which("bloom")
needs_dcso = pytest.mark.skipif(
    DCSO is None, reason="DCSO's bloom is not installed (golang-github-dcso-bloom-cli)")

# Guava 31.1: {hello, world, foo}, n = 10, p = 0.03, utf8. Scylla's test of version mc.
GUAVA = bytes.fromhex("01050000000200100010090000042040854240042000")
CASSANDRA = bytes.fromhex("0000000500000002802028008006281621021242c8002000")
LEVELDB = bytes.fromhex("114000414410401006")


def dcso(*args, input=b"", cwd):
    done = subprocess.run([DCSO, *map(str, args)], input=input, cwd=cwd, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def files(tmp_path):
    (tmp_path / "guava").write_bytes(GUAVA)
    (tmp_path / "mc-1-big-Filter.db").write_bytes(CASSANDRA)
    (tmp_path / "leveldb").write_bytes(LEVELDB)
    return tmp_path


# DCSO's own command ---------------------------------------------------------------------------


@needs_dcso
@pytest.mark.parametrize("n,p", [(1, 0.5), (10, 0.1), (100, 0.01), (1000, 0.001), (12345, 0.037)])
def test_dcso_builds_the_same_bytes(run, tmp_path, lines, n, p):
    keys = lines(n)
    dcso("create", "-n", n, "-p", p, "theirs", cwd=tmp_path)
    dcso("insert", "theirs", input=keys, cwd=tmp_path)
    run("build", "--format", "dcso", "--capacity", n, "--fpr", p, "-o", "ours", input=keys).ok()
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


@needs_dcso
@pytest.mark.parametrize("packed", [False, True])
def test_dcso_and_we_read_each_other(run, info, tmp_path, lines, packed):
    gz = ["--gzip"] if packed else []
    keys, others = lines(3000), lines(20000, "non-member")
    dcso(*gz, "create", "-n", 3000, "-p", 0.02, "theirs", cwd=tmp_path)
    dcso(*gz, "insert", "theirs", input=keys, cwd=tmp_path)
    run("build", "--format", "dcso", "--with", f"gzip={'yes' if packed else 'no'}", "--capacity",
        3000, "--fpr", "2%", "-o", "ours", input=keys).ok()
    for file in ("ours", "theirs"):
        assert run("check", file, input=keys).ok().out == keys
        assert dcso(*gz, "check", file, input=keys, cwd=tmp_path) == keys
        assert run("check", file, input=others).out == dcso(*gz, "check", file, input=others,
                                                            cwd=tmp_path)
    assert info("ours") == {**info("theirs"), "file": "ours"}
    assert info("ours")["variant"] == ("version 1, gzip" if packed else "version 1")


@needs_dcso
def test_dcso_joins_as_we_merge(run, tmp_path, lines):
    for name, keys in (("a", lines(50)), ("b", lines(50, start=25))):
        run("build", "--format", "dcso", "--capacity", 100, "-o", name, input=keys).ok()
    run("merge", "-o", "ours", "a", "b").ok()
    dcso("join", "a", "b", cwd=tmp_path)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "a").read_bytes()


@needs_dcso
def test_dcsos_data_is_kept(run, tmp_path, lines):
    run("build", "--format", "dcso", "--capacity", 100, "-o", "a", input=lines(50)).ok()
    dcso("set-data", "a", input=b'{"source": "x"}', cwd=tmp_path)
    before = (tmp_path / "a").read_bytes()
    run("convert", "--to-with", "gzip=yes", "-o", "packed", "a").ok()
    assert gzip.decompress((tmp_path / "packed").read_bytes()) == before
    assert dcso("--gzip", "get-data", "packed", cwd=tmp_path).strip() == b'{"source": "x"}'
    run("convert", "--to-with", "gzip=no", "-o", "plain", "packed").ok()
    assert (tmp_path / "plain").read_bytes() == before


# Recognising ----------------------------------------------------------------------------------


def test_a_format_is_told_from_the_content_or_by_name(run, files):
    assert run("check", "guava", "--with", "funnel=utf8", input=b"hello\nx\n").ok().out == b"hello\n"
    table = ("mc-1-big-Filter.db", "--with", "type=bytes")
    assert run("check", *table, "-0", input=b"\0").code == 1
    assert run("check", *table, input=b"\0\0\0\5\n").ok().out == b"\0\0\0\5\n"
    assert run("check", "mc-1-big-Filter.db", "--with", "type=int", input=b"5\n42\n").ok().out == b"5\n"
    run("check", "leveldb", input=b"hello\n").refused("not a Bloomset filter", "--format leveldb")
    found = run("check", "--format", "leveldb", "leveldb", input=b"hello\nbye\n").ok()
    assert found.out == b"hello\n"


@pytest.mark.parametrize("option", [("--format", "dcso"), ("--column", "x"),
                                    ("--with", "funnel=utf8")])
def test_our_own_files_have_no_use_for_what_formats_need(run, tmp_path, lines, option):
    run("build", "-o", "own", input=lines(10)).ok()
    for verb in ("check", "info"):
        run(verb, *option, "own", input=lines(10)).refused(f"own: this is a Bloomset filter, and "
                                                           f"{option[0]} is for filters of other")
    run("check", *option, "own", "--filter", "own", input=lines(10)).refused("leave it out")
    run("merge", *option, "-o", "x", "own", "own").refused("own: this is a Bloomset filter")
    assert not (tmp_path / "x").exists()


def test_what_a_format_does_not_tell_must_be_given(run, files):
    run("check", "guava", input=b"hello\n").refused("guava: ", "give --with funnel=utf8")
    (files / "filter").write_bytes(CASSANDRA)
    run("check", "filter", input=b"x\n").refused("give --with version=")
    run("convert", "-o", "x", "filter").refused("the version to write is missing; give --to-with version=")
    run("convert", "-o", "x", "--to-with", "version=nb", "filter").refused("the version of the filter is missing; give --with version=")
    run("check", "mc-1-big-Filter.db", input=b"42\n").refused(
        "mc-1-big-Filter.db: ", "give --with type=bytes (or text or ascii, the same), int, bigint")
    run("check", "filter", "--with", "version=mc", input=b"42\n").refused("give --with type=")
    options = ("--with", "version=mc", "--with", "type=int")
    assert run("check", "-q", "filter", *options, input=b"5\n").code == 0


@pytest.mark.parametrize("args,sentence", [
    (("--format", "nosuch", "guava"), "there is no format 'nosuch'"),
    (("--format", "dcso", "guava"), "guava: "),
    (("--with", "funnel=words", "guava"), "--with funnel=words: give utf8"),
    (("--with", "type=long", "mc-1-big-Filter.db"), "--with type=long: give bytes"),
    (("--with", "color=red", "guava"), "format guava has no option 'color'"),
    (("--with", "funnel", "guava"), "--with: 'funnel' is not NAME=VALUE; write for example --with funnel=utf8"),
    (("--with", "funnel=utf8", "--with", "funnel=utf8", "guava"), "given twice"),
    (("--column", "x", "guava"), "no option 'column'"),
    (("--column", "x", "--format", "parquet", "guava"), "guava: "),
])
def test_wrong_readings_are_refused(run, files, args, sentence):
    run("check", *args, input=b"x\n").refused(sentence)


def test_several_filters_of_several_programs(run, files, lines):
    run("build", "-o", "own", input=b"world\nmine\n").ok()
    said = run("check", "own", "--filter", "guava", "--with", "funnel=utf8",
               input=b"hello\nworld\nmine\nnone\n").ok()
    assert said.out == b"guava\thello\nown,guava\tworld\nown\tmine\n"
    said = run("check", "--json", "guava", "--with", "funnel=utf8", input=b"hello\n").ok()
    assert json.loads(said.out) == {"file": "stdin", "line": 1, "key": "hello", "maybe": True,
                                     "filters": ["guava"]}


def test_an_option_goes_to_those_whose_format_knows_it(run, files, lines):
    run("build", "-o", "f.dcso", "--format", "dcso", "--capacity", 10, input=b"hello\n").ok()
    both = ("check", "guava", "--filter", "f.dcso")
    said = run(*both, "--with", "funnel=utf8", input=b"hello\nworld\n").ok()
    assert said.out == b"guava,f.dcso\thello\nguava\tworld\n"
    run(*both, "--with", "funnel=utf8", "--with", "color=red").refused(
        "no filter here has a format with an option 'color'")
    run(*both, "--with", "funnel=utf8", "--column", "c").refused("option 'column'")
    run("info", "--with", "funnel=utf8", "guava", "f.dcso").ok()
    said = run("info", "--with", "color=red", "guava", "f.dcso")
    assert said.code == 2 and b"'color'" in said.err


# info, merge, convert -------------------------------------------------------------------------


def test_info_says_what_is_stored_and_what_is_not(run, info, files):
    said = info("guava")
    assert (said["format"], said["kind"], said["bits"], said["hashes"]) == ("guava", "bloom", 128, 5)
    assert said["capacity"] is said["count"] is said["planned_fpr"] is None
    assert said["estimated_size"] == pytest.approx(3, abs=0.5)
    assert said["can"] == ["merge"]
    text = run("info", "guava", "mc-1-big-Filter.db").ok().out.decode()
    assert "guava, MURMUR128_MITZ_64" in text and "versions ma to mt" in text
    assert "planned rate" not in text
    assert info("--format", "leveldb", "leveldb")["hashes"] == 6


def test_squid_and_bip37_say_their_own_figures(run, info):
    run("build", "--format", "squid", "--capacity", 10, "-o", "s", input=b"http://a/\n").ok()
    run("build", "--format", "bip37", "--capacity", 10, "--seed", 5, "--with", "flags=1", "-o", "b",
        input=b"x\n").ok()
    assert info("s")["extras"] == {"bits_per_entry": 5, "method": "GET"}
    assert (info("s")["capacity"], info("s")["count"]) == (10, 1)
    assert info("b")["extras"] == {"tweak": 5, "flags": 1}


def test_merge_is_the_filter_of_both(run, tmp_path, lines):
    build = ("build", "--format", "guava", "--with", "funnel=utf8", "--capacity", 100, "-o")
    run(*build, "a", input=lines(50)).ok()
    run(*build, "b", input=lines(50, start=50)).ok()
    run(*build, "both", input=lines(100)).ok()
    run("merge", "-o", "merged", "a", "b").ok()
    assert (tmp_path / "merged").read_bytes() == (tmp_path / "both").read_bytes()


def test_what_cannot_be_combined_is_refused(run, files, lines):
    run("build", "-o", "own", input=lines(10)).ok()
    run("merge", "-o", "x", "own", "guava").refused("own and guava", "another program")
    run("merge", "-o", "x", "guava", "mc-1-big-Filter.db").refused("format guava", "format cassandra")
    run("intersect", "-o", "x", "guava", "guava").refused("merged, not intersected")
    assert not (files / "x").exists()


def test_cassandras_version_is_asked_for_before_filters_merge(run, tmp_path):
    for version, key in (("mc", "a"), ("nb", "b")):
        run("build", "--format", "cassandra", "--with", f"version={version}", "--with", "type=text", "--capacity", 200,
            "-o", key, input=f"{key}\n".encode()).ok()
    run("merge", "-o", "both", "a", "b").refused("give --with version=")
    assert not (tmp_path / "both").exists()
    run("merge", "-o", "both", "--with", "version=mc", "a", "a").ok()


def test_cassandras_names_and_versions_agree_when_written(run, tmp_path):
    name = "nb-1-big-Filter.db"
    build = ("build", "--format", "cassandra", "--with", "type=text", "--capacity", 10)
    run(*build, "--with", "version=mc", "-o", name, input=b"a\n").refused(name, "version=nb")
    run(*build, "-o", name, input=b"a\n").ok()
    assert run("check", "-c", name, "--with", "type=text", input=b"a\n").ok().out == b"1\n"
    run("check", name, "--with", "type=text", "--with", "version=mc", input=b"a\n").refused("name says version nb")
    assert run("check", "-c", name, "--with", "type=text", "--with", "version=oa", input=b"a\n").ok().out == b"1\n"
    other = "me-1-big-Filter.db"
    run("convert", "-o", other, "--to-with", "version=mc", name).refused(other, "version=me")
    run("convert", "-o", other, name).ok()
    assert run("check", "-c", other, "--with", "type=text", input=b"a\n").ok().out == b"1\n"


def test_cassandras_versions_that_share_bits_convert(run, files):
    run("convert", "-o", "nb-1-big-Filter.db", "--to-with", "version=nb", "mc-1-big-Filter.db").ok()
    assert run("check", "nb-1-big-Filter.db", "--with", "type=int", input=b"5\n").code == 0
    run("convert", "-o", "me-1-big-Filter.db", "--to-with", "version=me", "nb-1-big-Filter.db").ok()
    assert (files / "me-1-big-Filter.db").read_bytes() == CASSANDRA
    run("convert", "-o", "mt-1-big-Filter.db", "nb-1-big-Filter.db").ok()
    assert (files / "mt-1-big-Filter.db").read_bytes() == CASSANDRA
    assert run("check", "mt-1-big-Filter.db", "--with", "type=int", input=b"5\n").code == 0
    run("convert", "-o", "x", "--to-with", "version=me", "--to-with", "type=int", "nb-1-big-Filter.db").refused(
        "the type of the keys cannot change")
    run("convert", "-o", "la", "--to-with", "version=la", "mc-1-big-Filter.db").refused(
        "other half of the hash")


def test_what_shares_no_bits_does_not_convert(run, files, lines):
    run("build", "-o", "own", input=lines(10)).ok()
    run("convert", "-o", "x", "--to", "dcso", "own").refused("rebuild it from the keys")
    run("convert", "-o", "x", "--to", "dcso", "guava").refused("cannot become one of format dcso")
    run("convert", "-o", "x", "guava").refused("has one container only")
    run("convert", "-o", "guava", "mc-1-big-Filter.db").refused("the file exists")
    assert (files / "guava").read_bytes() == GUAVA


# build ----------------------------------------------------------------------------------------


def test_without_a_capacity_the_lines_are_counted(run, info, tmp_path, lines):
    (tmp_path / "keys").write_bytes(lines(1234))
    (tmp_path / "more.gz").write_bytes(gzip.compress(lines(66, "more")))
    run("build", "--format", "dcso", "-o", "f", "keys", "more.gz").ok()
    assert info("f")["capacity"] == 1300
    run("build", "--format", "dcso", "-o", "g", input=lines(10)).refused("--capacity")


@pytest.mark.parametrize("args,sentence", [
    (("--format", "guava"), "give --with funnel=utf8"),
    (("--format", "guava", "--with", "funnel=utf8", "--with", "strategy=8"), "--with strategy=8: give 32 or 64"),
    (("--format", "spark"), "give --with type=string (or bytes, the same) or long"),
    (("--format", "spark", "--with", "type=int"), "--with type=int: give string"),
    (("--format", "spark", "--with", "type=long", "--with", "version=3"), "--with version=3"),
    (("--format", "spark", "--with", "type=long", "--with", "version=1", "--seed", "3"), "no place for a seed"),
    (("--format", "spark", "--with", "type=long", "--hashes", "3"), "give a capacity, and a rate or a number of bits"),
    (("--format", "spark", "--with", "type=long"), "stdin:1: 'a' is not a whole number of 64"),
    (("--format", "cassandra"), "give --with version="),
    (("--format", "parquet"), "give --with type=bytes (or string), int32"),
    (("--format", "parquet", "--with", "type=text"), "--with type=text: give bytes (or string), int32"),
    (("--format", "parquet", "--with", "type=bytes", "--hashes", "3"), "or --with blocks=N"),
    (("--format", "squid", "--memory", "1kB"), "--with bits_per_entry=N"),
    (("--format", "squid", "--with", "method=get"), "--with method=get: give GET"),
    (("--format", "dcso", "--with", "gzip=1"), "--with gzip=1: give yes or no"),
    (("--format", "dcso", "--kind", "bloom"), "--kind and --format exclude"),
    (("--format", "dcso", "--hashes", "3"), "not sized by a number of hash functions"),
    (("--format", "dcso", "--memory", "1kB"), "not sized by a number of bits"),
    (("--format", "dcso", "--seed", "3"), "no place for a seed"),
    (("--format", "squid", "--fpr", "1%"), "not sized by a rate"),
    (("--format", "leveldb", "--fpr", "1%"), "not sized by a rate"),
    (("--format", "leveldb", "--with", "bits_per_key=0"), "--with bits_per_key=0"),
    (("--format", "cassandra", "--with", "version=mc", "--fpr", "0.001%"), "ends at a rate"),
    (("--format", "cassandra", "--with", "version=jb"), "--with version=jb"),
    (("--format", "cassandra", "--with", "version=mt"), "give --with type=bytes"),
    (("--format", "cassandra", "--with", "version=mt", "--with", "type=int"), "stdin:1: 'a' is not a whole number of 32"),
    (("--format", "bip37", "--seed", "4294967296"), "32 bits"),
    (("--format", "guava", "--with", "funnel=int32"), "stdin:1: 'a' is not a whole number of 32"),
    (("--format", "nosuch"), "there is no format 'nosuch'"),
])
def test_what_a_format_cannot_hold_is_refused(run, tmp_path, args, sentence):
    run("build", *args, "--capacity", 10, "-o", "f", input=b"a\n").refused(sentence)
    assert not (tmp_path / "f").exists()


def test_a_parquet_filter_of_strings_is_one_of_bytes(run, tmp_path):
    args = ("build", "--format", "parquet", "--capacity", 10)
    for type in ("string", "bytes"):
        run(*args, "--with", f"type={type}", "-o", type, input=b"a\nb\n").ok()
    assert (tmp_path / "string").read_bytes() == (tmp_path / "bytes").read_bytes()
    assert run("check", "string", "--with", "type=string", input=b"a\nx\n").out == b"a\n"


def test_what_is_wrong_with_an_option_of_the_target_names_its_flag(run, files):
    run("build", "--format", "dcso", "--capacity", 10, "-o", "d", input=b"a\n").ok()
    run("convert", "-o", "x", "--to-with", "gzip=1", "d").refused("--to-with gzip=1: give yes or no")
    run("convert", "-o", "x", "--to-with", "version=zz", "mc-1-big-Filter.db").refused("--to-with version=zz")
    run("convert", "-o", "x", "--to-with", "gzip", "d").refused("--to-with: 'gzip' is not NAME=VALUE",
                                                                "--to-with funnel=utf8")


def test_a_key_without_a_form_is_named_by_its_line(run, tmp_path):
    (tmp_path / "numbers").write_bytes(b"1\n2\n")
    (tmp_path / "words").write_bytes(b"3\nfour\n")
    run("build", "--format", "guava", "--with", "funnel=int64", "-o", "f", "numbers",
        "words").refused("words:2: 'four' is not a whole number of 64 bits")


@pytest.mark.parametrize("named", [True, False])
def test_keys_without_a_form_are_passed_over_on_demand(run, info, tmp_path, named):
    (tmp_path / "keys").write_bytes(b"1\ntwo\n3\n\n")
    args = ("build", "--format", "guava", "--with", "funnel=int64", "--capacity", 2, "keys")
    if not named:
        args = args[:5] + ("keys",)
    run(*args, "-o", "f").refused("keys:2: 'two' is not a whole number", "--skip-bad skips")
    done = run(*args, "-o", "f", "--skip-bad").ok()
    assert b"1 line was skipped; the first is keys:2: 'two' is not" in done.err
    assert b"f: 2 keys" in done.err
    run("build", "--format", "guava", "--with", "funnel=int64", "--capacity", 2, "-o", "g",
        input=b"1\n3\n").ok()
    assert (tmp_path / "f").read_bytes() == (tmp_path / "g").read_bytes()


def test_more_keys_than_said_is_a_warning_or_an_error(run, tmp_path, lines):
    args = ("build", "--format", "dcso", "--capacity", 10)
    said = run(*args, "-o", "f", input=lines(20)).ok()
    assert b"more than the --capacity of 10" in said.err
    run(*args, "--strict", "-o", "g", input=lines(20)).refused("nothing was written")
    assert not (tmp_path / "g").exists()
    # Repeated keys do not count.
    assert run(*args, "--strict", "-o", "g", input=2 * lines(8)).ok().err.startswith(b"g: 16 keys, ")
    run(*args, "--confidence", "99%", "-o", "h", input=lines(8)).refused("format dcso is not sized by a confidence")


def test_the_result_can_go_to_stdout_and_replaces_on_demand_only(run, tmp_path, lines):
    args = ("build", "--format", "leveldb", "--capacity", 10)
    run(*args, "-o", "f", input=lines(10)).ok()
    assert run(*args, "-o", "-", input=lines(10)).ok().out == (tmp_path / "f").read_bytes()
    run(*args, "-o", "f", input=lines(10)).refused("the file exists")
    run(*args, "--force", "-o", "f", input=lines(9)).ok()


# The form of queried keys -----------------------------------------------------------------------


@pytest.mark.parametrize("format,options,member,wrong,form", [
    ("guava", ["--with", "funnel=int64"], b"7", b"seven\n1.5\n", "a whole number of 64 bits"),
    ("guava", ["--with", "funnel=utf16le"], b"7", b"\xff\n\xfe\n", "text in UTF-8"),
    ("spark", ["--with", "type=long"], b"7", b"seven\neight\n", "a whole number of 64 bits"),
    ("cassandra", ["--with", "version=mc", "--with", "type=tinyint"], b"7", b"300\nx\n", "a whole number of 8 bits"),
    ("cassandra", ["--with", "version=mc", "--with", "type=uuid"], b"550e8400-e29b-41d4-a716-446655440000",
     b"550e8400\n42\n", "a UUID"),
    ("parquet", ["--with", "type=date"], b"2020-01-05", b"5.1.2020\n01/05/2020\n", "a date, YYYY-MM-DD"),
    ("squid", [], b"http://example.com/", b"example.com\nexample.org\n", "a URL with its scheme"),
])
def test_queries_of_another_form_than_the_filters_keys_are_named_once(run, tmp_path, format, options, member, wrong, form):
    run("build", "--format", format, *options, "--capacity", 100, "-o", "f", input=member + b"\n").ok()
    warning = f"bloomset check: warning: f: none of the 2 queried keys is {form}, as the keys in the filter are; give keys of that form"
    for flags in ([], ["-c"], ["-q"], ["--json"]):
        said = run("check", "f", *flags, *options, input=wrong)
        assert said.code == 1 and said.err.decode().startswith(warning) and said.err.count(b"\n") == 1, said.err
    assert run("check", "-v", "f", *options, input=wrong).ok().err.decode().startswith(warning)
    # One key of the form is enough, and no keys are not wrong ones.
    said = run("check", "f", *options, input=wrong + member + b"\n").ok()
    assert (said.out, said.err) == (member + b"\n", b"")
    assert run("check", "f", *options, input=b"").err == b""


def test_a_wrong_form_is_named_after_parallel_work_too(run, tmp_path):
    (tmp_path / "words").write_bytes(b"word\n" * 1_100_000)
    run("build", "--format", "spark", "--with", "type=long", "--capacity", 9, "-o", "f", input=b"7\n").ok()
    said = run("check", "f", "--with", "type=long", "words")
    assert said.code == 1 and b"none of the 1,100,000 queried keys is a whole number" in said.err
    (tmp_path / "words").write_bytes(b"word\n" * 1_100_000 + b"7\n")
    said = run("check", "f", "--with", "type=long", "words").ok()
    assert (said.out, said.err) == (b"7\n", b"")


def test_the_man_page_and_the_help_list_formats(run):
    man = run("man").ok().out.decode()
    assert "FORMATS OF OTHER PROGRAMS" in man
    help_of = run("check", "--help").ok().out.decode()
    for name in ("squid", "parquet", "leveldb", "dcso", "guava", "spark", "cassandra", "bip37"):
        assert f"\\fB{name}\\fR" in man
        assert name in help_of
