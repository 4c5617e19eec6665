"""The programs of docs/reference/languages.md: each is compiled and run, and its output compared."""

import os
import re
import shutil
import subprocess

import pytest
from conftest import BLOOMSET, NEWEST_NOBLE, ROOT, missing, noble
from web_servers import nginx, served, surroundings  # noqa: F401

PAGE = (ROOT / "docs" / "reference" / "languages.md").read_text()


def programs(language):
    """The language's programs with their outputs."""
    found = re.findall(rf"^```{language}\n(.*?)^```\n\n^```output\n(.*?)^```\n", PAGE, re.M | re.S)
    assert len(found) == len(re.findall(rf"^```{language}\n", PAGE, re.M)) > 0
    return found


@pytest.fixture
def folder(tmp_path):
    """A folder in which the commands of the page have run."""
    if shutil.which("minisign") is None:
        missing("minisign is not installed, so the page's signed folder is not tried here")
    for line in re.findall(r"^\$ (.*)$", PAGE, re.M):
        subprocess.run(line, shell=True, check=True, cwd=tmp_path,
                       env={**os.environ, "PATH": f"{BLOOMSET.parent}:{os.environ['PATH']}"})
    return tmp_path


SERVER = "https://lists.example.org"


@pytest.mark.parametrize("needs_packages", [False, True], ids=["alone", "with_other_packages"])
def test_javascript(package, run, folder, served, nginx, needs_packages):
    shutil.copytree(package("javascript", "node"), folder / "node_modules" / "bloomset", ignore=shutil.ignore_patterns("test"))
    if needs_packages:
        shutil.copytree(noble(NEWEST_NOBLE), folder / "node_modules" / "@noble")
    shutil.copy(folder / "words.bloom", served)
    for name in ("public", "signed"):
        (served / name).symlink_to(folder / name)
    selected = [each for each in programs("js") if ("publicKey" in each[0]) == needs_packages]
    assert selected
    for program, output in selected:
        (folder / "main.mjs").write_text(program.replace(SERVER, nginx.url))
        assert run("node", "main.mjs", cwd=folder, PATH=f"{BLOOMSET.parent}:{os.environ['PATH']}") == output


def test_rust(package, run, folder):
    crate = package("rust", "cargo")
    for number, (program, output) in enumerate(programs("rust")):
        source = folder / f"rust{number}"
        (source / "src").mkdir(parents=True)
        (source / "src" / "main.rs").write_text(program)
        (source / "Cargo.toml").write_text(
            f'[package]\nname = "words"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\nbloomset = {{path = "{crate}"}}\n')
        done = subprocess.run(["cargo", "build", "--quiet"], cwd=source, capture_output=True, text=True, timeout=300, check=False)
        if "failed to get" in done.stderr or "failed to download" in done.stderr:
            missing("cargo cannot fetch xxhash-rust: is its registry reachable?", done.stderr)
        assert done.returncode == 0, done.stderr
        assert run(source / "target" / "debug" / "words", cwd=folder) == output


def test_go(package, run, folder):
    module = package("go", "go")
    for number, (program, output) in enumerate(programs("go")):
        source = folder / f"program{number}"
        source.mkdir()
        (source / "main.go").write_text(program)
        (source / "go.mod").write_text(
            f"module program\n\ngo 1.24.0\n\nrequire bloomset v0.1.0\n\nreplace bloomset => {module}\n" if '"bloomset"' in program
            else "module program\n\ngo 1.22\n\nrequire github.com/zeebo/xxh3 v1.1.0\n")
        done = subprocess.run(["go", "mod", "tidy"], cwd=source, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            missing("go cannot fetch wazero and xxh3: is its proxy reachable, and Go at least 1.24?", done.stderr)
        run("go", "build", "-o", folder / "program", ".", cwd=source)
        assert run(folder / "program", cwd=folder) == output


def test_java(package, run, folder):
    package_folder = package("java", "mvn", "java", "javac")
    done = subprocess.run(["mvn", "--batch-mode", "compile", "dependency:copy-dependencies", f"-DoutputDirectory={folder / 'jars'}",
                           "-DincludeScope=runtime"], cwd=package_folder, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        missing("Maven cannot fetch its plugins or Chicory: is its repository reachable?", done.stdout[-4000:])
    path = ":".join(map(str, [package_folder / "target" / "classes", *(folder / "jars").glob("*.jar")]))
    for program, output in programs("java"):
        name = re.search(r"class (\w+)", program)[1]
        (folder / f"{name}.java").write_text(program)
        assert run("java", "-cp", path, f"{name}.java", cwd=folder) == output


def test_the_readme_of_the_package(package, run, folder, served, nginx):
    """Its JavaScript, as one program each."""
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "bloomset").symlink_to(package("javascript", "node"))
    shutil.copy(folder / "words.bloom", folder / "members.bloom")
    shutil.copy(folder / "words.bloom", served / "hosts.bloom")
    (served / "hosts").symlink_to(folder / "public")
    readme = (ROOT / "integrations" / "javascript" / "README.md").read_text()
    outputs = ["", "[ true, false ]\n", "false [ true, false ]\n", "true\n"]
    blocks = re.findall(r"^```js\n(.*?)^```\n", readme, re.M | re.S)
    assert len(blocks) == len(outputs)
    for block, output in zip(blocks, outputs):
        (folder / "main.mjs").write_text(
            block.replace("words.hasMany(['ann', 'dan']);", "console.log(words.hasMany(['ann', 'dan']));").replace(SERVER, nginx.url))
        assert run("node", "main.mjs", cwd=folder) == output
