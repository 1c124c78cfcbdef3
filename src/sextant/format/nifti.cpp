// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/compressed_file.hpp"
#include "sextant/format/formats.hpp"
#include "sextant/format/frame_axes.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/source_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

namespace {

constexpr std::size_t nifti_first_header_bytes = 348, nifti_second_header_bytes = 540;
/// In single files, the samples follow the header and four bytes for extensions.
constexpr std::size_t nifti_extension_bytes = 4;
constexpr std::string_view nifti_first_magic{"n+1\0", 4}, nifti_first_pair{"ni1\0", 4};
constexpr std::string_view nifti_second_magic{"n+2\0\r\n\x1a\n", 8},
    nifti_second_pair{"ni2\0\r\n\x1a\n", 8};

enum class NiftiNumber { u8, i16, i32, i64, f32, f64 };

/// The positions and types of a field in a NIfTI-1 header and in a NIfTI-2 header.
struct NiftiField {
    std::size_t first;
    NiftiNumber first_type;
    std::size_t second;
    NiftiNumber second_type;
};

namespace nifti_field {
using enum NiftiNumber;
constexpr NiftiField sizes{40, i16, 16, i64}; // the number of axes, then their lengths
constexpr NiftiField data_type{70, i16, 12, i16};
constexpr NiftiField sample_bits{72, i16, 14, i16};
constexpr NiftiField spacings{76, f32, 104, f64}; // the handedness, then one per axis
constexpr NiftiField data_start{108, f32, 168, i64};
constexpr NiftiField scale_slope{112, f32, 176, f64};
constexpr NiftiField scale_shift{116, f32, 184, f64};
constexpr NiftiField unit_codes{123, u8, 500, i32};
constexpr NiftiField quaternion_code{252, i16, 344, i32};
constexpr NiftiField matrix_code{254, i16, 348, i32};
constexpr NiftiField quaternion{256, f32, 352, f64}; // b, c, d and three offsets
constexpr NiftiField matrix{280, f32, 400, f64};     // three rows of four
} // namespace nifti_field

/// Calls `visit` with std::type_identity of the C++ type of a field.
template <class Visitor>
decltype(auto) visit_number(NiftiNumber type, const Visitor& visit) {
    switch (type) {
    case NiftiNumber::u8:
        return visit(std::type_identity<std::uint8_t>());
    case NiftiNumber::i16:
        return visit(std::type_identity<std::int16_t>());
    case NiftiNumber::i32:
        return visit(std::type_identity<std::int32_t>());
    case NiftiNumber::i64:
        return visit(std::type_identity<std::int64_t>());
    case NiftiNumber::f32:
        return visit(std::type_identity<float>());
    case NiftiNumber::f64:
        break;
    }
    return visit(std::type_identity<double>());
}

/// A NIfTI-1 or NIfTI-2 header, whose numbers are accessed as doubles. 64-bit lengths beyond 2⁵³
/// are rounded; such lengths are rejected as implausible anyway.
struct NiftiHeader {
    std::array<std::byte, nifti_second_header_bytes + nifti_extension_bytes> bytes{};
    bool second = false, swapped = false;

    std::size_t size() const {
        return second ? nifti_second_header_bytes : nifti_first_header_bytes;
    }
    double get(const NiftiField& field, std::size_t i = 0) const {
        return visit_number(type(field), [&]<class T>(std::type_identity<T>) {
            return static_cast<double>(number_in<T>(bytes, at(field) + i * sizeof(T), swapped));
        });
    }
    void put(const NiftiField& field, std::size_t i, double value) {
        visit_number(type(field), [&]<class T>(std::type_identity<T>) {
            put_number(std::span(bytes), at(field) + i * sizeof(T), static_cast<T>(value));
        });
    }
    bool has(std::string_view magic) const {
        const std::size_t position = second ? 4 : 344;
        return std::memcmp(bytes.data() + position, magic.data(), magic.size()) == 0;
    }

