// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/pair/rigid.hpp"
#include "sextant/registration/synthetic.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "bench/faulty_series.hpp"
#include "tests/registration/frames_in_memory.hpp"
#include <fmt/format.h>

// Registers pairs of frames with known motions, and computes the Cramér-Rao bound of the error.
namespace sextant::test {

using registration::Point;
using registration::RigidMotion;
using registration::RigidResult;

inline constexpr double degree = std::numbers::pi / 180;
/// Errors are computed over this central fraction of a frame along each axis.
inline constexpr double central = .88;

/// The motion used in published figures.
inline constexpr RigidMotion usual_motion{.3 * degree, 2.3, -1.7};

struct Trial {
    std::string specimen = "lattice";
    ImageShape shape{256, 256};
    double dose = 10;
    RigidMotion motion = usual_motion;
    double amorphous = .38;
    std::uint64_t seed = 1;
};

/// Two frames of a trial, the second moved, and the Cramér-Rao bound.
struct Pair {
    registration::SyntheticSeries series;
    kernel::FloatPlane reference, moved;
    double bound = 0; ///< Cramér-Rao bound of the RMS error, pixels
};

inline Pair make_pair(const Trial& trial) {
    registration::SeriesPlan plan;
    plan.shape = trial.shape;
    plan.frames = 2;
    plan.dose = trial.dose;
    plan.drift = inverse(trial.motion);
    plan.seed = 100 + trial.seed;
    const registration::Specimen specimen =
        specimen_of(plan, trial.specimen, trial.seed, 0, trial.amorphous);
    const registration::SyntheticSeries series(plan, specimen);
    return {series, series.counted(0), series.counted(1),
            bench::cramer_rao(specimen, trial.shape, trial.dose, central)};
}

/// Workspaces for trials of one shape.
struct Registrar {
    explicit Registrar(ImageShape shape, double prefilter = registration::usual_prefilter,
                       const registration::RigidOptions& options = {})
        : reference(shape, 0, prefilter),
          moved(shape, 0, prefilter),
          registration(shape, 0, options) {}

    RigidResult align(const kernel::SampleView& r, const kernel::SampleView& t) {
        reference.fill(r);
        moved.fill(t);
        return registration.align(reference, moved);
    }

    registration::Pyramid reference, moved;
    registration::RigidRegistration registration;
};

struct Outcome {
    Trial trial;
    RigidResult result;
    RigidMotion truth;
    double error = 0, bound = 0; ///< RMS, in pixels

    /// True if the error is a period jump, which is several pixels, whereas noise causes errors of
    /// a fraction of a pixel.
    bool hopped() const { return error > 2; }
    bool flagged() const { return result.ambiguous || result.unrelated || !result.converged; }
};

inline Outcome run(const Trial& trial, Registrar& registrar) {
    const Pair pair = make_pair(trial);
    const RigidMotion truth = pair.series.between(0, 1);
    const RigidResult result = registrar.align(pair.reference.samples(), pair.moved.samples());
    return {trial, result, truth,
            registration::rms_distance(result.motion, truth, trial.shape, central), pair.bound};
}

/// Runs a trial with seeds 1, 2, ..., `seeds`.
inline std::vector<Outcome> run_seeds(Trial trial, int seeds) {
    Registrar registrar(trial.shape);
    std::vector<Outcome> outcomes;
    for (int seed = 1; seed <= seeds; ++seed) {
        trial.seed = static_cast<std::uint64_t>(seed);
        outcomes.push_back(run(trial, registrar));
    }
    return outcomes;
}

/// Runs a trial with random motions of up to 40 pixels along each axis and up to 2 degrees.
inline std::vector<Outcome> run_motions(Trial trial, int motions) {
    Registrar registrar(trial.shape);
    registration::NoiseSource noise(77, 0);
    const auto within = [&](double most) { return (2 * noise.uniform() - 1) * most; };
    std::vector<Outcome> outcomes;
    for (int number = 1; number <= motions; ++number) {
        trial.seed = static_cast<std::uint64_t>(number);
        const double alpha = within(2 * degree), tx = within(40), ty = within(40);
        trial.motion = {alpha, tx, ty};
        outcomes.push_back(run(trial, registrar));
    }
    return outcomes;
}

/// Errors relative to the bound.
struct Accuracy {
    double ratio = 0; ///< root mean square of the errors over that of the bounds
    double worst = 0; ///< largest error over its bound
};

inline Accuracy accuracy(const std::vector<Outcome>& outcomes) {
    double errors = 0, bounds = 0;
    Accuracy accuracy;
    for (const Outcome& outcome : outcomes) {
        errors += outcome.error * outcome.error;
        bounds += outcome.bound * outcome.bound;
        accuracy.worst = std::max(accuracy.worst, outcome.error / outcome.bound);
    }
    accuracy.ratio = std::sqrt(errors / bounds);
    return accuracy;
}

/// RMS of the errors of all parameters, each divided by its predicted standard deviation; 1 if the
/// predictions are right.
inline double rms_z(const std::vector<Outcome>& outcomes) {
    double sum = 0;
    for (const Outcome& outcome : outcomes) {
        const auto& [motion, sigma] = std::pair(outcome.result.motion, outcome.result.uncertainty);
        const double z[] = {(motion.alpha - outcome.truth.alpha) / sigma.alpha,
                            (motion.tx - outcome.truth.tx) / sigma.tx,
                            (motion.ty - outcome.truth.ty) / sigma.ty};
        for (const double one : z)
            sum += one * one;
    }
    return std::sqrt(sum / static_cast<double>(3 * outcomes.size()));
}

inline std::string describe(const Outcome& outcome) {
    const auto& [alpha, tx, ty] = outcome.truth;
    const RigidMotion& found = outcome.result.motion;
    return fmt::format("{} of {}x{}, dose {}, seed {}: found {:.4f}, {:.2f}, {:.2f}, expected "
                       "{:.4f}, {:.2f}, {:.2f}; lead {:.2f}",
                       outcome.trial.specimen, outcome.trial.shape.width,
                       outcome.trial.shape.height, outcome.trial.dose, outcome.trial.seed,
                       found.alpha, found.tx, found.ty, alpha, tx, ty,
                       outcome.result.lead.value_or(0));
}

} // namespace sextant::test
