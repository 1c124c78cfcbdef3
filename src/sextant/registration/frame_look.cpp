// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/frame_look.hpp"

#include "sextant/core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// Counts of electrons are no larger, often.
constexpr double small_counts = 16;

double share(std::int64_t part, std::int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
}

} // namespace

FrameLook look_at(std::span<const float> samples) {
    FrameLook look;
    look.samples = static_cast<std::int64_t>(samples.size());
    float least = std::numeric_limits<float>::infinity(), largest = -least;
    double sum = 0;
    for (const float sample : samples) {
        if (!std::isfinite(sample)) {
            ++look.gaps;
            continue;
        }
        sum += static_cast<double>(sample);
        least = std::min(least, sample);
        if (sample > largest) {
            largest = sample;
            look.at_largest = 0;
        }
        look.at_largest += sample == largest;
    }
    if (look.gaps < look.samples) {
        look.mean = sum / static_cast<double>(look.samples - look.gaps);
        look.least = static_cast<double>(least);
        look.largest = static_cast<double>(largest);
    }
    return look;
}

UsualLook usual_look(std::span<const FrameLook> frames) {
    UsualLook usual;
    std::vector<double> means;
    for (const FrameLook& frame : frames) {
        if (frame.gaps == frame.samples)
            continue;
        usual.largest = means.empty() ? frame.largest : std::max(usual.largest, frame.largest);
        means.push_back(frame.mean);
    }
    if (!means.empty())
        usual.mean = median(means);
    return usual;
}

std::string fault_of(const FrameLook& frame, const UsualLook& usual, const LookLimits& limits) {
    if (share(frame.gaps, frame.samples) > limits.most_gaps)
        return fmt::format("{} of {} samples are not finite numbers", frame.gaps, frame.samples);
    if (frame.least == frame.largest)
        return fmt::format("every sample is {:g}", frame.least);
    if (usual.mean > 0 && frame.mean < limits.least_brightness * usual.mean)
        return fmt::format("its mean is {:.4g}, that of others {:.4g}", frame.mean, usual.mean);
    const bool counts = std::floor(frame.largest) == frame.largest && frame.largest <= small_counts;
    const double at_largest = share(frame.at_largest, frame.samples);
    if (!counts && frame.largest == usual.largest && at_largest > limits.most_saturated)
        return fmt::format("{:.0f} % of its samples are saturated at {:g}", 100 * at_largest,
                           frame.largest);
    return "";
}

} // namespace sextant::registration
