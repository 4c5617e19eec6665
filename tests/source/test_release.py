"""scripts/release in a small repository, with replacements of the scripts that make packages."""

import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import urllib.parse

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "release"
CHANGELOG = """# Changelog

## 1.3.0 (not yet released)

- Later.

## 1.2.0 (2026-12-24)

- First.

### Library

- Second.

## 1.1.0 (2026-11-11)

- Earlier.
"""
CONTROL = """Source: bloomset
Build-Depends:
 cmake (>= 3.25),
 libxxhash-dev,
 zlib1g-dev,
Standards-Version: 4.6.2
"""
PROGRAM = '#!/bin/sh\necho "$2" >"$1"\n'
PACKAGES = '#!/bin/sh\nmkdir -p "$1" && echo package >"$1/$(basename "$0" .sh)"\n'


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A repository with one commit, whose version is 1.2.0."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ann")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ann@example.com")
    folder = tmp_path / "tree"
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(SCRIPT, folder / "scripts")
    for script in ("debian-arm64-packages.sh", "debian-packages.sh", "python-wheels.sh", "language-packages.sh", "static-binary.sh"):
        (folder / "scripts" / script).write_text(PROGRAM if script == "static-binary.sh" else PACKAGES)
        (folder / "scripts" / script).chmod(0o755)
    shutil.copy(SCRIPT.with_name("sbom"), folder / "scripts")
    (folder / "debian").mkdir()
    (folder / "debian" / "control").write_text(CONTROL)
    (folder / "CMakeLists.txt").write_text("project(bloomset VERSION 1.2.0 LANGUAGES CXX\n")
    (folder / "CHANGELOG.md").write_text(CHANGELOG)
    git(folder, "init", "--quiet")
    commit(folder)
    return folder


def git(folder, *args):
    subprocess.run(["git", "-C", folder, *args], check=True)


def commit(folder):
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "Change")


def release(tree, *args):
    return subprocess.run([tree / "scripts" / "release", *args], capture_output=True, text=True)


def test_what_a_release_has(tree, tmp_path):
    out = tmp_path / "out"
    done = release(tree, out)
    assert done.returncode == 0, done.stderr
    assert {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()} == {
        "NOTES.md", "SBOM.json", "SHA256SUMS", "bloomset-1.2.0.tar.gz", "debian/debian-arm64-packages", "debian/debian-packages",
        "languages/language-packages", "programs/bloomset-1.2.0-linux-aarch64", "programs/bloomset-1.2.0-linux-x86_64", "python/python-wheels"}
    assert (out / "NOTES.md").read_text() == "- First.\n\n### Library\n\n- Second.\n"
    assert done.stdout == (out / "SHA256SUMS").read_text() and len(done.stdout.splitlines()) == 9
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=out, check=True)
    with tarfile.open(out / "bloomset-1.2.0.tar.gz") as tar:
        assert sorted(member.name for member in tar if member.isfile()) == [
            "bloomset-1.2.0/CHANGELOG.md", "bloomset-1.2.0/CMakeLists.txt", "bloomset-1.2.0/debian/control",
            "bloomset-1.2.0/scripts/debian-arm64-packages.sh", "bloomset-1.2.0/scripts/debian-packages.sh",
            "bloomset-1.2.0/scripts/language-packages.sh", "bloomset-1.2.0/scripts/python-wheels.sh", "bloomset-1.2.0/scripts/release", "bloomset-1.2.0/scripts/sbom",
            "bloomset-1.2.0/scripts/static-binary.sh"]


def test_the_sbom_names_the_libraries_and_their_versions(tree, tmp_path):
    assert release(tree, tmp_path / "out").returncode == 0
    bom = json.loads((tmp_path / "out" / "SBOM.json").read_text())
    assert (bom["bomFormat"], bom["specVersion"], bom["metadata"]["component"]["version"]) == ("CycloneDX", "1.5", "1.2.0")
    assert [each["name"] for each in bom["components"]] == ["xxhash", "zlib"]
    version = subprocess.check_output(["dpkg-query", "-W", "-f", "${Version}", "libxxhash-dev"], text=True)
    assert bom["components"][0]["purl"] == f"pkg:deb/debian/libxxhash-dev@{urllib.parse.quote(version, safe=':')}"
    assert bom["dependencies"] == [{"ref": "bloomset", "dependsOn": ["libxxhash-dev", "zlib1g-dev"]}]


