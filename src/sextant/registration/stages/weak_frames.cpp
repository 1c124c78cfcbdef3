// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/stages/weak_frames.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/registration/pair/level.hpp"
#include "sextant/registration/pair/partition.hpp"
#include "sextant/registration/series/stations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>
#include <utility>
#include <vector>

#include <Eigen/Dense>
#include <fmt/format.h>

namespace sextant::registration {

namespace {

using Matrix = Eigen::Matrix3d;
using Vector = Eigen::Vector3d;

constexpr std::array<int, 3> diagonal = {0, 3, 5}; ///< of symmetric matrices in RigidSums

/// The comparison of a frame T with the average R of the others, at the frame's present motion. J
/// and D are the gradients of R and T (kernel::RigidSums), k the factor that matches T to R.
struct WeakFit {
    double count = 0;       ///< pixels
    double independent = 1; ///< independent_pixels()
    double overlap = 0, ncc = 0, ncc_before = 0;
    std::array<double, 3> of_frame{}, of_average{}; ///< kΣJ(T−T̄) and ΣJ(R−R̄)
    std::array<double, 6> jj{};                     ///< ΣJJᵀ
    std::array<double, 3> common{};                 ///< diagonal of kΣJDᵀ
    std::array<double, 3> spread{}; ///< sums of the squared scores of tiles, without the mean score

