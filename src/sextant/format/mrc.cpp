// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/compressed_file.hpp"
#include "sextant/format/formats.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/source_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

namespace {

constexpr std::size_t mrc_header_bytes = 1024;
using Header = std::array<std::byte, mrc_header_bytes>;

/// Byte offsets of the fields in a header. Counts and the mode are 32-bit integers.
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

constexpr std::int32_t half_byte_mode = 101;

/// Returns the size of a sample in units of 4 bits; 0 if the mode is unknown.
std::int64_t half_bytes_of_mode(std::int32_t number) {
    const std::optional<Sample> sample = sample_of_mode(number);
    return number == half_byte_mode ? 1 : sample ? 2 * size_of(*sample) : 0;
}

/// Rates the plausibility of a header in a byte order: 0 if the header is implausible, 2 if a file
/// of `size` bytes is also large enough for its first section, otherwise 1.
int plausibility(const Header& header, bool swapped, Bytes size) {
    const std::int64_t width = integer(header, columns, swapped),
                       height = integer(header, rows, swapped),
                       extra = integer(header, extended, swapped);
    const std::int32_t number = integer(header, mode, swapped);
    if (width < 1 || height < 1 || integer(header, sections, swapped) < 1 || number < 0 ||
        number > 127 || extra < 0)
        return 0;
    const std::int64_t room = size - static_cast<Bytes>(mrc_header_bytes) - extra;
    const std::int64_t row =
        (width * std::max<std::int64_t>(1, half_bytes_of_mode(number)) + 1) / 2;
    return room / row >= height ? 2 : 1;
}

/// True if the byte order of the file differs from the machine's. The byte order is the one in
/// which the header is more plausible. If both are equally plausible, the machine stamp decides.
/// Without a stamp, it is the byte order in which the sides are shorter, because a wrong byte order
/// makes small numbers huge.
bool is_swapped(const Header& header, Bytes size) {
    const int native = plausibility(header, false, size),
              foreign = plausibility(header, true, size);
    if (native != foreign)
        return foreign > native;
    const auto stamp = std::to_integer<int>(header[machine_stamp]);
    constexpr int little = 0x44, big = 0x11;
    if (stamp == little || stamp == big)
        return stamp == big;
    const auto longest = [&](bool swapped) {
        return std::max(integer(header, columns, swapped), integer(header, rows, swapped));
    };
    return native > 0 && longest(true) < longest(false);
}

/// True if the header has IMOD's flags, and this flag has the `expected` value.
bool has_imod_flag(const Header& header, bool swapped, std::int32_t flag, bool expected = true) {
    constexpr std::int32_t imod = 1146047817;
    return integer(header, imod_stamp, swapped) == imod &&
           ((integer(header, imod_flags, swapped) & flag) != 0) == expected;
}

/// True if the mode states samples of 4 bits.
bool has_half_bytes(const Header& header, bool swapped) {
    return integer(header, mode, swapped) == half_byte_mode;
}

/// True if an IMOD flag states that each byte of mode 0 holds two samples; columns are then counted
/// in bytes. SerialEM wrote such files before mode 101 was defined.
bool has_bytes_of_two(const Header& header, bool swapped) {
    constexpr std::int32_t two_in_a_byte = 16;
    return integer(header, mode, swapped) == 0 && has_imod_flag(header, swapped, two_in_a_byte);
}

Sample checked_sample(const std::string& path, const Header& header, bool swapped) {
    const std::int32_t number = integer(header, mode, swapped);
    if (has_half_bytes(header, swapped) || has_bytes_of_two(header, swapped))
        return Sample::u8;
    const std::optional<Sample> sample = sample_of_mode(number);
    if (!sample) {
        const bool complex = number == 3 || number == 4;
        throw InvalidFile(path, fmt::format("is of MRC mode {}{}, expected 0, 1, 2, 6, 12 or 101",
                                            number, complex ? " (complex numbers)" : ""));
    }
    // IMOD writes unsigned bytes unless a flag is set.
    constexpr std::int32_t signed_bytes = 1;
    return *sample == Sample::i8 && has_imod_flag(header, swapped, signed_bytes, false) ? Sample::u8
                                                                                        : *sample;
}

/// Returns the axes of the cell that columns, rows and sections follow, counted from 0; usually 0,
/// 1 and 2.
std::array<std::size_t, 3> axes_of_cell(const Header& header, bool swapped) {
    std::array<std::size_t, 3> order{};
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = static_cast<std::size_t>(integer(header, axes + 4 * i, swapped)) - 1;
    std::array<std::size_t, 3> sorted = order;
    std::ranges::sort(sorted);
    constexpr std::array<std::size_t, 3> usual{0, 1, 2};
    return sorted == usual ? order : usual;
}

/// Returns the distance between samples along an axis of the cell. The axis has as many intervals
/// as the header states, or `count` intervals if it states none.
double step_of(const Header& header, bool swapped, std::size_t axis, std::int64_t count) {
    const std::int32_t stated = integer(header, intervals + 4 * axis, swapped);
    const auto length = static_cast<double>(number_in<float>(header, cell + 4 * axis, swapped));
    return length / static_cast<double>(stated > 0 ? stated : count);
}

/// Returns the header of a new file. A volume, whose frames are slices at a known distance, has one
/// interval per section. A stack has a single interval, and its sections are as far apart as
/// columns.
Header make_header(const FrameHeader& frames, StackAxis axis_of_stack) {
    Header header{};
    const std::array<std::int64_t, 3> counts{frames.shape.width, frames.shape.height,
                                             frames.frames};
    const double unit = metres_of(frames.pixel.unit) / metres_of("Å");
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
    // By convention, a maximum below the minimum and a mean below both mark these values as
    // undetermined.
    put_number(header, minimum, 0.0F);
    put_number(header, minimum + 4, -1.0F);
    put_number(header, minimum + 8, -2.0F);
    put_number(header, deviation, -1.0F);
    put_number(header, version, std::int32_t{20140});
    put_number(header, map_name, std::array{'M', 'A', 'P', ' '});
    put_number(header, machine_stamp, std::array{'\x44', '\x44', '\0', '\0'});
    return header;
}

/// Unpacks rows of 4-bit samples. Each byte has two samples; the first one is in the low half.
void unpack_half_bytes(std::size_t width, std::span<const std::byte> packed,
                       std::span<std::byte> to) {
    const std::size_t stored = (width + 1) / 2;
    for (std::size_t y = 0; y < to.size() / width; ++y) {
        for (std::size_t x = 0; x < width; ++x) {
            const std::byte two = packed[y * stored + x / 2];
            to[y * width + x] = x % 2 == 0 ? two & std::byte{0x0f} : two >> 4;
        }
    }
}

/// Opens frames that a file stores contiguously from byte `start` on. The file may be compressed.
std::unique_ptr<FrameSource> open_sections(SourceFile file, FrameHeader header, Bytes start,
                                           bool swapped, bool compressed,
                                           const SourceOptions& options) {
    StoredLayout layout{start, swapped};
    if (!compressed)
        return stored_frames(std::move(file), std::move(header), std::move(layout));
    const Bytes end = end_of_frame(header, layout, header.frames - 1);
    check_decompressed(file, end);
    check_row(file.path(), header, file.size());
    return spooled_frames(std::move(header), Spool(std::move(file), end, options.copy),
                          std::move(layout));
}

} // namespace

