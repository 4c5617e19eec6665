"""The package as a whole: its docstrings run, its types are right, and its wheel works in another
environment."""

import ast
import doctest
import importlib
import inspect
import os
import pathlib
import pickle
import platform
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile

import bloomset
import pytest
from conftest import ROOT

MODULES = ["", "._count", "._files", "._filter", "._kinds", "._plan"]
BUILD = pathlib.Path(bloomset.__file__).parents[3]
#: A program as a user writes it, which the types have to allow and understand.
TYPED = """
import bloomset
f = bloomset.Cuckoo(capacity="10M", fpr=0.01)
f.add("ann"); f.add(b"bob"); f.add(7)
f |= bloomset.Cuckoo.build(["ann"])
answers = f.contains(["ann", 7])
reveal_type(f.copy())
reveal_type(f | f)
reveal_type(bloomset.Ribbon.build(range(5)))
reveal_type(bloomset.open("f.bloom"))
reveal_type(bloomset.plan("1M", "1%").bits_per_key)
bloomset.Bloom(10).discard("ann")
f.add(1.5)
"""


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module("bloomset" + name)
    done = doctest.testmod(module, extraglobs={"bloomset": bloomset},
                           optionflags=doctest.ELLIPSIS)
    assert done.failed == 0 and done.attempted > 0


def test_everything_public_is_documented():
    for name in bloomset.__all__:
        thing = getattr(bloomset, name)
        if isinstance(thing, type):
            assert thing.__doc__, name
            for method, value in vars(thing).items():
                if not method.startswith("_") and callable(value):
                    assert value.__doc__, f"{name}.{method}"


def test_the_script_that_tries_wheels_builds_every_kind():
    subprocess.run([sys.executable, ROOT / "tests" / "packages" / "wheel.py", "%d.%d" % sys.version_info[:2],
                    platform.machine()], check=True)


def test_types(tmp_path):
    (tmp_path / "user.py").write_text(TYPED)
    package = ROOT / "integrations" / "python"
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-error-summary",
                           # NumPy's own types take long to read and are not in question.
                           "--no-site-packages", "--ignore-missing-imports",
                           "--cache-dir", tmp_path / "cache", tmp_path / "user.py"],
                          capture_output=True, text=True, cwd=tmp_path, timeout=120,
                          env={**os.environ, "MYPYPATH": str(package)})
    told = [line.split(": ", 1)[1] for line in done.stdout.splitlines()]
    # Versions of mypy write the types of a key in two ways.
    key = re.compile(r"""Union\[str, bytes, bytearray, memoryview, int, UUID\]|"""
                     r"""str \| bytes \| bytearray \| memoryview\[int\] \| int \| UUID""")
    assert [key.sub("KEY", line) for line in told] == [
        'note: Revealed type is "bloomset._kinds.Cuckoo"',
        'note: Revealed type is "bloomset._kinds.Cuckoo"',
        'note: Revealed type is "bloomset._kinds.Ribbon"',
        'note: Revealed type is "bloomset._filter.Filter"',
        'note: Revealed type is "builtins.float"',
        'error: "Bloom" has no attribute "discard"  [attr-defined]',
        'error: Argument 1 to "add" of "Insertable" has incompatible type "float"; expected "KEY"  [arg-type]',
    ], done.stdout + done.stderr


def test_the_package_imports_no_other_module():
    """Neither an engine, nor the modules of the standard library that take longer to import than the package."""
    program = ("import sys; before = set(sys.modules); import bloomset; "
               "print(*(m for m in set(sys.modules) - before if m.partition('.')[0] != 'bloomset'))")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"__future__"}


def test_names_that_are_made_on_first_use():
    program = ("import bloomset, pickle; assert set(bloomset.__all__) <= set(dir(bloomset)); "
               "from bloomset import *; plan = bloomset.plan(10, 0.01); assert type(plan) is Plan is bloomset.Plan; "
               "assert pickle.loads(pickle.dumps(plan)) == plan; bloomset.plans")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "\nAttributeError: module 'bloomset' has no attribute 'plans'" in done.stderr


def test_methods_of_single_keys_are_like_functions():
    f = bloomset.VectorQuotient.build(["ann"] * 4, capacity=100)
    for method in (bloomset.Insertable.add, bloomset.Deletable.discard, bloomset.Countable.count):
        assert pickle.loads(pickle.dumps(method)) is method
        name = method.__name__
        assert str(inspect.signature(getattr(f, name))) == "(key)"
        assert method.__qualname__.endswith(f".{name}")
        assert getattr(f, name)("ann") == method(f, "ann") == getattr(f, name)(key="ann")
        for wrong in (dict(), dict(keys="ann"), dict(key="ann", other=1)):
            with pytest.raises(TypeError):
                getattr(f, name)(**wrong)
        with pytest.raises(TypeError):
            getattr(f, name)("ann", "bob")
        with pytest.raises(TypeError):
            method(bloomset.Ribbon.build(["ann"]), "ann")