    /// The variance of the NCC that is due to noise.
    double noise_of_ncc() const { return 1 / independent; }
};

WeakFit compared(const FrameAndOthers& one, double prefilter) {
    const Images images = images_of(one.others, one.pyramid, 0);
    const ImageShape shape = images.reference.shape;
    const RigidMotion motion = in_window(one.frame.result.motion, one.window);
    const Tiling tiling = tiling_of(shape);
    const double seen = noise_within_tiles(tiling, prefilter);
    const ImageShape count = tiling.tiles();
    std::vector<kernel::RigidSums> tiles(static_cast<std::size_t>(count.elements()));
    const kernel::RigidComparison comparison = compare_at(images, motion);
    run_parts(one.team, static_cast<int>(count.height), [&](int row, int) {
        for (Elements column = 0; column < count.width; ++column)
            tiles[static_cast<std::size_t>(row * count.width + column)] =
                kernel::rigid_sums(comparison, tiling.at(column, row), kernel::Detail::slopes);
    });
    const kernel::RigidSums all = total_of(tiles);
    WeakFit fit;
    if (all.count < least_count(shape, 1))
        return fit;
    const Similarity alike = similarity(all);
    fit.count = all.count;
    fit.independent = independent_pixels(all.count, prefilter);
    const Tile all_pixels = kernel::with_slopes({0, 0, shape.width, shape.height}, shape);
    fit.overlap = all.count / static_cast<double>(all_pixels.elements());
    fit.ncc = alike.ncc;
    fit.ncc_before = similarity(sums_over(images, {}, kernel::Detail::score, 4)).ncc;
    for (std::size_t p = 0; p < 3; ++p) {
        const auto scores = [&](const kernel::RigidSums& sums) {
            return std::array{alike.scale * (sums.jt[p] - alike.mean_t * sums.j[p]),
                              sums.jr[p] - alike.mean_r * sums.j[p]};
        };
        std::tie(fit.of_frame[p], fit.of_average[p]) = std::tuple_cat(scores(all));
        fit.common[p] = alike.scale * all.jd[diagonal[p]];
        const double jj = all.jj[diagonal[p]];
        const double mean = (fit.of_frame[p] - alike.ncc * fit.of_average[p]) / jj;
        double shares = 0; // sum of the squared weights of the tiles
        for (const kernel::RigidSums& tile : tiles) {
            const auto [frame, average] = scores(tile);
            const double share = tile.jj[diagonal[p]] / jj;
            const double noise = frame - alike.ncc * average - mean * share * jj;
            fit.spread[p] += noise * noise / seen;
            shares += share * share;
        }
        fit.spread[p] /= std::max(.1, 1 - shares); // the mean was fitted
    }
    std::copy(std::begin(all.jj), std::end(all.jj), fit.jj.begin());
    return fit;
}

/// The frame's fit and its present motion.
struct WeakFrame {
    std::int64_t frame = 0;
    bool sound = true; ///< FrameNumbers::sound
    RigidMotion motion;
    WeakFit fit;
};

/// Properties that are estimated from all frames of a series.
struct CommonFit {
    double ncc = 0, variance = 0;  ///< mean of the NCCs, and the variance that is not noise
    double typical = 0;            ///< median of the NCCs
    double slope = 0;              ///< kΣJDᵀ relative to ΣJJᵀ
    std::array<double, 3> noise{}; ///< variance of the score relative to the diagonal of ΣJJᵀ
};

CommonFit common_fit(std::span<const WeakFrame> frames) {
    CommonFit all;
    std::vector<double> nccs;
    double slopes = 0, common = 0, squares = 0, noise = 0, count = 0;
    std::array<double, 3> spread{}, jj{};
    for (const auto& [frame, sound, motion, fit] : frames) {
        if (!(fit.count > 0) || !sound)
            continue;
        ++count;
        nccs.push_back(fit.ncc);
        all.ncc += fit.ncc;
        squares += fit.ncc * fit.ncc;
        noise += fit.noise_of_ncc();
        for (std::size_t p = 0; p < 3; ++p) {
            spread[p] += fit.spread[p];
            jj[p] += fit.jj[static_cast<std::size_t>(diagonal[p])];
        }
        slopes += fit.jj[3] + fit.jj[5];
        common += fit.common[1] + fit.common[2];
    }
    if (nccs.empty())
        return all;
    all.typical = median(nccs);
    all.ncc /= count;
    all.variance = std::max(0., (squares - noise) / count - all.ncc * all.ncc);
    all.slope = common / slopes;
    for (std::size_t p = 0; p < 3; ++p)
        all.noise[p] = spread[p] / jj[p];
    return all;
}

/// A step ψ applied before a frame's motion, with its covariance; infinite if it is unknown.
struct WeakStep {
    RigidMotion motion;
    Matrix covariance;
};

WeakStep step_of(const WeakFit& fit, const CommonFit& all) {
    Vector unknown;
    unknown.fill(std::numeric_limits<double>::infinity());
    const WeakStep none{{}, unknown.asDiagonal()};
    if (!(fit.count > 0 && all.ncc > 0 && all.slope > 0))
        return none;
    // The NCC of a single frame is noisy.
    const double known = all.variance / (all.variance + fit.noise_of_ncc());
    const double ncc = all.ncc + known * (fit.ncc - all.ncc);
    if (!(ncc > 0))
        return none;
    const auto& e = fit.jj;
    Matrix jj;
    jj << e[0], e[1], e[2], e[1], e[3], e[4], e[2], e[4], e[5];
    const Eigen::Map<const Vector> noise(all.noise.data());
    const Matrix spread = jj.cwiseProduct((noise * noise.transpose()).cwiseSqrt());
    const Vector score = Eigen::Map<const Vector>(fit.of_frame.data()) -
                         ncc * Eigen::Map<const Vector>(fit.of_average.data());
    const Eigen::LLT<Matrix> factor(jj * (all.slope * ncc / all.ncc));
    if (factor.info() != Eigen::Success || factor.rcond() < 1e-12)
        return none;
    const Vector step = factor.solve(score);
    const Matrix inverse = factor.solve(Matrix::Identity());
    return {{step[0], step[1], step[2]}, inverse * spread * inverse};
}

/// The variances of a position: of its random walk, per unit of time, and of its independent
/// jitter.
struct Wander {
    double walk = 0, jitter = 0;
};

/// Returns the log likelihood of the observations, and the filtered means and variances of the
/// random walk.
double filter_walk(std::span<const NoisyValue> observations, const Wander& wander,
                   std::vector<NoisyValue>& filtered) {
    double likelihood = 0;
    bool first = true;
    NoisyValue state;
    filtered.clear();
    for (const NoisyValue& one : observations) {
        const double before = state.variance + wander.walk * (one.time - state.time);
        const double noise = one.variance + wander.jitter;
        if (!std::isfinite(noise)) {
            state = {one.time, state.value, before};
        } else if (first) {
            state = {one.time, one.value, noise};
            first = false;
        } else {
            const double all = before + noise, gain = before / all;
            const double surprise = one.value - state.value;
            likelihood -= (std::log(all) + surprise * surprise / all) / 2;
            state = {one.time, state.value + gain * surprise, before - gain * before};
        }
        if (first)
            state.variance = std::numeric_limits<double>::infinity();
        filtered.push_back(state);
    }
    return likelihood;
}

/// A line through observations.
class Trend {
  public:
    explicit Trend(std::span<const NoisyValue> observations) {
        double time = 0, value = 0, tt = 0, tv = 0;
        for (const NoisyValue& one : observations) {
            const double weight = 1 / one.variance;
            weight_ += weight;
            time += weight * one.time;
            value += weight * one.value;
        }
        if (!(weight_ > 0))
            return;
        time_ = time / weight_;
        value_ = value / weight_;
        for (const NoisyValue& one : observations) {
            tt += (one.time - time_) * (one.time - time_) / one.variance;
            tv += (one.time - time_) * (one.value - value_) / one.variance;
        }
        slope_ = tt > 0 ? tv / tt : 0;
        variance_ = tt > 0 ? 1 / tt : 0;
    }
    double at(double time) const { return value_ + slope_ * (time - time_); }
    double variance_at(double time) const { return variance_ * (time - time_) * (time - time_); }

