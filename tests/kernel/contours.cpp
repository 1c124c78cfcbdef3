// SPDX-License-Identifier: BSD-3-Clause
// Heads and ranks of contours with each instruction set, and invalid input.
#include "sextant/core/error.hpp"
#include "sextant/kernel/label/contour_ranking.hpp"

#include "tests/kernel/pictures.hpp"
#include "tests/kernel/processors.hpp"
#include "tests/support/direction_maps.hpp"
#include "tests/support/label_references.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using kernel::Chain;
using kernel::ContourRanking;
using kernel::Ranked;
using testing::HasSubstr;

/// Head and rank of each pixel, as `ranking` computes them for a whole image.
std::vector<Ranked> ranked(const ContourRanking& ranking, ImageShape image) {
    constexpr Elements frame = 3;
    const Elements stride = image.width + frame;
    const auto size = static_cast<std::size_t>(stride * image.height);
    std::vector<std::int32_t> contours(size, -7), ranks(size, -7);
    ranking.write(ranking.placings(), {contours.data(), ranks.data(), stride});
    std::vector<Ranked> made;
    for (std::size_t i = 0; i < size; ++i) {
        if (static_cast<Elements>(i) % stride >= image.width)
            EXPECT_TRUE(contours[i] == -7 && ranks[i] == -7) << "written outside the planes";
        else if (contours[i] < 0)
            made.push_back({-1, ranks[i]});
        else
            made.push_back({ranking.chains()[static_cast<std::size_t>(contours[i])].end, ranks[i]});
    }
    return made;
}

void expect_the_reference(const DirectionMap& map) {
    const std::vector<Ranked> expected = kernel::contours_reference(map.view());
    on_every_processor([&](const char* processor) {
        ContourRanking ranking;
        ranking.apply(map.view(), whole(map.image));
        ASSERT_EQ(ranked(ranking, map.image), expected)
            << map.name << " of " << map.image.width << "x" << map.image.height << ", "
            << processor;
        std::vector<Elements> points(ranking.chains().size(), 0);
        for (const Ranked& point : expected) {
            for (std::size_t i = 0; i < points.size() && point.rank == 0; ++i) {
                if (ranking.chains()[i].end == point.head)
                    points[i] = std::count_if(expected.begin(), expected.end(), [&](auto& other) {
                        return other.head == point.head;
                    });
            }
        }
        for (std::size_t i = 0; i < points.size(); ++i)
            ASSERT_EQ(ranking.chains()[i].points, points[i]) << map.name;
        EXPECT_TRUE(ranking.entries().empty());
    });
}

TEST(Contours, equal_the_reference_for_every_map) {
    for (const ImageShape image :
         {ImageShape{1, 1}, {1, 9}, {9, 1}, {2, 2}, {17, 11}, {64, 9}, {65, 8}, {130, 21}}) {
        for (const DirectionMap& map : direction_maps(image))
            expect_the_reference(map);
    }
}

TEST(Contours, equal_the_reference_for_random_maps) {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        Random random(seed);
        const ImageShape image{random.between(1, 90), random.between(1, 12)};
        expect_the_reference(
            random_directions(random_shape(image, random.number(20, 100), seed), seed));
    }
}

TEST(Contours, that_are_closed_are_marked_and_start_at_their_smallest_pixel) {
    const DirectionMap map = rings({9, 7});
    ContourRanking ranking;
    ranking.apply(map.view(), whole(map.image));
    ASSERT_EQ(ranking.chains().size(), 2U);
    for (const Chain& chain : ranking.chains())
        EXPECT_TRUE(chain.closed);
    EXPECT_EQ(ranking.chains()[0].end, 0);
    EXPECT_EQ(ranking.chains()[0].points, 2 * (9 + 7) - 4);
    EXPECT_EQ(ranking.chains()[1].end, 2 * 9 + 2);
    const auto made = ranked(ranking, map.image);
    EXPECT_EQ(made[9].rank, 1) << "the last point before the head";
    EXPECT_EQ(made[1].rank, 2 * (9 + 7) - 5) << "the first point after the head";
}

