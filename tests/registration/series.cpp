// SPDX-License-Identifier: BSD-3-Clause
// Series of frames of known motion, registered on any number of ranks.
#include "sextant/registration/series.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/registration/average.hpp"

#include <cstring>

#include "tests/registration/trials.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::FramePlace;
using registration::SeriesPlan;
using registration::SyntheticSeries;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Frames = std::vector<kernel::FloatPlane>;

/// Frames in memory.
class Source : public FrameSource {
  public:
    explicit Source(const Frames& frames)
        : FrameSource("made", header_of(frames)), frames_(frames) {}

  private:
    static FrameHeader header_of(const Frames& frames) {
        FrameHeader header;
        header.frames = static_cast<std::int64_t>(frames.size());
        header.shape = frames.empty() ? ImageShape{16, 16} : frames.front().shape();
        return header;
    }

    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) override {
        const kernel::FloatImage image = frames_[static_cast<std::size_t>(frame)].image();
        const auto bytes = static_cast<std::size_t>(image.shape.width) * sizeof(float);
        for (std::int64_t y = rows.first; y < rows.last; ++y)
            std::memcpy(to.data() + static_cast<std::size_t>(y - rows.first) * bytes, image.row(y),
                        bytes);
    }

    const Frames& frames_;
};

struct Made {
    SyntheticSeries series;
    Frames frames;
    double bound;
};

Made make(int frames, std::vector<int> blanks = {}) {
    SeriesPlan plan;
    plan.shape = {128, 128};
    plan.frames = frames;
    plan.drift = {.1 * degree, 1.4, -.9};
    plan.wander = .4;
    plan.blanks = std::move(blanks);
    registration::SpecimenPlan of_specimen;
    of_specimen.field = registration::field_for(plan);
    const registration::Specimen specimen = registration::find_specimen("carbon").make(of_specimen);
    Made made{SyntheticSeries(plan, specimen), {}, cramer_rao(specimen, plan.shape, plan.dose)};
    for (int frame = 0; frame < frames; ++frame)
        made.frames.push_back(made.series.counted(frame));
    return made;
}

