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

/// Fills [first, last) of a row from what lies at its ends.
void fill_between(std::span<float> row, std::size_t first, std::size_t last) {
    const bool left = first > 0, right = last < row.size();
    const double from = static_cast<double>(left ? row[first - 1] : row[last]);
    const double to = static_cast<double>(right ? row[last] : row[first - 1]);
    const double length = static_cast<double>(last - first + 1);
    for (std::size_t x = first; x < last; ++x)
        row[x] =
            static_cast<float>(from + (to - from) * static_cast<double>(x - first + 1) / length);
}

void fill_row(std::span<float> row, float mean) {
    const auto is_gap = [&](std::size_t x) { return !std::isfinite(row[x]); };
    for (std::size_t x = 0; x < row.size();) {
        std::size_t end = x;
        while (end < row.size() && is_gap(end))
            ++end;
        if (end - x == row.size())
            std::fill(row.begin(), row.end(), mean);
        else if (end > x)
            fill_between(row, x, end);
        x = end + 1;
    }
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

void fill_gaps(std::span<float> samples, ImageShape shape, double mean) {
    const auto width = static_cast<std::size_t>(shape.width);
    for (std::size_t y = 0; y < static_cast<std::size_t>(shape.height); ++y)
        fill_row(samples.subspan(y * width, width), static_cast<float>(mean));
}

} // namespace sextant::registration
