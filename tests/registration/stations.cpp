// SPDX-License-Identifier: BSD-3-Clause
// Segments and stations of series that drift far, motions relative to windows, and the positions of
// stations.
#include "sextant/registration/series/stations.hpp"

#include "sextant/registration/transform/canvas.hpp"

#include <cmath>
#include <functional>
#include <stdexcept>

#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::AffineMotion;
using registration::PixelArea;
using registration::Point;
using registration::RigidCovariance;
using registration::RigidMotion;
using registration::StationLink;
using registration::UncertainMotion;
using testing::Each;
using testing::ElementsAre;

constexpr ImageShape shape{120, 80};

/// The motions of frames that drift at an even rate.
std::vector<RigidMotion> drifting(int frames, double x, double y) {
    std::vector<RigidMotion> motions;
    for (int i = 0; i < frames; ++i)
        motions.push_back({0, i * x, i * y});
    return motions;
}

TEST(Stations, segments_of_a_series_overlap_their_bases) {
    EXPECT_THAT(bases_of(drifting(20, 2, 1), shape), Each(0U));
    const std::vector<RigidMotion> motions = drifting(40, -7, 3);
    const std::vector<std::size_t> bases = bases_of(motions, shape);
    EXPECT_GT(bases.back(), 30U);
    for (std::size_t i = 1; i < motions.size(); ++i) {
        EXPECT_LT(bases[i], i);
        EXPECT_GE(bases[i], bases[i - 1]);
        EXPECT_GE(predicted_overlap(compose(motions[i], inverse(motions[bases[i]])), shape),
                  registration::direct_overlap);
    }
    // After a jump, no earlier frame overlaps enough, and the nearest is the base.
    const std::vector<RigidMotion> jump = {{}, {0, 1, 0}, {0, 90, 0}, {0, 91, 0}, {0, 92, 0}};
    EXPECT_THAT(bases_of(jump, shape), ElementsAre(0, 0, 1, 2, 2));
}

TEST(Stations, the_frame_in_the_middle_of_the_motion_is_nearest_to_its_farthest_frame) {
    EXPECT_EQ(middle_of(drifting(41, -5, 3), shape), 20U);
    EXPECT_EQ(middle_of(std::vector<RigidMotion>(3), shape), 0U);
    // Out and back again: the first frame that is halfway out.
    std::vector<RigidMotion> motions = drifting(21, 0, 10);
    for (int i = 19; i >= 0; --i)
        motions.push_back({0, 0, i * 10.});
    EXPECT_EQ(middle_of(motions, shape), 10U);
    // The displacement of the content at the centre counts, whatever the rotation is.
    const std::vector<RigidMotion> rotated = {{}, {1, 40, 0}, {1, -60, 0}};
    EXPECT_EQ(middle_of(rotated, shape), 0U);
}

TEST(Stations, every_frame_overlaps_a_station) {
    const std::vector<RigidMotion> motions = drifting(60, 4, -3);
    std::vector<std::uint8_t> may_be(60, 1);
    may_be[30] = 0;
    const registration::Stations stations = choose_stations(motions, may_be, 30, shape);
    EXPECT_EQ(stations.frames.front(), 31U) << "the first sound frame near the reference";
    EXPECT_GT(stations.frames.size(), 5U);
    EXPECT_LT(stations.frames.size(), 15U);
    for (std::size_t i = 0; i < motions.size(); ++i) {
        const std::size_t station = stations.frames[stations.nearest[i]];
        EXPECT_GE(predicted_overlap(compose(motions[i], inverse(motions[station])), shape),
                  may_be[i] != 0 ? registration::station_overlap : .6)
            << i;
    }
}

