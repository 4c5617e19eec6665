"""Makes the package's wheel with CMake (PEP 517), by nothing but Python itself.

    pip install .
    pip wheel . --config-settings=build-dir=build     uses a build that is configured already

A backend of setuptools or of a package for CMake would have to be downloaded, or to stand in the
environment that the package is installed into; a wheel is a zip file with four small files more.
"""

import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NAME = "bloomery"
# What the package is built from.
SOURCES = ["CMakeLists.txt", "LICENSE", "pyproject.toml", "bindings/python", "cmake", "dialects",
           "docs/python.md", "include", "keys", "src"]


def version():
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(bloomery VERSION ([0-9.]+)", text)[1]


def metadata():
    return (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version()}\n"
            "Summary: Bloom filters and their kin: approximate sets with a known error rate\n"
            "License: MIT\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n"
            + (ROOT / "docs" / "python.md").read_text())


def tag():
    """Of this interpreter and machine: the extension is for just them."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"{python}-{python}-{platform}"


def run(*command):
    subprocess.run([str(part) for part in command], check=True, stdout=sys.stderr)


def install(to, settings):
    """Builds the extension and puts the package into a folder."""
    build = pathlib.Path(settings.get("build-dir") or ROOT / f"build-{tag()}").resolve()
    if not (build / "CMakeCache.txt").exists():
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        run("cmake", "-S", ROOT, "-B", build, *generator, "-DCMAKE_BUILD_TYPE=Release",
            "-DBLOOMERY_PYTHON=ON", "-DBLOOMERY_CLI=OFF", "-DBLOOMERY_C=OFF",
            "-DBLOOMERY_MODULE=OFF", "-DBLOOMERY_EXAMPLES=OFF", f"-DPython_EXECUTABLE={sys.executable}")
    run("cmake", "--build", build, "--parallel", "--target", "bloomery_python")
    run("cmake", "--install", build, "--prefix", to, "--component", "python", "--strip")


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    about = f"{NAME}-{version()}.dist-info"
    file_name = f"{NAME}-{version()}-{tag()}.whl"
    with tempfile.TemporaryDirectory() as work:
        install(work, config_settings or {})
        content = {path.relative_to(work).as_posix(): path.read_bytes()
                   for path in sorted(pathlib.Path(work).rglob("*")) if path.is_file()}
    content[f"{about}/METADATA"] = metadata().encode()
    content[f"{about}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    content[f"{about}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: {NAME}\n"
                                 f"Root-Is-Purelib: false\nTag: {tag()}\n").encode()
    record = "".join(record_line(name, data) for name, data in content.items())
    content[f"{about}/RECORD"] = (record + f"{about}/RECORD,,\n").encode()
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / file_name, "w",
                         zipfile.ZIP_DEFLATED) as wheel:
        for name, data in content.items():
            wheel.writestr(name, data)
    return file_name


def build_sdist(sdist_directory, config_settings=None):
    base = f"{NAME}-{version()}"

    def keep(info):
        return None if "__pycache__" in info.name else info

    with tarfile.open(pathlib.Path(sdist_directory) / f"{base}.tar.gz", "w:gz") as archive:
        for source in SOURCES:
            archive.add(ROOT / source, f"{base}/{source}", filter=keep)
        with tempfile.NamedTemporaryFile("w") as about:
            about.write(metadata())
            about.flush()
            archive.add(about.name, f"{base}/PKG-INFO")
    return f"{base}.tar.gz"
