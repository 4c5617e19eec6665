"""The size of a program with one blocked_bloom, which must not link other kinds: small_program.py PROGRAM STRIP"""

import pathlib
import subprocess
import sys
import tempfile

program, strip = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    stripped = pathlib.Path(folder) / "program"
    subprocess.run([strip, "-o", stripped, program], check=True)
    size = stripped.stat().st_size
if size > 200_000:
    sys.exit(f"{program} has {size:,} bytes, more than 200,000")
