// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/series/aligned_stack.hpp"

#include "sextant/array/sample_offset.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/registration/transform/array_choices.hpp"
#include "sextant/registration/transform/sample_strips.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace sextant::command {

namespace {

constexpr std::array<std::string_view, 3> words{"auto", "on", "off"};

/// Returns true if a file with this name can contain a series of frames.
bool names_a_stack(const std::string& path) {
    return format::find_frame_format(path) != nullptr && can_write_frames(path, Sample::f32);
}

/// Returns the sample for pixels without data: the requested one, else 0 or NaN. Throws InvalidTask
/// if the requested one is not a value of the type.
double gap_of(const std::optional<double>& requested, Sample sample) {
    if (!requested)
        return registration::usual_gap(sample);
    visit_sample(sample, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_integral_v<T>) {
            if (!registration::is_in_range(sample, *requested) ||
                *requested != std::floor(*requested))
                throw InvalidTask(fmt::format(
                    "--gap {}: expected a whole number from {} to {}, because samples are {}",
                    *requested, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                    name(sample)));
        }
    });
    return *requested;
}

} // namespace

Sample sample_in_file(const std::string& path, Sample sample) {
    if (can_write_frames(path, sample))
        return sample;
    for (const Sample type :
         {Sample::u16, Sample::i16, Sample::i32, Sample::u32, Sample::i64, Sample::u64}) {
        if (registration::has_range_of(type, sample) && can_write_frames(path, type))
            return type;
    }
    return Sample::f32;
}

bool AlignedChoice::is_file() const {
    return std::find(words.begin(), words.end(), when) == words.end();
}

Record record_of(AlignedChoice& choice) {
    Codec codec = {[&choice] { return choice.when; },
                   [&choice](const Field&, std::string_view text) {
                       const bool word = std::find(words.begin(), words.end(), text) != words.end();
                       if (!word && !names_a_stack(std::string(text)))
                           return "auto, on, off or a file (.tif, .mrc, .npy, .zarr)";
                       choice.when = text;
                       return "";
                   }};
    Record record;
    record
        .add("aligned", std::move(codec), "WHEN",
             "write aligned frames: auto (up to 2 GiB), on, off, or a FILE")
        .or_without("on")
        .by_rank();
    record
        .add("gap", choice.gap, "V",
             "value of samples outside the data; default: 0 for integers, else NaN")
        .between(-std::numeric_limits<double>::max(), std::numeric_limits<double>::max());
    return record;
}

namespace {

/// Cancels the stack if it is too large to be written without being requested.
void omit_if_large(AlignedStack& stack, const AlignedChoice& choice) {
    if (choice.when != "auto" || stack.bytes <= largest_default_stack)
        return;
    stack.omitted = fmt::format("the aligned stack of {} is not written: --aligned=on, or "
                                "--aligned=FILE, writes it",
                                report::bytes_to_text(static_cast<double>(stack.bytes)));
    stack.path.clear();
}

} // namespace

AlignedStack plan_aligned(const AlignedChoice& choice, const std::string& usual_path,
                          const FrameHeader& series) {
    AlignedStack stack;
    if (choice.when == "off")
        return stack;
    const std::string& path = choice.is_file() ? choice.when : usual_path;
    stack.sample = sample_in_file(path, series.sample);
    stack.gap = gap_of(choice.gap, stack.sample);
    stack.bytes = series.frames * series.shape.elements() * size_of(stack.sample);
    stack.path = path;
    omit_if_large(stack, choice);
    return stack;
}

void settle_aligned(AlignedStack& stack, const AlignedChoice& choice,
                    const registration::PixelArea& area, std::int64_t frames) {
    if (stack.path.empty())
        return;
    stack.area = area;
    stack.frames = frames;
    stack.bytes = frames * area.shape.elements() * size_of(stack.sample);
    omit_if_large(stack, choice);
}

std::vector<std::string> labels_of(const FrameHeader& series,
                                   std::span<const std::int64_t> frames) {
    const bool uneven =
        series.frame_interval > 0 && frames.size() > 1 && frame_interval_of(series, frames) == 0;
    std::vector<std::string> labels;
    for (const std::int64_t frame : frames) {
        labels.push_back(fmt::format("frame {}", frame));
        if (uneven)
            labels.back() +=
                fmt::format(", {:.6g} s", static_cast<double>(frame) * series.frame_interval);
    }
    return labels;
}

namespace {

/// Converts to integers with an offset. A long double represents all sums exactly.
template <class T>
void to_integers(double offset, T gap, std::span<const float> from, std::byte* to) {
    constexpr auto least = static_cast<long double>(std::numeric_limits<T>::min());
    constexpr auto most = static_cast<long double>(std::numeric_limits<T>::max());
    for (std::size_t i = 0; i < from.size(); ++i) {
        T sample = gap;
        if (!std::isnan(from[i])) {
            const long double sum = static_cast<long double>(offset) +
                                    std::nearbyint(static_cast<long double>(from[i]));
            sample = sum >= most    ? std::numeric_limits<T>::max()
                     : sum <= least ? std::numeric_limits<T>::min()
                                    : static_cast<T>(sum);
        }
        std::memcpy(to + i * sizeof(T), &sample, sizeof(T));
    }
}

} // namespace

void to_stack_samples(Sample sample, double offset, double gap, std::span<const float> from,
                      std::span<std::byte> to) {
    if (to.size() != from.size() * static_cast<std::size_t>(size_of(sample)))
        throw std::logic_error("the buffer of samples does not match the number of floats");
    if (registration::is_integer(sample) && offset != 0)
        return visit_sample(sample, [&]<class T>(std::type_identity<T>) {
            if constexpr (std::is_integral_v<T>)
                to_integers(offset, static_cast<T>(gap), from, to.data());
        });
    const bool adds = sample == Sample::f64; // nothing is added otherwise: −0 + 0 is 0
    std::array<double, registration::strip_length> values;
    while (!from.empty()) {
        const std::span<const float> strip = from.first(std::min(values.size(), from.size()));
        std::ranges::transform(strip, values.begin(), [&](float one) {
            const auto value = static_cast<double>(one);
            return std::isnan(value) ? gap : adds ? value + offset : value;
        });
        registration::store_samples(sample, values.data(), strip.size(), to.data());
        from = from.subspan(strip.size());
        to = to.subspan(strip.size() * static_cast<std::size_t>(size_of(sample)));
    }
}

AlignedWriter::AlignedWriter(const AlignedStack& stack, const FrameHeader& series,
                             std::span<const std::int64_t> frames, double offset)
    : stack_(stack), offset_(offset) {
    FrameHeader header;
    header.frames = std::ssize(frames);
    header.shape = stack.area.shape;
    header.sample = stack.sample;
    header.pixel = series.pixel;
    header.frame_interval = frame_interval_of(series, frames);
    if (stack.sample == Sample::f32 || stack.sample == Sample::f16)
        added_ = offset_added(header.sample, series.sample, offset);
    sink_ = format::create_frames(stack.path, header,
                                  {format::StackAxis::time, labels_of(series, frames)});
}

void AlignedWriter::write(std::span<const float> rows) {
    rows = sum_of(rows, added_, sums_);
    resize_buffer(samples_, rows.size() * static_cast<std::size_t>(size_of(stack_.sample)));
    to_stack_samples(stack_.sample, offset_, stack_.gap, rows, samples_);
    sink_->write_samples(samples_);
}

} // namespace sextant::command
