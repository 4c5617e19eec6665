"""bloomset publish and bloomset fetch: a folder of base, patches and layers, and a file that follows it."""

import hashlib
import json
import os
import random
import re
import signal
import subprocess
import time

import pytest
from conftest import LIMITED
from kinds import kinds_that


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def manifest(tmp_path, folder="pub"):
    return json.loads((tmp_path / folder / "manifest.json").read_text())


@pytest.fixture
def published(run, lines, tmp_path):
    """The filter f of 10,000 keys, and its folder pub."""
    run("build", "-q", "-o", "f", "--kind", "bloom", "--capacity", 12_000, "--label", "source=test", input=lines(10_000)).ok()
    run("publish", "-q", "pub", "f").ok()
    return tmp_path / "pub"


def bytes_read(said):
    """What `fetch` says that it read."""
    number, unit = re.search(rb"read ([\d.,]+) (B|kB|MB)", said.err).groups()
    return float(number.replace(b",", b"")) * {b"B": 1, b"kB": 1e3, b"MB": 1e6}[unit]


def test_the_manifest_names_all_files(run, lines, tmp_path, published):
    run("add", "-q", "f", input=lines(100, "new")).ok()
    run("publish", "-q", "pub", "f", "--valid-for", "2h").ok()
    run("publish", "-q", "pub", "--layer", "-", input=lines(50, "more")).ok()
    now = manifest(tmp_path)
    assert (now["format"], now["sequence"], now["labels"]) == ("bloomset-manifest-1", 3, {"source": "test"})
    assert [layer["keys"] for layer in now["layers"]] == [50]
    files = contents(published)
    for entry in [now["base"], *now["patches"], *now["layers"]]:
        data = files[entry["file"]]
        assert (len(data), hashlib.sha256(data).hexdigest()) == (entry["bytes"], entry["sha256"])
    assert files[now["base"]["file"]] == (tmp_path / "f").read_bytes()
    assert now["patches"][0]["file"] == f'{now["patches"][0]["from"]}-{now["base"]["sha256"][:16]}.patch'
    assert "valid_until" not in now


def test_a_follower_reads_patches_and_has_the_same_file(run, lines, tmp_path, published):
    said = run("fetch", "pub", "-o", "mine").ok()
    assert said.err.startswith(b"mine: number 1, by the whole filter; read ")
    for i in range(3):
        run("add", "-q", "f", input=lines(20, f"hour{i}-")).ok()
        run("publish", "-q", "pub", "f").ok()
        if i == 1:
            continue
        said = run("fetch", "pub", "-o", "mine").ok()
        assert b"by 1 patch;" in said.err if i == 0 else b"by 2 patches;" in said.err
        assert bytes_read(said) < 2500
        assert (tmp_path / "mine").read_bytes() == (tmp_path / "f").read_bytes()
    said = run("fetch", "pub", "-o", "mine").ok()
    assert b"number 4, which was here already; read " in said.err and bytes_read(said) < 2000
    # One who was never here takes the whole; one who has another filter, too.
    run("build", "-q", "-o", "other", input=lines(5)).ok()
    assert b"by the whole filter" in run("fetch", "pub", "-o", "other").ok().err
    assert (tmp_path / "other").read_bytes() == (tmp_path / "f").read_bytes()


def test_patches_that_are_longer_than_the_filter_are_dropped(run, lines, tmp_path, published):
    for i in range(12):
        run("build", "-q", "--force", "-o", "f", "--kind", "bloom", "--capacity", 12_000, input=lines(10_000, f"x{i}")).ok()
        run("publish", "-q", "pub", "f").ok()
    now = manifest(tmp_path)
    assert sum(patch["bytes"] for patch in now["patches"]) < now["base"]["bytes"]
    assert len(list(published.iterdir())) <= 5


