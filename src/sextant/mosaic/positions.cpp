// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/mosaic/positions.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <Eigen/Dense>
#include <Eigen/SparseCholesky>
#include <fmt/format.h>

namespace sextant::mosaic {

Symmetric Symmetric::inverse() const {
    const double d = determinant();
    return {yy / d, -xy / d, xx / d};
}

namespace {

using Matrix = Eigen::SparseMatrix<double>;
using Factors = Eigen::SimplicialLDLT<Matrix, Eigen::Lower, Eigen::AMDOrdering<int>>;

std::size_t at(int number) {
    return static_cast<std::size_t>(number);
}

/// The median of the length of a vector with two independent normal components of variance 1.
constexpr double median_of_rayleigh = 1.1774;

/// Groups of tiles that kept offsets connect.
std::vector<int> islands_of(std::size_t tiles, std::span<const Offset> offsets,
                            std::span<const double> weights, int& count) {
    std::vector<int> parent(tiles);
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](int tile) {
        while (parent[at(tile)] != tile)
            tile = parent[at(tile)] = parent[at(parent[at(tile)])];
        return tile;
    };
    for (std::size_t l = 0; l < offsets.size(); ++l) {
        const int a = root(offsets[l].a), b = root(offsets[l].b);
        if (weights[l] > 0)
            parent[at(std::max(a, b))] = std::min(a, b);
    }
    std::vector<int> number(tiles, -1), island(tiles);
    count = 0;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        int& known = number[at(root(static_cast<int>(tile)))];
        if (known < 0)
            known = count++;
        island[tile] = known;
    }
    return island;
}

/// The normal equations of positions, with the stage as a prior.
class Equations {
  public:
    Equations(std::span<const Point> stage, std::span<const Offset> offsets)
        : stage_(stage), offsets_(offsets) {
        for (const Offset& offset : offsets)
            information_.push_back(offset.covariance.inverse());
    }

    const Symmetric& information(std::size_t offset) const { return information_[offset]; }

    /// Solves with a weight per offset.
    std::vector<Point> solve(std::span<const double> weights, const StageMap& map, Point origin,
                             double stage_error) {
        const double prior = 1 / (stage_error * stage_error);
        const auto unknowns = static_cast<Eigen::Index>(2 * stage_.size());
        Eigen::VectorXd right(unknowns);
        std::vector<Eigen::Triplet<double>> entries;
        entries.reserve(2 * stage_.size() + 10 * offsets_.size());
        for (std::size_t i = 0; i < stage_.size(); ++i) {
            const Point expected = map(stage_[i]) + origin;
            const auto x = static_cast<int>(2 * i);
            entries.emplace_back(x, x, prior);
            entries.emplace_back(x + 1, x + 1, prior);
            right[x] = prior * expected.x;
            right[x + 1] = prior * expected.y;
        }
        for (std::size_t l = 0; l < offsets_.size(); ++l) {
            if (weights[l] > 0)
                add(entries, right, offsets_[l], information_[l], weights[l]);
        }
        Matrix normal(unknowns, unknowns);
        normal.setFromTriplets(entries.begin(), entries.end());
        factors_.compute(normal);
        if (factors_.info() != Eigen::Success)
            throw InvalidTask("the positions of the tiles cannot be solved: the covariances of "
                              "offsets differ by too large factors");
        const Eigen::VectorXd solution = factors_.solve(right);
        std::vector<Point> positions;
        for (Eigen::Index i = 0; i < unknowns; i += 2)
            positions.push_back({solution[i], solution[i + 1]});
        return positions;
    }

    const Factors& factors() const { return factors_; }

  private:
    static void add(std::vector<Eigen::Triplet<double>>& entries, Eigen::VectorXd& right,
                    const Offset& offset, const Symmetric& information, double weight) {
        const double xx = weight * information.xx, xy = weight * information.xy,
                     yy = weight * information.yy;
        const double x = xx * offset.offset.x + xy * offset.offset.y;
        const double y = xy * offset.offset.x + yy * offset.offset.y;
        const int a = 2 * offset.a, b = 2 * offset.b;
        for (const int tile : {a, b}) {
            entries.emplace_back(tile, tile, xx);
            entries.emplace_back(tile + 1, tile, xy);
            entries.emplace_back(tile + 1, tile + 1, yy);
            const double sign = tile == b ? 1 : -1;
            right[tile] += sign * x;
            right[tile + 1] += sign * y;
        }
        const int low = std::min(a, b), high = std::max(a, b); // only the lower triangle is read
        entries.emplace_back(high, low, -xx);
        entries.emplace_back(high + 1, low, -xy);
        entries.emplace_back(high, low + 1, -xy);
        entries.emplace_back(high + 1, low + 1, -yy);
    }

