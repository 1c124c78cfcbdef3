// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pyramid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

constexpr Elements smallest_side = 16;

struct Moments {
    double mean = 0, deviation = 0;
};

/// The mean of a term over an image. Eight sums side by side are as many as vectors can add at
/// once; a plain sum has an order that they would have to keep.
template <class Term>
double mean_of(const kernel::FloatImage& image, Term term) {
    constexpr Elements lanes = 8;
    std::array<double, lanes> sums{};
    double rest = 0;
    for (Elements y = 0; y < image.shape.height; ++y) {
        const float* const row = image.row(y);
        Elements x = 0;
        for (; x + lanes <= image.shape.width; x += lanes) {
            for (Elements lane = 0; lane < lanes; ++lane)
                sums[static_cast<std::size_t>(lane)] += term(static_cast<double>(row[x + lane]));
        }
        for (; x < image.shape.width; ++x)
            rest += term(static_cast<double>(row[x]));
    }
    return std::accumulate(sums.begin(), sums.end(), rest) /
           static_cast<double>(image.shape.elements());
}

/// In two passes, so that a small deviation from a large mean keeps its digits.
Moments moments(const kernel::FloatImage& image) {
    const double mean = mean_of(image, [](double sample) { return sample; });
    const double variance =
        mean_of(image, [mean](double sample) { return (sample - mean) * (sample - mean); });
    return {mean, std::sqrt(variance)};
}

[[noreturn]] void refuse_not_finite(const kernel::SampleView& frame) {
    Elements count = 0, first_x = 0, first_y = 0;
    const ImageShape shape = frame.image;
    for (Elements y = shape.height - 1; y >= 0; --y) {
        for (Elements x = shape.width - 1; x >= 0; --x) {
            const bool finite = std::visit(
                [&](const auto* first) {
                    return std::isfinite(static_cast<double>(first[y * frame.stride + x]));
                },
                frame.first);
            if (!finite) {
                ++count;
                first_x = x;
                first_y = y;
            }
        }
    }
    if (count == 0)
        throw UnusableFrame("its samples are too large to be added up");
    throw UnusableFrame(
        fmt::format("{} of {} samples are not finite numbers, the first at ({}, {})", count,
                    shape.elements(), first_x, first_y));
}

} // namespace

int usual_levels(ImageShape shape) {
    int levels = 1;
    const auto coarser_fits = [&] {
        return std::min(shape.width, shape.height) > 2 * smallest_side;
    };
    const auto is_large = [&] { return std::max(shape.width, shape.height) > 256; };
    for (; coarser_fits() && (levels < 3 || is_large()); ++levels)
        shape = kernel::halved(shape);
    return levels;
}

Pyramid::Pyramid(ImageShape shape, int levels, double prefilter) : prefilter_(prefilter) {
    if (std::min(shape.width, shape.height) < smallest_side)
        throw InvalidTask(fmt::format("frames of {}x{} pixels, expected at least {}x{}",
                                      shape.width, shape.height, smallest_side, smallest_side));
    if (levels < 0)
        throw InvalidTask(fmt::format("{} levels, expected 1 or more", levels));
    if (prefilter != 0)
        gaussian_.emplace(prefilter, std::vector<kernel::Derivative>{{0, 0}});
    levels_.emplace_back(shape);
    const int wanted = levels == 0 ? usual_levels(shape) : levels;
    for (int level = 1; level < wanted; ++level) {
        halvings_.emplace_back(shape);
        shape = kernel::halved(shape);
        levels_.emplace_back(shape);
    }
}

void Pyramid::fill(const kernel::SampleView& frame) {
    if (frame.image != shape() || frame.tile.elements() != shape().elements())
        throw InvalidTask(fmt::format("a frame of {}x{} pixels, expected {}x{}", frame.tile.width,
                                      frame.tile.height, shape().width, shape().height));
    filter(frame);
    normalise(frame);
    for (std::size_t level = 0; level < halvings_.size(); ++level)
        halvings_[level].apply(levels_[level].image(), levels_[level + 1].plane());
}

void Pyramid::filter(const kernel::SampleView& frame) {
    kernel::FloatPlane& finest = levels_.front();
    if (gaussian_) {
        const kernel::Plane plane = finest.plane();
        gaussian_->apply(frame, frame.tile, {&plane, 1});
        return;
    }
    std::visit(
        [&](const auto* first) {
            for (Elements y = 0; y < shape().height; ++y)
                std::transform(first + y * frame.stride, first + y * frame.stride + shape().width,
                               finest.row(y),
                               [](auto sample) { return static_cast<float>(sample); });
        },
        frame.first);
}

void Pyramid::normalise(const kernel::SampleView& frame) {
    kernel::FloatPlane& finest = levels_.front();
    const auto [mean, deviation] = moments(finest.image());
    if (!std::isfinite(mean) || !std::isfinite(deviation))
        refuse_not_finite(frame);
    constexpr double digits = 1e-6; // of a float: a smaller share of the mean is rounding
    if (deviation <= digits * std::abs(mean))
        throw UnusableFrame(fmt::format("every sample is {:g}", mean));
    scale_ = 1 / deviation;
    const auto offset = static_cast<float>(mean), scale = static_cast<float>(scale_);
    for (Elements y = 0; y < shape().height; ++y) {
        float* const row = finest.row(y);
        std::transform(row, row + shape().width, row,
                       [=](float sample) { return (sample - offset) * scale; });
    }
}

} // namespace sextant::registration