def test_the_stub_is_what_the_extension_has():
    stub = ast.parse((ROOT / "integrations" / "python" / "bloomset" / "_native.pyi").read_text())
    native = bloomset._native
    described = {node.name: node for node in stub.body
                 if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    values = {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
    assert {name for name in vars(native) if not name.startswith("__")} == {*described, *values}
    methods = {node.name for node in described["Filter"].body}
    assert {name for name in vars(native.Filter)
            if not name.startswith("__") and name != "_pybind11_conduit_v1_"} == {
                name for name in methods if not name.startswith("__")}


def test_the_comparison_runs(tmp_path):
    done = subprocess.run([sys.executable, ROOT / "bench" / "jobs" / "python.py", "--keys", "1000", "--runs", "1"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "| bloomset, one by one " in done.stdout and "| set " in done.stdout
    assert "| BlockedBloom   | str " in done.stdout and "  import bloomset " in done.stdout


def pip(*args, **options):
    return subprocess.run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *map(str, args)],
                          timeout=1800, **options)


@pytest.fixture(scope="module")
def backend():
    """The environment in which Python has the build backend. It is installed once, into a folder beside the build."""
    folder = BUILD / "build-backend"
    if not folder.exists():
        requires = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
        partial = folder.with_name(folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        if pip("install", "--target", partial, *requires).returncode != 0:
            pytest.skip(f"pip cannot install {requires}: is its index reachable?")
        partial.rename(folder)
    return {**os.environ, "PYTHONPATH": str(folder)}


@pytest.fixture(scope="module")
def wheel(backend, tmp_path_factory):
    """Made by pip from the sources, in a build folder that later runs use again. The package is the question, so the code
    is not optimised, and clang, which needs two thirds of the time for that, compiles it where it is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    versions = (ROOT / "cmake" / "clang-versions.txt").read_text().splitlines()[-1].split()
    clang = (shutil.which(f"clang++-{version}") for version in versions)
    settings = {"build-dir": BUILD / "wheel", "cmake.define.CMAKE_CXX_FLAGS_RELEASE": "-O0",
                "cmake.define.CMAKE_CXX_COMPILER": next(filter(None, clang), "c++")}
    pip("wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", folder, ROOT,
        *(f"--config-settings={name}={value}" for name, value in settings.items()), env=backend, check=True)
    [made] = folder.iterdir()
    return made


def test_what_a_wheel_has(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {"bloomset/__init__.py", "bloomset/dask.py", "bloomset/spark.py", "bloomset/py.typed",
            "bloomset/_native.pyi"} <= set(names)
    assert sum(name.endswith(".so") for name in names) == 1
    assert not [name for name in names if "__pycache__" in name]
    assert wheel.stat().st_size < 3_000_000


def test_a_wheel_needs_only_the_runtime_of_c_and_cpp(wheel, tmp_path):
    shutil.unpack_archive(wheel, tmp_path, "zip")
    [extension] = (tmp_path / "bloomset").glob("*.so")
    dynamic = subprocess.run(["readelf", "--dynamic", extension], check=True, capture_output=True, text=True).stdout
    needed = set(re.findall(r"NEEDED.*\[(\w[\w-]*)\.so", dynamic))
    assert needed <= {"libstdc++", "libm", "libgcc_s", "libc", "ld-linux-x86-64", "ld-linux-aarch64"}
    # The tag manylinux_2_34 (docs/reference/python.md): one function of a later version makes it another
    # one. Where glibc is later than that of Debian 12, so may the functions be.
    own = tuple(int(part) for part in platform.libc_ver()[1].split("."))
    versions = subprocess.run(["readelf", "--version-info", extension], check=True, capture_output=True, text=True).stdout
    assert max((int(major), int(minor)) for major, minor in re.findall(r"Name: GLIBC_(\d+)\.(\d+)", versions)) <= (
        (2, 34) if own <= (2, 36) else own)


def test_a_wheel_in_a_bare_virtual_environment(wheel, tmp_path):
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    pip("--python", venv / "bin" / "python", "install", "--no-index", wheel, check=True)
    program = """
import sys, importlib.metadata
import bloomset
assert bloomset.__file__.startswith(sys.prefix), bloomset.__file__
assert importlib.metadata.version("bloomset") == bloomset.__version__
f = bloomset.BlockedBloom.build(["ann", "bob"])
answers = f.contains(["ann", "cid", "bob"])
try:
    import numpy
except ImportError:
    assert type(answers) is memoryview
assert [*answers] == [True, False, True]
f.save("f.bloom")
assert bloomset.open("f.bloom") == f
counts = bloomset.Cuckoo.build([1, 1, 2]).counts([1, 2, 3])
assert counts.tolist() == [2, 1, 0] and counts.itemsize == 8
print("used", "numpy" in sys.modules)
"""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([venv / "bin" / "python", "-c", program], cwd=tmp_path, env=env,
                          capture_output=True, text=True, timeout=60)
    assert done.stdout == "used False\n", done.stderr


def test_a_source_distribution_has_what_cmake_needs(backend, tmp_path):
    program = "import scikit_build_core.build as backend, sys; backend.build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", program, tmp_path], check=True, cwd=ROOT, env=backend)
    [made] = tmp_path.glob("bloomset-*.tar.gz")
    shutil.unpack_archive(made, tmp_path)
    source = tmp_path / made.name.removesuffix(".tar.gz")
    assert (source / "PKG-INFO").is_file() and not (source / "tests").exists()
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]["cmake"]["define"]
    subprocess.run(["cmake", "-G", "Ninja", "-S", source, "-B", tmp_path / "build",
                    *(f"-D{name}={value}" for name, value in options.items())],
                   check=True, stdout=subprocess.DEVNULL, timeout=120)
