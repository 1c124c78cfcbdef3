// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/register/frame_evidence.hpp"

#include "sextant/core/error.hpp"
#include "sextant/registration/pair/pyramid.hpp"
#include "sextant/registration/series/ledger.hpp"
#include "sextant/registration/series/pair_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace sextant::command {

namespace {

constexpr std::size_t most_examined = 3;
constexpr double any_rotation = 180; // degrees

/// Returns half of the mean square difference between horizontally adjacent means of `side` x
/// `side` samples.
double variance_of_means(std::span<const float> samples, ImageShape shape, Elements side) {
    double sum = 0, count = 0;
    for (Elements y = 0; y + side <= shape.height; y += side) {
        double before = std::nan("");
        for (Elements x = 0; x + side <= shape.width; x += side) {
            double mean = 0;
            for (Elements row = y; row < y + side; ++row) {
                const float* const first = samples.data() + row * shape.width + x;
                for (Elements i = 0; i < side; ++i)
                    mean += static_cast<double>(first[i]);
            }
            mean /= static_cast<double>(side * side);
            const double difference = mean - before;
            if (std::isfinite(difference)) {
                sum += difference * difference;
                ++count;
            }
            before = mean;
        }
    }
    return count > 0 ? sum / count / 2 : 0;
}

/// Returns true if means of samples vary as means of white noise do. Details of a specimen and
/// noise that is correlated between samples vary more.
bool is_noise(std::span<const float> samples, ImageShape shape) {
    constexpr double most_of_noise = 2;
    const double variance = variance_of_means(samples, shape, 1);
    return std::ranges::all_of(std::array<Elements, 3>{2, 4, 8}, [&](Elements side) {
        return variance_of_means(samples, shape, side) * static_cast<double>(side * side) <
               most_of_noise * variance;
    });
}

/// Returns the nearest other frame that can be registered; -1 if there is none.
std::int64_t neighbour_of(std::int64_t frame, std::span<const FrameRegistration> frames) {
    std::int64_t nearest = -1;
    for (const FrameRegistration& other : frames) {
        const bool usable = other.omission == Omission::none || other.omission == Omission::unlike;
        if (usable && other.frame != frame &&
            (nearest < 0 || std::abs(other.frame - frame) < std::abs(nearest - frame)))
            nearest = other.frame;
    }
    return nearest;
}

} // namespace

std::vector<std::int64_t> frames_to_examine(std::span<const FrameRegistration> frames) {
    std::vector<std::int64_t> left_out, doubtful;
    for (const FrameRegistration& frame : frames) {
        if (frame.omission == Omission::unlike)
            left_out.push_back(frame.frame);
        else if (frame.left_out.empty() && (frame.in_doubt || frame.result.unrelated))
            doubtful.push_back(frame.frame);
    }
    std::vector<std::int64_t>& examined = left_out.empty() ? doubtful : left_out;
    examined.resize(std::min(examined.size(), most_examined));
    return examined;
}

FrameEvidence evidence_of(FrameSource& series, std::span<const FrameRegistration> frames,
                          const RegistrationOptions& options) {
    FrameEvidence found;
    const double range = options.rigid.most_rotation;
    registration::RigidOptions any = options.rigid;
    any.most_rotation = any_rotation;
    std::optional<registration::PairReader> reader;
    std::vector<float> samples(static_cast<std::size_t>(series.header().shape.elements()));
    for (const std::int64_t frame : frames_to_examine(frames)) {
        try {
            series.read_frame(frame, samples);
            const FrameEvidence one{frame, is_noise(samples, series.header().shape)};
            if (found.frame < 0)
                found = one;
            const std::int64_t other = neighbour_of(frame, frames);
            if (one.noise || other < 0 || range >= any_rotation)
                continue;
            if (!reader)
                reader.emplace(series, any, options.prefilter,
                               std::make_shared<registration::FrameCache>(2));
            const registration::RigidResult pair = reader->align(other, frame);
            const double degrees = pair.motion.alpha * 180 / std::numbers::pi;
            if (registration::trusted(pair) && !pair.ambiguous && std::abs(degrees) > range)
                return {frame, false, FrameEvidence::Rotated{other, degrees}};
        } catch (const Error&) {
            // The file changed since the run, so this frame is no evidence.
        }
    }
    return found;
}

} // namespace sextant::command
