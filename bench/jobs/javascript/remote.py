#!/usr/bin/env python3
"""What queries of filters on a server read, as a table in Markdown.

    remote.py BUILD [KEYS]

BUILD is the build folder, with the command line and the package for JavaScript. Filters of each kind with a million keys by
default and the rate 1% are behind nginx, whose access log has the bytes. A new program asks for one key, and another one for
100 keys in one call; half of them are members.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "tests" / "support"))
from web_servers import Nginx  # noqa: E402

KINDS = ("blocked_bloom", "bloom", "counting_bloom", "vector_quotient", "cuckoo", "expandable", "scalable_bloom", "fuse", "ribbon")
PROGRAM = """
const {openRemote} = await import(`${process.argv[1]}/remote.js`);
await (await openRemote(process.argv[2])).hasMany(JSON.parse(process.argv[3]));
"""


def main(build, count=1_000_000):
    build = pathlib.Path(build).resolve()
    keys = "".join(f"user{i}@example.com\n" for i in range(int(count))).encode()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        (folder / "logs").mkdir()
        server = Nginx(folder / "logs", folder)
        try:
            print("| kind | file | one key | 100 keys | requests |\n|---|---:|---:|---:|---:|")
            for kind in KINDS:
                file = folder / f"{kind}.bloom"
                subprocess.run([build / "bloomset", "build", "-q", "-o", file, "--kind", kind, "--fpr", "1%"], input=keys, check=True)
                row = [f"`{kind}`", f"{file.stat().st_size / 1e6:.2f} MB"]
                for asked in (["user77@example.com"], [f"{name}{7919 * i}@example.com" for i in range(50) for name in ("user", "guest")]):
                    subprocess.run(["node", "--input-type=module", "-e", PROGRAM, build / "languages" / "javascript",
                                    f"{server.url}/{file.name}", json.dumps(asked)], check=True)
                    requests = server.requests()
                    row.append(f"{sum(request.sent for request in requests) / 1000:.1f} kB")
                print("|", " | ".join([*row, str(len(requests))]), "|", flush=True)
                file.unlink()
        finally:
            server.stop()


main(*sys.argv[1:])
