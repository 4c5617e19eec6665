"""The package for Go: its own tests, and vet."""

import subprocess

import pytest
from conftest import missing


@pytest.fixture
def module(package):
    folder = package("go", "go")
    done = subprocess.run(["go", "mod", "download"], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        missing("go cannot fetch wazero: is its proxy reachable, and Go at least the version in go.mod?", done.stderr)
    return folder


def test_its_own_tests(module, run):
    said = run("go", "test", "-v", "-count=1", ".", cwd=module)
    assert "--- SKIP" not in said and said.count("--- PASS: TestVectors/") > 25, said[-4000:]


def test_vet(module, run):
    run("go", "vet", ".", cwd=module)
    assert run("gofmt", "-l", ".", cwd=module) == ""
