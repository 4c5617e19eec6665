"""A program with one blocked_bloom links no other kind, and is small: small_program.py PROGRAM STRIP NM"""

import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from kinds import KINDS  # noqa: E402

program, strip, nm = sys.argv[1:]
symbols = subprocess.run([nm, "-C", program], check=True, capture_output=True, text=True).stdout
linked = {kind for kind in KINDS if re.search(rf"\b(basic|plan)_{kind}\b", symbols)}
if linked != {"blocked_bloom"}:
    sys.exit(f"{program} has code of these kinds: {', '.join(sorted(linked))}")
with tempfile.TemporaryDirectory() as folder:
    stripped = pathlib.Path(folder) / "program"
    subprocess.run([strip, "-o", stripped, program], check=True)
    size = stripped.stat().st_size
# g++ 12 makes 190,000, and g++ 14 makes 224,000.
if size > 250_000:
    sys.exit(f"{program} has {size:,} bytes, more than 250,000")