  private:
    NiftiNumber type(const NiftiField& field) const {
        return second ? field.second_type : field.first_type;
    }
    std::size_t at(const NiftiField& field) const { return second ? field.second : field.first; }
};

struct NiftiType {
    int code;
    std::string_view name;
    std::optional<Sample> sample;
};
constexpr std::array nifti_types{NiftiType{1, "bits", {}},
                                 NiftiType{2, "u8", Sample::u8},
                                 NiftiType{4, "i16", Sample::i16},
                                 NiftiType{8, "i32", Sample::i32},
                                 NiftiType{16, "f32", Sample::f32},
                                 NiftiType{32, "complex numbers", {}},
                                 NiftiType{64, "f64", Sample::f64},
                                 NiftiType{128, "RGB colours", {}},
                                 NiftiType{256, "i8", Sample::i8},
                                 NiftiType{512, "u16", Sample::u16},
                                 NiftiType{768, "u32", Sample::u32},
                                 NiftiType{1024, "i64", Sample::i64},
                                 NiftiType{1280, "u64", Sample::u64},
                                 NiftiType{1536, "floats of 128 bits", {}},
                                 NiftiType{1792, "complex numbers", {}},
                                 NiftiType{2048, "complex numbers", {}},
                                 NiftiType{2304, "RGBA colours", {}}};

struct NiftiUnit {
    int code;
    std::string_view name;
    double size; ///< in metres or seconds
};
constexpr std::array nifti_lengths{NiftiUnit{1, "m", 1}, NiftiUnit{2, "mm", 1e-3},
                                   NiftiUnit{3, "µm", 1e-6}};
constexpr std::array nifti_times{NiftiUnit{8, "s", 1}, NiftiUnit{16, "ms", 1e-3},
                                 NiftiUnit{24, "µs", 1e-6}};

/// Returns the name of the unit that a field of unit codes contains; "" if there is none.
std::string nifti_unit(const std::array<NiftiUnit, 3>& units, int codes, int mask) {
    for (const NiftiUnit& unit : units) {
        if ((codes & mask) == unit.code)
            return std::string(unit.name);
    }
    return "";
}

/// Returns the header at the start of a file. Throws InvalidFile unless it is the header of a
/// single file.
NiftiHeader nifti_header(const std::string& path, const NiftiHeader& read, Bytes got) {
    NiftiHeader header = read;
    const auto stated = [&](bool swapped) {
        return number_in<std::int32_t>(header.bytes, 0, swapped);
    };
    const auto is = [&](std::size_t size) {
        const auto expected = static_cast<std::int32_t>(size);
        header.swapped = stated(false) != expected;
        return stated(false) == expected || stated(true) == expected;
    };
    header.second = is(nifti_second_header_bytes);
    if (!header.second && !is(nifti_first_header_bytes)) {
        throw InvalidFile(path, "is not a NIfTI file: it does not begin with the size of a header, "
                                "348 or 540");
    }
    if (got < static_cast<Bytes>(header.size()))
        throw InvalidFile(path, fmt::format("ends after {} bytes, in its header: truncated", got));
    if (header.has(header.second ? nifti_second_pair : nifti_first_pair)) {
        throw InvalidFile(path, "is the header of a pair of NIfTI files, expected a single file, "
                                "which contains the samples");
    }
    if (!header.has(header.second ? nifti_second_magic : nifti_first_magic)) {
        throw InvalidFile(path, "is not a NIfTI file: its signature is neither n+1 nor n+2 (in "
                                "Analyze 7.5 files, it is missing)");
    }
    return header;
}

Sample nifti_sample(const std::string& path, const NiftiHeader& header) {
    const int code = static_cast<int>(header.get(nifti_field::data_type));
    const int bits = static_cast<int>(header.get(nifti_field::sample_bits));
    const auto* const row = std::find_if(nifti_types.begin(), nifti_types.end(),
                                         [&](const NiftiType& each) { return each.code == code; });
    if (row == nifti_types.end() || !row->sample) {
        throw InvalidFile(
            path, fmt::format("has samples of type {} ({}), expected integers of 8 to 64 bits, f32 "
                              "or f64",
                              code, row == nifti_types.end() ? "unknown" : row->name));
    }
    if (bits != 8 * size_of(*row->sample)) {
        throw InvalidFile(
            path, fmt::format("has samples of {} with {} bits, expected {}; the file is damaged",
                              row->name, bits, 8 * size_of(*row->sample)));
    }
    return *row->sample;
}

/// Returns the axes of the array. In the file, the first axis varies fastest.
ArrayInFile nifti_array(const std::string& path, const NiftiHeader& header) {
    constexpr std::string_view names = "ctzyx"; // from the last axis to the first one
    constexpr double longest = 0x1p40;
    const double axes = header.get(nifti_field::sizes);
    if (axes < 1 || axes > 7)
        throw InvalidFile(path,
                          fmt::format("has {} axes, expected 1 to 7; the file is damaged", axes));
    ArrayInFile array{{}, 0, 0};
    for (std::size_t axis = 1; axis <= std::max<std::size_t>(2, static_cast<std::size_t>(axes));
         ++axis) {
        const double length =
            static_cast<double>(axis) <= axes ? header.get(nifti_field::sizes, axis) : 1;
        if (length < 1 || length > longest || (axis > names.size() && length > 1)) {
            throw InvalidFile(
                path, fmt::format("has length {} along axis {}, expected {}", length, axis,
                                  axis > names.size()
                                      ? "at most five axes: columns, rows, slices, "
                                        "times and channels"
                                      : "a positive number below 2^40; the file is damaged"));
        }
        if (axis <= names.size())
            array.lengths.insert(array.lengths.begin(), static_cast<std::int64_t>(length));
    }
    array.names = names.substr(names.size() - array.lengths.size());
    array.column_axis = array.lengths.size() - 1;
    array.row_axis = array.lengths.size() - 2;
    if (array.names.find('t') != std::string::npos) {
        constexpr int mask = 0x38;
        array.frame_interval = believable_interval(
            header.get(nifti_field::spacings, 4),
            nifti_unit(nifti_times, static_cast<int>(header.get(nifti_field::unit_codes)), mask));
    }
    return array;
}

/// Returns the position of the first sample.
Bytes nifti_start(const std::string& path, const NiftiHeader& header) {
    const double start = header.get(nifti_field::data_start);
    const auto least = static_cast<double>(header.size() + nifti_extension_bytes);
    constexpr double most = 0x1p53;
    if (!(start >= least && start <= most)) {
        throw InvalidFile(
            path,
            fmt::format("has samples starting at byte {}, expected {} or more; the file is damaged",
                        start, least));
    }
    return static_cast<Bytes>(start);
}

VolumeGrid nifti_grid(const NiftiHeader& header) {
    VolumeGrid grid;
    constexpr int mask = 0x07;
    grid.unit =
        nifti_unit(nifti_lengths, static_cast<int>(header.get(nifti_field::unit_codes)), mask);
    for (std::size_t axis = 0; axis < 3; ++axis)
        grid.spacing[axis] = std::abs(header.get(nifti_field::spacings, axis + 1));
    grid.handedness = header.get(nifti_field::spacings) < 0 ? -1 : 1;
    const auto code = [&](const NiftiField& field) {
        constexpr double most = 32767; // NIfTI-1 has signed 16-bit lengths
        const double stated = header.get(field);
        return stated >= 0 && stated <= most ? static_cast<int>(stated) : 0;
    };
    grid.quaternion_code = code(nifti_field::quaternion_code);
    grid.matrix_code = code(nifti_field::matrix_code);
    for (std::size_t i = 0; i < grid.quaternion.size(); ++i)
        grid.quaternion[i] = header.get(nifti_field::quaternion, i);
    for (std::size_t i = 0; i < 12; ++i)
        grid.matrix[i / 4][i % 4] = header.get(nifti_field::matrix, i);
    return grid;
}

/// Computes slope · sample + shift in f64. Rounds the results to f32 unless `to_f64` is set.
void scale_samples(Sample sample, std::span<const std::byte> from, double slope, double shift,
                   bool to_f64, std::span<std::byte> to) {
    visit_sample(sample, [&]<class T>(std::type_identity<T>) {
        if constexpr (!std::is_same_v<T, Half>) { // NIfTI has no half precision
            for (std::size_t i = 0; i < from.size() / sizeof(T); ++i) {
                T value;
                std::memcpy(&value, from.data() + i * sizeof(T), sizeof(T));
                const double scaled = static_cast<double>(value) * slope + shift;
                const auto rounded = static_cast<float>(scaled);
                if (to_f64)
                    std::memcpy(to.data() + i * sizeof(scaled), &scaled, sizeof(scaled));
                else
                    std::memcpy(to.data() + i * sizeof(rounded), &rounded, sizeof(rounded));
            }
        }
    });
}

/// Applies the scale in the header, if there is one.
std::unique_ptr<FrameSource> with_nifti_scale(std::unique_ptr<FrameSource> stored,
                                              const NiftiHeader& nifti) {
    const double slope = nifti.get(nifti_field::scale_slope),
                 shift = nifti.get(nifti_field::scale_shift);
    if (slope == 0 || !std::isfinite(slope) || (slope == 1 && shift == 0))
        return stored;
    if (!std::isfinite(shift))
        throw InvalidFile(stored->path(),
                          fmt::format("scales samples by {} and adds {}: damaged", slope, shift));
    FrameHeader header = stored->header();
    const Sample sample = header.sample;
    // The 24 significant bits of floats do not suffice for wide samples, or for small steps far
    // from 0.
    constexpr double most_steps = 0x1p16;
    const bool wide = size_of(header.sample) > 2 && header.sample != Sample::f32;
    const bool far = std::abs(shift) > most_steps * std::abs(slope);
    const Sample scaled = wide || far ? Sample::f64 : Sample::f32;
    header.remarks.push_back(fmt::format("stored as {}, read as {}: {} times the sample plus {} "
                                         "(scl_slope, scl_inter)",
                                         name(header.sample), name(scaled), slope, shift));
    header.sample = scaled;
    return converted_frames(std::move(stored), std::move(header), [=](auto from, auto to) {
        scale_samples(sample, from, slope, shift, scaled == Sample::f64, to);
    });
}

} // namespace

