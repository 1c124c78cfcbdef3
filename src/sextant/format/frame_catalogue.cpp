// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/frame_catalogue.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/frame_formats.hpp"
#include "sextant/format/png.hpp"
#include "sextant/format/raw.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fnmatch.h>

namespace sextant::format {

namespace {

[[noreturn]] void refuse_writing(const std::string& path) {
    throw InvalidFile(path,
                      "can only be read; arrays of Zarr are written with the extension .zarr");
}

bool keeps_lengths(const FrameHeader& header, const SinkOptions&) {
    return metres_of(header.pixel.unit) > 0;
}

constexpr std::array frame_formats{
    FrameFormat{"TIFF", ".tif .tiff .btf",
                "stacks, BigTIFF, strips or tiles, integers and floats; axes of ImageJ and OME",
                open_tiff, create_tiff, "u8 i8 u16 i16 u32 i32 f32", nullptr, nullptr, false,
                tiff_keeps_pixel},
    FrameFormat{
        "MRC",
        ".mrc .mrcs .map .st .ali .rec .ccp4 .mrc.gz .mrcs.gz .map.gz .mrc.bz2 .mrcs.bz2 "
        ".map.bz2",
        "stacks and volumes, modes 0, 1, 2, 6, 12, 101, both byte orders, compressed or not",
        open_mrc, create_mrc, "i8 i16 u16 f16 f32", nullptr, nullptr, false, keeps_lengths},
    FrameFormat{"DigitalMicrograph", ".dm3 .dm4", "the largest image; further axes are frames",
                open_dm},
    FrameFormat{"SER", ".ser", "series of images written by TIA", open_ser},
    FrameFormat{"NPY", ".npy", "NumPy arrays: frames, rows, columns, in any order", open_npy,
                create_npy, "any"},
    FrameFormat{"NIfTI", ".nii .nii.gz",
                "volumes and their series, versions 1 and 2, compressed or not", open_nifti,
                create_nifti, "u8 i8 u16 i16 u32 i32 u64 i64 f32 f64", nullptr, nullptr, false,
                nifti_keeps_pixel},
    FrameFormat{"HDF5", ".h5 .hdf5",
                "EMD of Velox and Berkeley, HyperSpy, or a dataset: movie.h5::/images", open_hdf5,
                create_hdf5, "any", nullptr, nullptr, false, keeps_lengths},
    FrameFormat{"EMD, HyperSpy, NeXus", ".emd .hspy .nxs",
                "HDF5 files of microscopes and their software", open_hdf5},
    FrameFormat{"Zarr", ".zarr",
                "versions 2 and 3, OME-Zarr, or an array in a group: volume.zarr::0", open_zarr,
                create_zarr, "any", require_writable_zarr, create_zarr_parts, true},
    FrameFormat{"HyperSpy Zarr", ".zspy", "signals of HyperSpy in a store of Zarr", open_zarr,
                nullptr, "", refuse_writing},
    FrameFormat{"PNG", ".png", "one frame, grey or colour, 8 or 16 bits", open_png_frame,
                create_png_frame, "u8 u16"},
    FrameFormat{"JPEG", ".jpg .jpeg", "one frame, grey or colour", open_jpeg_frame},
    FrameFormat{"headerless", ".raw .bin",
                "raw samples; the layout follows the file name: movie.raw::512x512,u16",
                open_headerless},
};

/// Calls `visit` with each word of a text until a call returns true. Returns true if one did.
template <class Visit>
bool any_word(std::string_view text, const Visit& visit) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (visit(text.substr(0, end)))
            return true;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return false;
}

const FrameFormat& known_format(const std::string& path) {
    if (const FrameFormat* const format = find_frame_format(path))
        return *format;
    if (has_extension(path, ".hdr") || has_extension(path, ".img"))
        throw InvalidFile(path, "may be one of a pair of NIfTI or Analyze files, which are not "
                                "read, expected a single NIfTI file (.nii)");
    std::string known;
    for (const FrameFormat& format : frame_formats)
        known += fmt::format("{}{}", known.empty() ? "" : " ", format.extensions);
    const std::string extension = std::filesystem::path(path).extension().string();
    throw InvalidFile(
        path,
        fmt::format("is not of a known frame format: its extension is \"{}\", expected one of {}",
                    extension, known));
}

std::unique_ptr<FrameSource> open_named(const std::string& name, const SourceOptions& options) {
    const SeriesName parts = split_series_name(name);
    if (parts.detail.empty()) {
        if (auto files = find_frame_files(name))
            return open_sequence(name, std::move(*files), options);
    }
    std::error_code unknown; // report a missing file rather than an unknown extension
    if (!find_frame_format(parts.path) && !parts.path.empty() &&
        !std::filesystem::exists(parts.path, unknown))
        throw InvalidFile(parts.path, "no such file");
    return known_format(parts.path).open(parts.path, parts.detail, options);
}

/// Throws InvalidFile unless the wanted channel or slice is the one that is read. Formats without
/// named axes have one channel and one slice.
void require_plane(const std::string& name, std::string_view axis, std::int64_t wanted,
                   std::int64_t read) {
    if (wanted != read)
        throw InvalidFile(name,
                          fmt::format("has no {0} {1}, expected {0} {2}", axis, wanted, read));
}

} // namespace