    std::span<const Point> stage_;
    std::span<const Offset> offsets_;
    std::vector<Symmetric> information_;
    Factors factors_;
};

/// The entries of the inverse of a matrix at the non-zero entries of its Cholesky factor. With
/// A = L D Lᵀ and Z = A⁻¹: Z = D⁻¹L⁻¹ + (I − Lᵀ)Z, from the last column to the first.
class SelectedInverse {
  public:
    explicit SelectedInverse(const Factors& factors)
        : lower_(factors.matrixL()), order_(factors.permutationP().indices()) {
        const Eigen::VectorXd diagonal = factors.vectorD();
        const auto size = static_cast<int>(diagonal.size());
        diagonal_.resize(at(size));
        inverse_.assign(static_cast<std::size_t>(lower_.nonZeros()), 0);
        std::vector<double> factor(at(size)), column(at(size));
        std::vector<int> mark(at(size), -1);
        const int* const starts = lower_.outerIndexPtr();
        const int* const rows = lower_.innerIndexPtr();
        const double* const values = lower_.valuePtr();
        for (int j = size - 1; j >= 0; --j) {
            const auto each = [&](int k, const auto& body) {
                for (int e = starts[k]; e < starts[k + 1]; ++e) {
                    if (rows[e] > k)
                        body(rows[e], e);
                }
            };
            each(j, [&](int row, int e) {
                mark[at(row)] = j, factor[at(row)] = values[e], column[at(row)] = 0;
            });
            each(j, [&](int k, int) {
                column[at(k)] -= factor[at(k)] * diagonal_[at(k)];
                each(k, [&](int row, int e) {
                    if (mark[at(row)] != j)
                        return;
                    column[at(row)] -= factor[at(k)] * inverse_[at(e)];
                    column[at(k)] -= factor[at(row)] * inverse_[at(e)];
                });
            });
            double own = 1 / diagonal[j];
            each(j, [&](int row, int e) {
                inverse_[at(e)] = column[at(row)];
                own -= factor[at(row)] * column[at(row)];
            });
            diagonal_[at(j)] = own;
        }
    }

    /// The entry of the inverse of the matrix that was factorised. Requires a non-zero entry of
    /// that matrix.
    double entry(int row, int column) const {
        int i = order_[row], j = order_[column];
        if (i == j)
            return diagonal_[at(i)];
        if (i < j)
            std::swap(i, j);
        const int* const begin = lower_.innerIndexPtr() + lower_.outerIndexPtr()[j];
        const int* const end = lower_.innerIndexPtr() + lower_.outerIndexPtr()[j + 1];
        const int* const found = std::lower_bound(begin, end, i);
        return found != end && *found == i
                   ? inverse_[static_cast<std::size_t>(found - lower_.innerIndexPtr())]
                   : 0;
    }

    /// The 2x2 block of two tiles, row by row.
    std::array<double, 4> block(int a, int b) const {
        return {entry(2 * a, 2 * b), entry(2 * a, 2 * b + 1), entry(2 * a + 1, 2 * b),
                entry(2 * a + 1, 2 * b + 1)};
    }

  private:
    Matrix lower_;
    Eigen::VectorXi order_;
    std::vector<double> diagonal_, inverse_; ///< inverse_: as the values of lower_
};

} // namespace

