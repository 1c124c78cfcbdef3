// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/row_motion.hpp"

#include "sextant/core/error.hpp"

#include <cmath>

#include <fmt/format.h>

namespace sextant::registration {

Point displacement(const RowMotion& motion, double y) {
    return {between_rows(motion.dx, y), between_rows(motion.dy, y)};
}

double displaced_row(const RowMotion& motion, double y, double start) {
    constexpr int most = 200;
    constexpr double close = 1e-7;
    double row = start;
    for (int i = 0; i < most; ++i) {
        const double next = y + between_rows(motion.dy, row);
        const double change = std::abs(next - row);
        row = next;
        if (change < close)
            return row;
    }
    throw InvalidTask(fmt::format("the displacements of rows change their order near row {:.0f}, "
                                  "expected displacements downward that change by less than a "
                                  "pixel per row",
                                  y));
}

Point apply(const RowMotion& motion, Point x, Point c) {
    const Point moved = apply(motion.motion, x, c);
    const double y = displaced_row(motion, moved.y, moved.y);
    return {moved.x + between_rows(motion.dx, y), y};
}

Point apply_inverse(const RowMotion& motion, Point p, Point c) {
    const Point d = displacement(motion, p.y);
    return apply(inverse(motion.motion), {p.x - d.x, p.y - d.y}, c);
}

} // namespace sextant::registration
