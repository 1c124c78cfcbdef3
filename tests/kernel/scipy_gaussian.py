#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints tests/kernel/scipy_gaussian.inc: scipy_gaussian.py >scipy_gaussian.inc"""
import numpy
from scipy import ndimage

height, width = 23, 31
y, x = numpy.mgrid[:height, :width]
image = ((7 * x * x + 13 * y * y + 5 * x * y + 3 * x) % 251).astype(numpy.float64)
borders = (("replicate", "nearest"), ("mirror", "mirror"), ("reflect", "reflect"),
           ("constant", "constant"))
orders = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 3), (4, 0), (2, 2), (4, 4))

print("// border, sigma, order along x, along y, truncate, largest, at (0, 0), (15, 11), (30, 22)")
for border, mode in borders:
    for sigma in (0.5, 1, 2.2, 5.5, 20):
        for order_x, order_y in orders:
            for truncate in (8, 3):
                if truncate == 3 and (sigma != 2.2 or border != "mirror"):
                    continue
                made = ndimage.gaussian_filter(
                    image, sigma, order=(order_y, order_x), mode=mode, truncate=truncate)
                numbers = (numpy.abs(made).max(), made[0, 0], made[11, 15], made[22, 30])
                print("{Border::%s, %g, %d, %d, %d, %s}," % (
                    border, sigma, order_x, order_y, truncate,
                    ", ".join("%.10g" % number for number in numbers)))
