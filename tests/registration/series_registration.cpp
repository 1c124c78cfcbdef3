// SPDX-License-Identifier: BSD-3-Clause
// SeriesRegistration: a whole series, on any number of ranks, in memory or with a checkpoint.
#include "sextant/registration/series_registration.hpp"

#include "sextant/array/memory_frames.hpp"
#include "sextant/comm/agreement.hpp"

#include <filesystem>

#include "tests/format/temporary_folder.hpp"
#include "tests/registration/made_series.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::Work;
using testing::HasSubstr;
using testing::ThrowsMessage;

RegistrationOptions reproducible(MotionModel model = MotionModel::rigid) {
    RegistrationOptions options;
    options.model = model;
    options.reproducible = true;
    return options;
}

TEST(SeriesRegistration, gives_motions_average_and_aligned_frames_on_any_number_of_ranks) {
    MadeSeries made = make_series(8);
    made.frames[5] = kernel::FloatPlane({128, 128});
    const SeriesRun alone = run_series(made.frames, 1, reproducible());
    EXPECT_EQ(alone.result.reference, 0);
    EXPECT_THAT(alone.result.frames[5].left_out, HasSubstr("every sample is 0"));
    EXPECT_EQ(alone.aligned.size(), 7U);
    EXPECT_FALSE(alone.aligned.contains(5));
    const std::size_t centre = 64 * 128 + 64;
    EXPECT_EQ(alone.result.average.count[centre], 7);
    float sum = 0;
    for (const auto& [frame, pixels] : alone.aligned)
        sum += pixels[centre];
    EXPECT_NEAR(alone.result.average.mean[centre], sum / 7, 1e-4);
    for (const int ranks : {3, 6}) {
        const SeriesRun run = run_series(made.frames, ranks, reproducible());
        for (std::size_t i = 0; i < made.frames.size(); ++i) {
            EXPECT_EQ(run.result.frames[i].left_out, alone.result.frames[i].left_out);
            EXPECT_LT(rms_distance(run.result.frames[i].result.motion,
                                   alone.result.frames[i].result.motion, {128, 128}),
                      .005)
                << i << " on " << ranks;
        }
        EXPECT_EQ(run.result.average.count[centre], 7);
        EXPECT_NEAR(run.result.average.mean[centre], alone.result.average.mean[centre],
                    .01 * static_cast<double>(alone.result.average.mean[centre]));
        expect_same(run, run_series(made.frames, ranks, reproducible()));
    }
}

/// Links of large frames are compared at half resolution. If only two frames are sound, no stage
/// follows, so they are registered again at full resolution, also with a checkpoint.
TEST(SeriesRegistration, the_only_two_sound_frames_are_compared_at_full_resolution) {
    SeriesPlan plan;
    plan.shape = {256, 256};
    plan.frames = 7;
    plan.drift = {0, 1.3, -.8};
    const SyntheticSeries series(plan, specimen_of(plan));
    FramesMade frames = counted_frames(series);
    for (std::size_t blank = 2; blank < 6; ++blank)
        frames[blank] = kernel::FloatPlane(plan.shape);
    plan.seed = 99;
    frames[6] = SyntheticSeries(plan, specimen_of(plan, "carbon", 7)).counted(6);
    FramesMade two;
    two.push_back(series.counted(0));
    two.push_back(series.counted(1));
    const RigidMotion expected = registration_of(two).frames[1].result.motion;
    const TemporaryFolder folder;
    for (const bool inverted : {false, true}) {
        for (std::int64_t y = 0; inverted && y < plan.shape.height; ++y) {
            float* const row = frames[1].row(y);
            std::transform(row, row + plan.shape.width, row,
                           [](float count) { return 20 - count; });
        }
        for (const std::string& checkpoint :
             {std::string(), folder.path(inverted ? "inverted" : "checkpoint")}) {
            RegistrationOptions options;
            options.contrast = ContrastSearch::automatic;
            options.checkpoint = checkpoint;
            const RegistrationResult found = registration_of(frames, options);
            EXPECT_FALSE(found.frames[6].left_out.empty());
            EXPECT_EQ(found.frames[1].contrast.inverted(), inverted);
            EXPECT_LT(
                registration::rms_distance(found.frames[1].result.motion, expected, plan.shape),
                .01);
        }
    }
}

TEST(SeriesRegistration, warns_of_frames_that_repeat_the_frame_before) {
    MadeSeries made = make_series(6);
    EXPECT_THAT(run_series(made.frames, 2, reproducible()).result.warnings, testing::IsEmpty());
    for (const std::size_t copy : {3U, 4U}) {
        for (std::int64_t y = 0; y < 128; ++y)
            std::copy_n(made.frames[2].row(y), 128, made.frames[copy].row(y));
    }
    EXPECT_THAT(run_series(made.frames, 2, reproducible()).result.warnings,
                testing::ElementsAre(HasSubstr("2 of 6 frames are identical to the frame before "
                                               "them, the first is frame 3")));
}

