// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair/pyramid.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/kernel/filter/float_plane.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"
#include "sextant/registration/pair/partition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

constexpr Elements smallest_side = 16;

/// The sum of a term over the pixels of some rows that are not gaps, and the number of these
/// pixels.
struct SumsOfRow {
    double sum = 0, count = 0;
};

/// Returns the sum of a term over rows. Uses eight independent partial sums, which the compiler can
/// vectorise; a single sum has a fixed order of additions.
template <bool gaps, class Term>
SumsOfRow sums_of(const kernel::FloatImage& image, Elements first, Elements last, Term term) {
    constexpr Elements lanes = 8;
    std::array<double, lanes> sums{}, counts{};
    const auto add = [&](std::size_t lane, float sample) {
        if constexpr (gaps) {
            const bool known = !std::isnan(sample);
            sums[lane] += known ? term(static_cast<double>(sample)) : 0;
            counts[lane] += known;
        } else {
            sums[lane] += term(static_cast<double>(sample));
        }
    };
    for (Elements y = first; y < last; ++y) {
        const float* const row = image.row(y);
        Elements x = 0;
        for (; x + lanes <= image.shape.width; x += lanes) {
            for (Elements lane = 0; lane < lanes; ++lane)
                add(static_cast<std::size_t>(lane), row[x + lane]);
        }
        for (; x < image.shape.width; ++x)
            add(0, row[x]);
    }
    const double count = gaps ? std::accumulate(counts.begin(), counts.end(), 0.)
                              : static_cast<double>((last - first) * image.shape.width);
    return {std::accumulate(sums.begin(), sums.end(), 0.), count};
}

template <class Term>
SumsOfRow sums_of(const kernel::FloatImage& image, bool gaps, Elements first, Elements last,
                  Term term) {
    return gaps ? sums_of<true>(image, first, last, term)
                : sums_of<false>(image, first, last, term);
}

/// Number, mean, and sum of squared deviations of the pixels that are not gaps.
struct Moments {
    double count = 0, mean = 0, squares = 0;
};

/// Returns the moments of rows. Two passes avoid cancellation if deviations are small relative to
/// the mean.
Moments moments_of_rows(const kernel::FloatImage& image, bool gaps, Elements first, Elements last) {
    const SumsOfRow all = sums_of(image, gaps, first, last, [](double sample) { return sample; });
    const double mean = all.count > 0 ? all.sum / all.count : 0;
    const auto square = [mean](double sample) { return (sample - mean) * (sample - mean); };
    return {all.count, mean, sums_of(image, gaps, first, last, square).sum};
}

/// Returns the moments of the union of two sets. Source: Chan, Golub and LeVeque, The American
/// Statistician 37(3), 1983
Moments both(const Moments& one, const Moments& other) {
    const double count = one.count + other.count;
    if (count == 0)
        return {};
    const double apart = other.mean - one.mean, share = other.count / count;
    return {count, one.mean + apart * share,
            one.squares + other.squares + apart * apart * one.count * share};
}

/// Returns the moments of an image, combined from bands in an order that does not depend on the
/// team.
Moments moments(const kernel::FloatImage& image, bool gaps, Team* team) {
    std::array<Moments, Bands::most> parts;
    const Bands bands(image.shape.height);
    run_parts(team, bands.count(), [&](int band, int) {
        parts[static_cast<std::size_t>(band)] =
            moments_of_rows(image, gaps, bands.first(band), bands.first(band + 1));
    });
    return std::accumulate(parts.begin(), parts.begin() + bands.count(), Moments(), both);
}

/// True if a frame has samples that are not finite.
bool has_gaps(const kernel::SampleView& frame) {
    const auto* const first = std::get_if<const float*>(&frame.first);
    if (!first)
        return false;
    for (Elements y = 0; y < frame.image.height; ++y) {
        const float* const row = *first + y * frame.stride;
        if (!all_finite({row, static_cast<std::size_t>(frame.image.width)}))
            return true;
    }
    return false;
}

} // namespace

int default_levels(ImageShape shape) {
    int levels = 1;
    const auto coarser_fits = [&] {
        return std::min(shape.width, shape.height) > 2 * smallest_side;
    };
    const auto is_large = [&] { return std::max(shape.width, shape.height) > 256; };
    for (; coarser_fits() && (levels < 3 || is_large()); ++levels)
        shape = kernel::halved(shape);
    return levels;
}

