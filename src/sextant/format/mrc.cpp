// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/frame_formats.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/source_file.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

namespace {

constexpr std::size_t mrc_header_bytes = 1024;
using Header = std::array<std::byte, mrc_header_bytes>;

/// Byte offsets in a header; counts and the mode are 32-bit integers.
enum Field : std::size_t {
    columns = 0,
    rows = 4,
    sections = 8,
    mode = 12,
    intervals = 28, ///< three integers
    cell = 40,      ///< three floats, in Å
    angles = 52,    ///< three floats
    axes = 64,      ///< three integers
    minimum = 76,   ///< minimum, maximum and mean: three floats
    space_group = 88,
    extended = 92, ///< length of the extended header in bytes
    version = 108, ///< year and revision of the format
    imod_stamp = 152,
    imod_flags = 156,
    map_name = 208, ///< the text "MAP "
    machine_stamp = 212,
    deviation = 216,
};

struct Mode {
    std::int32_t number;
    Sample sample;
};
constexpr std::array modes{Mode{0, Sample::i8}, Mode{1, Sample::i16}, Mode{2, Sample::f32},
                           Mode{6, Sample::u16}, Mode{12, Sample::f16}};

std::optional<Sample> sample_of_mode(std::int32_t number) {
    for (const Mode& row : modes) {
        if (row.number == number)
            return row.sample;
    }
    return std::nullopt;
}

std::int32_t integer(const Header& header, std::size_t at, bool swapped) {
    return number_in<std::int32_t>(header, at, swapped);
}

/// True if the machine stamp states foreign byte order or, if there is no stamp, if mode and
/// extended header are valid only when swapped.
bool is_swapped(const Header& header) {
    const auto stamp = std::to_integer<int>(header[machine_stamp]);
    if (stamp == 0x44)
        return false;
    if (stamp == 0x11)
        return true;
    const auto makes_sense = [&](bool swapped) {
        const std::int32_t number = integer(header, mode, swapped);
        return number >= 0 && number < 128 && integer(header, extended, swapped) >= 0;
    };
    return !makes_sense(false) && makes_sense(true);
}

/// True if the samples of mode 0 are unsigned: IMOD writes unsigned bytes unless a flag is set.
bool has_unsigned_bytes(const Header& header, bool swapped) {
    constexpr std::int32_t imod = 1146047817;
    constexpr std::int32_t signed_flag = 1;
    return integer(header, imod_stamp, swapped) == imod &&
           (integer(header, imod_flags, swapped) & signed_flag) == 0;
}

Sample checked_sample(const std::string& path, const Header& header, bool swapped) {
    const std::int32_t number = integer(header, mode, swapped);
    const std::optional<Sample> sample = sample_of_mode(number);
    if (!sample) {
        throw InvalidFile(path,
                          fmt::format("is of MRC mode {}, expected 0, 1, 2, 6 or 12", number));
    }
    return *sample == Sample::i8 && has_unsigned_bytes(header, swapped) ? Sample::u8 : *sample;
}

PixelSize pixel_size(const Header& header, bool swapped, const ImageShape& shape) {
    const auto side = [&](std::size_t axis, std::int64_t pixels) {
        const std::int32_t stated = integer(header, intervals + 4 * axis, swapped);
        const auto length = static_cast<double>(number_in<float>(header, cell + 4 * axis, swapped));
        return length / static_cast<double>(stated > 0 ? stated : pixels);
    };
    return {side(0, shape.width), side(1, shape.height), "Å"};
}

/// Returns a unit of length in Å; 0 if it is not a length.
double angstroms(const std::string& unit) {
    constexpr std::array<std::pair<std::string_view, double>, 6> lengths{
        {{"Å", 1}, {"pm", .01}, {"nm", 10}, {"µm", 1e4}, {"mm", 1e7}, {"m", 1e10}}};
    for (const auto& [name, length] : lengths) {
        if (unit == name)
            return length;
    }
    return 0;
}

/// A volume, whose sections are slices of a known distance, has one interval per section. A stack
/// has one interval, and sections as far apart as columns.
Header make_header(const FrameHeader& frames, StackAxis axis_of_stack) {
    Header header{};
    const std::array<std::int64_t, 3> counts{frames.shape.width, frames.shape.height,
                                             frames.frames};
    const double unit = angstroms(frames.pixel.unit);
    const bool volume = axis_of_stack == StackAxis::slices && frames.slice_distance > 0;
    const std::array<double, 3> sizes{unit * frames.pixel.x, unit * frames.pixel.y,
                                      unit * (volume ? frames.slice_distance : frames.pixel.x)};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto count = static_cast<std::int32_t>(counts[axis]);
        put_number(header, columns + 4 * axis, count);
        const std::int32_t along = axis < 2 || volume ? count : 1;
        put_number(header, intervals + 4 * axis, along);
        put_number(header, cell + 4 * axis, static_cast<float>(sizes[axis] * along));
        put_number(header, angles + 4 * axis, 90.0F);
        put_number(header, axes + 4 * axis, static_cast<std::int32_t>(axis + 1));
    }
    put_number(header, space_group, std::int32_t{volume ? 1 : 0});
    for (const Mode& row : modes) {
        if (row.sample == frames.sample)
            put_number(header, mode, row.number);
    }
    // A maximum below the minimum, and a mean below both, mark these three values as undetermined.
    put_number(header, minimum, 0.0F);
    put_number(header, minimum + 4, -1.0F);
    put_number(header, minimum + 8, -2.0F);
    put_number(header, deviation, -1.0F);
    put_number(header, version, std::int32_t{20140});
    put_number(header, map_name, std::array{'M', 'A', 'P', ' '});
    put_number(header, machine_stamp, std::array{'\x44', '\x44', '\0', '\0'});
    return header;
}

} // namespace