@pytest.mark.parametrize("kind", kinds_that())
def test_layers_of_every_kind_answer_as_one_filter(run, info, lines, tmp_path, kind):
    run("build", "-q", "-o", "f", "--kind", kind, "--fpr", "1%", "--hash", "xxh3", input=lines(5000)).ok()
    run("publish", "-q", "pub", "f").ok()
    for i in range(3):
        run("publish", "-q", "pub", "--layer", "-", input=lines(300, f"layer{i}-")).ok()
    said = run("fetch", "pub", "-o", "mine").ok()
    assert b"by the whole filter and 3 layers" in said.err
    members = lines(5000) + lines(300, "layer0-") + lines(300, "layer2-")
    assert run("check", "mine", input=members).ok().out == members
    base, mine = info("f"), info("mine")
    # Keys with equal places count once.
    assert mine["layers"] == 3 and 890 <= mine["layer_keys"] <= 900
    assert 0.0005 < mine["current_fpr"] - base["current_fpr"] < 0.0009
    others = lines(100_000, "other")
    hits = [int(run("check", "-c", name, input=others).out) for name in ("f", "mine")]
    # 75 more are expected, with a deviation of 9.
    assert 25 < hits[1] - hits[0] < 130
    run("verify", "mine").ok()
    if kind in kinds_that("insert"):
        run("add", "mine", input=b"x\n").refused("mine: the filter has layers of keys that were added after it was published")


def test_a_layer_costs_14_bits_per_key(run, lines, tmp_path, published):
    for keys, most in ((100, 17), (1000, 14), (10_000, 14)):
        run("build", "-q", "--force", "-o", "f", "--capacity", 1_000_000, "--fpr", "1%", input=lines(10)).ok()
        run("publish", "-q", f"pub{keys}", "f").ok()
        run("publish", "-q", f"pub{keys}", "--layer", "-", input=lines(keys, "new")).ok()
        layer = manifest(tmp_path, f"pub{keys}")["layers"][0]
        assert layer["keys"] == keys and 8 * layer["bytes"] <= most * keys


@pytest.mark.parametrize("kind", kinds_that())
def test_removed_keys_get_no_with_every_kind(run, info, lines, tmp_path, kind):
    run("build", "-q", "-o", "f", "--kind", kind, "--fpr", "1%", "--hash", "xxh3", input=lines(5000)).ok()
    run("publish", "-q", "pub", "f").ok()
    run("publish", "-q", "pub", "--layer", "-", input=lines(300, "layer")).ok()
    run("fetch", "-q", "pub", "-o", "mine").ok()
    before = manifest(tmp_path)
    gone = lines(20) + lines(20, "layer")
    said = run("publish", "pub", "--removed", "-", input=gone).ok()
    assert b"number 3, 40 keys removed, 40 exceptions of at most 4,096, by a patch of " in said.err
    now = manifest(tmp_path)
    # The layers stay as they are, and a removed key costs its hash.
    assert now["layers"] == before["layers"] and now["patches"][-1]["bytes"] < 40 * 9 + 160
    said = run("fetch", "pub", "-o", "mine").ok()
    assert b"number 3, by 1 patch; " in said.err
    assert run("check", "mine", input=gone).code == 1
    stay = lines(4980, start=20) + lines(280, "layer", start=20)
    assert run("check", "mine", input=stay).ok().out == stay
    assert info("mine")["exceptions"] == 40
    # A key that is added again is a member again.
    again = lines(1) + lines(1, "layer")
    said = run("publish", "pub", "--layer", "-", "--removed", "late", input=again)
    assert said.code == 2  # there is no such file
    (tmp_path / "late").write_bytes(lines(1, start=100))
    run("publish", "-q", "pub", "--layer", "-", "--removed", "late", input=again).ok()
    run("fetch", "-q", "pub", "-o", "mine").ok()
    assert run("check", "mine", input=again).ok().out == again
    assert run("check", "mine", input=lines(1, start=100) + lines(1, start=1)).code == 1
    run("verify", "mine").ok()


def test_removed_keys_that_nobody_had_cost_nothing(run, lines, tmp_path, published):
    said = run("publish", "pub", "--removed", "-", input=lines(3, "never")).ok()
    assert b"0 keys removed, 0 exceptions of at most 4,096" in said.err
    assert manifest(tmp_path)["patches"] == []


