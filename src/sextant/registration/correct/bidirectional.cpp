// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/correct/bidirectional.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

namespace sextant::registration {

namespace {

/// Correlations at shifts from −reach to reach.
using Curve = std::vector<double>;

constexpr double most_shift = 1000; ///< of the option, pixels
constexpr Elements farthest = 28;   ///< largest shift of the correlation, pixels
/// Largest number of odd rows of a frame that are compared, and of their groups.
constexpr Elements most_rows = 64;
constexpr Elements mean_reach = 15; ///< the local mean includes this many pixels on each side

constexpr Elements blur = 4; ///< reach of the Gaussian that smooths correlations, pixels

/// Number of samples on each side of a position that interpolation uses.
constexpr int taps = 3;
using Weights = std::array<double, 2 * taps>;

/// Returns the weights of Lanczos interpolation at a position between 0 and 1, for the samples at
/// −2 to 3.
Weights weights_at(double position) {
    Weights weights;
    double sum = 0;
    for (int i = 0; i < 2 * taps; ++i) {
        const double x = std::numbers::pi * (position - (i - taps + 1));
        weights[static_cast<std::size_t>(i)] =
            std::abs(x) < 1e-9 ? 1 : taps * std::sin(x) * std::sin(x / taps) / (x * x);
        sum += weights[static_cast<std::size_t>(i)];
    }
    for (double& weight : weights)
        weight /= sum;
    return weights;
}

} // namespace

Codec codec_of(Bidirectional& option) {
    return codec_of_automatic(option.enabled, option.shift, -most_shift, most_shift);
}

RowShiftMeter::RowShiftMeter(ImageShape shape)
    : shape_(shape),
      reach_(std::min(farthest, shape.width / 6)),
      groups_(static_cast<std::size_t>(std::clamp<Elements>((shape.height - 1) / 2, 1, most_rows))),
      sums_(groups_ * static_cast<std::size_t>(2 * reach_ + 1)) {
    for (std::vector<float>* row : {&odd_, &above_, &below_})
        row->resize(static_cast<std::size_t>(shape.width));
    totals_.resize(odd_.size() + 1);
    counts_.resize(odd_.size() + 1);
}

void RowShiftMeter::add_sums(std::span<const double> sums) {
    std::ranges::transform(sums_, sums, sums_.begin(), std::plus<>());
}

/// Subtracts the mean of the finite samples around each sample. Gaps become 0.
void RowShiftMeter::without_local_mean(std::span<const float> row, std::span<float> to) {
    for (std::size_t x = 0; x < row.size(); ++x) {
        const bool finite = std::isfinite(row[x]);
        totals_[x + 1] = totals_[x] + (finite ? static_cast<double>(row[x]) : 0);
        counts_[x + 1] = counts_[x] + (finite ? 1 : 0);
    }
    const auto width = static_cast<Elements>(row.size());
    for (Elements x = 0; x < width; ++x) {
        const auto first = static_cast<std::size_t>(std::max<Elements>(0, x - mean_reach)),
                   last = static_cast<std::size_t>(std::min(width, x + mean_reach + 1));
        const auto at = static_cast<std::size_t>(x);
        to[at] = std::isfinite(row[at])
                     ? row[at] - static_cast<float>((totals_[last] - totals_[first]) /
                                                    (counts_[last] - counts_[first]))
                     : 0;
    }
}

void RowShiftMeter::add(std::span<const float> frame) {
    const auto row = [&](Elements y) {
        return frame.subspan(static_cast<std::size_t>(y * shape_.width), odd_.size());
    };
    std::vector<float> sums(sums_.size() / groups_);
    const Elements odd_rows = (shape_.height - 1) / 2;
    const Elements step = std::max<Elements>(1, (odd_rows + most_rows - 1) / most_rows);
    for (Elements number = 0; number < odd_rows; number += step) {
        const Elements y = 2 * number + 1;
        without_local_mean(row(y - 1), above_);
        without_local_mean(row(y), odd_);
        without_local_mean(row(y + 1), below_);
        std::ranges::transform(above_, below_, above_.begin(), std::plus<>());
        const auto of_group =
            sums_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(number / step) %
                                                        groups_ * sums.size());
        // Each product is also summed with the window on the odd row; otherwise the edges of the
        // window would make the correlation of equal rows depend on the sign of the shift.
        std::ranges::reverse_copy(above_, below_.begin());
        std::ranges::fill(sums, 0.f);
        for (Elements x = reach_; x < shape_.width - reach_; ++x) {
            const float* const odd = odd_.data() + x - reach_;
            const float* const even = below_.data() + shape_.width - 1 - x - reach_;
            const float at_even = above_[static_cast<std::size_t>(x)], at_odd = odd[reach_];
            for (std::size_t shift = 0; shift < sums.size(); ++shift)
                sums[shift] += at_even * odd[shift] + at_odd * even[shift];
        }
        std::transform(sums.begin(), sums.end(), of_group, of_group,
                       [](float sum, double all) { return all + static_cast<double>(sum); });
    }
}

