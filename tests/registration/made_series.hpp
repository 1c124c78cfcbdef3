// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/threads.hpp"
#include "sextant/registration/series/frame_series.hpp"
#include "sextant/registration/series/inspection.hpp"
#include "sextant/registration/series_registration.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "tests/registration/frames_in_memory.hpp"
#include "tests/registration/trials.hpp"

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

inline double error_of_place(const MadeSeries& made, const FrameRegistration& place,
                             int reference) {
    const RigidMotion truth = made.series.between(reference, static_cast<int>(place.frame));
    return registration::rms_distance(place.result.motion, truth, {128, 128}, central);
}

} // namespace sextant::test