Pyramid::Pyramid(ImageShape shape, int levels, double prefilter, Team* team)
    : shape_(shape), prefilter_(prefilter), team_(team) {
    if (std::min(shape.width, shape.height) < smallest_side)
        throw InvalidData(fmt::format("the frames have {}x{} pixels, expected at least {}x{}",
                                      shape.width, shape.height, smallest_side, smallest_side));
    if (levels < 0)
        throw InvalidTask(fmt::format("{} levels, expected 1 or more", levels));
    const int members = members_of(team);
    for (int member = 0; prefilter != 0 && member < members; ++member)
        gaussians_.emplace_back(prefilter, std::vector<kernel::Derivative>{{0, 0}},
                                kernel::BorderRule{}, kernel::p3pc_kernel);
    levels_.emplace_back(shape);
    const int wanted = levels == 0 ? default_levels(shape) : levels;
    for (int level = 1; level < wanted; ++level) {
        std::vector<kernel::Halving>& halvings = halvings_.emplace_back();
        for (int member = 0; member < members; ++member)
            halvings.emplace_back(shape);
        shape = kernel::halved(shape);
        levels_.emplace_back(shape);
    }
}

void Pyramid::fill(const kernel::SampleView& frame) {
    if (frame.image != shape() || frame.tile.elements() != shape().elements())
        throw InvalidTask(fmt::format("the frame has {}x{} pixels, expected {}x{}",
                                      frame.tile.width, frame.tile.height, shape().width,
                                      shape().height));
    gaps_ = false;
    filter(frame);
    Moments found = moments(levels_.front().image(), false, team_);
    if (!std::isfinite(found.mean) || !std::isfinite(found.squares)) {
        filter_around_gaps(frame);
        found = moments(levels_.front().image(), gaps_, team_);
    }
    normalise(found.mean, std::sqrt(found.squares / std::max(found.count, 1.)));
    halve();
}

void Pyramid::filter(const kernel::SampleView& frame) {
    const Bands bands(shape().height);
    const kernel::Plane to = levels_.front().plane();
    run_parts(team_, team_ ? bands.count() : 1, [&](int band, int member) {
        const Elements first = team_ ? bands.first(band) : 0;
        const Elements last = team_ ? bands.first(band + 1) : shape().height;
        filter_rows(frame, {0, first, shape().width, last - first},
                    {to.first + first * to.stride, to.stride}, member);
    });
}

void Pyramid::filter_rows(const kernel::SampleView& frame, const Tile& rows, kernel::Plane to,
                          int member) {
    if (!gaussians_.empty()) {
        gaussians_[static_cast<std::size_t>(member)].apply(frame, rows, {&to, 1});
        return;
    }
    std::visit(
        [&](const auto* samples) {
            for (Elements y = 0; y < rows.height; ++y) {
                const auto* const row = samples + (rows.y + y - frame.tile.y) * frame.stride;
                std::transform(row, row + rows.width, to.first + y * to.stride,
                               [](auto sample) { return static_cast<float>(sample); });
            }
        },
        frame.first);
}

/// Filters a frame with gaps by normalised convolution: the samples (0 in gaps) and their weights
/// (0 in gaps, 1 elsewhere) are filtered separately, and the result is the ratio of the two.
void Pyramid::filter_around_gaps(const kernel::SampleView& frame) {
    if (!has_gaps(frame))
        throw UnusableFrame("the samples are too large to be summed");
    if (known_.empty())
        make_room();
    const Bands bands(shape().height);
    std::array<RowsSeen, Bands::most> seen;
    run_parts(team_, bands.count(), [&](int band, int member) {
        const Elements first = bands.first(band);
        seen[static_cast<std::size_t>(band)] = filter_rows_around_gaps(
            frame, {0, first, shape().width, bands.first(band + 1) - first}, member);
    });
    Elements finite = 0;
    for (const RowsSeen& of_band : seen) {
        finite += of_band.finite;
        gaps_ |= of_band.gaps;
    }
    if (finite == 0)
        throw UnusableFrame(
            fmt::format("none of the {} samples is a finite number", shape().elements()));
}

/// Filters some rows around gaps and writes the result to the same rows of the finest level.
Pyramid::RowsSeen Pyramid::filter_rows_around_gaps(const kernel::SampleView& frame,
                                                   const Tile& rows, int member) {
    Known& known = known_[static_cast<std::size_t>(member)];
    const Tile seen = seen_from(rows);
    const float* const samples = std::get<const float*>(frame.first);
    RowsSeen found;
    for (Elements y = 0; y < seen.height; ++y) {
        const float* const row = samples + (seen.y + y) * frame.stride;
        const bool own = seen.y + y >= rows.y && seen.y + y < rows.y + rows.height;
        for (Elements x = 0; x < seen.width; ++x) {
            const bool finite = std::isfinite(row[x]);
            known.samples.row(y)[x] = finite ? row[x] : 0;
            known.weights.row(y)[x] = finite ? 1 : 0;
            found.finite += own && finite;
        }
    }
    kernel::Plane to = levels_.front().plane();
    to.first += rows.y * to.stride;
    const auto held = [&](const kernel::FloatPlane& plane) -> kernel::SampleView {
        return {plane.image().first, plane.image().stride, seen, shape()};
    };
    filter_rows(held(known.samples), rows, to, member);
    filter_rows(held(known.weights), rows, known.weight_seen.plane(), member);
    constexpr float least = .5F;
    for (Elements y = 0; y < rows.height; ++y) {
        float* const row = to.first + y * to.stride;
        const float* const weight = known.weight_seen.row(y);
        for (Elements x = 0; x < rows.width; ++x) {
            row[x] =
                weight[x] >= least ? row[x] / weight[x] : std::numeric_limits<float>::quiet_NaN();
            found.gaps |= weight[x] < least;
        }
    }
    return found;
}

