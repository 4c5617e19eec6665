"""Secret keys: `bloomset key`, --key-file, --hash and the variable BLOOMSET_KEY."""

import stat

import pytest


@pytest.fixture
def keyed(run, secret, lines):
    run("build", "-o", "members.bloom", "--key-file", secret, "--capacity", 1000, input=lines(1000)).ok()
    return secret.read_text().strip()


def test_a_new_key_is_the_owners_alone_and_never_replaced(run, secret):
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    text = secret.read_text()
    assert len(text) == 33 and int(text, 16) >= 0
    run("key", "new", "members.key").refused("members.key", "exists")
    assert secret.read_text() == text
    run("key", "new", "other.key").ok()
    assert (secret.parent / "other.key").read_text() != text


def test_members_are_found_with_the_key_from_the_file_or_the_variable(run, keyed, lines):
    with_file = run("check", "-c", "--key-file", "members.key", "members.bloom", input=lines(1000)).ok()
    assert with_file.out == b"1000\n"
    with_variable = run("check", "-c", "members.bloom", input=lines(1000), env={"BLOOMSET_KEY": keyed}).ok()
    assert with_variable.out == b"1000\n"


def test_the_variable_replaces_the_file_in_every_verb(run, info, keyed, lines, tmp_path):
    """A filter that is built with the variable is the one that is built with the file."""
    key = {"BLOOMSET_KEY": keyed}
    run("build", "-o", "same.bloom", "--capacity", 1000, input=lines(1000), env=key).ok()
    assert (tmp_path / "same.bloom").read_bytes() == (tmp_path / "members.bloom").read_bytes()
    run("build", "-o", "wide.bloom", "--hash", "siphash-2x64", input=lines(10), env=key).ok()
    assert info("wide.bloom")["hash"] == "siphash-2x64"
    run("add", "same.bloom", input=b"more\n", env=key).ok()
    run("merge", "-o", "both.bloom", "same.bloom", "members.bloom", env=key).ok()
    run("fold", "-o", "small.bloom", "--fpr", "50%", "both.bloom", env=key).ok()
    assert run("check", "-c", "small.bloom", input=lines(1000) + b"more\n", env=key).ok().out == b"1001\n"
    # --hash says that there is no key.
    run("build", "-o", "open.bloom", "--hash", "xxh3", "--seed", 3, input=lines(10), env=key).ok()
    assert info("open.bloom")["seed"] == 3
    run("build", "-o", "f", "--seed", 3, input=lines(10), env=key).refused("--seed", "the variable BLOOMSET_KEY")


@pytest.mark.parametrize("args", [("build", "-o", "f"), ("plan", "--capacity", 10), ("dedup",), ("check", "members.bloom"),
                                  ("add", "members.bloom"), ("merge", "-o", "f", "members.bloom", "members.bloom"),
                                  ("fold", "-o", "f", "--fpr", "50%", "members.bloom")], ids=str)
@pytest.mark.parametrize("value", ["", "nonsense"])
def test_a_variable_without_a_key_in_it_is_an_error_in_every_verb(run, keyed, tmp_path, args, value):
    refused = run(*args, input=b"x\n", env={"BLOOMSET_KEY": value}).refused("the variable BLOOMSET_KEY does not hold a key")
    assert "nonsense" not in refused and not (tmp_path / "f").exists()


@pytest.mark.parametrize("value", ["nonsense", "0" * 32])
def test_a_verb_that_needs_no_key_does_not_read_the_variable(run, keyed, value):
    for verb in ("info", "verify"):
        assert run(verb, "members.bloom", env={"BLOOMSET_KEY": value}).ok().out == run(verb, "members.bloom").ok().out


@pytest.mark.parametrize("mode, may", [(0o600, None), (0o400, None), (0o640, "read"), (0o604, "read"), (0o620, "change"),
                                       (0o666, "change")])
def test_a_key_file_that_others_may_use_is_said(run, secret, keyed, lines, mode, may):
    secret.chmod(mode)
    done = run("check", "-c", "--key-file", "members.key", "members.bloom", input=lines(1)).ok()
    if may is None:
        assert done.err == b""
    else:
        assert f"members.key: other users may {may} this secret key".encode() in done.err and done.err.count(b"\n") == 1


@pytest.mark.parametrize("verb", [["check", "members.bloom"], ["add", "members.bloom"], ["info", "members.bloom"],
                                  ["build", "-o", "other.bloom", "--force"], ["merge", "-o", "m", "--force", "members.bloom", "members.bloom"]],
                         ids=lambda verb: verb[0])
