// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/tiff/page.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

namespace {

TiffBytes& of(thandle_t handle) {
    return *static_cast<TiffBytes*>(handle);
}

tmsize_t read(thandle_t handle, void* to, tmsize_t size) {
    TiffBytes& bytes = of(handle);
    try {
        const Bytes got = bytes.read(bytes.position,
                                     {static_cast<std::byte*>(to), static_cast<std::size_t>(size)});
        bytes.position += got;
        return got;
    } catch (...) {
        bytes.thrown = std::current_exception();
        return -1;
    }
}

/// Always fails: files are opened only for reading.
tmsize_t write(thandle_t, void*, tmsize_t) {
    return -1;
}

toff_t seek(thandle_t handle, toff_t offset, int whence) {
    TiffBytes& bytes = of(handle);
    const Bytes from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? bytes.position : bytes.size;
    bytes.position = static_cast<Bytes>(static_cast<toff_t>(from) + offset);
    return bytes.position < 0 ? static_cast<toff_t>(-1) : static_cast<toff_t>(bytes.position);
}

int close(thandle_t) {
    return 0; // the owner of the file closes it
}

toff_t size_of_file(thandle_t handle) {
    return static_cast<toff_t>(of(handle).size);
}

int note_error(TIFF*, void* user, const char*, const char* text, va_list arguments) {
    auto& bytes = *static_cast<TiffBytes*>(user);
    if (bytes.complaint.empty()) {
        std::array<char, 256> message{};
        std::vsnprintf(message.data(), message.size(), text, arguments);
        bytes.complaint = message.data();
    }
    return 1;
}

int say_nothing(TIFF*, void*, const char*, const char*, va_list) {
    return 1;
}

struct FreeOptions {
    void operator()(TIFFOpenOptions* options) const { TIFFOpenOptionsFree(options); }
};

} // namespace

Tiff open_tiff_library(TiffBytes& bytes, const char* mode) {
    // Limits the size of a single allocation by libtiff, for tags and compressed strips.
    constexpr Bytes always_allowed = Bytes{1} << 24;
    const std::unique_ptr<TIFFOpenOptions, FreeOptions> options(TIFFOpenOptionsAlloc());
    if (!options)
        throw std::bad_alloc();
    TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), std::max(always_allowed, 2 * bytes.size));
    TIFFOpenOptionsSetErrorHandlerExtR(options.get(), note_error, &bytes);
    TIFFOpenOptionsSetWarningHandlerExtR(options.get(), say_nothing, &bytes);
    Tiff file(TIFFClientOpenExt(bytes.path.c_str(), mode, &bytes, read, write, seek, close,
                                size_of_file, nullptr, nullptr, options.get()));
    if (!file)
        fail_tiff(bytes, "cannot be opened as TIFF");
    return file;
}

void fail_tiff(TiffBytes& bytes, const std::string& what) {
    if (bytes.thrown)
        std::rethrow_exception(std::exchange(bytes.thrown, nullptr));
    const std::string why = std::exchange(bytes.complaint, {});
    throw InvalidFile(bytes.path, why.empty() ? what : fmt::format("{}: {}", what, why));
}

