// SPDX-License-Identifier: BSD-3-Clause
// Simplified contours: the reference's points, their distances, and their topology, tested pair by
// pair.
#include "sextant/kernel/label/line_simplification.hpp"

#include "sextant/core/error.hpp"

#include <cmath>

#include "tests/format/temporary_folder.hpp"
#include "tests/support/line_runs.hpp"
#include "tests/support/line_topology.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;

ContourLines simplified(const ContourLines& lines, double tolerance,
                        const kernel::MaskStorage& storage = {}) {
    LinesInMemory reader(lines);
    ContourLines made{lines.image, {}, {}};
    kernel::simplify(
        reader, tolerance,
        [&](const ContourLine& line, Elements index, Elements pixel) {
            if (index == 0)
                made.lines.push_back({static_cast<Elements>(made.pixels.size()), 0, line.closed});
            EXPECT_EQ(made.lines.back().points++, index);
            made.pixels.push_back(pixel);
        },
        storage);
    return made;
}

/// Contours of a closed curve with waves, and of small rings, lines and points around it.
DirectionMap flower(ImageShape image) {
    const double cx = static_cast<double>(image.width) / 2,
                 cy = static_cast<double>(image.height) / 2;
    const auto is_inside = [&](Elements x, Elements y) {
        const double dx = static_cast<double>(x) - cx, dy = static_cast<double>(y) - cy;
        return std::hypot(dx, dy) < cy * (.75 + .12 * std::sin(7 * std::atan2(dy, dx)));
    };
    // Follows the border of the shape with the shape on the right.
    std::vector<std::pair<Elements, Elements>> path;
    Elements x = 0, y = 0;
    while (!is_inside(x, y)) {
        x = (x + 1) % image.width;
        y += x == 0 ? 1 : 0;
    }
    const auto first = std::pair(x, y);
    int code = 0;
    do {
        path.emplace_back(x, y);
        int turned = (code + 5) % 8;
        while (!is_inside(x + kernel::steps[turned].x, y + kernel::steps[turned].y))
            turned = (turned + 1) % 8;
        code = turned;
        x += kernel::steps[code].x;
        y += kernel::steps[code].y;
    } while (std::pair(x, y) != first);
    DirectionMap map = no_directions("flower", image);
    for (std::size_t i = 0; i < path.size(); ++i) {
        const auto& [to_x, to_y] = path[(i + 1) % path.size()];
        map.at(path[i].first, path[i].second) =
            direction_of(to_x - path[i].first, to_y - path[i].second);
    }
    // Points beside the curve, which it must not sweep over.
    Random random(5);
    for (int k = 0; k < 60; ++k) {
        const Elements px = random.number(0, static_cast<int>(image.width) - 1);
        const Elements py = random.number(0, static_cast<int>(image.height) - 1);
        if (map.at(px, py) == kernel::no_edge)
            map.at(px, py) = kernel::edge_end;
    }
    return map;
}

std::vector<ContourLines> contours_of_all_kinds() {
    std::vector<ContourLines> all;
    for (const ImageShape image : {ImageShape{1, 1}, {1, 9}, {2, 2}, {21, 17}, {40, 30}}) {
        for (const DirectionMap& map : direction_maps(image))
            all.push_back(lines_of_walk(map, 1));
    }
    all.push_back(lines_of_walk(flower({60, 50}), 1));
    for (unsigned seed = 1; seed <= 20; ++seed)
        all.push_back(lines_of_walk(
            random_directions(random_shape({15, 12}, 40 + 3 * static_cast<int>(seed), seed), seed),
            1));
    return all;
}

constexpr double tolerances[] = {0, .5, .8, 1, 2.5, 7, 1000};

TEST(LineSimplification, keeps_the_points_of_the_reference) {
    for (const ContourLines& lines : contours_of_all_kinds()) {
        for (const double tolerance : tolerances)
            expect_same(simplified(lines, tolerance), simplified_reference(lines, tolerance),
                        fmt::format("{}x{} pixels, {} contours, within {}", lines.image.width,
                                    lines.image.height, lines.lines.size(), tolerance));
    }
}

