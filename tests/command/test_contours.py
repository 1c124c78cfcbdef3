# SPDX-License-Identifier: BSD-3-Clause
"""Contours: the same files on all ranks, tiles and memory limits."""
from command_test import *

counts = ("contours", "points", "closed", "junctions", "cut")


class Contours(CommandTest):
    @classmethod
    def prepare(cls):
        npy("large.npy", (500, 800), letters("ab.ba..ab.a.....b", ".ab", 400000))
        npy("bowl.npy", (50, 60), bytes(min(255, (x - 30) ** 2 // 5 + (y - 25) ** 2 // 4) for y in range(50) for x in range(60)))
        npy("flat.npy", (8, 8), b"0" * 64)
        # Two closed contours, a line and a point; and lines that go up and down through a whole map.
        npy("codes.npy", (3, 5), bytes([0, 2, 255, 254, 4, 6, 4, 255, 254, 255, 255, 255, 0, 4, 255]), "|i1")
        npy("long.npy", (50000, 8), bytes([2, 254] * 4 + [2, 6] * 199992 + [254, 6] * 4), "|i1")

    def test_a_direction_map(self):
        found = facts("contours codes.npy --directions -o one.csv --ranks 1")
        self.assertEqual([found[name] for name in ("contours", "points", "closed", "sigma")], [4, 9, 2, None])
        for format in ("csv", "geojson", "svg", "npy"):
            sextant(f"contours codes.npy --directions -o one.{format} --ranks 1")
            for ranks in (2, 3, 6):
                sextant(f"contours codes.npy --directions -o many.{format} --ranks {ranks}")
                same(f"one.{format}", f"many.{format}", what=f"on {ranks} ranks")
        sextant("contours codes.npy --directions -o longer.csv --min-length 4 --ranks 2")
        self.assertEqual(len(read("longer.csv").splitlines()), 5)

    def test_simplified_contours(self):
        sextant("contours large.npy -o all.csv --ranks 1")
        points = len(read("all.csv").splitlines()) - 1
        for tolerance in ("0", "1.5"):
            sextant(f"contours large.npy -o one.csv --ranks 1 --simplify {tolerance} --json=run.json",
                    f"simplified to ... points within {tolerance} px")
            written = len(read("one.csv").splitlines()) - 1
            self.assertLess(written, points)
            self.assertEqual((load("run.json")["written"], load("run.json")["points"]), (written, points))
            for options in ("--ranks 2", "--ranks 3 --grid 3x1", "--ranks 7", "--ranks 3 --memory 2"):
                sextant(f"contours large.npy -o many.csv --simplify {tolerance} {options}")
                same("one.csv", "many.csv", what=f"within {tolerance} with {options}")
        if MPIRUN:
            sextant("contours large.npy -o mpi.csv --simplify 1.5", processes=3)
            same("one.csv", "mpi.csv")
            sextant("contours large.npy -o mpi.csv --memory 2", processes=3)
            same("all.csv", "mpi.csv")

    def test_images_larger_than_the_memory(self):
        for format in ("csv", "geojson", "svg", "npy"):
            for image in ("large.npy", "long.npy --directions"):
                one = facts(f"contours {image} -o one.{format} --ranks 1 --min-length 2")
                for ranks in (1, 3):
                    many = facts(f"contours {image} -o many.{format} --ranks {ranks} --min-length 2 --memory 2")
                    self.assertGreater(many["strips"], 9)
                    same(f"one.{format}", f"many.{format}", what=image)
                    self.assertEqual([one[name] for name in counts], [many[name] for name in counts])
        sextant("contours large.npy -o many.csv --memory 2 --pattern 2-lev-rc", "--pattern has no effect: ... strips",
                "strips, which are merged one after another")

    def test_edges(self):
        one = facts("contours bowl.npy -o one.csv --sigma 1.5 --ranks 1")
        self.assertGreater(len(read("one.csv").splitlines()), 20)
        for grid in ("6x1", "3x2", "2x3", "1x6"):
            many = facts(f"contours bowl.npy -o many.csv --sigma 1.5 --ranks 6 --grid {grid}")
            same("one.csv", "many.csv", what=grid)
            self.assertEqual([one[name] for name in counts], [many[name] for name in counts])
        sextant("contours bowl.npy -o many.csv --sigma 1.5 --ranks 1", "edges sigma 1.5")
        sextant("contours bowl.npy -o many.csv --sigma 1.5 --thresholds 4,9 --ranks 1",
                "gradient thresholds 4 (low) and 9 (high)")
        if MPIRUN:
            sextant("contours bowl.npy -o mpi.csv --sigma 1.5", processes=3)
            same("one.csv", "mpi.csv")
        found = facts("contours bowl.npy -o many.csv --sigma 1.5 --ranks 4")
        self.assertIn('"reason": "fastest of 4', json.dumps(found["hysteresis"]))
        sextant("contours flat.npy -o flat.geojson", "0 contours of 0 points")
        self.assertIn("features", load("flat.geojson"))

    def test_errors(self):
        for name, codes in (("leaves", [0, 0]), ("astray", [0, 255]), ("nine", [0, 9])):
            npy(f"{name}.npy", (1, 2), bytes(codes), "|i1")
        for name, code in (("late", 9), ("out", 0)):
            npy(f"{name}.npy", (500, 800), b"\xff" * 399999 + bytes([code]), "|i1")
        npy("empty.npy", (0, 0), b"")
        npy("wide.npy", (1, 100000), bytes(100000))
        cut("large.npy", "short.npy", 300000)
        for ranks in (1, 3):
            refuses(f"""
            1 (1, 0) <- contours leaves.npy --directions -o x.csv --ranks {ranks}
            1 (0, 0) <- contours astray.npy --directions -o x.csv --ranks {ranks}
            1 nine.npy: has 9 at (1, 0), expected a direction <- contours nine.npy --directions -o x.csv --ranks {ranks}
            1 late.npy: has 9 at (799, 499) <- contours late.npy --directions -o x.csv --memory 2 --ranks {ranks}
            1 (799, 499) <- contours out.npy --directions -o x.csv --memory 2 --ranks {ranks}
            2 edge thresholds are 9 and 4 <- contours bowl.npy -o x.csv --thresholds 9,4 --ranks {ranks}
            2 edge quantiles are 0.9 and 0.5 <- contours bowl.npy -o x.csv --quantiles .9,.5 --ranks {ranks}
            2 edge quantiles are 0.9 and 0.5 <- contours large.npy -o x.csv --quantiles .9,.5 --memory 2 --ranks {ranks}
            """, lines=0)
        refuses("""
        2 --thresholds 4: expected two numbers <- contours bowl.npy -o x.csv --thresholds 4
        2 sigma .1: expected a number from 0.5 to 1000 <- contours bowl.npy -o x.csv --sigma .1
        2 simplify -1: expected a number from 0 to 1 <- contours bowl.npy -o x.csv --simplify=-1
        2 simplify nan: expected a number from 0 to 1 <- contours bowl.npy -o x.csv --simplify=nan
        2 simplify 2e6: expected a number from 0 to 1 <- contours bowl.npy -o x.csv --simplify=2e6
        2 contours are written as <- contours bowl.npy -o x.png
        2 --sigma has no effect here: a direction map has no gradients <- contours leaves.npy --directions -o x.csv --sigma 2
        2 --quantiles has no effect here: --thresholds replaces <- contours bowl.npy -o x.csv --thresholds 4,9 --quantiles .5,.9
        2 unknown merging pattern 'quad' <- contours bowl.npy -o x.csv --pattern quad
        2 --memory 1 MiB is too small: a row of 100000 pixels and the rows needed around it take <- contours wide.npy -o x.csv --memory 1
        1 expected positive numbers <- contours empty.npy -o x.csv
        1 no points <- contours flat.npy -o x.npy
        1 short.npy <- contours short.npy -o x.csv --memory 2
        """, lines=0)


if __name__ == "__main__":
    unittest.main()