std::vector<FramePlace> registered(const Frames& frames, int ranks,
                                   const registration::SeriesOptions& options = {}) {
    std::vector<std::vector<FramePlace>> parts(static_cast<std::size_t>(ranks));
    run_threads(ranks, [&](const Communicator& communicator) {
        Source source(frames);
        parts[static_cast<std::size_t>(communicator.rank())] =
            registration::register_series(communicator, source, options);
    });
    std::vector<FramePlace> all;
    for (const auto& part : parts)
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

double error_of(const Made& made, const FramePlace& place, int reference) {
    const RigidMotion truth = made.series.between(reference, static_cast<int>(place.frame));
    return registration::rms_distance(place.result.motion, truth, {128, 128}, central);
}

TEST(Series, errors_do_not_grow_with_the_number_of_a_frame) {
    const Made made = make(14);
    const std::vector<FramePlace> places = registered(made.frames, 2);
    ASSERT_EQ(places.size(), 14U);
    EXPECT_EQ(places.front().result.motion, RigidMotion());
    double early = 0, late = 0;
    for (int frame = 1; frame < 14; ++frame) {
        const FramePlace& place = places[static_cast<std::size_t>(frame)];
        EXPECT_EQ(place.frame, frame);
        EXPECT_FALSE(place.result.unrelated || place.result.ambiguous);
        const double error = error_of(made, place, 0);
        EXPECT_LT(error, 4 * made.bound) << frame;
        (frame < 7 ? early : late) += error / 6.5;
    }
    EXPECT_LT(late, 2 * early) << "a chain's error would be several times larger at its end";
}

TEST(Series, any_number_of_ranks_gives_the_same_motions_within_their_noise) {
    const Made made = make(9);
    const std::vector<FramePlace> alone = registered(made.frames, 1);
    for (const int ranks : {2, 3, 4, 7, 12}) {
        const std::vector<FramePlace> places = registered(made.frames, ranks);
        ASSERT_EQ(places.size(), alone.size()) << ranks;
        for (std::size_t frame = 0; frame < alone.size(); ++frame)
            EXPECT_LT(registration::rms_distance(places[frame].result.motion,
                                                 alone[frame].result.motion, {128, 128}),
                      .005)
                << frame << " on " << ranks;
    }
}

TEST(Series, ranks_that_share_by_how_long_neighbours_took_give_the_same_motions_too) {
    const Made made = make(9, {4});
    registration::SeriesOptions options;
    options.scan.strategy = "reduce-then-scan";
    options.scan.shares = scan::Shares::by_time_across_ranks;
    const std::vector<FramePlace> alone = registered(made.frames, 1);
    for (const int ranks : {1, 3, 4}) {
        const std::vector<FramePlace> places = registered(made.frames, ranks, options);
        ASSERT_EQ(places.size(), alone.size()) << ranks;
        for (std::size_t frame = 0; frame < alone.size(); ++frame) {
            EXPECT_EQ(places[frame].frame, alone[frame].frame);
            EXPECT_EQ(places[frame].left_out, alone[frame].left_out);
            EXPECT_LT(registration::rms_distance(places[frame].result.motion,
                                                 alone[frame].result.motion, {128, 128}),
                      .005)
                << frame << " on " << ranks;
        }
    }
}

TEST(Series, the_same_number_of_ranks_gives_the_same_bits) {
    const Made made = make(7);
    const std::vector<FramePlace> once = registered(made.frames, 3);
    const std::vector<FramePlace> again = registered(made.frames, 3);
    for (std::size_t frame = 0; frame < once.size(); ++frame)
        EXPECT_EQ(once[frame].result.motion, again[frame].result.motion);
}

TEST(Series, frames_without_a_picture_are_left_out_with_the_reason) {
    Made made = make(10, {0, 4, 5});
    made.frames[7] = kernel::FloatPlane({128, 128});
    made.frames[8].row(3)[5] = std::nanf("");
    for (const int ranks : {1, 3}) {
        const std::vector<FramePlace> places = registered(made.frames, ranks);
        for (const int dark : {0, 4, 5})
            EXPECT_THAT(places[static_cast<std::size_t>(dark)].left_out,
                        HasSubstr("that of others"));
        EXPECT_THAT(places[7].left_out, HasSubstr("every sample is 0"));
        EXPECT_THAT(places[8].left_out, HasSubstr("1 of 16384 samples are not finite"));
        for (const int good : {1, 2, 3, 6, 9}) {
            const FramePlace& place = places[static_cast<std::size_t>(good)];
            EXPECT_EQ(place.left_out, "");
            EXPECT_LT(error_of(made, place, 1), 4 * made.bound) << good;
        }
    }
}

TEST(Series, of_one_frame_or_of_none_that_can_be_registered_are_series_too) {
    const Made made = make(1);
    EXPECT_EQ(registered(made.frames, 2).front().result.motion, RigidMotion());
    Frames dark;
    dark.emplace_back(ImageShape{64, 64});
    dark.emplace_back(ImageShape{64, 64});
    for (const FramePlace& place : registered(dark, 2))
        EXPECT_THAT(place.left_out, HasSubstr("every sample is 0"));
}

TEST(Series, without_frames_or_on_threads_of_a_rank_is_refused) {
    EXPECT_THAT([] { registered({}, 1); },
                ThrowsMessage<AgreedFailure>(HasSubstr("a series without frames")));
    run_threads(1, [](const Communicator& communicator) {
        const Made made = make(2);
        Source source(made.frames);
        registration::SeriesOptions options;
        options.scan.threads = 2;
        EXPECT_THAT(([&] { registration::register_series(communicator, source, options); }),
                    ThrowsMessage<AgreedFailure>(HasSubstr("one thread a rank, not on 2")));
    });
}

TEST(Average, of_registered_frames_has_less_noise_and_counts_its_samples) {
    const Made made = make(12);
    registration::Average average({128, 128}), second({128, 128});
    for (int frame = 0; frame < 12; ++frame)
        (frame % 2 == 0 ? average : second)
            .add(made.frames[static_cast<std::size_t>(frame)].image(),
                 made.series.between(0, frame));
    average.add(second);
    EXPECT_EQ(average.count(64, 64), 12);
    EXPECT_LT(average.count(0, 127), 12) << "the specimen drifted out there";
    const kernel::FloatPlane mean = average.mean(), truth = made.series.expected(0);
    double error = 0, of_one = 0;
    for (Elements y = 30; y < 98; ++y) {
        for (Elements x = 30; x < 98; ++x) {
            const auto square = [](float a, float b) {
                return static_cast<double>((a - b) * (a - b));
            };
            error += square(mean.image().at(x, y), truth.image().at(x, y));
            of_one += square(made.frames[0].image().at(x, y), truth.image().at(x, y));
        }
    }
    EXPECT_LT(error, of_one / 10);
}

} // namespace
} // namespace sextant::test