TEST(Stations, windows_are_on_the_grid_and_near_the_frame) {
    const RigidMotion motion{.2, 100.3, -57.8};
    const PixelArea window = window_of(motion, shape, 8);
    EXPECT_EQ(window.x % 8, 0);
    EXPECT_EQ(window.y % 8, 0);
    EXPECT_EQ(window.shape, shape);
    const RigidMotion inside = in_window(motion, window);
    EXPECT_LT(std::hypot(inside.tx, inside.ty), 8);
    const Point c = registration::centre(shape);
    const Point at{13, 57};
    const Point one = apply(inside, at, c);
    const Point other = apply(
        motion, {at.x + static_cast<double>(window.x), at.y + static_cast<double>(window.y)}, c);
    EXPECT_NEAR(one.x, other.x, 1e-9);
    EXPECT_NEAR(one.y, other.y, 1e-9);
    EXPECT_LT(rms_distance(from_window(inside, window), motion, shape), 1e-9);
    const AffineMotion affine{1.1, .2, -.1, .95, 30, -20};
    const Point of_affine = apply(in_window(affine, window), at, c);
    const Point expected = apply(
        affine, {at.x + static_cast<double>(window.x), at.y + static_cast<double>(window.y)}, c);
    EXPECT_NEAR(of_affine.x, expected.x, 1e-9);
    EXPECT_NEAR(of_affine.y, expected.y, 1e-9);
}

/// Covariances of single parameters, and a full one.
const RigidCovariance some_covariance{4e-8, 1e-6, -2e-6, 1e-6, 9e-4, 1e-4, -2e-6, 1e-4, 4e-4};

using Function = std::function<RigidMotion(const RigidMotion&)>;

/// Returns J C Jᵀ with the Jacobian of a function of a motion by finite differences.
RigidCovariance propagated(const Function& function, const RigidMotion& at,
                           const RigidCovariance& covariance) {
    constexpr double step = 1e-6;
    double j[3][3];
    const auto values = [](const RigidMotion& m) { return std::array{m.alpha, m.tx, m.ty}; };
    for (std::size_t column = 0; column < 3; ++column) {
        std::array<double, 3> ahead = values(at), behind = ahead;
        ahead[column] += step;
        behind[column] -= step;
        const auto high = values(function({ahead[0], ahead[1], ahead[2]}));
        const auto low = values(function({behind[0], behind[1], behind[2]}));
        for (std::size_t row = 0; row < 3; ++row)
            j[row][column] = (high[row] - low[row]) / (2 * step);
    }
    RigidCovariance result{};
    for (std::size_t a = 0; a < 3; ++a) {
        for (std::size_t b = 0; b < 3; ++b) {
            for (std::size_t c = 0; c < 3; ++c) {
                for (std::size_t d = 0; d < 3; ++d)
                    result[a * 3 + b] += j[a][c] * covariance[c * 3 + d] * j[b][d];
            }
        }
    }
    return result;
}

void expect_near(const RigidCovariance& one, const RigidCovariance& other) {
    for (std::size_t i = 0; i < one.size(); ++i)
        EXPECT_NEAR(one[i], other[i], 1e-6 * (1e-4 + std::abs(other[i]))) << i;
}

TEST(Stations, covariances_of_composed_motions_follow_from_their_derivatives) {
    const RigidMotion first{.3, 40, -25}, second{-.7, 11, 60};
    const RigidCovariance sure{};
    expect_near(
        compose(UncertainMotion{first, some_covariance}, UncertainMotion{second, sure}).covariance,
        propagated([&](const RigidMotion& m) { return compose(m, second); }, first,
                   some_covariance));
    expect_near(
        compose(UncertainMotion{first, sure}, UncertainMotion{second, some_covariance}).covariance,
        propagated([&](const RigidMotion& m) { return compose(first, m); }, second,
                   some_covariance));
    expect_near(
        inverse(UncertainMotion{first, some_covariance}).covariance,
        propagated([](const RigidMotion& m) { return inverse(m); }, first, some_covariance));
    const PixelArea window{-300, 160, shape};
    registration::RigidResult result;
    result.motion = first;
    result.uncertainty = registration::uncertainty_with(some_covariance);
    const registration::RigidResult outside = from_window(result, window);
    expect_near(outside.uncertainty.covariance,
                propagated([&](const RigidMotion& m) { return from_window(m, window); }, first,
                           some_covariance));
    EXPECT_DOUBLE_EQ(outside.uncertainty.tx, std::sqrt(outside.uncertainty.covariance[4]));
    // The position of a distant frame itself is as certain as before.
    EXPECT_NEAR(uncertainty_of_centre(outside, shape).tx, result.uncertainty.tx,
                .3 * result.uncertainty.tx);
    EXPECT_GT(outside.uncertainty.tx, 1.1 * result.uncertainty.tx);
}

