// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/sample_offset.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant {

namespace {

/// Subtracts two integers exactly, and rounds the difference to a float.
template <class T>
float difference(T value, T offset) {
    using Bits = std::make_unsigned_t<T>;
    const auto less = [](T large, T small) { // 16-bit types are promoted to int
        return static_cast<Bits>(static_cast<Bits>(large) - static_cast<Bits>(small));
    };
    return value >= offset ? static_cast<float>(less(value, offset))
                           : -static_cast<float>(less(offset, value));
}

/// True for types whose values floats cannot all represent exactly.
bool is_wide(Sample sample) {
    return size_of(sample) >= 4 && sample != Sample::f32;
}

/// Converts a value to a double. Integers beyond ±2^53 are first rounded down to a multiple of
/// 2048, so that the conversion is exact.
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

/// True if a float represents the value exactly. Integers must also be within ±2^24, the range in
/// which floats represent every integer.
template <class T>
bool is_held(T value) {
    const auto rounded = static_cast<float>(value);
    // Integers are not converted back, because this may overflow near the ends of the integer
    // range.
    return std::is_integral_v<T> ? std::abs(rounded) <= 0x1p24F : static_cast<T>(rounded) == value;
}

/// True if sums of samples in floats would err by more than about 10⁻⁶ of the range of the samples.
/// Floats have 24 significant bits, of which sums lose about one. Infinite samples and NaN are
/// ignored.
template <class T>
bool is_far(std::span<const std::byte> bytes) {
    constexpr double largest_ratio = 16;
    T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::lowest();
    for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
        T value;
        std::memcpy(&value, bytes.data() + at, sizeof(T));
        if constexpr (std::is_floating_point_v<T>) {
            if (!std::isfinite(value))
                continue;
        }
        least = std::min(least, value);
        most = std::max(most, value);
    }
    const auto low = static_cast<double>(least), high = static_cast<double>(most);
    return high > low && std::max(std::abs(low), std::abs(high)) > largest_ratio * (high - low);
}

/// Returns the sample at the quantile `share`, which is from 0 to 1.
template <class T>
T at_share(std::vector<T>& values, double share) {
    const auto place = values.begin() +
                       static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), place, values.end());
    return *place;
}

/// Returns the value nearest to `middle` that floats cannot represent exactly.
double nearest_not_held(const std::vector<double>& values, double middle) {
    double nearest = middle;
    for (const double value : values) {
        const double better = std::abs(value - middle) - std::abs(nearest - middle);
        if (!is_held(value) && (is_held(nearest) || better < 0 || (better == 0 && value < nearest)))
            nearest = value;
    }
    return nearest;
}

/// Determines the offset from samples (see offset_of()). If `of_constants`, samples that are all
/// equal get an offset, too.
template <class T>
double offset_in(std::span<const std::byte> bytes, OffsetFor purpose, bool of_constants) {
    const bool far = purpose == OffsetFor::computation && is_far<T>(bytes);
    if constexpr (sizeof(T) <= 2 || std::is_same_v<T, float>) {
        if (!far)
            return 0;
        std::vector<T> values = finite<T>(bytes);
        return static_cast<double>(at_share(values, .5));
    } else {
        std::vector<T> values = finite<T>(bytes);
        const bool held = std::all_of(values.begin(), values.end(), is_held<T>);
        if (held && purpose == OffsetFor::conversion)
            return 0;
        if (values.empty())
            return 0;
        const T middle = at_share(values, .5);
        double low = static_cast<double>(at_share(values, .05)),
               high = static_cast<double>(at_share(values, .95));
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        const bool constant = *least == *most;
        if (low == high) { // the middle 90 % of the samples are equal
            low = static_cast<double>(*least);
            high = static_cast<double>(*most);
        }
        // At this ratio of magnitude to spread, 16 of a float's 24 bits resolve the spread.
        constexpr double largest_ratio = 256;
        const double spread = high - low, magnitude = std::max(std::abs(low), std::abs(high));
        const bool lost = constant ? of_constants && !held : magnitude > largest_ratio * spread;
        if constexpr (std::is_integral_v<T>) {
            return lost || far ? as_double(middle) : 0;
        } else {
            if (lost && !held)
                return nearest_not_held(values, middle);
            const auto rounded = static_cast<float>(middle);
            return (lost || far) && std::isnormal(rounded) ? static_cast<double>(rounded) : 0;
        }
    }
}