def test_the_sbom_names_what_the_wheels_and_the_page_contain(tree, tmp_path):
    (tree / "explorer").mkdir()
    packages = {"": {"version": "1"}, "node_modules/@a/b": {"version": "2"}, "node_modules/c": {"version": "3", "dev": True}}
    (tree / "explorer" / "package-lock.json").write_text(json.dumps({"packages": packages}))
    (tree / ".gitignore").write_text("/build-*/\n")
    commit(tree)
    for package in ("pip-9", "pybind11-4"):
        (tree / "build-wheels/tools/lib/python3.11/site-packages" / f"{package}.dist-info").mkdir(parents=True)
    assert release(tree, tmp_path / "out").returncode == 0
    bom = json.loads((tmp_path / "out" / "SBOM.json").read_text())
    assert [each["purl"] for each in bom["components"][2:]] == ["pkg:pypi/pybind11@4", "pkg:npm/%40a/b@2"]


def test_a_package_that_is_not_installed_has_no_sbom(tree, tmp_path):
    (tree / "debian" / "control").write_text(CONTROL.replace("zlib1g-dev", "no-such-library-dev"))
    commit(tree)
    done = release(tree, tmp_path / "out")
    assert done.returncode != 0 and done.stderr == "sbom: no-such-library-dev is not installed\n"


@pytest.mark.skipif(not shutil.which("minisign"), reason="minisign is not installed")
def test_a_release_is_signed(tree, tmp_path):
    secret, public = tmp_path / "secret.key", tmp_path / "public.key"
    subprocess.run(["minisign", "-G", "-W", "-s", secret, "-p", public], check=True, capture_output=True)
    out = tmp_path / "out"
    done = release(tree, out, "--key", secret)
    assert done.returncode == 0, done.stderr
    verify = ["minisign", "-V", "-Q", "-p", public, "-m", out / "SHA256SUMS"]
    assert subprocess.check_output(verify, text=True) == "bloomset-1.2.0\n"
    (out / "SHA256SUMS").write_text("changed\n")
    assert subprocess.run(verify, capture_output=True).returncode != 0


def test_a_key_that_does_not_exist_is_refused(tree, tmp_path):
    done = release(tree, tmp_path / "out", "--key", tmp_path / "none")
    assert done.returncode == 2 and not (tmp_path / "out").exists()


def test_a_second_tarball_has_the_same_bytes(tree, tmp_path):
    clone = tmp_path / "clone"
    git(tree, "clone", "--quiet", tree, clone)
    os.utime(clone / "CMakeLists.txt", (1, 1))
    for number, folder in enumerate((tree, clone)):
        assert release(folder, tmp_path / str(number)).returncode == 0
    first, second = ((tmp_path / number / "SHA256SUMS").read_text() for number in "01")
    assert first == second


def test_a_second_build_with_other_bytes_is_refused(tree, tmp_path):
    (tree / "scripts" / "debian-packages.sh").write_text(PACKAGES.replace("echo package", "echo $1"))
    commit(tree)
    done = release(tree, tmp_path / "out", "--check")
    assert done.returncode == 2 and done.stderr.endswith("release: a second build has other bytes\n")


def changed(tree):
    (tree / "CHANGELOG.md").write_text(CHANGELOG + "\n- More.\n")


def added(tree):
    (tree / "new.txt").touch()


def unknown_version(tree):
    (tree / "CMakeLists.txt").write_text("project(bloomset VERSION 1.2 LANGUAGES CXX\n")
    commit(tree)


def no_version(tree):
    (tree / "CMakeLists.txt").write_text("project(bloomset LANGUAGES CXX)\n")
    commit(tree)


def empty_section(tree):
    (tree / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.0\n\n## 1.1.0\n\n- Earlier.\n")
    commit(tree)


@pytest.mark.parametrize("change, said", [
    (changed, "the tree has changes that are not committed"),
    (added, "the tree has changes that are not committed"),
    (unknown_version, "CHANGELOG.md has no section for 1.2"),
    (empty_section, "CHANGELOG.md has no section for 1.2.0"),
    (no_version, "CMakeLists.txt has no version"),
], ids=lambda value: getattr(value, "__name__", ""))
def test_refusals_write_nothing(tree, tmp_path, change, said):
    change(tree)
    done = release(tree, tmp_path / "out")
    assert (done.returncode, done.stderr) == (2, f"release: {said}\n")
    assert not [*(tmp_path / "out").iterdir()]


def test_a_folder_with_files_is_refused(tree, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").touch()
    done = release(tree, tmp_path / "out")
    assert done.returncode == 2 and "is not empty" in done.stderr


@pytest.mark.parametrize("args", [[], ["out", "--chekc"], ["out", "--key"]])
def test_wrong_arguments_are_refused(tree, args):
    done = release(tree, *args)
    assert (done.returncode, done.stderr) == (2, "release: give OUT, and then nothing, --check, --key FILE or both\n")
