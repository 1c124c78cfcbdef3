// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/flyback.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

namespace sextant::registration {

namespace {

FrameHeader header_with_gaps(FrameHeader header) {
    header.sample = Sample::f32;
    header.channels = 1;
    return header;
}

} // namespace

std::int64_t disturbed_columns(std::span<const ColumnErrors> errors) {
    constexpr double least_excess = .08, least_deviations = 4, known_well = .05;
    constexpr std::int64_t fewest = 3, margin = 2;
    if (errors.empty() || !(errors.back().count > 0))
        return 0;
    const auto mean_of = [](const ColumnErrors& column) {
        return static_cast<double>(column.squares) / static_cast<double>(column.count);
    };
    const double usual = mean_of(errors.back());
    const auto at_edge = static_cast<std::int64_t>(errors.size()) - 1;
    std::int64_t end = 0, disturbed = 0, usual_ones = 0;
    for (std::int64_t i = 0; i < at_edge && usual_ones < fewest; ++i) {
        const ColumnErrors& column = errors[static_cast<std::size_t>(i)];
        if (!(column.count > 0))
            continue; // outside the reference in all frames
        const double deviation = std::sqrt(2 / static_cast<double>(column.count));
        const double excess = mean_of(column) / usual - 1;
        if (excess > std::max(least_excess, least_deviations * deviation)) {
            end = i + 1;
            ++disturbed;
            usual_ones = 0;
        } else if (deviation < known_well) {
            ++usual_ones;
        }
    }
    return disturbed < fewest ? 0 : end + margin;
}

FlybackGaps::FlybackGaps(FrameSource& source, std::int64_t columns)
    : FrameSource(source.path(), header_with_gaps(source.header())),
      source_(source),
      columns_(columns) {}

void FlybackGaps::load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
    const Elements width = header().shape.width;
    samples_.resize(static_cast<std::size_t>(rows.count() * width));
    source_.read_rows(frame, rows, samples_);
    for (Elements row = 0; row < rows.count(); ++row)
        std::fill_n(samples_.begin() + row * width, std::min(columns_, width),
                    std::numeric_limits<float>::quiet_NaN());
    std::memcpy(to.data(), samples_.data(), to.size());
}

} // namespace sextant::registration