SeriesName split_series_name(const std::string& name) {
    const std::size_t at = name.rfind("::");
    std::error_code unknown;
    if (at == std::string::npos || std::filesystem::exists(name, unknown))
        return {name, ""};
    return {name.substr(0, at), name.substr(at + 2)};
}

std::span<const FrameFormat> frame_catalogue() {
    return frame_formats;
}

const FrameFormat* find_frame_format(const std::string& path) {
    const std::string_view whole = path, folder = whole.substr(0, whole.find_last_not_of('/') + 1);
    for (const FrameFormat& format : frame_formats) {
        if (any_word(format.extensions, [&](std::string_view extension) {
                return has_extension(format.is_folder() ? folder : whole, extension);
            }))
            return &format;
    }
    return nullptr;
}

std::unique_ptr<FrameSource> open_frames(const std::string& name, const SourceOptions& options) {
    if (options.time && options.slice)
        throw InvalidTask(fmt::format("{}: a time, whose slices are the frames, and a slice were "
                                      "requested, expected one of them",
                                      name));
    auto source = open_named(name, options);
    if (options.every_plane && !source->header().axes.lengths.empty())
        return source;
    if (!options.axes.empty() && source->header().axes.names.empty())
        throw InvalidTask(fmt::format("axes {}: {} is not an array of NPY, HDF5 or Zarr, whose "
                                      "axes can be named",
                                      printable(options.axes), name));
    const Hyperstack& read = source->header().hyperstack;
    if (options.time && source->header().frames == 1 && read.times == 1 &&
        source->header().axes.names.find('t') == std::string::npos)
        throw InvalidTask(fmt::format("time {}: {} is an image, which has no times or slices",
                                      *options.time, name));
    require_plane(name, "time", options.time.value_or(0), read.time);
    require_plane(name, "channel", options.channel.value_or(0), read.channel);
    require_plane(name, "slice", options.slice.value_or(0), read.slice);
    return source;
}
std::vector<std::string> files_of_frames(const std::string& name) {
    const SeriesName parts = split_series_name(name);
    if (parts.detail.empty()) {
        if (auto files = find_frame_files(name))
            return std::move(files->paths);
    }
    return {parts.path};
}

std::string format_of_frames(const std::string& name) {
    const SeriesName parts = split_series_name(name);
    if (const auto files = find_frame_files(parts.path))
        return fmt::format("files of {}", known_format(files->paths.front()).name);
    return std::string(known_format(parts.path).name);
}

std::unique_ptr<FrameSink> create_frames(const std::string& path, const FrameHeader& header,
                                         const SinkOptions& options) {
    const FrameFormat& format = known_format(path);
    if (!format.create)
        throw InvalidFile(path, fmt::format("{} files can only be read", format.name));
    if (options.pyramid && !format.has_pyramids)
        throw InvalidTask(fmt::format("{}: {} files have no levels of lower resolution for a "
                                      "pyramid, expected .zarr",
                                      path, format.name));
    return format.create(path, header, options);
}

