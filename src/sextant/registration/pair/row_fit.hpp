// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/registration/pair/level.hpp"
#include "sextant/registration/pair/motion.hpp"
#include "sextant/registration/pair/row_template.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

namespace sextant::registration {

/// The sum of squared residuals over columns, each divided by its noise variance, and the number of
/// residuals.
struct ColumnErrors {
    float squares = 0, count = 0;
};

/// Returns the number of columns at the left edge that may be disturbed: an eighth of the width.
/// Their residuals are stored separately; the residuals of all other columns are added up.
inline std::size_t columns_at_edge(ImageShape shape) {
    return static_cast<std::size_t>(shape.width / 8);
}

/// Returns the number of disturbed columns at the left edge. A column is disturbed if its mean
/// squared residual exceeds that of the other columns by more than 8 % and four standard
/// deviations. The search ends after three consecutive columns that are not disturbed. Two more
/// columns are added, because the disturbance decreases gradually. Returns 0 if fewer than three
/// columns are disturbed.
///
/// Input  the residuals of columns_at_edge() columns, followed by the sum over all other columns.
std::int64_t disturbed_columns(std::span<const ColumnErrors> errors);

/// The model of row displacements: a smooth drift, which is a cubic spline along the frame, plus an
/// independent jitter to the right.
struct RowPrior {
    static constexpr double most_stiffness = 1e10; ///< drifts are linear

    double jitter = 1; ///< variance of the jitter, pixels²
    /// Weights of the squared second differences of the spline's coefficients, to the right and
    /// downward, 1/pixels². Drifts that are linear in time are not penalised.
    std::array<double, 2> stiffness{1e4, 1e4};
    bool rotates = true; ///< false if frames are known not to rotate

    /// True if rows neither jitter nor drift, except linearly in time.
    bool is_rigid() const {
        return jitter == 0 && stiffness == std::array{most_stiffness, most_stiffness};
    }
};

/// The normal equations of a row: θ = (dx, dy, α) minimises θᵀMθ/2 − zᵀθ, where (dx, dy) is the
/// displacement of the row and α the rotation of the frame in units of 1/arm.
struct RowSums {
    std::array<float, 6> m{}; ///< M: xx, xy, xα, yy, yα, αα
    std::array<float, 3> z{};
};

/// The information in a frame about the displacements of its rows, linearised near a motion φ.
/// Displacements are relative to φ; α is an increment.
struct RowEvidence {
    RigidMotion motion; ///< φ
    std::vector<RowSums> rows;
    std::vector<ColumnErrors> columns = {}; ///< residuals, as disturbed_columns() expects them

    static auto fields(auto& self) { return std::tie(self.motion, self.rows, self.columns); }
};

/// The motion of a frame's rows, with the statistics that estimate_prior() needs.
struct RowEstimate {
    RowMotion motion;
    RigidUncertainty uncertainty; ///< uncertainty of the rigid part
    double jitter = 0;            ///< RMS of the estimated jitter, pixels
    Point drift;                  ///< smooth drift from the first row to the last, pixels
    bool determined = false;      ///< false if the frame does not determine its motion

    /// Σ (e² − v)/v² and Σ 1/v² over the rows, where e is the displacement of a row relative to the
    /// spline, estimated without prior, and v is the expected e². These are twice the derivative of
    /// the log-likelihood with respect to the jitter's variance, and twice the Fisher information.
    double jitter_score = 0, jitter_information = 0;
    /// cᵀKc of the spline's coefficients, and its expectation under the posterior, for dx and dy.
    std::array<double, 2> roughness{}, roughness_noise{};
    /// The logarithm of the probability of the evidence under the prior, up to a constant that does
    /// not depend on the stiffness.
    double log_evidence = 0;
};

/// The number of spline parameters that affect the roughness.
double rough_parameters(Elements rows);

/// Estimates the displacements of the rows of a frame by comparison with a template.
///
/// The recorded samples T(x, y) of a row are compared with the template at φ⁻¹(x − dx, y − dy);
/// only the template is interpolated. Each row may have a constant brightness offset. The noise is
/// assumed to be independent with a variance that is linear in the brightness, as for electron
/// counts; both coefficients are estimated from the residuals. If the scores have a different
/// variance than this model implies, because adjacent residuals are correlated or the variance is
/// not linear, the information is scaled accordingly. The gradients of the template are scaled to
/// those of the frame, which corrects the effect of the template's noise.
///
/// Not thread-safe. The rows are divided among the team's threads.
/// Deterministic: the same bits on the same kind of processor, for any number of threads.
class RowFit {
  public:
    /// The team must outlive this object.
    explicit RowFit(ImageShape shape, Team* team = nullptr);

    /// Requires  a template and samples of this object's shape, with NaN in gaps; a motion with one
    ///           displacement per row.
    RowEvidence compare(const RowTemplate& reference, std::span<const float> samples,
                        const RowMotion& at);

  private:
    void sample(const RowTemplate& reference, std::span<const float> samples, const RowMotion& at);
    RowSums sums_of_row(Elements row, std::span<const float> samples, double middle,
                        std::span<ColumnErrors> columns);

    /// Sums over a row, for the frame's gain and noise.
    struct RowTotals {
        double count = 0, values = 0, samples = 0, squares = 0, products = 0;
        double slopes = 0, cross_slopes = 0;    ///< sums of differences along the row
        double errors = 0, error_products = 0;  ///< Σe², Σe²m
        std::array<double, 5> score_products{}; ///< Σ s(x) s(x + lag)
    };

    ImageShape shape_;
    Team* team_;
    std::vector<float> value_, slope_x_, slope_y_; ///< template at the frame's pixels
    std::vector<RowTotals> totals_;
    std::vector<ColumnErrors> column_errors_; ///< [band][column]
    double gain_ = 1, slope_gain_ = 1;        ///< gains of the frame relative to the template
    double noise_ = 1, noise_slope_ = 0;      ///< variance: noise_ + noise_slope_ · value
    double least_noise_ = 0;
};

/// Returns the maximum a posteriori displacements under a prior. Deterministic.
RowEstimate solve_rows(const RowEvidence& evidence, const RowPrior& prior, ImageShape shape);

/// The same, but if the displacements would change the order of rows, which happens where a frame
/// determines downward displacements poorly, the drift downward is smoothed further.
RowEstimate ordered_rows(const RowEvidence& evidence, RowPrior prior, ImageShape shape);

/// Returns the prior that maximises the evidence of some frames (empirical Bayes), starting from
/// `start`. Jitter and nonlinear drift are removed if they are not significant.
/// Deterministic; the order of the frames affects the last bits.
RowPrior estimate_prior(std::span<const RowEvidence> frames, RowPrior start, ImageShape shape);

} // namespace sextant::registration