  private:
    double weight_ = 0, time_ = 0, value_ = 0, slope_ = 0, variance_ = 0;
};

/// Replaces observations by the means and variances of the position for given variances.
void smooth(std::span<NoisyValue> observations, const Wander& wander,
            std::vector<NoisyValue>& walk) {
    filter_walk(observations, wander, walk);
    for (std::size_t i = walk.size() - 1; i-- > 0;) {
        NoisyValue& now = walk[i];
        const NoisyValue& after = walk[i + 1];
        const double steps = wander.walk * (after.time - now.time);
        if (!std::isfinite(now.variance)) {
            now = {now.time, after.value, after.variance + steps};
        } else {
            const double gain = now.variance / (now.variance + steps);
            now.value += gain * (after.value - now.value);
            now.variance += gain * gain * (after.variance - now.variance - steps);
        }
    }
    for (std::size_t i = 0; i < walk.size(); ++i) {
        NoisyValue& one = observations[i];
        // The part of the distance from the walk that is jitter, not noise.
        const double jitter = wander.jitter / (wander.jitter + one.variance);
        const double own = std::isfinite(one.variance) ? jitter * one.variance : wander.jitter;
        one.value = walk[i].value + (jitter > 0 ? jitter * (one.value - walk[i].value) : 0);
        one.variance = (1 - jitter) * (1 - jitter) * walk[i].variance + own;
    }
}

/// Returns the candidate variances, from negligible to much larger than a typical variance of the
/// observations.
std::vector<Wander> wanders(double typical) {
    std::vector<Wander> all;
    for (int walk = -20; walk <= 14; walk += 2) {
        for (int jitter = -10; jitter <= 12; jitter += 2)
            all.push_back({std::ldexp(typical, walk), std::ldexp(typical, jitter)});
    }
    return all;
}

} // namespace

void smooth_positions(std::span<NoisyValue> observations) {
    std::vector<double> variances;
    for (const NoisyValue& one : observations) {
        if (std::isfinite(one.variance))
            variances.push_back(one.variance);
    }
    if (variances.empty())
        return;
    const Trend trend(observations);
    for (NoisyValue& one : observations)
        one.value -= trend.at(one.time);
    const std::vector<Wander> all = wanders(median(variances));
    std::vector<NoisyValue> walk, mean(observations.size());
    std::vector<double> likelihoods;
    for (const Wander& wander : all)
        likelihoods.push_back(filter_walk(observations, wander, walk));
    const double best = std::ranges::max(likelihoods);
    double sum = 0;
    for (std::size_t number = 0; number < all.size(); ++number) {
        const double probability = std::exp(likelihoods[number] - best);
        constexpr double negligible = 1e-4;
        if (probability < negligible)
            continue;
        sum += probability;
        std::vector<NoisyValue> smoothed(observations.begin(), observations.end());
        smooth(smoothed, all[number], walk);
        for (std::size_t i = 0; i < mean.size(); ++i) {
            // The weighted mean and variance of the values so far (West, CACM 22, 1979).
            const double difference = smoothed[i].value - mean[i].value;
            mean[i].value += probability / sum * difference;
            mean[i].variance += probability * (smoothed[i].variance +
                                               difference * (smoothed[i].value - mean[i].value));
        }
    }
    for (std::size_t i = 0; i < mean.size(); ++i) {
        NoisyValue& one = observations[i];
        one.value = mean[i].value + trend.at(one.time);
        one.variance = mean[i].variance / sum + trend.variance_at(one.time);
    }
}

namespace {

/// Returns the smoothed positions: the inverses of the motions, whose shifts are the positions of
/// the frames' centres. Frames do not rotate if `most_rotation` is 0.
std::vector<UncertainMotion> positions_of(std::span<const WeakFrame> frames, const CommonFit& all,
                                          double most_rotation) {
    std::vector<WeakStep> steps;
    std::array<std::vector<NoisyValue>, 3> parameters;
    for (const WeakFrame& one : frames) {
        const WeakStep& step = steps.emplace_back(step_of(one.sound ? one.fit : WeakFit(), all));
        const RigidMotion position = compose(step.motion, inverse(one.motion));
        const double values[] = {position.alpha, position.tx, position.ty};
        for (int p = 0; p < 3; ++p)
            parameters[static_cast<std::size_t>(p)].push_back(
                {static_cast<double>(one.frame), values[p], step.covariance(p, p)});
    }
    // Rotations are smoothed first. Shifts follow from them and the covariances. A step hardly
    // rotates a frame by more than `most_rotation`, which matters only if the frame does not
    // determine its rotation.
    std::vector<NoisyValue> rotations = parameters[0];
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const double most = most_rotation * most_rotation;
        const double known =
            std::isfinite(rotations[i].variance) ? most / (most + rotations[i].variance) : 0;
        rotations[i].value -= (1 - known) * steps[i].motion.alpha;
        if (known > 0)
            rotations[i].variance *= known;
    }
    if (most_rotation > 0)
        smooth_positions(rotations);
    else
        rotations.assign(rotations.size(), {});
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const Matrix& covariance = steps[i].covariance;
        if (!std::isfinite(covariance(0, 0)))
            continue;
        for (const int p : {1, 2}) {
            NoisyValue& shift = parameters[static_cast<std::size_t>(p)][i];
            const double slope = covariance(0, p) / covariance(0, 0);
            shift.value += slope * (rotations[i].value - parameters[0][i].value);
            shift.variance += slope * slope * (rotations[i].variance - covariance(0, 0));
            constexpr double least = 1e-12; // rounding errors must not make it negative
            shift.variance = std::max(shift.variance, least);
        }
    }
    parameters[0] = std::move(rotations);
    smooth_positions(parameters[1]);
    smooth_positions(parameters[2]);
    std::vector<UncertainMotion> positions(frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const auto& [alpha, tx, ty] = parameters;
        positions[i].motion = {alpha[i].value, tx[i].value, ty[i].value};
        positions[i].covariance[0] = alpha[i].variance;
        positions[i].covariance[4] = tx[i].variance;
        positions[i].covariance[8] = ty[i].variance;
    }
    return positions;
}

