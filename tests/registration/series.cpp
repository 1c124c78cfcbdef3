// SPDX-License-Identifier: BSD-3-Clause
// Series of frames of known motion, registered on any number of ranks.
#include "sextant/comm/agreement.hpp"
#include "sextant/registration/series/frame_series.hpp"
#include "sextant/registration/series/pair_reader.hpp"
#include "sextant/registration/stages/refinement.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/registration/made_series.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Series, errors_do_not_grow_with_the_frame_number) {
    const MadeSeries made = make_series(14);
    const std::vector<FrameRegistration> places = places_of(made.frames, 2);
    ASSERT_EQ(places.size(), 14U);
    EXPECT_EQ(places.front().result.motion, RigidMotion());
    double early = 0, late = 0;
    for (int frame = 1; frame < 14; ++frame) {
        const FrameRegistration& place = places[static_cast<std::size_t>(frame)];
        EXPECT_EQ(place.frame, frame);
        EXPECT_FALSE(place.result.unrelated || place.result.ambiguous);
        const double error = error_of_place(made, place, 0);
        EXPECT_LT(error, 4 * made.bound) << frame;
        (frame < 7 ? early : late) += error / 6.5;
    }
    EXPECT_LT(late, 2 * early) << "a chain's error would be several times larger at its end";
}

TEST(Series, any_number_of_ranks_gives_the_same_motions_within_their_noise) {
    const MadeSeries made = make_series(9);
    const std::vector<FrameRegistration> alone = places_of(made.frames, 1);
    for (const int ranks : {2, 3, 4, 7, 12}) {
        const std::vector<FrameRegistration> places = places_of(made.frames, ranks);
        ASSERT_EQ(places.size(), alone.size()) << ranks;
        for (std::size_t frame = 0; frame < alone.size(); ++frame)
            EXPECT_LT(registration::rms_distance(places[frame].result.motion,
                                                 alone[frame].result.motion, {128, 128}),
                      .005)
                << frame << " on " << ranks;
    }
}

TEST(Series, the_same_number_of_ranks_gives_the_same_bits) {
    const MadeSeries made = make_series(7);
    const std::vector<FrameRegistration> once = places_of(made.frames, 3);
    const std::vector<FrameRegistration> again = places_of(made.frames, 3);
    for (std::size_t frame = 0; frame < once.size(); ++frame)
        EXPECT_EQ(once[frame].result.motion, again[frame].result.motion);
}

TEST(Series, empty_frames_are_left_out_with_the_reason) {
    MadeSeries made = make_series(10, {0, 4, 5});
    made.frames[7] = kernel::FloatPlane({128, 128});
    for (int y = 3; y < 101; ++y)
        std::fill_n(made.frames[8].row(y), 128, std::nanf(""));
    made.frames[9].row(70)[5] = std::nanf("");
    for (const int ranks : {1, 3}) {
        const std::vector<FrameRegistration> places = places_of(made.frames, ranks);
        for (const int dark : {0, 4, 5})
            EXPECT_THAT(places[static_cast<std::size_t>(dark)].left_out,
                        HasSubstr("in the other frames"));
        EXPECT_THAT(places[7].left_out, HasSubstr("every sample is 0"));
        EXPECT_THAT(places[8].left_out, HasSubstr("samples are gaps"));
        EXPECT_EQ(places[9].gaps, 1);
        for (const int good : {1, 2, 3, 6, 9}) {
            const FrameRegistration& place = places[static_cast<std::size_t>(good)];
            EXPECT_EQ(place.left_out, "");
            EXPECT_LT(error_of_place(made, place, 1), 4 * made.bound) << good;
        }
    }
}

TEST(Series, may_consist_of_one_frame_or_of_unusable_frames) {
    const MadeSeries made = make_series(1);
    EXPECT_EQ(places_of(made.frames, 2).front().result.motion, RigidMotion());
    FramesMade dark;
    dark.emplace_back(ImageShape{64, 64});
    dark.emplace_back(ImageShape{64, 64});
    for (const FrameRegistration& place : places_of(dark, 2))
        EXPECT_THAT(place.left_out, HasSubstr("every sample is 0"));
}

