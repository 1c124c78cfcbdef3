// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"
#include "sextant/registration/series/inspection.hpp"
#include "sextant/registration/stages/stages.hpp"
#include "sextant/registration/transform/canvas.hpp"
#include "sextant/registration/transform/combined.hpp"
#include "sextant/registration/transform/spectra.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// Returns the reason why the motion of a frame is in doubt.
std::string doubt_of(const FrameRegistration& frame, bool weak) {
    if (frame.result.unrelated)
        return "the frame is no more similar to its reference than noise";
    if (frame.implausible)
        return "the motion is outside the search range, or the NCC is lower than without it";
    if (weak)
        return "its position is poorly determined";
    if (frame.in_doubt)
        return "registrations to the frames around it disagree";
    return "a registration to a frame next to it is ambiguous";
}

/// Returns the area of averages: the canvas if it has been chosen, otherwise the area of a frame.
PixelArea shown_area(const SeriesState& state) {
    return state.result.canvas.shape.elements() > 0 ? state.result.canvas
                                                    : area_of(state.source->header().shape);
}

/// Returns the options of averages. Weighted averages match frames to the level and contrast of the
/// reference.
CombineOptions combine_options(const SeriesState& state, bool median) {
    CombineOptions options = averaging_options(state.options, shown_area(state), median);
    if (state.options.average == AverageKind::plain || state.averaged.empty())
        return options;
    const auto contrast_of = [&](std::int64_t frame) {
        return state.registered.contrasts[state.registered.index(frame)];
    };
    const auto& frames = state.registered.frames;
    const bool has_reference =
        std::binary_search(frames.begin(), frames.end(), state.result.reference);
    const FrameContrast to =
        contrast_of(has_reference ? state.result.reference : state.averaged.front());
    options.contributions.clear();
    for (const std::int64_t frame : state.averaged) {
        const FrameContrast from = contrast_of(frame);
        const double gain = to.signal / from.signal;
        options.contributions.push_back(
            {to.level - state.result.offset - gain * (from.level - state.result.offset), gain,
             from.weight()});
    }
    return options;
}

Combined combined(const SeriesState& state, FrameSource& source, const TransformOf& transform_of,
                  bool median) {
    return combine(state.communicator, source, state.averaged, transform_of,
                   combine_options(state, median), state.control);
}

/// Computes the resolution from the two half averages.
void find_resolution(SeriesState& state) {
    std::array<std::vector<float>, 2> halves = std::exchange(state.result.average.halves, {});
    if (state.is_first() && state.averaged.size() > 1)
        state.result.resolution =
            ring_correlation(halves[0], halves[1], ring_area(shown_area(state).shape).shape);
}

/// Chooses the frames for the average and the median. Records the reason for each frame that is not
/// averaged.
void choose_averaged(SeriesState& state) {
    const bool all = state.options.frames == "all", sound = state.options.frames == "sound";
    if (sound && state.registered.all_in_doubt)
        state.result.warnings.emplace_back(
            "the motions of all frames are in doubt; all are averaged");
    const std::vector<bool> listed =
        all || sound ? std::vector<bool>()
                     : frames_listed(state.options.frames, state.source->header().frames);
    const auto has = [&](std::int64_t frame) {
        if (all)
            return true;
        return sound ? state.registered.contributes[state.registered.index(frame)] != 0
                     : listed[static_cast<std::size_t>(frame)];
    };
    for (const std::int64_t frame : state.registered.frames) {
        if (has(frame))
            state.averaged.push_back(frame);
    }
    state.result.not_averaged = std::ssize(state.registered.frames) - std::ssize(state.averaged);
    if (state.averaged.empty())
        throw InvalidData(
            fmt::format("frames {}: none of these frames is registered", state.options.frames));
    for (FrameRegistration& frame : state.own) {
        if (frame.left_out.empty() && !has(frame.frame))
            frame.not_averaged =
                sound ? doubt_of(frame, state.result.frames_per_sum > 0) : "not listed";
    }
}

