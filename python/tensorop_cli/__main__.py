"""`python -m tensorop_cli` is the program: the same arguments, streams and exit status."""

import os
import subprocess
import sys

from . import Error, program


def main() -> int:
    try:
        command = [program(), *sys.argv[1:]]
        if os.name == "nt":
            return subprocess.call(command)
        sys.stdout.flush()
        os.execv(command[0], command)
    except (Error, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
