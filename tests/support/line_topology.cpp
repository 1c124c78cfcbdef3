// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/line_topology.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <gtest/gtest.h>

namespace sextant::test {

namespace {

std::int64_t cross(LinePoint a, LinePoint b, LinePoint c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

int sign(std::int64_t value) {
    return value > 0 ? 1 : value < 0 ? -1 : 0;
}

bool on_segment(LinePoint point, LinePoint a, LinePoint b) {
    return cross(a, b, point) == 0 && std::min(a.x, b.x) <= point.x &&
           point.x <= std::max(a.x, b.x) && std::min(a.y, b.y) <= point.y &&
           point.y <= std::max(a.y, b.y);
}

bool meet(LinePoint a, LinePoint b, LinePoint c, LinePoint d) {
    if (on_segment(a, c, d) || on_segment(b, c, d) || on_segment(c, a, b) || on_segment(d, a, b))
        return true;
    return sign(cross(a, b, c)) * sign(cross(a, b, d)) < 0 &&
           sign(cross(c, d, a)) * sign(cross(c, d, b)) < 0;
}

/// Like meet(), for segments of a contour that share the end of the first one.
bool fold_back(LinePoint a, LinePoint shared, LinePoint d) {
    return on_segment(a, shared, d) || on_segment(d, a, shared);
}

/// The reference, for one set of contours.
struct Reference {
    const std::vector<Stretch>& paths;
    double tolerance;
    bool topology;

    /// Squared distance from the segment times its squared length.
    static std::int64_t score(LinePoint point, LinePoint a, LinePoint b) {
        const std::int64_t dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
        const std::int64_t along = (point.x - a.x) * dx + (point.y - a.y) * dy;
        const auto squared_distance = [&](LinePoint end) {
            return (point.x - end.x) * (point.x - end.x) + (point.y - end.y) * (point.y - end.y);
        };
        if (along < 0)
            return squared_distance(a) * length;
        if (along > length)
            return squared_distance(b) * length;
        return cross(a, b, point) * cross(a, b, point);
    }

    bool sweeps_a_point(const Stretch& path, std::size_t first, std::size_t last) const {
        const Stretch stretch(path.begin() + static_cast<std::ptrdiff_t>(first),
                              path.begin() + static_cast<std::ptrdiff_t>(last) + 1);
        Stretch curve = stretch;
        curve.push_back(stretch.front());
        for (const Stretch& other : paths) {
            for (const LinePoint point : other) {
                if (std::find(stretch.begin(), stretch.end(), point) == stretch.end() &&
                    (on_segment(point, stretch.front(), stretch.back()) || inside(point, curve)))
                    return true;
            }
        }
        return false;
    }

    std::size_t farthest(const Stretch& path, std::size_t first, std::size_t last) const {
        std::size_t found = first + 1;
        for (std::size_t i = first + 1; i < last; ++i) {
            if (score(path[i], path[first], path[last]) >
                score(path[found], path[first], path[last]))
                found = i;
        }
        return found;
    }

    void divide(const Stretch& path, std::size_t first, std::size_t last,
                std::vector<bool>& kept) const {
        if (last - first < 2)
            return;
        const std::size_t middle = farthest(path, first, last);
        const double distance = distance_to_segment(path[middle], path[first], path[last]);
        if (distance <= tolerance && !(topology && sweeps_a_point(path, first, last)))
            return;
        kept[middle] = true;
        divide(path, first, middle, kept);
        divide(path, middle, last, kept);
    }

    std::vector<bool> kept_of(const Stretch& path, bool closed) const {
        const std::size_t last = path.size() - 1;
        std::vector<bool> kept(path.size(), false);
        kept[0] = kept[last] = true;
        if (!closed) {
            divide(path, 0, last, kept);
            return kept;
        }
        std::size_t opposite = 0;
        for (std::size_t i = 0; i < last; ++i) {
            if (std::hypot(path[i].x - path[0].x, path[i].y - path[0].y) >
                std::hypot(path[opposite].x - path[0].x, path[opposite].y - path[0].y))
                opposite = i;
        }
        kept[opposite] = true;
        divide(path, 0, opposite, kept);
        divide(path, opposite, last, kept);
        if (last < 3 || std::count(kept.begin(), kept.end(), true) > 3)
            return kept;
        std::size_t third = 0;
        for (std::size_t i = 1; i < last; ++i) {
            if (i != opposite && score(path[i], path[0], path[opposite]) >
                                     score(path[third], path[0], path[opposite]))
                third = i;
        }
        kept[third] = true;
        divide(path, third < opposite ? 0 : opposite, third, kept);
        divide(path, third, third < opposite ? opposite : last, kept);
        return kept;
    }
};

} // namespace

std::vector<Stretch> paths_of(const ContourLines& lines) {
    std::vector<Stretch> paths;
    for (const ContourLine& line : lines.lines) {
        Stretch path;
        for (Elements i = 0; i < line.points; ++i) {
            const Elements pixel = lines.pixels[static_cast<std::size_t>(line.first + i)];
            path.push_back({pixel % lines.image.width, pixel / lines.image.width});
        }
        if (line.closed)
            path.push_back(path.front());
        paths.push_back(std::move(path));
    }
    return paths;
}

ContourLines simplified_reference(const ContourLines& lines, double tolerance, bool topology) {
    const std::vector<Stretch> paths = paths_of(lines);
    const Reference reference{paths, tolerance, topology};
    ContourLines made{lines.image, {}, {}};
    for (std::size_t k = 0; k < paths.size(); ++k) {
        const ContourLine& line = lines.lines[k];
        const std::vector<bool> kept = reference.kept_of(paths[k], line.closed);
        made.lines.push_back({static_cast<Elements>(made.pixels.size()), 0, line.closed});
        for (Elements i = 0; i < line.points; ++i) {
            if (!kept[static_cast<std::size_t>(i)])
                continue;
            made.pixels.push_back(lines.pixels[static_cast<std::size_t>(line.first + i)]);
            ++made.lines.back().points;
        }
    }
    return made;
}

std::vector<std::vector<Stretch>> stretches_of(const ContourLines& lines,
                                               const ContourLines& simplified) {
    const std::vector<Stretch> before = paths_of(lines), after = paths_of(simplified);
    std::vector<std::vector<Stretch>> all;
    EXPECT_EQ(before.size(), after.size());
    for (std::size_t k = 0; k < std::min(before.size(), after.size()); ++k) {
        EXPECT_EQ(lines.lines[k].closed, simplified.lines[k].closed);
        std::vector<Stretch> stretches;
        Stretch stretch{before[k][0]};
        EXPECT_EQ(before[k].front(), after[k].front());
        std::size_t next = 1;
        for (std::size_t i = 1; i < before[k].size(); ++i) {
            stretch.push_back(before[k][i]);
            if (next < after[k].size() && before[k][i] == after[k][next]) {
                stretches.push_back(stretch);
                stretch = {before[k][i]};
                ++next;
            }
        }
        EXPECT_EQ(next, after[k].size()) << "points that the contour does not have";
        EXPECT_EQ(stretch.size(), 1U) << "the last point is not kept";
        all.push_back(stretches);
    }
    return all;
}

double distance_to_segment(LinePoint point, LinePoint a, LinePoint b) {
    const auto dx = static_cast<double>(b.x - a.x), dy = static_cast<double>(b.y - a.y);
    const auto x = static_cast<double>(point.x - a.x), y = static_cast<double>(point.y - a.y);
    const double length = dx * dx + dy * dy;
    const double along = length == 0 ? 0 : std::clamp((x * dx + y * dy) / length, 0., 1.);
    return std::hypot(x - along * dx, y - along * dy);
}

std::int64_t new_crossings(const std::vector<std::vector<Stretch>>& stretches) {
    const auto met_before = [](const Stretch& one, const Stretch& other) {
        for (std::size_t i = 0; i + 1 < one.size(); ++i) {
            for (std::size_t k = 0; k + 1 < other.size(); ++k) {
                if (meet(one[i], one[i + 1], other[k], other[k + 1]))
                    return true;
            }
        }
        return false;
    };
    std::int64_t crossings = 0;
    for (std::size_t p = 0; p < stretches.size(); ++p) {
        for (std::size_t i = 0; i < stretches[p].size(); ++i) {
            const Stretch& one = stretches[p][i];
            for (std::size_t q = p; q < stretches.size(); ++q) {
                for (std::size_t k = q == p ? i + 1 : 0; k < stretches[q].size(); ++k) {
                    const Stretch& other = stretches[q][k];
                    const LinePoint a = one.front(), b = one.back(), c = other.front(),
                                    d = other.back();
                    const bool ring = b == c && d == a; // of two points
                    const bool met = ring     ? one.size() + other.size() > 4
                                     : b == c ? fold_back(a, b, d)
                                     : d == a ? fold_back(c, d, b)
                                              : meet(a, b, c, d) && !met_before(one, other);
                    crossings += met ? 1 : 0;
                }
            }
        }
    }
    return crossings;
}

bool inside(LinePoint point, const Stretch& path) {
    bool found = false;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        const LinePoint a = path[i], b = path[i + 1];
        if ((a.y <= point.y) == (b.y <= point.y))
            continue;
        // The crossing is left of the point.
        const std::int64_t side = cross(a, b, point);
        found ^= b.y > a.y ? side < 0 : side > 0;
    }
    return found;
}

} // namespace sextant::test
