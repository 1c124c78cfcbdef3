// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair/row_fit.hpp"

#include "sextant/registration/pair/descent.hpp"
#include "sextant/registration/pair/motion.hpp"
#include "sextant/registration/pair/partition.hpp"
#include "sextant/registration/pair/spline_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

// compare() linearises a frame near φ and displacements d(y) of its rows y:
// Model      T(x, y) = g m(x, y) + b_y + noise: m is the template at φ⁻¹((x, y) − d(y)), g the gain
//            of the frame, and b_y the brightness offset of a row.
// Unknowns   θ_y = (dx, dy, α) of a row, in addition to d and φ.
// Residual   e = T − g m + h·θ_y with h = g' (m_x, m_y, m_y (x − x̄) / arm), where g' is the gain
//            of gradients. The weighted means of e and h over the row are subtracted, which
//            eliminates b_y.
// Weights    w = 1/v, where the variance v = v₀ + v₁ m of a pixel is estimated by regression of e²
//            on m.
// Equations  M θ_y = z with M = Σ w h hᵀ and z = −Σ w e h over the pixels of the row.
//
// solve_rows() estimates the displacements of all rows of a frame under a prior:
// Model      θ_y = B_y c + (j_y, 0, 0): c contains α and the coefficients of the cubic splines of
//            dx and dy; j_y is the jitter, independent between rows, with variance σ².
// Jitter     eliminated from each row: with μ = M's first column and q = σ² / (1 + σ² μ₁),
//            M' = M − q μ μᵀ and z' = z − q z₁ μ. Afterwards, j_y = q (z₁ − μ·B_y c).
// Equations  (Σ B_yᵀ M' B_y + diag(κ_x K, κ_y K, 0)) c = Σ B_yᵀ z'; cᵀKc sums squared second
//            differences. The inverse of the matrix is the covariance of c.
//
// estimate_prior() maximises the evidence: σ² by Fisher scoring, and the stiffness by
// κ ← γ / Σ cᵀKc, where γ is the number of parameters that the frames determine.
// Source     Wood and Fasiolo, Biometrics 73, 2017, doi:10.1111/biom.12666
namespace sextant::registration {

namespace {

constexpr std::size_t lags = 4; ///< lags along a row over which noise correlations are summed

/// Returns the arm that converts rotations to displacements: a rotation is expressed as the
/// displacement at this distance from the centre.
double rotation_arm(ImageShape shape) {
    return static_cast<double>(shape.width) / 2;
}

/// The uniform cubic B-splines along the rows of a frame.
struct RowSpline {
    std::size_t intervals;
    double scale; ///< intervals per row

    explicit RowSpline(Elements rows)
        : intervals(static_cast<std::size_t>(std::clamp<Elements>(rows / 8, 4, 64))),
          scale(static_cast<double>(intervals) / static_cast<double>(rows)) {}

