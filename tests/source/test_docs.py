"""Runs the examples of README.md and docs/**/*.md: commands run, programs are compiled, outputs are
compared.

Each document is read from top to bottom, in a folder of its own where `bloomset` is on the path. A
block after the line `<!-- by hand -->` is left out, such as commands that install; CI and tests on
a new machine run those.

`console` blocks hold commands and their whole output, stdout and stderr together:

    $ COMMAND            a command for bash; lines that begin with `> ` continue it
    output               compared line by line, except for white space at the end of a line
    [..]                 within a line, stands for any text of that line
    ...                  alone in a line, stands for any number of lines, also none
    [exit N]             the last line, stands for the exit status

A status above 1 has to be shown. 0 and 1 may be left out: 1 means that nothing was found, as with
grep. Empty lines before the next command are layout.

`sh` blocks hold commands alone; a line `# -> TEXT` promises that the output of the command before
contains TEXT.

`python` blocks run between the commands, in the same folder and in one session for each document.
Where they show a session (`>>>`), its output is compared. `cpp` and `c` blocks are whole programs,
which are compiled and run, each document's in a folder of their own; the `output` block that
follows one is compared as a command's output is.
"""

import difflib
import doctest
import glob
import importlib.util
import os
import pathlib
import re
import socket
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOOMSET = pathlib.Path(os.environ.get("BLOOMSET", ROOT / "build" / "bloomset")).resolve()
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
SHELL = ["sh", "console"]

HAS_PYTHON = importlib.util.find_spec("bloomset") is not None


def free_port():
    """For a document that starts a web server: $PORT, which the document gives a default."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def name_of(document):
    return str(document.relative_to(ROOT))


def blocks_of(document, languages):
    """(language, text) of each block to run, in order."""
    pattern = r"(<!-- by hand -->\n)?^```(" + "|".join(map(re.escape, languages)) + r")\n(.*?)^```$"
    found = re.finditer(pattern, document.read_text(), re.M | re.S)
    return [(m[2], m[3]) for m in found if not m[1]]


def documents_with(*languages):
    return [d for d in DOCUMENTS if blocks_of(d, languages)]


def steps(block):
    """(command, promised outputs) of an `sh` block; a command goes on over lines that end in a backslash."""
    found = []
    for line in block.replace("\\\n", " ").splitlines():
        promise = re.fullmatch(r"# -> (.*)", line)
        if promise:
            found[-1][1].append(promise[1])
        elif line.strip() and not line.startswith("#"):
            found.append((line, []))
    return found


def shown_steps(block):
    """(command, shown lines) of a `console` block."""
    found = []
    in_command = False
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
            in_command = True
        elif in_command and line.startswith("> "):
            found[-1] = (found[-1][0] + "\n" + line[2:], [])
        else:
            assert found, f"a console block begins with '$ COMMAND', not with '{line}'"
            found[-1][1].append(line)
            in_command = False
    return found


def same_line(shown, actual):
    return re.fullmatch(".*".join(map(re.escape, shown.rstrip().split("[..]"))), actual.rstrip()) is not None


def same_lines(shown, actual):
    """Whether actual lines are the shown ones. Lines between two `...` are found where they first occur."""
    parts = [[]]
    for line in shown:
        if line.rstrip() == "...":
            parts.append([])
        else:
            parts[-1].append(line)

    def is_at(part, at):
        return len(actual) - at >= len(part) and all(map(same_line, part, actual[at:at + len(part)]))

    if len(parts) == 1:
        return len(actual) == len(shown) and is_at(shown, 0)
    *before, last = parts
    at = 0
    for number, part in enumerate(before):
        places = range(at, len(actual) + 1) if number else [0]
        found = next((place for place in places if is_at(part, place)), None)
        if found is None:
            return False
        at = found + len(part)
    return len(actual) - len(last) >= at and is_at(last, len(actual) - len(last))


def check_output(what, shown, output, status):
    """Compares a command's output and exit status with the lines of a document."""
    shown, actual = [line.rstrip() for line in shown], output.splitlines()
    while shown and not shown[-1]:
        shown.pop()
    while actual and not actual[-1].strip():
        actual.pop()
    if status > 1 or status < 0 or (shown and re.fullmatch(r"\[exit -?\d+\]", shown[-1])):
        actual.append(f"[exit {status}]")
    if same_lines(shown, actual):
        return
    pytest.fail(f"{what}\n{difference(shown, actual)}", pytrace=False)