TEST(Stations, covariances_of_families_follow_from_the_displacements_in_the_window) {
    registration::FamilyResult result;
    constexpr std::size_t size = registration::affine_parameters;
    const std::array<double, size> deviations{.03, .02, 2e-4, 1e-4, 3e-4, 2e-4};
    for (std::size_t i = 0; i < size; ++i)
        result.covariance[i * size + i] = deviations[i] * deviations[i];
    const PixelArea window{40, -24, shape};
    const registration::FamilyResult outside = from_window(result, window);
    // The variance of the displacement at a position, which is given relative to the centre.
    const auto variance = [](const registration::FamilyResult& of, Point x) {
        const std::array<double, size> by{1, 0, -x.y, x.x, x.x, x.y};
        double sum = 0;
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t k = 0; k < size; ++k)
                sum += by[i] * of.covariance[i * size + k] * by[k];
        }
        return sum;
    };
    for (const Point x : {Point{0, 0}, Point{50, 0}, Point{-13, 31}})
        EXPECT_NEAR(variance(result, x), variance(outside, {x.x + 40, x.y - 24}), 1e-9);
}

/// Stations along a line, and links between adjacent ones with exact displacements.
struct Line {
    std::vector<PixelArea> windows;
    std::vector<double> frames;
    std::vector<RigidMotion> displaced;
    std::vector<StationLink> links;

    explicit Line(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto at = static_cast<double>(i);
            windows.push_back({static_cast<std::int64_t>(i) * 60, 0, shape});
            frames.push_back(10);
            displaced.push_back({1e-4 * at * at, .1 * at, .05 - .02 * at * at});
        }
        for (std::size_t i = 1; i < count; ++i)
            add(i - 1, i);
    }
    void add(std::size_t from, std::size_t to) {
        const RigidMotion &a = displaced[from], &b = displaced[to];
        links.push_back(
            {from, to, {{b.alpha - a.alpha, b.tx - a.tx, b.ty - a.ty}, some_covariance}});
    }
};

TEST(Stations, corrections_reproduce_the_links_up_to_a_common_motion) {
    Line line(5);
    line.add(0, 2);
    const std::vector<registration::UncertainMotion> found =
        correct_stations(line.windows, line.frames, line.links);
    ASSERT_EQ(found.size(), 5U);
    const auto common = [&](std::size_t i) {
        const RigidMotion &a = found[i].motion, &b = line.displaced[i];
        return std::array{a.alpha - b.alpha, a.tx - b.tx, a.ty - b.ty};
    };
    for (std::size_t i = 1; i < 5; ++i) {
        for (std::size_t k = 0; k < 3; ++k)
            EXPECT_NEAR(common(i)[k], common(0)[k], 1e-9) << i;
    }
    // The common motion of all positions is removed: displacements have a mean of 0.
    double x = 0, y = 0;
    for (std::size_t i = 0; i < 5; ++i) {
        const RigidMotion& one = found[i].motion;
        x += one.tx;
        y += one.ty + one.alpha * static_cast<double>(line.windows[i].x);
    }
    EXPECT_NEAR(x, 0, 1e-9);
    EXPECT_NEAR(y, 0, 1e-9);
}

TEST(Stations, deviations_grow_towards_the_ends_and_with_the_number_of_links) {
    const auto at_end = [](std::size_t count, std::size_t station) {
        const Line line(count);
        const auto found = correct_stations(line.windows, line.frames, line.links);
        registration::RigidResult result;
        result.motion = {0, -static_cast<double>(line.windows[station].x), 0};
        result.uncertainty = registration::uncertainty_with(found[station].covariance);
        return uncertainty_of_centre(result, shape).tx;
    };
    EXPECT_GT(at_end(9, 8), 1.5 * at_end(9, 4));
    EXPECT_GT(at_end(17, 16), 1.2 * at_end(9, 8));
    EXPECT_GT(at_end(9, 8), std::sqrt(some_covariance[4]));
}

TEST(Stations, must_be_connected) {
    Line line(4);
    line.links.erase(line.links.begin() + 1);
    EXPECT_THROW(correct_stations(line.windows, line.frames, line.links), std::logic_error);
}

} // namespace
} // namespace sextant::test