StageMap stage_map(std::span<const Point> stage, std::span<const Offset> offsets) {
    std::vector<Point> differences;
    Symmetric spread;
    for (const Offset& o : offsets) {
        const Point n = stage[at(o.b)] - stage[at(o.a)];
        differences.push_back(n);
        spread.xx += n.x * n.x, spread.xy += n.x * n.y, spread.yy += n.y * n.y;
    }
    constexpr std::size_t least = 3;
    if (offsets.size() < least || spread.xx + spread.yy <= 0)
        return {};
    constexpr double flat = 1e-3;
    const double trace = spread.xx + spread.yy;
    const bool both = spread.determinant() > flat * trace * trace;
    // Iteratively reweighted least squares: the weights 1/|r| minimise the sum of the |r|.
    std::vector<double> weights(offsets.size(), 1);
    StageMap map;
    constexpr int steps = 20;
    for (int step = 0; step < steps; ++step) {
        Symmetric s;
        double xx = 0, xy = 0, yx = 0, yy = 0;
        for (std::size_t l = 0; l < offsets.size(); ++l) {
            const Point n = differences[l], d = offsets[l].offset;
            const double w = weights[l];
            s.xx += w * n.x * n.x, s.xy += w * n.x * n.y, s.yy += w * n.y * n.y;
            xx += w * d.x * n.x, xy += w * d.x * n.y, yx += w * d.y * n.x, yy += w * d.y * n.y;
        }
        if (both) {
            const Symmetric i = s.inverse();
            map = {xx * i.xx + xy * i.xy, xx * i.xy + xy * i.yy, yx * i.xx + yy * i.xy,
                   yx * i.xy + yy * i.yy};
        } else {
            const double a = (xx + yy) / (s.xx + s.yy), c = (yx - xy) / (s.xx + s.yy);
            map = {a, -c, c, a};
        }
        for (std::size_t l = 0; l < offsets.size(); ++l) {
            constexpr double least_residual = .01;
            const Point r = offsets[l].offset - map(differences[l]);
            weights[l] = 1 / std::max(least_residual, std::hypot(r.x, r.y));
        }
    }
    return map;
}

namespace {

class Solution {
  public:
    Solution(std::span<const Point> stage, std::span<const Offset> offsets,
             const PositionOptions& options)
        : stage_(stage), offsets_(offsets), options_(options), equations_(stage, offsets) {
        result_.map = stage_map(stage, offsets);
        weights_.assign(offsets.size(), 1);
        result_.stage_error = options.stage_error > 0 ? options.stage_error : first_stage_error();
    }

    Positions solve() {
        // A scale at which no offset is an outlier, then smaller and smaller ones.
        update();
        double c = 0;
        for (std::size_t l = 0; l < offsets_.size(); ++l)
            c = std::max(c, deviation(l));
        constexpr double factor = .7;
        for (c = std::max(c, options_.most_deviation); c > options_.most_deviation;
             c = std::max(c * factor, options_.most_deviation)) {
            reweigh(c);
            update();
        }
        reweigh(options_.most_deviation);
        update();
        choose();
        fit_map();
        update();
        finish();
        return std::move(result_);
    }

  private:
    double first_stage_error() const {
        std::vector<double> lengths;
        for (const Offset& o : offsets_) {
            const Point r = o.offset - result_.map(stage_[at(o.b)] - stage_[at(o.a)]);
            lengths.push_back(std::hypot(r.x, r.y));
        }
        if (lengths.empty())
            return least_stage_error;
        return std::max(least_stage_error, median(lengths) / (median_of_rayleigh * std::sqrt(2.)));
    }

    void update() {
        result_.at = equations_.solve(weights_, result_.map, result_.origin, result_.stage_error);
    }

    Point residual(std::size_t l) const {
        const Offset& o = offsets_[l];
        return o.offset - (result_.at[at(o.b)] - result_.at[at(o.a)]);
    }
    /// The residual of an offset in standard deviations, of which two are allowed for two axes.
    double deviation(std::size_t l) const {
        return std::sqrt(equations_.information(l).of(residual(l)) / 2);
    }

    void reweigh(double c) {
        for (std::size_t l = 0; l < offsets_.size(); ++l) {
            const double r = deviation(l) / c, weight = 1 / (1 + r * r);
            weights_[l] = weight * weight;
        }
    }

    /// Fits the map from stage coordinates to positions within islands by least squares: over a
    /// long scan, the map that offsets between neighbours determine is off by many pixels.
    void fit_map() {
        int count = 0;
        const std::vector<int> island = islands_of(stage_.size(), offsets_, weights_, count);
        std::vector<Eigen::Vector4d> means(at(count), Eigen::Vector4d::Zero());
        std::vector<double> tiles(at(count), 0);
        const auto both = [&](std::size_t i) {
            return Eigen::Vector4d(stage_[i].x, stage_[i].y, result_.at[i].x, result_.at[i].y);
        };
        for (std::size_t i = 0; i < stage_.size(); ++i) {
            means[at(island[i])] += both(i);
            tiles[at(island[i])] += 1;
        }
        Eigen::Matrix4d products = Eigen::Matrix4d::Zero();
        for (std::size_t i = 0; i < stage_.size(); ++i) {
            const std::size_t own = at(island[i]);
            const Eigen::Vector4d centred = both(i) - means[own] / tiles[own];
            products += centred * centred.transpose();
        }
        const Eigen::Matrix2d spread = products.topLeftCorner<2, 2>();
        constexpr double flat = 1e-3, least = 8;
        if (static_cast<double>(stage_.size()) < least + count ||
            spread.determinant() < flat * spread.trace() * spread.trace())
            return;
        const Eigen::Matrix2d map = products.bottomLeftCorner<2, 2>() * spread.inverse();
        result_.map = {map(0, 0), map(0, 1), map(1, 0), map(1, 1)};
        result_.origin = {};
        const auto all = static_cast<double>(stage_.size());
        for (std::size_t i = 0; i < stage_.size(); ++i) {
            const Point rest = result_.at[i] - result_.map(stage_[i]);
            result_.origin = result_.origin + Point{rest.x / all, rest.y / all};
        }
    }

