#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The page and the pyramid of a labelled volume, compared with NumPy and zarr, if these are installed.
. "$(dirname "$0")/start.sh"
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: no NumPy"; exit 77; }
"$python" -B "$(dirname "$0")/volume_page.py" "$SEXTANT" "$folder"