TEST(Contours, at_a_junction_only_the_contour_with_the_lowest_direction_continues) {
    // Three points link to the central one, from the left, from above and from the right.
    DirectionMap map = no_directions("junction", {3, 3});
    map.at(1, 1) = 2;
    map.at(1, 2) = kernel::edge_end;
    map.at(0, 1) = 0;
    map.at(1, 0) = 2;
    map.at(2, 1) = 4;
    ContourRanking ranking;
    ranking.apply(map.view(), whole(map.image));
    const auto made = ranked(ranking, map.image);
    EXPECT_EQ(made[3], (Ranked{7, 2}));
    EXPECT_EQ(made[1], (Ranked{1, 0}));
    EXPECT_EQ(made[5], (Ranked{5, 0}));
    EXPECT_EQ(ranking.junctions(), 1);
    EXPECT_EQ(ranking.cut(), 2);
    EXPECT_EQ(ranking.points(), 5);
}

/// Head and rank of each pixel, found by following contours across the tiles of an image.
std::vector<Ranked> ranked_by_tiles(const DirectionMap& map, const Grid& grid) {
    std::vector<ContourRanking> rankings(static_cast<std::size_t>(grid.ranks()));
    struct Entered {
        kernel::Entry entry{-1, -1, -1, -1};
        Chain chain;
    };
    std::vector<Entered> entries(map.codes.size());
    for (int rank = 0; rank < grid.ranks(); ++rank) {
        auto& ranking = rankings[static_cast<std::size_t>(rank)];
        ranking.apply(map.view(), tile(grid, rank));
        for (const kernel::Entry& entry : ranking.entries())
            entries[static_cast<std::size_t>(entry.pixel)] = {
                entry, ranking.chains()[static_cast<std::size_t>(entry.chain)]};
    }
    std::vector<Ranked> made(map.codes.size());
    for (int rank = 0; rank < grid.ranks(); ++rank) {
        const auto& ranking = rankings[static_cast<std::size_t>(rank)];
        const Tile own = tile(grid, rank);
        std::vector<std::int32_t> contours(map.codes.size(), -1), ranks = contours;
        const auto first = own.y * map.image.width + own.x;
        ranking.write(ranking.placings(),
                      {contours.data() + first, ranks.data() + first, map.image.width});
        for (std::size_t i = 0; i < made.size(); ++i) {
            if (contours[i] < 0)
                continue;
            const Chain& chain = ranking.chains()[static_cast<std::size_t>(contours[i])];
            Elements end = chain.end, links = ranks[i];
            for (bool leaves = chain.leaves; leaves;) {
                const auto& [entry, next] = entries[static_cast<std::size_t>(end)];
                EXPECT_EQ(entry.pixel, end) << "no tile has this crossing";
                links += entry.links;
                end = next.end;
                leaves = next.leaves;
            }
            made[i] = {end, links};
        }
    }
    return made;
}

TEST(Contours, of_tiles_joined_at_entry_points_equal_those_of_the_image) {
    const ImageShape image{37, 23};
    for (const DirectionMap& map : direction_maps(image)) {
        if (map.name == "rings" || map.name.find("blobs") != std::string::npos)
            continue; // following a closed contour would never end
        const auto expected = kernel::contours_reference(map.view());
        const bool closed = [&] {
            ContourRanking ranking;
            ranking.apply(map.view(), whole(image));
            return std::any_of(ranking.chains().begin(), ranking.chains().end(),
                               [](const Chain& chain) { return chain.closed; });
        }();
        if (closed)
            continue;
        for (const Grid& grid : {Grid{37, 23, 1, 1},
                                 {37, 23, 3, 1},
                                 {37, 23, 2, 5},
                                 {37, 23, 37, 1},
                                 {37, 23, 9, 23},
                                 {37, 23, 40, 1}})
            ASSERT_EQ(ranked_by_tiles(map, grid), expected)
                << map.name << " in " << grid.columns << "x" << grid.rows;
    }
}

