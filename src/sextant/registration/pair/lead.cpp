// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair/lead.hpp"

#include "sextant/registration/pair/partition.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace sextant::registration {

namespace {

/// Mean and standard deviation.
struct Spread {
    double mean = 0, deviation = 0;
};

Spread spread_of(double count, double sum, double squares) {
    const double mean = sum / count, variance = squares / count - mean * mean;
    constexpr double none = 1e-12; // smaller variances count as 0; usual variances are about 1
    return {mean, variance > none ? std::sqrt(variance) : 0};
}

} // namespace

double normal_deviate(double t, double freedom) {
    const double size = std::sqrt(freedom * std::log1p(t * t / freedom));
    return std::copysign((8 * freedom + 1) / (8 * freedom + 3) * size, t);
}

LeadMeter::TileSums& LeadMeter::TileSums::operator+=(const TileSums& other) {
    count += other.count;
    r += other.r;
    rr += other.rr;
    best += other.best;
    rival += other.rival;
    best_best += other.best_best;
    rival_rival += other.rival_rival;
    r_best += other.r_best;
    r_rival += other.r_rival;
    best_rival += other.best_rival;
    return *this;
}

LeadMeter::LeadMeter(ImageShape shape, Team* team, Elements tile_side)
    : shape_(shape),
      team_(team),
      tile_side_(tile_side),
      best_(shape),
      rival_(shape),
      tiles_(static_cast<std::size_t>(Tiling{shape, tile_side}.tiles().elements())) {}

void LeadMeter::set(const Images& images, const RigidMotion& motion) {
    images_ = images;
    warp(motion, images.inverted, best_);
}

void LeadMeter::warp(const RigidMotion& motion, bool inverted, kernel::FloatPlane& to) {
    constexpr float unknown = std::numeric_limits<float>::quiet_NaN();
    const Bands bands(shape_.height);
    run_parts(team_, bands.count(), [&](int band, int) {
        kernel::warp_rows(images_.moved, map_of(motion, images_.centre), unknown, shape_,
                          bands.first(band), bands.first(band + 1), to.plane());
        for (Elements y = bands.first(band); inverted && y < bands.first(band + 1); ++y)
            std::transform(to.row(y), to.row(y) + shape_.width, to.row(y), std::negate());
    });
}

LeadMeter::TileSums LeadMeter::sums_of(const Tile& tile, const kernel::FloatPlane& compared) const {
    TileSums sums;
    for (Elements y = tile.y; y < tile.y + tile.height; ++y) {
        const float* const row = images_.reference.row(y);
        const float *const best = best_.image().row(y), *const rival = compared.image().row(y);
        TileSums of_row;
        for (Elements x = tile.x; x < tile.x + tile.width; ++x) {
            const auto r = static_cast<double>(row[x]), b = static_cast<double>(best[x]),
                       c = static_cast<double>(rival[x]);
            if (std::isnan(r + b + c))
                continue;
            of_row += {1, r, b, c, r * r, b * b, c * c, r * b, r * c, b * c};
        }
        sums += of_row;
    }
    return sums;
}

/// Computes the sums of each tile in tiles_. Returns the total over all tiles.
LeadMeter::TileSums LeadMeter::sum_tiles(const kernel::FloatPlane& rival) {
    const Tiling tiling{shape_, tile_side_};
    const ImageShape tiles = tiling.tiles();
    run_parts(team_, static_cast<int>(tiles.height), [&](int row, int) {
        for (Elements column = 0; column < tiles.width; ++column)
            tiles_[static_cast<std::size_t>(row * tiles.width + column)] =
                sums_of(tiling.at(column, row), rival);
    });
    TileSums all;
    for (const TileSums& tile : tiles_)
        all += tile;
    return all;
}

/// Returns the total evidence divided by its standard deviation, as a normal deviate. If the motion
/// is right, a tile's evidence is proportional to its weight plus noise; the noise gives the
/// standard deviation.
template <class PartOf>
double LeadMeter::deviate(const TileSums& all, const PartOf& part_of) const {
    const Part whole = part_of(all);
    if (!(whole.weight > 0))
        return 0;
    double squares = 0, weights = 0;
    for (const TileSums& tile : tiles_) {
        const Part part = part_of(tile);
        const double share = part.weight / whole.weight;
        const double noise = (part.evidence - share * whole.evidence) / std::max(1e-3, 1 - share);
        squares += noise * noise;
        weights += share * share;
    }
    return squares > 0 ? normal_deviate(whole.evidence / std::sqrt(squares), 1 / weights) : 0;
}

double LeadMeter::over_nothing() {
    const TileSums all = sum_tiles(best_);
    if (!(all.count > 0))
        return 0;
    const Spread r = spread_of(all.count, all.r, all.rr);
    const Spread best = spread_of(all.count, all.best, all.best_best);
    if (!(r.deviation > 0 && best.deviation > 0))
        return 0;
    const auto covariance = [&](const TileSums& sums) {
        return sums.r_best - r.mean * sums.best - best.mean * sums.r +
               sums.count * r.mean * best.mean;
    };
    const auto variance = [&](const TileSums& sums) {
        return sums.best_best - 2 * best.mean * sums.best + sums.count * best.mean * best.mean;
    };
    return deviate(all, [&](const TileSums& sums) {
        return Part{covariance(sums), variance(sums)};
    });
}

double LeadMeter::over(const RigidMotion& rival, bool inverted) {
    warp(rival, inverted, rival_);
    const TileSums all = sum_tiles(rival_);
    const auto seen = std::count_if(tiles_.begin(), tiles_.end(),
                                    [](const TileSums& tile) { return tile.count > 0; });
    if (seen < least_tiles)
        return std::numeric_limits<double>::infinity();
    const Spread r = spread_of(all.count, all.r, all.rr);
    const Spread best = spread_of(all.count, all.best, all.best_best);
    const Spread other = spread_of(all.count, all.rival, all.rival_rival);
    if (!(r.deviation > 0 && best.deviation > 0 && other.deviation > 0))
        return 0;
    const auto product = [&](double ab, double a, double b, const Spread& of_a, const Spread& of_b,
                             double count) {
        return (ab - of_a.mean * b - of_b.mean * a + count * of_a.mean * of_b.mean) /
               (of_a.deviation * of_b.deviation);
    };
    const double ncc = product(all.r_best, all.r, all.best, r, best, all.count) / all.count;
    // Let r, b and c be the samples of R, T∘φ and T∘ψ, normalised to mean 0 and variance 1. The
    // difference of the NCCs of φ and ψ is the mean of (b − c)(r − ncc (b + c)/2). Contributions
    // common to T∘φ and T∘ψ cancel in b − c. If φ is right, each term is ncc (b − c)²/2 plus noise.
    const auto part_of = [&](const TileSums& sums) -> Part {
        const double rb = product(sums.r_best, sums.r, sums.best, r, best, sums.count);
        const double rc = product(sums.r_rival, sums.r, sums.rival, r, other, sums.count);
        const double bb = product(sums.best_best, sums.best, sums.best, best, best, sums.count);
        const double cc =
            product(sums.rival_rival, sums.rival, sums.rival, other, other, sums.count);
        const double bc = product(sums.best_rival, sums.best, sums.rival, best, other, sums.count);
        return {rb - rc - ncc * (bb - cc) / 2, std::max(0., bb + cc - 2 * bc)};
    };
    return deviate(all, part_of);
}

} // namespace sextant::registration
