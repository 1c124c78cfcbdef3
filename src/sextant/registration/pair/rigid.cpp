// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair/rigid.hpp"

#include "sextant/core/error.hpp"
#include "sextant/registration/pair/correlation.hpp"
#include "sextant/registration/pair/descent.hpp"
#include "sextant/registration/pair/lead.hpp"
#include "sextant/registration/pair/level.hpp"
#include "sextant/registration/pair/pyramid.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// Returns the side of the tiles of LeadMeter: smaller in frames that have few of the usual tiles.
Elements lead_tile_side(ImageShape shape) {
    return std::min(shape.width, shape.height) <= 32 ? 4 : LeadMeter::usual_tile_side;
}

constexpr std::size_t followed = 3; ///< number of fits that are continued after the first steps
/// If the lead of the best fit is smaller than this, more fits are compared on a finer level.
constexpr double clear_lead = 4;
/// Returns the largest LeadMeter::over_nothing() among the motions between unrelated images. Small
/// frames have fewer motions.
double lead_of_unrelated(ImageShape shape) {
    return std::min(shape.width, shape.height) <= 32 ? 2.75 : 4;
}
/// Fits that end closer together than this, in pixels of the coarsest level, count as one fit.
constexpr double distinct_fits = 2;

/// Returns the σ of the filter of a level's images, in pixels of that level. Each level halves the
/// one before, smoothed by a Gaussian of σ = 1.
double prefilter_at(int level, double prefilter) {
    for (int k = 0; k < level; ++k)
        prefilter = std::hypot(prefilter, 1) / 2;
    return prefilter;
}

/// Returns the row step on the finest level.
Elements row_step_of(double prefilter) {
    return prefilter >= usual_prefilter ? 2 : 1;
}

bool more_alike(const Fit& fit, const Fit& other) {
    return fit.ncc > other.ncc;
}

ImageShape shape_of_level(ImageShape shape, int level) {
    for (int k = 0; k < level; ++k)
        shape = kernel::halved(shape);
    return shape;
}

Images as_inverted(Images images, bool inverted) {
    images.inverted = inverted;
    return images;
}

RigidMotion scaled(const RigidMotion& motion, double factor) {
    return {motion.alpha, motion.tx * factor, motion.ty * factor};
}

/// Converts a result in pixels of a level to pixels that are smaller by `unit`.
RigidResult scaled(RigidResult result, double unit) {
    result.motion = scaled(result.motion, unit);
    auto& covariance = result.uncertainty.covariance;
    for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t column = 0; column < 3; ++column)
            covariance[3 * row + column] *= (row > 0 ? unit : 1) * (column > 0 ? unit : 1);
    }
    result.uncertainty = uncertainty_with(covariance);
    for (TileCovariance* tiles : {&result.misfit.smooth, &result.misfit.rows, &result.misfit.down})
        tiles->slopes /= static_cast<float>(unit * unit);
    return result;
}

} // namespace

/// The implementation of RigidRegistration, which forwards each call to the function of the same
/// name.
class RigidRun {
  public:
    RigidRun(ImageShape shape, int levels, const RigidOptions& options, Team* team, int finest);

    RigidResult align(const Pyramid& reference, const Pyramid& moved, double farthest);
    RigidResult locate(const Pyramid& reference, const Pyramid& moved, double farthest);
    RigidResult refine(const Pyramid& reference, const Pyramid& moved, const RigidMotion& start);

    /// Returns the largest shift that is searched between two frames, `distance` frames apart.
    double farthest(std::int64_t distance) const {
        return options_.most_shift ? *options_.most_shift * static_cast<double>(distance)
                                   : std::numeric_limits<double>::infinity();
    }

  private:
    struct Start {
        Fit fit;
        int level = 0; ///< level at which `fit` ended
        std::optional<double> lead;
        int iterations = 0;
    };

    /// Returns the row step on the finest level where only an NCC is needed.
    Elements rough_row_step() const { return finest_ == 0 ? 4 : 2; }