TEST(LineSimplification, leaves_no_point_farther_away_than_the_tolerance) {
    double greatest = 0;
    for (const ContourLines& lines : contours_of_all_kinds()) {
        for (const double tolerance : tolerances) {
            for (const auto& contour : stretches_of(lines, simplified(lines, tolerance))) {
                for (const Stretch& stretch : contour) {
                    for (const LinePoint point : stretch) {
                        const double distance =
                            distance_to_segment(point, stretch.front(), stretch.back());
                        ASSERT_LE(distance, tolerance + 1e-12);
                        if (tolerance == 2.5)
                            greatest = std::max(greatest, distance);
                    }
                }
            }
        }
    }
    EXPECT_GT(greatest, 2) << "the tolerance is used";
}

TEST(LineSimplification, makes_no_crossing_where_the_plain_algorithm_does) {
    std::int64_t plain = 0;
    for (const ContourLines& lines : contours_of_all_kinds()) {
        for (const double tolerance : {1., 2.5, 1000.}) {
            EXPECT_EQ(new_crossings(stretches_of(lines, simplified(lines, tolerance))), 0);
            plain +=
                new_crossings(stretches_of(lines, simplified_reference(lines, tolerance, false)));
        }
    }
    EXPECT_GT(plain, 100);
}

/// The number of points of other contours, and of contours around them, whose position relative to
/// a closed contour differs between both sets of contours.
std::int64_t moved_across(const ContourLines& lines, const ContourLines& simplified) {
    const std::vector<Stretch> before = paths_of(lines), after = paths_of(simplified);
    std::int64_t moved = 0;
    for (std::size_t closed = 0; closed < before.size(); ++closed) {
        if (!lines.lines[closed].closed)
            continue;
        for (std::size_t other = 0; other < before.size(); ++other) {
            for (const LinePoint point : before[other]) {
                if (other != closed)
                    moved += inside(point, before[closed]) != inside(point, after[closed]);
            }
        }
    }
    return moved;
}

TEST(LineSimplification, keeps_nested_contours_nested) {
    std::int64_t plain = 0;
    for (const ContourLines& lines : contours_of_all_kinds()) {
        for (const double tolerance : {1., 2.5, 1000.}) {
            EXPECT_EQ(moved_across(lines, simplified(lines, tolerance)), 0);
            plain += moved_across(lines, simplified_reference(lines, tolerance, false));
        }
    }
    EXPECT_GT(plain, 100);
}

/// Twice the signed area of a closed path.
std::int64_t area_of(const Stretch& path) {
    std::int64_t area = 0;
    for (std::size_t i = 0; i + 1 < path.size(); ++i)
        area += path[i].x * path[i + 1].y - path[i + 1].x * path[i].y;
    return area;
}

TEST(LineSimplification, keeps_closed_contours_closed_and_their_sense_of_rotation) {
    int rings = 0;
    for (const ContourLines& lines : contours_of_all_kinds()) {
        const ContourLines kept = simplified(lines, 1000);
        const std::vector<Stretch> before = paths_of(lines), after = paths_of(kept);
        for (std::size_t i = 0; i < lines.lines.size(); ++i) {
            ASSERT_EQ(kept.lines[i].closed, lines.lines[i].closed);
            if (!lines.lines[i].closed || lines.lines[i].points < 3)
                continue;
            ++rings;
            EXPECT_GE(kept.lines[i].points, 3);
            // Contours that cross themselves, as diagonals may, can have small areas of either
            // sign.
            const auto area = static_cast<double>(area_of(before[i]));
            if (std::abs(area) > 2) {
                EXPECT_GT(area * static_cast<double>(area_of(after[i])), 0);
            }
        }
    }
    EXPECT_GT(rings, 30);
}

