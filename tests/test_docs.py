"""Every command that README.md and docs/*.md show runs, from top to bottom, as a reader would.

A block marked `sh` is run with bash (stopping at the first failure) in a folder of its own for each
document, where `bloomery` is on the path. A line `# -> TEXT` after a command promises that the
command's output contains TEXT. The block that follows `<!-- by hand -->` is left out: the commands
that install, which the fresh machine and CI run. Python's blocks run between them, in the same folder,
one after the other in one session; where they show a session (`>>>`) its output is compared. C++
blocks are compiled and run the same way.
"""

import doctest
import importlib.util
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOOMERY = pathlib.Path(os.environ.get("BLOOMERY", ROOT / "build" / "bloomery")).resolve()
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


HAS_PYTHON = importlib.util.find_spec("bloomery") is not None


def blocks_of(document, languages):
    """(language, text) of each block to run, in order."""
    pattern = r"(<!-- by hand -->\n)?^```(" + "|".join(map(re.escape, languages)) + r")\n(.*?)^```$"
    found = re.finditer(pattern, document.read_text(), re.M | re.S)
    return [(m[2], m[3]) for m in found if not m[1]]


def blocks(document, language):
    return [text for _, text in blocks_of(document, [language])]


def steps(block):
    """(command, promised outputs) of a block; a command goes on over lines that end in a backslash."""
    found = []
    for line in block.replace("\\\n", " ").splitlines():
        promise = re.fullmatch(r"# -> (.*)", line)
        if promise:
            found[-1][1].append(promise[1])
        elif line.strip() and not line.startswith("#"):
            found.append((line, []))
    return found


def run_python(block, session, name):
    if ">>>" not in block:
        exec(compile(block, name, "exec"), session)
        return
    shown = doctest.DocTestParser().get_doctest(block, session, name, name, 0)
    runner = doctest.DocTestRunner()
    runner.run(shown, clear_globs=False)
    session.update(shown.globs)  # get_doctest copies what it is given
    assert runner.summarize(verbose=False).failed == 0


DOCUMENTS_WITH_SHELL = [d for d in DOCUMENTS if blocks(d, "sh")]


def test_there_is_something_to_run():
    assert ROOT / "README.md" in DOCUMENTS_WITH_SHELL


@pytest.mark.parametrize("document", DOCUMENTS_WITH_SHELL, ids=lambda d: d.name)
def test_commands(document, tmp_path, monkeypatch):
    if document.name == "python.md" and not HAS_PYTHON:
        pytest.skip("the Python package is not built (BLOOMERY_PYTHON)")
    env = {**os.environ, "PATH": f"{BLOOMERY.parent}:{os.environ['PATH']}"}
    monkeypatch.chdir(tmp_path)
    session = {}
    for language, block in blocks_of(document, ["sh", "python"]):
        if language == "python":
            if HAS_PYTHON:
                run_python(block, session, document.name)
            continue
        for command, promises in steps(block):
            # grep's and ours: 1 says that no line was selected, which is an answer.
            done = subprocess.run(["bash", "-eo", "pipefail", "-c", command], cwd=tmp_path, env=env,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
            output = done.stdout.decode()
            assert done.returncode in (0, 1), f"{command}\n{output}"
            for promise in promises:
                assert promise in output, f"{command}\n{output}"


DOCUMENTS_WITH_PROGRAMS = [d for d in DOCUMENTS if blocks(d, "cpp")]


@pytest.mark.parametrize("document", DOCUMENTS_WITH_PROGRAMS, ids=lambda d: d.name)
def test_programs(document, tmp_path):
    build = BLOOMERY.parent
    packages = ["libxxhash", "fmt", "libcrypto"]
    for program in blocks(document, "cpp"):
        source = tmp_path / "main.cpp"
        source.write_text(program)
        command = [os.environ.get("CXX", "c++"), "-std=c++20", "-Wall", "-Wextra", "-Werror",
                   f"-I{ROOT / 'include'}", str(source)]
        if "<leveldb/" in program:
            policy = build / "dialects" / "leveldb" / "libbloomery_leveldb.a"
            command += [f"-I{ROOT / 'dialects' / 'leveldb' / 'include'}", str(policy), "-lleveldb"]
        flags = subprocess.check_output(["pkg-config", "--libs", *packages], text=True).split()
        subprocess.run([*command, str(build / "libbloomery.a"), *flags, "-o",
                        str(tmp_path / "main")], check=True)
        subprocess.run([str(tmp_path / "main")], cwd=tmp_path, check=True, timeout=60)


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if blocks(d, "c")], ids=lambda d: d.name)
def test_programs_in_c(document, tmp_path):
    folder = BLOOMERY.parent / "bindings" / "c"
    for program in blocks(document, "c"):
        source = tmp_path / "main.c"
        source.write_text(program)
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror",
                        f"-I{ROOT / 'bindings' / 'c' / 'include'}", str(source), f"-L{folder}",
                        "-lbloomery-c", f"-Wl,-rpath,{folder}", "-o", str(tmp_path / "main")],
                       check=True)
        subprocess.run([str(tmp_path / "main")], cwd=tmp_path, check=True, timeout=60)


def test_the_readme_has_a_program():
    assert ROOT / "README.md" in DOCUMENTS_WITH_PROGRAMS