namespace {

/// Upper bound on the compression ratio of libtiff's codecs.
constexpr Bytes believable_tile_ratio = Bytes{1} << 16;

template <class T>
T tag_or(TIFF* file, std::uint32_t tag, T otherwise) {
    T value = otherwise;
    return TIFFGetFieldDefaulted(file, tag, &value) == 1 ? value : otherwise;
}

Sample checked_sample(TIFF* file, const std::string& path) {
    const int format = tag_or<std::uint16_t>(file, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
    const int bits = tag_or<std::uint16_t>(file, TIFFTAG_BITSPERSAMPLE, 1);
    const char kind = format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID ? 'u'
                      : format == SAMPLEFORMAT_INT                               ? 'i'
                      : format == SAMPLEFORMAT_IEEEFP                            ? 'f'
                                                                                 : '?';
    const std::optional<Sample> sample = sample_of(kind, bits);
    if (!sample) {
        throw InvalidFile(path, fmt::format("has samples of {} bits in TIFF sample format {}, "
                                            "expected integers of 8, 16, 32 or 64 bits or floats "
                                            "of 16, 32 or 64",
                                            bits, format));
    }
    return *sample;
}

/// Returns the number of extra samples before the first one with a stated meaning, such as alpha.
int data_samples(TIFF* file, int extra) {
    std::uint16_t count = 0;
    const std::uint16_t* meanings = nullptr;
    if (TIFFGetField(file, TIFFTAG_EXTRASAMPLES, &count, &meanings) != 1)
        return extra;
    int data = 0;
    while (data < extra && (data >= count || meanings[data] == EXTRASAMPLE_UNSPECIFIED))
        ++data;
    return data;
}

/// Determines samples and channels. Colour pages have three samples per pixel and possibly one
/// more. Grey pages have one sample per channel, possibly followed by alpha.
void read_samples_of(TIFF* file, const std::string& path, int photometric, TiffPage& page) {
    page.samples = tag_or<std::uint16_t>(file, TIFFTAG_SAMPLESPERPIXEL, 1);
    const bool colour = photometric == PHOTOMETRIC_RGB || photometric == PHOTOMETRIC_YCBCR;
    if (colour && page.samples != 3 && page.samples != 4) {
        throw InvalidFile(path, fmt::format("has {} samples per pixel, expected 3, or 4 with alpha",
                                            page.samples));
    }
    const int least = colour ? 3 : 1;
    const int data = data_samples(file, page.samples - least);
    page.channels = colour ? 1 : 1 + data;
    page.unread = colour ? data : 0;
    // Of several channels, one is read, without alpha. A single channel is read with its alpha.
    page.frame.channels = page.channels > 1 ? 1 : page.samples - page.unread;
    if (!colour && page.channels == 1)
        page.frame.channels = std::min(page.frame.channels, 2);
}

int checked_photometric(TIFF* file, const std::string& path) {
    const int photometric =
        tag_or<std::uint16_t>(file, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    const int compression = tag_or<std::uint16_t>(file, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    if (photometric == PHOTOMETRIC_YCBCR && compression == COMPRESSION_JPEG) {
        TIFFSetField(file, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        return photometric;
    }
    if (photometric > PHOTOMETRIC_PALETTE) {
        throw InvalidFile(path, fmt::format("has TIFF photometric interpretation {}, expected "
                                            "grey, RGB, a palette, or YCbCr compressed as JPEG",
                                            photometric));
    }
    if (!TIFFIsCODECConfigured(static_cast<std::uint16_t>(compression))) {
        throw InvalidFile(
            path, fmt::format("has TIFF compression {}, which is not supported", compression));
    }
    return photometric;
}

ImageShape checked_tile(TIFF* file, const TiffBytes& bytes, const TiffPage& page) {
    const ImageShape tile{tag_or<std::uint32_t>(file, TIFFTAG_TILEWIDTH, 0),
                          tag_or<std::uint32_t>(file, TIFFTAG_TILELENGTH, 0)};
    constexpr std::int64_t believable_side = 4096;
    if (tile.width < 1 || tile.height < 1 ||
        tile.width > std::max(believable_side, page.frame.shape.width + 15) ||
        tile.height > std::max(believable_side, page.frame.shape.height + 15)) {
        throw InvalidFile(bytes.path, fmt::format("has tiles of {} in an image of {}: damaged",
                                                  to_text(tile), to_text(page.frame.shape)));
    }
    // A row of tiles is held in memory, so its size must be plausible.
    constexpr Bytes always_held = Bytes{1} << 28, held_ratio = 64;
    const Bytes held = std::max(tile.width, page.frame.shape.width) * tile.height *
                       page.frame.channels * size_of(page.frame.sample);
    if (held > always_held)
        check_plausible(bytes.path, held, bytes.size, held_ratio);
    return tile;
}

/// Returns the size of the file header, which states the position of the first directory.
Bytes header_bytes(TIFF* file) {
    return TIFFIsBigTIFF(file) ? 16 : 8;
}

/// True if all strips or tiles are within the file, after the file header, and large enough for the
/// page.
bool is_whole(TIFF* file, const TiffPage& page, Bytes size) {
    const std::uint32_t count =
        page.tile.width > 0 ? TIFFNumberOfTiles(file) : TIFFNumberOfStrips(file);
    Bytes stored = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto offset = static_cast<Bytes>(TIFFGetStrileOffset(file, i));
        const auto length = static_cast<Bytes>(TIFFGetStrileByteCount(file, i));
        if (offset < header_bytes(file) || offset > size || length < 1 || length > size - offset)
            return false;
        stored += length;
    }
    const FrameHeader& frame = page.frame;
    const Bytes needed = frame.shape.elements() * page.samples * size_of(frame.sample);
    return needed / (page.compressed ? believable_tile_ratio : 1) <= stored;
}

template <class T>
T number_at(TIFF* file, TiffBytes& bytes, Bytes position) {
    std::array<std::byte, sizeof(T)> stored{};
    bytes.read(position, stored);
    if (TIFFIsByteSwapped(file))
        std::reverse(stored.begin(), stored.end());
    return std::bit_cast<T>(stored);
}

/// The position and the sizes of a directory's entries, in classic TIFF or BigTIFF.
struct PageDirectory {
    Bytes first_entry = 0, entry = 0, entries = 0;
    Bytes field = 0; ///< bytes of a value field; larger values are stored elsewhere in the file
};

PageDirectory directory_of(TIFF* file, TiffBytes& bytes, const TiffPage& page) {
    const auto at = static_cast<Bytes>(page.directory);
    if (TIFFIsBigTIFF(file))
        return {at + 8, 20, static_cast<Bytes>(number_at<std::uint64_t>(file, bytes, at)), 8};
    return {at + 2, 12, number_at<std::uint16_t>(file, bytes, at), 4};
}

Bytes field_at(TIFF* file, TiffBytes& bytes, Bytes position) {
    return TIFFIsBigTIFF(file)
               ? static_cast<Bytes>(number_at<std::uint64_t>(file, bytes, position))
               : static_cast<Bytes>(number_at<std::uint32_t>(file, bytes, position));
}

/// Returns the position of the next directory; 0 if the page is the last.
Bytes next_directory(TIFF* file, TiffBytes& bytes, const TiffPage& page) {
    const PageDirectory directory = directory_of(file, bytes, page);
    return field_at(file, bytes, directory.first_entry + directory.entries * directory.entry);
}

/// True if the page's directory, or a value that it points to, begins in [start, end).
bool holds_metadata(TIFF* file, TiffBytes& bytes, const TiffPage& page, Bytes start, Bytes end) {
    const auto inside = [&](Bytes at) { return at >= start && at < end; };
    if (inside(static_cast<Bytes>(page.directory)))
        return true;
    const PageDirectory directory = directory_of(file, bytes, page);
    for (Bytes i = 0; i < directory.entries; ++i) {
        const Bytes entry = directory.first_entry + i * directory.entry;
        const auto type = number_at<std::uint16_t>(file, bytes, entry + 2);
        const Bytes width = TIFFDataWidth(static_cast<TIFFDataType>(type));
        const bool within =
            width == 0 || field_at(file, bytes, entry + 4) <= directory.field / width;
        if (!within && inside(field_at(file, bytes, entry + 4 + directory.field)))
            return true;
    }
    return false;
}

} // namespace

StatedPixelSize resolved_pixel(TIFF* file, const std::string& unit) {
    float x = 0, y = 0;
    TIFFGetField(file, TIFFTAG_XRESOLUTION, &x);
    TIFFGetField(file, TIFFTAG_YRESOLUTION, &y);
    if (!(x > 0) || !(y > 0))
        return {};
    return {1 / static_cast<double>(x), 1 / static_cast<double>(y), unit, unit};
}

std::int64_t whole_number_in(std::string_view text, std::int64_t otherwise) {
    std::int64_t value = otherwise;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && value >= 0 ? value : otherwise;
}

bool is_picture(TIFF* file) {
    const auto kind = tag_or<std::uint32_t>(file, TIFFTAG_SUBFILETYPE, 0);
    return (kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) == 0;
}

TiffPage read_page(TIFF* file, const TiffBytes& bytes) {
    TiffPage page;
    page.directory = TIFFCurrentDirOffset(file);
    page.frame.shape = checked_shape(bytes.path, tag_or<std::uint32_t>(file, TIFFTAG_IMAGEWIDTH, 0),
                                     tag_or<std::uint32_t>(file, TIFFTAG_IMAGELENGTH, 0));
    page.frame.sample = checked_sample(file, bytes.path);
    const int photometric = checked_photometric(file, bytes.path);
    read_samples_of(file, bytes.path, photometric, page);
    page.planes = page.samples > 1 &&
                  tag_or<std::uint16_t>(file, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) ==
                      PLANARCONFIG_SEPARATE;
    page.inverted = photometric == PHOTOMETRIC_MINISWHITE;
    page.reversed_bits =
        tag_or<std::uint16_t>(file, TIFFTAG_FILLORDER, FILLORDER_MSB2LSB) != FILLORDER_MSB2LSB;
    page.compressed =
        tag_or<std::uint16_t>(file, TIFFTAG_COMPRESSION, COMPRESSION_NONE) != COMPRESSION_NONE;
    check_row(bytes.path, page.frame, bytes.size);
    if (TIFFIsTiled(file))
        page.tile = checked_tile(file, bytes, page);
    else
        page.strip =
            std::max<std::int64_t>(1, tag_or<std::uint32_t>(file, TIFFTAG_ROWSPERSTRIP, 1));
    page.whole = is_whole(file, page, bytes.size);
    page.start = page.whole ? start_of_samples(file, page) : -1;
    return page;
}

Bytes start_of_samples(TIFF* file, const TiffPage& page) {
    if (page.compressed || page.tile.width > 0 || page.inverted || page.reversed_bits ||
        page.samples != page.frame.channels || (page.planes && page.samples > 1))
        return -1;
    const auto start = static_cast<Bytes>(TIFFGetStrileOffset(file, 0));
    Bytes end = start;
    for (std::uint32_t i = 0; i < TIFFNumberOfStrips(file); ++i) {
        if (static_cast<Bytes>(TIFFGetStrileOffset(file, i)) != end)
            return -1;
        end += static_cast<Bytes>(TIFFGetStrileByteCount(file, i));
    }
    return start;
}

Bytes start_of_stack(TIFF* file, TiffBytes& bytes, const TiffPage& page, std::int64_t images) {
    const Bytes start = start_of_samples(file, page);
    if (start < 0)
        return -1;
    const FrameHeader& frame = page.frame;
    const Bytes one = frame.shape.elements() * frame.channels * size_of(frame.sample);
    if (images > (std::numeric_limits<Bytes>::max() - start) / one ||
        holds_metadata(file, bytes, page, start, start + images * one))
        return -1; // images were removed, so the stated number is too high
    const Bytes next = next_directory(file, bytes, page);
    // The first directory precedes all samples, and the others follow them.
    const bool between =
        static_cast<Bytes>(page.directory) < start && (next - start) / one >= images;
    return next == 0 || between ? start : -1;
}

} // namespace sextant::format