TEST(SeriesRegistration, gives_the_same_bits_for_any_memory_limit_and_number_of_threads) {
    const MadeSeries made = make_series(5);
    RegistrationOptions options = reproducible();
    const SeriesRun roomy = run_series(made.frames, 2, options);
    options.memory = registration::least_memory(5, 128, {.halves = true});
    options.threads = 2;
    expect_same(roomy, run_series(made.frames, 2, options));
}

TEST(SeriesRegistration, keeps_displacement_fields_in_memory_or_in_a_checkpoint) {
    const MadeSeries made = make_series(5);
    RegistrationOptions options = reproducible(MotionModel::nonrigid);
    for (const int stages : {1, 3}) {
        options.stages = stages;
        options.checkpoint.clear();
        const SeriesRun in_memory = run_series(made.frames, 2, options);
        const TemporaryFolder folder;
        options.checkpoint = folder.path("new");
        const SeriesRun kept = run_series(made.frames, 2, options);
        expect_same(in_memory, kept);
        EXPECT_EQ(in_memory.worked.at(Work::field), 5 * stages);
        ASSERT_EQ(kept.transforms.size(), 5U);
        for (const auto& [frame, transform] : kept.transforms) {
            const auto& field = std::get<registration::DisplacementField>(transform);
            EXPECT_EQ(field.x,
                      std::get<registration::DisplacementField>(in_memory.transforms.at(frame)).x);
            const RigidMotion truth = made.series.between(0, static_cast<int>(frame));
            EXPECT_LT(rms_distance(field, as_field(truth, {128, 128}, 8), central), .4) << frame;
        }
        EXPECT_TRUE(std::filesystem::exists(options.checkpoint));
        EXPECT_TRUE(std::filesystem::is_empty(options.checkpoint));
    }
}

TEST(SeriesRegistration, gives_the_same_motions_for_frames_with_a_large_offset) {
    const MadeSeries made = make_series(4);
    std::vector<double> samples;
    for (const kernel::FloatPlane& frame : made.frames) {
        for (Elements y = 0; y < 128; ++y)
            for (Elements x = 0; x < 128; ++x)
                samples.push_back(static_cast<double>(frame.image().at(x, y)) + 1e9);
    }
    FrameHeader header;
    header.frames = 4;
    header.shape = {128, 128};
    header.sample = Sample::f64;
    RegistrationOptions options = reproducible();
    options.recorded_mean = true;
    const SeriesRun plain = run_series(made.frames, 1, options);
    EXPECT_EQ(plain.result.offset, 0);
    run_threads(1, [&](const Communicator& communicator) {
        const RegistrationResult result =
            SeriesRegistration(communicator, options)
                .run(std::make_unique<MemoryFrames>(header, std::as_bytes(std::span(samples))));
        EXPECT_NEAR(result.offset, 1e9, 1e3);
        for (std::size_t i = 0; i < 4; ++i)
            EXPECT_LT(rms_distance(result.frames[i].result.motion,
                                   plain.result.frames[i].result.motion, {128, 128}),
                      1e-4);
        EXPECT_NEAR(static_cast<double>(result.recorded.mean[500]) + result.offset,
                    static_cast<double>(plain.result.recorded.mean[500]) + 1e9, 1e-3);
        EXPECT_EQ(result.recorded.count[500], 4);
        EXPECT_TRUE(result.recorded.median.empty());
    });
}

/// Cancels a run on one rank after a result of this kind, then continues it, and compares the
/// result with that of an uncancelled run.
void expect_cancelled_and_continued(const FramesMade& frames, RegistrationOptions options,
                                    Work work, int rank) {
    constexpr int ranks = 3;
    const SeriesRun whole = run_series(frames, ranks, options);
    const TemporaryFolder folder;
    options.checkpoint = folder.path();
    const SeriesRun ended = run_series(frames, ranks, options, [&](int this_rank, Work done) {
        return this_rank == rank && done == work;
    });
    EXPECT_TRUE(ended.cancelled);
    EXPECT_TRUE(ended.aligned.empty()) << "results were written";
    EXPECT_GT(total(ended), 0);
    EXPECT_LT(total(ended), total(whole));
    const SeriesRun continued = run_series(frames, ranks, options);
    EXPECT_FALSE(continued.cancelled);
    EXPECT_EQ(continued.resumed, static_cast<std::size_t>(total(ended)));
    EXPECT_EQ(total(ended) + total(continued), total(whole));
    expect_same(whole, continued);
    EXPECT_EQ(folder.entries(), 0) << "the checkpoint was not removed";
}

TEST(SeriesRegistration, is_cancelled_on_all_ranks_by_one_rank_and_resumes_with_the_same_result) {
    const MadeSeries made = make_series(12);
    for (const Work work : {Work::link, Work::combined, Work::averaged}) {
        for (const int rank : {0, 2}) {
            SCOPED_TRACE(testing::Message() << static_cast<int>(work) << " on rank " << rank);
            expect_cancelled_and_continued(made.frames, reproducible(), work, rank);
        }
    }
}

