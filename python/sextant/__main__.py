# SPDX-License-Identifier: BSD-3-Clause
"""``python3 -m sextant`` is the command ``sextant``."""
import sys

from . import _core


def main() -> int:
    """Run the command line."""
    return _core.main([sys.executable, "-m", "sextant"], ["sextant", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
