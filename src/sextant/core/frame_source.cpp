// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/frame_source.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace sextant {

namespace {

/// Bytes converted at a time: few enough to stay in the cache.
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
        throw std::logic_error("attempt to read rows or frames that the source does not have");
    }
    if (static_cast<Bytes>(given) != expected)
        throw std::logic_error("the size of the buffer differs from that of the rows to read");
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
        throw std::logic_error("a sink accepts only grey frames");
}

Bytes FrameSink::row_bytes() const {
    return bytes_of_row(header_);
}

/// Returns the number of rows in `given` samples or bytes, at `row` of them per row. Throws
/// std::logic_error for partial rows and for more rows than remain.
std::int64_t FrameSink::checked_rows(std::size_t given, std::size_t row) const {
    const auto count = static_cast<std::int64_t>(given / row);
    if (given % row != 0 || frame_ >= header_.frames || row_ + count > header_.shape.height)
        throw std::logic_error("attempt to write incomplete rows, or rows beyond the last frame");
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
    if (header_.sample == Sample::f32 && count > 0)
        return append_rows(count, std::as_bytes(rows));
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
        throw std::logic_error("a sink was committed before all its frames were written");
    finish();
}

namespace {

/// The exact difference of two integers, rounded to a float.
template <class T>
float difference(T value, T offset) {
    using Bits = std::make_unsigned_t<T>;
    if (value >= offset)
        return static_cast<float>(static_cast<Bits>(value) - static_cast<Bits>(offset));
    return -static_cast<float>(static_cast<Bits>(offset) - static_cast<Bits>(value));
}

/// True for types with values that a float cannot hold.
bool is_wide(Sample sample) {
    return size_of(sample) >= 4 && sample != Sample::f32;
}

/// The value as a double. Integers beyond ±2^53 are first rounded down to a multiple of 2048, so
/// that the conversion is exact.
template <class T>
double as_double(T value) {
    if constexpr (std::is_integral_v<T> && sizeof(T) > 4) {
        constexpr T exact = T{1} << 53;
        if (value > exact || (std::is_signed_v<T> && value < T{} - exact))
            value = static_cast<T>(value & ~T{2047});
    }
    return static_cast<double>(value);
}

template <class T>
std::vector<T> finite(std::span<const std::byte> bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    if constexpr (std::is_floating_point_v<T>)
        std::erase_if(values, [](T value) { return !std::isfinite(value); });
    return values;
}

/// The offset determined from some samples (see offset_of()).
template <class T>
double offset_in(std::vector<T> values) {
    const bool exact = std::all_of(values.begin(), values.end(), [](T value) {
        const auto rounded = static_cast<float>(value);
        // Integers are not converted back: that may overflow near the ends of their range.
        return std::is_integral_v<T> ? std::abs(rounded) <= 0x1p24F
                                     : static_cast<T>(rounded) == value;
    });
    if (exact)
        return 0;
    const auto at = [&](double share) {
        const auto place = values.begin() + static_cast<std::ptrdiff_t>(
                                                share * static_cast<double>(values.size() - 1));
        std::nth_element(values.begin(), place, values.end());
        return *place;
    };
    const T middle = at(.5);
    double low = static_cast<double>(at(.05)), high = static_cast<double>(at(.95));
    if (low == high) { // the middle 90 % of the samples are equal
        low = static_cast<double>(*std::min_element(values.begin(), values.end()));
        high = static_cast<double>(*std::max_element(values.begin(), values.end()));
    }
    // At this ratio of magnitude to spread, 16 of a float's 24 bits resolve the spread.
    constexpr double largest_ratio = 256;
    const double spread = high - low, magnitude = std::max(std::abs(low), std::abs(high));
    const bool constant = *std::min_element(values.begin(), values.end()) ==
                          *std::max_element(values.begin(), values.end());
    return constant || !(magnitude > largest_ratio * spread) ? 0 : as_double(middle);
}

/// Appends the samples of some rows in the middle of a frame.
void add_middle_rows(FrameSource& source, std::int64_t frame, std::vector<std::byte>& bytes) {
    constexpr std::int64_t samples = std::int64_t{1} << 16;
    const ImageShape shape = source.header().shape;
    const std::int64_t count = std::clamp<std::int64_t>(samples / shape.width, 1, shape.height);
    const std::int64_t first = (shape.height - count) / 2;
    std::vector<std::byte> rows(
        static_cast<std::size_t>(count * shape.width * size_of(source.header().sample)));
    source.read_samples(frame, {first, first + count}, rows);
    bytes.insert(bytes.end(), rows.begin(), rows.end());
}

/// The offset determined from samples of a wide type.
double offset_of_samples(Sample sample, std::span<const std::byte> bytes) {
    return visit_sample(sample, [&]<class T>(std::type_identity<T>) -> double {
        if constexpr (std::is_arithmetic_v<T>)
            return offset_in(finite<T>(bytes));
        else
            return 0;
    });
}

class OffsetSource final : public FrameSource {
  public:
    OffsetSource(std::unique_ptr<FrameSource> source, double offset)
        : FrameSource(source->path(), header_of(source->header())),
          source_(std::move(source)),
          offset_(offset) {}