namespace {

Elements reach_of(const Curve& curve) {
    return (std::ssize(curve) - 1) / 2;
}

/// Convolves a curve with a Gaussian, as if both rows had been filtered, which suppresses noise.
/// The result has a shorter reach.
Curve smooth(std::span<const double> curve) {
    constexpr double sigma = 1.5;
    Curve result;
    for (Elements middle = blur; middle < std::ssize(curve) - blur; ++middle) {
        double sum = 0;
        for (Elements away = -blur; away <= blur; ++away)
            sum += curve[static_cast<std::size_t>(middle + away)] *
                   std::exp(-static_cast<double>(away * away) / (2 * sigma * sigma));
        result.push_back(sum);
    }
    return result;
}

/// Interpolates a curve at a shift.
double at(const Curve& curve, double shift) {
    const double whole = std::floor(shift);
    const Weights weights = weights_at(shift - whole);
    const auto first =
        static_cast<std::size_t>(static_cast<Elements>(whole) + reach_of(curve) - taps + 1);
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
        sum += weights[i] * curve[first + i];
    return sum;
}

/// Returns the position of the maximum within a pixel of a shift.
double peak_near(const Curve& curve, double shift) {
    const auto most = static_cast<double>(reach_of(curve) - taps);
    double best = shift;
    for (const double step : {.1, .01, .001}) {
        const double middle = best;
        for (int i = -10; i <= 10; ++i) {
            const double here = std::clamp(middle + i * step, -most, most);
            if (at(curve, here) > at(curve, best))
                best = here;
        }
    }
    return best;
}

/// Returns the position of the peak nearest to 0 among those nearly as high as the highest.
std::optional<double> peak_of(const Curve& curve) {
    constexpr double similar = .9;
    const Elements reach = reach_of(curve), last = reach - taps - 1;
    const auto height = [&](Elements shift) {
        return curve[static_cast<std::size_t>(shift + reach)];
    };
    double highest = 0;
    for (Elements shift = -last; shift <= last; ++shift)
        highest = std::max(highest, height(shift));
    for (Elements distance = 0; distance <= last; ++distance) {
        for (const Elements shift : {distance, -distance}) {
            if (height(shift) > similar * highest && height(shift) >= height(shift - 1) &&
                height(shift) >= height(shift + 1))
                return peak_near(curve, static_cast<double>(shift));
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<RowShift> RowShiftMeter::displacement() const {
    constexpr double least = .1, deviations = 6, deviations_of_shift = 5;
    constexpr double shared = 2; // odd rows next to one another are compared with the same row
    constexpr std::size_t least_groups = 8;
    if (reach_ <= blur + taps + 1 || groups_ < least_groups)
        return std::nullopt;
    std::vector<Curve> groups;
    const std::size_t length = sums_.size() / groups_;
    for (std::size_t group = 0; group < groups_; ++group)
        groups.push_back(smooth(std::span(sums_).subspan(group * length, length)));
    Curve all(groups.front().size());
    for (const Curve& group : groups)
        std::ranges::transform(all, group, all.begin(), std::plus<>());
    const std::optional<double> peak = peak_of(all);
    if (!peak || std::abs(*peak) < least)
        return std::nullopt;
    // In each group, the difference d between opposite shifts is proportional to their sum s: d = β
    // s, where β is 0 without a displacement. The groups also give the positions of the peak
    // without each group (jackknife).
    double products = 0, squares = 0, spread = 0;
    for (const Curve& group : groups) {
        const double here = at(group, *peak), opposite = at(group, -*peak);
        products += (here - opposite) * (here + opposite);
        squares += (here + opposite) * (here + opposite);
        Curve others = all;
        std::ranges::transform(others, group, others.begin(), std::minus<>());
        const double moved = peak_near(others, *peak) - *peak;
        spread += moved * moved;
    }
    double variance = 0; // of the products
    for (const Curve& group : groups) {
        const double here = at(group, *peak), opposite = at(group, -*peak);
        const double sum = here + opposite, rest = here - opposite - products / squares * sum;
        variance += shared * sum * sum * rest * rest;
    }
    const auto count = static_cast<double>(groups_);
    const double sigma = std::sqrt(shared * spread * (count - 1) / count);
    if (!(products > deviations * std::sqrt(variance)) ||
        std::abs(*peak) < deviations_of_shift * sigma)
        return std::nullopt;
    return RowShift{*peak, sigma};
}

RowChange with_aligned_rows(double shift, Elements width) {
    if (shift == 0)
        return [](std::int64_t, Rows, std::span<float>) {};
    const double whole = std::floor(shift);
    const Weights weights = weights_at(shift - whole);
    const auto right = static_cast<float>(shift - whole);
    return [=, first = static_cast<Elements>(whole),
            row = std::vector<float>()](std::int64_t, Rows rows, std::span<float> samples) mutable {
        constexpr float gap = std::numeric_limits<float>::quiet_NaN();
        for (Elements y = rows.first + (rows.first % 2 == 0 ? 1 : 0); y < rows.last; y += 2) {
            float* const to = samples.data() + (y - rows.first) * width;
            row.assign(to, to + width);
            const auto sample = [&](Elements x) {
                return x >= 0 && x < width ? row[static_cast<std::size_t>(x)] : gap;
            };
            for (Elements x = 0; x < width; ++x) {
                const Elements left = x + first;
                double sum = 0;
                for (int i = 0; i < 2 * taps; ++i)
                    sum += weights[static_cast<std::size_t>(i)] *
                           static_cast<double>(sample(left + i - taps + 1));
                to[x] = static_cast<float>(sum);
                if (std::isnan(to[x]))
                    to[x] = right == 0 ? sample(left)
                                       : (1 - right) * sample(left) + right * sample(left + 1);
            }
        }
    };
}

} // namespace sextant::registration