/// True if a frame shows only noise, although the other frames show the specimen.
bool shows_nothing(const WeakFit& fit, const CommonFit& all) {
    constexpr double most = 2, less = 4; // deviations of the noise
    const double noise = std::sqrt(fit.noise_of_ncc());
    return !(fit.ncc > most * noise) && fit.ncc < all.typical - less * noise;
}

/// True if a frame that is not sound, together with such frames near it, resembles the average.
bool resembles(const WeakFrame& frame, std::span<const WeakFrame> frames, const CommonFit& all,
               std::int64_t near) {
    double sum = 0, independent = 0;
    for (const WeakFrame& one : frames) {
        if (one.sound || std::abs(one.frame - frame.frame) >= near || !(one.fit.count > 0))
            continue;
        sum += one.fit.ncc * one.fit.independent;
        independent += one.fit.independent;
    }
    constexpr double deviations = 4;
    return sum > deviations * std::sqrt(independent) && 2 * sum > all.typical * independent;
}

} // namespace

void register_weak_to_average(const SeriesContext& context, MatchingAverage average,
                              const Registered& registered, std::span<FrameRegistration> own,
                              std::uint32_t stage, std::int64_t size) {
    std::vector<WeakFrame> own_fits;
    agree(context.communicator, [&] {
        for_each_with_others(
            context, std::move(average), registered, own, [&](const FrameAndOthers& one) {
                FrameRegistration& frame = one.frame;
                const auto timed =
                    timed_result(context.ledger, {Work::averaged, stage, 0, 2, frame.frame},
                                 [&] { return compared(one, context.options.prefilter); });
                frame.seconds += timed.seconds;
                own_fits.push_back({frame.frame, frame.sound, frame.result.motion, timed.result});
            });
    });
    const std::vector<WeakFrame> frames = all_gather_lists(context.communicator, own_fits);
    const CommonFit all = common_fit(frames);
    const std::vector<UncertainMotion> positions =
        positions_of(frames, all,
                     context.options.model == MotionModel::translation
                         ? 0
                         : context.options.rigid.most_rotation * std::numbers::pi / 180);
    for (FrameRegistration& frame : own) {
        if (!frame.left_out.empty())
            continue;
        const auto at = static_cast<std::size_t>(
            std::ranges::lower_bound(frames, frame.frame, {}, &WeakFrame::frame) - frames.begin());
        const UncertainMotion motion = inverse(positions[at]);
        const WeakFit& fit = frames[at].fit;
        frame.result.motion = motion.motion;
        frame.result.uncertainty = uncertainty_with(motion.covariance);
        frame.result.ncc_before = fit.ncc_before;
        frame.result.ncc_after = fit.ncc;
        frame.result.overlap = fit.overlap;
        ++frame.result.iterations;
        if (!frame.sound && !resembles(frames[at], frames, all, size)) {
            frame.leave_out(Omission::unlike,
                            fmt::format("the sum of {} frames that contains this frame resembles "
                                        "neither the other sums nor their average",
                                        size));
            frame.in_doubt = false;
            continue;
        }
        frame.sound = true;
        frame.result.unrelated = shows_nothing(fit, all);
        frame.in_doubt = !(deviation_of_positions(frame.result, context.source.header().shape) <=
                           context.options.tolerance); // also if it is unknown
    }
}

} // namespace sextant::registration