    /// Takes out offsets that deviate too much, and takes in those that agree after all.
    void choose() {
        constexpr int rounds = 8;
        std::vector<double> before;
        for (int round = 0; round < rounds && weights_ != before; ++round) {
            before = weights_;
            const double scale = std::max(1., scale_of_residuals());
            for (std::size_t l = 0; l < offsets_.size(); ++l)
                weights_[l] = deviation(l) > options_.most_deviation * scale ? 0 : 1;
            update();
        }
    }

    /// A robust scale of the residuals: 1 if the covariances are right.
    double scale_of_residuals() const {
        std::vector<double> deviations;
        for (std::size_t l = 0; l < offsets_.size(); ++l)
            deviations.push_back(deviation(l));
        if (deviations.empty())
            return 1;
        // √(χ²/2) of two degrees of freedom has the median √(ln 2).
        return median(deviations) / std::sqrt(std::log(2.));
    }

    void finish() {
        for (std::size_t l = 0; l < offsets_.size(); ++l) {
            result_.kept.push_back(weights_[l] > 0 ? 1 : 0);
            result_.deviation.push_back(deviation(l));
        }
        result_.island = islands_of(stage_.size(), offsets_, weights_, result_.islands);
        std::vector<double> errors;
        for (std::size_t i = 0; i < stage_.size(); ++i) {
            const Point r = result_.at[i] - (result_.map(stage_[i]) + result_.origin);
            errors.push_back(std::hypot(r.x, r.y));
        }
        if (options_.stage_error <= 0)
            result_.stage_error = std::max(least_stage_error, median(errors) / median_of_rayleigh);
        covariances();
    }

    void covariances() {
        const SelectedInverse inverse(equations_.factors());
        double chi = 0, freedom = 0;
        for (std::size_t l = 0; l < offsets_.size(); ++l) {
            const Offset& o = offsets_[l];
            if (result_.kept[l] == 0) {
                result_.redundancy.push_back(1); // the others contradict it
                continue;
            }
            // Of p_b − p_a: the part of the offset's own variance that the solution still has.
            const auto aa = inverse.block(o.a, o.a), bb = inverse.block(o.b, o.b),
                       ab = inverse.block(o.a, o.b);
            const Symmetric& w = equations_.information(l);
            const double part = w.xx * (aa[0] + bb[0] - 2 * ab[0]) +
                                w.xy * (2 * aa[1] + 2 * bb[1] - 2 * ab[1] - 2 * ab[2]) +
                                w.yy * (aa[3] + bb[3] - 2 * ab[3]);
            result_.redundancy.push_back(std::clamp(1 - part / 2, 0., 1.));
            chi += 2 * result_.deviation[l] * result_.deviation[l];
            freedom += 2 * result_.redundancy.back();
        }
        constexpr double least_freedom = 8;
        result_.scale = freedom > least_freedom ? std::sqrt(chi / freedom) : 1;
        relative_to_islands(inverse);
    }

