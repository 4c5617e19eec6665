"""The vector quotient filter on the command line: keys are inserted, erased and counted."""


def test_it_is_built_added_to_removed_from_and_told_of(run, info, lines, tmp_path):
    built = run("build", "-o", "f.bloom", "--kind", "vector_quotient", "--fpr", "1%",
                "--capacity", "12000", input=lines(10_000)).ok()
    assert built.err.startswith(b"f.bloom: 10,000 keys, ")
    run("add", "f.bloom", input=lines(2000, "later")).ok()
    assert run("check", "f.bloom", input=lines(10_000)).ok().out == lines(10_000)
    # Binomial, at most 200 of 20,000 with deviation 14: 7 of those above has a chance below 1e-8.
    non_members = run("check", "-c", "f.bloom", input=lines(20_000, "non-member"))
    assert 0 < int(non_members.out) <= 200 + 7 * 14
    found = info("f.bloom")
    assert (found["kind"], found["count"]) == ("vector_quotient", 12_000)
    assert set(found["can"]) == {"insert", "erase", "count", "merge"}
    assert 0.008 < found["current_fpr"] <= 0.0102
    assert (tmp_path / "f.bloom").stat().st_size * 8 < 10.1 * 12_000 + 8 * 512
    run("remove", "f.bloom", input=lines(10_000)).ok()
    assert info("f.bloom")["count"] == 2000
    assert run("check", "f.bloom", input=lines(2000, "later")).ok().out == lines(2000, "later")
    assert run("verify", "f.bloom").ok().out == b"f.bloom: ok\n"


def test_all_removed_is_the_empty_filter_again(run, lines, tmp_path):
    build = ("build", "-o", "f.bloom", "--kind", "vector_quotient", "--capacity", "1000")
    run(*build, input=b"").ok()
    empty = (tmp_path / "f.bloom").read_bytes()
    run("add", "f.bloom", input=lines(1000) + b"often\n" * 5000).ok()
    assert run("count", "f.bloom", input=b"often\n").ok().out == b"5000\toften\n"
    run("remove", "f.bloom", input=b"often\n" * 5000 + lines(1000)).ok()
    assert (tmp_path / "f.bloom").read_bytes() == empty


def test_its_size_is_that_of_distinct_keys_and_counts_are_kept(run, lines, tmp_path):
    run("build", "-o", "f.bloom", "--kind", "vector_quotient", input=lines(2000) * 50).ok()
    # 10 bits a key, 16 to 64 bytes for each that is there more than three times, and the header.
    assert (tmp_path / "f.bloom").stat().st_size < 2000 * (2 + 64) + 1000
    counts = run("count", "f.bloom", input=lines(2000)).ok().out.split(b"\n")[:-1]
    assert all(int(line.split(b"\t")[0]) >= 50 for line in counts)
    assert sum(line.startswith(b"50\t") for line in counts) > 1900
