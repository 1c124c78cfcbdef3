# SPDX-License-Identifier: BSD-3-Clause
"""A scene of ParaView: pvbatch scene.py SCENE FILE WIDTHxHEIGHT."""
import sys

from paraview import simple

scene, path, size = sys.argv[1], sys.argv[2], [int(side) for side in sys.argv[3].split("x")]
view = simple.GetActiveViewOrCreate("RenderView")
view.ViewSize = size
view.Background = [0.1, 0.2, 0.3]
view.UseColorPaletteForBackground = 0
view.OrientationAxesVisibility = 0
view.RemoteRenderThreshold = 0  # always rendered in parallel
if scene == "peeling":  # nested translucent surfaces, which depth peeling sorts
    view.UseFXAA = 0  # the filter turns differences of one level into many: docs/icet.md
    nested = simple.Contour(simple.Wavelet(WholeExtent=[-10, 10] * 3), ContourBy=["POINTS", "RTData"],
                            Isosurfaces=[100, 130, 160, 190, 220])
    shown = simple.Show(nested, view)
    simple.ColorBy(shown, ("POINTS", "RTData"))
    shown.Opacity = 0.3
elif scene == "volume":
    shown = simple.Show(simple.Wavelet(WholeExtent=[-20, 20] * 3), view)
    shown.SetRepresentationType("Volume")
    simple.ColorBy(shown, ("POINTS", "RTData"))
else:
    source = simple.ProcessIdScalars(simple.Sphere(ThetaResolution=64, PhiResolution=64))
    shown = simple.Show(source, view)
    simple.ColorBy(shown, ("POINTS", "ProcessId"))
    shown.Opacity = 0.5 if scene == "translucent" else 1
simple.ResetCamera(view)
if scene == "peeling":
    simple.GetActiveCamera().Azimuth(40)
    simple.GetActiveCamera().Elevation(15)
simple.Render(view)
if scene == "selection":
    picked = simple.SelectSurfaceCells(Rectangle=[size[0] // 3, size[1] // 3, size[0] // 2, size[1] // 2],
                                       View=view)
    simple.Render(view)
simple.SaveScreenshot(path, view, ImageResolution=size)