std::string remark_on_lost_pixel(const std::string& path, const FrameHeader& header,
                                 const SinkOptions& options) {
    const FrameFormat* const format = find_frame_format(path);
    if (!header.pixel.known() || !format || !format->keeps_pixel ||
        format->keeps_pixel(header, options))
        return "";
    const std::string& unit = header.pixel.unit;
    return fmt::format("{}: the pixel size of {:.6g}{} is not stored: this format has a place for "
                       "it only with a unit of length",
                       path, header.pixel.x, unit.empty() ? " without a unit" : " " + unit);
}

std::unique_ptr<FrameParts> create_frame_parts(const std::string& path, const FrameHeader& header,
                                               const SinkOptions& options) {
    const FrameFormat* const format = find_frame_format(path);
    return format && format->create_parts ? format->create_parts(path, header, options) : nullptr;
}

void require_writable_output(const std::string& path) {
    const FrameFormat* const format = find_frame_format(path);
    if (format && format->is_folder())
        format->require_writable(path);
    else
        require_writable(path);
}

namespace {

namespace fs = std::filesystem;

bool is_digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

std::string_view digits_at(std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end]))
        ++end;
    return text.substr(at, end - at);
}

std::string_view without_zeros(std::string_view digits) {
    const std::size_t first = digits.find_first_not_of('0');
    return first == std::string_view::npos ? digits.substr(digits.size()) : digits.substr(first);
}

/// Returns the files of a folder whose names `wanted` accepts, in natural order.
template <class Wanted>
std::vector<std::string> files_in(const std::string& name, const fs::path& folder,
                                  const Wanted& wanted) {
    std::vector<std::string> paths;
    std::error_code error;
    for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
         !error && entry != end; entry.increment(error)) {
        const std::string file = entry->path().filename().string();
        std::error_code unknown; // errors are reported when the file is read
        if (!file.starts_with('.') && !entry->is_directory(unknown) && wanted(file))
            paths.push_back((folder / file).string());
    }
    if (error)
        throw InvalidFile(name, "cannot be read: " + error.message());
    std::sort(paths.begin(), paths.end(), naturally_before);
    return paths;
}

FrameFiles in_folder(const std::string& name) {
    FrameFiles files{
        files_in(name, name,
                 [](const std::string& file) { return find_frame_format(file) != nullptr; }),
        {}};
    if (files.paths.empty()) {
        std::error_code unknown;
        const fs::path folder(name);
        const bool zarr = fs::exists(folder / ".zarray", unknown) ||
                          fs::exists(folder / ".zgroup", unknown) ||
                          fs::exists(folder / "zarr.json", unknown);
        throw InvalidFile(name, zarr ? "is a folder of Zarr without the extension .zarr; arrays in "
                                       "a store are named as in volume.zarr::0"
                                     : "is a folder without frame files");
    }
    const FrameFormat* const first = find_frame_format(files.paths.front());
    for (const std::string& path : files.paths) {
        const FrameFormat* const other = find_frame_format(path);
        if (other != first) {
            throw InvalidFile(name, fmt::format("holds {} of {} and {} of {}, expected one format; "
                                                "select the files by a pattern",
                                                fs::path(files.paths.front()).filename().string(),
                                                first->name, fs::path(path).filename().string(),
                                                other->name));
        }
    }
    return files;
}

FrameFiles by_wildcards(const std::string& name) {
    const fs::path path(name);
    const std::string pattern = path.filename().string();
    FrameFiles files{files_in(name, path.parent_path(),
                              [&](const std::string& file) {
                                  return fnmatch(pattern.c_str(), file.c_str(), FNM_PERIOD) == 0;
                              }),
                     {}};
    if (files.paths.empty())
        throw InvalidFile(name, "matches no file");
    return files;
}

/// A name with one number, such as "frame_%04d.png".
struct Numbered {
    std::string before, after;
    std::size_t digits = 1; ///< minimum number of digits