    void check(const Pyramid& pyramid) const;
    void find_starts(const Images& coarsest, double farthest, int angles);
    bool search_at(const Images& coarsest, double farthest, int angles, Start& start);
    std::size_t most_rivals() const;
    Start search(const Pyramid& reference, const Pyramid& moved, double farthest);
    void fit_all(const Images& coarsest, std::size_t first, std::size_t last, int steps,
                 double stop, Start& start);
    void sort_out(ImageShape coarsest);
    void choose(const Images& images, std::size_t count, double apart, LeadMeter& meter,
                Start& start);
    void look_closer(const Pyramid& reference, const Pyramid& moved, Start& start);
    RigidResult to_finest(const Pyramid& reference, const Pyramid& moved, const Start& start);
    RigidResult descend(const Pyramid& reference, const Pyramid& moved, const Start& start);
    Images finest_of(const Pyramid& reference, const Pyramid& moved, bool inverted = false) const {
        return images_of(reference, moved, finest_, inverted);
    }
    void finish(const Images& finest, double prefilter, RigidResult& result);
    void return_to(const RigidMotion& start, const Images& finest, double prefilter,
                   RigidResult& result);
    kernel::RigidSums sums_of_tiles(const Images& finest, const RigidMotion& motion,
                                    Elements row_step);
    void judge(const Images& finest, const kernel::RigidSums& sums, double row_step,
               double prefilter, RigidResult& result);
    void compare(const kernel::RigidSums& sums, double row_step, double prefilter,
                 RigidResult& result) const;

    ImageShape shape_;
    int levels_, finest_;
    ImageShape finest_shape_;
    double unit_; ///< width of the finest level's pixels, in pixels of the frames
    RigidOptions options_;
    Team* team_;
    Correlation correlation_;
    LeadMeter lead_, closer_lead_;            ///< for the coarsest level; for the next finer level
    std::optional<RotationSearch> rotations_; ///< only for large rotations
    std::vector<Fit> fits_;                   ///< one per start
    std::vector<kernel::RigidSums> tiles_;    ///< sums of the tiles of the finest level
};

RigidRun::RigidRun(ImageShape shape, int levels, const RigidOptions& options, Team* team,
                   int finest)
    : shape_(shape),
      levels_(levels == 0 ? default_levels(shape) : levels),
      finest_(std::clamp(levels_ - 2, 0, finest)),
      finest_shape_(shape_of_level(shape, finest_)),
      unit_(std::ldexp(1, finest_)),
      options_(options),
      team_(team),
      correlation_(shape_of_level(shape, levels_ - 1), team),
      lead_(shape_of_level(shape, levels_ - 1), team, lead_tile_side(shape)),
      closer_lead_(shape_of_level(shape, std::max(0, levels_ - 2)), team, lead_tile_side(shape)),
      tiles_(static_cast<std::size_t>(tiling_of(finest_shape_).tiles().elements())) {
    std::size_t searches = 1;
    if (options.most_rotation > usual_rotation) {
        rotations_.emplace(shape_of_level(shape, levels_ - 1), team);
        searches += RotationSearch::most;
    }
    fits_.reserve(2 * Correlation::most * searches);
}

void RigidRun::check(const Pyramid& pyramid) const {
    if (pyramid.shape() != shape_ || pyramid.levels() != levels_)
        throw InvalidTask(fmt::format(
            "the frame has {}x{} pixels on {} levels, expected {}x{} on {}", pyramid.shape().width,
            pyramid.shape().height, pyramid.levels(), shape_.width, shape_.height, levels_));
}

RigidResult RigidRun::align(const Pyramid& reference, const Pyramid& moved, double farthest) {
    check(reference);
    check(moved);
    return scaled(descend(reference, moved, search(reference, moved, farthest)), unit_);
}

RigidResult RigidRun::locate(const Pyramid& reference, const Pyramid& moved, double farthest) {
    if (levels_ == finest_ + 1)
        return align(reference, moved, farthest);
    check(reference);
    check(moved);
    RigidResult result = to_finest(reference, moved, search(reference, moved, farthest));
    const Images finest = finest_of(reference, moved, result.inverted);
    const Elements row_step = rough_row_step();
    const kernel::RigidSums sums =
        sums_over(finest, result.motion, kernel::Detail::score, row_step, team_);
    compare(sums, static_cast<double>(row_step), prefilter_at(finest_, reference.prefilter()),
            result);
    result.converged = sums.count >= least_count(finest_shape_, row_step);
    return scaled(result, unit_);
}

RigidResult RigidRun::refine(const Pyramid& reference, const Pyramid& moved,
                             const RigidMotion& start) {
    check(reference);
    check(moved);
    Start given;
    given.level = std::min(finest_ + 1, levels_ - 1);
    given.fit.motion = scaled(start, std::ldexp(1, -given.level));
    RigidResult result = descend(reference, moved, given);
    return_to(scaled(start, 1 / unit_), finest_of(reference, moved),
              prefilter_at(finest_, reference.prefilter()), result);
    return scaled(result, unit_);
}