TEST(LineSimplification, within_0_removes_exactly_the_points_in_straight_runs) {
    for (const ContourLines& lines : contours_of_all_kinds()) {
        const std::vector<Stretch> paths = paths_of(lines);
        std::vector<Elements> expected;
        for (std::size_t i = 0; i < paths.size(); ++i) {
            const Stretch& path = paths[i];
            const bool closed = lines.lines[i].closed;
            const std::size_t count = path.size() - (closed ? 1 : 0);
            for (std::size_t k = 0; k < count; ++k) {
                const bool ends = !closed && (k == 0 || k + 1 == count);
                const LinePoint before = path[(k + count - 1) % count], here = path[k],
                                after = path[(k + 1) % count];
                if (ends || before == after || here.x - before.x != after.x - here.x ||
                    here.y - before.y != after.y - here.y)
                    expected.push_back(here.y * lines.image.width + here.x);
            }
        }
        EXPECT_EQ(simplified(lines, 0).pixels, expected);
    }
}

/// The contour of a rectangle.
ContourLines long_ring(Elements width, Elements height) {
    ContourLines lines{{width + 2, height + 2}, {}, {}};
    const auto add = [&](Elements x, Elements y) {
        lines.pixels.push_back((y + 1) * lines.image.width + x + 1);
    };
    for (Elements x = 0; x < width; ++x)
        add(x, 0);
    for (Elements y = 1; y < height; ++y)
        add(width - 1, y);
    for (Elements x = width - 2; x >= 0; --x)
        add(x, height - 1);
    for (Elements y = height - 2; y > 0; --y)
        add(0, y);
    lines.lines = {{0, static_cast<Elements>(lines.pixels.size()), true}};
    return lines;
}

TEST(LineSimplification, divides_long_contours_into_pieces_from_their_heads) {
    constexpr Elements piece = kernel::links_per_piece;
    ContourLines line{{2 * piece + 8, 1}, {}, {{0, 2 * piece + 8, false}}};
    for (Elements x = 0; x < line.image.width; ++x)
        line.pixels.push_back(x);
    EXPECT_THAT(simplified(line, 0).pixels,
                testing::ElementsAre(0, piece, 2 * piece, 2 * piece + 7));
    // A ring of as many points as a piece has links is simplified in one piece.
    const ContourLines one = long_ring(piece / 2 - 1, 3), several = long_ring(piece / 2, 3);
    ASSERT_EQ(static_cast<Elements>(one.pixels.size()), piece);
    EXPECT_EQ(simplified(one, 0).pixels.size(), 4U);
    for (const double tolerance : {0., 1e6}) {
        const ContourLines kept = simplified(several, tolerance);
        EXPECT_TRUE(kept.lines[0].closed);
        EXPECT_GE(kept.lines[0].points, 3);
        EXPECT_LE(kept.lines[0].points, 6);
        EXPECT_EQ(new_crossings(stretches_of(several, kept)), 0);
    }
}

TEST(LineSimplification, gives_the_same_points_with_little_memory) {
    const TemporaryFolder folder;
    const ContourLines ring = long_ring(900, 1300), lines = lines_of_walk(flower({900, 700}), 1);
    for (const ContourLines& each : {ring, lines}) {
        expect_same(simplified(each, 2, {.memory = 1, .scratch = folder.path("out")}),
                    simplified(each, 2), "in a scratch file");
        EXPECT_EQ(folder.entries(), 0) << "the scratch file has no name";
    }
    EXPECT_THROW(simplified(ring, 2, {.memory = 1, .scratch = folder.path("missing/out")}),
                 InvalidFile);
}

TEST(LineSimplification, refuses_tolerances_that_are_no_distances) {
    const ContourLines lines{{1, 1}, {0}, {{0, 1, false}}};
    for (const double tolerance : {-1., -1e-300, 1e7, std::nan(""), HUGE_VAL}) {
        EXPECT_THAT(test::message_of<InvalidTask>([&] { simplified(lines, tolerance); }),
                    HasSubstr("expected a number from 0 to 1000000"));
    }
}

} // namespace
} // namespace sextant::test
