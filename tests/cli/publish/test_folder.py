"""A folder of `bloomset publish` is given where a filter is: base, layers and removed keys answer as one."""

import json
import time

import pytest


@pytest.fixture
def published(run, lines, tmp_path):
    """The folder pub with 10,000 keys in its base and 100 in a layer."""
    run("build", "-q", "-o", "f", "--kind", "bloom", "--label", "source=test", input=lines(10_000)).ok()
    run("publish", "-q", "pub", "f").ok()
    run("publish", "-q", "pub", "--layer", "-", input=lines(100, "layer")).ok()
    return tmp_path / "pub"


def test_it_is_one_filter(run, info, lines, tmp_path, published):
    run("fetch", "-q", "pub", "-o", "mine").ok()
    keys = lines(10_000) + lines(100, "layer") + lines(20_000, "other")
    assert run("check", "pub", input=keys).out == run("check", "mine", input=keys).out
    assert {**info("pub"), "file": "mine"} == info("mine") and info("pub")["layers"] == 1
    run("verify", "pub").ok()
    assert run("check", "pub/manifest.json", input=b"x\n").code == 2
    # A copy of the folder, as another program mirrors it.
    (tmp_path / "copy").mkdir()
    for path in published.iterdir():
        (tmp_path / "copy" / path.name).write_bytes(path.read_bytes())
    assert run("check", "copy", input=keys).out == run("check", "mine", input=keys).out


def test_secret_keys_are_those_of_the_base(run, tmp_path, secret):
    run("build", "-q", "-o", "f", "--key-file", "members.key", input=b"ann\n").ok()
    run("publish", "-q", "pub", "--key-file", "members.key", "f").ok()
    run("publish", "-q", "pub", "--key-file", "members.key", "--layer", "-", input=b"bob\n").ok()
    run("check", "pub", input=b"bob\n").refused("secret key")
    assert run("check", "--key-file", "members.key", "pub", input=b"bob\ncarol\n").out == b"bob\n"


def test_it_is_only_queried(run, published):
    for verb in ("add", "remove", "except"):
        run(verb, "pub", input=b"x\n").refused("pub: this is a folder", "bloomset publish")


def test_folders_that_are_none_are_refused(run, lines, tmp_path, published):
    (tmp_path / "empty").mkdir()
    run("check", "empty", input=b"x\n").refused("empty: this is a folder without manifest.json; give a filter file, or a folder")
    good = json.loads((published / "manifest.json").read_text())
    base, layer = good["base"]["file"], good["layers"][0]["file"]

    def refused_with(text, *sentences):
        (published / "manifest.json").write_text(text if isinstance(text, str) else json.dumps(text))
        for verb in ("check", "info"):
            run(verb, "pub", input=b"x\n").refused(*sentences)

    for text in ("", "{", "[]", "null", "[" * 100_000, '{"a":' * 100_000, json.dumps(good)[:-1], json.dumps(good) + "x",
                 json.dumps(good) + " " * 2_000_000, {**good, "base": base}, {**good, "base": {}}, {**good, "layers": {}},
                 {**good, "layers": [layer]}, {**good, "base": {**good["base"], "file": "../f"}},
                 {**good, "base": {**good["base"], "file": "/etc/passwd"}}, {**good, "base": {**good["base"], "file": ""}},
                 {**good, "layers": [{"file": layer}] * 5000}):
        refused_with(text, "pub/manifest.json: this is not a manifest; give a folder")
    refused_with({**good, "format": "bloomset-manifest-9"}, "its format is not bloomset-manifest-1")
    refused_with({**good, "valid_until": "2020-01-01T00:00:00Z"}, "it was valid until 2020-01-01T00:00:00Z")
    refused_with({**good, "layers": [{**good["layers"][0], "file": "gone.layer"}]}, "pub/gone.layer: ")
    refused_with({**good, "layers": [{**good["layers"][0], "file": base}]}, "pub/manifest.json: ")
    refused_with({**good, "base": {**good["base"], "file": layer}}, f"pub/{layer}: this is not a Bloomset filter")
    later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
    (published / "manifest.json").write_text(json.dumps({"other \\ \" }": [{"a": "]"}], **good, "valid_until": later}, indent=2))
    assert run("check", "pub", input=lines(1, "layer")).ok().out == lines(1, "layer")
    # Layers of another base, and damage in any file, by the checksums of the files.
    run("build", "-q", "-o", "g", "--kind", "bloom", input=lines(9000)).ok()
    refused_with({**good, "base": {**good["base"], "file": base}, "layers": good["layers"] * 2 + [{**good["layers"][0], "file": "none.layer"}]},
                 "pub/none.layer: ")
    (published / "other.bloom").write_bytes((tmp_path / "g").read_bytes())
    refused_with({**good, "base": {**good["base"], "file": "other.bloom"}}, "pub/manifest.json: a layer belongs to another filter")
    (published / "manifest.json").write_text(json.dumps(good))
    for name in (base, layer):
        whole = (published / name).read_bytes()
        for at in range(0, len(whole), max(1, len(whole) // 40)):
            (published / name).write_bytes(whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1:])
            run("check", "pub", input=b"x\n").refused("pub/")
        (published / name).write_bytes(whole)
    run("fetch", "-q", "pub", "-o", "layered").ok()
    (published / base).write_bytes((tmp_path / "layered").read_bytes())
    run("check", "pub", input=b"x\n").refused(f"pub/{base}: a base has no layers of its own")