def difference(shown, actual):
    # Lines that agree are written as the document has them, so that what differs is what has to change.
    matching = [next((s for s in shown if same_line(s, line)), line) for line in actual]
    if "..." not in shown:
        return "\n".join(difflib.unified_diff(shown, matching, "the document", "the output", lineterm="", n=9))
    # Most lines of the output are rightly not shown: name those that the document has and the output has not.
    missing = [line for line in shown if line != "..." and line not in matching]
    lines = ["not in the output, with the closest line that is:" if missing else "lines in another order, or more of them:"]
    for line in missing:
        lines += ["-" + line, *("+" + close for close in difflib.get_close_matches(line, actual, n=1, cutoff=0.3))]
    return "\n".join([*lines, "the output:", *actual])


def run_python(block, session, name):
    if ">>>" not in block:
        exec(compile(block, name, "exec"), session)
        return
    shown = doctest.DocTestParser().get_doctest(block, session, name, name, 0)
    runner = doctest.DocTestRunner()
    runner.run(shown, clear_globs=False)
    session.update(shown.globs)  # get_doctest copies what it is given
    assert runner.summarize(verbose=False).failed == 0


def test_there_is_something_to_run():
    assert ROOT / "README.md" in documents_with("console")


def postgres_surroundings(request):
    """The environment in which psql finds a server of this test's own."""
    sys.path.insert(0, str(ROOT / "tests" / "sql"))
    import postgres_server
    postgres_server.require()
    server = postgres_server.Server()
    request.addfinalizer(server.close)
    return server.env


def duckdb_shell(folder):
    """The folder of DuckDB's shell. The extension is put into `folder`."""
    extension = BLOOMSET.parent / "bloomset.duckdb_extension"
    if not (extension.exists() and HAS_PYTHON):
        pytest.skip("the extension of DuckDB is not built (BLOOMSET_DUCKDB)")
    sys.path.append(str(ROOT / "tests" / "python"))
    import engines
    engines.need("duckdb", "duckdb-cli==1.5.6")
    (folder / extension.name).symlink_to(extension)
    return engines.FOLDER / "duckdb" / "duckdb_cli"


@pytest.mark.parametrize("document", documents_with(*SHELL), ids=name_of)
def test_commands(document, tmp_path, monkeypatch, request):
    if document.name == "python.md" and not HAS_PYTHON:
        pytest.skip("the Python package is not built (BLOOMSET_PYTHON)")
    if ".load ./bloomset_sqlite" in document.read_text():
        extension = BLOOMSET.parent / "bloomset_sqlite.so"
        if not extension.exists():
            pytest.skip("the extension of SQLite is not built (BLOOMSET_SQLITE)")
        (tmp_path / extension.name).symlink_to(extension)
    surroundings = postgres_surroundings(request) if document.name == "postgresql.md" else os.environ
    programs = f"{duckdb_shell(tmp_path)}:" if document.name == "duckdb.md" else ""
    env = {**surroundings, "PORT": str(free_port()), "PATH": f"{programs}{BLOOMSET.parent}:{os.environ['PATH']}"}
    monkeypatch.chdir(tmp_path)

    def run(command):
        done = subprocess.run(["bash", "-eo", "pipefail", "-c", command], cwd=tmp_path, env=env,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        return done.returncode, done.stdout.decode()

    session = {}
    for language, block in blocks_of(document, [*SHELL, "python"]):
        if language == "python":
            if HAS_PYTHON:
                run_python(block, session, document.name)
        elif language == "console":
            for command, shown in shown_steps(block):
                status, output = run(command)
                check_output(f"{name_of(document)}: $ {command}", shown, output, status)
        else:
            for command, promises in steps(block):
                status, output = run(command)
                # grep's and ours: 1 says that no line was selected, which is an answer.
                assert status in (0, 1), f"{command}\n{output}"
                for promise in promises:
                    assert promise in output, f"{command}\n{output}"


def run_programs(document, language, folder, compile_program):
    """Compiles and runs a document's programs; the `output` block after one is what it prints."""
    programs = blocks_of(document, [language, "output"])
    for number, (block_language, block) in enumerate(programs):
        if block_language == "output":
            continue
        compile_program(block)
        done = subprocess.run([str(folder / "main")], cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60)
        output = done.stdout.decode()
        what = f"{name_of(document)}: program {number + 1}"
        assert done.returncode == 0, f"{what} ended with {done.returncode}\n{block}\n{output}"
        if number + 1 < len(programs) and programs[number + 1][0] == "output":
            check_output(what, programs[number + 1][1].splitlines(), output, done.returncode)


@pytest.mark.parametrize("document", documents_with("cpp"), ids=name_of)
def test_programs(document, tmp_path):
    build = BLOOMSET.parent
    compiler = os.environ.get("CXX", "c++")
    # As CMake: a cache spares most of the time. It needs one source a call, by the same name each time.
    launcher = os.environ.get("CMAKE_CXX_COMPILER_LAUNCHER", "").split()
    includes = [f"-I{ROOT / 'include'}", f"-I{ROOT / 'integrations' / 'leveldb' / 'include'}"]
    packages = subprocess.check_output(["pkg-config", "--libs", "libxxhash", "fmt"], text=True).split()

    def compile_program(program):
        (tmp_path / "main.cpp").write_text(program)
        subprocess.run([*launcher, compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", *includes, "-c", "main.cpp"],
                       cwd=tmp_path, check=True)
        leveldb = [str(build / "integrations" / "leveldb" / "libbloomset_leveldb.a"), "-lleveldb"]
        subprocess.run([compiler, "main.o", *(leveldb if "<leveldb/" in program else []),
                        str(build / "libbloomset.a"), *packages, "-o", "main"], cwd=tmp_path, check=True)

    run_programs(document, "cpp", tmp_path, compile_program)


@pytest.mark.parametrize("document", documents_with("c"), ids=name_of)
def test_programs_in_c(document, tmp_path):
    folder = BLOOMSET.parent / "integrations" / "c"
    source = tmp_path / "main.c"

    def compile_program(program):
        source.write_text(program)
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror",
                        f"-I{ROOT / 'integrations' / 'c' / 'include'}", str(source), f"-L{folder}",
                        "-lbloomset-c", f"-Wl,-rpath,{folder}", "-o", str(tmp_path / "main")],
                       check=True)

    run_programs(document, "c", tmp_path, compile_program)


