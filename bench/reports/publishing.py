#!/usr/bin/env python3
"""The bytes that a follower of a published filter reads in a day, as the table of bench/results/publishing.md.

    bench/reports/publishing.py [KEYS] [NEW] > bench/results/publishing.md     default: 10000000 keys, 1000 new ones an hour
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "support"))
from web_servers import Nginx  # noqa: E402

BLOOMSET = os.environ.get("BLOOMSET", str(ROOT / "build" / "bloomset"))
HOURS = 24
ASKED = 10  # keys per hour, half of them members


def run(folder, *args, input=None):
    done = subprocess.run([BLOOMSET, *args], cwd=folder, input=input, capture_output=True)
    assert done.returncode == 0, (args, done.stderr.decode())
    return done.stderr.decode()


def hour(h, new):
    return b"".join(b"https://new%d-%d.example/\n" % (h, i) for i in range(new))


def read_by_fetch(folder, source, target, names):
    """The sizes of the files that a fetch reads now: the manifest, and those that were not there before."""
    run(folder, "fetch", "-q", source, "-o", target)
    files = {path.name: path.stat().st_size for path in (folder / source).iterdir()}
    fresh = set(files) - names - {"manifest.json"}
    read = files["manifest.json"] + sum(files[name] for name in fresh if not name.endswith(".bloom"))
    names |= set(files)
    return read


def asked_by_range(folder, new):
    """The bytes that nginx sends when some keys are asked each hour, without a file."""
    work = folder / "nginx"
    work.mkdir(exist_ok=True)
    server = Nginx(work, folder)
    try:
        for h in range(HOURS):
            keys = [b"https://host%d.example/" % (h * ASKED + i) for i in range(ASKED // 2)]
            keys += hour(h, new).split()[:ASKED // 2]
            done = subprocess.run([BLOOMSET, "check", f"{server.url}/asked"], input=b"\n".join(keys), capture_output=True)
            assert done.returncode == 0, done.stderr.decode()
        return sum(request.sent for request in server.requests())
    finally:
        server.stop()


def main():
    keys = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    new = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with open(folder / "list.txt", "wb") as out:
            for i in range(keys):
                out.write(b"https://host%d.example/\n" % i)
        print("# A day of a published filter\n")
        print(f"`bench/reports/publishing.py {keys} {new}`: {keys:,} keys at 1%, and {new:,} new ones each hour. A follower reads")
        print(f"{HOURS} times in a day; each time the manifest is among the bytes. The last column\nhas the bytes that nginx sends to one who has no file and asks {ASKED} keys "
              "each hour, half of them members. Sizes do not depend on the machine.\n")
        print("| kind | whole file | patches | layers | rate with all layers | asked by range |")
        print("|---|---:|---:|---:|---:|---:|")
        for kind in ("bloom", "blocked_bloom", "ribbon"):
            plan = ["--kind", kind, "--fpr", "1%"]
            if kind != "ribbon":
                plan += ["--capacity", str(keys + HOURS * new)]
            run(folder, "build", "-q", "--force", "-o", "f", *plan, "list.txt")
            sums, names = {"patches": 0, "layers": 0}, {"patches": set(), "layers": set()}
            for way in sums:
                run(folder, "publish", "-q", f"{kind}-{way}", "f")
                read_by_fetch(folder, f"{kind}-{way}", f"{kind}-{way}.bloom", names[way])
            size = (folder / "f").stat().st_size
            (folder / "asked").write_bytes((folder / "f").read_bytes())
            asked = asked_by_range(folder, new)
            for h in range(HOURS):
                said = run(folder, "publish", f"{kind}-layers", "--layer", "-", input=hour(h, new))
                sums["layers"] += read_by_fetch(folder, f"{kind}-layers", f"{kind}-layers.bloom", names["layers"])
                if kind != "ribbon":
                    run(folder, "add", "-q", "f", input=hour(h, new))
                    run(folder, "publish", "-q", f"{kind}-patches", "f")
                    sums["patches"] += read_by_fetch(folder, f"{kind}-patches", f"{kind}-patches.bloom", names["patches"])
            rate = re.search(r"rate (\S+) of", said)[1]
            if kind != "ribbon":
                assert (folder / "f").read_bytes() == (folder / f"{kind}-patches.bloom").read_bytes()
            patches = f"{sums['patches']:,}" if kind != "ribbon" else "as the whole"
            print(f"| {kind} | {HOURS * size:,} | {patches} | {sums['layers']:,} | {rate} | {asked:,} |", flush=True)


if __name__ == "__main__":
    main()
