#!/usr/bin/env python3
"""Installs, uses and removes Bloomset in a bare system of this machine's release, in each way of docs/start/install.md.
A way fails if it leaves a file. README.md has the figures. The bare system needs root, debootstrap and a mirror.
BLOOMSET_BARE names its archive.

    install.py OUT [WAY...]      HEAD and the files of scripts/release OUT: all ways, or those that contain a text
    install.py OUT --write       writes the table, with all ways
    install.py BUILD --short     a finished build of this machine, in the time of a test
"""

import argparse
import datetime
import os
import pathlib
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "tests" / "packages" / "README.md"
BEGIN, END = "<!-- written by tests/packages/install.py -->\n", "<!-- end -->\n"
SKIPPED = 77


class Way(NamedTuple):
    """Commands of Bash in a checkout, in which packages/ has the files of a release."""

    install: str
    #: Fails if Bloomset does not work.
    use: str
    remove: str
    #: Installs other packages. Counted, but not removed.
    needs: str = "true"
    #: Debian packages that only `use` needs. Not counted.
    tools: str = ""


def quickstart(options, groups, use, tools=""):
    return Way(f"./quickstart.sh{options}", use, "rm -r build", f"scripts/install-packages.sh {groups}", tools)


def debian(package, others, use, tools):
    packages = [package, *others]
    return Way("apt install " + " ".join(f"./packages/{each}_*.deb" for each in packages), use,
               "apt purge --auto-remove " + " ".join(packages), tools=tools)


def engine(name, headers, install, remove, use, needs, tools=""):
    """An extension of a database, whose headers are in `needs` or come from a script."""
    return Way(f"{headers}cmake --preset release && cmake --build build --target bloomset_{name}{install}", use,
               f"{remove}rm -r build", f"scripts/install-packages.sh build; apt install {needs}", tools)


COMMAND_LINE = "debian/tests/command-line"
COMPILER = "apt install g++ cmake ninja-build pkg-config libxxhash-dev libfmt-dev"
LIBRARY, LEVELDB = "libbloomset0.1", "libbloomset-leveldb0.1"
WAYS = [
    quickstart("", "build", f"PATH=$PWD/build:$PATH {COMMAND_LINE}"),
    quickstart(" --server", "build", "debian/tests/module $PWD/build/bloomset.so", "redis-server"),
    quickstart(" --explorer", "build explorer", "test -s $(build/bloomset explore --print)"),
    quickstart(" --all", "build explorer",
               f"cmake --install build --prefix build/usr; PATH=$PWD/build/usr/bin:$PATH {COMMAND_LINE}"),
    debian("bloomset", [LIBRARY], f"{COMMAND_LINE}; debian/tests/texts", "man-db"),
    debian("bloomset-explorer", ["bloomset", LIBRARY], "test -s $(bloomset explore --print)", ""),
    debian("bloomset-module", [], "debian/tests/module", "redis-server"),
    debian("python3-bloomset", [LIBRARY], "debian/tests/python", "python3"),
    debian("libbloomset-dev", [LIBRARY, LEVELDB], "debian/tests/library",
           "cmake g++ make pkgconf libleveldb-dev libsnappy-dev"),
    engine("sqlite", "", "", "",
           "sqlite3 :memory: '.load build/bloomset_sqlite' \"select bloomset_contains(bloomset_agg('ann'), 'ann')\" | grep -x 1",
           "libsqlite3-dev", "sqlite3"),
    engine("postgres", "scripts/get-postgres-headers.sh build/postgres-headers && ", " && cmake --install build --component postgres",
           "xargs rm <build/install_manifest_postgres.txt; ",
           "install -d -o postgres /tmp/data; cd /tmp; export PATH=$PATH:$(echo /usr/lib/postgresql/*/bin)\n"
           "as() { setpriv --reuid postgres --regid postgres --clear-groups \"$@\"; }\n"
           "as initdb -D data; as pg_ctl -D data -o '-k /tmp' -l data/log -w start\n"
           "as psql -h /tmp -qAt -c 'create extension bloomset' -c \"select bloomset_contains(bloomset_agg('ann'::text), 'ann'::text)\" |"
           " grep -x t; as pg_ctl -D data -m immediate stop", "postgresql"),
    engine("duckdb", "scripts/get-duckdb-headers.sh build/duckdb-headers && ", "", "",
           "python3 -m venv /tmp/with; /tmp/with/bin/pip install duckdb==1.4.4\n"
           "/tmp/with/bin/python -c 'import duckdb; db = duckdb.connect(config={\"allow_unsigned_extensions\": True})\n"
           "db.load_extension(\"build/bloomset.duckdb_extension\")\n"
           "text = \"select bloomset_contains(bloomset_agg(x), $$ann$$) from (values ($$ann$$)) t(x)\"\n"
           "assert db.sql(text).fetchall() == [(True,)]'", "nodejs npm", "python3-venv"),
    Way("scripts/debian-packages.sh made", "ls made/bloomset_*.deb", "rm -r made",
        "apt install git; scripts/install-packages.sh build packages"),
    Way("here/bin/pip install packages/*.whl", "here/bin/python debian/tests/python",
        "here/bin/pip uninstall -y bloomset", "apt install python3-venv; python3 -m venv here"),
    Way("here/bin/pip install packages/bloomset-*.tar.gz", "here/bin/python debian/tests/python",
        "here/bin/pip uninstall -y bloomset",
        f"{COMPILER} python3-dev python3-venv; python3 -m venv here"),
    Way("cmake --install build-core --prefix /opt/bloomset",
        "PKG_CONFIG_PATH=$(dirname $(find /opt/bloomset -name bloomset.pc)); export PKG_CONFIG_PATH\n"
        "c++ -std=c++20 tests/consumer/main.cpp -o /tmp/consumer $(pkg-config --cflags --libs bloomset)\n"
        'test "$(/tmp/consumer)" = $\'maybe\\nno\'',
        "rm -r /opt/bloomset build-core/install_manifest.txt",
        f"{COMPILER}; cmake -G Ninja -B build-core -DCMAKE_BUILD_TYPE=Release "
        + " ".join(f"-DBLOOMSET_{part}=OFF" for part in ("DIALECTS", "KEYS", "CLI", "C", "MODULE", "EXAMPLES"))
        + "; cmake --build build-core"),
    # The recipe's own test uses the package.
    Way("conan/bin/conan create packaging/conan --no-remote -s compiler.cppstd=20", "true",
        "conan/bin/conan remove -c 'bloomset/*'; rm -r packaging/conan/test_package/build",
        f"{COMPILER} make python3-venv; python3 -m venv conan; conan/bin/pip install conan; conan/bin/conan profile detect\n"
        "for each in xxhash fmt; do conan/bin/conan create packaging/conan/system --name $each --no-remote; done"),
]
BUILT = Way("cp -r packages/usr /opt/bloomset", f"PATH=/opt/bloomset/bin:$PATH {COMMAND_LINE}", "rm -r /opt/bloomset",
            "dpkg --install packages/*.deb")