namespace {

std::unique_ptr<FrameSource> open_checked_mrc(const std::string& path,
                                              const SourceOptions& options) {
    SourceFile file(path);
    Header header{};
    const std::unique_ptr<Decompressor> decompressor = open_decompressor(file);
    const Bytes got = decompressor ? decompressor->read(header) : file.read_at(0, header);
    if (got < static_cast<Bytes>(mrc_header_bytes))
        throw InvalidFile(path, fmt::format("has {} bytes, expected an MRC header of {}",
                                            decompressor ? got : file.size(), mrc_header_bytes));
    // The size of a compressed file is unknown before it is decompressed.
    constexpr Bytes most = Bytes{1} << 50;
    const Bytes size = decompressor ? most : file.size();
    const bool swapped = is_swapped(header, size);
    const std::int64_t extended_bytes = integer(header, extended, swapped);
    FrameHeader frames{integer(header, sections, swapped),
                       {integer(header, columns, swapped), integer(header, rows, swapped)},
                       checked_sample(path, header, swapped)};
    const ImageShape counted = frames.shape;
    const bool half_bytes = has_half_bytes(header, swapped),
               two = has_bytes_of_two(header, swapped);
    if (two)
        frames.shape.width *= 2;
    checked_frames(path, frames);
    if (extended_bytes < 0 || extended_bytes > size) {
        throw InvalidFile(path,
                          fmt::format("claims an extended header of {} bytes, but the file has {}: "
                                      "damaged or truncated",
                                      extended_bytes, file.size()));
    }
    const auto along = axes_of_cell(header, swapped);
    frames.pixel = believable(PixelSize{step_of(header, swapped, along[0], counted.width),
                                        step_of(header, swapped, along[1], counted.height), "Å"},
                              frames.remarks);
    if (integer(header, intervals + 4 * along[2], swapped) > 1)
        frames.slice_distance =
            believable_distance(step_of(header, swapped, along[2], 1), frames.pixel); // of a volume
    const Bytes start = static_cast<Bytes>(mrc_header_bytes) + extended_bytes;
    if (!half_bytes && !two)
        return open_sections(std::move(file), std::move(frames), start, swapped,
                             decompressor != nullptr, options);
    const ImageShape shape = frames.shape;
    frames.shape.width = (shape.width + 1) / 2;
    auto bytes = open_sections(std::move(file), std::move(frames), start, false,
                               decompressor != nullptr, options);
    FrameHeader unpacked = bytes->header();
    unpacked.shape = shape;
    return converted_frames(std::move(bytes), std::move(unpacked),
                            [width = static_cast<std::size_t>(shape.width)](auto packed, auto to) {
                                unpack_half_bytes(width, packed, to);
                            });
}

} // namespace

std::unique_ptr<FrameSource> open_mrc(const std::string& path, const SourceOptions& options) {
    try {
        return open_checked_mrc(path, options);
    } catch (const InvalidFile&) {
        check_compressed_start(path); // if this throws, it reports the true reason
        throw;
    }
}

std::unique_ptr<FrameSink> create_mrc(const std::string& path, const FrameHeader& header,
                                      const SinkOptions& options) {
    if (has_extension(path, ".bz2"))
        throw InvalidFile(path, "cannot be written: bzip2 files can only be read, expected .mrc or "
                                ".mrc.gz");
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (std::max({header.frames, header.shape.width, header.shape.height}) > most) {
        throw InvalidFile(path,
                          fmt::format("cannot hold {} frames of {}, expected at most {} per side",
                                      header.frames, to_text(header.shape), most));
    }
    const Header start = make_header(header, options.axis);
    return has_extension(path, ".gz") ? gzip_sink(path, header, start)
                                      : stored_sink(path, header, start);
}

} // namespace sextant::format
