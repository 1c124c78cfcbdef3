// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair/row_template.hpp"

#include "sextant/registration/pair/partition.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>

namespace sextant::registration {

namespace {

/// Weights of a symmetric filter, from −reach to reach.
using FilterWeights = std::vector<double>;

FilterWeights sampled_gaussian(double sigma) {
    const int reach = std::max(1, static_cast<int>(std::ceil(4 * sigma)));
    FilterWeights weights;
    double sum = 0;
    for (int i = -reach; i <= reach; ++i) {
        weights.push_back(std::exp(-i * i / (2 * sigma * sigma)));
        sum += weights.back();
    }
    for (double& weight : weights)
        weight /= sum;
    return weights;
}

FilterWeights convolved(const FilterWeights& a, const FilterWeights& b) {
    FilterWeights sum(a.size() + b.size() - 1);
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < b.size(); ++j)
            sum[i + j] += a[i] * b[j];
    }
    return sum;
}

/// Returns 1 − (1 − g)³ = 3g − 3g² + g³.
FilterWeights flat_filter(const FilterWeights& g) {
    const FilterWeights square = convolved(g, g), cube = convolved(square, g);
    FilterWeights flat = cube;
    const auto add = [&](const FilterWeights& term, double factor) {
        const std::size_t before = (flat.size() - term.size()) / 2;
        for (std::size_t i = 0; i < term.size(); ++i)
            flat[before + i] += factor * term[i];
    };
    add(g, 3);
    add(square, -3);
    return flat;
}

/// Returns the second half of the weights, starting at the middle one, without negligible weights
/// at the end.
std::vector<float> half_of(const FilterWeights& weights) {
    constexpr double negligible = 1e-3;
    const std::size_t middle = weights.size() / 2;
    std::vector<float> half;
    for (std::size_t i = middle; i < weights.size(); ++i)
        half.push_back(static_cast<float>(weights[i]));
    while (half.size() > 1 &&
           std::abs(static_cast<double>(half.back())) < negligible * weights[middle])
        half.pop_back();
    return half;
}

} // namespace

RowTemplate::RowTemplate(ImageShape shape, const RowFilter& filter, Team* team)
    : shape_(shape),
      team_(team),
      along_(half_of(sampled_gaussian(filter.along_rows))),
      between_(half_of(flat_filter(sampled_gaussian(filter.between_rows)))) {
    const auto pixels = static_cast<std::size_t>(shape.elements());
    for (std::vector<float>* plane : {&filtered_, &weights_, &value_, &slope_x_, &slope_y_})
        plane->resize(pixels);
}

void RowTemplate::fill(std::span<const float> samples) {
    if (static_cast<Elements>(samples.size()) != shape_.elements())
        throw std::logic_error("the size of the image differs from that of the template");
    filter_rows(samples);
    filter_columns();
    differentiate();
}

/// Filters along the rows. Gaps contribute 0 to the sums of samples and weights.
void RowTemplate::filter_rows(std::span<const float> samples) {
    const auto width = static_cast<std::size_t>(shape_.width);
    const std::size_t reach = along_.size() - 1;
    const Bands bands(shape_.height);
    run_parts(team_, bands.count(), [&](int band, int) {
        std::vector<float> known(width + 2 * reach), filled(known.size());
        for (Elements row = bands.first(band); row < bands.first(band + 1); ++row) {
            const float* const from = samples.data() + row * shape_.width;
            for (std::size_t x = 0; x < width; ++x) {
                const bool finite = std::isfinite(from[x]);
                known[reach + x] = finite ? 1.F : 0.F;
                filled[reach + x] = finite ? from[x] : 0.F;
            }
            float* const to = filtered_.data() + row * shape_.width;
            float* const weight = weights_.data() + row * shape_.width;
            for (std::size_t x = 0; x < width; ++x) {
                to[x] = along_[0] * filled[reach + x];
                weight[x] = along_[0] * known[reach + x];
            }
            for (std::size_t i = 1; i <= reach; ++i) {
                for (std::size_t x = 0; x < width; ++x) {
                    to[x] += along_[i] * (filled[reach + x - i] + filled[reach + x + i]);
                    weight[x] += along_[i] * (known[reach + x - i] + known[reach + x + i]);
                }
            }
        }
    });
}

void RowTemplate::filter_columns() {
    constexpr float least = .5F;
    const auto width = static_cast<std::size_t>(shape_.width);
    const auto reach = static_cast<Elements>(between_.size()) - 1;
    const Bands bands(shape_.height);
    run_parts(team_, bands.count(), [&](int band, int) {
        std::vector<float> weight(width);
        for (Elements row = bands.first(band); row < bands.first(band + 1); ++row) {
            float* const to = value_.data() + row * shape_.width;
            std::fill_n(to, width, 0.F);
            std::fill(weight.begin(), weight.end(), 0.F);
            const Elements first = std::max<Elements>(0, row - reach);
            const Elements last = std::min(shape_.height - 1, row + reach);
            for (Elements other = first; other <= last; ++other) {
                const float factor = between_[static_cast<std::size_t>(std::abs(other - row))];
                const float* const from = filtered_.data() + other * shape_.width;
                const float* const seen = weights_.data() + other * shape_.width;
                for (std::size_t x = 0; x < width; ++x) {
                    to[x] += factor * from[x];
                    weight[x] += factor * seen[x];
                }
            }
            for (std::size_t x = 0; x < width; ++x)
                to[x] = weight[x] >= least ? to[x] / weight[x]
                                           : std::numeric_limits<float>::quiet_NaN();
        }
    });
}

/// Computes the gradient by differences that are exact for polynomials of degree four; NaN at the
/// borders.
void RowTemplate::differentiate() {
    constexpr float near = 8.F / 12, far = -1.F / 12;
    constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
    const Elements width = shape_.width, height = shape_.height;
    const Bands bands(height);
    run_parts(team_, bands.count(), [&](int band, int) {
        for (Elements row = bands.first(band); row < bands.first(band + 1); ++row) {
            const float* const at = value_.data() + row * width;
            float* const x_to = slope_x_.data() + row * width;
            float* const y_to = slope_y_.data() + row * width;
            std::fill_n(x_to, width, nothing);
            std::fill_n(y_to, width, nothing);
            for (Elements x = 2; x < width - 2; ++x)
                x_to[x] = near * (at[x + 1] - at[x - 1]) + far * (at[x + 2] - at[x - 2]);
            if (row < 2 || row >= height - 2)
                continue;
            for (Elements x = 0; x < width; ++x)
                y_to[x] = near * (at[x + width] - at[x - width]) +
                          far * (at[x + 2 * width] - at[x - 2 * width]);
        }
    });
}

} // namespace sextant::registration
