// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/pair/motion.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include <Eigen/Dense>

// The parts that fits of motions share: the solution of the equations of a step, the sequence of
// steps, and the covariance of the parameters. Only sources include this header, because of Eigen.
namespace sextant::registration {

/// Returns p of H p = s for a factored H; none if H is not positive definite, if its reciprocal
/// condition number is below `least_condition`, or if p is not finite.
template <class Matrix, class Vector>
std::optional<Vector> solved(const Eigen::LLT<Matrix>& factor, const Vector& s,
                             double least_condition = 0) {
    if (factor.info() != Eigen::Success ||
        (least_condition > 0 && factor.rcond() < least_condition))
        return std::nullopt;
    const Vector p = factor.solve(s);
    return p.allFinite() ? std::optional(p) : std::nullopt;
}

/// Returns the sandwich estimate H⁻¹VH⁻¹ of the covariance of parameters: H, which is factored, is
/// the derivative of the total score, and V the sum of the outer products of `count` independent
/// parts of it, corrected for the parameters that were fitted to them.
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

/// The end of a descent.
struct Descent {
    int steps = 0;
    bool converged = false;
    bool exhausted = false; ///< ended after `most_steps`, with an evaluation at the result
};

/// Takes Gauss-Newton steps from a motion until they converge: φ ← φ ∘ ψ⁻¹, where ψ is the small
/// motion before φ at which the score is expected to vanish.
///
/// Input     evaluate(motion) computes the sums at a motion, and returns false if these determine
///           no step; step() returns the step that follows from the last sums, or none: ψ, and the
///           expected length of the next step relative to this one (as NewtonStep).
/// Output    the last motion. After convergence, no sums have been computed at it.
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
