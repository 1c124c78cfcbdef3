#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# paraview.sh MPIRUN LAUNCHER: renders scenes in ParaView over its own IceT and over Sextant, and compares
# the images: the same for opaque surfaces, within a level of 255 for each blending otherwise.
set -eu
mpirun=$1 launcher=$2
scenes=$(dirname "$(readlink -f "$0")")
folder=$(mktemp -d)
Xvfb -displayfd 3 -noreset -screen 0 1280x1024x24 3>"$folder/display" 2>/dev/null &
server=$!
trap 'kill $server; rm -rf "$folder"' EXIT
while [ ! -s "$folder/display" ]; do sleep .1; done
DISPLAY=:$(cat "$folder/display") LIBGL_ALWAYS_SOFTWARE=1 SEXTANT_ICET_CHECK=1
export DISPLAY LIBGL_ALWAYS_SOFTWARE SEXTANT_ICET_CHECK
for scene in surface translucent peeling volume selection; do
    for ranks in 1 2 3; do
        "$mpirun" --oversubscribe -n $ranks pvbatch "$scenes/scene.py" $scene "$folder/theirs.png" 501x402
        "$mpirun" --oversubscribe -n $ranks "$launcher" pvbatch "$scenes/scene.py" $scene "$folder/ours.png" 501x402
        /usr/bin/python3 - "$folder/theirs.png" "$folder/ours.png" $scene $ranks <<'END'
import sys
from paraview.vtk.util.numpy_support import vtk_to_numpy
from paraview.vtk.vtkIOImage import vtkPNGReader


def read(path):
    reader = vtkPNGReader()
    reader.SetFileName(path)
    reader.Update()
    return vtk_to_numpy(reader.GetOutput().GetPointData().GetScalars()).astype(int)


theirs, ours = read(sys.argv[1]), read(sys.argv[2])
difference = abs(theirs - ours).max()
print(f"{sys.argv[3]} on {sys.argv[4]} ranks: {len(ours)} pixels, {len(set(map(tuple, ours)))} colours, "
      f"largest difference {difference}")
allowed = {"translucent": 1, "volume": 1, "peeling": int(sys.argv[4]) - 1}  # a level for each blending
sys.exit(int(difference > allowed.get(sys.argv[3], 0)))
END
    done
done