def test_more_removed_keys_than_exceptions_want_a_new_base(run, lines, tmp_path, published):
    many = lines(5000)
    run("publish", "pub", "--removed", "-", input=many).refused("pub: there would be more than 4,096 exceptions; give the whole filter")
    assert manifest(tmp_path)["sequence"] == 1
    run("build", "-q", "--force", "-o", "f", "--capacity", 12_000, input=lines(5000, start=5000)).ok()
    said = run("publish", "pub", "f", "--removed", "-", input=many).ok()
    assert b"a new base, because there would be more than 4,096 exceptions; " in said.err
    run("fetch", "-q", "pub", "-o", "mine").ok()
    assert (tmp_path / "mine").read_bytes() == (tmp_path / "f").read_bytes()


def test_a_key_is_added_or_removed(run, lines, tmp_path, published):
    (tmp_path / "some").write_bytes(lines(10, "new"))
    run("publish", "pub", "--layer", "some", "--removed", "some").refused("--layer and --removed name the same file")
    run("publish", "pub", "--layer", "some", "--removed", "-", input=lines(2, "new")).refused("--removed: 2 keys are also in --layer")
    run("publish", "empty", "--removed", "some").refused("empty: there is no base yet")
    assert manifest(tmp_path)["sequence"] == 1


def test_kinds_that_erase_remove_keys_in_the_filter(run, lines, tmp_path):
    run("build", "-q", "-o", "f", "--kind", "cuckoo", "--capacity", 12_000, input=lines(10_000)).ok()
    run("publish", "-q", "pub", "f").ok()
    run("fetch", "-q", "pub", "-o", "mine").ok()
    run("remove", "-q", "f", input=lines(30)).ok()
    run("publish", "-q", "pub", "f").ok()
    assert b"by 1 patch; " in run("fetch", "pub", "-o", "mine").ok().err
    assert (tmp_path / "mine").read_bytes() == (tmp_path / "f").read_bytes()


def test_layers_fold_when_the_rate_is_spent_and_say_why(run, lines, tmp_path, published):
    run("fetch", "-q", "pub", "-o", "mine").ok()
    for i in range(100):
        run("add", "-q", "f", input=lines(10, f"h{i}-")).ok()
        said = run("publish", "pub", "f", "--fpr", "1.1%", "--layer", "-", input=lines(10, f"h{i}-")).ok()
        if b"a new base, because with " in said.err:
            break
    assert re.search(rb"because with \d+ layers the rate would be 1\.1\d+%, above 1\.10%; [\d.]+ kB, by a patch of ", said.err)
    assert manifest(tmp_path)["layers"] == []
    assert b"by 1 patch;" in run("fetch", "pub", "-o", "mine").ok().err
    assert (tmp_path / "mine").read_bytes() == (tmp_path / "f").read_bytes()
    refused = run("publish", "pub", "--fpr", "0.1%", "--layer", "-", input=b"x\n").refused("above 0.100%")
    assert "give the whole filter, which replaces base and layers" in refused
    big = lines(4000, "big")
    run("publish", "pub", "--fpr", "50%", "--layer-fpr", "1e-9", "--layer", "-", input=big).refused("more than half of the base's")


def test_layers_use_the_reader_and_the_secret_key_of_the_base(run, tmp_path, secret):
    (tmp_path / "a.csv").write_bytes(b"1;ann\n2;bob\n")
    run("build", "-q", "-o", "f", "--keys", "fields:2,;", "--key-file", "members.key", "a.csv").ok()
    run("publish", "-q", "pub", "f").ok()
    run("publish", "pub", "--layer", "-", input=b"9;carol\n").refused("secret key")
    run("publish", "-q", "pub", "--key-file", "members.key", "--layer", "-", input=b"9;carol\n").ok()
    run("fetch", "-q", "pub", "-o", "mine").ok()
    assert run("check", "--key-file", "members.key", "mine", input=b"7;carol\n7;dave\n").out == b"7;carol\n"


