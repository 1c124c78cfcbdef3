# SPDX-License-Identifier: BSD-3-Clause
# Volumes whose blocks SciPy labels, stitched by the command and by the same rule in NumPy: the same
# labels and the same pairs. `stitch.py 100` tests more.
import csv
import os
import random
import subprocess
import sys
import tempfile

try:
    import numpy
    from scipy import ndimage
except ImportError:
    print("skipped: needs python3-numpy and python3-scipy (./test --peers installs them)")
    sys.exit(77)


def cover(side, chance):
    """Intervals that cover [0, side) and overlap."""
    begin, all_of = 0, []
    while True:
        end = min(side, begin + chance.randint(8, 20))
        all_of.append((begin, end))
        if end == side:
            return all_of
        begin = end - chance.randint(0, 5)


def owners(shape, boxes):
    """For each voxel the box in which it is deepest; of equal ones the first."""
    best = numpy.full(shape + (3,), -1)
    owner = numpy.full(shape, -1)
    for number, box in enumerate(boxes):
        depth = numpy.stack(numpy.meshgrid(*[
            numpy.minimum(numpy.arange(high - low), numpy.arange(high - low)[::-1])
            for low, high in box], indexing="ij"), axis=-1)
        depth.sort(axis=-1)
        part = tuple(slice(low, high) for low, high in box)
        old = best[part]
        deeper = numpy.zeros(depth.shape[:3], bool)
        equal = numpy.ones(depth.shape[:3], bool)
        for axis in range(3):
            deeper |= equal & (depth[..., axis] > old[..., axis])
            equal &= depth[..., axis] == old[..., axis]
        old[deeper] = depth[deeper]
        owner[part][deeper] = number
    return owner


def meeting(boxes, labels, owner, a, b):
    """The labels of two blocks at the voxels where they meet."""
    low = [max(p[0], q[0]) for p, q in zip(boxes[a], boxes[b])]
    high = [min(p[1], q[1]) for p, q in zip(boxes[a], boxes[b])]

    def part(block, low, high):
        return labels[block][tuple(slice(l - p[0], h - p[0])
                                   for l, h, p in zip(low, high, boxes[block]))].ravel()

    sides = [h - l for l, h in zip(low, high)]
    if min(sides) > 0:
        return part(a, low, high), part(b, low, high)
    if min(sides) < 0 or sides.count(0) != 1:
        return None
    axis = sides.index(0)
    found = {}
    for block, first in ((a, boxes[a][axis][1] == low[axis]), (b, boxes[b][axis][1] == low[axis])):
        l, h = list(low), list(high)
        l[axis], h[axis] = (low[axis] - 1, low[axis]) if first else (low[axis], low[axis] + 1)
        at = tuple(slice(*each) for each in zip(l, h))
        found[block] = part(block, l, h), owner[at].ravel() == block
    both = found[a][1] & found[b][1]
    return found[a][0][both], found[b][0][both]


def counted(p, q):
    pairs, counts = numpy.unique(numpy.stack([p, q], axis=1), axis=0, return_counts=True)
    both = (pairs != 0).all(axis=1)
    return [tuple(pair) for pair in pairs[both].tolist()], counts[both].tolist()


def stitched(shape, boxes, labels, by, threshold):
    owner = owners(shape, boxes)
    matches = []
    for a in range(len(boxes)):
        for b in range(a + 1, len(boxes)):
            met = meeting(boxes, labels, owner, a, b)
            if met is None:
                continue
            p, q = met
            for (i, j), shared in zip(*counted(p, q)):
                union = int(((p == i) | (q == j)).sum())
                score = shared / union if by == "iou" else shared
                matches.append((-score, a, b, i, j, shared, union))
    matches.sort()
    objects = {(block, label): [(block, label)] for block in range(len(boxes))
               for label in numpy.unique(labels[block]).tolist() if label}
    pairs = []
    for score, a, b, i, j, shared, union in matches:
        first, second = objects[a, i], objects[b, j]
        if -score < threshold:
            outcome = "below"
        elif first is not second and {block for block, _ in first} & {block for block, _ in second}:
            outcome = "conflict"
        else:
            outcome = "joined"
            if first is not second:
                first += second
                for each in second:
                    objects[each] = first
        pairs.append((a, i, b, j, shared, union, outcome))
    result = numpy.zeros(shape, numpy.uint32)
    numbers = {}
    for at in zip(*numpy.nonzero(numpy.ones(shape))):
        block = owner[at]
        label = int(labels[block][tuple(x - p[0] for x, p in zip(at, boxes[block]))])
        if label:
            name = id(objects[block, label])
            result[at] = numbers.setdefault(name, len(numbers) + 1)
    return result, pairs


turns = int(sys.argv[1]) if len(sys.argv) > 1 else 20
seen = {"joined": 0, "conflict": 0, "below": 0}
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for turn in range(turns):
        chance, noise = random.Random(turn), numpy.random.default_rng(turn)
        shape = (1 if turn % 4 == 3 else chance.randint(8, 24), chance.randint(8, 40), chance.randint(8, 40))
        smooth = ndimage.gaussian_filter(noise.standard_normal(shape), 1.5)
        volume = smooth > numpy.quantile(smooth, .7)
        boxes = sorted([z, y, x] for z in cover(shape[0], chance) for y in cover(shape[1], chance)
                       for x in cover(shape[2], chance))
        labels = []
        with open("blocks.csv", "w", encoding="utf-8") as file:
            file.write("x,file,z,y\n")
            for number, box in enumerate(boxes):
                own, count = ndimage.label(volume[tuple(slice(*each) for each in box)])
                names = numpy.concatenate([[0], noise.permutation(count) + 1])
                labels.append(names[own].astype(chance.choice(["u1", "i2", ">u4", "i8"])))
                numpy.save(f"{number}.npy", labels[-1])
                file.write(f"{box[2][0]},{number}.npy,{box[0][0]},{box[1][0]}\n")
        by, threshold = ("iou", chance.choice([.3, .5, .8])) if turn % 2 else ("voxels", chance.randint(1, 9))
        expected, pairs = stitched(shape, boxes, labels, by, threshold)
        subprocess.run([os.environ["SEXTANT"], "stitch", "blocks.csv", "-o", "out.npy", "--joins", "joins.csv", "--by", by,
                        "--threshold", str(threshold), "--ranks", str(1 + turn % 3)],
                       check=True, stdout=subprocess.DEVNULL)
        found = numpy.load("out.npy").reshape(shape)
        if not numpy.array_equal(found, expected):
            sys.exit(f"FAILED: turn {turn}: {(found != expected).sum()} voxels differ")
        with open("joins.csv", encoding="utf-8") as file:
            rows = list(csv.reader(file))[1:]
        number_of = {tuple(str(each[0]) for each in box): number for number, box in enumerate(boxes)}
        read = [(number_of[tuple(row[0:3])], int(row[3]), number_of[tuple(row[4:7])], int(row[7]), int(row[8]), int(row[9]),
                 row[11]) for row in rows]
        if read != pairs:
            sys.exit(f"FAILED: turn {turn}: other pairs")
        for pair in pairs:
            seen[pair[-1]] += 1
if min(seen.values()) < 5:
    sys.exit(f"FAILED: too few of each outcome: {seen}")
print(f"{turns} volumes: {seen}")
