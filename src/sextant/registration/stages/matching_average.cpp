// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series/stations.hpp"
#include "sextant/registration/stages/refinement.hpp"
#include "sextant/registration/transform/canvas.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sextant::registration {

kernel::SampleView view_of(std::span<const float> samples, ImageShape shape) {
    return {samples.data(), shape.width, {0, 0, shape.width, shape.height}, shape};
}

std::vector<float> whole_frame(FrameSource& source, std::int64_t frame) {
    std::vector<float> samples(static_cast<std::size_t>(source.header().shape.elements()));
    source.read_frame(frame, samples);
    return samples;
}

Contribution contribution_of(const FrameContrast& contrast, double offset) {
    const double gain = 1 / std::abs(contrast.signal); // the source inverts inverted frames
    return {-(contrast.level - offset) * gain, gain, contrast.weight()};
}

bool is_one_of_several(const Registered& registered, std::size_t index) {
    return registered.contributes[index] != 0 &&
           std::count(registered.contributes.begin(), registered.contributes.end(), 1) > 2;
}

PixelArea matching_area(const Registered& registered, ImageShape shape) {
    const Elements grid = window_grid(shape);
    PixelArea area = area_of(shape);
    bool larger = false;
    for (std::size_t i = 0; i < registered.frames.size(); ++i) {
        if (registered.contributes[i] == 0)
            continue;
        larger |= predicted_overlap(registered.motions[i], shape) < direct_overlap;
        area = enclosing_area(area, window_of(registered.motions[i], shape, grid));
    }
    return larger ? area : area_of(shape);
}

bool too_large_for_matching(const PixelArea& area, ImageShape shape) {
    constexpr Elements pixels = Elements{1} << 27, frames = 16;
    return area.shape.elements() > pixels && area.shape.elements() > frames * shape.elements();
}

PixelArea window_in(const PixelArea& area, const RigidMotion& motion, ImageShape shape) {
    if (area == area_of(shape))
        return area;
    PixelArea window = window_of(motion, shape, window_grid(shape));
    window.x = std::clamp(window.x, area.x, area.x + area.shape.width - shape.width);
    window.y = std::clamp(window.y, area.y, area.y + area.shape.height - shape.height);
    return window;
}

MatchingAverage average_of(const SeriesContext& context, const Registered& registered,
                           const TransformOf& transform_of) {
    return average_of(context, registered, registered.contributing(), transform_of,
                      area_of(context.source.header().shape));
}

MatchingAverage average_of(const SeriesContext& context, const Registered& registered,
                           std::span<const std::int64_t> frames, const TransformOf& transform_of,
                           const PixelArea& area) {
    MatchingAverage average;
    average.area = area;
    CombineOptions options{false, context.options.memory, context.options.threads};
    options.area = area;
    for (const std::int64_t frame : frames) {
        options.contributions.push_back(
            contribution_of(registered.contrasts[registered.index(frame)], context.offset));
        average.total += options.contributions.back().weight;
    }
    Combined combined = combine(context.communicator, context.source, frames, transform_of, options,
                                context.control);
    average.samples = std::move(combined.mean);
    average.weight = std::move(combined.weight);
    if (area != area_of(context.source.header().shape)) {
        constexpr double enough = 16;
        const float most = std::ranges::max(average.weight);
        average.total = std::min(average.total * enough / static_cast<double>(frames.size()),
                                 static_cast<double>(most));
    }
    const auto least = static_cast<float>(least_coverage * average.total);
    for (std::size_t pixel = 0; pixel < average.samples.size(); ++pixel) {
        if (average.weight[pixel] < least)
            average.samples[pixel] = std::numeric_limits<float>::quiet_NaN();
    }
    return average;
}

namespace {

/// Converts the samples of a frame that contributes to an average, resampled in a window of it, to
/// those of the average of the other frames. Where the frame has no data, they are those of the
/// average.
void subtract_own(const MatchingAverage& average, const PixelArea& window, const Contribution& own,
                  std::span<float> samples) {
    const double least = least_coverage * (average.total - own.weight);
    const PixelArea& area = average.area;
    for (std::int64_t y = 0; y < window.shape.height; ++y) {
        auto of_average = static_cast<std::size_t>((window.y + y - area.y) * area.shape.width +
                                                   window.x - area.x);
        float* const row = samples.data() + y * window.shape.width;
        for (std::int64_t x = 0; x < window.shape.width; ++x, ++of_average) {
            const double value = own.gain * static_cast<double>(row[x]) + own.offset;
            if (!std::isfinite(value)) {
                row[x] = average.samples[of_average];
                continue;
            }
            const auto weight = static_cast<double>(average.weight[of_average]);
            const double left = weight - own.weight;
            const double sum = weight * static_cast<double>(average.samples[of_average]);
            row[x] = left < least ? std::numeric_limits<float>::quiet_NaN()
                                  : static_cast<float>((sum - own.weight * value) / left);
        }
    }
}

} // namespace

void show_others(const SeriesContext& context, const MatchingAverage& average,
                 const PixelArea& window, const Registered& registered,
                 const TransformOf& transform_of, std::int64_t frame, Resampler& resampler,
                 std::vector<float>& samples) {
    const std::size_t index = registered.index(frame);
    samples.resize(static_cast<std::size_t>(window.shape.elements()));
    if (registered.contributes[index] != 0) {
        // In bands, because the resampler holds the rows of the frame that it reads.
        constexpr Elements rows = 64;
        const Transform transform = transform_of(frame);
        bool continued = false;
        for (Elements y = 0; y < window.shape.height; y += rows) {
            const PixelArea band{window.x,
                                 window.y + y,
                                 {window.shape.width, std::min(rows, window.shape.height - y)}};
            const auto to =
                std::span(samples).subspan(static_cast<std::size_t>(y * window.shape.width),
                                           static_cast<std::size_t>(band.shape.elements()));
            continued = resampler.show(frame, transform, band, to, continued) || continued;
        }
        subtract_own(average, window, contribution_of(registered.contrasts[index], context.offset),
                     samples);
        return;
    }
    const PixelArea& area = average.area;
    for (std::int64_t y = 0; y < window.shape.height; ++y)
        std::copy_n(average.samples.begin() + (window.y + y - area.y) * area.shape.width +
                        window.x - area.x,
                    window.shape.width, samples.begin() + y * window.shape.width);
}

} // namespace sextant::registration
