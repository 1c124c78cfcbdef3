// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair_pyramid.hpp"

#include "sextant/core/invalid_data.hpp"
#include "sextant/kernel/filter/float_plane.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"
#include "sextant/registration/partition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace sextant::registration {

namespace {

constexpr double threshold = 1.5;

double sum_of_squares(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values)
        sum += value * value;
    return sum;
}

/// Returns the mean |∇|² of white noise of variance 1 after the Gaussian (no filter if sigma is 0):
/// the filter's weights along one axis times its derivative along the other.
double slope_of_unit_noise(double sigma) {
    const std::vector<double> smooth = sigma > 0
                                           ? kernel::gaussian_weights(sigma, 0, kernel::p3pc_kernel)
                                           : std::vector<double>{1};
    constexpr std::array<double, 5> difference{1. / 12, -8. / 12, 0, 8. / 12, -1. / 12};
    std::vector<double> slope(smooth.size() + 4);
    for (std::size_t i = 0; i < smooth.size(); ++i) {
        for (std::size_t k = 0; k < difference.size(); ++k)
            slope[i + k] += smooth[i] * difference[k];
    }
    return 2 * sum_of_squares(smooth) * sum_of_squares(slope);
}

/// Returns the mean square of N∗f (see `examine`) over the inner pixels of a tile: 36 times the
/// noise variance.
template <class Sample>
double square_of_differences(const Sample* first, Elements stride, const Tile& inner) {
    double sum = 0, count = 0;
    for (Elements y = inner.y; y < inner.y + inner.height; ++y) {
        const auto row = [&](Elements j, Elements x) {
            const Sample* const f = first + j * stride + x;
            return static_cast<double>(f[-1]) - 2 * static_cast<double>(f[0]) +
                   static_cast<double>(f[1]);
        };
        for (Elements x = inner.x; x < inner.x + inner.width; ++x) {
            const double difference = row(y - 1, x) - 2 * row(y, x) + row(y + 1, x);
            const bool known = std::isfinite(difference);
            sum += known ? difference * difference : 0;
            count += known;
        }
    }
    return count > 0 ? sum / count : 0;
}

/// Returns the mean |∇|² over the pixels of a tile whose gradient is known.
double square_of_slopes(const kernel::FloatImage& slope_x, const kernel::FloatImage& slope_y,
                        const Tile& inner) {
    double sum = 0, count = 0;
    for (Elements y = inner.y; y < inner.y + inner.height; ++y) {
        for (Elements x = inner.x; x < inner.x + inner.width; ++x) {
            const auto dx = static_cast<double>(slope_x.at(x, y));
            const auto dy = static_cast<double>(slope_y.at(x, y));
            if (!std::isnan(dx)) {
                sum += dx * dx + dy * dy;
                count += 1;
            }
        }
    }
    return count > 0 ? sum / count : 0;
}

} // namespace

InformativeTiles::InformativeTiles(ImageShape image, double sigma, Team* team)
    : image_(image),
      tiles_{(image.width + size - 1) / size, (image.height + size - 1) / size},
      team_(team),
      slope_of_noise_(slope_of_unit_noise(sigma)),
      share_(static_cast<std::size_t>(tiles_.elements())) {}

void InformativeTiles::examine(const kernel::SampleView& frame, const kernel::FloatImage& slope_x,
                               const kernel::FloatImage& slope_y, double scale, bool of_average) {
    run_parts(team_, static_cast<int>(tiles_.height), [&](int row, int) {
        for (Elements tile = row * tiles_.width; tile < (row + 1) * tiles_.width; ++tile)
            share_[static_cast<std::size_t>(tile)] =
                share_of_signal(frame, slope_x, slope_y, scale, of_average, tile);
    });
}

double InformativeTiles::share_of_signal(const kernel::SampleView& frame,
                                         const kernel::FloatImage& slope_x,
                                         const kernel::FloatImage& slope_y, double scale,
                                         bool of_average, Elements tile) const {
    const Elements left = tile % tiles_.width * size, top = tile / tiles_.width * size;
    // Differences need a pixel on each side, so the image's border pixels have none.
    const Elements x = std::max<Elements>(left, 1), y = std::max<Elements>(top, 1);
    const Tile inner{x, y, std::min(left + size, image_.width - 1) - x,
                     std::min(top + size, image_.height - 1) - y};
    if (inner.width < 1 || inner.height < 1)
        return 0;
    const double differences = std::visit(
        [&](const auto* first) { return square_of_differences(first, frame.stride, inner); },
        frame.first);
    // Linear interpolation at a position u between two pixels leaves 20u² − 20u + 6 of the 6 to
    // which the squares of a second difference add up: 4/9 for uniformly distributed positions.
    constexpr double remaining = 4. / 9;
    const double of_differences = of_average ? remaining * remaining : 1;
    const double noise = scale * scale * differences / (36 * of_differences) * slope_of_noise_;
    const double all = square_of_slopes(slope_x, slope_y, inner);
    return all > threshold * noise ? 1 - noise / all : 0;
}

namespace {

void fill_named(Pyramid& pyramid, const kernel::SampleView& frame, const char* name) {
    try {
        pyramid.fill(frame);
    } catch (const UnusableFrame& error) {
        throw UnusableFrame(std::string(name) + ": " + error.what());
    } catch (const InvalidData& error) {
        throw InvalidData(std::string(name) + ": " + error.what());
    } catch (const InvalidTask& error) {
        throw InvalidTask(std::string(name) + ": " + error.what());
    }
}

} // namespace

PairPyramid::PairPyramid(ImageShape shape, double prefilter, int levels, Team* team)
    : team_(team),
      reference_(shape, std::clamp(levels, 1, default_levels(shape)), prefilter, team),
      templ_(shape, reference_.levels(), prefilter, team),
      informative_(shape, prefilter, team) {
    for (int level = 0; level < reference_.levels(); ++level) {
        const ImageShape of_level = reference_.level(level).shape;
        slopes_.push_back({kernel::FloatPlane(of_level), kernel::FloatPlane(of_level)});
    }
}

PairLevel PairPyramid::level(int number) const {
    const Slopes& slopes = slopes_[static_cast<std::size_t>(number)];
    return {reference_.level(number), templ_.level(number), slopes.x.image(), slopes.y.image(),
            std::ldexp(1., number)};
}

void PairPyramid::fill(const kernel::SampleView& reference, const kernel::SampleView& templ,
                       bool of_average) {
    fill_named(reference_, reference, "the reference");
    fill_named(templ_, templ, "the template");
    for (int number = 0; number < levels(); ++number) {
        Slopes& slopes = slopes_[static_cast<std::size_t>(number)];
        const kernel::FloatImage image = reference_.level(number);
        const Bands bands(image.shape.height);
        run_parts(team_, bands.count(), [&](int band, int) {
            kernel::slopes_of_rows(image, bands.first(band), bands.first(band + 1), slopes.x,
                                   slopes.y);
        });
    }
    informative_.examine(reference, slopes_[0].x.image(), slopes_[0].y.image(), reference_.scale(),
                         of_average);
}

} // namespace sextant::registration
