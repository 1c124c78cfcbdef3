// SPDX-License-Identifier: BSD-3-Clause
// Results after registration: mean, median and count of frames, for several stages and for fields.
#include "sextant/comm/agreement.hpp"
#include "sextant/registration/series_registration.hpp"
#include "sextant/registration/stages/refinement.hpp"

#include <cmath>
#include <mutex>
#include <utility>

#include "tests/registration/made_series.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// The RMS difference between an image and the expected image of frame 0, in its central part.
double difference(std::span<const float> image, const kernel::FloatPlane& truth) {
    double sum = 0;
    for (Elements y = 30; y < 98; ++y) {
        for (Elements x = 30; x < 98; ++x) {
            const float off = image[static_cast<std::size_t>(y * 128 + x)] - truth.image().at(x, y);
            sum += static_cast<double>(off) * static_cast<double>(off);
        }
    }
    return std::sqrt(sum) / 68;
}

struct Stacked {
    explicit Stacked(const MadeSeries& made) : source(made.frames) {
        for (int frame = 0; frame < made.series.plan().frames; ++frame) {
            registered.frames.push_back(frame);
            registered.motions.push_back(made.series.between(0, frame));
        }
    }
    MadeSource source;
    registration::Registered registered;

    registration::Combined combined(int ranks, Bytes memory = Bytes{1} << 24, int threads = 1) {
        registration::Combined result;
        std::mutex one_reader;
        run_threads(ranks, [&](const Communicator& communicator) {
            MadeSource own(source.frames());
            registration::Combined combined =
                combine(communicator, own, registered.frames, transforms(registered),
                        {true, memory, threads});
            const std::lock_guard lock(one_reader);
            if (communicator.rank() == ranks - 1)
                result = std::move(combined);
        });
        return result;
    }
};

TEST(CombinedFrames, have_less_noise_than_one_frame_and_count_the_samples_per_pixel) {
    const MadeSeries made = make_series(12);
    const registration::Combined all = Stacked(made).combined(1);
    const kernel::FloatPlane truth = made.series.expected(0);
    const auto at = [](Elements x, Elements y) { return static_cast<std::size_t>(y * 128 + x); };
    EXPECT_EQ(all.count[at(64, 64)], 12);
    EXPECT_LT(all.count[at(0, 127)], 12) << "the specimen drifted out of this corner";
    std::vector<float> alone(128 * 128);
    MadeSource(made.frames).read_frame(0, alone);
    EXPECT_LT(difference(all.mean, truth), .33 * difference(alone, truth));
    EXPECT_LT(difference(all.median, truth), .4 * difference(alone, truth));
}

