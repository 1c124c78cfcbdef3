// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/raw.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/manifest.hpp"
#include "sextant/format/source_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <filesystem>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

namespace sextant::format {

namespace {

static_assert(std::endian::native == std::endian::little,
              "raw files are copied without swapping bytes");

/// Upper bound on the compression ratio: a zstd block has at least three bytes and decodes to at
/// most 128 KiB.
constexpr Bytes zstd_ratio = Bytes{1} << 16;

struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
using Decompressor = std::unique_ptr<ZSTD_DCtx, Free>;
using Compressor = std::unique_ptr<ZSTD_CCtx, Free>;

bool is_compressed(const std::string& path) {
    return has_extension(path, ".zst");
}

/// Throws InvalidFile if the path has the extension of another element format.
void check_name(const std::string& path, const ElementFormat& element) {
    std::filesystem::path name = path;
    if (is_compressed(path))
        name.replace_extension();
    const char* other = element == rgba_f32 ? ".rgbaz32f" : ".rgba32f";
    if (has_extension(name.string(), other)) {
        throw InvalidFile(path,
                          fmt::format("ends in {}, but its pixels are {}", other, element.name));
    }
}

Bytes bytes_of(const ImageHeader& header) {
    return header.shape.elements() * header.element.size;
}

[[noreturn]] void fail_size(const std::string& path, const std::string& found,
                            const ImageHeader& header) {
    throw InvalidFile(path,
                      fmt::format("holds {} bytes, expected {}: {}×{} pixels of {} bytes ({})",
                                  found, bytes_of(header), header.shape.width, header.shape.height,
                                  header.element.size, header.element.name));
}

/// Returns the size of the first zstd frame, or 0 if its header does not state it.
Bytes stated_size(SourceFile& file) {
    std::array<std::byte, 32> start{}; // a frame header takes at most 18 bytes
    const Bytes got = file.read(start);
    const auto size = ZSTD_getFrameContentSize(start.data(), static_cast<std::size_t>(got));
    if (size == ZSTD_CONTENTSIZE_ERROR)
        throw InvalidFile(file.path(), "is not a zstd file");
    if (size == ZSTD_CONTENTSIZE_UNKNOWN)
        return 0;
    constexpr unsigned long long most = std::numeric_limits<Bytes>::max();
    return static_cast<Bytes>(std::min(size, most));
}

/// Checks the file size as far as possible without decompression.
void check_size(const std::string& path, const ImageHeader& header) {
    SourceFile file(path);
    const Bytes expected = bytes_of(header);
    if (!is_compressed(path)) {
        if (file.size() != expected)
            fail_size(path, std::to_string(file.size()), header);
        return;
    }
    const Bytes stated = stated_size(file);
    if (stated > expected)
        fail_size(path, std::to_string(stated), header);
    check_plausible(path, expected, file.size(), zstd_ratio);
}

/// Decompresses all zstd frames of a file into memory of exactly their size. The whole output is in
/// memory, so zstd needs no window buffer; a six-byte header may claim a window of 2 GiB.
void decompress(const std::string& path, const ImageHeader& header, std::span<std::byte> to) {
    SourceFile file(path);
    const Bytes most = 2 * bytes_of(header) + (Bytes{1} << 20); // zstd adds less than 1 %
    if (file.size() > most)
        fail_size(path, fmt::format("{} compressed", file.size()), header);
    std::vector<std::byte> packed(static_cast<std::size_t>(file.size()));
    packed.resize(static_cast<std::size_t>(file.read(packed)));
    const Decompressor context(ZSTD_createDCtx());
    if (!context)
        throw std::bad_alloc();
    const std::size_t size =
        ZSTD_decompressDCtx(context.get(), to.data(), to.size(), packed.data(), packed.size());
    switch (ZSTD_getErrorCode(size)) {
    case ZSTD_error_no_error:
        if (size < to.size())
            fail_size(path, std::to_string(size), header);
        return;
    case ZSTD_error_dstSize_tooSmall:
        fail_size(path, fmt::format("more than {}", to.size()), header);
    case ZSTD_error_srcSize_wrong:
        throw InvalidFile(path, "ends inside its last zstd frame: truncated");
    default:
        throw InvalidFile(path, fmt::format("cannot be decompressed: {}", ZSTD_getErrorName(size)));
    }
}

void require(const std::string& path, std::size_t result) {
    if (ZSTD_isError(result)) {
        throw InvalidFile(path, fmt::format("cannot be compressed: {}", ZSTD_getErrorName(result)));
    }
}

void write_compressed(AtomicFile& file, std::span<const std::byte> bytes) {
    const Compressor context(ZSTD_createCCtx());
    if (!context)
        throw std::bad_alloc();
    require(file.path(), ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1));
    require(file.path(), ZSTD_CCtx_setPledgedSrcSize(context.get(), bytes.size()));
    std::vector<std::byte> buffer(ZSTD_CStreamOutSize());
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    std::size_t left = 1;
    while (left != 0) {
        ZSTD_outBuffer output{buffer.data(), buffer.size(), 0};
        left = ZSTD_compressStream2(context.get(), &output, &input, ZSTD_e_end);
        require(file.path(), left);
        file.write(std::span<const std::byte>(buffer).first(output.pos));
    }
}

} // namespace