std::unique_ptr<FrameSource> open_mrc(const std::string& path, const std::string& detail,
                                      const SourceOptions&) {
    refuse_detail(path, detail);
    SourceFile file(path);
    Header header{};
    if (file.read_at(0, header) < static_cast<Bytes>(mrc_header_bytes))
        throw InvalidFile(path, fmt::format("has {} bytes, expected an MRC header of {}",
                                            file.size(), mrc_header_bytes));
    const bool swapped = is_swapped(header);
    const std::int64_t extended_bytes = integer(header, extended, swapped);
    FrameHeader frames{integer(header, sections, swapped),
                       {integer(header, columns, swapped), integer(header, rows, swapped)},
                       checked_sample(path, header, swapped)};
    checked_frames(path, frames);
    if (extended_bytes < 0 || extended_bytes > file.size()) {
        throw InvalidFile(path,
                          fmt::format("claims an extended header of {} bytes, but the file has {}: "
                                      "damaged or truncated",
                                      extended_bytes, file.size()));
    }
    frames.pixel = believable(pixel_size(header, swapped, frames.shape), frames.remarks);
    if (const std::int32_t planes = integer(header, intervals + 8, swapped); planes > 1) {
        const auto depth = static_cast<double>(number_in<float>(header, cell + 8, swapped));
        frames.slice_distance = believable_distance(depth / planes, frames.pixel); // of a volume
    }
    const auto layout =
        dense_layout(frames, static_cast<Bytes>(mrc_header_bytes) + extended_bytes, swapped);
    return stored_frames(std::move(file), std::move(frames), layout);
}

std::unique_ptr<FrameSink> create_mrc(const std::string& path, const FrameHeader& header,
                                      const SinkOptions& options) {
    check_sink(path, header, {Sample::i8, Sample::i16, Sample::f32, Sample::u16, Sample::f16});
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (std::max({header.frames, header.shape.width, header.shape.height}) > most) {
        throw InvalidFile(path,
                          fmt::format("cannot hold {} frames of {}, expected at most {} per side",
                                      header.frames, to_text(header.shape), most));
    }
    return stored_sink(path, header, make_header(header, options.axis));
}

} // namespace sextant::format
