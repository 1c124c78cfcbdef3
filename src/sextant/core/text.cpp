// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/text.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant {

Utf8Character first_character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(0) < 0x80)
        return {byte(0), 1};
    const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
    if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes)
        return {};
    char32_t code = byte(0) & (0x7f >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80)
            return {};
        code = code << 6 | (byte(i) & 0x3f);
    }
    constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < least[bytes] || code > 0x10ffff || surrogate ? Utf8Character{}
                                                               : Utf8Character{code, bytes};
}

namespace {

/// True for the control characters from U+007F to U+009F, which JSON does not escape.
bool is_late_control(char32_t code) {
    return code >= 0x7f && code <= 0x9f;
}

/// True for characters that separate lines or change the writing direction.
bool reorders(char32_t code) {
    return code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

std::string escaped(std::string_view text, bool lines) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        const Utf8Character next = first_character(text);
        const std::size_t bytes = std::max<std::size_t>(next.bytes, 1);
        if (next.bytes == 0)
            shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
        else if (next.code == '\n' && !lines)
            shown += "\\n";
        else if (next.code < 0x20 && next.code != '\n')
            shown += fmt::format("\\x{:02x}", static_cast<unsigned>(next.code));
        else if (is_late_control(next.code) || reorders(next.code))
            shown += fmt::format("\\u{:04x}", static_cast<unsigned>(next.code));
        else
            shown += text.substr(0, bytes);
        text.remove_prefix(bytes);
    }
    return shown;
}

} // namespace

std::string printable(std::string_view text) {
    return escaped(text, false);
}

std::string printable_lines(std::string_view text) {
    return escaped(text, true);
}

std::string shortened(std::string_view text, std::size_t most) {
    return std::string(text.substr(0, most)) + (text.size() > most ? "..." : "");
}

std::string bounded_message(std::string_view text) {
    constexpr std::size_t side = 1000; // bytes of the beginning, and of the end
    if (text.size() <= 2 * side)
        return std::string(text);
    return fmt::format("{} ... {}", text.substr(0, side), text.substr(text.size() - side));
}

namespace {

/// A file descriptor that is closed at the end of its scope.
struct Descriptor {
    int number;
    ~Descriptor() {
        if (number >= 0)
            close(number);
    }
};

[[noreturn]] void fail(const std::string& path, int error) {
    if (error == ENOENT)
        throw InvalidFile(path, "no such file");
    throw InvalidFile(path, "cannot be read: " + std::generic_category().message(error));
}

} // namespace

std::string read_text(const std::string& path, Bytes most) {
    // O_NONBLOCK makes open() return even for a pipe without a writer.
    const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat there {};
    if (file.number < 0 || fstat(file.number, &there) != 0)
        fail(path, errno);
    if (S_ISDIR(there.st_mode))
        throw InvalidFile(path, "is a folder, expected a file");
    if (!S_ISREG(there.st_mode))
        throw InvalidFile(path, "is not a regular file");
    if (there.st_size > most)
        throw InvalidFile(path, fmt::format("has {} bytes, expected at most {}",
                                            static_cast<Bytes>(there.st_size), most));
    std::string text;
    for (std::size_t got = 0;;) { // the file may grow, and some files report no size
        constexpr std::size_t least_room = 4096;
        text.resize(std::max(static_cast<std::size_t>(there.st_size), got) + least_room);
        const ssize_t came = ::read(file.number, text.data() + got, text.size() - got);
        if (came < 0 && errno == EINTR)
            continue;
        if (came < 0)
            fail(path, errno);
        got += static_cast<std::size_t>(came);
        if (static_cast<Bytes>(got) > most)
            throw InvalidFile(path, fmt::format("has more than {} bytes", most));
        if (came == 0) {
            text.resize(got);
            return text;
        }
    }
}

namespace {

/// The smallest number of letters to insert, delete, replace or swap with a neighbour to turn a
/// into b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before, above(b.size() + 1), row(b.size() + 1);
    std::iota(above.begin(), above.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped)
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before = std::exchange(above, row);
    }
    return above[b.size()];
}

void append(std::string& list, std::string_view name) {
    if (!list.empty())
        list.append(", ");
    list.append(name);
}

} // namespace

std::string unknown_name(std::string_view kind, std::string_view wanted,
                         std::span<const std::string_view> names) {
    constexpr std::size_t longest = 100; // longer names are not compared
    std::string near, all;
    for (std::string_view name : names) {
        const bool alike =
            wanted.size() <= longest &&
            (edit_distance(wanted, name) <= std::max<std::size_t>(2, name.size() / 3) ||
             (wanted.size() > 2 && name.find(wanted) != name.npos));
        if (alike)
            append(near, name);
        append(all, name);
    }
    std::string message = "unknown ";
    message.append(kind).append(" '").append(shortened(wanted, longest)).append("'; ");
    return near.empty() ? message.append("expected one of ").append(all)
                        : message.append("did you mean ").append(near).append("?");
}

} // namespace sextant
