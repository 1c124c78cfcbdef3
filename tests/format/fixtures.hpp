// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/format/frames.hpp"

namespace sextant::test {

/// Bytes of the test pattern's samples, frame by frame.
template <class T>
std::string stack_bytes(std::int64_t frames, ImageShape shape, std::endian order) {
    Bytewise bytes(order);
    for (std::int64_t frame = 0; frame < frames; ++frame)
        bytes.put_all(pattern_frame<T>(frame, shape));
    return bytes.bytes();
}

/// An MRC file according to MRC2014, 2 Å by 4 Å per pixel.
inline std::string mrc_bytes(int mode, std::int64_t frames, ImageShape shape, std::endian order,
                             const std::string& samples, std::size_t extended = 0) {
    Bytewise file(order);
    file.put<std::int32_t>(static_cast<std::int32_t>(shape.width))
        .put<std::int32_t>(static_cast<std::int32_t>(shape.height))
        .put<std::int32_t>(static_cast<std::int32_t>(frames))
        .put<std::int32_t>(mode)
        .fill_to(28)
        .put<std::int32_t>(static_cast<std::int32_t>(shape.width))
        .put<std::int32_t>(static_cast<std::int32_t>(shape.height))
        .put<std::int32_t>(1)
        .put<float>(2.0F * static_cast<float>(shape.width))
        .put<float>(4.0F * static_cast<float>(shape.height))
        .fill_to(92)
        .put<std::int32_t>(static_cast<std::int32_t>(extended))
        .fill_to(208)
        .text("MAP ")
        .text(order == std::endian::little ? "\x44\x44" : "\x11\x11")
        .fill_to(1024 + extended)
        .text(samples);
    return file.bytes();
}

/// An NPY file as written by NumPy; version 1, or version 2 with its longer length field.
inline std::string npy_bytes(const std::string& descr, bool fortran, const std::string& shape,
                             const std::string& samples, int version = 1) {
    std::string text = "{'descr': '" + descr +
                       "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': (" +
                       shape + "), }";
    text.append(117 - text.size() % 64, ' ');
    text += '\n';
    Bytewise file;
    file.text("\x93NUMPY")
        .put<std::uint8_t>(static_cast<std::uint8_t>(version))
        .put<std::uint8_t>(0);
    if (version == 1)
        file.put<std::uint16_t>(static_cast<std::uint16_t>(text.size()));
    else
        file.put<std::uint32_t>(static_cast<std::uint32_t>(text.size()));
    return file.text(text).text(samples).bytes();
}

/// A SER file of u16 images, possibly of different shapes, .5 by .25 nm per pixel.
inline std::string ser_bytes(bool wide, const std::vector<ImageShape>& shapes, int total) {
    const auto count = shapes.size();
    Bytewise file;
    const auto position = [&](Bytewise& to, std::size_t value) {
        if (wide)
            to.put<std::int64_t>(static_cast<std::int64_t>(value));
        else
            to.put<std::int32_t>(static_cast<std::int32_t>(value));
    };
    file.put<std::int16_t>(0x4949)
        .put<std::int16_t>(0x0197)
        .put<std::int16_t>(wide ? 0x0220 : 0x0210)
        .put<std::int32_t>(0x4122)
        .put<std::int32_t>(0x4152)
        .put<std::int32_t>(total)
        .put<std::int32_t>(static_cast<std::int32_t>(count));
    const std::size_t table = wide ? 34 : 30;
    position(file, table);
    file.put<std::int32_t>(0).fill_to(table);
    std::size_t at = table + 2 * static_cast<std::size_t>(total) * (wide ? 8 : 4);
    for (const ImageShape& shape : shapes) {
        position(file, at);
        at += 50 + 2 * static_cast<std::size_t>(shape.elements());
    }
    file.fill_to(table + 2 * static_cast<std::size_t>(total) * (wide ? 8 : 4));
    for (std::size_t i = 0; i < count; ++i) {
        file.put<double>(0).put<double>(.5e-9).put<std::int32_t>(0);
        file.put<double>(0).put<double>(.25e-9).put<std::int32_t>(0);
        file.put<std::int16_t>(2)
            .put<std::int32_t>(static_cast<std::int32_t>(shapes[i].width))
            .put<std::int32_t>(static_cast<std::int32_t>(shapes[i].height))
            .put_all(pattern_frame<std::uint16_t>(static_cast<std::int64_t>(i), shapes[i]));
    }
    return file.bytes();
}

/// A DM3 or DM4 file: a colour thumbnail and a stack of i16 with pixels of .5 by .25 nm, one frame
/// per .125 s. The tag tree is big-endian; its values have either byte order.
class DmBytes {
  public:
    std::array<float, 3> scales{.5F, .25F, .125F};
    std::array<std::string, 3> units{"nm", "nm", "s"}; ///< in Latin-1
    /// The number of the thumbnail in the list of images, if the file states it.
    std::optional<std::uint32_t> thumbnail = {};
    std::uint32_t thumbnail_type = 23; ///< colours

