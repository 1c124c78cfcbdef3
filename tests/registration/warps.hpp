// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/pair/nonrigid.hpp"
#include "sextant/registration/synthetic.hpp"

#include <cmath>
#include <string>

#include "tests/registration/specimens.hpp"
#include <fmt/format.h>

// Registers pairs of frames with a known warp.
namespace sextant::test {

using registration::NonrigidRegistration;
using registration::NonrigidResult;

/// The rigid part of the distortion, from which registration starts.
inline constexpr RigidMotion start_of_warps{.004, .7, -.5};

struct WarpTrial {
    std::string specimen = "waves"; ///< "waves", "lattice of waves", or a name of specimens()
    ImageShape shape{256, 256};
    double length = 400, amplitude = 1.6; ///< wavelength and amplitude of the distortion, pixels
    double dose = 10;
    unsigned seed = 1;
};

inline std::function<double(Point)> specimen_of(const WarpTrial& trial) {
    if (trial.specimen == "waves")
        return Specimen::amorphous(trial.seed);
    if (trial.specimen == "lattice of waves")
        return Specimen::lattice(trial.seed);
    registration::SpecimenPlan plan;
    plan.field = {trial.shape.width + 32, trial.shape.height + 32};
    plan.seed = trial.seed;
    const auto made = registration::find_specimen(trial.specimen).make(plan);
    const Point c = registration::centre(trial.shape);
    return [=](Point at) { return made({at.x - c.x, at.y - c.y}); };
}

struct WarpOutcome {
    NonrigidResult result;
    double error = 0, error_of_start = 0; ///< RMS at known points of the central 88 %, in pixels
    double z = 0;                         ///< RMS at nodes of the errors over their deviations

    std::string text() const {
        return fmt::format("error {:.3f} px, of the start {:.3f}; z {:.2f}, freedom {:.0f}, "
                           "coherence {:.2f}, control points {:.0f} px apart",
                           error, error_of_start, z, result.fit.freedom, result.fit.coherence,
                           result.spacing);
    }
};

/// RMS of the errors over their predicted deviations, at known nodes within the image.
inline double rms_z(const DisplacementField& field, const Motion& truth) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < field.count(); ++i) {
        const auto column = static_cast<std::int64_t>(i) % field.nodes.width;
        const auto row = static_cast<std::int64_t>(i) / field.nodes.width;
        const Point at{static_cast<double>(column * field.spacing),
                       static_cast<double>(row * field.spacing)};
        if (!field.known[i] || column * field.spacing >= field.image.width ||
            row * field.spacing >= field.image.height)
            continue;
        const Point found = apply(field, at), expected = truth(at);
        const double sigma = static_cast<double>(field.sigma[i]);
        sum += (std::pow(found.x - expected.x, 2) + std::pow(found.y - expected.y, 2)) /
               (sigma * sigma);
        count += 2;
    }
    return std::sqrt(sum / count);
}

inline WarpOutcome run(const WarpTrial& trial) {
    const Motion truth = warp(trial.shape, trial.length, trial.amplitude, start_of_warps);
    const WarpedPair pair =
        exposed_pair(specimen_of(trial), trial.shape, truth, trial.dose, trial.seed);
    NonrigidRegistration registration(trial.shape);
    WarpOutcome outcome;
    outcome.result = registration.run(pair.reference.view(), pair.templ.view(), start_of_warps);
    const DisplacementField& field = outcome.result.field;
    const DisplacementField exact = dense(truth, trial.shape);
    DisplacementField start = registration::as_field(start_of_warps, trial.shape, 8);
    outcome.error = rms_distance(field, exact, .88);
    outcome.error_of_start = rms_distance(start, exact, .88);
    outcome.z = rms_z(field, truth);
    return outcome;
}

} // namespace sextant::test