void choose_canvas(SeriesState& state, const TransformOf& transform_of) {
    const ImageShape shape = state.source->header().shape;
    PixelArea& canvas = state.result.canvas;
    canvas = area_of(shape);
    if (state.options.canvas == Canvas::united) {
        canvas = covered_by_any(state.averaged, transform_of, shape);
        if (canvas.shape.elements() > largest_canvas)
            throw InvalidTask(fmt::format("canvas union: the frames extend over {}x{} pixels, "
                                          "expected at most {} MiPixel; "
                                          "choose reference or common, or average fewer frames",
                                          canvas.shape.width, canvas.shape.height,
                                          largest_canvas >> 20));
    } else if (state.options.canvas == Canvas::common) {
        const PixelArea common = covered_by_all(state.averaged, transform_of, shape);
        if (common.shape.elements() > 0)
            canvas = common;
        else
            state.result.warnings.emplace_back(
                "canvas common: no pixel is covered by all frames, so "
                "the area of the reference is used");
    }
}

/// Converts contrasts to be relative to the reference, and counts the inverted frames.
void count_inverted(SeriesState& state) {
    const bool reference_is =
        state.result.frames[static_cast<std::size_t>(state.result.reference)].contrast.inverted();
    for (FrameRegistration& frame : state.result.frames) {
        if (reference_is)
            frame.contrast.signal = -frame.contrast.signal;
        state.result.inverted += frame.left_out.empty() && frame.contrast.inverted();
    }
}

/// Computes the RMS of the row displacements over the frames.
void summarise_rows(SeriesState& state) {
    RowFitSummary sum;
    double count = 0;
    for (const FrameRegistration& frame : state.result.frames) {
        if (!frame.row_fit)
            continue;
        ++count;
        const RowFitSummary& one = *frame.row_fit;
        sum.jitter += one.jitter * one.jitter;
        sum.drift_x += one.drift_x * one.drift_x;
        sum.drift_y += one.drift_y * one.drift_y;
        sum.sigma += one.sigma * one.sigma;
    }
    if (count == 0)
        return;
    const auto root = [count](double square) { return std::sqrt(square / count); };
    state.result.rows =
        RowFitSummary{root(sum.jitter), root(sum.drift_x), root(sum.drift_y), root(sum.sigma)};
}

void warn_of_undetermined(SeriesState& state) {
    const auto count = std::ranges::count_if(state.result.frames, [](const auto& frame) {
        return frame.left_out.empty() && frame.in_doubt;
    });
    if (state.result.frames_per_sum > 0 && count > 0)
        state.result.warnings.push_back(
            fmt::format("the positions of {} of {} frames are poorly determined", count,
                        state.result.frames.size()));
}

void gather_thread_use(SeriesState& state) {
    FrameThreadUse& all = state.result.thread_use;
    const std::vector<FrameThreadUse::Scan> scans = state.communicator.all_gather(all.scan);
    all.registrations = all_gather_lists(state.communicator, all.registrations);
    all.scan = {};
    for (const FrameThreadUse::Scan& own : scans) {
        all.scan.applications += own.applications;
        all.scan.stolen += own.stolen;
        all.scan.seconds = std::max(all.scan.seconds, own.seconds);
        all.scan.idle += own.idle;
    }
}

} // namespace

void choose_results(SeriesState& state) {
    const TransformOf found = transform_of(state, state.result.stages);
    agree(state.communicator, [&] {
        choose_averaged(state);
        choose_canvas(state, found);
    });
}

void average_frames(SeriesState& state) {
    state.result.average =
        combined(state, state.shown_frames(), known_transform_of(state, state.result.stages), true);
    find_resolution(state);
}

void average_recorded(SeriesState& state) {
    if (state.options.recorded_mean) // with a static pattern, if there is one
        state.result.recorded = combined(
            state, *state.source, [](std::int64_t) { return Transform(); }, false);
}

void gather_results(SeriesState& state) {
    state.result.frames = gather_frames(state.communicator, state.own);
    for (FrameRegistration& frame : state.result.frames)
        frame.static_bias = state.result.static_bias;
    for (std::size_t i = 0; i < state.registered.rows.size(); ++i)
        state.result.frames[static_cast<std::size_t>(state.registered.frames[i])].rows =
            state.registered.rows[i];
    count_inverted(state);
    summarise_rows(state);
    gather_thread_use(state);
    warn_of_undetermined(state);
    state.result.misfit = series_misfit(state);
}

} // namespace sextant::registration