    DmBytes(int version, std::endian order) : wide_(version == 4), values_(order) {
        tree_.put<std::uint32_t>(static_cast<std::uint32_t>(version));
        length(0);
        tree_.put<std::uint32_t>(order == std::endian::little ? 1 : 0);
    }

    /// Frames on one axis, or on two if `scans` is more than one.
    std::string stack(std::int64_t frames, ImageShape shape, std::int64_t scans = 1) {
        std::vector<std::int64_t> sides{shape.width, shape.height, frames};
        if (scans > 1)
            sides.push_back(scans);
        return images(1, sides, test::stack_bytes<std::int16_t>(frames * scans, shape, values_), 2);
    }

    /// A thumbnail, and an image of this type with these samples, whose elements have another type.
    std::string images(std::uint32_t type, const std::vector<std::int64_t>& sides,
                       const std::string& samples, std::uint64_t element) {
        group(thumbnail ? 3 : 2);
        number<float>("Unused", 6, 1.5F);
        open("ImageList", 2);
        open("", 1);
        image(thumbnail_type, {8, 8}, std::string(8 * 8 * 4, '\x7f'), 5);
        open("", 1);
        image(type, sides, samples, element);
        if (thumbnail) {
            open("Thumbnails", 1);
            open("", 1);
            number<std::uint32_t>("ImageIndex", 5, *thumbnail);
        }
        return tree_.bytes();
    }

  private:
    void length(std::uint64_t value) {
        if (wide_)
            tree_.put<std::uint64_t>(value);
        else
            tree_.put<std::uint32_t>(static_cast<std::uint32_t>(value));
    }
    void group(std::uint64_t tags) {
        tree_.put<std::uint8_t>(0).put<std::uint8_t>(0);
        length(tags);
    }
    void tag(int kind, const std::string& name) {
        tree_.put<std::uint8_t>(static_cast<std::uint8_t>(kind))
            .put<std::uint16_t>(static_cast<std::uint16_t>(name.size()))
            .text(name);
        if (wide_)
            tree_.put<std::uint64_t>(0);
    }
    void open(const std::string& name, std::uint64_t tags) {
        tag(20, name);
        group(tags);
    }
    void describe(const std::vector<std::uint64_t>& numbers) {
        tree_.text("%%%%");
        length(numbers.size());
        for (const std::uint64_t number : numbers)
            length(number);
    }
    template <class T>
    void number(const std::string& name, std::uint64_t type, T value) {
        tag(21, name);
        describe({type});
        tree_.text(Bytewise(values_).put<T>(value).bytes());
    }
    void put_units(const std::string& text) {
        tag(21, "Units");
        describe({20, 4, text.size()});
        Bytewise letters(values_);
        for (const char letter : text)
            letters.put<std::uint16_t>(static_cast<unsigned char>(letter));
        tree_.text(letters.bytes());
    }
    void image(std::uint32_t type, const std::vector<std::int64_t>& sides,
               const std::string& samples, std::uint64_t element) {
        open("ImageData", 4);
        open("Calibrations", 1);
        open("Dimension", 3);
        for (std::size_t axis = 0; axis < scales.size(); ++axis) {
            open("", 2);
            number<float>("Scale", 6, scales[axis]);
            put_units(units[axis]);
        }
        tag(21, "Data");
        describe({20, element, samples.size() / (element == 2 ? 2 : 4)});
        tree_.text(samples);
        number<std::uint32_t>("DataType", 5, type);
        open("Dimensions", sides.size());
        for (const std::int64_t side : sides)
            number<std::uint32_t>("", 5, static_cast<std::uint32_t>(side));
    }

    bool wide_;
    std::endian values_;
    Bytewise tree_{std::endian::big};
};

} // namespace sextant::test
