// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/sequence.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/checks.hpp"

#include <algorithm>
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

/// Returns the files in a folder whose names `wanted` accepts, in natural order.
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
        throw InvalidFile(name, zarr ? "is a Zarr folder without the extension .zarr; arrays in a "
                                       "store are named as in volume.zarr::0"
                                     : "is a folder without frame files");
    }
    const FrameFormat* const first = find_frame_format(files.paths.front());
    for (const std::string& path : files.paths) {
        const FrameFormat* const other = find_frame_format(path);
        if (other != first) {
            throw InvalidFile(
                name, fmt::format("contains {} ({}) and {} ({}), expected one format; "
                                  "select the files with a pattern",
                                  fs::path(files.paths.front()).filename().string(), first->name,
                                  fs::path(path).filename().string(), other->name));
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

/// A name pattern with one number, such as "frame_%04d.png".
struct Numbered {
    std::string before, after;
    std::size_t digits = 1; ///< minimum number of digits

    /// Returns the number in a file name that matches the pattern.
    std::optional<std::int64_t> number_of(const std::string& file) const {
        if (!file.starts_with(before) || !file.ends_with(after) ||
            file.size() <= before.size() + after.size())
            return std::nullopt;
        const auto number = std::string_view(file).substr(
            before.size(), file.size() - before.size() - after.size());
        // A number has leading zeros only up to the minimum number of digits.
        if (number.size() < digits || (number.size() > digits && number.front() == '0'))
            return std::nullopt;
        std::int64_t value = 0;
        const auto [end, error] =
            std::from_chars(number.data(), number.data() + number.size(), value);
        const bool good = error == std::errc() && end == number.data() + number.size();
        return good && is_digit(number.front()) ? std::optional(value) : std::nullopt;
    }
};

/// Splits a name at %d, %4d or %04d, which must occur only once.
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
    return a < b; // gives names such as "01" and "1" a consistent order
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
        throw InvalidFile(path, "is not in a known frame format");
    auto source = format->open(path, options);
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
    constexpr double most = 1e-3; // relative tolerance: sizes are rounded
    if (!a.known() || !b.known())
        return a.known() == b.known();
    const double factor = a.unit == b.unit ? 1 : unit_factor(b.unit, a.unit);
    return std::abs(b.x * factor - a.x) <= most * a.x && std::abs(b.y * factor - a.y) <= most * a.y;
}

/// Adds a remark if a file states another pixel size than the first file. Examines at most 32
/// files. Files that cannot be opened are skipped; the error is reported when they are read.
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
    std::unique_ptr<FrameSource> open_; ///< the file of the last read
    std::int64_t number_ = 0;           ///< the frame in `open_`
};

} // namespace

std::unique_ptr<FrameSource> open_sequence(const std::string& name, FrameFiles files,
                                           const SourceOptions& options) {
    for (const std::string& path : files.paths) {
        if (!find_frame_format(path))
            throw InvalidFile(path, "is not in a known frame format");
    }
    auto first = open_single(files.paths.front(), options);
    FrameHeader header = first->header();
    header.frames = static_cast<std::int64_t>(files.paths.size());
    header.frame_interval = 0; // single-frame files state no interval
    const bool named = !header.axes.names.empty();
    header.axes = {}; // these were the axes of the first file
    if (named)
        header.axes = {{header.frames, header.shape.height, header.shape.width}, "TYX"};
    header.remarks.insert(header.remarks.end(), files.remarks.begin(), files.remarks.end());
    compare_pixels(files, options, header);
    return frames_of(std::make_unique<Sequence>(name, std::move(header), std::move(files), options,
                                                std::move(first)));
}

} // namespace sextant::format