TEST(Series, without_frames_is_refused) {
    EXPECT_THAT([] { places_of({}, 1); },
                ThrowsMessage<AgreedFailure>(HasSubstr("the series has no frames")));
}

TEST(Series, does_not_move_the_chosen_reference_frame) {
    const MadeSeries made = make_series(7);
    RegistrationOptions options;
    options.reference = 4;
    for (const int ranks : {1, 3}) {
        const std::vector<FrameRegistration> places = places_of(made.frames, ranks, options);
        EXPECT_EQ(places[4].result.motion, RigidMotion());
        for (const FrameRegistration& place : places)
            EXPECT_LT(error_of_place(made, place, 4), 4 * made.bound) << place.frame;
    }
}

TEST(Series, a_frame_of_another_specimen_is_left_out_and_bridged) {
    MadeSeries made = make_series(7);
    made.frames[3] = make_pair({.specimen = "particles", .shape = {128, 128}}).moved;
    for (const int ranks : {1, 2}) {
        const std::vector<FrameRegistration> places = places_of(made.frames, ranks);
        EXPECT_THAT(places[3].left_out,
                    HasSubstr("no frame within 6 frames before and after resembles"));
        for (const int frame : {1, 2, 4, 5, 6})
            EXPECT_LT(error_of_place(made, places[static_cast<std::size_t>(frame)], 0),
                      4 * made.bound);
    }
    RegistrationOptions options;
    options.reference = 3;
    EXPECT_THAT([&] { places_of(made.frames, 2, options); },
                ThrowsMessage<AgreedFailure>(
                    HasSubstr("frame 3 cannot be the reference: no frame within 6")));
}

TEST(Series, frames_that_do_not_overlap_the_reference_are_registered_by_way_of_others) {
    MadeSeries made = make_series(12, {}, {0, -14, -3});
    for (const int ranks : {1, 2, 5}) {
        RegistrationOptions options;
        const std::vector<FrameRegistration> places = places_of(made.frames, ranks);
        EXPECT_EQ(std::count_if(places.begin() + 5, places.begin() + 8,
                                [](const FrameRegistration& place) {
                                    return place.result.motion == RigidMotion();
                                }),
                  1)
            << "the reference is in the middle of the motion";
        options.reference = 0;
        for (const FrameRegistration& place : places_of(made.frames, ranks, options)) {
            EXPECT_LT(error_of_place(made, place, 0), .5) << place.frame;
            EXPECT_FALSE(place.result.unrelated);
        }
    }
}

TEST(Series, frames_unrelated_to_the_reference_are_left_out) {
    std::vector<FrameRegistration> places(3);
    places[1].result.unrelated = true;
    places[1].result.overlap = .2;
    places[2].result.unrelated = true;
    places[2].left_out = "constant";
    registration::leave_out_unrelated(places);
    EXPECT_EQ(places[0].left_out, "");
    EXPECT_EQ(places[1].left_out,
              "the overlap with the reference, 20 % of a frame, has no higher NCC than noise");
    EXPECT_EQ(places[2].left_out, "constant");
}

TEST(Series, a_period_jump_is_corrected_by_surrounding_frames) {
    SeriesPlan plan;
    plan.shape = {256, 256};
    plan.frames = 14;
    plan.dose = 5;
    plan.drift = {0, -5, .7};
    plan.wander = 6;
    plan.seed = 10;
    const SyntheticSeries series(plan, specimen_of(plan, "lattice", 10, 0, .1)); // nearly perfect
    constexpr int first = 7;
    const FramesMade frames = counted_frames(series, first);
    const auto worst = [&](const std::vector<FrameRegistration>& places) {
        double most = 0;
        for (const FrameRegistration& place : places)
            most = std::max(
                most, rms_distance(place.result.motion,
                                   series.between(first, first + static_cast<int>(place.frame)),
                                   plan.shape));
        return most;
    };
    RegistrationOptions unchecked;
    unchecked.farthest = 1;
    EXPECT_GT(worst(places_of(frames, 1, unchecked)), 20) << "there is no period jump to correct";
    const std::vector<FrameRegistration> places = places_of(frames, 2);
    EXPECT_LT(worst(places), .5);
    EXPECT_TRUE(places[2].mended);
    EXPECT_FALSE(places[1].mended);
}

