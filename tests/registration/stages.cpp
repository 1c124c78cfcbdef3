// SPDX-License-Identifier: BSD-3-Clause
// Results after registration: mean, median and count of frames, for several stages and for fields.
#include "sextant/comm/agreement.hpp"
#include "sextant/registration/refinement.hpp"

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
        const std::vector<float> average = average_of(context, all, transforms(all));
        register_to_average(context, average, places, 2);
        EXPECT_LT(error_among_frames(made, places), before);
    });
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
            EXPECT_EQ(place.result.uncertainty.tx, place.field->sigma);
            EXPECT_LT(rms_distance(place.result.motion, truth, {128, 128}, central), .2);
        }
        register_by_fields(context, reference, 0, places, 1);
        EXPECT_EQ(ledger.kept, 0);
        EXPECT_THROW(registration::transforms_by_fields(ledger, 0, 2)(1), CommunicationFailed);
    });
}

} // namespace
} // namespace sextant::test
