#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Transforms applied to arrays of 3 to 6 axes, compared with SciPy, zarr, h5py and tifffile, if these are installed.
. "$(dirname "$0")/start.sh"
python=/usr/bin/python3
"$python" -c 'import numpy, scipy, zarr, h5py, tifffile' 2>/dev/null || { echo "skipped: no SciPy, zarr, h5py or tifffile"; exit 77; }
"$python" -B "$(dirname "$0")/apply_arrays.py" "$SEXTANT" "$folder" "$PEAK_MEMORY"
