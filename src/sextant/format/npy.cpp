// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/npy.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/formats.hpp"
#include "sextant/format/frame_axes.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/source_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// A Python literal of a kind that occurs in headers.
struct Literal {
    enum class Kind { text, boolean, integer, tuple, other };
    Kind kind = Kind::other;
    std::int64_t number = 0; ///< the value of an integer; 0 or 1 for a boolean
    std::string text = {};
    std::vector<Literal> entries = {};
};

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\f' || c == '\n' || c == '\r';
}

bool is_decimal(char c) {
    return c >= '0' && c <= '9';
}

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Returns the value of the digits of an integer literal. Single underscores may separate digits.
std::optional<std::int64_t> digits_in(std::string_view text, int base) {
    std::string digits;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '_')
            digits += text[i];
        else if (i + 1 == text.size() || text[i + 1] == '_')
            return std::nullopt;
    }
    std::int64_t number = 0;
    const char* const last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, number, base);
    const bool whole = error == std::errc() && end == last && digits.front() != '-';
    return whole ? std::optional(number) : std::nullopt;
}

/// Parses a Python integer. Leading zeros are invalid, except in 0 itself.
std::optional<std::int64_t> integer_in(std::string_view text) {
    if (text.size() > 2 && text[0] == '0') {
        const char kind = text[1];
        const int base = kind == 'x' || kind == 'X'   ? 16
                         : kind == 'o' || kind == 'O' ? 8
                         : kind == 'b' || kind == 'B' ? 2
                                                      : 0;
        if (base != 0)
            return digits_in(text.substr(2), base);
    }
    if (text.empty() || !is_decimal(text[0]))
        return std::nullopt;
    const auto number = digits_in(text, 10);
    return number && *number > 0 && text[0] == '0' ? std::nullopt : number;
}

/// A parser of Python literals.
class LiteralReader {
  public:
    LiteralReader(const std::string& path, std::string_view text, int version)
        : path_(path), rest_(text), version_(version) {}

    /// Parses the whole text as a dictionary. If a key is repeated, its last value counts.
    std::map<std::string, Literal> dictionary() {
        while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t'))
            rest_.remove_prefix(1);
        if (!take('{'))
            fail("is not a dictionary");
        std::map<std::string, Literal> all;
        while (!take('}')) {
            const Literal key = value(0);
            if (key.kind != Literal::Kind::text)
                fail("has a key that is not a string");
            expect(':');
            all[key.text] = value(0);
            if (!take(',')) {
                expect('}');
                break;
            }
        }
        skip();
        if (!rest_.empty())
            fail(fmt::format("continues with \"{}\" after the dictionary", shortened(rest_, 20)));
        return all;
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw InvalidFile(path_, "has an NPY header that " + what);
    }

    /// Skips spaces and comments.
    void skip() {
        while (!rest_.empty() && (is_space(rest_[0]) || rest_[0] == '#')) {
            const std::size_t end = rest_[0] == '#' ? rest_.find('\n') : 0;
            rest_.remove_prefix(std::min(end, rest_.size() - 1) + 1);
        }
    }

    bool take(char c) {
        skip();
        if (rest_.empty() || rest_[0] != c)
            return false;
        rest_.remove_prefix(1);
        return true;
    }

    void expect(char c) {
        if (!take(c))
            fail(rest_.empty()
                     ? std::string("is incomplete")
                     : fmt::format("has \"{}\" where '{}' is expected", shortened(rest_, 20), c));
    }

    Literal value(int depth) {
        constexpr int most_depth = 16;
        if (depth > most_depth)
            fail("is nested too deeply");
        skip();
        if (starts_text())
            return text();
        if (take('('))
            return tuple(depth);
        if (take('['))
            return skipped(']', depth);
        const bool negative = !rest_.empty() && rest_[0] == '-';
        if (negative || (!rest_.empty() && rest_[0] == '+')) {
            rest_.remove_prefix(1);
            skip();
            Literal number = word();
            if (number.kind != Literal::Kind::integer)
                fail("has a sign without a number");
            number.number *= negative ? -1 : 1;
            return number;
        }
        return word();
    }

    /// Returns the length of a string prefix, such as u or r; at most two letters.
    std::size_t prefix() const {
        std::size_t letters = 0;
        while (letters < 2 && letters < rest_.size() &&
               std::string_view("uUrRbB").find(rest_[letters]) != std::string_view::npos)
            ++letters;
        return letters;
    }