def test_filters_that_cannot_have_layers_are_named(run, lines, tmp_path, published):
    (tmp_path / "one").write_bytes(b"a\t1\n")
    run("build", "-q", "-o", "wide", "--hash", "xxh3-2x64", input=lines(10)).ok()
    run("publish", "-q", "wide.pub", "wide").ok()
    run("publish", "wide.pub", "--layer", "-", input=b"x\n").refused("--layer and --removed need keys with hashes of 64 bits")
    (tmp_path / "all").write_bytes(b"a\t1\na\t2\nb\t1\n")
    run("build", "-q", "-o", "parts", "--kind", "exact", "--universe", "all", "--partition", "fields:1", "--keys", "fields:2",
        "one").ok()
    run("publish", "-q", "parts.pub", "parts").ok()
    run("publish", "parts.pub", "--layer", "-", input=b"a\t3\n").refused("this filter has 128 bits or partitions")
    run("fetch", "parts.pub", "-o", "-").refused("-o -: fetch keeps the manifest beside the filter")
    run("publish", "empty", "--layer", "-", input=b"x\n").refused("empty: there is no base yet")
    run("publish", "pub").refused("there is nothing to publish")
    run("publish", "pub", "--layer", "-").refused("--layer: there is no key")
    run("publish", "pub", "f", "--valid-for", "soon").refused("--valid-for: 'soon' is not a time")
    run("publish", "-q", "pub", "--layer", "-", input=b"x\n").ok()
    run("fetch", "-q", "pub", "-o", "mine").ok()
    run("publish", "pub", "mine").refused("mine: the filter has layers already")
    for verb in (("merge", "-o", "x", "mine", "f"), ("fold", "-o", "x", "--factor", 2, "mine"), ("except", "mine"), ("remove", "mine"),
                 ("dedup", "--filter", "mine")):
        done = run(*verb, input=b"y\n")
        assert done.code == 2 or verb[0] == "dedup", verb


def test_an_older_manifest_is_refused(run, lines, tmp_path, published):
    old = contents(published)
    run("publish", "-q", "pub", "--layer", "-", input=lines(10, "a")).ok()
    run("fetch", "-q", "pub", "-o", "mine").ok()
    before = (tmp_path / "mine").read_bytes()
    now = contents(published)
    for name, data in old.items():
        (published / name).write_bytes(data)
    run("fetch", "pub", "-o", "mine").refused("it has the number 1, but 2 was here already; an old publication")
    (published / "manifest.json").write_bytes(now["manifest.json"].replace(b'"keys":10', b'"keys":11'))
    run("fetch", "pub", "-o", "mine").refused("it has the number 2 of the one that was here, but other content")
    assert (tmp_path / "mine").read_bytes() == before


def test_an_expired_manifest_is_refused(run, tmp_path, published):
    text = (published / "manifest.json").read_text()
    (published / "manifest.json").write_text(text.replace('"max_fpr"', '"valid_until":"2020-01-01T00:00:00Z","max_fpr"'))
    run("fetch", "pub", "-o", "mine").refused("it was valid until 2020-01-01T00:00:00Z")
    assert not (tmp_path / "mine").exists()


