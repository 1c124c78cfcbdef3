// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series/static_steps.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/registration/correct/layers.hpp"
#include "sextant/registration/correct/static_pattern.hpp"
#include "sextant/registration/series/inspection.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace sextant::registration {

namespace {

/// Returns the brightness of each frame relative to the usual one; 1 if it changes little, or if
/// the samples are differences.
std::vector<float> levels_of(const SeriesInspection& inspection) {
    std::vector<FrameStatistics> usable;
    for (const std::int64_t frame : inspection.usable)
        usable.push_back(inspection.statistics[static_cast<std::size_t>(frame)]);
    std::vector<float> levels(inspection.statistics.size(), 1);
    if (usable.empty())
        return levels;
    const double usual = usual_mean(usable);
    const auto [least, most] = std::ranges::minmax(usable, {}, &FrameStatistics::mean);
    constexpr double little = 1.1;
    if (!(usual > 0 && least.mean > 0 && most.mean > little * least.mean))
        return levels;
    for (const std::int64_t frame : inspection.usable) {
        const auto at = static_cast<std::size_t>(frame);
        levels[at] = static_cast<float>(inspection.statistics[at].mean / usual);
    }
    return levels;
}

/// All-gathers the parts of usable frames from which layers are computed. Collective.
std::vector<std::vector<float>> gather_views(SeriesState& state) {
    SeriesInspection& inspection = state.inspection;
    const std::vector<float> levels = levels_of(inspection);
    const std::vector<std::int64_t> frames =
        all_gather_lists(state.communicator, inspection.viewed_frames);
    const std::vector<float> views = all_gather_lists(state.communicator, inspection.views);
    inspection.views = {};
    std::vector<std::vector<float>> images;
    auto view = views.begin();
    for (const std::int64_t frame : frames) {
        const auto first = view;
        view += std::ssize(views) / std::ssize(frames);
        if (!std::ranges::binary_search(inspection.usable, frame))
            continue;
        images.emplace_back(first, view);
        for (float& sample : images.back())
            sample /= levels[static_cast<std::size_t>(frame)];
    }
    return images;
}

/// Adds this rank's usable frames to the sum from which the static pattern is computed; without
/// layers, only their constant pixels.
void add_frames(SeriesState& state, const LayerFit* layers, StaticSum& sum) {
    FrameSource& source = state.context->source;
    const ImageShape shape = source.header().shape;
    const PatternView view = pattern_view(shape, source.header().frames);
    Pyramid pyramid(shape, view.level + 1, state.options.prefilter, state.inspection.team.get());
    std::vector<float> samples(static_cast<std::size_t>(shape.elements()));
    const std::vector<float> levels = levels_of(state.inspection);
    const std::vector<FrameRegistration>& frames = state.inspection.frames;
    std::int64_t done = 0;
    for (const FrameRegistration& frame : frames) {
        state.context->step("separate static pattern", done++, std::ssize(frames));
        if (!frame.left_out.empty())
            continue;
        source.read_frame(frame.frame, samples);
        std::optional<Point> shift;
        if (layers) {
            for (float& sample : samples)
                sample /= levels[static_cast<std::size_t>(frame.frame)];
            pyramid.fill(view_of(samples, shape));
            const Point in_view = layers->locate(viewed_part(view, pyramid));
            shift = {view.unit() * in_view.x, view.unit() * in_view.y};
        }
        sum.add(samples, shift);
    }
}

/// Computes the static pattern and subtracts it from now on; without layers, only constant pixels
/// are removed. Returns false if there is nothing to remove. Collective.
bool remove_pattern(SeriesState& state, const LayerFit* layers) {
    std::optional<StaticSum> sum;
    agree(state.communicator, [&] {
        sum.emplace(state.context->source.header().shape);
        add_frames(state, layers, *sum);
    });
    StaticPattern found = sum->pattern(state.communicator);
    found.levels = levels_of(state.inspection);
    if (state.result.static_pattern)
        found.constant = state.result.static_pattern->constant;
    if (!layers && found.constant.empty())
        return false;
    subtract(state, std::move(found));
    compare(state, *state.without_static);
    return true;
}

/// Results from the parts of frames that were kept during the inspection.
struct LayerSearch {
    std::optional<LayerFit> fit;
    std::optional<Layers> layers; ///< none if there is clearly no static layer
    bool constant = false;        ///< has_constant_pixels()
};

/// The smallest spread of displacements at which layers are known well, in pixels of the frames
/// from which they are computed.
constexpr double least_spread = 1.5;
/// The smallest Layers::strength at which a few frames show a static layer with certainty.
constexpr double least_strength = .1;

/// Returns true if some consecutive pixels, but not the darkest ones, which may be outside the
/// specimen, have the same values in all images, apart from rounding and from the images' means.
bool has_constant_pixels(std::span<const std::vector<float>> images) {
    const std::vector<float>& first = images.front();
    const auto [least, largest] = std::ranges::minmax(first);
    const float rounding = 1e-5F * (largest - least);
    int consecutive = 0;
    for (std::size_t i = 1; i < first.size(); ++i) {
        constexpr int enough = 8;
        const float step = first[i] - first[i - 1];
        const bool same = first[i] > least + rounding &&
                          std::ranges::all_of(images, [&](const std::vector<float>& image) {
                              return std::abs(image[i] - image[i - 1] - step) <= rounding;
                          });
        consecutive = same ? consecutive + 1 : 0;
        if (consecutive == enough)
            return true;
    }
    return false;
}

LayerSearch look_for_layers(SeriesState& state) {
    LayerSearch found;
    const FrameHeader& header = state.context->source.header();
    const ImageShape shape = pattern_view(header.shape, header.frames).area.shape;
    const std::vector<std::vector<float>> images = gather_views(state);
    agree(state.communicator, [&] {
        if (images.size() < 2)
            return;
        found.constant = has_constant_pixels(images);
        found.fit.emplace(shape, images);
        found.layers = found.fit->fit(true);
    });
    return found;
}

} // namespace