    /// The covariance of p − (mean of its island): Σ_ii − (2/m)(Σ1)_i + 1ᵀΣ1/m².
    void relative_to_islands(const SelectedInverse& inverse) {
        const auto unknowns = static_cast<Eigen::Index>(2 * stage_.size());
        Eigen::MatrixXd ones = Eigen::MatrixXd::Zero(unknowns, 2);
        for (Eigen::Index i = 0; i < unknowns; ++i)
            ones(i, i % 2) = 1;
        const Eigen::MatrixXd sums = equations_.factors().solve(ones);
        std::vector<Symmetric> of_island(at(result_.islands));
        std::vector<double> tiles(at(result_.islands), 0);
        for (std::size_t i = 0; i < stage_.size(); ++i) {
            const auto x = static_cast<Eigen::Index>(2 * i);
            Symmetric& all = of_island[at(result_.island[i])];
            all.xx += sums(x, 0), all.xy += sums(x, 1), all.yy += sums(x + 1, 1);
            tiles[at(result_.island[i])] += 1;
        }
        const double variance = result_.scale * result_.scale;
        for (std::size_t i = 0; i < stage_.size(); ++i) {
            const auto x = static_cast<Eigen::Index>(2 * i);
            const auto own = inverse.block(static_cast<int>(i), static_cast<int>(i));
            const double m = tiles[at(result_.island[i])];
            const Symmetric& all = of_island[at(result_.island[i])];
            const double cross = (sums(x, 1) + sums(x + 1, 0)) / 2;
            const auto relative = [&](double self, double with_all, double of_all) {
                return variance * (self - 2 / m * with_all + of_all / (m * m));
            };
            Symmetric result{relative(own[0], sums(x, 0), all.xx), relative(own[1], cross, all.xy),
                             relative(own[3], sums(x + 1, 1), all.yy)};
            if (m < 2) // only the stage tells where the tile is
                result = {result_.stage_error * result_.stage_error, 0,
                          result_.stage_error * result_.stage_error};
            result_.covariance.push_back(result);
        }
    }

    static constexpr double least_stage_error = .5;

    std::span<const Point> stage_;
    std::span<const Offset> offsets_;
    const PositionOptions options_;
    Equations equations_;
    std::vector<double> weights_;
    Positions result_;
};

} // namespace

Positions solve_positions(std::span<const Point> stage, std::span<const Offset> offsets,
                          const PositionOptions& options) {
    const auto tiles = static_cast<int>(stage.size());
    for (const Offset& o : offsets) {
        const bool exists = o.a >= 0 && o.b >= 0 && o.a < tiles && o.b < tiles && o.a != o.b;
        if (!exists || !(o.covariance.xx > 0) || !(o.covariance.determinant() > 0))
            throw InvalidTask(fmt::format(
                "offset between tiles {} and {}: expected two different tiles of {}, and a "
                "positive covariance",
                o.a, o.b, tiles));
    }
    if (stage.empty())
        return {};
    return Solution(stage, offsets, options).solve();
}

std::vector<double> solve_levels(std::size_t tiles, std::span<const LevelRatio> ratios) {
    double weights = 0;
    for (const LevelRatio& r : ratios) {
        const bool exists =
            r.a >= 0 && r.b >= 0 && at(r.a) < tiles && at(r.b) < tiles && r.a != r.b;
        if (!exists || !(r.ratio > 0) || !(r.weight > 0) || !std::isfinite(r.ratio * r.weight))
            throw InvalidTask(
                fmt::format("a ratio of levels {:g} with weight {:g} between tiles {} "
                            "and {}: expected positive numbers and two different "
                            "tiles of {}",
                            r.ratio, r.weight, r.a, r.b, tiles));
        weights += r.weight;
    }
    std::vector<double> levels(tiles, 1);
    if (ratios.empty())
        return levels;
    // A small pull to 0 makes the mean of each group 0, and single tiles solvable.
    constexpr double pull = 1e-6;
    const auto unknowns = static_cast<Eigen::Index>(tiles);
    std::vector<Eigen::Triplet<double>> entries;
    Eigen::VectorXd right = Eigen::VectorXd::Zero(unknowns);
    for (int i = 0; i < static_cast<int>(tiles); ++i)
        entries.emplace_back(i, i, pull * weights / static_cast<double>(ratios.size()));
    for (const LevelRatio& r : ratios) {
        entries.emplace_back(r.a, r.a, r.weight);
        entries.emplace_back(r.b, r.b, r.weight);
        entries.emplace_back(std::max(r.a, r.b), std::min(r.a, r.b), -r.weight);
        right[r.b] += r.weight * std::log(r.ratio);
        right[r.a] -= r.weight * std::log(r.ratio);
    }
    Matrix normal(unknowns, unknowns);
    normal.setFromTriplets(entries.begin(), entries.end());
    const Eigen::VectorXd solution = Factors(normal).solve(right);
    for (std::size_t i = 0; i < tiles; ++i)
        levels[i] = std::exp(solution[static_cast<Eigen::Index>(i)]);
    return levels;
}

} // namespace sextant::mosaic