/// Restores the start if the steps led away from it to a motion with a lower NCC.
void RigidRun::return_to(const RigidMotion& start, const Images& finest, double prefilter,
                         RigidResult& result) {
    constexpr double far = 2; // pixels
    const Elements rows = rough_row_step();
    if (rms_distance(result.motion, start, finest_shape_) < far)
        return;
    const kernel::RigidSums sums = sums_over(finest, start, kernel::Detail::score, rows, team_);
    if (sums.count < least_count(finest_shape_, rows) ||
        !is_lower_ncc(result.ncc_after, similarity(sums).ncc,
                      sums.count * static_cast<double>(rows), prefilter))
        return;
    result.motion = start;
    result.converged = false;
    const Elements row_step = row_step_of(prefilter);
    judge(finest, sums_of_tiles(finest, start, row_step), static_cast<double>(row_step), prefilter,
          result);
}

/// Fits from the starts [first, last) on the coarsest level, on every second row.
void RigidRun::fit_all(const Images& coarsest, std::size_t first, std::size_t last, int steps,
                       double stop, Start& start) {
    run_parts(team_, static_cast<int>(last - first), [&](int number, int) {
        Fit& one = fits_[first + static_cast<std::size_t>(number)];
        one = fit(as_inverted(coarsest, one.inverted), one.motion, {steps, stop, 2});
    });
    for (std::size_t number = first; number < last; ++number)
        start.iterations += fits_[number].steps;
}

/// Merges fits that ended close together (the best one is kept) and sorts by NCC.
void RigidRun::sort_out(ImageShape coarsest) {
    std::size_t kept = 0;
    for (const Fit& one : fits_) {
        const auto end = fits_.begin() + static_cast<std::ptrdiff_t>(kept);
        const auto same = std::find_if(fits_.begin(), end, [&](const Fit& other) {
            return one.inverted == other.inverted &&
                   rms_distance(one.motion, other.motion, coarsest) < distinct_fits;
        });
        if (same == end)
            fits_[kept++] = one;
        else if (one.ncc > same->ncc)
            *same = one;
    }
    fits_.resize(kept);
    std::sort(fits_.begin(), fits_.end(), more_alike);
}

RigidRun::Start RigidRun::search(const Pyramid& reference, const Pyramid& moved, double farthest) {
    const Images coarsest = images_of(reference, moved, levels_ - 1);
    const double farthest_there = std::ldexp(farthest, 1 - levels_);
    Start start;
    start.level = levels_ - 1;
    start.lead = 0; // stays 0 if no candidate is found
    if (!rotations_ && search_at(coarsest, farthest_there, 1, start) && *start.lead >= clear_lead &&
        std::abs(start.fit.motion.alpha) <= Correlation::degrees_apart / 2 * std::numbers::pi / 180)
        return start;
    if (search_at(coarsest, farthest_there, Correlation::most_angles, start) &&
        *start.lead < clear_lead && levels_ > 1)
        look_closer(reference, moved, start);
    return start;
}

/// Searches with a number of angles on the coarsest level, with shifts of up to `farthest` of its
/// pixels. Returns false if there is no candidate.
bool RigidRun::search_at(const Images& coarsest, double farthest, int angles, Start& start) {
    find_starts(coarsest, farthest, angles);
    if (fits_.empty())
        return false;
    fit_all(coarsest, 0, fits_.size(), 3, .05, start);
    sort_out(coarsest.reference.shape);
    const std::size_t most = std::min(fits_.size(), followed);
    fit_all(coarsest, 0, most, 8, .02, start);
    choose(coarsest, most, distinct_fits, lead_, start);
    return true;
}

/// Finds starts for fits by correlation around each angle that the spectra suggest, with shifts of
/// up to `farthest` pixels of the coarsest level.
void RigidRun::find_starts(const Images& coarsest, double farthest, int angles) {
    // In the first search, much lower peaks are omitted: if the lead is not clear, another follows.
    const double least = angles == 1 ? .5 : 0;
    fits_.clear();
    double highest = 0, deepest = 0;
    const auto search_around = [&](double angle) {
        for (const Resemblance& found :
             correlation_.search(coarsest.reference, coarsest.moved, coarsest.centre,
                                 {angle, farthest, options_.inverts, angles})) {
            if (found.height < least * std::max(highest, deepest))
                continue;
            Fit& one = fits_.emplace_back();
            one.motion = found.motion;
            one.inverted = found.inverted;
            double& most = found.inverted ? deepest : highest;
            most = std::max(most, found.height);
        }
    };
    search_around(0);
    if (rotations_) {
        for (const double angle : rotations_->angles(coarsest.reference, coarsest.moved)) {
            constexpr double inexact = 2; // degrees
            if (std::abs(angle) <= (options_.most_rotation + inexact) * std::numbers::pi / 180)
                search_around(angle);
        }
    }
    if (deepest <= highest)
        std::erase_if(fits_, [](const Fit& one) { return one.inverted; });
}

