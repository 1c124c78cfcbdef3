// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/animation.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include <zlib.h>

namespace sextant::format {

namespace {

using Levels = std::vector<std::uint8_t>;

void check(const Animation& animation, Elements most) {
    const ImageShape shape = animation.shape;
    const bool fits = std::min(shape.width, shape.height) > 0 &&
                      std::max(shape.width, shape.height) <= most && !animation.pictures.empty();
    if (!fits || std::ranges::any_of(animation.pictures, [&](const Levels& picture) {
            return static_cast<Elements>(picture.size()) != shape.elements();
        }))
        throw std::logic_error("an animation without pictures of its shape");
}

std::uint8_t brightness(int level) {
    return static_cast<std::uint8_t>(level * 255 / (Animation::levels - 1));
}

void add_number(std::string& to, std::uint64_t number, int bytes, bool largest_first) {
    for (int i = 0; i < bytes; ++i)
        to += static_cast<char>(number >> 8 * (largest_first ? bytes - 1 - i : i));
}

void add_chunk(std::string& png, std::string_view type, const std::string& data) {
    add_number(png, data.size(), 4, true);
    const std::string checked = std::string(type) + data;
    png += checked;
    add_number(
        png,
        crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size())),
        4, true);
}

/// Compresses a picture as the rows of a PNG file, without filters.
std::string compressed(const Levels& picture, ImageShape shape) {
    std::string rows;
    for (std::size_t i = 0; i < picture.size(); ++i) {
        if (i % static_cast<std::size_t>(shape.width) == 0)
            rows += '\0'; // no filter
        rows += static_cast<char>(brightness(picture[i]));
    }
    uLongf size = compressBound(rows.size());
    std::string data(size, '\0');
    if (compress(reinterpret_cast<Bytef*>(data.data()), &size,
                 reinterpret_cast<const Bytef*>(rows.data()), rows.size()) != Z_OK)
        throw std::logic_error("zlib cannot compress a picture");
    data.resize(size);
    return data;
}

/// Writes codes of GIF's LZW compression, in blocks of up to 255 bytes.
class LzwCodes {
  public:
    explicit LzwCodes(std::string& gif) : gif_(gif) {}

    void write(unsigned code, int bits) {
        pending_ |= code << count_;
        for (count_ += bits; count_ >= 8; count_ -= 8, pending_ >>= 8)
            add(static_cast<char>(pending_));
    }
    void finish() {
        if (count_ > 0)
            add(static_cast<char>(pending_));
        flush();
        gif_ += '\0';
    }

  private:
    void add(char byte) {
        block_ += byte;
        if (block_.size() == 255)
            flush();
    }
    void flush() {
        if (!block_.empty())
            gif_ += static_cast<char>(block_.size()) + block_;
        block_.clear();
    }

    std::string& gif_;
    std::string block_;
    std::uint32_t pending_ = 0;
    int count_ = 0;
};

/// Appends a picture, compressed by LZW with variable code lengths (Welch 1984).
void add_lzw(std::string& gif, const Levels& picture) {
    constexpr unsigned clear = Animation::levels, end = clear + 1, most_codes = 4096;
    constexpr int least_bits = 6; // of a level
    std::vector<std::uint16_t> longer(most_codes * std::size_t{Animation::levels});
    LzwCodes codes(gif);
    gif += static_cast<char>(least_bits);
    unsigned next = end + 1, code = picture.front();
    int bits = least_bits + 1;
    codes.write(clear, bits);
    for (std::size_t i = 1; i < picture.size(); ++i) {
        std::uint16_t& known = longer[code * std::size_t{Animation::levels} + picture[i]];
        if (known != 0) {
            code = known;
            continue;
        }
        codes.write(code, bits);
        code = picture[i];
        if (next < most_codes) {
            if (next == 1U << bits)
                ++bits;
            known = static_cast<std::uint16_t>(next++);
            continue;
        }
        codes.write(clear, bits);
        std::ranges::fill(longer, std::uint16_t{0});
        next = end + 1;
        bits = least_bits + 1;
    }
    codes.write(code, bits);
    if (next == 1U << bits && bits < 12)
        ++bits;
    codes.write(end, bits);
    codes.finish();
}

} // namespace

std::string encode_apng(const Animation& animation) {
    check(animation, (Elements{1} << 31) - 1);
    const auto width = static_cast<std::uint64_t>(animation.shape.width),
               height = static_cast<std::uint64_t>(animation.shape.height);
    std::string png("\x89PNG\r\n\x1a\n"), header, repetition;
    add_number(header, width, 4, true);
    add_number(header, height, 4, true);
    add_number(header, 0x0800000000, 5, true); // 8 bits of grey, the only methods
    add_chunk(png, "IHDR", header);
    add_number(repetition, animation.pictures.size(), 4, true);
    add_number(repetition, 0, 4, true); // for ever
    add_chunk(png, "acTL", repetition);
    std::uint64_t sequence = 0;
    for (const Levels& picture : animation.pictures) {
        std::string control, data;
        add_number(control, sequence++, 4, true);
        add_number(control, width, 4, true);
        add_number(control, height, 4, true);
        add_number(control, 0, 8, true); // position
        add_number(control, static_cast<std::uint64_t>(animation.milliseconds), 2, true);
        add_number(control, 1000, 2, true);
        add_number(control, 0, 2, true); // replaces the previous picture
        const bool first = sequence == 1;
        add_chunk(png, "fcTL", control);
        if (!first)
            add_number(data, sequence++, 4, true);
        add_chunk(png, first ? "IDAT" : "fdAT", data + compressed(picture, animation.shape));
    }
    add_chunk(png, "IEND", "");
    return png;
}

std::string encode_gif(const Animation& animation) {
    check(animation, 65535);
    const auto add = [&](std::string& to, std::int64_t number) {
        add_number(to, static_cast<std::uint64_t>(number), 2, false);
    };
    std::string gif("GIF89a");
    add(gif, animation.shape.width);
    add(gif, animation.shape.height);
    gif += {static_cast<char>(0xD5), 0, 0}; // a table of 64 colours
    for (int level = 0; level < Animation::levels; ++level)
        gif += std::string(3, static_cast<char>(brightness(level)));
    gif += std::string("\x21\xFF\x0BNETSCAPE2.0\x03\x01\0\0\0", 19); // repeats for ever
    for (const Levels& picture : animation.pictures) {
        gif += std::string("\x21\xF9\x04\x04", 4);
        add(gif, animation.milliseconds / 10);
        gif += std::string("\0\0\x2C\0\0\0\0", 7); // at (0, 0)
        add(gif, animation.shape.width);
        add(gif, animation.shape.height);
        gif += '\0';
        add_lzw(gif, picture);
    }
    return gif + ';';
}

} // namespace sextant::format