def test_hostile_folders_change_nothing(run, lines, tmp_path, published):
    run("add", "-q", "f", input=lines(30, "new")).ok()
    run("fetch", "-q", "pub", "-o", "mine").ok()
    run("publish", "-q", "pub", "f").ok()
    run("publish", "-q", "pub", "--layer", "-", input=lines(30, "more")).ok()
    good = contents(published)
    before = (tmp_path / "mine").read_bytes()
    chance = random.Random(7)

    def expect_refused(*sentences):
        run("fetch", "pub", "-o", "mine").refused(*sentences)
        assert (tmp_path / "mine").read_bytes() == before

    for name in [name for name in good if name.endswith((".patch", ".layer"))]:
        data = good[name]
        for bad in (data[:-1], b"", bytes([data[0] ^ 1]) + data[1:], data[:40] + bytes([data[40] ^ 4]) + data[41:]):
            (published / name).write_bytes(bad)
            expect_refused(f"{name}: the file is not the one that the manifest names")
        (published / name).unlink()
        expect_refused(name)
        (published / name).write_bytes(data)
    parsed = json.loads(good["manifest.json"])
    for change in ({"format": "bloomset-manifest-9"}, {"sequence": 0}, {"sequence": "7"}, {"base": None}, {"base": []},
                   {"patches": [{}]}, {"patches": {}}, {"layers": [1]}, {"published": "today"}, {"labels": {"a": 1}},
                   {"max_fpr": 7}, {"base": {**parsed["base"], "file": "../f"}}, {"base": {**parsed["base"], "sha256": "0"}},
                   {"base": {**parsed["base"], "bytes": 2**60}}, {"base": {**parsed["base"], "bytes": -1}},
                   {"patches": [{**parsed["patches"][0], "from": "../../etc/passwd"}]}):
        (published / "manifest.json").write_text(json.dumps({**parsed, **change}))
        expect_refused("manifest.json: ")
    for text in (b"", b"[]", b"{", b"{" * 100_000, b"[" * 100_000, b"\xff", good["manifest.json"] + b" " * 2_000_000):
        (published / "manifest.json").write_bytes(text)
        expect_refused("manifest.json: ")
    for _ in range(60):
        text = bytearray(good["manifest.json"])
        text[chance.randrange(len(text))] ^= 1 << chance.randrange(7)
        (published / "manifest.json").write_bytes(text)
        done = run("fetch", "pub", "-o", "mine")
        if done.code != 0:
            expect_refused()
        else:  # such as another time or label
            assert run("check", "-q", "mine", input=b"more3@example.com\n").code == 0
            (tmp_path / "mine").write_bytes(before)
            os.unlink(tmp_path / "mine.manifest.json")
    (published / "manifest.json").write_bytes(good["manifest.json"])
    (tmp_path / "text").write_text("do not lose this")
    run("fetch", "pub", "-o", "text").refused("text: this is not a filter, and would be replaced")
    run("fetch", "missing", "-o", "x").refused("missing: this is not a folder")
    run("fetch", "pub", "-o", "mine").ok()


def test_a_damaged_file_is_replaced(run, tmp_path, published):
    run("fetch", "-q", "pub", "-o", "mine").ok()
    data = bytearray((tmp_path / "mine").read_bytes())
    data[-1] ^= 1
    (tmp_path / "mine").write_bytes(data)
    assert b"by the whole filter" in run("fetch", "pub", "-o", "mine").ok().err
    assert (tmp_path / "mine").read_bytes() == (tmp_path / "f").read_bytes()


@pytest.mark.skipif(not LIMITED, reason="sanitizers find nothing in what a killed process leaves")
def test_killed_publishers_and_followers_leave_the_old_or_the_new(run, lines, tmp_path, bloomset):
    """The folder is whole at every moment: whoever fetches from it gets one of the publications."""
    run("build", "-q", "-o", "f0", "--kind", "bloom", "--capacity", "1M", input=lines(1000)).ok()
    run("build", "-q", "-o", "f1", "--kind", "bloom", "--capacity", "1M", input=lines(2000)).ok()
    whole = {(tmp_path / name).read_bytes(): name for name in ("f0", "f1")}
    run("publish", "-q", "pub", "f0").ok()
    begin = time.monotonic()
    run("publish", "-q", "pub", "f1").ok()
    took = time.monotonic() - begin
    seen = set()
    for i in range(300):
        if i >= 24 and len(seen) == 2:
            break
        process = subprocess.Popen([bloomset, "publish", "-q", "pub", f"f{i % 2}"], cwd=tmp_path)
        time.sleep(took * (i + 1) / 16)
        process.send_signal(signal.SIGKILL)
        seen.add(process.wait())
        run("fetch", "-q", "pub", "-o", "mine").ok()
        assert (tmp_path / "mine").read_bytes() in whole
    assert seen == {0, -signal.SIGKILL}
    for i in range(16):
        run("publish", "-q", "pub", f"f{i % 2}").ok()
        process = subprocess.Popen([bloomset, "fetch", "-q", "pub", "-o", "mine"], cwd=tmp_path)
        time.sleep(took * (i + 1) / 12)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (tmp_path / "mine").read_bytes() in whole
    run("fetch", "-q", "pub", "-o", "mine").ok()
    assert whole[(tmp_path / "mine").read_bytes()] == "f1"


