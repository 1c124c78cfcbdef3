// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/frame_source.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sextant {

namespace {

/// What is converted at a time: little enough to stay in the cache.
constexpr Bytes converted_bytes = Bytes{1} << 18;

Bytes bytes_of_row(const FrameHeader& header) {
    return header.shape.width * header.channels * size_of(header.sample);
}

} // namespace

Seconds frame_interval_of(const FrameHeader& series, std::span<const std::int64_t> frames) {
    if (frames.size() < 2)
        return 0;
    const std::int64_t step = frames[1] - frames[0];
    const auto uneven = [step](std::int64_t a, std::int64_t b) { return b - a != step; };
    const bool even =
        std::adjacent_find(frames.begin(), frames.end(), uneven) == frames.end() && step > 0;
    return even ? static_cast<double>(step) * series.frame_interval : 0;
}

FrameSource::FrameSource(std::string path, FrameHeader header)
    : path_(std::move(path)), header_(std::move(header)) {}

Bytes FrameSource::row_bytes() const {
    return bytes_of_row(header_);
}

void FrameSource::check(std::int64_t frame, Rows rows, std::size_t given, Bytes expected) const {
    if (frame < 0 || frame >= header_.frames || rows.first < 0 || rows.first > rows.last ||
        rows.last > header_.shape.height) {
        throw std::logic_error("rows or frames read that a source does not have");
    }
    if (static_cast<Bytes>(given) != expected)
        throw std::logic_error("rows read into memory of another size");
}

void FrameSource::read_samples(std::int64_t frame, Rows rows, std::span<std::byte> to) {
    check(frame, rows, to.size(), rows.count() * row_bytes());
    if (rows.count() > 0)
        load(frame, rows, to);
}

void FrameSource::to_grey(std::span<const float> pixels, std::span<float> to) const {
    const auto channels = static_cast<std::size_t>(header_.channels);
    for (std::size_t i = 0; i < to.size(); ++i) {
        const float* pixel = pixels.data() + i * channels;
        to[i] = channels < 3 ? pixel[0] : luminance(pixel[0], pixel[1], pixel[2]);
    }
}

void FrameSource::read_rows(std::int64_t frame, Rows rows, std::span<float> to) {
    check(frame, rows, to.size(), rows.count() * header_.shape.width);
    const auto width = static_cast<std::size_t>(header_.shape.width);
    const std::int64_t step = std::max<std::int64_t>(1, converted_bytes / row_bytes());
    for (std::int64_t first = rows.first; first < rows.last; first += step) {
        const Rows some{first, std::min(first + step, rows.last)};
        const auto count = static_cast<std::size_t>(some.count());
        stored_.resize(count * static_cast<std::size_t>(row_bytes()));
        load(frame, some, stored_);
        const auto grey =
            to.subspan(static_cast<std::size_t>(first - rows.first) * width, count * width);
        if (header_.channels == 1) {
            to_floats(header_.sample, stored_, grey);
            continue;
        }
        wide_.resize(grey.size() * static_cast<std::size_t>(header_.channels));
        to_floats(header_.sample, stored_, wide_);
        to_grey(wide_, grey);
    }
}

void FrameSource::read_frame(std::int64_t frame, std::span<float> to) {
    read_rows(frame, {0, header_.shape.height}, to);
}

FrameSink::FrameSink(std::string path, FrameHeader header)
    : path_(std::move(path)), header_(std::move(header)) {
    if (header_.channels != 1)
        throw std::logic_error("a sink takes grey frames");
}

Bytes FrameSink::row_bytes() const {
    return bytes_of_row(header_);
}

/// How many rows are given, of so much each.
std::int64_t FrameSink::checked_rows(std::size_t given, std::size_t row) const {
    const auto count = static_cast<std::int64_t>(given / row);
    if (given % row != 0 || frame_ >= header_.frames || row_ + count > header_.shape.height)
        throw std::logic_error("rows written that are not whole or that no frame has");
    return count;
}

void FrameSink::append_rows(std::int64_t count, std::span<const std::byte> samples) {
    append(frame_, {row_, row_ + count}, samples);
    row_ += count;
    if (row_ == header_.shape.height) {
        row_ = 0;
        ++frame_;
    }
}

void FrameSink::write(std::span<const float> rows) {
    const auto width = static_cast<std::size_t>(header_.shape.width);
    const std::int64_t count = checked_rows(rows.size(), width);
    const std::int64_t step = std::max<std::int64_t>(1, converted_bytes / row_bytes());
    for (std::int64_t done = 0; done < count; done += step) {
        const std::int64_t some = std::min(step, count - done);
        stored_.resize(static_cast<std::size_t>(some * row_bytes()));
        from_floats(header_.sample,
                    rows.subspan(static_cast<std::size_t>(done) * width,
                                 static_cast<std::size_t>(some) * width),
                    stored_);
        append_rows(some, stored_);
    }
}

void FrameSink::write_samples(std::span<const std::byte> rows) {
    const std::int64_t count = checked_rows(rows.size(), static_cast<std::size_t>(row_bytes()));
    if (count > 0)
        append_rows(count, rows);
}

void FrameSink::commit() {
    if (frame_ != header_.frames)
        throw std::logic_error("a sink committed before all its frames were written");
    finish();
}

} // namespace sextant
