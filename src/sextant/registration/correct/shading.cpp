// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/correct/shading.hpp"

#include "sextant/registration/correct/planes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <Eigen/Dense>

namespace sextant::registration {

namespace {

constexpr Elements side_of_cell = 16;
constexpr double sigma_in_cells = 1.5;

/// Shading differences above this limit are significant, in units of the frames' standard
/// deviation. Drifting specimens reach .04.
constexpr double much_shading = .12;
/// The mean squares of the polynomials over a frame.
constexpr Shading squares{1. / 3, 1. / 3, 1. / 5, 1. / 9, 1. / 5};

/// Returns the mean of each cell; NaN for a cell without finite samples.
std::vector<float> means_of_cells(std::span<const float> samples, ImageShape shape,
                                  ImageShape cells) {
    std::vector<double> sums(static_cast<std::size_t>(cells.elements())), counts(sums.size());
    for (Elements y = 0; y < shape.height; ++y) {
        const float* const row = samples.data() + y * shape.width;
        for (Elements x = 0; x < shape.width; ++x) {
            if (!std::isfinite(row[x]))
                continue;
            const auto cell = static_cast<std::size_t>(
                std::min(y / side_of_cell, cells.height - 1) * cells.width +
                std::min(x / side_of_cell, cells.width - 1));
            sums[cell] += static_cast<double>(row[x]);
            ++counts[cell];
        }
    }
    std::vector<float> means(sums.size());
    std::transform(sums.begin(), sums.end(), counts.begin(), means.begin(),
                   [](double sum, double count) { return static_cast<float>(sum / count); });
    return means;
}

/// Fits a plane to the means of the surrounding cells by least squares and returns its value at a
/// cell.
double local_fit(const std::vector<float>& means, ImageShape cells, Elements column, Elements row) {
    constexpr auto reach = static_cast<Elements>(4 * sigma_in_cells);
    Eigen::Matrix3d normal = Eigen::Matrix3d::Zero();
    Eigen::Vector3d right = Eigen::Vector3d::Zero();
    for (Elements y = std::max<Elements>(row - reach, 0);
         y <= std::min(row + reach, cells.height - 1); ++y) {
        for (Elements x = std::max<Elements>(column - reach, 0);
             x <= std::min(column + reach, cells.width - 1); ++x) {
            const auto value =
                static_cast<double>(means[static_cast<std::size_t>(y * cells.width + x)]);
            if (std::isnan(value))
                continue;
            const Eigen::Vector3d at(1, static_cast<double>(x - column),
                                     static_cast<double>(y - row));
            const double weight =
                std::exp(-(at[1] * at[1] + at[2] * at[2]) / (2 * sigma_in_cells * sigma_in_cells));
            normal += weight * at * at.transpose();
            right += weight * value * at;
        }
    }
    constexpr double little = 1e-6; // a slope is 0 if gaps leave it undetermined
    normal.diagonal().tail<2>().array() += little;
    return normal(0, 0) > 0 ? Eigen::Vector3d(normal.ldlt().solve(right))[0] : std::nan("");
}

} // namespace

Shading shading_of(const Pyramid& frame) {
    const kernel::FloatImage image = frame.level(frame.levels() - 1);
    Shading sums{};
    double count = 0;
    for (Elements row = 0; row < image.shape.height; ++row) {
        const double y =
            2 * (static_cast<double>(row) + .5) / static_cast<double>(image.shape.height) - 1;
        double of_1 = 0, of_x = 0, of_xx = 0;
        for (Elements column = 0; column < image.shape.width; ++column) {
            const auto sample = static_cast<double>(image.at(column, row));
            if (std::isnan(sample))
                continue;
            const double x =
                2 * (static_cast<double>(column) + .5) / static_cast<double>(image.shape.width) - 1;
            of_1 += sample;
            of_x += sample * x;
            of_xx += sample * (1.5 * x * x - .5);
            ++count;
        }
        const Shading of_row{of_x, y * of_1, of_xx, y * of_x, (1.5 * y * y - .5) * of_1};
        for (std::size_t k = 0; k < sums.size(); ++k)
            sums[k] += of_row[k];
    }
    // The polynomials are orthogonal, so each coefficient is a separate projection.
    for (std::size_t k = 0; k < sums.size(); ++k)
        sums[k] = count > 0 ? sums[k] / count / std::sqrt(squares[k]) : 0;
    return sums;
}

std::vector<TwoFrames> frames_of_other_shading(std::span<const Shading> frames) {
    constexpr double ignored = .1;
    std::vector<TwoFrames> pairs;
    std::vector<std::size_t> order(frames.size());
    for (std::size_t k = 0; k < Shading().size() && !frames.empty(); ++k) {
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, {}, [&](std::size_t frame) { return frames[frame][k]; });
        const auto least =
            static_cast<std::size_t>(ignored * static_cast<double>(frames.size() - 1));
        const TwoFrames pair{order[least], order[frames.size() - 1 - least]};
        if (frames[pair.second][k] - frames[pair.first][k] > much_shading)
            pairs.push_back(pair);
    }
    return pairs;
}

