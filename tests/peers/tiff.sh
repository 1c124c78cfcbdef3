#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TIFF series between Sextant, ImageJ and tifffile.
folder=$(cd "$(dirname "$0")" && pwd)
if ! [ -e /usr/share/java/ij.jar ] || ! command -v java >/dev/null ||
    ! /usr/bin/python3 -c 'import numpy, tifffile' 2>/dev/null; then
    echo "skipped: needs imagej, default-jre-headless, python3-tifffile and python3-numpy (./test --peers installs them)"
    exit 77
fi
exec /usr/bin/python3 -B "$folder/tiff.py"
