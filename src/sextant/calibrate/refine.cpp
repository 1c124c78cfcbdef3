// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/refine.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace sextant::calibrate {

namespace {

using machine::Point;

double half_interval(const Point& point) {
    return (point.seconds.high - point.seconds.low) / 2;
}

/// Whether two sizes are as near as a switch needs to be known.
bool close(const Point& a, const Point& b) {
    return b.bytes - a.bytes <= 16 ||
           static_cast<double>(b.bytes) <= 1.05 * static_cast<double>(a.bytes);
}

bool off_the_line(const Point& before, const Point& at, const Point& after) {
    const double share = static_cast<double>(at.bytes - before.bytes) /
                         static_cast<double>(after.bytes - before.bytes);
    const double line =
        before.seconds.median + share * (after.seconds.median - before.seconds.median);
    return std::abs(at.seconds.median - line) >
           std::max(.05 * at.seconds.median, 3 * half_interval(at));
}

bool jumps(const Point& a, const Point& b) {
    return std::abs(b.seconds.median - a.seconds.median) >
           std::max({.1 * a.seconds.median, 3 * half_interval(a), 3 * half_interval(b)});
}

/// In the middle by ratio, since sizes span seven orders.
Bytes between(Bytes a, Bytes b, Bytes unit) {
    const double middle = a == 0 ? static_cast<double>(b) / 2
                                 : std::sqrt(static_cast<double>(a) * static_cast<double>(b));
    return std::llround(middle / static_cast<double>(unit)) * unit;
}

} // namespace

std::vector<Bytes> sizes_wanted(std::span<const Point> points, Bytes unit) {
    std::set<Bytes> wanted;
    const auto halve = [&](const Point& a, const Point& b) {
        const Bytes middle = between(a.bytes, b.bytes, unit);
        if (!close(a, b) && middle > a.bytes && middle < b.bytes)
            wanted.insert(middle);
    };
    for (std::size_t i = 1; i + 1 < points.size(); ++i) {
        if (!off_the_line(points[i - 1], points[i], points[i + 1]))
            continue;
        halve(points[i - 1], points[i]);
        halve(points[i], points[i + 1]);
    }
    return {wanted.begin(), wanted.end()};
}

std::vector<Bytes> switches_in(std::span<const Point> points) {
    std::vector<Bytes> switches;
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
        if (points[i].bytes > 0 && close(points[i], points[i + 1]) &&
            jumps(points[i], points[i + 1]))
            switches.push_back(points[i].bytes);
    }
    return switches;
}

} // namespace sextant::calibrate