/// Fits the polynomials of Shading and a constant to the difference of the two coarsest levels in
/// the overlap.
bool shading_changes(const Pyramid& reference, const Pyramid& moved, const RigidMotion& motion,
                     bool inverted) {
    constexpr double least_overlap = 1. / 3;
    constexpr int terms = 6;
    using Terms = Eigen::Matrix<double, terms, 1>;
    const int coarsest = reference.levels() - 1;
    const kernel::FloatImage fixed = reference.level(coarsest), other = moved.level(coarsest);
    const double step = std::ldexp(1., coarsest);
    const ImageShape shape = reference.shape();
    const auto width = static_cast<double>(shape.width), height = static_cast<double>(shape.height);
    Eigen::Matrix<double, terms, terms> normal = Eigen::Matrix<double, terms, terms>::Zero();
    Terms right = Terms::Zero();
    Elements overlap = 0;
    for (Elements row = 0; row < fixed.shape.height; ++row) {
        for (Elements column = 0; column < fixed.shape.width; ++column) {
            const Point here{step * static_cast<double>(column), step * static_cast<double>(row)};
            const Point there = apply(motion, here, centre(shape));
            const double u = there.x / step, v = there.y / step;
            const auto left = static_cast<Elements>(std::floor(u)),
                       top = static_cast<Elements>(std::floor(v));
            if (left < 0 || top < 0 || left + 1 >= other.shape.width ||
                top + 1 >= other.shape.height)
                continue;
            const double right_share = u - static_cast<double>(left),
                         lower_share = v - static_cast<double>(top);
            const auto at = [&](Elements x, Elements y) {
                return static_cast<double>(other.at(x, y));
            };
            const double upper = at(left, top) + right_share * (at(left + 1, top) - at(left, top));
            const double lower =
                at(left, top + 1) + right_share * (at(left + 1, top + 1) - at(left, top + 1));
            const double sample = upper + lower_share * (lower - upper);
            const double difference =
                (inverted ? -sample : sample) - static_cast<double>(fixed.at(column, row));
            if (!std::isfinite(difference))
                continue;
            const double x = (2 * here.x + 1) / width - 1, y = (2 * here.y + 1) / height - 1;
            const Terms term{1, x, y, 1.5 * x * x - .5, x * y, 1.5 * y * y - .5};
            normal += term * term.transpose();
            right += difference * term;
            ++overlap;
        }
    }
    if (static_cast<double>(overlap) < least_overlap * static_cast<double>(fixed.shape.elements()))
        return true;
    const Terms found = normal.ldlt().solve(right);
    for (std::size_t k = 0; k < Shading().size(); ++k) {
        if (std::abs(found[static_cast<Eigen::Index>(k) + 1]) * std::sqrt(squares[k]) >
            much_shading)
            return true;
    }
    return false;
}

namespace {

/// Returns the smoothed shading without its mean, at the cell centres.
std::vector<float> smoothed(std::span<const float> samples, ImageShape shape, ImageShape cells) {
    const std::vector<float> means = means_of_cells(samples, shape, cells);
    std::vector<float> smooth(means.size());
    double sum = 0, count = 0;
    for (Elements row = 0; row < cells.height; ++row) {
        for (Elements column = 0; column < cells.width; ++column) {
            const double value = local_fit(means, cells, column, row);
            smooth[static_cast<std::size_t>(row * cells.width + column)] =
                static_cast<float>(value);
            if (std::isfinite(value)) {
                sum += value;
                ++count;
            }
        }
    }
    const auto mean = static_cast<float>(count > 0 ? sum / count : 0);
    for (float& value : smooth)
        value = std::isfinite(value) ? value - mean : 0;
    return smooth;
}

} // namespace

RowChange without_shading(FrameSource& source) {
    const ImageShape shape = source.header().shape;
    const ImageShape cells{std::max<Elements>(1, shape.width / side_of_cell),
                           std::max<Elements>(1, shape.height / side_of_cell)};
    std::map<std::int64_t, std::vector<float>> shadings; // by frame, at cell centres
    return [&source, shape, cells, shadings](std::int64_t frame, Rows rows,
                                             std::span<float> samples) mutable {
        auto at = shadings.find(frame);
        if (at == shadings.end()) {
            std::vector<float> whole(static_cast<std::size_t>(shape.elements()));
            source.read_frame(frame, whole);
            at = shadings.emplace(frame, smoothed(whole, shape, cells)).first;
        }
        subtract_between_cells(at->second, cells, side_of_cell, rows, samples);
    };
}

} // namespace sextant::registration