    /// Returns the number in a file name of this form.
    std::optional<std::int64_t> number_of(const std::string& file) const {
        if (!file.starts_with(before) || !file.ends_with(after) ||
            file.size() <= before.size() + after.size())
            return std::nullopt;
        const auto number = std::string_view(file).substr(
            before.size(), file.size() - before.size() - after.size());
        // A number with more digits than requested has no leading zeros.
        if (number.size() < digits || (number.size() > digits && number.front() == '0'))
            return std::nullopt;
        std::int64_t value = 0;
        const auto [end, error] =
            std::from_chars(number.data(), number.data() + number.size(), value);
        const bool good = error == std::errc() && end == number.data() + number.size();
        return good && is_digit(number.front()) ? std::optional(value) : std::nullopt;
    }
};

/// Splits a name at its only %d, %4d or %04d.
std::optional<Numbered> numbered(const std::string& name) {
    const std::size_t at = name.find('%');
    if (at == std::string::npos)
        return std::nullopt;
    const std::string_view width = digits_at(name, at + 1);
    const std::size_t end = at + 1 + width.size();
    if (end >= name.size() || name[end] != 'd' || name.find('%', end) != std::string::npos)
        return std::nullopt;
    Numbered parts{name.substr(0, at), name.substr(end + 1)};
    std::from_chars(width.data(), width.data() + width.size(), parts.digits);
    return parts;
}

FrameFiles by_number(const std::string& name, const Numbered& parts) {
    const fs::path path(name);
    FrameFiles files{
        files_in(name, path.parent_path(),
                 [&](const std::string& file) { return parts.number_of(file).has_value(); }),
        {}};
    if (files.paths.empty())
        throw InvalidFile(name, "matches no file");
    const auto number = [&](const std::string& file) {
        return *parts.number_of(fs::path(file).filename().string());
    };
    const std::int64_t first = number(files.paths.front()), last = number(files.paths.back());
    const auto missing = last - first + 1 - static_cast<std::int64_t>(files.paths.size());
    if (missing > 0) {
        files.remarks.push_back(
            fmt::format("{} of the files numbered {} to {} are missing", missing, first, last));
    }
    return files;
}

FrameFiles from_list(const std::string& name) {
    constexpr Bytes longest_list = Bytes{1} << 28;
    constexpr std::size_t longest_path = 4096;
    const std::string text = read_text(name, longest_list);
    FrameFiles files;
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    std::int64_t number = 0;
    for (std::size_t start = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
         start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        std::string line = text.substr(start, end - start);
        while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())))
            line.pop_back();
        ++number;
        if (line.size() > longest_path)
            throw InvalidFile(
                name, fmt::format("line {} has {} characters, expected a path of at most {}: {}",
                                  number, line.size(), longest_path, printable(shortened(line))));
        if (!line.empty() && !line.starts_with('#'))
            files.paths.push_back((fs::path(name).parent_path() / line).string());
        start = end + 1;
    }
    if (files.paths.empty())
        throw InvalidFile(name, "lists no file, expected one path per line");
    return files;
}

} // namespace

bool naturally_before(std::string_view a, std::string_view b) {
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        if (is_digit(a[i]) && is_digit(b[j])) {
            const std::string_view all_a = digits_at(a, i), all_b = digits_at(b, j);
            const std::string_view number_a = without_zeros(all_a), number_b = without_zeros(all_b);
            if (number_a.size() != number_b.size())
                return number_a.size() < number_b.size();
            if (number_a != number_b)
                return number_a < number_b;
            i += all_a.size();
            j += all_b.size();
        } else if (a[i] != b[j]) {
            return a[i] < b[j];
        } else {
            ++i;
            ++j;
        }
    }
    if (i < a.size() || j < b.size())
        return i == a.size();
    return a < b; // names such as "01" and "1" only need a consistent order
}

std::optional<FrameFiles> find_frame_files(const std::string& name) {
    std::error_code unknown;
    if (fs::is_directory(name, unknown)) {
        const FrameFormat* const format = find_frame_format(name);
        return format && format->is_folder() ? std::nullopt : std::optional(in_folder(name));
    }
    if (fs::exists(name, unknown))
        return has_extension(name, ".txt") ? std::optional(from_list(name)) : std::nullopt;
    const std::string file = fs::path(name).filename().string();
    if (const auto parts = numbered(file))
        return by_number(name, *parts);
    if (file.find_first_of("*?[") != std::string::npos)
        return by_wildcards(name);
    return std::nullopt;
}