namespace {

std::unique_ptr<FrameSource> open_checked_nifti(const std::string& path,
                                                const SourceOptions& options) {
    SourceFile file(path);
    const bool compressed = is_gzip(file);
    NiftiHeader start;
    const Bytes got =
        compressed ? open_decompressor(file)->read(start.bytes) : file.read_at(0, start.bytes);
    const NiftiHeader nifti = nifti_header(path, start, got);
    const ArrayInFile array = nifti_array(path, nifti);
    const Bytes first = nifti_start(path, nifti);
    FrameHeader header;
    header.sample = nifti_sample(path, nifti);
    const FrameAxes axes = choose_frame_axes(path, array, options, header);
    StoredLayout layout{
        first,         nifti.swapped != (std::endian::native == std::endian::big), false,
        array.lengths, stored_steps(path, array.lengths, header.sample),           axes};
    const VolumeGrid grid = nifti_grid(nifti);
    const bool stated = !grid.unit.empty() || grid.spacing[0] != 1 || grid.spacing[1] != 1;
    if (stated)
        header.pixel =
            believable(PixelSize{grid.spacing[0], grid.spacing[1], grid.unit}, header.remarks);
    const std::size_t slices = array.names.find('z');
    const bool volume = header.frames == (slices == std::string::npos ? 1 : array.lengths[slices]);
    if (volume)
        header.grid = grid;
    if (volume || (options.every_plane && slices != std::string::npos))
        header.slice_distance = believable_distance(grid.spacing[2], header.pixel);
    if (!compressed) {
        if (first > file.size())
            throw InvalidFile(
                path,
                fmt::format(
                    "has samples starting at byte {}, but only {} bytes: damaged or truncated",
                    first, file.size()));
        return with_nifti_scale(
            stored_frames(std::move(file), std::move(header), std::move(layout)), nifti);
    }
    Bytes end = size_of(header.sample); // cannot overflow: stored_steps() has checked the product
    for (const std::int64_t length : array.lengths)
        end *= length;
    end += first;
    check_plausible(path, end, file.size(), deflate_ratio);
    check_row(path, header, file.size());
    return with_nifti_scale(spooled_frames(std::move(header),
                                           Spool(std::move(file), end, options.copy),
                                           std::move(layout)),
                            nifti);
}

} // namespace

