# SPDX-License-Identifier: BSD-3-Clause
"""``python3 -m sextant`` is the command ``sextant``."""
import sys

from . import _command


def main() -> int:
    """Run the command line."""
    _command.set_own_command([sys.executable, "-m", "sextant"])
    return _command.main(["sextant", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