/// Returns the region of the frame that the filter reads to compute some rows.
Tile Pyramid::seen_from(const Tile& rows) const {
    return gaussians_.empty() ? rows : gaussians_.front().reads(rows, shape());
}

/// Allocates scratch large enough for the tallest band.
void Pyramid::make_room() {
    const Bands bands(shape().height);
    Elements highest = 0;
    for (int band = 0; band < bands.count(); ++band) {
        const Elements first = bands.first(band);
        const Tile rows{0, first, shape().width, bands.first(band + 1) - first};
        highest = std::max(highest, seen_from(rows).height);
    }
    const ImageShape room{shape().width, highest};
    for (int member = 0; member < members_of(team_); ++member)
        known_.push_back(
            {kernel::FloatPlane(room), kernel::FloatPlane(room), kernel::FloatPlane(room)});
}

void Pyramid::normalise(double mean, double deviation) {
    constexpr double most = std::numeric_limits<float>::max() / 4; // differences must not overflow
    if (!(std::abs(mean) <= most && deviation <= most))
        throw UnusableFrame("the samples are too large to be summed");
    constexpr double digits = 1e-6; // relative rounding error of a float
    if (deviation <= digits * std::abs(mean))
        throw UnusableFrame(fmt::format("every sample is {:g} to 6 digits", mean));
    scale_ = 1 / deviation;
    mean_ = mean;
    const auto offset = static_cast<float>(mean), scale = static_cast<float>(scale_);
    const Bands bands(shape().height);
    run_parts(team_, bands.count(), [&](int band, int) {
        for (Elements y = bands.first(band); y < bands.first(band + 1); ++y) {
            float* const row = levels_.front().row(y);
            std::transform(row, row + shape().width, row,
                           [=](float sample) { return (sample - offset) * scale; });
        }
    });
}

void Pyramid::halve() {
    for (std::size_t level = 0; level < halvings_.size(); ++level) {
        const kernel::FloatImage fine = levels_[level].image();
        const kernel::Plane coarse = levels_[level + 1].plane();
        const Bands bands(levels_[level + 1].shape().height);
        run_parts(team_, bands.count(), [&](int band, int member) {
            halvings_[level][static_cast<std::size_t>(member)].apply_rows(
                fine, coarse, bands.first(band), bands.first(band + 1));
        });
    }
}

namespace {

constexpr double threshold = 1.5;

double sum_of_squares(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values)
        sum += value * value;
    return sum;
}

/// Returns the mean |∇|² of white noise of variance 1 after a Gaussian filter (no filter if sigma
/// is 0). It follows from the filter's weights along one axis and their derivative along the other.
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
      signal_(static_cast<std::size_t>(tiles_.elements())) {}

void InformativeTiles::examine(const kernel::SampleView& frame, const kernel::FloatImage& slope_x,
                               const kernel::FloatImage& slope_y, double scale, bool of_average) {
    run_parts(team_, static_cast<int>(tiles_.height), [&](int row, int) {
        for (Elements tile = row * tiles_.width; tile < (row + 1) * tiles_.width; ++tile)
            signal_[static_cast<std::size_t>(tile)] =
                fraction_of_signal(frame, slope_x, slope_y, scale, of_average, tile);
    });
}

double InformativeTiles::fraction_of_signal(const kernel::SampleView& frame,
                                            const kernel::FloatImage& slope_x,
                                            const kernel::FloatImage& slope_y, double scale,
                                            bool of_average, Elements tile) const {
    const Elements left = tile % tiles_.width * size, top = tile / tiles_.width * size;
    // Second differences need a pixel on each side, so border pixels are excluded.
    const Elements x = std::max<Elements>(left, 1), y = std::max<Elements>(top, 1);
    const Tile inner{x, y, std::min(left + size, image_.width - 1) - x,
                     std::min(top + size, image_.height - 1) - y};
    if (inner.width < 1 || inner.height < 1)
        return 0;
    const double differences = std::visit(
        [&](const auto* first) { return square_of_differences(first, frame.stride, inner); },
        frame.first);
    // The squared weights of a second difference sum to 6. After linear interpolation at a position
    // u between two pixels, 20u² − 20u + 6 of this remains: on average 4/9 for uniformly
    // distributed u.
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