TEST(SeriesRegistration, can_be_cancelled_while_computing_displacement_fields_in_any_stage) {
    const MadeSeries made = make_series(9);
    for (const Work work : {Work::neighbour_field, Work::combined_field, Work::field}) {
        SCOPED_TRACE(static_cast<int>(work));
        expect_cancelled_and_continued(made.frames, reproducible(MotionModel::nonrigid), work, 1);
    }
}

TEST(SeriesRegistration, can_be_cancelled_while_averaging_and_writing_results) {
    const MadeSeries made = make_series(4);
    for (const char* part : {"inspect frames", "average and median", "write aligned frames"}) {
        const TemporaryFolder folder;
        RegistrationOptions options = reproducible();
        options.checkpoint = folder.path();
        run_threads(2, [&](const Communicator& communicator) {
            bool stops = false;
            RunControl control;
            control.progress = [&](std::string_view name, std::int64_t done, std::int64_t all) {
                EXPECT_EQ(communicator.rank(), 0);
                EXPECT_TRUE(0 <= done && done < all) << name;
                stops = stops || (name == part && done == 1);
            };
            control.cancelled = [&] { return stops; };
            RegistrationHooks hooks;
            hooks.write = [](const RegistrationResult&, RegisteredFrames& frames) {
                for (const std::int64_t frame : frames.numbers())
                    frames.aligned(frame);
            };
            const SeriesRegistration registration(communicator, options, control);
            EXPECT_THROW(registration.run(std::make_unique<MadeSource>(made.frames), hooks),
                         Cancelled)
                << part;
        });
        EXPECT_EQ(folder.entries(), std::string_view(part) == "inspect frames" ? 0 : 2) << part;
    }
}

TEST(SeriesRegistration, keeps_the_checkpoint_if_writing_fails_and_recomputes_nothing) {
    const MadeSeries made = make_series(4);
    const TemporaryFolder folder;
    RegistrationOptions options = reproducible();
    options.checkpoint = folder.path();
    EXPECT_THAT([&] { run_series(made.frames, 2, options, {}, true); },
                ThrowsMessage<AgreedFailure>(HasSubstr("average.tif: the disk is full")));
    EXPECT_EQ(total(run_series(made.frames, 2, options)), 0);
    EXPECT_EQ(folder.entries(), 0);
}

TEST(SeriesRegistration, refuses_a_checkpoint_of_other_options_unless_restarted) {
    const MadeSeries made = make_series(4);
    const TemporaryFolder folder;
    RegistrationOptions options = reproducible();
    options.checkpoint = folder.path();
    EXPECT_TRUE(run_series(made.frames, 2, options, [](int, Work) { return true; }).cancelled);
    options.stages = 3;
    EXPECT_THAT([&] { run_series(made.frames, 2, options); },
                ThrowsMessage<AgreedFailure>(HasSubstr(
                    "whose stages is 2, expected 3; use another folder, or the option restart")));
    EXPECT_GT(folder.entries(), 0);
    options.restart = true;
    const SeriesRun run = run_series(made.frames, 2, options);
    EXPECT_EQ(run.resumed, 0U);
    EXPECT_EQ(folder.entries(), 0);
}

TEST(SeriesRegistration, names_an_invalid_option_with_its_value_and_the_expected_value) {
    const MadeSeries made = make_series(3);
    const auto refused = [&](const RegistrationOptions& options, const char* words) {
        EXPECT_THAT([&] { run_series(made.frames, 2, options); },
                    ThrowsMessage<AgreedFailure>(HasSubstr(words)));
    };
    RegistrationOptions options;
    options.reference = 3;
    refused(options, "reference 3: expected 0 to 2, as made has 3 frames");
    options = {};
    options.memory = 100;
    refused(options, "memory 9.53674e-05 MiB is too little for a row of 3 frames, expected 1");
    options = {};
    options.checkpoint = "/dev/null/none";
    refused(options, "/dev/null/none: cannot be created");
    options = {};
    options.stages = 0;
    run_threads(1, [&](const Communicator& communicator) {
        EXPECT_THAT(([&] { SeriesRegistration(communicator, options); }),
                    ThrowsMessage<InvalidTask>(HasSubstr("stages 0: expected ")));
    });
    run_threads(2, [&](const Communicator& communicator) {
        RegistrationOptions own;
        own.stages = 1 + communicator.rank();
        const SeriesRegistration registration(communicator, own);
        EXPECT_THAT(([&] { registration.run(std::make_unique<MadeSource>(made.frames)); }),
                    ThrowsMessage<AgreedFailure>(HasSubstr("stages: rank 0 has 1, rank 1 has 2")));
    });
    EXPECT_THAT([&] { run_series(make_series(1).frames, 2, {}); },
                ThrowsMessage<AgreedFailure>(
                    HasSubstr("made has 1 frame, expected at least two to register")));
}

} // namespace
} // namespace sextant::test