TEST(CombinedFrames, have_the_same_bits_for_any_number_of_ranks_and_threads_and_any_memory_limit) {
    const MadeSeries made = make_series(5);
    Stacked stacked(made);
    const registration::Combined once = stacked.combined(1);
    for (const int ranks : {2, 3}) {
        const registration::Combined other = stacked.combined(ranks, 40'000);
        EXPECT_EQ(once.mean, other.mean);
        EXPECT_EQ(once.median, other.median);
        EXPECT_EQ(once.count, other.count);
        const registration::Combined shared = stacked.combined(1, Bytes{1} << 24, ranks);
        EXPECT_EQ(once.mean, shared.mean);
        EXPECT_EQ(once.median, shared.median);
        EXPECT_EQ(once.count, shared.count);
    }
    EXPECT_THAT(
        [&] { stacked.combined(2, 1000); },
        ThrowsMessage<AgreedFailure>(HasSubstr("1000 bytes of memory are too few for a row of 5")));
}

TEST(CombinedFrames, ignore_gaps_and_their_median_ignores_an_outlier) {
    FramesMade frames;
    for (const float level : {1.F, 2.F, 3.F, 1000.F}) {
        frames.emplace_back(ImageShape{16, 16});
        for (Elements y = 0; y < 16; ++y)
            std::fill_n(frames.back().row(y), 16, level);
    }
    frames[0].row(8)[8] = std::nanf("");
    MadeSource source(frames);
    run_threads(1, [&](const Communicator& communicator) {
        const std::vector<std::int64_t> all = {0, 1, 2, 3};
        const registration::Combined combined = registration::combine(
            communicator, source, all, [](std::int64_t) { return RigidMotion(); });
        EXPECT_EQ(combined.median[0], 2.5F);
        EXPECT_EQ(combined.mean[0], 251.5F);
        EXPECT_EQ(combined.count[0], 4);
        EXPECT_EQ(combined.median[8 * 16 + 8], 3);
        EXPECT_EQ(combined.count[8 * 16 + 8], 3);
    });
}

/// The RMS error of motions between pairs of frames, which does not depend on the noise of the
/// common reference.
double error_among_frames(const MadeSeries& made, const std::vector<FrameRegistration>& places) {
    double sum = 0, pairs = 0;
    for (const FrameRegistration& a : places) {
        for (const FrameRegistration& b : places) {
            if (a.frame >= b.frame)
                continue;
            const double error = rms_distance(
                compose(b.result.motion, inverse(a.result.motion)),
                made.series.between(static_cast<int>(a.frame), static_cast<int>(b.frame)),
                {128, 128}, central);
            sum += error * error;
            ++pairs;
        }
    }
    return std::sqrt(sum / pairs);
}

TEST(RegistrationStages, registration_to_the_average_makes_frames_more_consistent) {
    const MadeSeries made = make_series(10);
    run_threads(1, [&](const Communicator& communicator) {
        MadeSource source(made.frames);
        const RegistrationOptions options;
        const registration::SeriesContext context{communicator, source, options};
        std::vector<FrameRegistration> places = register_series(context);
        const double before = error_among_frames(made, places);
        const registration::Registered all = registration::gather_registered(communicator, places);
        const registration::MatchingAverage average = average_of(context, all, transforms(all));
        register_to_average(context, average, all, places, 2);
        EXPECT_LT(error_among_frames(made, places), before);
    });
}

/// A series of 12 frames whose dose falls from 20 to 4, and the motions after two stages.
TEST(RegistrationStages, of_a_fading_series_are_as_accurate_as_those_of_a_steady_one) {
    const auto error_of = [](double first, double last) {
        MadeSeries made = make_series(12, {}, {0, -2.5, 1.5});
        for (int frame = 0; frame < 12; ++frame) {
            const double dose = first + (last - first) * frame / 11;
            kernel::FloatPlane& plane = made.frames[static_cast<std::size_t>(frame)];
            const kernel::FloatPlane expected = made.series.expected(frame);
            registration::NoiseSource noise(5, static_cast<std::uint64_t>(frame));
            for (Elements y = 0; y < 128; ++y) {
                for (Elements x = 0; x < 128; ++x)
                    plane.row(y)[x] = static_cast<float>(
                        noise.poisson(dose / 10 * static_cast<double>(expected.image().at(x, y))));
            }
        }
        const RegistrationResult result = registration_of(made.frames);
        EXPECT_EQ(result.stages, 2);
        const auto &one = result.frames[0].contrast, &other = result.frames[11].contrast;
        for (std::size_t frame = 1; frame < 12 && first != last; ++frame)
            EXPECT_LT(result.frames[frame].contrast.signal,
                      result.frames[frame - 1].contrast.signal);
        EXPECT_NEAR(one.signal / other.signal, first / last, .5);
        EXPECT_NEAR(one.level / other.level, first / last, .5);
        return error_among_frames(made, result.frames);
    };
    EXPECT_LT(error_of(20, 4), 1.5 * error_of(12, 12));
}

TEST(RegistrationStages, state_deviations_that_include_the_noise_of_the_average_of_the_others) {
    constexpr int frames = 12;
    const MadeSeries made = make_series(frames);
    const RegistrationResult result = registration_of(made.frames);
    // Errors relative to their mean over the frames, because the average has its own position.
    std::vector<RigidMotion> errors;
    RigidMotion mean;
    for (const FrameRegistration& frame : result.frames) {
        const RigidMotion truth = made.series.between(0, static_cast<int>(frame.frame));
        errors.push_back(compose(frame.result.motion, inverse(truth)));
        mean.tx += errors.back().tx / frames;
        mean.ty += errors.back().ty / frames;
    }
    double squares = 0;
    for (std::size_t i = 0; i < errors.size(); ++i) {
        const registration::RigidUncertainty& sigma = result.frames[i].result.uncertainty;
        squares += std::pow((errors[i].tx - mean.tx) / sigma.tx, 2) +
                   std::pow((errors[i].ty - mean.ty) / sigma.ty, 2);
    }
    const double z = std::sqrt(squares / (2 * frames));
    EXPECT_GT(z, .7);
    EXPECT_LT(z, 1.3);
}

/// All frames follow the noise of the frame that they are registered to in the first stage, so its
/// own field is near 0, but it is not known better than others.
TEST(RegistrationStages, state_deviations_of_the_first_reference_like_those_of_other_frames) {
    SeriesPlan plan;
    plan.shape = {256, 256};
    plan.frames = 8;
    plan.dose = 40;
    plan.drift = {0, -.8, .5};
    plan.warp = 2;
    plan.warp_length = 256;
    const SyntheticSeries series(plan, specimen_of(plan));
    const FramesMade frames = counted_frames(series);
    RegistrationOptions options;
    options.model = MotionModel::nonrigid;
    for (const int stages : {2, 3}) {
        options.stages = stages;
        const RegistrationResult result = registration_of(frames, options, 2);
        ASSERT_EQ(result.reference, 0);
        EXPECT_GT(result.frames[0].field->sigma, .7 * result.frames[4].field->sigma);
        EXPECT_LT(result.frames[0].field->sigma, 1.4 * result.frames[4].field->sigma);
    }
}

TEST(RegistrationStages, of_a_pair_are_one) {
    const MadeSeries made = make_series(2);
    for (const MotionModel model : {MotionModel::rigid, MotionModel::nonrigid}) {
        RegistrationOptions options;
        options.model = model;
        options.stages = 3;
        const RegistrationResult result = registration_of(made.frames, options);
        EXPECT_EQ(result.stages, 1);
        EXPECT_EQ(result.frames[0].result.motion, RigidMotion());
        EXPECT_LT(error_of_place(made, result.frames[1], 0), .3);
    }
}

/// Registers a series of 6 frames, the fourth of which is turned upside down.
RegistrationResult with_a_wrong_frame(const std::string& frames,
                                      AverageKind average = AverageKind::plain) {
    MadeSeries made = make_series(6);
    const kernel::FloatPlane right = made.series.counted(3);
    for (Elements y = 0; y < 128; ++y) {
        for (Elements x = 0; x < 128; ++x)
            made.frames[3].row(y)[x] = right.image().at(127 - x, 127 - y);
    }
    RegistrationOptions options;
    options.frames = frames;
    options.average = average;
    return registration_of(made.frames, options);
}

TEST(AveragedFrames, are_those_listed) {
    const std::size_t middle = 64 * 128 + 64;
    const RegistrationResult some = with_a_wrong_frame("0-1,4");
    EXPECT_EQ(some.average.count[middle], 3);
    EXPECT_EQ(some.frames[5].not_averaged, "not listed");
    EXPECT_EQ(some.frames[4].not_averaged, "");
    const RegistrationResult sound = with_a_wrong_frame("sound");
    EXPECT_EQ(sound.average.count[middle], 5) << "a frame upside down is not averaged";
    EXPECT_NE(sound.frames[3].not_averaged + sound.frames[3].left_out, "");
    for (const char* bad : {"", "x", "1-", "3-2", "6", "0,,1", "-1"})
        EXPECT_THROW(with_a_wrong_frame(bad), Error) << bad;
}

TEST(AveragedFrames, brought_to_the_level_of_the_reference_have_its_mean) {
    const RegistrationResult plain = with_a_wrong_frame("sound");
    const RegistrationResult weighted = with_a_wrong_frame("sound", AverageKind::weighted);
    EXPECT_EQ(plain.average.count, weighted.average.count);
    double of_plain = 0, of_weighted = 0, difference = 0;
    for (std::size_t pixel = 40 * 128; pixel < 88 * 128; ++pixel) {
        const auto a = static_cast<double>(plain.average.mean[pixel]);
        const auto b = static_cast<double>(weighted.average.mean[pixel]);
        of_plain += a;
        of_weighted += b;
        difference = std::max(difference, std::abs(a - b));
    }
    EXPECT_NEAR(of_weighted, of_plain, .03 * of_plain);
    EXPECT_GT(difference, 0);
    EXPECT_TRUE(weighted.average.weight.size() == weighted.average.mean.size());
}

TEST(RegistrationStages, displacement_fields_are_stored_and_align_frames) {
    const MadeSeries made = make_series(3);
    MemoryLedger ledger;
    run_threads(1, [&](const Communicator& communicator) {
        MadeSource source(made.frames);
        const RegistrationOptions options;
        const registration::SeriesContext context{communicator, source, options, &ledger};
        std::vector<FrameRegistration> places = register_series(context);
        ledger.kept = 0;
        std::vector<float> reference(128 * 128);
        source.read_frame(0, reference);
        register_by_fields(context, reference, 0, places, 1);
        ASSERT_EQ(std::exchange(ledger.kept, 0), 3);
        const auto field_of = registration::transforms_by_fields(ledger, 0, 1);
        for (const FrameRegistration& place : places) {
            const auto field = std::get<registration::DisplacementField>(field_of(place.frame));
            const RigidMotion truth = made.series.between(0, static_cast<int>(place.frame));
            EXPECT_LT(rms_distance(field, as_field(truth, {128, 128}, 8), central), .3);
            ASSERT_TRUE(place.field);
            EXPECT_LT(rms_distance(place.result.motion, truth, {128, 128}, central), .2);
            const registration::RigidUncertainty& sigma = place.result.uncertainty;
            if (place.frame == 0)
                continue;
            EXPECT_LT(sigma.tx, place.field->sigma) << "errors of nodes are not fully correlated";
            EXPECT_NEAR(sigma.covariance[4], sigma.tx * sigma.tx, 1e-12);
            EXPECT_LT(std::abs(place.result.motion.tx - truth.tx), 5 * sigma.tx);
        }
        register_by_fields(context, reference, 0, places, 1);
        EXPECT_EQ(ledger.kept, 0);
        EXPECT_THROW(registration::transforms_by_fields(ledger, 0, 2)(1), CommunicationFailed);
    });
}

} // namespace
} // namespace sextant::test
