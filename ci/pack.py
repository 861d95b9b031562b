#!/usr/bin/env python3
"""Packs a folder into an archive that depends on nothing but what is in it.

usage: ci/pack.py FOLDER ARCHIVE.tar.gz|ARCHIVE.zip

Members begin with the name of FOLDER, are sorted, belong to nobody, and have the time SOURCE_DATE_EPOCH (default: 1980).
Systems that have no `tar --sort` have this; it needs Python alone.
"""
import gzip
import io
import os
import sys
import tarfile
import time
import zipfile

# what ZIP begins with
EARLIEST = 315532800


def members(folder):
    """Name in the archive and path of each file, sorted by name."""
    above = os.path.dirname(os.path.abspath(folder))
    found = []
    for place, _, names in os.walk(os.path.abspath(folder)):
        found += [os.path.join(place, name) for name in names]
    return sorted((os.path.relpath(path, above).replace(os.sep, "/"), path) for path in found)


def mode(name):
    """Programs alone are executable, also if the archive is made where files have no such mark."""
    return 0o755 if os.path.basename(name) in ("tensorop", "tensorop.exe") else 0o644


def main():
    if len(sys.argv) != 3 or not sys.argv[2].endswith((".tar.gz", ".zip")):
        sys.exit(__doc__)
    folder, archive = sys.argv[1:]
    epoch = max(EARLIEST, int(os.environ.get("SOURCE_DATE_EPOCH", EARLIEST)))
    if archive.endswith(".zip"):
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
            for name, path in members(folder):
                entry = zipfile.ZipInfo(name, time.gmtime(epoch)[:6])
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode(name)) << 16
                entry.create_system = 3
                with open(path, "rb") as file:
                    out.writestr(entry, file.read())
        return
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as out:
        for name, path in members(folder):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = os.path.getsize(path), epoch, mode(name)
            with open(path, "rb") as file:
                out.addfile(entry, file)
    with open(archive, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=epoch) as out:
        out.write(packed.getvalue())


if __name__ == "__main__":
    main()
