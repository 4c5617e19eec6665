#!/usr/bin/env python3
"""Makes a wheel for one CPython and CPU: a wheel without compiled code, plus an extension module.

    add-extension.py PURE_WHEEL EXTENSION PYTHON_TAG PLATFORM FOLDER     e.g. cp313 linux_aarch64

The module is put into the package's folder. The times in the archive are SOURCE_DATE_EPOCH, or else those of the wheel.
"""

import base64
import hashlib
import os
import pathlib
import re
import sys
import time
import zipfile


def main():
    if len(sys.argv) != 6:
        sys.exit("add-extension.py: give a wheel, an extension module, the tags of Python and platform, and a folder")
    wheel, extension, folder = (pathlib.Path(sys.argv[i]) for i in (1, 2, 5))
    python, platform = sys.argv[3:5]
    name, version = wheel.name.split("-")[:2]
    info = f"{name}-{version}.dist-info"
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    with zipfile.ZipFile(wheel) as archive:
        dates = {each.filename: each.date_time for each in archive.infolist()}
        files = {each: archive.read(each) for each in dates if each != f"{info}/RECORD"}
    tags = files[f"{info}/WHEEL"].decode()
    tags = re.sub("^Root-Is-Purelib: .*$", "Root-Is-Purelib: false", tags, flags=re.M)
    files[f"{info}/WHEEL"] = re.sub("^Tag: .*$", f"Tag: {python}-{python}-{platform}", tags, flags=re.M).encode()
    files[f"{name}/{extension.name}"] = extension.read_bytes()
    record = ""
    for path, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    date = time.gmtime(int(epoch))[:6] if epoch else dates[f"{info}/WHEEL"]
    with zipfile.ZipFile(folder / f"{name}-{version}-{python}-{python}-{platform}.whl", "w") as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, date)
            entry.external_attr = (0o100755 if path.endswith(".so") else 0o100644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
