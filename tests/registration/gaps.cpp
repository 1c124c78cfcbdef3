// SPDX-License-Identifier: BSD-3-Clause
// Frames with unknown regions (masks and dead pixels), whose samples are NaN and have weight 0 in
// the computation.
#include "sextant/registration/pair/nonrigid.hpp"

#include <cmath>

#include "tests/registration/specimens.hpp"
#include "tests/registration/trials.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

constexpr float gap = std::numeric_limits<float>::quiet_NaN();
constexpr ImageShape shape{256, 256};

Pair carbon_pair(std::uint64_t seed = 1) {
    Trial trial;
    trial.specimen = "carbon";
    trial.shape = shape;
    trial.seed = seed;
    return make_pair(trial);
}

void mask(kernel::FloatPlane& frame, Elements x, Elements y, Elements width, Elements height,
          float value = gap) {
    for (Elements row = y; row < y + height; ++row)
        std::fill_n(frame.row(row) + x, width, value);
}

double error_of(const Pair& pair, const RigidResult& result) {
    return registration::rms_distance(result.motion, pair.series.between(0, 1), shape, central);
}

TEST(Gaps, masked_regions_of_either_frame_are_ignored) {
    // If the masked pixels counted, they would falsify the motion: they are bright, and do not move
    // with the specimen.
    Pair pair = carbon_pair(), shown = carbon_pair();
    for (const auto& [x, y] : {std::pair{40, 30}, {150, 120}}) {
        mask(shown.reference, x, y, 70, 80, 200);
        mask(shown.moved, x, y, 70, 80, 200);
        mask(pair.reference, x, y, 70, 80);
        mask(pair.moved, x, y, 70, 80);
    }
    Registrar registrar(shape);
    const RigidResult by_mask = registrar.align(pair.reference.samples(), pair.moved.samples());
    EXPECT_LT(error_of(pair, by_mask), 4 * pair.bound);
    EXPECT_FALSE(by_mask.unrelated);
    EXPECT_LT(by_mask.overlap, .84); // 17 % are masked; the moved masks cover more
    const RigidResult by_all = registrar.align(shown.reference.samples(), shown.moved.samples());
    EXPECT_GT(error_of(shown, by_all), 20 * pair.bound);
}

TEST(Gaps, a_half_masked_frame_is_registered_by_its_other_half) {
    Pair pair = carbon_pair(2);
    mask(pair.moved, 0, 0, 256, 120);
    Registrar registrar(shape);
    const RigidResult result = registrar.align(pair.reference.samples(), pair.moved.samples());
    EXPECT_LT(error_of(pair, result), 6 * pair.bound); // half a frame determines rotation less well
    EXPECT_LT(result.overlap, .56);
}

TEST(Gaps, dead_pixels_hide_only_their_own_information) {
    Pair pair = carbon_pair(3);
    registration::NoiseSource random(1, 0);
    for (Elements y = 0; y < shape.height; ++y) {
        for (Elements x = 0; x < shape.width; ++x) {
            if (random.uniform() < .1)
                pair.reference.row(y)[x] = gap;
            if (random.uniform() < .1)
                pair.moved.row(y)[x] = random.uniform() < .5 ? gap : INFINITY;
        }
    }
    Registrar registrar(shape);
    const RigidResult result = registrar.align(pair.reference.samples(), pair.moved.samples());
    EXPECT_LT(error_of(pair, result), 3 * pair.bound);
    EXPECT_GT(result.overlap, .9);
}

TEST(Gaps, predicted_standard_deviations_match_the_errors) {
    Registrar registrar(shape);
    std::vector<Outcome> outcomes;
    for (std::uint64_t seed = 1; seed <= 16; ++seed) {
        Pair pair = carbon_pair(seed);
        mask(pair.reference, 60, 60, 90, 90);
        const RigidResult result = registrar.align(pair.reference.samples(), pair.moved.samples());
        Outcome& outcome = outcomes.emplace_back();
        outcome.result = result;
        outcome.truth = pair.series.between(0, 1);
    }
    EXPECT_GT(rms_z(outcomes), .75);
    EXPECT_LT(rms_z(outcomes), 1.35);
}

TEST(Gaps, make_displacements_unknown_only_where_a_gap_is_large) {
    const ImageShape small{192, 160};
    const Motion phi = warp(small, 150, 1.2, {.003, .6, -.4});
    WarpedPair pair = exposed_pair(Specimen::amorphous(3), small, phi, 40, 5);
    for (Elements y = 32; y < 96; ++y)
        std::fill_n(&pair.reference.samples[static_cast<std::size_t>(y * 192 + 64)], 64, gap);
    pair.templ.samples[100 * 192 + 20] = gap;
    registration::NonrigidRegistration registration(small);
    const auto& found =
        registration.run(pair.reference.view(), pair.templ.view(), RigidMotion{.003, .6, -.4});
    const auto known = [&](Elements x, Elements y) {
        return found.field.known[static_cast<std::size_t>(y / 8 * found.field.nodes.width + x / 8)];
    };
    EXPECT_FALSE(known(96, 64));
    EXPECT_TRUE(known(24, 104));
    EXPECT_LT(rms_distance(found.field, dense(phi, small), central), .25);
}

} // namespace
} // namespace sextant::test