    bool starts_text() const {
        const std::size_t at = prefix();
        return at < rest_.size() && (rest_[at] == '\'' || rest_[at] == '"');
    }

    /// Parses a string. As in Python, adjacent strings are concatenated.
    Literal text() {
        Literal all{Literal::Kind::text};
        for (; starts_text(); skip()) {
            const std::string_view before = rest_.substr(0, prefix());
            rest_.remove_prefix(before.size());
            const bool unicode = before.find_first_of("uU") != before.npos;
            if (before.find_first_of("bB") != before.npos || (unicode && before.size() > 1))
                fail("has bytes where a string is expected");
            append_text(all.text, before.find_first_of("rR") != before.npos);
        }
        return all;
    }

    void append_text(std::string& to, bool raw) {
        const char quote = rest_[0];
        const std::string three(3, quote);
        const std::string end = rest_.starts_with(three) ? three : three.substr(0, 1);
        rest_.remove_prefix(end.size());
        while (!rest_.starts_with(end)) {
            if (rest_.empty() || (rest_[0] == '\n' && end.size() == 1))
                fail("has a string without its closing quote");
            if (rest_[0] == '\\') // NumPy's keys and types have no backslash
                fail(raw ? "has a backslash in a string" : "has an escape sequence in a string");
            to += rest_[0];
            rest_.remove_prefix(1);
        }
        rest_.remove_prefix(end.size());
    }

    /// Parses the text after "(": a tuple, or one value in parentheses.
    Literal tuple(int depth) {
        Literal all{Literal::Kind::tuple};
        bool comma = false;
        while (!take(')')) {
            if (!all.entries.empty() && !comma)
                expect(',');
            all.entries.push_back(value(depth + 1));
            comma = take(',');
        }
        if (all.entries.size() == 1 && !comma)
            return std::move(all.entries.front());
        return all;
    }

    /// Skips a list, set or dictionary. Headers of arrays of numbers do not use them.
    Literal skipped(char end, int depth) {
        while (!take(end)) {
            value(depth + 1);
            if (!take(',')) {
                expect(end);
                break;
            }
        }
        return {};
    }

    /// Parses a number or a name.
    Literal word() {
        std::size_t letters = 0;
        while (letters < rest_.size() && (is_decimal(rest_[letters]) || is_letter(rest_[letters])))
            ++letters;
        std::string_view word = rest_.substr(0, letters);
        rest_.remove_prefix(letters);
        if (word == "True" || word == "False")
            return {Literal::Kind::boolean, word == "True"};
        if (word == "None")
            return {};
        if (version_ <= 2 && !word.empty() && is_decimal(word[0])) {
            if (word.ends_with('L'))
                word.remove_suffix(1);
            else if (skip(); rest_.starts_with('L'))
                rest_.remove_prefix(1);
        }
        if (const auto number = integer_in(word))
            return {Literal::Kind::integer, *number};
        fail(word.empty() && rest_.empty()
                 ? std::string("is incomplete")
                 : fmt::format("has \"{}\" where a string, an integer or a list is expected",
                               shortened(word.empty() ? rest_ : word, 20)));
    }

    const std::string& path_;
    std::string_view rest_;
    const int version_;
};

struct Type {
    std::string_view name;
    Sample sample;
};

/// NumPy's one-letter type names. A byte-order character may precede them.
constexpr std::array letters{
    Type{"?", Sample::u8},  Type{"b", Sample::i8},  Type{"B", Sample::u8},  Type{"h", Sample::i16},
    Type{"H", Sample::u16}, Type{"i", Sample::i32}, Type{"I", Sample::u32}, Type{"l", Sample::i64},
    Type{"L", Sample::u64}, Type{"q", Sample::i64}, Type{"Q", Sample::u64}, Type{"p", Sample::i64},
    Type{"P", Sample::u64}, Type{"e", Sample::f16}, Type{"f", Sample::f32}, Type{"d", Sample::f64},
};