    Eigen::Index coefficients() const { return static_cast<Eigen::Index>(intervals) + 3; }
    /// Returns the index of the first of the four splines that are nonzero at a row. weights()
    /// returns the values of the four.
    Eigen::Index first(double row) const {
        return static_cast<Eigen::Index>(std::min((row + .5) * scale, double(intervals) - 1e-9));
    }
    Eigen::Vector4d weights(double row) const {
        return Eigen::Vector4d(
            cubic_b_splines((row + .5) * scale - static_cast<double>(first(row))).data());
    }
    /// Returns K, for which cᵀKc is the sum of the squared second differences.
    Eigen::MatrixXd energy() const {
        const Eigen::Index n = coefficients();
        Eigen::MatrixXd differences = Eigen::MatrixXd::Zero(n - 2, n);
        for (Eigen::Index i = 0; i + 2 < n; ++i)
            differences.row(i).segment<3>(i) << 1, -2, 1;
        return differences.transpose() * differences;
    }
};

Eigen::Matrix3d information(const RowSums& sums) {
    const auto m = [&](std::size_t i) { return static_cast<double>(sums.m[i]); };
    Eigen::Matrix3d matrix;
    matrix << m(0), m(1), m(2), m(1), m(3), m(4), m(2), m(4), m(5);
    return matrix;
}

Eigen::Vector3d right_side(const RowSums& sums) {
    return {static_cast<double>(sums.z[0]), static_cast<double>(sums.z[1]),
            static_cast<double>(sums.z[2])};
}

bool is_known(float value, float slope_x, float slope_y, float sample) {
    return std::isfinite(value + slope_x + slope_y + sample);
}

} // namespace

std::int64_t disturbed_columns(std::span<const ColumnErrors> errors) {
    constexpr double least_excess = .08, least_deviations = 4, known_well = .05;
    constexpr std::int64_t fewest = 3, margin = 2;
    if (errors.empty() || !(errors.back().count > 0))
        return 0;
    const auto mean_of = [](const ColumnErrors& column) {
        return static_cast<double>(column.squares) / static_cast<double>(column.count);
    };
    const double usual = mean_of(errors.back());
    const auto at_edge = static_cast<std::int64_t>(errors.size()) - 1;
    std::int64_t end = 0, disturbed = 0, usual_ones = 0;
    for (std::int64_t i = 0; i < at_edge && usual_ones < fewest; ++i) {
        const ColumnErrors& column = errors[static_cast<std::size_t>(i)];
        if (!(column.count > 0))
            continue; // outside the reference in all frames
        const double deviation = std::sqrt(2 / static_cast<double>(column.count));
        const double excess = mean_of(column) / usual - 1;
        if (excess > std::max(least_excess, least_deviations * deviation)) {
            end = i + 1;
            ++disturbed;
            usual_ones = 0;
        } else if (deviation < known_well) {
            ++usual_ones;
        }
    }
    return disturbed < fewest ? 0 : end + margin;
}

double rough_parameters(Elements rows) {
    return static_cast<double>(RowSpline(rows).coefficients() - 2);
}

RowFit::RowFit(ImageShape shape, Team* team)
    : shape_(shape), team_(team), totals_(static_cast<std::size_t>(shape.height)) {
    const auto pixels = static_cast<std::size_t>(shape.elements());
    for (std::vector<float>* plane : {&value_, &slope_x_, &slope_y_})
        plane->resize(pixels);
}

/// Samples the template at the positions of the frame's pixels, with gradients along the frame's
/// axes; NaN where the template or the frame has no data.
void RowFit::sample(const RowTemplate& reference, std::span<const float> samples,
                    const RowMotion& at) {
    const Point c = centre(shape_);
    const double cosine = std::cos(at.motion.alpha), sine = std::sin(at.motion.alpha);
    const auto right = static_cast<double>(shape_.width - 1);
    const auto bottom = static_cast<double>(shape_.height - 1);
    const Bands bands(shape_.height);
    run_parts(team_, bands.count(), [&](int band, int) {
        for (Elements row = bands.first(band); row < bands.first(band + 1); ++row) {
            const Point begin = apply_inverse(at, {0, static_cast<double>(row)}, c);
            const float* const sample = samples.data() + row * shape_.width;
            float* const value = value_.data() + row * shape_.width;
            float* const slope_x = slope_x_.data() + row * shape_.width;
            float* const slope_y = slope_y_.data() + row * shape_.width;
            for (Elements i = 0; i < shape_.width; ++i) {
                const double x = begin.x + static_cast<double>(i) * cosine;
                const double y = begin.y - static_cast<double>(i) * sine;
                value[i] = std::numeric_limits<float>::quiet_NaN();
                if (!(x >= 0 && x <= right && y >= 0 && y <= bottom))
                    continue;
                const Elements left = std::min(static_cast<Elements>(x), shape_.width - 2);
                const Elements top = std::min(static_cast<Elements>(y), shape_.height - 2);
                const auto u = static_cast<float>(x - static_cast<double>(left));
                const auto v = static_cast<float>(y - static_cast<double>(top));
                const auto mixed = [&](const float* above, const float* below) {
                    above += left;
                    below += left;
                    const float high = above[0] + u * (above[1] - above[0]);
                    const float low = below[0] + u * (below[1] - below[0]);
                    return high + v * (low - high);
                };
                const float m = mixed(reference.value(top), reference.value(top + 1));
                const float x_of_m = mixed(reference.slope_x(top), reference.slope_x(top + 1));
                const float y_of_m = mixed(reference.slope_y(top), reference.slope_y(top + 1));
                if (!is_known(m, x_of_m, y_of_m, sample[i]))
                    continue;
                value[i] = m;
                const auto cos_f = static_cast<float>(cosine), sin_f = static_cast<float>(sine);
                slope_x[i] = cos_f * x_of_m - sin_f * y_of_m;
                slope_y[i] = sin_f * x_of_m + cos_f * y_of_m;
            }
        }
    });
}

RowEvidence RowFit::compare(const RowTemplate& reference, std::span<const float> samples,
                            const RowMotion& at) {
    if (static_cast<Elements>(samples.size()) != shape_.elements() || reference.shape() != shape_ ||
        static_cast<Elements>(at.dx.size()) != shape_.height || at.dy.size() != at.dx.size())
        throw std::logic_error("the frame, the template and the rows have different sizes");
    sample(reference, samples, at);
    const Bands bands(shape_.height);
    const auto each_row = [&](const auto& body) {
        run_parts(team_, bands.count(), [&](int band, int) {
            for (Elements row = bands.first(band); row < bands.first(band + 1); ++row)
                body(totals_[static_cast<std::size_t>(row)], samples.data() + row * shape_.width,
                     value_.data() + row * shape_.width);
        });
    };
    // Sums for the gains of values and of gradients, relative to the template. The template's noise
    // adds to the template's squares, but not to its products with the frame.
    each_row([&](RowTotals& totals, const float* sample, const float* value) {
        totals = {};
        for (Elements x = 0; x < shape_.width; ++x) {
            if (std::isnan(value[x]))
                continue;
            const auto m = static_cast<double>(value[x]), t = static_cast<double>(sample[x]);
            ++totals.count;
            totals.values += m;
            totals.samples += t;
            totals.squares += m * m;
            totals.products += m * t;
            if (x == 0 || x + 1 == shape_.width)
                continue;
            const double m_slope = static_cast<double>(value[x + 1] - value[x - 1]);
            const double t_slope =
                static_cast<double>(sample[x + 1]) - static_cast<double>(sample[x - 1]);
            if (!std::isfinite(m_slope + t_slope))
                continue;
            totals.slopes += m_slope * m_slope;
            totals.cross_slopes += m_slope * t_slope;
        }
    });
    RowTotals all;
    double variance = 0, covariance = 0; // within rows
    for (const RowTotals& row : totals_) {
        if (row.count == 0)
            continue;
        all.count += row.count;
        all.values += row.values;
        all.squares += row.squares;
        all.slopes += row.slopes;
        all.cross_slopes += row.cross_slopes;
        variance += row.squares - row.values * row.values / row.count;
        covariance += row.products - row.values * row.samples / row.count;
    }
    const std::size_t columns = columns_at_edge(shape_) + 1;
    RowEvidence evidence{at.motion, std::vector<RowSums>(totals_.size()),
                         std::vector<ColumnErrors>(columns)};
    gain_ = covariance / variance;
    slope_gain_ = all.cross_slopes / all.slopes;
    if (!std::isfinite(gain_) || !std::isfinite(slope_gain_) || !(gain_ * slope_gain_ > 0))
        return evidence; // the frame and the template have nothing in common
    each_row([&](RowTotals& totals, const float* sample, const float* value) {
        const double offset = (totals.samples - gain_ * totals.values) / totals.count;
        for (Elements x = 0; x < shape_.width; ++x) {
            if (std::isnan(value[x]))
                continue;
            const auto m = static_cast<double>(value[x]);
            const double e = static_cast<double>(sample[x]) - gain_ * m - offset;
            totals.errors += e * e;
            totals.error_products += e * e * m;
        }
    });
    for (const RowTotals& row : totals_) {
        all.errors += row.errors;
        all.error_products += row.error_products;
    }
    const double mean = all.values / all.count, error = all.errors / all.count;
    noise_slope_ = (all.error_products - mean * all.errors) / (all.squares - mean * all.values);
    noise_ = error - noise_slope_ * mean;
    least_noise_ = .2 * error;
    const double c = centre(shape_).x + at.motion.tx;
    column_errors_.assign(columns * static_cast<std::size_t>(bands.count()), {});
    run_parts(team_, bands.count(), [&](int band, int) {
        const auto errors =
            std::span(column_errors_).subspan(columns * static_cast<std::size_t>(band), columns);
        for (Elements row = bands.first(band); row < bands.first(band + 1); ++row) {
            const auto i = static_cast<std::size_t>(row);
            evidence.rows[i] = sums_of_row(row, samples, c + static_cast<double>(at.dx[i]), errors);
        }
    });
    for (std::size_t i = 0; i < column_errors_.size(); ++i) {
        evidence.columns[i % columns].squares += column_errors_[i].squares;
        evidence.columns[i % columns].count += column_errors_[i].count;
    }
    // Compare the variance of the scores, including correlations of adjacent residuals, with the
    // variance that the noise model implies.
    double variance_of_scores = 0, implied = 0;
    for (std::size_t row = 0; row < totals_.size(); ++row) {
        const auto& products = totals_[row].score_products;
        variance_of_scores += products[0];
        for (std::size_t lag = 1; lag <= lags; ++lag)
            variance_of_scores += 2 * products[lag];
        implied += static_cast<double>(evidence.rows[row].m[0]);
    }
    constexpr double least_inflation = .25;
    const double factor =
        implied > 0 ? 1 / std::max(least_inflation, variance_of_scores / implied) : 1;
    for (std::size_t row = 0; row < evidence.rows.size(); ++row) {
        RowSums& sums = evidence.rows[row];
        const Eigen::Vector3d current(static_cast<double>(at.dx[row]),
                                      static_cast<double>(at.dy[row]), 0);
        const Eigen::Vector3d z = factor * (right_side(sums) + information(sums) * current);
        for (float& m : sums.m)
            m = static_cast<float>(factor * static_cast<double>(m));
        for (int i = 0; i < 3; ++i)
            sums.z[static_cast<std::size_t>(i)] = static_cast<float>(z[i]);
    }
    return evidence;
}

/// Returns the sums over a row. Pixels are weighted by their inverse noise variance, and the row's
/// brightness offset is eliminated. Displacements are relative to the current displacements.
/// `middle` is the x coordinate of the centre of rotation. Adds the residuals to `columns`.
RowSums RowFit::sums_of_row(Elements row, std::span<const float> samples, double middle,
                            std::span<ColumnErrors> columns) {
    const float* const sample = samples.data() + row * shape_.width;
    const float* const value = value_.data() + row * shape_.width;
    const float* const slope_x = slope_x_.data() + row * shape_.width;
    const float* const slope_y = slope_y_.data() + row * shape_.width;
    const double arm = rotation_arm(shape_);
    RowTotals& totals = totals_[static_cast<std::size_t>(row)];
    Eigen::Matrix3d m = Eigen::Matrix3d::Zero();
    Eigen::Vector3d z = Eigen::Vector3d::Zero(), mean_slope = Eigen::Vector3d::Zero();
    double weights = 0, mean_error = 0;
    const auto each = [&](const auto& body) {
        for (Elements x = 0; x < shape_.width; ++x) {
            if (std::isnan(value[x]))
                continue;
            const auto v = static_cast<double>(value[x]);
            const double weight = 1 / std::max(noise_ + noise_slope_ * v, least_noise_);
            const double h_x = slope_gain_ * static_cast<double>(slope_x[x]);
            const double h_y = slope_gain_ * static_cast<double>(slope_y[x]);
            body(x, weight,
                 Eigen::Vector3d(h_x, h_y, h_y * (static_cast<double>(x) - middle) / arm),
                 static_cast<double>(sample[x]) - gain_ * v);
        }
    };
    each([&](Elements, double weight, const Eigen::Vector3d& h, double e) {
        weights += weight;
        mean_slope += weight * h;
        mean_error += weight * e;
    });
    if (weights == 0)
        return {};
    mean_slope /= weights;
    mean_error /= weights;
    std::array<double, lags + 1> latest{}; // scores of this pixel and the previous ones
    each([&](Elements x, double weight, Eigen::Vector3d h, double e) {
        h -= mean_slope;
        e -= mean_error;
        ColumnErrors& column = columns[std::min(static_cast<std::size_t>(x), columns.size() - 1)];
        column.squares += static_cast<float>(weight * e * e);
        ++column.count;
        m.noalias() += weight * h * h.transpose();
        z -= weight * e * h;
        for (std::size_t lag = lags; lag > 0; --lag)
            latest[lag] = latest[lag - 1];
        if (x > 0 && std::isnan(value[x - 1]))
            latest.fill(0);
        latest[0] = weight * e * h[0];
        for (std::size_t lag = 0; lag <= lags; ++lag)
            totals.score_products[lag] += latest[0] * latest[lag];
    });
    RowSums sums;
    const double of_m[] = {m(0, 0), m(0, 1), m(0, 2), m(1, 1), m(1, 2), m(2, 2)};
    for (std::size_t i = 0; i < sums.m.size(); ++i)
        sums.m[i] = static_cast<float>(of_m[i]);
    for (int i = 0; i < 3; ++i)
        sums.z[static_cast<std::size_t>(i)] = static_cast<float>(z[i]);
    return sums;
}

RowEstimate solve_rows(const RowEvidence& evidence, const RowPrior& prior, ImageShape shape) {
    const RowSpline spline(shape.height);
    const Eigen::Index n = spline.coefficients(), unknowns = 2 * n + 1;
    const Eigen::MatrixXd energy = spline.energy();
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(unknowns, unknowns);
    Eigen::VectorXd b = Eigen::VectorXd::Zero(unknowns);
    const auto height = static_cast<std::size_t>(shape.height);
    // The 9 unknowns of a row: four coefficients of dx, four of dy, and the rotation.
    using Local = Eigen::Matrix<double, 3, 9>;
    const auto local = [&](std::size_t row) {
        const Eigen::Vector4d weights = spline.weights(static_cast<double>(row));
        Local basis = Local::Zero();
        basis.row(0).head<4>() = weights.transpose();
        basis.row(1).segment<4>(4) = weights.transpose();
        basis(2, 8) = 1;
        return basis;
    };
    const auto unknown = [&](std::size_t row, Eigen::Index i) {
        const Eigen::Index first = spline.first(static_cast<double>(row));
        return i < 4 ? first + i : i < 8 ? n + first + i - 4 : 2 * n;
    };
    double count = 0;
    for (std::size_t row = 0; row < height; ++row) {
        Eigen::Matrix3d m = information(evidence.rows[row]);
        Eigen::Vector3d z = right_side(evidence.rows[row]);
        if (!(m(0, 0) > 0))
            continue;
        ++count;
        // Eliminate the jitter of the row.
        const Eigen::Vector3d first = m.col(0);
        const double share = prior.jitter / (1 + prior.jitter * m(0, 0));
        z -= first * (share * z[0]);
        m -= share * first * first.transpose();
        const Local basis = local(row);
        const Eigen::Matrix<double, 9, 9> matrix = basis.transpose() * m * basis;
        const Eigen::Matrix<double, 9, 1> right = basis.transpose() * z;
        for (Eigen::Index i = 0; i < 9; ++i) {
            b[unknown(row, i)] += right[i];
            for (Eigen::Index j = 0; j < 9; ++j)
                a(unknown(row, i), unknown(row, j)) += matrix(i, j);
        }
    }
    RowEstimate estimate;
    estimate.motion = {evidence.motion, std::vector<float>(height), std::vector<float>(height),
                       std::vector<float>(height)};
    const double trace = a.trace();
    if (!(trace > 0) || !std::isfinite(trace) || count < 4)
        return estimate;
    a.topLeftCorner(n, n) += prior.stiffness[0] * energy;
    a.block(n, n, n, n) += prior.stiffness[1] * energy;
    a.diagonal().array() += 1e-12 * trace;
    if (!prior.rotates) {
        a.row(2 * n).setZero();
        a.col(2 * n).setZero();
        a(2 * n, 2 * n) = 1;
        b[2 * n] = 0;
    }
    const Eigen::LLT<Eigen::MatrixXd> factor(a);
    const std::optional<Eigen::VectorXd> solution = solved(factor, b);
    if (!solution)
        return estimate;
    const Eigen::VectorXd& c = *solution;
    const Eigen::MatrixXd inverse = factor.solve(Eigen::MatrixXd::Identity(unknowns, unknowns));
    if (!inverse.allFinite())
        return estimate;
    estimate.determined = true;
    const Eigen::VectorXd diagonal = factor.matrixLLT().diagonal();
    estimate.log_evidence =
        (b.dot(c) + static_cast<double>(n - 2) *
                        (std::log(prior.stiffness[0]) + std::log(prior.stiffness[1]))) /
            2 -
        diagonal.array().log().sum();
    for (Eigen::Index axis = 0; axis < 2; ++axis) {
        const Eigen::VectorXd own = c.segment(axis * n, n);
        const auto i = static_cast<std::size_t>(axis);
        estimate.roughness[i] = own.dot(energy * own);
        estimate.roughness_noise[i] =
            energy.cwiseProduct(inverse.block(axis * n, axis * n, n, n)).sum();
    }
    const double arm = rotation_arm(shape), alpha = c[2 * n] / arm;
    const Point middle = centre(shape);
    const RigidMotion& before = evidence.motion;
    std::vector<double> dx(height), dy(height);
    Eigen::VectorXd mean_x = Eigen::VectorXd::Zero(unknowns), mean_y = mean_x;
    double jitter = 0, noise_of_mean = 0;
    for (std::size_t row = 0; row < height; ++row) {
        const Local basis = local(row);
        Eigen::Matrix<double, 9, 1> own;
        Eigen::Matrix<double, 9, 9> covariance;
        for (Eigen::Index i = 0; i < 9; ++i) {
            own[i] = c[unknown(row, i)];
            for (Eigen::Index j = 0; j < 9; ++j)
                covariance(i, j) = inverse(unknown(row, i), unknown(row, j));
        }
        const Eigen::Vector3d theta = basis * own;
        const Eigen::Vector3d m = information(evidence.rows[row]).col(0);
        const auto z = static_cast<double>(evidence.rows[row].z[0]);
        const double spread = basis.row(0) * covariance * basis.row(0).transpose();
        const double taken = prior.jitter * m[0] / (1 + prior.jitter * m[0]);
        double offset = 0, variance = spread + prior.jitter;
        if (m[0] > 0) {
            // Displacement of the row relative to the spline.
            const double left = (z - m.dot(theta)) / m[0];
            offset = taken * left;
            variance = taken / m[0] + (1 - taken) * (1 - taken) * spread;
            const double expected = std::max(1 / m[0] + prior.jitter - spread, .1 / m[0]);
            estimate.jitter_score += (left * left - expected) / (expected * expected);
            estimate.jitter_information += 1 / (expected * expected);
            noise_of_mean += taken / m[0];
        }
        jitter += offset * offset;
        dy[row] = theta[1];
        // Only downward displacements determine the rotation; its displacement to the right is part
        // of dx.
        const double y = static_cast<double>(row) - dy[row] - middle.y - before.ty;
        dx[row] = theta[0] + offset + y * alpha;
        estimate.motion.sigma[row] = static_cast<float>(std::sqrt(variance));
        for (Eigen::Index i = 0; i < 4; ++i) {
            mean_x[unknown(row, i)] += (1 - taken) * basis(0, i) / static_cast<double>(height);
            mean_y[unknown(row, i + 4)] += basis(1, i + 4) / static_cast<double>(height);
        }
    }
    const auto rows = static_cast<double>(height);
    estimate.jitter = std::sqrt(jitter / rows);
    const auto mean_of = [&](const std::vector<double>& values) {
        double sum = 0;
        for (const double value : values)
            sum += value;
        return sum / rows;
    };
    const Point mean{mean_of(dx), mean_of(dy)};
    for (std::size_t row = 0; row < height; ++row) {
        estimate.motion.dx[row] = static_cast<float>(dx[row] - mean.x);
        estimate.motion.dy[row] = static_cast<float>(dy[row] - mean.y);
    }
    estimate.motion.motion = {before.alpha + alpha, before.tx + mean.x, before.ty + mean.y};
    const auto smooth_at = [&](std::size_t row) {
        const Eigen::Vector4d weights = spline.weights(static_cast<double>(row));
        const Eigen::Index first = spline.first(static_cast<double>(row));
        const double y = static_cast<double>(row) - middle.y;
        return Point{weights.dot(c.segment<4>(first)) + y * alpha,
                     weights.dot(c.segment<4>(n + first))};
    };
    const Point begin = smooth_at(0), end = smooth_at(height - 1);
    estimate.drift = end - begin;
    Eigen::MatrixXd of_rigid = Eigen::MatrixXd::Zero(3, unknowns);
    of_rigid(0, 2 * n) = prior.rotates ? 1 / arm : 0;
    of_rigid.row(1) = mean_x.transpose();
    of_rigid.row(2) = mean_y.transpose();
    Eigen::Matrix3d covariance = of_rigid * inverse * of_rigid.transpose();
    covariance(1, 1) += noise_of_mean / (rows * rows);
    estimate.uncertainty = uncertainty_with(entries_of(covariance.transpose()));
    return estimate;
}

RowEstimate ordered_rows(const RowEvidence& evidence, RowPrior prior, ImageShape shape) {
    constexpr float most = .9F; // pixels per row
    constexpr int most_rounds = 10;
    for (int round = 1;; ++round) {
        RowEstimate estimate = solve_rows(evidence, prior, shape);
        const std::vector<float>& dy = estimate.motion.dy;
        const auto next = std::ranges::adjacent_find(
            dy, [](float above, float below) { return !(std::abs(below - above) < most); });
        if (next == dy.end())
            return estimate;
        estimate.determined = estimate.determined && round < most_rounds;
        if (!estimate.determined) {
            std::ranges::fill(estimate.motion.dx, 0.F);
            std::ranges::fill(estimate.motion.dy, 0.F);
            return estimate;
        }
        prior.stiffness[1] *= 10;
    }
}

namespace {

constexpr double least_stiffness = 1e-2, most_stiffness = RowPrior::most_stiffness;

/// Sums of the members of RowEstimate over frames.
struct PriorSums {
    double count = 0, jitter_score = 0, jitter_information = 0, log_evidence = 0;
    std::array<double, 2> roughness{}, roughness_noise{};
};

PriorSums sums_of(std::span<const RowEvidence> frames, const RowPrior& prior, ImageShape shape) {
    PriorSums sums;
    for (const RowEvidence& frame : frames) {
        const RowEstimate estimate = solve_rows(frame, prior, shape);
        if (!estimate.determined)
            continue;
        ++sums.count;
        sums.jitter_score += estimate.jitter_score;
        sums.jitter_information += estimate.jitter_information;
        sums.log_evidence += estimate.log_evidence;
        for (std::size_t axis = 0; axis < 2; ++axis) {
            sums.roughness[axis] += estimate.roughness[axis];
            sums.roughness_noise[axis] += estimate.roughness_noise[axis];
        }
    }
    return sums;
}

/// Removes insignificant jitter and drift from a prior.
RowPrior without_noise(std::span<const RowEvidence> frames, RowPrior prior, ImageShape shape) {
    constexpr double least_deviations = 3, least_gain = 4; // least_gain: of the log evidence
    PriorSums sums = sums_of(frames, prior, shape);
    if (prior.jitter < least_deviations * std::sqrt(2 / sums.jitter_information)) {
        prior.jitter = 0;
        sums = sums_of(frames, prior, shape);
    }
    for (std::size_t axis = 0; axis < 2; ++axis) {
        RowPrior linear = prior;
        linear.stiffness[axis] = most_stiffness;
        const PriorSums other = sums_of(frames, linear, shape);
        if (sums.log_evidence < other.log_evidence + least_gain) {
            prior = linear;
            sums = other;
        }
    }
    return prior;
}

} // namespace

RowPrior estimate_prior(std::span<const RowEvidence> frames, RowPrior start, ImageShape shape) {
    constexpr int most_rounds = 20;
    constexpr double enough = .02, enough_stiffness = .2; // relative changes
    RowPrior prior = start;
    prior.jitter = std::max(prior.jitter, 1e-4);
    for (double& stiffness : prior.stiffness)
        stiffness = std::min(stiffness, 1e-3 * most_stiffness);
    for (int round = 0; round < most_rounds; ++round) {
        const PriorSums sums = sums_of(frames, prior, shape);
        if (sums.count == 0)
            return start;
        const double jitter =
            std::max(0., prior.jitter + sums.jitter_score / sums.jitter_information);
        bool changed = std::abs(std::sqrt(jitter) - std::sqrt(prior.jitter)) >
                       enough * std::max(enough, std::sqrt(jitter));
        prior.jitter = jitter;
        // Fellner-Schall update of the stiffness, which makes the roughness equal to its
        // expectation. Steps are doubled, because they are short if drifts are linear.
        const double parameters = sums.count * rough_parameters(shape.height);
        for (std::size_t axis = 0; axis < 2; ++axis) {
            double& stiffness = prior.stiffness[axis];
            const double freedom =
                std::max(1e-3 * parameters, parameters - stiffness * sums.roughness_noise[axis]);
            const double ratio = freedom / std::max(sums.roughness[axis], 1e-30) / stiffness;
            const double next =
                std::clamp(stiffness * ratio * ratio, least_stiffness, most_stiffness);
            changed |= std::abs(std::log(next / stiffness)) > enough_stiffness;
            stiffness = next;
        }
        if (!changed)
            break;
    }
    return without_noise(frames, prior, shape);
}

} // namespace sextant::registration