  private:
    static FrameHeader header_of(FrameHeader header) {
        header.sample = Sample::f32;
        return header;
    }

    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) override {
        const Sample sample = source_->header().sample;
        const std::size_t count = to.size() / sizeof(float);
        stored_.resize(count * static_cast<std::size_t>(size_of(sample)));
        source_->read_samples(frame, rows, stored_);
        floats_.resize(count);
        to_floats_less(sample, offset_, stored_, floats_);
        std::memcpy(to.data(), floats_.data(), to.size());
    }

    std::unique_ptr<FrameSource> source_;
    double offset_;
    std::vector<std::byte> stored_;
    std::vector<float> floats_;
};

Centred centred_by(std::unique_ptr<FrameSource> source, double offset) {
    if (offset == 0)
        return {std::move(source), 0};
    return {std::make_unique<OffsetSource>(std::move(source), offset), offset};
}

/// True if offsets are determined for such a series.
bool may_have_offset(const FrameHeader& header) {
    return is_wide(header.sample) && header.channels == 1 && header.shape.elements() > 0;
}

/// Some frames of a series, evenly spaced.
std::vector<std::int64_t> frames_examined(const FrameHeader& series) {
    constexpr std::int64_t count = 5;
    const std::int64_t last = series.frames - 1;
    std::vector<std::int64_t> frames;
    for (std::int64_t i = 0; i < count && last >= 0; ++i)
        frames.push_back(last * i / (count - 1));
    frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
    return frames;
}

} // namespace

void to_floats_less(Sample sample, double offset, std::span<const std::byte> from,
                    std::span<float> to) {
    if (from.size() != to.size() * static_cast<std::size_t>(size_of(sample)))
        throw std::logic_error("the buffer of floats does not match the number of samples");
    visit_sample(sample, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_arithmetic_v<T>) {
            const auto taken_off = static_cast<T>(offset);
            for (std::size_t i = 0; i < to.size(); ++i) {
                T value{};
                std::memcpy(&value, from.data() + i * sizeof(T), sizeof(T));
                if constexpr (std::is_integral_v<T>)
                    to[i] = difference(value, taken_off);
                else
                    to[i] = static_cast<float>(value - taken_off);
            }
        } else {
            throw std::logic_error("an offset cannot be subtracted from half-precision samples");
        }
    });
}

double offset_of(FrameSource& source, std::span<const std::int64_t> frames) {
    const FrameHeader& header = source.header();
    if (!may_have_offset(header))
        return 0;
    std::vector<double> offsets;
    for (const std::int64_t frame : frames) {
        try {
            std::vector<std::byte> samples;
            add_middle_rows(source, frame, samples);
            offsets.push_back(offset_of_samples(header.sample, samples));
        } catch (const InvalidFile&) {
            // The error is reported when the whole frame is read.
        }
    }
    if (offsets.empty())
        return 0;
    const auto middle = offsets.begin() + std::ssize(offsets) / 2;
    std::nth_element(offsets.begin(), middle, offsets.end(),
                     [](double a, double b) { return std::abs(a) < std::abs(b); });
    return *middle;
}

Centred less_offset(std::unique_ptr<FrameSource> source) {
    const double offset = offset_of(*source, frames_examined(source->header()));
    return centred_by(std::move(source), offset);
}

Centred less_offset(std::unique_ptr<FrameSource> source, std::int64_t frame) {
    const double offset = offset_of(*source, {&frame, 1});
    return centred_by(std::move(source), offset);
}

Centred less_offset_of_volume(std::unique_ptr<FrameSource> source) {
    if (!may_have_offset(source->header()))
        return {std::move(source), 0};
    std::vector<std::byte> samples;
    for (const std::int64_t frame : frames_examined(source->header())) {
        try {
            add_middle_rows(*source, frame, samples);
        } catch (const InvalidFile&) {
            // The error is reported when the whole frame is read.
        }
    }
    const double offset = samples.empty() ? 0 : offset_of_samples(source->header().sample, samples);
    return centred_by(std::move(source), offset);
}

void write_with_offset(FrameSink& sink, std::span<const float> values, double offset) {
    if (sink.header().sample != Sample::f64)
        return sink.write(values);
    constexpr std::size_t at_once = std::size_t{1} << 15;
    const auto width = static_cast<std::size_t>(sink.header().shape.width);
    const std::size_t step = std::max(at_once / width, std::size_t{1}) * width;
    std::vector<double> wide;
    for (std::size_t first = 0; first < values.size(); first += step) {
        const auto some = values.subspan(first, std::min(step, values.size() - first));
        wide.resize(some.size());
        std::transform(some.begin(), some.end(), wide.begin(),
                       [offset](float value) { return static_cast<double>(value) + offset; });
        sink.write_samples(std::as_bytes(std::span(wide)));
    }
}

} // namespace sextant
