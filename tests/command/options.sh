#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every option of every command, with each kind of input and in each mode, has an effect or is refused (options.py).
. "$(dirname "$0")/start.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "skipped: no NumPy"; exit 77; }
/usr/bin/python3 -B "$(cd "$(dirname "$0")" && pwd)/options.py" "$folder"