def test_a_reader_of_the_manifest_before_still_finds_its_files(run, lines, tmp_path, published):
    before = manifest(tmp_path)
    run("add", "-q", "f", input=lines(30, "new")).ok()
    run("publish", "-q", "pub", "f").ok()
    assert before["base"]["file"] in contents(published)
    run("add", "-q", "f", input=lines(30, "newer")).ok()
    run("publish", "-q", "pub", "f").ok()
    assert before["base"]["file"] not in contents(published)


def test_files_of_the_user_stay_in_the_folder(run, lines, tmp_path, published):
    others = ["2026-11-27.bloom", "a.bloom", "feed.layer", "dead-beef.patch", "0123456789abcdef.txt", "0123456789abcdef0.bloom"]
    for name in others:
        (published / name).write_bytes(b"mine")
    for i in range(3):
        run("add", "-q", "f", input=lines(30, f"new{i}-")).ok()
        run("publish", "-q", "pub", "f").ok()
    assert [(published / name).read_bytes() for name in others] == [b"mine"] * len(others)


def test_the_validity_is_renewed_alone(run, lines, tmp_path, published):
    run("publish", "-q", "pub", "--layer", "-", "--valid-for", "1h", input=lines(10, "new")).ok()
    before = manifest(tmp_path)
    said = run("publish", "pub", "--valid-for", "2d").ok()
    after = manifest(tmp_path)
    assert said.err == f"pub: number {before['sequence'] + 1}, valid until {after['valid_until']}\n".encode()
    assert after["valid_until"] > before["valid_until"]
    changed = ("sequence", "published", "valid_until")
    assert {k: v for k, v in after.items() if k not in changed} == {k: v for k, v in before.items() if k not in changed}
    run("publish", "empty", "--valid-for", "2h").refused("empty: there is no base yet")


def test_a_new_base_reads_the_keys_with_its_own_reader(run, lines, tmp_path):
    (tmp_path / "old").write_bytes(b"".join(b"user%d@Example.com\n" % i for i in range(2000)))
    (tmp_path / "new").write_bytes(b"".join(b"new%d@Example.com\n" % i for i in range(10)))
    run("build", "-q", "-o", "plain", "--capacity", "3000", "old").ok()
    run("publish", "-q", "pub", "plain").ok()
    for i, seed in enumerate(((), ("--seed", "7"))):
        run("build", "-q", "-o", f"mail{i}", "--keys", "email", "--capacity", "3000", *seed, "old", "new").ok()
        said = run("publish", "--strict", "pub", f"mail{i}", "--layer", "new", "--fpr", "0.1%").ok()
        assert b"a new base" in said.err and b"reader" not in said.err
        run("publish", "-q", "pub", "plain").ok()