/// Returns the maximum number of fits that are compared on the next finer level. If frames may be
/// rotated by any angle, a lattice has more candidates.
std::size_t RigidRun::most_rivals() const {
    constexpr std::size_t usual = 6, rotated = 18;
    return rotations_ ? rotated : usual;
}

/// Chooses the best of the first `count` fits and determines its lead over the strongest rival,
/// that is, a fit that ended at a distinct motion. A fit that loses to a rival on their common
/// pixels is replaced by the rival.
void RigidRun::choose(const Images& images, std::size_t count, double apart, LeadMeter& meter,
                      Start& start) {
    constexpr double none = std::numeric_limits<double>::infinity();
    // A fit with a low NCC is no rival. Its common pixels with a good fit may show only background,
    // which cannot decide between the two.
    const auto is_rival = [&](const Fit& fit, const Fit& best) {
        constexpr double least = .5;
        return (fit.inverted != best.inverted ||
                rms_distance(fit.motion, best.motion, images.reference.shape) >= apart) &&
               fit.ncc * std::sqrt(fit.count) > least * best.ncc * std::sqrt(best.count);
    };
    const auto end = fits_.begin() + static_cast<std::ptrdiff_t>(count);
    auto best = std::max_element(fits_.begin(), end,
                                 [](const Fit& a, const Fit& b) { return more_alike(b, a); });
    for (std::size_t round = 0; round < count; ++round) {
        meter.set(as_inverted(images, best->inverted), best->motion);
        auto strongest = best;
        double lead = none;
        for (auto rival = fits_.begin(); rival != end; ++rival) {
            if (!is_rival(*rival, *best))
                continue;
            const double over = meter.over(rival->motion, rival->inverted);
            if (over < lead) {
                lead = over;
                strongest = rival;
            }
        }
        start.fit = *best;
        start.lead = lead;
        if (lead >= 0) {
            start.lead = std::min(lead, meter.over_nothing() - lead_of_unrelated(shape_));
            break;
        }
        best = strongest;
    }
}

/// Compares more fits on the next finer level, where their differences are more visible, and
/// chooses the best one again.
void RigidRun::look_closer(const Pyramid& reference, const Pyramid& moved, Start& start) {
    const Images coarsest = images_of(reference, moved, levels_ - 1);
    fit_all(coarsest, std::min(fits_.size(), followed), fits_.size(), 8, .02, start);
    sort_out(coarsest.reference.shape);
    fits_.resize(std::min(fits_.size(), most_rivals()));
    start.level = levels_ - 2;
    const Images finer = images_of(reference, moved, start.level);
    run_parts(team_, static_cast<int>(fits_.size()), [&](int number, int) {
        Fit& one = fits_[static_cast<std::size_t>(number)];
        one = fit(as_inverted(finer, one.inverted), scaled(one.motion, 2),
                  {4, .05, 2, kernel::Detail::slopes});
    });
    for (const Fit& one : fits_)
        start.iterations += one.steps;
    choose(finer, fits_.size(), 2 * distinct_fits, closer_lead_, start);
}

RigidResult RigidRun::descend(const Pyramid& reference, const Pyramid& moved, const Start& start) {
    RigidResult result = to_finest(reference, moved, start);
    finish(finest_of(reference, moved, result.inverted),
           prefilter_at(finest_, reference.prefilter()), result);
    return result;
}

/// Refines a start on all levels but the finest. Returns a motion in pixels of the finest level.
RigidResult RigidRun::to_finest(const Pyramid& reference, const Pyramid& moved,
                                const Start& start) {
    RigidResult result;
    result.iterations = start.iterations;
    result.lead = start.lead;
    result.ambiguous = start.lead && *start.lead < options_.least_lead;
    result.motion = start.fit.motion;
    result.inverted = start.fit.inverted;
    for (int level = start.level; level > finest_; --level) {
        // Coarser levels need not be exact, because the next finer level refines the result.
        constexpr double stop = .05;
        const Fit one = fit(images_of(reference, moved, level, result.inverted), result.motion,
                            {options_.most_steps, stop, 2, kernel::Detail::slopes}, team_);
        result.iterations += one.steps;
        result.motion = scaled(one.motion, 2);
    }
    return result;
}