/// NumPy's long type names. No byte-order character may precede them.
constexpr std::array names{
    Type{"bool", Sample::u8},       Type{"bool_", Sample::u8},    Type{"int8", Sample::i8},
    Type{"byte", Sample::i8},       Type{"uint8", Sample::u8},    Type{"ubyte", Sample::u8},
    Type{"int16", Sample::i16},     Type{"short", Sample::i16},   Type{"uint16", Sample::u16},
    Type{"ushort", Sample::u16},    Type{"int32", Sample::i32},   Type{"intc", Sample::i32},
    Type{"uint32", Sample::u32},    Type{"uintc", Sample::u32},   Type{"int64", Sample::i64},
    Type{"int", Sample::i64},       Type{"int_", Sample::i64},    Type{"long", Sample::i64},
    Type{"longlong", Sample::i64},  Type{"intp", Sample::i64},    Type{"int0", Sample::i64},
    Type{"uint64", Sample::u64},    Type{"uint", Sample::u64},    Type{"uintp", Sample::u64},
    Type{"ulonglong", Sample::u64}, Type{"uint0", Sample::u64},   Type{"float16", Sample::f16},
    Type{"half", Sample::f16},      Type{"float32", Sample::f32}, Type{"single", Sample::f32},
    Type{"float64", Sample::f64},   Type{"float", Sample::f64},   Type{"float_", Sample::f64},
    Type{"double", Sample::f64},
};

template <std::size_t N>
std::optional<Sample> named(const std::array<Type, N>& types, std::string_view name) {
    const auto* const found = std::find_if(types.begin(), types.end(),
                                           [&](const Type& type) { return type.name == name; });
    return found == types.end() ? std::nullopt : std::optional(found->sample);
}

/// Parses a type such as "u2": a letter for the kind, and the size of a sample in bytes.
std::optional<Sample> sized(std::string_view text) {
    int bytes = 0;
    const char* const last = text.data() + text.size();
    std::string_view digits = text.substr(std::min<std::size_t>(1, text.size()));
    // Like C, NumPy allows spaces and a plus sign before the number.
    while (!digits.empty() && is_space(digits[0]))
        digits.remove_prefix(1);
    if (digits.starts_with('+'))
        digits.remove_prefix(1);
    const auto [end, error] = std::from_chars(digits.data(), last, bytes);
    if (error != std::errc() || end != last || digits.starts_with('-'))
        return std::nullopt;
    if (text[0] == 'b')
        return bytes == 1 ? std::optional(Sample::u8) : std::nullopt;
    return sample_of(text[0], std::int64_t{8} * bytes);
}

void take_type(const std::string& path, const Literal& descr, NpyHeader& header) {
    if (descr.kind != Literal::Kind::text)
        throw InvalidFile(path, "has structured elements, expected plain numbers");
    std::string_view type = descr.text;
    auto sample = named(names, type);
    if (!sample) {
        if (!type.empty() && std::string_view("<>=|").find(type[0]) != std::string_view::npos) {
            header.big_endian = type[0] == '>';
            type.remove_prefix(1);
        }
        sample = named(letters, type);
        if (!sample)
            sample = sized(type);
    }
    if (!sample)
        throw InvalidFile(path,
                          fmt::format("has elements of type '{}', expected integers of 8 to 64 "
                                      "bits, floats of 16 to 64 or bools",
                                      shortened(descr.text, 32)));
    header.sample = *sample;
    header.boolean = *sample == Sample::u8 && (type == "?" || type.starts_with('b'));
}

void take_shape(const std::string& path, const Literal& shape, NpyHeader& header) {
    if (shape.kind != Literal::Kind::tuple)
        throw InvalidFile(path, "has a 'shape' in its NPY header that is not a tuple");
    for (const Literal& side : shape.entries) {
        if (side.kind != Literal::Kind::integer)
            throw InvalidFile(path,
                              "has a 'shape' in its NPY header that is not a tuple of integers");
        header.shape.push_back(side.number);
    }
    if (std::any_of(header.shape.begin(), header.shape.end(), [](auto side) { return side < 1; }))
        throw InvalidFile(path,
                          fmt::format("has the shape ({}), expected positive numbers",
                                      shortened(fmt::format("{}", fmt::join(header.shape, ", ")))));
}

} // namespace

NpyHeader parse_npy_header(const std::string& path, std::string_view text, int version) {
    const auto fields = LiteralReader(path, text, version).dictionary();
    for (const char* key : {"descr", "fortran_order", "shape"}) {
        if (!fields.contains(key))
            throw InvalidFile(path, fmt::format("has no '{}' in its NPY header", key));
    }
    for (const auto& [key, value] : fields) {
        if (fields.size() > 3 && key != "descr" && key != "fortran_order" && key != "shape")
            throw InvalidFile(
                path,
                fmt::format("has '{}' in its NPY header, which is not an NPY key", shortened(key)));
    }
    NpyHeader header;
    take_type(path, fields.at("descr"), header);
    const Literal& order = fields.at("fortran_order");
    if (order.kind != Literal::Kind::boolean)
        throw InvalidFile(path,
                          "has a 'fortran_order' in its NPY header that is not True or False");
    header.fortran = order.number != 0;
    take_shape(path, fields.at("shape"), header);
    return header;
}

