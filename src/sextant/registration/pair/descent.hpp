// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/pair/motion.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include <Eigen/Dense>

// Code shared by the fits of motions: solving the equations of a step, the Gauss-Newton iteration,
// and the covariance of the parameters. Include this header only in .cpp files, because it includes
// Eigen.
namespace sextant::registration {

/// Solves H p = s for p, given the factorised H. Returns nothing if H is not positive definite, if
/// its reciprocal condition number is below `least_condition`, or if p is not finite.
template <class Matrix, class Vector>
std::optional<Vector> solved(const Eigen::LLT<Matrix>& factor, const Vector& s,
                             double least_condition = 0) {
    if (factor.info() != Eigen::Success ||
        (least_condition > 0 && factor.rcond() < least_condition))
        return std::nullopt;
    const Vector p = factor.solve(s);
    return p.allFinite() ? std::optional(p) : std::nullopt;
}

/// Returns the sandwich estimate H⁻¹VH⁻¹ of the covariance of parameters. H is the derivative of
/// the total score, given as a factorisation. V is the sum of the outer products of `count`
/// independent parts of the score, corrected for the number of fitted parameters.
/// Requires  a positive definite H.
/// Source    White, Econometrica 48, 1980, doi:10.2307/1912934
template <class Matrix>
Matrix covariance_of_fit(const Eigen::LLT<Matrix>& factor, const Matrix& scores, double count) {
    const auto fitted = static_cast<double>(scores.rows());
    const Matrix spread = scores * (count / std::max(1., count - fitted));
    const Matrix inverse = factor.solve(Matrix::Identity(scores.rows(), scores.cols()));
    return inverse * spread * inverse;
}

/// Returns the entries of a symmetric matrix, column by column.
inline std::array<double, 9> entries_of(const Eigen::Matrix3d& matrix) {
    std::array<double, 9> entries;
    Eigen::Map<Eigen::Matrix3d>(entries.data()) = matrix;
    return entries;
}

struct DescentLimits {
    int most_steps = 30;
    double stop = .002; ///< converged if the next step is expected to be shorter (RMS, pixels)
    double farthest = std::numeric_limits<double>::infinity(); ///< a longer step is the last one
};

/// The outcome of a descent.
struct Descent {
    int steps = 0;
    bool converged = false;
    /// True if `most_steps` were taken; the sums are then those at the result.
    bool exhausted = false;
};

/// Takes Gauss-Newton steps φ ← φ ∘ ψ⁻¹ from a motion until they converge. ψ is the small motion,
/// applied before φ, at which the score is expected to vanish.
///
/// Input     evaluate(motion) computes the sums at a motion, and returns false if they determine no
///           step. step() returns the step that follows from the last sums, or nothing. A step
///           states ψ and the expected length of the next step relative to this one (see
///           NewtonStep).
/// Output    the last motion. After convergence, the sums have not been evaluated at this motion.
/// Source    Baker and Matthews, IJCV 56, 2004, doi:10.1023/B:VISI.0000011205.11775.fd
template <class Motion, class Evaluate, class Step>
Descent descend(Motion& motion, ImageShape shape, const DescentLimits& limits,
                const Evaluate& evaluate, const Step& step) {
    Descent descent;
    for (;;) {
        if (!evaluate(motion))
            return descent;
        descent.exhausted = descent.steps == limits.most_steps;
        if (descent.exhausted)
            return descent;
        const auto next = step();
        if (!next)
            return descent;
        motion = compose(motion, inverse(next->motion));
        ++descent.steps;
        const double length = rms_distance(next->motion, Motion(), shape);
        descent.converged = next->left * length < limits.stop;
        if (descent.converged || length > limits.farthest)
            return descent;
    }
}

} // namespace sextant::registration