void subtract(SeriesState& state, StaticPattern found) {
    const auto pattern = std::make_shared<const StaticPattern>(std::move(found));
    FrameSource& compared = state.flattened        ? *state.flattened
                            : state.matched_frames ? *state.matched_frames
                                                   : *state.source;
    state.without_static = std::make_unique<ChangedFrames>(
        compared, without_static(pattern, &StaticPattern::of_matching));
    if (pattern->shape == state.source->header().shape)
        state.shown_without_static = std::make_unique<ChangedFrames>(
            *state.source, without_static(pattern, &StaticPattern::of_results));
    state.result.static_pattern = pattern;
}

void remove_static(SeriesState& state) {
    if (state.options.static_pattern == StaticSearch::off)
        return;
    // Contamination that grows on the specimen can look like a static pattern, unless it moves far.
    const bool may_grow = state.flattened && state.options.flatten == Flattening::automatic;
    const auto stands_still = [&](const Layers& layers) {
        return may_grow ? layers.has_still_layer() && layers.moves_far()
                        : layers.has_still_layer() || layers.biased;
    };
    LayerSearch found = look_for_layers(state);
    if (!found.layers)
        return;
    if (((found.constant && !may_grow) || stands_still(*found.layers)) &&
        remove_pattern(state, nullptr))
        found = look_for_layers(state);
    if (!found.layers || !stands_still(*found.layers))
        return;
    // If the specimen moves little, the layers are not known well enough. In a few frames without
    // noise, the border of the window may look like a weak static layer.
    const Layers& layers = *found.layers;
    const bool moves = spread_of(layers.shifts) >= least_spread;
    const bool is_certain =
        layers.shifts.size() >= LayerFit::many_frames || layers.strength > least_strength;
    const bool is_known = layers.has_still_layer() && moves && (layers.biased || is_certain);
    state.result.static_bias = !is_known && (layers.biased || moves);
    if (is_known || (layers.has_still_layer() && layers.biased))
        remove_pattern(state, &*found.fit);
}

} // namespace sextant::registration
