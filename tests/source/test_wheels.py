"""The scripts that make wheels and packages for other CPUs: what takes no compiler, and their refusals."""

import base64
import hashlib
import os
import pathlib
import subprocess
import zipfile

import pytest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
PURE = {
    "things/__init__.py": "",
    "things-1.2.dist-info/METADATA": "Name: things\n",
    "things-1.2.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "things-1.2.dist-info/RECORD": "not this\n",
}


def add(tmp_path, name):
    """The wheel that add-extension.py makes in a folder of its own."""
    pure = tmp_path / "things-1.2-py3-none-any.whl"
    with zipfile.ZipFile(pure, "w") as archive:
        for path, text in PURE.items():
            archive.writestr(path, text)
    extension = tmp_path / "_native.cpython-313-aarch64-linux-gnu.so"
    extension.write_bytes(b"machine code")
    (tmp_path / name).mkdir()
    subprocess.run([SCRIPTS / "add-extension.py", pure, extension, "cp313", "linux_aarch64", tmp_path / name],
                   env={**os.environ, "SOURCE_DATE_EPOCH": "1790000000"}, check=True)
    return tmp_path / name / "things-1.2-cp313-cp313-linux_aarch64.whl"


def test_a_wheel_gets_an_extension_module(tmp_path):
    with zipfile.ZipFile(add(tmp_path, "made")) as wheel:
        files = {name: wheel.read(name) for name in wheel.namelist()}
        assert {each.date_time for each in wheel.infolist()} == {(2026, 9, 21, 14, 13, 20)}
    assert set(files) == {*PURE, "things/_native.cpython-313-aarch64-linux-gnu.so"}
    assert files["things-1.2.dist-info/WHEEL"] == (
        b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp313-cp313-linux_aarch64\n")
    record = files.pop("things-1.2.dist-info/RECORD").decode().splitlines()
    assert record.pop() == "things-1.2.dist-info/RECORD,,"
    digests = {name: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=") for name, data in files.items()}
    assert record == [f"{name},sha256={digests[name]},{len(files[name])}" for name in sorted(files)]


def test_the_same_parts_give_the_same_wheel(tmp_path):
    assert add(tmp_path, "first").read_bytes() == add(tmp_path, "second").read_bytes()


@pytest.mark.parametrize("command, said", [
    ("get-cpython.sh", "get-cpython.sh: give a folder, a version and a CPU"),
    ("get-cpython.sh none 3.8 x86_64", "get-cpython.sh: no source of CPython 3.8 is known; give 3.9 to 3.15"),
    ("get-cpython.sh none 3.13 riscv64", "get-cpython.sh: 'riscv64' is no CPU; give x86_64 or aarch64"),
    ("python-wheels.sh", "python-wheels.sh: give a folder"),
    ("python-wheels.sh out 3.13", "python-wheels.sh: '3.13' is not like 3.13-aarch64"),
    ("language-packages.sh", "language-packages.sh: give the folder for the packages"),
    ("debian-arm64-packages.sh", "debian-arm64-packages.sh: give a folder"),
    ("add-extension.py", "add-extension.py: give a wheel, an extension module, the tags of Python and platform, and a folder"),
])
def test_wrong_arguments_are_refused(tmp_path, command, said):
    name, *args = command.split()
    done = subprocess.run([SCRIPTS / name, *args], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0 and done.stderr == f"{said}\n"