std::string manifest_beside(const std::string& path) {
    return format_of(path).read_header == read_raw_header
               ? (std::filesystem::path(path).parent_path() / "manifest.json").string()
               : "";
}

ImageHeader read_raw_header(const std::string& path) {
    const std::string beside = manifest_beside(path);
    const SourceFile exists(path); // reports a wrong path rather than a missing manifest
    std::error_code ignored;
    if (!std::filesystem::exists(beside, ignored)) {
        throw InvalidFile(
            path,
            fmt::format(
                "holds raw pixels, which need a manifest in the same folder, but {} does not exist",
                beside));
    }
    const ImageHeader header = read_manifest_header(beside);
    check_name(path, header.element);
    check_size(path, header);
    return header;
}

void read_raw(const std::string& path, const ImageHeader& header, std::span<std::byte> to) {
    check_name(path, header.element);
    check_size(path, header);
    check_expected(path, header, header, to);
    if (is_compressed(path)) {
        decompress(path, header, to);
        return;
    }
    SourceFile file(path);
    const Bytes got = file.read(to);
    if (got < bytes_of(header))
        fail_size(path, std::to_string(got), header); // the file has shrunk since the check
}

void write_raw(const std::string& path, const Image& image) {
    check_writable(path, image, maximum_pixels);
    check_name(path, image.element());
    AtomicFile file(path);
    if (is_compressed(path))
        write_compressed(file, image.bytes());
    else
        file.write(image.bytes());
    file.commit();
}

namespace {

/// The layout that a name states after "::".
struct Description {
    std::optional<ImageShape> shape;
    std::optional<Sample> sample;
    std::optional<Bytes> offset;
    std::optional<std::int64_t> frames;
    std::optional<bool> big_endian;
};

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool good = error == std::errc() && end == text.data() + text.size() && value >= 0;
    return good ? std::optional(value) : std::nullopt;
}

/// Returns the number after `key`, which ends in "=".
std::optional<std::int64_t> number_of(std::string_view word, std::string_view key) {
    return word.starts_with(key) ? whole_number(word.substr(key.size())) : std::nullopt;
}

std::optional<ImageShape> shape_of(std::string_view word) {
    const std::size_t cross = word.find('x');
    if (cross == std::string_view::npos)
        return std::nullopt;
    const auto width = whole_number(word.substr(0, cross));
    const auto height = whole_number(word.substr(cross + 1));
    return width && height ? std::optional(ImageShape{*width, *height}) : std::nullopt;
}

/// Sets a field unless it is already set; returns false if it is.
template <class T>
bool set_once(std::optional<T>& field, const T& value) {
    const bool first = !field;
    field = field.value_or(value);
    return first;
}

/// Stores a word of the layout in the description. Returns false if the word is unknown or
/// repeated.
bool take(std::string_view word, Description& description) {
    if (const auto shape = shape_of(word))
        return set_once(description.shape, *shape);
    if (const auto sample = sample_named(word))
        return set_once(description.sample, *sample);
    if (const auto offset = number_of(word, "offset="))
        return set_once(description.offset, *offset);
    if (const auto frames = number_of(word, "frames="))
        return set_once(description.frames, *frames);
    return word == "big-endian" && set_once(description.big_endian, true);
}

Description parse(const std::string& path, std::string_view detail) {
    Description description;
    while (!detail.empty()) {
        const std::size_t end = std::min(detail.find(','), detail.size());
        if (!take(detail.substr(0, end), description)) {
            throw InvalidFile(
                path, fmt::format("\"{}\" is not a part of a layout, or is repeated; expected for "
                                  "example 512x512,u16,offset=0,frames=20,big-endian",
                                  detail.substr(0, end)));
        }
        detail.remove_prefix(std::min(end + 1, detail.size()));
    }
    if (!description.sample || !description.shape) {
        throw InvalidFile(path, fmt::format("has no header: append width, height and sample type "
                                            "to its name, such as {}::512x512,u16",
                                            path));
    }
    return description;
}

} // namespace

std::unique_ptr<FrameSource> open_headerless(const std::string& path,
                                             const SourceOptions& options) {
    SourceFile file(path);
    const Description description = parse(path, options.detail);
    FrameHeader header{1, *description.shape, *description.sample};
    checked_frames(path, header);
    const Bytes frame = header.shape.elements() * size_of(header.sample);
    const Bytes offset = description.offset.value_or(0);
    const Bytes left = file.size() - offset;
    header.frames = description.frames.value_or(std::max<std::int64_t>(1, left / frame));
    checked_frames(path, header);
    if (!description.frames && left > header.frames * frame) {
        header.remarks.push_back(
            fmt::format("{} bytes after the last frame are ignored", left - header.frames * frame));
    }
    return stored_frames(std::move(file), std::move(header),
                         {offset, description.big_endian.value_or(false)});
}

} // namespace sextant::format