std::unique_ptr<FrameSource> open_nifti(const std::string& path, const SourceOptions& options) {
    try {
        return open_checked_nifti(path, options);
    } catch (const InvalidFile&) {
        check_compressed_start(path); // if this throws, it reports the true reason
        throw;
    }
}

namespace {

/// True if NIfTI can store this pixel size.
bool has_place_for(const PixelSize& pixel) {
    return pixel.unit.empty() || metres_of(pixel.unit) > 0;
}

/// Returns a grid for a series without one. Its axes are the axes of the voxels, and its origin is
/// the first voxel. Without such a grid, programs such as nibabel place the origin in the centre
/// and flip an axis. An unknown pixel size, or one in a unit that is not a length, is written as 1
/// without a unit.
VolumeGrid nifti_grid_of(const PixelSize& pixel, double slice_distance) {
    VolumeGrid grid;
    grid.spacing = {1, 1, 1};
    if (!pixel.known() || !has_place_for(pixel))
        return grid;
    const double metres = metres_of(pixel.unit);
    grid.unit = pixel.unit;
    double scale = 1;
    const bool written = std::any_of(nifti_lengths.begin(), nifti_lengths.end(),
                                     [&](const auto& unit) { return unit.name == pixel.unit; });
    if (metres > 0 && !written) {
        const NiftiUnit& unit = nifti_lengths[metres > 1e-4 ? 1 : 2];
        grid.unit = unit.name;
        scale = metres / unit.size;
    }
    const double z = slice_distance > 0 ? slice_distance : pixel.x;
    grid.spacing = {pixel.x * scale, pixel.y * scale, z * scale};
    constexpr int aligned = 2; // NIfTI's code for coordinates that are not those of a scanner
    grid.matrix_code = aligned;
    for (std::size_t axis = 0; axis < 3; ++axis)
        grid.matrix[axis][axis] = grid.spacing[axis];
    return grid;
}

NiftiHeader nifti_header_of(const FrameHeader& header, StackAxis axis) {
    constexpr std::int64_t longest = 32767; // the largest length in NIfTI-1
    const bool times = axis == StackAxis::time && header.frames > 1;
    const std::array<std::int64_t, 4> lengths{header.shape.width, header.shape.height,
                                              times ? 1 : header.frames, times ? header.frames : 1};
    const VolumeGrid grid =
        header.grid && !times ? *header.grid : nifti_grid_of(header.pixel, header.slice_distance);
    NiftiHeader nifti;
    nifti.second = *std::max_element(lengths.begin(), lengths.end()) > longest;
    put_number(std::span(nifti.bytes), 0, static_cast<std::int32_t>(nifti.size()));
    const std::string_view magic = nifti.second ? nifti_second_magic : nifti_first_magic;
    std::memcpy(nifti.bytes.data() + (nifti.second ? 4 : 344), magic.data(), magic.size());
    nifti.put(nifti_field::sizes, 0, times ? 4 : 3);
    for (std::size_t i = 1; i < 8; ++i)
        nifti.put(nifti_field::sizes, i,
                  i <= lengths.size() ? static_cast<double>(lengths[i - 1]) : 1);
    for (const NiftiType& type : nifti_types) {
        if (type.sample == header.sample)
            nifti.put(nifti_field::data_type, 0, type.code);
    }
    nifti.put(nifti_field::sample_bits, 0, static_cast<double>(8 * size_of(header.sample)));
    nifti.put(nifti_field::data_start, 0,
              static_cast<double>(nifti.size() + nifti_extension_bytes));
    nifti.put(nifti_field::scale_slope, 0, 1);
    nifti.put(nifti_field::spacings, 0, grid.handedness);
    for (std::size_t i = 0; i < 3; ++i)
        nifti.put(nifti_field::spacings, i + 1, grid.spacing[i]);
    int codes = 0;
    for (const NiftiUnit& unit : nifti_lengths)
        codes += unit.name == grid.unit ? unit.code : 0;
    if (times && header.frame_interval > 0) {
        nifti.put(nifti_field::spacings, 4, header.frame_interval);
        codes += nifti_times.front().code;
    }
    nifti.put(nifti_field::unit_codes, 0, codes);
    nifti.put(nifti_field::quaternion_code, 0, grid.quaternion_code);
    nifti.put(nifti_field::matrix_code, 0, grid.matrix_code);
    for (std::size_t i = 0; i < grid.quaternion.size(); ++i)
        nifti.put(nifti_field::quaternion, i, grid.quaternion[i]);
    for (std::size_t i = 0; i < 12; ++i)
        nifti.put(nifti_field::matrix, i, grid.matrix[i / 4][i % 4]);
    return nifti;
}

} // namespace

bool nifti_keeps_pixel(const FrameHeader& header, const SinkOptions&) {
    return header.grid || has_place_for(header.pixel);
}

std::unique_ptr<FrameSink> create_nifti(const std::string& path, const FrameHeader& header,
                                        const SinkOptions& options) {
    const NiftiHeader nifti = nifti_header_of(header, options.axis);
    const auto start = std::span(nifti.bytes).first(nifti.size() + nifti_extension_bytes);
    return has_extension(path, ".gz") ? gzip_sink(path, header, start)
                                      : stored_sink(path, header, start);
}

} // namespace sextant::format
