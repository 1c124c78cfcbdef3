// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/memory_frames.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/registration/correct/planes.hpp"
#include "sextant/registration/series/static_steps.hpp"
#include "sextant/registration/stages/refinement.hpp"
#include "sextant/registration/stages/stages.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

namespace sextant::registration {

namespace {

/// Returns by how many pixels the rotations of the contributing frames differ in a corner.
double reach_of_rotation(const Registered& registered, ImageShape shape) {
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (const std::int64_t frame : registered.contributing()) {
        least = std::min(least, registered.motion(frame).alpha);
        most = std::max(most, registered.motion(frame).alpha);
    }
    return (most - least) *
           std::hypot(static_cast<double>(shape.width), static_cast<double>(shape.height)) / 2;
}

/// Sums over this rank's frames, per pixel, what the average of the frames does not show.
struct Residuals {
    std::vector<float> sum, count;
};

Residuals residuals_of(const SeriesState& state, const MatchingAverage& average) {
    const SeriesContext& context = *state.context;
    FrameHeader header;
    header.frames = 1;
    header.shape = context.source.header().shape;
    MemoryFrames of_average(header, std::as_bytes(std::span(average.samples)));
    Team team(context.options.threads);
    Resampler resampler(of_average, &team);
    std::vector<float> shown(average.samples.size());
    Residuals residuals{std::vector<float>(shown.size()), std::vector<float>(shown.size())};
    const std::vector<float>& levels = state.result.static_pattern->levels;
    for (const FrameRegistration& frame : state.own) {
        context.control.check();
        if (!frame.left_out.empty())
            continue;
        const std::size_t index = state.registered.index(frame.frame);
        if (state.registered.contributes[index] == 0)
            continue;
        const Contribution own = contribution_of(state.registered.contrasts[index], context.offset);
        const auto gain = static_cast<float>(own.gain), offset = static_cast<float>(own.offset);
        resampler.resample(0, inverse(state.registered.motions[index]), area_of(header.shape),
                           shown);
        const std::vector<float> samples = whole_frame(context.source, frame.frame);
        const float level = levels[static_cast<std::size_t>(frame.frame)];
        for (std::size_t i = 0; i < shown.size(); ++i) {
            const float left = (samples[i] - (shown[i] - offset) / gain) / level;
            if (!std::isfinite(left))
                continue;
            residuals.sum[i] += left;
            ++residuals.count[i];
        }
    }
    return residuals;
}

} // namespace

bool pattern_turns(const SeriesState& state) {
    constexpr double least = .5; // pixels
    const StaticPattern* const pattern = state.result.static_pattern.get();
    return pattern && pattern->deviation > 0 && !state.nonrigid() && !state.inverted &&
           state.result.frames_per_sum == 0 &&
           reach_of_rotation(state.registered, state.context->source.header().shape) >= least;
}

void refine_pattern(SeriesState& state) {
    constexpr int rounds = 6;
    const auto frames = static_cast<float>(state.registered.contributing().size());
    for (int round = 0; round < rounds; ++round) {
        const MatchingAverage average =
            average_of(*state.context, state.registered, transforms(state.registered));
        Residuals residuals;
        agree(state.communicator, [&] { residuals = residuals_of(state, average); });
        add_planes(state.communicator, residuals.sum);
        add_planes(state.communicator, residuals.count);
        StaticPattern next = *state.result.static_pattern;
        for (std::size_t i = 0; i < next.of_matching.size(); ++i) {
            if (residuals.count[i] < frames / 2)
                continue;
            const float by = residuals.sum[i] / residuals.count[i];
            next.of_matching[i] += by;
            next.of_results[i] += by;
        }
        subtract(state, std::move(next));
        state.context.emplace(with_source(SeriesContext(*state.context), *state.without_static));
    }
}

} // namespace sextant::registration