/// Appends the samples of rows in the middle of a frame.
void add_middle_rows(FrameSource& source, std::int64_t frame, std::vector<std::byte>& bytes) {
    // Types that rarely need an offset are sampled sparsely, because small images are filtered in
    // less than 1 ms.
    const std::int64_t samples = std::int64_t{1} << (is_wide(source.header().sample) ? 16 : 14);
    const ImageShape shape = source.header().shape;
    const std::int64_t count = std::clamp<std::int64_t>(samples / shape.width, 1, shape.height);
    const std::int64_t first = (shape.height - count) / 2;
    std::vector<std::byte> rows(
        static_cast<std::size_t>(count * shape.width * size_of(source.header().sample)));
    source.read_samples(frame, {first, first + count}, rows);
    bytes.insert(bytes.end(), rows.begin(), rows.end());
}

/// Determines the offset from samples of any type; see offset_in().
double offset_of_samples(Sample sample, std::span<const std::byte> bytes, OffsetFor purpose,
                         bool of_constants = false) {
    return visit_sample(sample, [&]<class T>(std::type_identity<T>) -> double {
        if constexpr (std::is_arithmetic_v<T>)
            return offset_in<T>(bytes, purpose, of_constants);
        else
            return 0;
    });
}

/// Returns the magnitudes of the differences between finite f64 or f32 samples and an offset.
std::vector<double> differences(Sample sample, std::span<const std::byte> bytes, double offset) {
    std::vector<double> all;
    const auto add = [&](const auto& values) {
        for (const auto value : values)
            all.push_back(std::abs(static_cast<double>(value) - offset));
    };
    if (sample == Sample::f32)
        add(finite<float>(bytes));
    else
        add(finite<double>(bytes));
    return all;
}

double largest_difference(Sample sample, std::span<const std::byte> bytes, double offset) {
    double largest = 0;
    for (const double each : differences(sample, bytes, offset))
        largest = std::max(largest, each);
    return largest;
}

/// True if differences of this magnitude need no scale, because floats hold their squares, too.
bool is_usual(Sample sample, double largest) {
    return sample == Sample::f32 ? largest >= 0x1p-50 : largest >= 0x1p-32 && largest <= 0x1p32;
}

/// Returns a scale for f32 samples if floats may not hold the squares of nine tenths of them,
/// otherwise 1. The remaining tenth allows for damaged samples and markers of missing samples.
double scale_of_large(std::span<const std::byte> middle, double offset) {
    std::vector<double> values = differences(Sample::f32, middle, offset);
    std::erase(values, 0);
    if (values.empty() || at_share(values, .1) < 0x1p60)
        return 1;
    return std::ldexp(1, std::ilogb(*std::max_element(values.begin(), values.end())));
}

FrameHeader header_as_floats(FrameHeader header) {
    header.sample = Sample::f32;
    return header;
}

Centred centred_by(std::unique_ptr<FrameSource> source, double offset) {
    if (offset == 0)
        return {std::move(source), 0};
    return {std::make_unique<ScaledFrames>(std::move(source), offset, 1, false), offset};
}

/// True if the series may need an offset. Sums of 8-bit samples err by less than 10⁻⁴ without an
/// offset, and sums of f16 samples by less than the resolution of f16.
bool may_have_offset(const FrameHeader& header, OffsetFor purpose) {
    const bool is_examined = purpose == OffsetFor::conversion
                                 ? is_wide(header.sample)
                                 : size_of(header.sample) > 1 && header.sample != Sample::f16;
    return is_examined && header.channels == 1 && header.shape.elements() > 0;
}

/// Returns up to five evenly spaced frames of a series.
std::vector<std::int64_t> frames_examined(const FrameHeader& series) {
    constexpr std::int64_t count = 5;
    const std::int64_t last = series.frames - 1;
    std::vector<std::int64_t> frames;
    for (std::int64_t i = 0; i < count && last >= 0; ++i)
        frames.push_back(last * i / (count - 1));
    frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
    return frames;
}