def test_no_secret_key_is_left_in_memory(run, keyed, lines, left_at_exit, verb):
    """Nor on the stacks of threads, which hash the blocks of long inputs."""
    for secret in (bytes.fromhex(keyed), keyed.encode()):
        for count in 3, 90_000:
            assert left_at_exit(secret, lambda n=count: run(*verb, "--key-file", "members.key", input=lines(n)).ok()) == 0


@pytest.mark.parametrize("verb", [("check",), ("count",), ("add",)])
def test_without_the_key_or_with_another_nothing_is_answered(run, keyed, verb):
    run("key", "new", "other.key").ok()
    before = run("verify", "members.bloom").ok().out
    run(*verb, "members.bloom", input=b"x\n").refused("members.bloom", "secret key", "give the key")
    run(*verb, "--key-file", "other.key", "members.bloom", input=b"x\n").refused("another secret key")
    assert run("verify", "members.bloom").ok().out == before


@pytest.mark.parametrize("name", ["siphash", "siphash-2x64"])
def test_info_needs_no_key_but_refuses_another(run, secret, lines, name):
    run("build", "-o", "members.bloom", "--hash", name, "--key-file", secret, "--capacity", 1000,
        input=lines(1000)).ok()
    for format in [], ["--json"]:
        assert run("info", *format, "members.bloom").ok().out == run(
            "info", *format, "--key-file", "members.key", "members.bloom").ok().out
    run("key", "new", "other.key").ok()
    run("info", "--key-file", "other.key", "members.bloom").refused("another secret key")
    run("build", "-q", "-o", "plain.bloom", input=lines(10)).ok()
    run("build", "-q", "-o", "f.dcso", "--format", "dcso", "--capacity", 10, input=lines(10)).ok()
    for name in "plain.bloom", "f.dcso":
        run("info", "--key-file", "members.key", name).refused(f"{name}: its keys are hashed without a secret key")


@pytest.mark.parametrize("args", [("build", "-o", "f.bloom", "--key-file", ""), ("fold", "-o", "f", "--fpr", "", "g"),
                                  ("dedup", "--capacity", "")], ids=str)
def test_an_empty_value_is_not_taken_for_a_missing_option(run, args, tmp_path):
    """A script whose variable is not set must not make a filter without a key."""
    run(*args, input=b"x\n").refused("its value is empty")
    assert not (tmp_path / "f.bloom").exists()


def test_the_key_is_shown_nowhere_but_its_identifier_is(run, keyed):
    shown = run("info", "members.bloom", env={"BLOOMSET_KEY": keyed}).ok().out.decode()
    assert "siphash, key with identifier" in shown
    assert keyed not in shown
    assert bytes.fromhex(keyed) not in (run("verify", "members.bloom").ok().out)


@pytest.mark.parametrize("arguments, sentence", [
    (["--hash", "siphash"], "needs a secret key"),
    (["--hash", "xxh3", "--key-file", "members.key"], "takes no secret key"),
    (["--seed", 3, "--key-file", "members.key"], "leave --seed out"),
    (["--hash", "md5"], "--hash"),
    (["--key-file", "absent.key"], "cannot read absent.key"),
    (["--key-file", "short.key"], "does not hold a key"),
    (["--format", "guava", "--capacity", 10, "--fpr", "1%", "--key-file", "members.key"], "fixes the hash function"),
])
def test_what_cannot_be_is_refused_in_a_sentence(run, secret, tmp_path, arguments, sentence):
    (tmp_path / "short.key").write_text("0123\n")
    refused = run("build", "-o", "f.bloom", *arguments, input=b"a\n").refused(sentence)
    assert "0123" not in refused
    assert not (tmp_path / "f.bloom").exists()


def test_filters_of_one_key_merge_and_of_two_do_not(run, secret, lines):
    for name, key, first in (("a", "members.key", 0), ("b", "members.key", 500)):
        run("build", "-o", name, "--kind", "bloom", "--capacity", 2000, "--fpr", "1%", "--key-file", key,
            input=lines(500, start=first)).ok()
    run("build", "-o", "c", "--kind", "bloom", "--capacity", 2000, "--fpr", "1%", input=lines(10)).ok()
    run("merge", "-o", "ab", "--key-file", secret, "a", "b").ok()
    assert run("check", "-c", "--key-file", secret, "ab", input=lines(1000)).ok().out == b"1000\n"
    run("merge", "-o", "ac", "--key-file", secret, "a", "c").refused("differ in seed")
