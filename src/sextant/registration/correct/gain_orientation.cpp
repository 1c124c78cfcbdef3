// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/correct/gain_orientation.hpp"

#include "sextant/core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// Returns the logarithm of an image less the mean of that of the four neighbours; not finite at
/// the border, and where a value is not positive and finite.
template <class Value>
std::vector<double> fine_detail(std::span<const Value> image, ImageShape shape) {
    std::vector<double> logarithms, detail(image.size(), std::numeric_limits<double>::quiet_NaN());
    logarithms.reserve(image.size());
    for (const Value value : image)
        logarithms.push_back(std::log(static_cast<double>(value)));
    for (Elements y = 1; y + 1 < shape.height; ++y) {
        for (Elements x = 1; x + 1 < shape.width; ++x) {
            const auto i = static_cast<std::size_t>(y * shape.width + x),
                       width = static_cast<std::size_t>(shape.width);
            detail[i] = logarithms[i] - (logarithms[i - 1] + logarithms[i + 1] +
                                         logarithms[i - width] + logarithms[i + width]) /
                                            4;
        }
    }
    return detail;
}

/// Returns the correlation of two images over the pixels at which both are finite. Values far
/// beyond the others, as at hot pixels, are limited.
double correlation_of(const std::vector<double>& a, const std::vector<double>& b) {
    const auto limit_of = [](const std::vector<double>& values) {
        std::vector<double> sizes;
        for (const double value : values) {
            if (std::isfinite(value))
                sizes.push_back(std::abs(value));
        }
        constexpr double most = 6; // medians
        return sizes.empty() ? 0 : most * median(sizes);
    };
    const double most_a = limit_of(a), most_b = limit_of(b);
    double ab = 0, aa = 0, bb = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!std::isfinite(a[i]) || !std::isfinite(b[i]))
            continue;
        const double one = std::clamp(a[i], -most_a, most_a),
                     other = std::clamp(b[i], -most_b, most_b);
        ab += one * other;
        aa += one * one;
        bb += other * other;
    }
    return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

} // namespace

std::vector<double> oriented(std::span<const double> image, ImageShape shape,
                             GainOrientation orientation) {
    const bool exchanged = orientation.turns % 2 != 0;
    const ImageShape to = exchanged ? ImageShape{shape.height, shape.width} : shape;
    std::vector<double> result;
    result.reserve(image.size());
    for (Elements row = 0; row < to.height; ++row) {
        for (Elements column = 0; column < to.width; ++column) {
            Elements x = orientation.mirror == Mirror::x ? to.width - 1 - column : column;
            Elements y = orientation.mirror == Mirror::y ? to.height - 1 - row : row;
            // Undo the rotation: (x, y) of an image rotated clockwise was (y, height − 1 − x).
            ImageShape now = to;
            for (int turn = 0; turn < orientation.turns; ++turn) {
                const Elements before_x = y, before_y = now.width - 1 - x;
                x = before_x;
                y = before_y;
                now = {now.height, now.width};
            }
            result.push_back(image[static_cast<std::size_t>(y * shape.width + x)]);
        }
    }
    return result;
}

std::string GainFit::text() const {
    std::string how;
    const auto add = [&](bool applies, const std::string& words) {
        if (applies)
            how += (how.empty() ? "" : ", then ") + words;
    };
    add(orientation.turns > 0,
        fmt::format("rotated clockwise by {} degrees", 90 * orientation.turns));
    add(orientation.mirror == Mirror::x, "mirrored left to right");
    add(orientation.mirror == Mirror::y, "mirrored top to bottom");
    add(reciprocal, "replaced by its reciprocal");
    return fmt::format("{} (correlation of fine detail {:.2f}, as given {:.2f})", how, best, given);
}

std::optional<GainFit> better_gain(std::span<const float> mean, std::span<const double> gain,
                                   ImageShape shape) {
    const std::vector<double> of_mean = fine_detail(mean, shape),
                              of_gain = fine_detail(gain, shape);
    GainFit fit;
    fit.given = fit.best = correlation_of(of_mean, of_gain);
    double most = fit.given;
    constexpr Mirror none = Mirror::none, x = Mirror::x, y = Mirror::y;
    constexpr GainOrientation all[] = {{0, none}, {0, x},    {0, y}, {2, none},
                                       {1, none}, {3, none}, {1, x}, {1, y}};
    for (const GainOrientation one : all) {
        if (one.turns % 2 != 0 && shape.width != shape.height)
            continue;
        const double found = correlation_of(of_mean, oriented(of_gain, shape, one));
        if (std::abs(found) <= most)
            continue;
        most = std::abs(found);
        fit.orientation = one;
        fit.reciprocal = found < 0;
        fit.best = found;
    }
    // Unrelated images correlate by about 1 / √pixels.
    constexpr double deviations = 8, least = .03;
    const double noise = deviations / std::sqrt(static_cast<double>(shape.elements()));
    if (most < std::max(least, fit.given + std::max(noise, .5 * std::abs(fit.given))))
        return std::nullopt;
    return fit;
}

} // namespace sextant::registration