namespace {

std::unique_ptr<FrameSource> open_single(const std::string& path, const SourceOptions& options) {
    const FrameFormat* const format = find_frame_format(path);
    if (!format)
        throw InvalidFile(path, "is not of a known frame format");
    auto source = format->open(path, "", options);
    if (source->header().frames != 1) {
        throw InvalidFile(path,
                          fmt::format("holds {} frames, expected one in each file of a series",
                                      source->header().frames));
    }
    return source;
}

std::string text_of(const PixelSize& pixel) {
    return pixel.known() ? fmt::format("a pixel size of {:.6g} by {:.6g} {}", pixel.x, pixel.y,
                                       pixel.unit.empty() ? "(no unit)" : pixel.unit)
                         : "no pixel size";
}

bool is_same(const PixelSize& a, const PixelSize& b) {
    constexpr double most = 1e-3; // relative; sizes are rounded
    if (!a.known() || !b.known())
        return a.known() == b.known();
    const double factor = a.unit == b.unit ? 1 : unit_factor(b.unit, a.unit);
    return std::abs(b.x * factor - a.x) <= most * a.x && std::abs(b.y * factor - a.y) <= most * a.y;
}

/// Adds a remark if a file states another pixel size than the first one. Of many files, some are
/// examined. Those that cannot be opened are reported when they are read.
void compare_pixels(const FrameFiles& files, const SourceOptions& options, FrameHeader& header) {
    constexpr std::int64_t most_examined = 32;
    const std::int64_t last = std::ssize(files.paths) - 1;
    const std::int64_t examined = std::min(most_examined, last);
    for (std::int64_t i = 1; i <= examined; ++i) {
        const std::string& path = files.paths[static_cast<std::size_t>(last * i / examined)];
        try {
            const PixelSize pixel = open_single(path, options)->header().pixel;
            if (is_same(header.pixel, pixel))
                continue;
            header.remarks.push_back(fmt::format("{} states {}, but {}, whose size is used for all "
                                                 "frames, states {}",
                                                 path, text_of(pixel), files.paths.front(),
                                                 text_of(header.pixel)));
            return;
        } catch (const InvalidFile&) {
            continue;
        }
    }
}

class Sequence : public FrameFile {
  public:
    Sequence(const std::string& name, FrameHeader header, FrameFiles files,
             const SourceOptions& options, std::unique_ptr<FrameSource> first)
        : FrameFile(name, std::move(header)),
          files_(std::move(files)),
          options_(options),
          open_(std::move(first)) {}

    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        if (frame != number_) {
            const std::string& file = files_.paths[static_cast<std::size_t>(frame)];
            auto source = open_single(file, options_);
            check_alike(file, frame, source->header(), header());
            open_ = std::move(source);
            number_ = frame;
        }
        open_->read_samples(0, rows, to);
    }

  private:
    FrameFiles files_;
    SourceOptions options_;
    std::unique_ptr<FrameSource> open_; ///< the file read last
    std::int64_t number_ = 0;           ///< frame number of the file in `open_`
};

} // namespace

std::unique_ptr<FrameSource> open_sequence(const std::string& name, FrameFiles files,
                                           const SourceOptions& options) {
    for (const std::string& path : files.paths) {
        if (!find_frame_format(path))
            throw InvalidFile(path, "is not of a known frame format");
    }
    auto first = open_single(files.paths.front(), options);
    FrameHeader header = first->header();
    header.frames = static_cast<std::int64_t>(files.paths.size());
    header.frame_interval = 0; // single-frame files state no interval
    const bool named = !header.axes.names.empty();
    header.axes = {}; // of the first file
    if (named)
        header.axes = {{header.frames, header.shape.height, header.shape.width}, "TYX"};
    header.remarks.insert(header.remarks.end(), files.remarks.begin(), files.remarks.end());
    compare_pixels(files, options, header);
    return frames_of(std::make_unique<Sequence>(name, std::move(header), std::move(files), options,
                                                std::move(first)));
}

} // namespace sextant::format