/// Returns the samples of the middle rows of several frames.
std::vector<std::byte> middle_samples(FrameSource& source, std::span<const std::int64_t> frames) {
    std::vector<std::byte> samples;
    for (const std::int64_t frame : frames) {
        try {
            add_middle_rows(source, frame, samples);
        } catch (const InvalidFile&) {
            // The error is reported later, when the whole frame is read.
        }
    }
    return samples;
}

/// Throws InvalidFile if the f64 samples in the middle of the frames cannot be processed as floats:
/// all of them would become 0, or most of them infinite.
void require_range(FrameSource& source, std::span<const std::int64_t> frames, double offset) {
    if (source.header().sample != Sample::f64 || source.header().channels != 1)
        return;
    constexpr auto least = static_cast<double>(std::numeric_limits<float>::min());
    constexpr auto most = static_cast<double>(std::numeric_limits<float>::max());
    std::vector<double> values = finite<double>(middle_samples(source, frames));
    if (values.empty())
        return;
    for (double& value : values)
        value = std::abs(value - offset);
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    const double typical = *middle, largest = *std::max_element(middle, values.end());
    if (typical > most)
        throw InvalidFile(source.path(),
                          fmt::format("samples of magnitude {:g} exceed the range of 32-bit "
                                      "floats, in which they are processed, expected at most {:g}",
                                      typical, most));
    if (largest > 0 && largest < least)
        throw InvalidFile(source.path(),
                          fmt::format("samples differ from {:g} by at most {:g}, which 32-bit "
                                      "floats cannot represent, expected at least {:g}",
                                      offset, largest, least));
}

/// Returns the scale of frames whose offset is subtracted. Reads all samples if the middle rows do
/// not suffice.
double scale_of(FrameSource& source, std::span<const std::int64_t> all,
                std::span<const std::byte> middle, double offset) {
    const Sample sample = source.header().sample;
    double largest = largest_difference(sample, middle, offset);
    if (is_usual(sample, largest))
        return sample == Sample::f32 ? scale_of_large(middle, offset) : 1;
    const ImageShape shape = source.header().shape;
    const std::int64_t step =
        std::clamp<std::int64_t>(converted_bytes / source.header().row_bytes(), 1, shape.height);
    std::vector<std::byte> samples;
    for (const std::int64_t frame : all) {
        for (std::int64_t first = 0; first < shape.height; first += step) {
            const Rows rows{first, std::min(first + step, shape.height)};
            samples.resize(static_cast<std::size_t>(rows.count() * source.header().row_bytes()));
            source.read_samples(frame, rows, samples);
            largest = std::max(largest, largest_difference(sample, samples, offset));
        }
    }
    // The lower bound of the exponent keeps the inverse of the scale finite.
    return largest == 0 || is_usual(sample, largest)
               ? 1
               : std::ldexp(1, std::max(std::ilogb(largest), -1020));
}

std::unique_ptr<FrameSource> scaled_by(std::unique_ptr<FrameSource> source,
                                       std::span<const std::int64_t> examined,
                                       std::span<const std::int64_t> all, bool of_volume) {
    if (!may_have_offset(source->header(), OffsetFor::computation))
        return source;
    const Sample sample = source->header().sample;
    const std::vector<std::byte> middle = middle_samples(*source, examined);
    const double offset =
        middle.empty() ? 0 : offset_of_samples(sample, middle, OffsetFor::computation, true);
    // Products of samples are computed only for volumes, so f32 images need no scale.
    const bool has_scale = sample == Sample::f64 || (sample == Sample::f32 && of_volume);
    const double scale = has_scale ? scale_of(*source, all, middle, offset) : 1;
    if (sample != Sample::f64 && offset == 0 && scale == 1)
        return source;
    return std::make_unique<ScaledFrames>(std::move(source), offset, scale, true);
}

} // namespace

