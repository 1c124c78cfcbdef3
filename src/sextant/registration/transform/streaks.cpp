// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/transform/streaks.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace sextant::registration {

namespace {

constexpr std::int64_t tile = 32;
constexpr float least_frames = 5;
constexpr float deviation_of_median = 1.4826F; ///< σ / median |x| of a normal distribution

float median_of(std::vector<float>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Returns the differences of mean and median, scaled to be independent of the number of frames; 0
/// for skipped pixels.
std::vector<float> differences_of(const Combined& combined, float least) {
    std::vector<float> differences(combined.mean.size());
    for (std::size_t pixel = 0; pixel < differences.size(); ++pixel) {
        if (combined.count[pixel] >= least)
            differences[pixel] = std::abs(combined.mean[pixel] - combined.median[pixel]) *
                                 std::sqrt(combined.count[pixel]);
    }
    return differences;
}

struct Tiles {
    explicit Tiles(ImageShape shape)
        : columns((shape.width + tile - 1) / tile), rows((shape.height + tile - 1) / tile) {}
    std::int64_t columns, rows;
};

template <class Visit>
void visit_tile(std::int64_t column, std::int64_t row, ImageShape shape, const Visit& visit) {
    for (std::int64_t y = row * tile; y < std::min((row + 1) * tile, shape.height); ++y) {
        for (std::int64_t x = column * tile; x < std::min((column + 1) * tile, shape.width); ++x)
            visit(x, y, static_cast<std::size_t>(y * shape.width + x));
    }
}

} // namespace

Streaks find_streaks(const Combined& combined, ImageShape shape, double threshold) {
    const auto pixels = static_cast<std::size_t>(shape.elements());
    if (combined.mean.size() != pixels || combined.median.size() != pixels ||
        combined.count.size() != pixels)
        throw std::logic_error("mean, median or count does not have the shape of the image");
    if (pixels == 0)
        return {};
    const float frames = *std::max_element(combined.count.begin(), combined.count.end());
    if (frames < least_frames)
        return {};
    const float least = std::max(least_frames, frames / 2);
    const std::vector<float> differences = differences_of(combined, least);
    const Tiles tiles(shape);
    std::vector<float> noise, values;
    for (std::int64_t row = 0; row < tiles.rows; ++row) {
        for (std::int64_t column = 0; column < tiles.columns; ++column) {
            values.clear();
            visit_tile(column, row, shape, [&](std::int64_t, std::int64_t, std::size_t pixel) {
                if (combined.count[pixel] >= least)
                    values.push_back(differences[pixel]);
            });
            noise.push_back(values.empty() ? 0 : deviation_of_median * median_of(values));
        }
    }
    // Bound the noise estimate from below, so that tiles with few pixels or without noise do not
    // make ordinary differences look large.
    std::vector<float> known = noise;
    std::erase(known, 0.F);
    if (known.empty())
        return {};
    const float usual = median_of(known);
    Streaks streaks;
    for (std::int64_t row = 0; row < tiles.rows; ++row) {
        for (std::int64_t column = 0; column < tiles.columns; ++column) {
            const auto deviation = static_cast<double>(
                std::max(usual, noise[static_cast<std::size_t>(row * tiles.columns + column)]));
            visit_tile(column, row, shape, [&](std::int64_t x, std::int64_t y, std::size_t pixel) {
                const double ratio = static_cast<double>(differences[pixel]) / deviation;
                if (ratio <= threshold)
                    return;
                ++streaks.pixels;
                if (ratio > streaks.most)
                    streaks.x = x, streaks.y = y, streaks.most = ratio;
            });
        }
    }
    return streaks;
}

} // namespace sextant::registration
