"""The crate for Rust: its own tests, a program that uses it, and what cargo packs."""

import subprocess
import tarfile

import pytest
from conftest import BLOOMSET, missing

WORDS = """
fn main() -> Result<(), bloomset::Error> {
    let words = bloomset::Filter::open("words.bloom")?;
    println!("{} {:?}", words.contains("ann"), words.contains_many(["cid", "dan"]));
    let error = bloomset::Filter::open("main.rs").unwrap_err();
    println!("{error}");
    Ok(())
}
"""


@pytest.fixture
def crate(package):
    folder = package("rust", "cargo")
    done = subprocess.run(["cargo", "fetch", "--locked"], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        missing("cargo cannot fetch the packages in Cargo.lock: is its registry reachable, and Rust at least 1.73?", done.stderr)
    return folder


def test_its_own_tests(crate, run):
    said = run("cargo", "test", "--locked", "--offline", cwd=crate, timeout=900)
    assert "test result: ok. 6 passed; 0 failed; 0 ignored" in said, said[-4000:]
    assert "warning" not in run("cargo", "build", "--release", "--locked", "--offline", "--examples", cwd=crate)


def test_a_program_with_what_cargo_packs(crate, run, tmp_path):
    run("cargo", "package", "--locked", "--offline", "--no-verify", "--allow-dirty", "--quiet", cwd=crate)
    with tarfile.open(crate / "target" / "package" / "bloomset-0.1.0.crate") as packed:
        assert {"bloomset-0.1.0/LICENSE", "bloomset-0.1.0/README.md", "bloomset-0.1.0/src/lib.rs"} <= set(packed.getnames())
        assert not [name for name in packed.getnames() if "wasm" in name or "target" in name]
        packed.extractall(tmp_path)
    program = tmp_path / "program"
    (program / "src").mkdir(parents=True)
    (program / "Cargo.toml").write_text(
        '[package]\nname = "program"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\nbloomset = {path = "../bloomset-0.1.0"}\n')
    (program / "src" / "main.rs").write_text(WORDS)
    (program / "main.rs").write_text("a text that is longer than a header of 64 bytes, and that is no filter at all\n")
    subprocess.run([BLOOMSET, "build", "-q", "-o", program / "words.bloom"], input=b"ann\nbob\ncid\n", check=True)
    assert run("cargo", "run", "--offline", "--quiet", cwd=program) == (
        "true [true, false]\nmain.rs: this is not a Bloomset filter; give a file that Bloomset wrote\n")