void to_floats_less(Sample sample, double offset, std::span<const std::byte> from,
                    std::span<float> to) {
    if (from.size() != to.size() * static_cast<std::size_t>(size_of(sample)))
        throw std::logic_error("the size of the float buffer does not match the number of samples");
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

double offset_of(FrameSource& source, std::span<const std::int64_t> frames, OffsetFor purpose) {
    const FrameHeader& header = source.header();
    if (!may_have_offset(header, purpose))
        return 0;
    std::vector<double> offsets;
    for (const std::int64_t frame : frames) {
        try {
            std::vector<std::byte> samples;
            add_middle_rows(source, frame, samples);
            offsets.push_back(offset_of_samples(header.sample, samples, purpose));
        } catch (const InvalidFile&) {
            // The error is reported later, when the whole frame is read.
        }
    }
    if (offsets.empty())
        return 0;
    const auto middle = offsets.begin() + std::ssize(offsets) / 2;
    std::nth_element(offsets.begin(), middle, offsets.end(),
                     [](double a, double b) { return std::abs(a) < std::abs(b); });
    return *middle;
}

bool floats_hold_offset(Sample stored, double offset) {
    return !is_wide(stored) ||
           (stored == Sample::f64 ? is_held(offset) : std::abs(offset) <= 0x1p24);
}

float offset_added(Sample sink, Sample stored, double offset) {
    return sink != Sample::f64 && floats_hold_offset(stored, offset) ? static_cast<float>(offset)
                                                                     : 0;
}

std::span<const float> sum_of(std::span<const float> values, float offset,
                              std::vector<float>& buffer) {
    if (offset == 0)
        return values;
    buffer.resize(values.size());
    std::transform(values.begin(), values.end(), buffer.begin(),
                   [offset](float value) { return value + offset; });
    return buffer;
}

Centred less_offset(std::unique_ptr<FrameSource> source, OffsetFor purpose) {
    const std::vector<std::int64_t> frames = frames_examined(source->header());
    const double offset = offset_of(*source, frames, purpose);
    require_range(*source, frames, offset);
    return centred_by(std::move(source), offset);
}

Centred less_offset(std::unique_ptr<FrameSource> source, std::int64_t frame, OffsetFor purpose) {
    const double offset = offset_of(*source, {&frame, 1}, purpose);
    require_range(*source, {&frame, 1}, offset);
    return centred_by(std::move(source), offset);
}

Centred less_offset_of_volume(std::unique_ptr<FrameSource> source, OffsetFor purpose) {
    if (!may_have_offset(source->header(), purpose))
        return {std::move(source), 0};
    const std::vector<std::int64_t> frames = frames_examined(source->header());
    const std::vector<std::byte> samples = middle_samples(*source, frames);
    const double offset =
        samples.empty() ? 0 : offset_of_samples(source->header().sample, samples, purpose);
    require_range(*source, frames, offset);
    return centred_by(std::move(source), offset);
}

ScaledFrames::ScaledFrames(std::unique_ptr<FrameSource> source, double offset, double scale,
                           bool strict)
    : FrameSource(source->path(), header_as_floats(source->header()),
                  {[this](auto... part) { load(part...); }}),
      source_(std::move(source)),
      offset_(offset),
      scale_(scale),
      strict_(strict) {}

void ScaledFrames::load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
    const Sample sample = source_->header().sample;
    const auto width = static_cast<std::size_t>(header().shape.width);
    stored_.resize(to.size() / sizeof(float) * static_cast<std::size_t>(size_of(sample)));
    source_->read_samples(frame, rows, stored_);
    std::vector<float> floats(width);
    const std::size_t row_bytes = width * static_cast<std::size_t>(size_of(sample));
    for (std::int64_t row = rows.first; row < rows.last; ++row) {
        const auto done = static_cast<std::size_t>(row - rows.first);
        const std::span<std::byte> from = std::span(stored_).subspan(done * row_bytes, row_bytes);
        if (sample != Sample::f64) {
            to_floats_less(sample, offset_, from, floats);
            Elements vanished = 0;
            for (float& value : floats) {
                const auto divided = static_cast<float>(static_cast<double>(value) / scale_);
                vanished += divided == 0 && value != 0;
                value = divided;
            }
            if (vanished > 0)
                vanished_[frame * header().shape.height + row] = vanished;
        } else {
            Elements vanished = 0;
            for (std::size_t i = 0; i < width; ++i) {
                double value = 0;
                std::memcpy(&value, from.data() + i * sizeof(value), sizeof(value));
                const double difference = value - offset_;
                floats[i] = static_cast<float>(difference / scale_);
                vanished += floats[i] == 0 && difference != 0;
            }
            check_range(from, floats, scale_, strict_, path(), frame);
            if (vanished > 0)
                vanished_[frame * header().shape.height + row] = vanished;
        }
        std::memcpy(to.data() + done * width * sizeof(float), floats.data(), width * sizeof(float));
    }
}