def test_a_base_that_would_lose_members_is_refused(run, lines, tmp_path, published):
    (tmp_path / "new").write_bytes(lines(10, "new"))
    run("publish", "first", "f", "--layer", "new").refused("f: it becomes the base, and lacks 10 keys of --layer; add them to it first")
    assert not (tmp_path / "first" / "manifest.json").exists()
    run("publish", "-q", "pub", "--layer", "new").ok()
    run("publish", "pub", "f").refused("f: this is the present base, which lacks the keys of 1 layer; add them to it first")
    # The same if the rate wants a new base, also for keys that come from a stream.
    for given in ({}, {"input": lines(10, "newer")}):
        said = run("publish", "pub", "f", "--fpr", "0.1%", "--layer", "-" if given else "new", **given)
        assert said.code == 2 and b"f: this is the present base" in said.err
    run("add", "-q", "f", "new").ok()
    run("publish", "pub", "f", "--fpr", "0.1%", "--layer", "-", input=lines(10, "newer")).refused("lacks 10 keys of --layer")
    assert manifest(tmp_path)["sequence"] == 2
    run("add", "-q", "f", input=lines(10, "newer")).ok()
    said = run("publish", "pub", "f", "--fpr", "0.1%", "--layer", "-", input=lines(10, "newer")).ok()
    assert b"number 3, a new base, because with 2 layers the rate would be " in said.err
    # A filter with another hash function needs the keys once more, which a stream does not give.
    run("build", "-q", "--force", "-o", "f", "--seed", "7", "--capacity", 12_000, input=lines(10_000) + lines(10, "last")).ok()
    run("publish", "pub", "f", "--fpr", "0.1%", "--layer", "-", input=lines(10, "last")).refused("so the keys are needed twice")
    (tmp_path / "last").write_bytes(lines(10, "last"))
    run("publish", "-q", "pub", "f", "--fpr", "0.1%", "--layer", "last").ok()


def test_a_base_with_removed_keys_is_told(run, lines, tmp_path, published):
    (tmp_path / "gone").write_bytes(lines(4))
    said = run("publish", "first", "f", "--removed", "gone").ok()
    assert b"f: it becomes the base, and answers yes for 4 of the 4 keys of --removed; 'bloomset except'" in said.err
    run("except", "-q", "f", "gone").ok()
    assert b"it becomes the base" not in run("publish", "second", "f", "--removed", "gone").ok().err
    run("publish", "third", "f", "--removed", "missing").refused("missing")
    run("publish", "third", "f", "--layer-fpr", "often").refused("--layer-fpr: ")


def test_the_folder_comes_first(run, tmp_path, published):
    run("publish", "f", "pub").refused("f: this is not a folder; name the folder first, and then the filter")
    run("publish", "missing/pub", "f").refused("missing/pub: the folder cannot be created; name one in a folder that exists")


def test_a_layer_that_is_published_twice_is_fetched_once(run, lines, tmp_path, published):
    for name in ("a", "b", "a"):
        run("publish", "-q", "pub", "--layer", "-", input=lines(20, name)).ok()
    run("fetch", "-q", "pub", "-o", "mine").ok()
    before = (tmp_path / "mine").stat().st_ino
    assert b"which was here already" in run("fetch", "pub", "-o", "mine").ok().err
    assert (tmp_path / "mine").stat().st_ino == before
    # The same number of layers, but others.
    now = manifest(tmp_path)
    now["layers"][1] = now["layers"][0]
    now["sequence"] += 1
    (published / "manifest.json").write_text(json.dumps(now))
    run("fetch", "-q", "pub", "-o", "mine").ok()
    run("fetch", "-q", "pub", "-o", "fresh").ok()
    assert (tmp_path / "mine").read_bytes() == (tmp_path / "fresh").read_bytes()


def test_readers_can_read_as_many_layers_as_are_published(run, lines, tmp_path):
    run("build", "-q", "-o", "f", "--capacity", "1M", input=lines(10)).ok()
    run("publish", "-q", "pub", "f").ok()
    run("publish", "-q", "pub", "--layer", "-", input=b"x\n").ok()
    now = manifest(tmp_path)
    now["layers"] *= 4096
    (tmp_path / "pub" / "manifest.json").write_text(json.dumps(now))
    run("publish", "pub", "--layer", "-", input=b"y\n").refused("pub: there would be more than 4,096 layers; give the whole filter")
    run("fetch", "-q", "pub", "-o", "mine").ok()
    assert run("check", "mine", input=b"x\n").ok().out == b"x\n"
    run("add", "-q", "f", input=b"x\ny\n").ok()
    assert b"a new base, because there would be more than 4,096 layers; " in run(
        "publish", "pub", "f", "--layer", "-", input=b"y\n").ok().err