#: The release of Debian or Ubuntu of this machine, whose programs run in no older one.
SUITE = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
DOWNLOADS = ("var/cache/apt/archives", "root/.cache/pip/http", "root/.cache/pip/http-v2", "root/.npm/_cacache")
CACHES = ("var/cache", "var/lib/apt", "root/.cache", "root/.npm")
# The package managers' records of all packages.
RECORDS = (*CACHES, "var/lib/dpkg", "var/log", "root/.conan2", "tmp")


class Machine:
    """A bare system of this machine's release, with this machine's way to packages. No server is started as a service."""

    def __init__(self, work, mirrors, short):
        self.base = self.root = work / "base"
        self.log = work / "log"
        archive = pathlib.Path(os.environ.get("BLOOMSET_BARE", f"~/.cache/bloomset/{SUITE}.tar")).expanduser()
        if not archive.exists():
            archive.parent.mkdir(parents=True, exist_ok=True)
            self.quietly("debootstrap", "--variant=minbase", "--include=ca-certificates", SUITE, work / "new",
                         mirrors[SUITE])
            self.quietly("tar", "-C", work / "new", "-cf", f"{archive}.part", ".")
            os.rename(f"{archive}.part", archive)
        self.base.mkdir()
        self.quietly("tar", "-C", self.base, "-xf", archive)
        for path in ("etc/resolv.conf", "etc/pip.conf", "etc/npmrc"):
            if os.path.exists(f"/{path}"):
                shutil.copy(f"/{path}", self.base / path)
        self.quietly("cp", "-r", "/usr/local/share/ca-certificates", self.base / "usr/local/share")
        (self.base / "etc/apt/sources.list").write_text(
            "".join(f"deb {mirror} {suite} main\n" for suite, mirror in mirrors.items()))
        policy = self.base / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
        self.quietly("git", "clone", "--no-hardlinks", ROOT, self.base / "root/bloomset")
        if not short:
            self.run("update-ca-certificates; apt update; apt upgrade; apt clean")
        self.root = work / "root"

    def quietly(self, *command, **options):
        with open(self.log, "w") as log:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, **options)
        if done.returncode != 0:
            fail("".join(self.log.read_text(errors="replace").splitlines(True)[-40:]) + f"failed: {command[-1]}")

    def run(self, command):
        """Runs commands of Bash in the checkout. Their processes and mounts end with them."""
        env = {"DEBIAN_FRONTEND": "noninteractive", "HOME": "/root", "LANG": "C.UTF-8",
               "PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        env |= {name: os.environ[name] for name in ("PIP_CERT", "PIP_INDEX_URL", "NODE_EXTRA_CA_CERTS", "http_proxy",
                                                    "https_proxy", "no_proxy") if name in os.environ}
        self.quietly("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
                     'mount -t proc proc "$0/proc" && exec chroot "$0" bash -euc "$1"', self.root,
                     'apt() { apt-get -y -q --no-install-recommends "$@"; }; cd /root/bloomset\n' + command, env=env)

    def lacks(self, program):
        """The packages of the libraries of a program that the bare system does not have."""
        libraries = re.findall(r"=> (/\S+) ", subprocess.check_output(["ldd", program], text=True))
        # dpkg knows a library by its path in /lib or in /usr/lib, which are one folder.
        paths = [f"{usr}{library.removeprefix('/usr')}" for library in libraries for usr in ("", "/usr")]
        owners = subprocess.run(["dpkg", "-S", *paths], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        packages = {line.split(":")[0] for line in owners.splitlines()}
        return sorted(each for each in packages if not [*(self.base / "var/lib/dpkg/info").glob(f"{each}[:.]*list")])

    def files(self):
        found = set()
        for folder, folders, names in os.walk(self.root):
            here = os.path.relpath(folder, self.root)
            folders[:] = [each for each in folders if os.path.normpath(f"{here}/{each}") not in RECORDS]
            found |= {os.path.normpath(f"{here}/{name}") for name in (*folders, *names)}
        return found

    def megabytes(self, *paths):
        found = ["/dev/null", *(self.root / path for path in paths if (self.root / path).exists())]
        return int(subprocess.check_output(["du", "-scx", "--block-size=1", *found]).split()[-2]) / 1e6

    def installed(self):
        return self.megabytes(".") - self.megabytes(*CACHES)

    def try_way(self, way, packages, last):
        """Elapsed seconds, seconds of processor time, MB downloaded and MB on disk."""
        shutil.rmtree(self.root, ignore_errors=True)
        self.quietly(*(("mv",) if last else ("cp", "-a")), self.base, self.root)
        checkout = self.root / "root/bloomset"
        shutil.copytree(packages, checkout / "packages")
        if way.tools:
            self.run(f"apt install {way.tools}; apt clean")
        disk = self.installed()
        files = sum(path.stat().st_size for word in way.install.split() if "packages/" in word
                    for path in checkout.glob(os.path.normpath(word)) if path.is_file()) / 1e6
        begin, processor = time.monotonic(), processor_time()
        self.run(way.needs)
        before = self.files()
        self.run(way.install)
        figures = (time.monotonic() - begin, processor_time() - processor, self.megabytes(*DOWNLOADS) + files,
                   self.installed() - disk)
        self.run(way.use)
        self.run(way.remove)
        if different := sorted(before ^ self.files()):
            fail("\n".join([*different[:20], f"left or lost by: {way.install}"]))
        return figures


def fail(sentence):
    sys.exit(f"install.py: {sentence}")


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def answers(mirror):
    try:
        return urllib.request.urlopen(f"{mirror.rstrip('/')}/dists/{SUITE}/InRelease", timeout=20)
    except (OSError, ValueError):
        return None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("ways", nargs="*")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--short", action="store_true")
    given = parser.parse_args()
    ways = [way for way in WAYS if not given.ways or any(text in way.install for text in given.ways)]
    if given.write and ways != WAYS:
        fail("the table has all ways")
    targets = subprocess.check_output(["apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)"], text=True)
    mirrors = dict(line.split() for line in targets.splitlines() if SUITE and line.startswith(SUITE))
    if os.geteuid() != 0 or not shutil.which("debootstrap") or not answers(mirrors.get(SUITE, "")):
        print("SKIPPED: a bare system needs root, debootstrap, and a mirror of this machine's release in apt's sources")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        machine = Machine(work, mirrors, given.short)
        packages = work / "packages"
        packages.mkdir()
        if given.short:
            ways = [BUILT]
            machine.quietly("cmake", "--install", given.folder, "--prefix", packages / "usr")
            # This machine downloads what the other lacks, since `apt update` there takes longer.
            if lacking := machine.lacks(packages / "usr/bin/bloomset"):
                machine.quietly("apt-get", "download", *(f"{each}/{SUITE}" for each in lacking), cwd=packages)
        for each in (*given.folder.glob("debian/*.deb"), *given.folder.glob("python/bloomset*")):
            shutil.copy(each, packages)
        rows = []
        for way in ways:
            figures = [f"{each:.{each < 10:d}f}" for each in machine.try_way(way, packages, way is ways[-1])]
            rows.append(f"| `{way.install}` | {' | '.join(figures)} | `{way.remove}` |\n")
            print(rows[-1], end="", flush=True)
    if given.write:
        cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())[1]
        text = DOCUMENT.read_text()
        table = f"""{BEGIN}Measured on {datetime.date.today()}: {os.cpu_count()} cores of {cpu}, in a bare system ({SUITE}).

| command | seconds | of processor time | MB downloaded | MB on disk | removal |
|---|---:|---:|---:|---:|---|
{"".join(rows)}{END}"""
        DOCUMENT.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: table, text, flags=re.DOTALL))


if __name__ == "__main__":
    main()