namespace {

constexpr std::string_view magic = "\x93NUMPY";

/// Reads the header, and returns the position of the samples.
Bytes read_header(const SourceFile& file, NpyHeader& header) {
    const std::string& path = file.path();
    std::array<std::byte, 12> start{};
    const Bytes got = file.read_at(0, start);
    const auto* const signature = reinterpret_cast<const char*>(start.data());
    if (got < 10 || std::string_view(signature, magic.size()) != magic)
        throw InvalidFile(path, "is not an NPY file: its signature is wrong");
    const int version = std::to_integer<int>(start[6]);
    const int minor = std::to_integer<int>(start[7]);
    if (version < 1 || version > 3 || minor != 0) {
        throw InvalidFile(
            path, fmt::format("has NPY version {}.{}, expected 1.0, 2.0 or 3.0", version, minor));
    }
    const Bytes begin = version == 1 ? 10 : 12;
    const Bytes length = version == 1 ? Bytes{number_in<std::uint16_t>(start, 8, false)}
                                      : Bytes{number_in<std::uint32_t>(start, 8, false)};
    constexpr Bytes longest = 10'000; // NumPy's limit
    if (length > longest || begin + length > file.size()) {
        throw InvalidFile(path,
                          fmt::format("claims a header of {} bytes: damaged or truncated", length));
    }
    std::string text(static_cast<std::size_t>(length), '\0');
    file.read_at(begin, std::as_writable_bytes(std::span(text)));
    header = parse_npy_header(path, text, version);
    return begin + length;
}

} // namespace

std::unique_ptr<FrameSource> open_npy(const std::string& path, const SourceOptions& options) {
    SourceFile file(path);
    NpyHeader array;
    const Bytes start = read_header(file, array);
    const std::size_t axes = array.shape.size();
    if (axes < 2)
        throw InvalidFile(path, fmt::format("has {} axes, expected two or more", axes));
    FrameHeader header;
    header.sample = array.sample;
    const FrameAxes chosen =
        choose_frame_axes(path, ArrayInFile::with_last_axes(array.shape), options, header);
    if (array.fortran && chosen.frames.size() > 1) {
        throw InvalidFile(path, fmt::format("has {} axes in Fortran order, expected 2 or 3, or "
                                            "names for the axes, for example --axes TZYX",
                                            axes));
    }
    if (array.fortran && header.frames > 1)
        header.remarks.emplace_back(
            "stored in Fortran order: a frame's samples are not contiguous, so reading is slow");
    return stored_frames(std::move(file), std::move(header),
                         {start, array.big_endian, array.boolean, array.shape,
                          stored_steps(path, array.shape, array.sample, array.fortran), chosen});
}

namespace {

/// Returns the bytes before the samples: the signature and the header.
std::vector<std::byte> npy_start(Sample type, std::span<const std::int64_t> lengths) {
    const std::string_view sample = name(type);
    std::string text = fmt::format(
        "{{'descr': '<{}{}', 'fortran_order': False, 'shape': ({}{}), }}", sample.front(),
        size_of(type), fmt::join(lengths, ", "), lengths.size() == 1 ? "," : "");
    constexpr std::size_t alignment = 64, before = 10;
    while ((before + text.size() + 1) % alignment != 0)
        text += ' ';
    text += '\n';
    std::vector<std::byte> start(before + text.size());
    std::memcpy(start.data(), magic.data(), magic.size());
    put_number(std::span(start), 6, std::array{'\1', '\0'});
    put_number(std::span(start), 8, static_cast<std::uint16_t>(text.size()));
    std::memcpy(start.data() + before, text.data(), text.size());
    return start;
}

} // namespace

std::unique_ptr<ArraySink> create_npy_array(const std::string& path, ArrayHeader header,
                                            const SinkOptions&) {
    const std::vector<std::byte> start = npy_start(header.sample, header.lengths);
    return stored_array_sink(path, std::move(header), start);
}

} // namespace sextant::format
