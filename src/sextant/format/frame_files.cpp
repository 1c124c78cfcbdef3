// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/frame_files.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text_file.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/frame_catalogue.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <system_error>

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

/// The files of a folder whose name `wanted` accepts, in natural order.
template <class Wanted>
std::vector<std::string> files_in(const std::string& name, const fs::path& folder,
                                  const Wanted& wanted) {
    std::vector<std::string> paths;
    std::error_code error;
    for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
         !error && entry != end; entry.increment(error)) {
        const std::string file = entry->path().filename().string();
        std::error_code unknown; // such an entry is left to the reader to complain of
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
    if (files.paths.empty())
        throw InvalidFile(name, "is a folder without files of frames");
    const FrameFormat* const first = find_frame_format(files.paths.front());
    for (const std::string& path : files.paths) {
        const FrameFormat* const other = find_frame_format(path);
        if (other != first) {
            throw InvalidFile(name, fmt::format("holds {} of {} and {} of {}, expected one format; "
                                                "name the files by a pattern",
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
    std::size_t digits = 1; ///< at least

    /// The number of a file with such a name.
    std::optional<std::int64_t> number_of(const std::string& file) const {
        if (!file.starts_with(before) || !file.ends_with(after) ||
            file.size() <= before.size() + after.size())
            return std::nullopt;
        const auto number = std::string_view(file).substr(
            before.size(), file.size() - before.size() - after.size());
        // Longer than asked for, a number has no zeros in front.
        if (number.size() < digits || (number.size() > digits && number.front() == '0'))
            return std::nullopt;
        std::int64_t value = 0;
        const auto [end, error] =
            std::from_chars(number.data(), number.data() + number.size(), value);
        const bool good = error == std::errc() && end == number.data() + number.size();
        return good && is_digit(number.front()) ? std::optional(value) : std::nullopt;
    }
};

/// The parts around %d, %4d or %04d, which must be the only one.
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
            fmt::format("{} of the numbers {} to {} have no file", missing, first, last));
    }
    return files;
}

FrameFiles from_list(const std::string& name) {
    constexpr Bytes longest_list = Bytes{1} << 28;
    const std::string text = read_text(name, longest_list);
    FrameFiles files;
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    for (std::size_t start = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
         start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        std::string line = text.substr(start, end - start);
        while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())))
            line.pop_back();
        if (!line.empty() && !line.starts_with('#'))
            files.paths.push_back((fs::path(name).parent_path() / line).string());
        start = end + 1;
    }
    if (files.paths.empty())
        throw InvalidFile(name, "lists no file, expected a path a line");
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
    return a < b; // "01" and "1": some order, but always the same
}

std::optional<FrameFiles> find_frame_files(const std::string& name) {
    std::error_code unknown;
    if (fs::is_directory(name, unknown))
        return in_folder(name);
    if (fs::exists(name, unknown))
        return has_extension(name, ".txt") ? std::optional(from_list(name)) : std::nullopt;
    const std::string file = fs::path(name).filename().string();
    if (const auto parts = numbered(file))
        return by_number(name, *parts);
    if (file.find_first_of("*?[") != std::string::npos)
        return by_wildcards(name);
    return std::nullopt;
}

} // namespace sextant::format