/// Turns a frame upside down, which a lattice hides from the search.
void turn(kernel::FloatPlane& frame) {
    const ImageShape shape = frame.shape();
    for (Elements y = 0; y < shape.height / 2; ++y)
        std::swap_ranges(frame.row(y), frame.row(y) + shape.width,
                         std::make_reverse_iterator(frame.row(shape.height - 1 - y) + shape.width));
}

TEST(Series, a_bad_frame_does_not_break_the_motions_of_the_others) {
    SeriesPlan plan;
    plan.shape = {256, 256};
    plan.frames = 9;
    plan.drift = {0, -2, .7};
    plan.wander = 2;
    const SyntheticSeries series(plan, specimen_of(plan, "lattice"));
    FramesMade frames = counted_frames(series);
    constexpr int bad = 4;
    turn(frames[bad]);
    for (const int ranks : {1, 3}) {
        const std::vector<FrameRegistration> places = places_of(frames, ranks);
        for (const FrameRegistration& place : places) {
            const bool flagged =
                place.result.ambiguous || place.result.unrelated || !place.left_out.empty();
            EXPECT_EQ(flagged, place.frame == bad) << place.frame;
            if (place.frame != bad) {
                EXPECT_LT(rms_distance(place.result.motion,
                                       series.between(0, static_cast<int>(place.frame)),
                                       plan.shape),
                          .5)
                    << place.frame;
            }
        }
    }
}

using registration::fault_of;
using registration::FrameStatistics;
using registration::statistics_of;

constexpr float gap = std::numeric_limits<float>::quiet_NaN();

/// 0, 1, ... 99, times a factor.
std::vector<float> ramp(float factor = 1) {
    std::vector<float> samples;
    for (int i = 0; i < 100; ++i)
        samples.push_back(factor * static_cast<float>(i));
    return samples;
}

std::string fault_among_ramps(const std::vector<float>& samples) {
    const FrameStatistics odd = statistics_of(samples);
    const std::vector<FrameStatistics> all = {statistics_of(ramp()), odd, statistics_of(ramp()),
                                              statistics_of(ramp())};
    return fault_of(odd, usual_mean(all), {});
}

TEST(FrameStatistics, report_why_a_frame_is_unusable) {
    EXPECT_EQ(fault_among_ramps(ramp()), "");
    EXPECT_THAT(fault_among_ramps(std::vector<float>(100, 7)), HasSubstr("every sample is 7"));
    EXPECT_THAT(fault_among_ramps(ramp(.04F)),
                HasSubstr("the mean is 1.98, but 49.5 in the other frames"));
    std::vector<float> holes = ramp();
    std::fill(holes.begin(), holes.begin() + 76, gap);
    EXPECT_THAT(fault_among_ramps(holes), HasSubstr("76 of 100 samples are gaps"));
    holes[75] = 50;
    EXPECT_EQ(fault_among_ramps(holes), "");
}

TEST(FrameStatistics, accept_frames_that_are_saturated_or_of_a_lower_dose) {
    std::vector<float> clipped = ramp(3);
    for (float& sample : clipped)
        sample = std::min(sample, 150.F);
    EXPECT_EQ(fault_among_ramps(clipped), "");
    EXPECT_EQ(fault_among_ramps(ramp(.1F)), "");
}

TEST(FrameStatistics, accept_frames_of_any_mean_if_samples_are_differences) {
    std::vector<float> filtered = ramp(), other = ramp();
    for (std::size_t i = 0; i < filtered.size(); ++i) {
        filtered[i] -= 49.4F;
        other[i] -= 49.6F;
    }
    const std::vector<FrameStatistics> all = {statistics_of(filtered), statistics_of(filtered),
                                              statistics_of(other)};
    EXPECT_EQ(fault_of(all[2], usual_mean(all), {}), "");
}

TEST(FrameStatistics, report_a_frame_of_NaNs_as_unusable) {
    const std::vector<FrameStatistics> all = {statistics_of(std::vector<float>(4, gap))};
    EXPECT_THAT(fault_of(all[0], usual_mean(all), {}), HasSubstr("4 of 4 samples"));
}

} // namespace
} // namespace sextant::test