def test_the_readme_has_a_program():
    assert ROOT / "README.md" in documents_with("cpp")


@pytest.mark.parametrize("shown, printed, status", [
    ("a\nb", "a\nb\n", 0),
    ("a", "a\n", 1),
    ("a\n[exit 1]", "a\n", 1),
    ("a\n[exit 2]", "a\n", 2),
    ("[..] of [..] keys\n", "3 of 9 keys  \n", 0),
    ("a\n...", "a\n", 0),
    ("a\n...\ny\n...\nz", "a\nb\ny\nc\nz\n", 0),
    ("...\nz", "z\ny\nz\n", 0),
    ("", "", 0),
])
def test_output_that_is_shown(shown, printed, status):
    check_output("command", shown.splitlines(), printed, status)


@pytest.mark.parametrize("shown, printed, status", [
    ("a\nc", "a\nb\n", 0),
    ("a", "a\nb\n", 0),
    ("a\nb", "a\n", 0),
    ("", "a\n", 0),
    ("a", "a\n", 2),
    ("a\n[exit 1]", "a\n", 0),
    ("3 [..] keys", "3 keys\n", 0),
    ("a.c", "abc\n", 0),
    ("a\n...\nz", "a\nz\nb\n", 0),
    ("a\n...\na", "a\n", 0),
])
def test_output_that_is_not_shown(shown, printed, status):
    with pytest.raises(pytest.fail.Exception):
        check_output("command", shown.splitlines(), printed, status)


def test_commands_of_a_console_block():
    assert shown_steps("$ for i in 1; do\n>   echo $i\n> done\n1\n> 2\n\n$ true\n") == [
        ("for i in 1; do\n  echo $i\ndone", ["1", "> 2", ""]), ("true", [])]


def test_named_paths_and_links_exist():
    """A page names only files that are there: as a path of the tree, whose ending may be left out, or as a link."""
    pages = [*DOCUMENTS, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "fuzz" / "README.md"]
    folders = "include|src|teach|tests|cli|integrations|dialects|keys|bench|explorer|fuzz|scripts|examples"
    missing = []
    for page in pages:
        text = page.read_text()
        named = re.findall(rf"`((?:{folders})/[\w./*-]+)`", text)
        missing += [f"{page.name}: {path}" for path in named
                    if not re.search("KIND|NAME", path) and not glob.glob(f"{ROOT / path}") + glob.glob(f"{ROOT / path}.*")]
        linked = re.findall(r"\]\(([^)#:\s]+)(?:#[\w-]+)?\)", text)
        missing += [f"{page.name}: {path}" for path in linked if not (page.parent / path).exists()]
    assert not missing
