// SPDX-License-Identifier: BSD-3-Clause
// Images moved by rigid maps, and the sums for fitting such maps, compared with their definitions
// for each instruction set.
#include "sextant/kernel/fit/rigid_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/kernel/float_planes.hpp"
#include "tests/kernel/processors.hpp"
#include "tests/support/filter_references.hpp"

namespace sextant::test {
namespace {

using kernel::Detail;
using kernel::RigidMap;
using kernel::RigidSums;

RigidMap turned(double degrees, double x, double y) {
    const double alpha = degrees * std::acos(-1.) / 180;
    return {std::cos(alpha), std::sin(alpha), x, y};
}

const std::vector<RigidMap> maps = {{},
                                    {1, 0, 3, -2},
                                    turned(.3, 2.25, -1.5),
                                    turned(-2, -5.5, 7.75),
                                    turned(45, 20.1, -20.3),
                                    turned(180, 89.6, 60.3),
                                    turned(10, 500, 0)};

bool inside(const RigidMap& map, Elements column, Elements row, ImageShape image) {
    const auto i = static_cast<double>(column), j = static_cast<double>(row);
    const double x = map.x + map.cosine * i - map.sine * j;
    const double y = map.y + map.sine * i + map.cosine * j;
    return x >= 0 && y >= 0 && x <= static_cast<double>(image.width - 1) &&
           y <= static_cast<double>(image.height - 1);
}

TEST(RigidMap, finds_the_columns_of_a_row_that_map_into_the_image) {
    const ImageShape image{70, 41};
    for (const RigidMap& map : maps) {
        for (Elements row = 0; row < 60; ++row) {
            const kernel::Columns columns = kernel::columns_inside(map, row, {5, 90}, image);
            ASSERT_LE(columns.first, columns.last);
            for (Elements x = 5; x < 90; ++x)
                ASSERT_EQ(x >= columns.first && x < columns.last, inside(map, x, row, image))
                    << x << ", " << row << " by " << map.cosine << ", " << map.x;
        }
    }
}

TEST(RigidMap, gives_bilinear_samples_on_every_instruction_set) {
    const kernel::FloatPlane image = random_plane({90, 61}, 1);
    const ImageShape shape{83, 57};
    for (const RigidMap& map : maps) {
        on_every_processor([&](const char* processor) {
            kernel::FloatPlane to(shape);
            kernel::warp(image.image(), map, 7, shape, to.plane());
            for (Elements y = 0; y < shape.height; ++y) {
                for (Elements x = 0; x < shape.width; ++x) {
                    const auto i = static_cast<double>(x), j = static_cast<double>(y);
                    const double expected =
                        inside(map, x, y, image.shape())
                            ? kernel::bilinear(image.image(), map.x + map.cosine * i - map.sine * j,
                                               map.y + map.sine * i + map.cosine * j)
                            : 7;
                    ASSERT_NEAR(to.image().at(x, y), expected, 1e-5) << processor;
                }
            }
        });
    }
}

/// One of the sums, with the magnitude of its largest term. The tolerance is proportional to the
/// number of terms times this magnitude.
struct Sum {
    std::string name;
    double value, largest;
};

std::vector<Sum> listed(const RigidSums& sums, double arm) {
    std::vector<Sum> all = {{"count", sums.count, 0}, {"r", sums.r, 1},   {"t", sums.t, 1},
                            {"rr", sums.rr, 1},       {"tt", sums.tt, 1}, {"rt", sums.rt, 1}};
    const double most[] = {2 * arm, 2, 2};
    for (int a = 0, k = 0; a < 3; ++a) {
        all.push_back({"j", sums.j[a], most[a]});
        all.push_back({"jr", sums.jr[a], most[a]});
        all.push_back({"jt", sums.jt[a], most[a]});
        for (int b = a; b < 3; ++b, ++k) {
            all.push_back({"jj", sums.jj[k], most[a] * most[b]});
            all.push_back({"jd", sums.jd[k], most[a] * most[b]});
        }
    }
    return all;
}

void expect_near(const RigidSums& sums, const RigidSums& expected, double arm,
                 const std::string& where) {
    const std::vector<Sum> own = listed(sums, arm), others = listed(expected, arm);
    for (std::size_t k = 0; k < own.size(); ++k)
        EXPECT_NEAR(own[k].value, others[k].value, 1e-6 * expected.count * own[k].largest)
            << own[k].name << " " << where;
}

TEST(RigidSums, equal_their_definition_on_every_instruction_set) {
    const kernel::FloatPlane reference = random_plane({90, 61}, 1),
                             moved = random_plane({84, 66}, 2);
    for (const RigidMap& map : maps) {
        for (const Tile& tile :
             {Tile{0, 0, 90, 61}, {32, 32, 32, 32}, {7, 3, 5, 1}, {88, 0, 2, 60}}) {
            for (const Elements step : {1, 2}) {
                const kernel::RigidComparison comparison{
                    reference.image(), moved.image(), map, 44.5, 30, step};
                const RigidSums expected = kernel::rigid_sums_by_definition(comparison, tile);
                on_every_processor([&](const char* processor) {
                    expect_near(kernel::rigid_sums(comparison, tile, Detail::slopes), expected, 45,
                                processor);
                });
            }
        }
    }
}

TEST(RigidSums, skip_pixels_next_to_gaps_on_every_instruction_set) {
    kernel::FloatPlane reference = random_plane({90, 61}, 1), moved = random_plane({84, 66}, 2);
    constexpr float gap = std::numeric_limits<float>::quiet_NaN();
    reference.row(20)[40] = reference.row(3)[2] = moved.row(31)[17] = gap;
    for (Elements y = 40; y < 50; ++y)
        std::fill_n(moved.row(y) + 50, 30, gap);
    const Tile tile{0, 0, 90, 61};
    for (const RigidMap& map : maps) {
        kernel::RigidComparison comparison{
            reference.image(), moved.image(), map, 44.5, 30, 1, true};
        const RigidSums expected = kernel::rigid_sums_by_definition(comparison, tile);
        EXPECT_TRUE(std::isfinite(expected.jd[0]));
        on_every_processor([&](const char* processor) {
            expect_near(kernel::rigid_sums(comparison, tile, Detail::slopes), expected, 45,
                        processor);
        });
    }
}

TEST(RigidSums, omit_only_derivative_sums_at_lower_levels_of_detail) {
    const kernel::FloatPlane reference = random_plane({90, 61}, 1),
                             moved = random_plane({84, 66}, 2);
    const kernel::RigidComparison comparison{
        reference.image(), moved.image(), turned(1, 2, 3), 44.5, 30, 1};
    const Tile tile{0, 0, 90, 61};
    const RigidSums all = kernel::rigid_sums(comparison, tile, Detail::slopes);
    const RigidSums matrix = kernel::rigid_sums(comparison, tile, Detail::matrix);
    const RigidSums score = kernel::rigid_sums(comparison, tile, Detail::score);
    EXPECT_EQ(score.rt, all.rt);
    EXPECT_EQ(matrix.jt[0], all.jt[0]);
    EXPECT_EQ(matrix.jj[3], all.jj[3]);
    EXPECT_EQ(score.jj[3], 0);
    EXPECT_EQ(matrix.jd[3], 0);
}

TEST(RigidSums, of_tiles_add_up_to_those_of_the_whole_image) {
    const kernel::FloatPlane reference = random_plane({90, 61}, 1),
                             moved = random_plane({84, 66}, 2);
    const kernel::RigidComparison comparison{
        reference.image(), moved.image(), turned(1, 2, 3), 44.5, 30, 1};
    RigidSums sums;
    for (Elements y = 0; y < 61; y += 32) {
        for (Elements x = 0; x < 90; x += 32)
            sums += kernel::rigid_sums(
                comparison, {x, y, std::min<Elements>(32, 90 - x), std::min<Elements>(32, 61 - y)},
                Detail::slopes);
    }
    expect_near(sums, kernel::rigid_sums(comparison, {0, 0, 90, 61}, Detail::slopes), 45,
                "of tiles");
}

/// J and D are derivatives with respect to the motion: a small motion ψ with parameters p changes
/// R∘ψ by J p and T∘φ∘ψ by D p.
TEST(RigidSums, contain_the_derivatives_of_a_smooth_image) {
    const ImageShape shape{80, 80};
    kernel::FloatPlane image(shape);
    for (Elements y = 0; y < 80; ++y) {
        for (Elements x = 0; x < 80; ++x)
            image.row(y)[x] = static_cast<float>(std::sin(.1 * static_cast<double>(x)) *
                                                 std::cos(.07 * static_cast<double>(y)));
    }
    const kernel::RigidComparison comparison{image.image(), image.image(), {}, 39.5, 39.5, 1};
    const RigidSums sums = kernel::rigid_sums(comparison, {10, 10, 60, 60}, Detail::slopes);
    for (int k = 0; k < 6; ++k)
        EXPECT_NEAR(sums.jd[k], sums.jj[k], .06 * std::sqrt(sums.jj[0] * sums.jj[k < 3 ? 3 : 5]))
            << k;
    constexpr double small = 1e-3;
    kernel::RigidComparison beside = comparison;
    beside.map =
        turned(small * 180 / std::acos(-1.), 39.5 - 39.5 * std::cos(small) + 39.5 * std::sin(small),
               39.5 - 39.5 * std::sin(small) - 39.5 * std::cos(small));
    const RigidSums after = kernel::rigid_sums(beside, {10, 10, 60, 60}, Detail::score);
    for (int a = 0; a < 3; ++a)
        EXPECT_NEAR((after.jt[a] - sums.jt[a]) / small, sums.jj[a], .02 * sums.jj[0]) << a;
}

} // namespace
} // namespace sextant::test
