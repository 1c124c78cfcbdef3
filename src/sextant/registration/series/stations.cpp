// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series/stations.hpp"

#include "sextant/registration/pair/pyramid.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include <Eigen/Dense>

namespace sextant::registration {

namespace {

using Matrix3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

Matrix3 matrix_of(const RigidCovariance& covariance) {
    return Eigen::Map<const Matrix3>(covariance.data());
}

RigidCovariance covariance_of(const Matrix3& matrix) {
    RigidCovariance covariance;
    Eigen::Map<Matrix3>(covariance.data()) = matrix;
    return covariance;
}

/// Returns R(α)v.
Point rotated(double alpha, Point v) {
    const double cosine = std::cos(alpha), sine = std::sin(alpha);
    return {cosine * v.x - sine * v.y, sine * v.x + cosine * v.y};
}

/// Returns the derivative of R(α)v with respect to α.
Point rotated_further(double alpha, Point v) {
    const Point at = rotated(alpha, v);
    return {-at.y, at.x};
}

/// Returns the Jacobian of (α, t) → (sign · α, sign · R(turn)t + α · by_alpha).
Matrix3 jacobian(double sign, double turn, Point by_alpha) {
    const Point x = rotated(turn, {sign, 0}), y = rotated(turn, {0, sign});
    Matrix3 j;
    j << sign, 0, 0, by_alpha.x, x.x, y.x, by_alpha.y, x.y, y.y;
    return j;
}

Point middle(const RigidMotion& motion, ImageShape shape) {
    const Point c = centre(shape);
    return apply(inverse(motion), c, c);
}

/// Returns the overlap of two frames whose motions are relative to a common frame.
double overlap_of(const RigidMotion& one, const RigidMotion& other, ImageShape shape) {
    const double diagonal =
        std::hypot(static_cast<double>(shape.width), static_cast<double>(shape.height));
    const RigidMotion between = compose(other, inverse(one));
    if (std::hypot(between.tx, between.ty) >= diagonal)
        return 0;
    return predicted_overlap(between, shape);
}

} // namespace

UncertainMotion compose(const UncertainMotion& outer, const UncertainMotion& inner) {
    const double alpha = outer.motion.alpha;
    const Matrix3 by_outer =
        jacobian(1, 0, rotated_further(alpha, {inner.motion.tx, inner.motion.ty}));
    const Matrix3 by_inner = jacobian(1, alpha, {});
    const Matrix3 covariance = by_outer * matrix_of(outer.covariance) * by_outer.transpose() +
                               by_inner * matrix_of(inner.covariance) * by_inner.transpose();
    return {compose(outer.motion, inner.motion), covariance_of(covariance)};
}

UncertainMotion inverse(const UncertainMotion& one) {
    const RigidMotion& motion = one.motion;
    const Matrix3 j =
        jacobian(-1, -motion.alpha, rotated_further(-motion.alpha, {motion.tx, motion.ty}));
    return {inverse(motion), covariance_of(j * matrix_of(one.covariance) * j.transpose())};
}

std::vector<std::size_t> bases_of(std::span<const RigidMotion> motions, ImageShape shape) {
    std::vector<std::size_t> bases;
    std::size_t base = 0;
    for (std::size_t i = 0; i < motions.size(); ++i) {
        if (i > 0 && overlap_of(motions[base], motions[i], shape) < direct_overlap)
            base = i - 1;
        bases.push_back(base);
    }
    return bases;
}

namespace {

/// Returns the corners of the convex hull of points. Source: Andrew, Inf. Process. Lett. 9, 1979,
/// doi:10.1016/0020-0190(79)90072-3
std::vector<Point> hull_of(std::vector<Point> points) {
    std::ranges::sort(points, [](Point a, Point b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
    std::vector<Point> hull;
    const auto add = [&](std::size_t kept, Point p) {
        const auto turns_left = [&] {
            const Point a = hull[hull.size() - 2], b = hull.back();
            return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x) > 0;
        };
        while (hull.size() > kept && !turns_left())
            hull.pop_back();
        hull.push_back(p);
    };
    for (const Point p : points)
        add(1, p);
    const std::size_t lower = hull.size();
    for (auto p = points.rbegin(); p != points.rend(); ++p)
        add(lower, *p);
    return hull;
}

} // namespace

std::size_t middle_of(std::span<const RigidMotion> motions, ImageShape shape) {
    std::vector<Point> centres;
    for (const RigidMotion& motion : motions)
        centres.push_back(middle(motion, shape));
    const std::vector<Point> corners = hull_of(centres);
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < centres.size(); ++i) {
        double farthest = 0;
        for (const Point corner : corners)
            farthest = std::max(farthest, distance(centres[i], corner));
        if (farthest < least) {
            least = farthest;
            best = i;
        }
    }
    return best;
}

Stations choose_stations(std::span<const RigidMotion> motions,
                         std::span<const std::uint8_t> may_be_station, std::size_t from,
                         ImageShape shape) {
    Stations stations;
    std::vector<double> most(motions.size(), -1); // overlap with the nearest station
    stations.nearest.resize(motions.size());
    const auto add = [&](std::size_t station) {
        for (std::size_t i = 0; i < motions.size(); ++i) {
            const double overlap = overlap_of(motions[station], motions[i], shape);
            if (overlap > most[i]) {
                most[i] = overlap;
                stations.nearest[i] = stations.frames.size();
            }
        }
        stations.frames.push_back(station);
    };
    const auto consider = [&](std::size_t i) {
        if (i < motions.size() && may_be_station[i] != 0 && most[i] < station_overlap)
            add(i);
    };
    consider(from);
    for (std::size_t away = 1; away < motions.size(); ++away) {
        consider(from + away);
        if (away <= from)
            consider(from - away);
    }
    return stations;
}

Elements window_grid(ImageShape shape) {
    return Elements{1} << (default_levels(shape) - 1);
}

PixelArea window_of(const RigidMotion& motion, ImageShape shape, Elements grid) {
    const Point at = middle(motion, shape), c = centre(shape);
    const auto rounded = [grid](double offset) {
        return grid * static_cast<std::int64_t>(std::round(offset / static_cast<double>(grid)));
    };
    return {rounded(at.x - c.x), rounded(at.y - c.y), shape};
}

namespace {

Point first_of(const PixelArea& window) {
    return {static_cast<double>(window.x), static_cast<double>(window.y)};
}

} // namespace

RigidMotion in_window(const RigidMotion& motion, const PixelArea& window) {
    const Point by = rotated(motion.alpha, first_of(window));
    return {motion.alpha, motion.tx + by.x, motion.ty + by.y};
}

AffineMotion in_window(AffineMotion motion, const PixelArea& window) {
    const Point at = first_of(window);
    motion.tx += motion.a * at.x + motion.b * at.y;
    motion.ty += motion.c * at.x + motion.d * at.y;
    return motion;
}

RigidMotion from_window(const RigidMotion& motion, const PixelArea& window) {
    return in_window(motion, {-window.x, -window.y, window.shape});
}

AffineMotion from_window(const AffineMotion& motion, const PixelArea& window) {
    return in_window(motion, {-window.x, -window.y, window.shape});
}

FamilyResult from_window(FamilyResult result, const PixelArea& window) {
    if (window.x == 0 && window.y == 0)
        return result;
    // A small motion about the centre of the window, t + A(x − c − w), equals t − Aw + A(x − c).
    constexpr auto size = static_cast<Eigen::Index>(affine_parameters);
    using Matrix = Eigen::Matrix<double, size, size, Eigen::RowMajor>;
    const Point w = first_of(window);
    Matrix j = Matrix::Identity();
    // Columns: the translation, α, λ, γ₁ and γ₂ (family_fit.hpp).
    j.row(0).tail<4>() << w.y, -w.x, -w.x, -w.y;
    j.row(1).tail<4>() << -w.x, -w.y, w.y, -w.x;
    Eigen::Map<Matrix> covariance(result.covariance.data());
    covariance = (j * covariance * j.transpose()).eval();
    result.motion = from_window(result.motion, window);
    return result;
}

RigidResult from_window(RigidResult result, const PixelArea& window) {
    if (window.x == 0 && window.y == 0)
        return result;
    const Point by_alpha = rotated_further(result.motion.alpha, first_of(window));
    const Matrix3 j = jacobian(1, 0, {-by_alpha.x, -by_alpha.y});
    result.uncertainty = uncertainty_with(
        covariance_of(j * matrix_of(result.uncertainty.covariance) * j.transpose()));
    result.motion = from_window(result.motion, window);
    return result;
}

RigidUncertainty uncertainty_of_centre(const RigidResult& result, ImageShape shape) {
    if (predicted_overlap(result.motion, shape) >= direct_overlap)
        return result.uncertainty;
    const Point at = middle(result.motion, shape), c = centre(shape);
    const Point by_alpha = rotated_further(result.motion.alpha, {at.x - c.x, at.y - c.y});
    const Matrix3 j = jacobian(1, 0, by_alpha);
    return uncertainty_with(
        covariance_of(j * matrix_of(result.uncertainty.covariance) * j.transpose()));
}

namespace {

/// Returns the Gram matrix of the displacements that α, tx and ty cause, averaged over a window.
Matrix3 gram_of(const PixelArea& window) {
    const auto x = static_cast<double>(window.x), y = static_cast<double>(window.y);
    const auto variance = [](std::int64_t size) {
        const auto length = static_cast<double>(size);
        return length * length / 12;
    };
    Matrix3 gram;
    gram << x * x + y * y + variance(window.shape.width) + variance(window.shape.height), -y, x, -y,
        1, 0, x, 0, 1;
    return gram;
}

Eigen::Vector3d vector_of(const RigidMotion& motion) {
    return {motion.alpha, motion.tx, motion.ty};
}

} // namespace

std::vector<UncertainMotion> correct_stations(std::span<const PixelArea> windows,
                                              std::span<const double> frames,
                                              std::span<const StationLink> links) {
    const auto count = static_cast<Eigen::Index>(windows.size());
    constexpr Eigen::Index of_one = 3;
    const Eigen::Index size = of_one * count;
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(size, size);
    Eigen::VectorXd right = Eigen::VectorXd::Zero(size);
    for (const StationLink& link : links) {
        const Matrix3 weight = matrix_of(link.displaced.covariance).inverse();
        const Eigen::Vector3d pull = weight * vector_of(link.displaced.motion);
        const auto from = of_one * static_cast<Eigen::Index>(link.from);
        const auto to = of_one * static_cast<Eigen::Index>(link.to);
        matrix.block<3, 3>(from, from) += weight;
        matrix.block<3, 3>(to, to) += weight;
        matrix.block<3, 3>(from, to) -= weight;
        matrix.block<3, 3>(to, from) -= weight;
        right.segment<3>(from) -= pull;
        right.segment<3>(to) += pull;
    }
    // The first station is held fixed; the common motion is removed afterwards.
    const Eigen::Index rest = size - of_one;
    const Eigen::LDLT<Eigen::MatrixXd> solver(matrix.bottomRightCorner(rest, rest));
    if (rest > 0 && (solver.info() != Eigen::Success || !solver.isPositive() ||
                     solver.vectorD().minCoeff() <= 0))
        throw std::logic_error("the links do not connect all stations");
    Eigen::VectorXd solution = Eigen::VectorXd::Zero(size);
    Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(size, size);
    if (rest > 0) {
        solution.tail(rest) = solver.solve(right.tail(rest));
        covariance.bottomRightCorner(rest, rest) =
            solver.solve(Eigen::MatrixXd::Identity(rest, rest));
    }
    Matrix3 all = Matrix3::Zero();
    Eigen::MatrixXd weights(of_one, size); // maps the stations' motions to the common motion
    for (Eigen::Index i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        weights.block<3, 3>(0, of_one * i) = frames[at] * gram_of(windows[at]);
        all += frames[at] * gram_of(windows[at]);
    }
    weights = all.inverse() * weights;
    const Eigen::Vector3d common = weights * solution;
    const Eigen::MatrixXd with_common = covariance * weights.transpose(); // size × 3
    const Eigen::Matrix3d of_common = weights * with_common;
    std::vector<UncertainMotion> corrections;
    for (Eigen::Index i = 0; i < count; ++i) {
        const Eigen::Vector3d one = solution.segment<3>(of_one * i) - common;
        const Eigen::Matrix3d cross = with_common.block<3, 3>(of_one * i, 0);
        const Matrix3 own =
            covariance.block<3, 3>(of_one * i, of_one * i) - cross - cross.transpose() + of_common;
        corrections.push_back({{one[0], one[1], one[2]}, covariance_of(own)});
    }
    return corrections;
}

} // namespace sextant::registration
