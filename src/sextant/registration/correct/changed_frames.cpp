// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/correct/changed_frames.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

namespace sextant::registration {

FrameHeader as_grey_floats(FrameHeader header) {
    header.sample = Sample::f32;
    header.channels = 1;
    return header;
}

ChangedFrames::ChangedFrames(FrameSource& source, RowChange change)
    : FrameSource(source.path(), as_grey_floats(source.header()),
                  {[this](auto... part) { load(part...); }}),
      source_(source),
      change_(std::move(change)) {}

void ChangedFrames::load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
    samples_.resize(static_cast<std::size_t>(rows.count() * header().shape.width));
    source_.read_rows(frame, rows, samples_);
    change_(frame, rows, samples_);
    std::memcpy(to.data(), samples_.data(), to.size());
}

RowChange mirrored_at(std::vector<double> levels) {
    return [levels = std::move(levels)](std::int64_t frame, Rows, std::span<float> samples) {
        const double level = levels[static_cast<std::size_t>(frame)];
        if (std::isnan(level))
            return;
        for (float& sample : samples)
            sample = static_cast<float>(2 * level - static_cast<double>(sample));
    };
}

RowChange without_columns(std::int64_t columns, Elements width) {
    return [columns, width](std::int64_t, Rows rows, std::span<float> samples) {
        for (Elements row = 0; row < rows.count(); ++row)
            std::fill_n(samples.begin() + row * width, std::min(columns, width),
                        std::numeric_limits<float>::quiet_NaN());
    };
}

} // namespace sextant::registration