TEST(Contours, of_a_tile_need_only_two_pixels_around_it) {
    const DirectionMap map = random_directions(random_shape({40, 30}, 70), 3);
    const Tile own{10, 8, 12, 9}, needed{8, 6, 16, 13};
    std::vector<kernel::Direction> part;
    for (Elements y = needed.y; y < needed.y + needed.height; ++y) {
        for (Elements x = needed.x; x < needed.x + needed.width; ++x)
            part.push_back(map.codes[static_cast<std::size_t>(y * 40 + x)]);
    }
    ContourRanking of_part, of_all;
    of_part.apply({part.data(), needed.width, needed, map.image}, own);
    of_all.apply(map.view(), own);
    ASSERT_EQ(of_part.chains().size(), of_all.chains().size());
    for (std::size_t i = 0; i < of_all.chains().size(); ++i) {
        EXPECT_EQ(of_part.chains()[i].end, of_all.chains()[i].end);
        EXPECT_EQ(of_part.chains()[i].points, of_all.chains()[i].points);
    }
    EXPECT_EQ(of_part.entries().size(), of_all.entries().size());
    const Tile less{8, 6, 16, 12};
    EXPECT_THROW(of_part.apply({part.data(), needed.width, less, map.image}, own), InvalidTask);
}

std::string error_of(const DirectionMap& map) {
    return test::message_of<InvalidTask>([&] {
        ContourRanking ranking;
        ranking.apply(map.view(), whole(map.image));
    });
}

TEST(Contours, refuse_links_to_invalid_pixels_naming_the_pixel) {
    for (const auto& [x, y, code] :
         {std::tuple{0, 3, 4}, {69, 3, 0}, {5, 0, 6}, {5, 8, 2}, {69, 8, 1}, {0, 0, 5}}) {
        DirectionMap map = no_directions("out", {70, 9});
        map.at(x, y) = static_cast<kernel::Direction>(code);
        EXPECT_THAT(error_of(map), HasSubstr("direction " + std::to_string(code) + " at (" +
                                             std::to_string(x) + ", " + std::to_string(y)));
        EXPECT_THAT(error_of(map), HasSubstr("which is outside the image"));
    }
    DirectionMap map = no_directions("nowhere", {70, 9});
    map.at(66, 4) = 3;
    EXPECT_THAT(error_of(map),
                HasSubstr("direction 3 at (66, 4) leads to (65, 5), which is not an edge point"));
    map.at(66, 4) = 8;
    EXPECT_THAT(error_of(map), HasSubstr("direction 8 at (66, 4) is invalid, expected -2 to 7"));
    map.at(66, 4) = -3;
    EXPECT_THAT(error_of(map), HasSubstr("direction -3 at (66, 4) is invalid, expected -2 to 7"));
}

TEST(Contours, are_empty_for_an_empty_image) {
    for (const ImageShape image : {ImageShape{0, 0}, {0, 5}, {5, 0}}) {
        ContourRanking ranking;
        ranking.apply({nullptr, 0, whole(image), image}, whole(image));
        EXPECT_TRUE(ranking.chains().empty());
        ranking.write({}, {});
    }
}

TEST(Contours, do_not_keep_data_of_a_previous_image) {
    ContourRanking ranking;
    for (const ImageShape image : {ImageShape{130, 20}, {65, 2}, {1, 40}, {64, 40}, {3, 3}}) {
        const DirectionMap map = random_directions(random_shape(image, 90), 5);
        ranking.apply(map.view(), whole(image));
        EXPECT_EQ(ranked(ranking, image), kernel::contours_reference(map.view()));
    }
}

} // namespace
} // namespace sextant::test