/// Fits on the finest level. The uncertainty is computed from the sums of the last step, because
/// the scores hardly change near the solution.
void RigidRun::finish(const Images& finest, double prefilter, RigidResult& result) {
    const Elements row_step = row_step_of(prefilter);
    kernel::RigidSums sums;
    const Descent descent = registration::descend(
        result.motion, finest_shape_, {options_.most_steps, options_.stop / unit_},
        [&](const RigidMotion& motion) {
            sums = sums_of_tiles(finest, motion, row_step);
            return sums.count >= least_count(finest_shape_, row_step);
        },
        [&] { return newton_step(total_of(tiles_), similarity(sums, result.inverted)); });
    result.iterations += descent.steps;
    result.converged = descent.converged;
    judge(finest, sums, static_cast<double>(row_step), prefilter, result);
}

/// Returns the sums over the whole frame, and stores the weighted sums of each tile.
kernel::RigidSums RigidRun::sums_of_tiles(const Images& finest, const RigidMotion& motion,
                                          Elements row_step) {
    const kernel::RigidComparison comparison = compare_at(finest, motion, row_step);
    const Tiling tiling = tiling_of(finest_shape_);
    const ImageShape tiles = tiling.tiles();
    run_parts(team_, static_cast<int>(tiles.height), [&](int row, int) {
        for (Elements column = 0; column < tiles.width; ++column)
            tiles_[static_cast<std::size_t>(row * tiles.width + column)] =
                kernel::rigid_sums(comparison, tiling.at(column, row), kernel::Detail::slopes);
    });
    const kernel::RigidSums all = total_of(tiles_);
    for (kernel::RigidSums& tile : tiles_)
        weigh_tile(tile, finest.inverted);
    return all;
}

/// Sets the NCCs, the uncertainty, the misfit and the overlap, and marks unrelated frames.
void RigidRun::judge(const Images& finest, const kernel::RigidSums& sums, double row_step,
                     double prefilter, RigidResult& result) {
    result.ncc_before =
        similarity(sums_over(finest, {}, kernel::Detail::score, rough_row_step(), team_),
                   result.inverted)
            .ncc;
    const Similarity alike = similarity(sums, result.inverted);
    // The squared noise is correlated over half of the area over which the noise is correlated.
    result.uncertainty = uncertainty_of(tiles_, total_of(tiles_), alike, result.motion.alpha,
                                        2 * independent_pixels(sums.count * row_step, prefilter));
    if (const double seen = noise_within_tiles(tiling_of(finest_shape_), prefilter); seen < 1) {
        for (double& entry : result.uncertainty.covariance)
            entry /= seen;
        result.uncertainty = uncertainty_with(result.uncertainty.covariance);
    }
    constexpr std::size_t parameters = 3;
    result.misfit = misfit_of(tiles_, tiling_of(finest_shape_).tiles(), alike, parameters);
    compare(sums, row_step, prefilter, result);
}

/// Sets the NCC at the motion and the overlap, and marks unrelated frames.
void RigidRun::compare(const kernel::RigidSums& sums, double row_step, double prefilter,
                       RigidResult& result) const {
    result.ncc_after = similarity(sums, result.inverted).ncc;
    const Tile seen =
        kernel::with_slopes({0, 0, finest_shape_.width, finest_shape_.height}, finest_shape_);
    const double count = sums.count * row_step;
    result.overlap = std::min(1., count / static_cast<double>(seen.elements()));
    result.unrelated = !(result.ncc_after > ncc_of_noise(count, prefilter));
}

RigidRegistration::RigidRegistration(ImageShape shape, int levels, const RigidOptions& options,
                                     Team* team, int finest)
    : run_(std::make_unique<RigidRun>(shape, levels, options, team, finest)) {}
RigidRegistration::RigidRegistration(RigidRegistration&& other) noexcept = default;
RigidRegistration& RigidRegistration::operator=(RigidRegistration&& other) noexcept = default;
RigidRegistration::~RigidRegistration() = default;

RigidResult RigidRegistration::align(const Pyramid& reference, const Pyramid& moved,
                                     std::int64_t distance) {
    return run_->align(reference, moved, run_->farthest(distance));
}
RigidResult RigidRegistration::locate(const Pyramid& reference, const Pyramid& moved,
                                      std::int64_t distance) {
    return run_->locate(reference, moved, run_->farthest(distance));
}
RigidResult RigidRegistration::refine(const Pyramid& reference, const Pyramid& moved,
                                      const RigidMotion& start) {
    return run_->refine(reference, moved, start);
}

} // namespace sextant::registration
