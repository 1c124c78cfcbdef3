// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/plane_sink.hpp"

#include "sextant/array/sample_offset.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace sextant {

PlaneSink::PlaneSink(std::unique_ptr<FrameSink> sink, std::vector<double> offsets)
    : sink_(std::move(sink)), offsets_(std::move(offsets)) {
    offsets_.resize(2 * offsets_.size(), 1);
}

PlaneSink::PlaneSink(std::unique_ptr<FrameSink> sink, std::vector<double> offsets,
                     const std::vector<double>& scales)
    : sink_(std::move(sink)), offsets_(std::move(offsets)) {
    if (scales.size() != offsets_.size())
        throw std::logic_error("the number of scales differs from the number of offsets");
    offsets_.insert(offsets_.end(), scales.begin(), scales.end());
}

void PlaneSink::write(std::int64_t plane, std::int64_t first, std::span<const float> rows) {
    const auto width = static_cast<std::size_t>(shape().width);
    const auto count = static_cast<std::int64_t>(rows.size() / width);
    if (rows.size() % width != 0 || plane < 0 || plane >= planes() || first < 0 ||
        first + count > shape().height) {
        throw std::logic_error("attempt to write incomplete rows, or rows beyond the last plane");
    }
    rows_given_ += count;
    if (plane == plane_ && first == row_)
        pass_on(rows);
    else
        keep(plane, first, rows);
}

void PlaneSink::commit() {
    if (rows_given_ != planes() * shape().height)
        throw std::logic_error("planes were committed before all their rows were written");
    pass_on_kept();
    sink_->commit();
}

/// The position of a row in the temporary file, which stores the planes one after another.
Bytes PlaneSink::place_of(std::int64_t plane, std::int64_t row) const {
    return (plane * shape().height + row) * shape().width * static_cast<Bytes>(sizeof(float));
}

void PlaneSink::pass_on(std::span<const float> rows) {
    const auto plane = static_cast<std::size_t>(plane_);
    if (offsets_.empty())
        sink_->write(rows);
    else
        write_scaled(*sink_, rows, offsets_[plane], offsets_[offsets_.size() / 2 + plane]);
    row_ += static_cast<std::int64_t>(rows.size()) / shape().width;
    if (row_ == shape().height) {
        row_ = 0;
        ++plane_;
    }
}

void PlaneSink::keep(std::int64_t plane, std::int64_t first, std::span<const float> rows) {
    if (!kept_)
        kept_.emplace(sink_->path() + ".planes");
    kept_->seek(place_of(plane, first));
    kept_->write(std::as_bytes(rows));
}

void PlaneSink::pass_on_kept() {
    constexpr Elements at_once = Elements{1} << 18;
    const std::int64_t most = std::clamp<std::int64_t>(at_once / shape().width, 1, shape().height);
    std::vector<float> rows;
    while (plane_ < planes()) {
        const std::int64_t count = std::min(most, shape().height - row_);
        rows.resize(static_cast<std::size_t>(count * shape().width));
        const auto bytes = std::as_writable_bytes(std::span(rows));
        const Bytes got = kept_->read_at(place_of(plane_, row_), bytes);
        if (got != static_cast<Bytes>(bytes.size()))
            throw InvalidFile(
                kept_->path(),
                fmt::format("has {} bytes starting at row {} of plane {}, expected {}", got, row_,
                            plane_, bytes.size()));
        pass_on(rows);
    }
}

} // namespace sextant