std::unique_ptr<FrameSource> scaled(std::unique_ptr<FrameSource> source, std::int64_t frame) {
    return scaled_by(std::move(source), {&frame, 1}, {&frame, 1}, false);
}

std::unique_ptr<FrameSource> scaled_volume(std::unique_ptr<FrameSource> source) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(source->header().frames));
    std::iota(all.begin(), all.end(), 0);
    const std::vector<std::int64_t> examined = frames_examined(source->header());
    return scaled_by(std::move(source), examined, all, true);
}

std::unique_ptr<FrameSource> strict(Centred series) {
    if (auto* const scaled = dynamic_cast<ScaledFrames*>(series.frames.get()))
        scaled->be_strict();
    else if (series.frames->header().sample == Sample::f64 && series.frames->header().channels == 1)
        return std::make_unique<ScaledFrames>(std::move(series.frames), 0, 1, true);
    return std::move(series.frames);
}

Elements to_nearest_floats(std::span<const double> from, std::span<float> to) {
    Elements lost = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
        to[i] = static_cast<float>(from[i]);
        lost += (std::isinf(to[i]) && std::isfinite(from[i])) || (to[i] == 0 && from[i] != 0);
    }
    return lost;
}

std::string remark_on_lost_results(Elements lost, const std::string& path) {
    return lost == 0 ? ""
                     : fmt::format("{}: {} results are infinite or 0, because f32 cannot represent "
                                   "them; convert the samples to f64 to get f64 results",
                                   path, lost);
}

void to_doubles(std::span<const float> from, double offset, double scale, std::span<double> to,
                const std::string& path) {
    for (std::size_t i = 0; i < from.size(); ++i) {
        const double product = scale * static_cast<double>(from[i]);
        to[i] = product + offset;
        if (std::isfinite(from[i]) && (!std::isfinite(to[i]) || (product == 0 && from[i] != 0)))
            throw InvalidFile(path, fmt::format("a result of {:g} x {:g} exceeds the range of f64",
                                                from[i], scale));
    }
}

void to_floats(std::span<const double> from, std::span<float> to, const std::string& path) {
    for (std::size_t i = 0; i < from.size(); ++i) {
        to[i] = static_cast<float>(from[i]);
        const bool lost =
            (std::isinf(to[i]) && std::isfinite(from[i])) || (to[i] == 0 && from[i] != 0);
        if (lost)
            throw InvalidFile(
                path,
                fmt::format("a result is {:g}, which f32 cannot represent, expected f64", from[i]));
    }
}

void write_scaled(FrameSink& sink, std::span<const float> values, double offset, double scale) {
    const bool wide = sink.header().sample == Sample::f64;
    if (!wide && scale == 1)
        return sink.write(values);
    constexpr std::size_t at_once = std::size_t{1} << 15;
    const auto width = static_cast<std::size_t>(sink.header().shape.width);
    const std::size_t step = std::max(at_once / width, std::size_t{1}) * width;
    std::vector<double> doubles;
    std::vector<float> floats;
    for (std::size_t first = 0; first < values.size(); first += step) {
        const auto some = values.subspan(first, std::min(step, values.size() - first));
        doubles.resize(some.size());
        to_doubles(some, wide ? offset : 0, scale, doubles, sink.path());
        if (wide) {
            sink.write_samples(std::as_bytes(std::span(doubles)));
            continue;
        }
        floats.resize(some.size());
        to_floats(doubles, floats, sink.path());
        sink.write(floats);
    }
}

} // namespace sextant
