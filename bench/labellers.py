# SPDX-License-Identifier: BSD-3-Clause
# Labelling of a volume by Sextant, cc3d and dask-image, in turn, in one process and on one core: medians of CPU times, which
# a loaded machine affects less than wall times. All must find the same number of components.
#
#   labellers.py [SIDE]   needs the modules sextant, scipy, cc3d, dask and dask_image
import itertools
import os
import statistics
import sys
import time

import cc3d
import dask
import dask.array
import dask_image.ndmeasure
import numpy
import scipy.ndimage
import sextant

rounds = 7


def with_dask(mask, neighbours):
    structure = scipy.ndimage.generate_binary_structure(3, 1 if neighbours == 6 else 3)
    chunks = dask.array.from_array(mask, chunks=len(mask) // 2)
    with dask.config.set(scheduler="synchronous"):
        return int(dask.compute(*dask_image.ndmeasure.label(chunks, structure))[1])


programs = {
    "sextant": lambda mask, neighbours: sextant.label(mask, neighbours=neighbours, ranks=1).components,
    "cc3d": lambda mask, neighbours: int(cc3d.connected_components(mask, connectivity=neighbours, return_N=True)[1]),
    "dask-image": with_dask,
}

side = int(sys.argv[1]) if len(sys.argv) > 1 else 256
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
noise = numpy.random.default_rng(1).random((side,) * 3, numpy.float32)
smooth = scipy.ndimage.gaussian_filter(noise, 3)
volumes = {"blobs": smooth > numpy.quantile(smooth[::8, ::8, ::8], .8), "noise": noise < .3}
for (name, mask), neighbours in itertools.product(volumes.items(), (6, 26)):
    times, counts = {}, {}
    for _ in range(rounds):
        for program, label in programs.items():
            begin = time.process_time()
            counts[program] = label(mask, neighbours)
            times.setdefault(program, []).append(time.process_time() - begin)
    if len(set(counts.values())) > 1:
        sys.exit("other numbers of components: %s" % counts)
    median = {program: statistics.median(values) for program, values in times.items()}
    print("%s, %d neighbours, %d components:" % (name, neighbours, counts["sextant"]))
    for program, values in times.items():
        print("  %-10s %.3f s (%.3f to %.3f), Sextant takes %.2f of it"
              % (program, median[program], min(values), max(values), median["sextant"] / median[program]))
