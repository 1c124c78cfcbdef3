// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/registration/series/frame_series.hpp"
#include "sextant/registration/series/inspection.hpp"
#include "sextant/registration/series_registration.hpp"

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tests/registration/frames_in_memory.hpp"
#include "tests/registration/trials.hpp"
#include <gtest/gtest.h>

// Series of frames of known motion, in memory, registered on any number of ranks.
namespace sextant::test {

using registration::SeriesPlan;
using registration::SyntheticSeries;

struct MadeSeries {
    SyntheticSeries series;
    FramesMade frames;
    double bound;
};

inline MadeSeries make_series(int frames, std::vector<int> blanks = {},
                              const RigidMotion& drift = {-.1 * degree, -1.4, .9}) {
    SeriesPlan plan;
    plan.shape = {128, 128};
    plan.frames = frames;
    plan.drift = drift;
    plan.wander = .4;
    plan.blanks = std::move(blanks);
    const registration::Specimen specimen = specimen_of(plan);
    const SyntheticSeries series(plan, specimen);
    return {series, counted_frames(series),
            bench::cramer_rao(specimen, plan.shape, plan.dose, central)};
}

/// Inspects and registers a series. Collective.
inline std::vector<FrameRegistration> register_series(const registration::SeriesContext& context) {
    return registration::register_series(context, inspect_series(context));
}

inline std::vector<FrameRegistration> places_of(const FramesMade& frames, int ranks,
                                                RegistrationOptions options = {}) {
    options.reproducible = true;
    std::vector<std::vector<FrameRegistration>> parts(static_cast<std::size_t>(ranks));
    run_threads(ranks, [&](const Communicator& communicator) {
        MadeSource source(frames);
        parts[static_cast<std::size_t>(communicator.rank())] =
            register_series({communicator, source, options});
    });
    std::vector<FrameRegistration> all;
    for (const auto& part : parts)
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

/// Runs a whole registration on some ranks, each with a source of its own, and returns the result
/// of the last rank.
template <class Open>
RegistrationResult registration_of(const Open& open, int ranks,
                                   const RegistrationOptions& options = {},
                                   const RegistrationHooks& hooks = {}) {
    RegistrationResult result;
    run_threads(ranks, [&](const Communicator& communicator) {
        RegistrationResult own = SeriesRegistration(communicator, options).run(open(), hooks);
        if (communicator.rank() == ranks - 1)
            result = std::move(own);
    });
    return result;
}

inline RegistrationResult registration_of(const FramesMade& frames,
                                          const RegistrationOptions& options = {}, int ranks = 1) {
    return registration_of([&] { return std::make_unique<MadeSource>(frames); }, ranks, options);
}

/// The result of a run on all ranks, and the calls of its hooks.
struct SeriesRun {
    RegistrationResult result; ///< of the last rank
    std::map<std::int64_t, std::vector<float>> aligned;
    std::map<std::int64_t, registration::Transform> transforms;
    std::map<registration::Work, int> worked; ///< number of computed results, over all ranks
    std::size_t resumed = 0;
    bool cancelled = false;
};

/// Returns true if a rank is to cancel after it computed a result of this kind.
using Cancel = std::function<bool(int rank, registration::Work work)>;

/// `fails`: the results cannot be written, which leaves the checkpoint.
inline SeriesRun run_series(const FramesMade& frames, int ranks, const RegistrationOptions& options,
                            const Cancel& cancel = {}, bool fails = false) {
    SeriesRun run;
    std::mutex one_writer;
    std::atomic<int> cancelled_ranks = 0;
    run_threads(ranks, [&](const Communicator& communicator) {
        bool stops = false;
        RegistrationHooks hooks;
        hooks.write = [&](const RegistrationResult& result, RegisteredFrames& registered) {
            if (fails)
                throw InvalidFile("average.tif", "the disk is full");
            EXPECT_EQ(communicator.rank(), 0);
            EXPECT_EQ(result.frames.size(), frames.size());
            for (const std::int64_t frame : registered.numbers()) {
                const auto pixels = registered.aligned(frame);
                run.aligned[frame].assign(pixels.begin(), pixels.end());
                run.transforms[frame] = registered.transform(frame);
            }
        };
        hooks.resumed = [&](std::size_t results) { run.resumed = results; };
        hooks.worked = [&](registration::Work work, Seconds begin, Seconds end) {
            EXPECT_LE(begin, end);
            const std::lock_guard lock(one_writer);
            ++run.worked[work];
            stops = stops || (cancel && cancel(communicator.rank(), work));
        };
        const SeriesRegistration registration(communicator, options,
                                              {.cancelled = [&] { return stops; }});
        try {
            RegistrationResult result =
                registration.run(std::make_unique<MadeSource>(frames), hooks);
            const std::lock_guard lock(one_writer);
            if (communicator.rank() == ranks - 1)
                run.result = std::move(result);
        } catch (const Cancelled&) {
            ++cancelled_ranks;
        }
        EXPECT_EQ(communicator.all_gather(communicator.rank()).back(), ranks - 1);
    });
    EXPECT_TRUE(cancelled_ranks == 0 || cancelled_ranks == ranks) << cancelled_ranks;
    run.cancelled = cancelled_ranks == ranks;
    return run;
}

/// Number of computed results.
inline int total(const SeriesRun& run) {
    int sum = 0;
    for (const auto& [work, results] : run.worked)
        sum += results;
    return sum;
}

inline void expect_same(const SeriesRun& one, const SeriesRun& other) {
    EXPECT_EQ(one.result.average.mean, other.result.average.mean);
    EXPECT_EQ(one.result.average.median, other.result.average.median);
    EXPECT_EQ(one.result.average.count, other.result.average.count);
    EXPECT_EQ(one.result.canvas, other.result.canvas);
    EXPECT_EQ(one.result.reference, other.result.reference);
    ASSERT_EQ(one.result.frames.size(), other.result.frames.size());
    for (std::size_t i = 0; i < one.result.frames.size(); ++i) {
        const FrameRegistration &a = one.result.frames[i], &b = other.result.frames[i];
        EXPECT_EQ(a.result.motion, b.result.motion) << i;
        EXPECT_EQ(a.result.uncertainty.covariance, b.result.uncertainty.covariance) << i;
        EXPECT_EQ(a.left_out, b.left_out) << i;
    }
    ASSERT_EQ(one.aligned.size(), other.aligned.size());
    for (const auto& [frame, pixels] : one.aligned) { // NaN equals itself
        const std::vector<float>& others = other.aligned.at(frame);
        ASSERT_EQ(pixels.size(), others.size());
        EXPECT_EQ(0, std::memcmp(pixels.data(), others.data(), pixels.size() * sizeof(float)))
            << frame;
    }
}

inline double error_of_place(const MadeSeries& made, const FrameRegistration& place,
                             int reference) {
    const RigidMotion truth = made.series.between(reference, static_cast<int>(place.frame));
    return registration::rms_distance(place.result.motion, truth, {128, 128}, central);
}

} // namespace sextant::test
