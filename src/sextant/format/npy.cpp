// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/npy.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/atomic_file.hpp"
#include "sextant/format/limits.hpp"
#include "sextant/format/source_file.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <regex>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::format {

namespace {

static_assert(std::endian::native == std::endian::little, "samples are copied as they are");

constexpr std::string_view magic = "\x93NUMPY";

struct Described {
    ImageShape shape;
    ElementFormat element;
    Bytes data = 0; ///< where the samples begin
};

std::string read_text(SourceFile& file, Bytes bytes) {
    std::string text(static_cast<std::size_t>(bytes), '\0');
    if (file.read(std::as_writable_bytes(std::span(text))) != bytes)
        throw InvalidFile(file.path(), "ends within its header");
    return text;
}

/// The number of bytes that the dictionary takes.
Bytes header_size(SourceFile& file, int version) {
    const std::string bytes = read_text(file, version == 1 ? 2 : 4);
    Bytes size = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
        size = size << 8 | static_cast<std::uint8_t>(bytes[i]);
    constexpr Bytes most = Bytes{1} << 20;
    if (size > most)
        throw InvalidFile(file.path(),
                          fmt::format("a header of {} bytes, expected at most {}", size, most));
    return size;
}

std::string value_of(const std::string& path, const std::string& header, const char* key,
                     const char* form) {
    std::smatch found;
    const std::regex entry(fmt::format("['\"]{}['\"]\\s*:\\s*({})", key, form));
    if (!std::regex_search(header, found, entry))
        throw InvalidFile(path, fmt::format("its header has no {} that can be read", key));
    return found[1];
}

ElementFormat element_of(const std::string& path, const std::string& stated) {
    const std::string type = stated.substr(1, stated.size() - 2);
    if (type == "<f4")
        return gray_f32;
    if (type == "|u1" || type == "<u1")
        return gray_u8;
    if (type == "<u2")
        return gray_u16;
    throw InvalidFile(path, fmt::format("samples of type '{}', expected uint8 (|u1), uint16 (<u2) "
                                        "or float32 (<f4)",
                                        type));
}

ImageShape shape_of(const std::string& path, const std::string& stated) {
    std::smatch found;
    static const std::regex two("\\(\\s*(\\d{1,18})\\s*,\\s*(\\d{1,18})\\s*,?\\s*\\)");
    if (!std::regex_match(stated, found, two))
        throw InvalidFile(
            path,
            fmt::format("an array of shape {}, expected two dimensions: rows, columns", stated));
    return checked_shape(path, std::stoll(found[2]), std::stoll(found[1]));
}

Described described(SourceFile& file) {
    const std::string& path = file.path();
    const std::string start = file.size() < 10 ? "" : read_text(file, 8);
    if (!start.starts_with(magic))
        throw InvalidFile(path, "is no NumPy file");
    const int version = start[6];
    if (version < 1 || version > 3)
        throw InvalidFile(path,
                          fmt::format("a NumPy file of version {}, expected 1 to 3", version));
    const Bytes size = header_size(file, version);
    const std::string header = read_text(file, size);
    if (value_of(path, header, "fortran_order", "True|False") == "True")
        throw InvalidFile(path, "lies column by column (fortran_order), expected row by row");
    Described found;
    found.element = element_of(path, value_of(path, header, "descr", "'[^']*'|\"[^\"]*\""));
    found.shape = shape_of(path, value_of(path, header, "shape", "\\([^)]*\\)"));
    found.data = 8 + (version == 1 ? 2 : 4) + size;
    const Bytes expected = found.data + found.shape.elements() * found.element.size;
    if (file.size() != expected)
        throw InvalidFile(path, fmt::format("holds {} bytes, expected {}: {}x{} samples of {}",
                                            file.size(), expected, found.shape.width,
                                            found.shape.height, found.element.name));
    return found;
}

class NpySource final : public RowSource {
  public:
    NpySource(SourceFile file, const Described& found)
        : RowSource(file.path(), found.shape, found.element),
          file_(std::move(file)),
          data_(found.data) {}

    void read(Elements first, Elements rows, std::span<std::byte> to) override {
        const Bytes row = shape().width * element().size;
        if (first < 0 || rows < 0 || first + rows > shape().height ||
            static_cast<Bytes>(to.size()) != rows * row)
            throw std::logic_error("rows that the image lacks, or no room for them");
        const Bytes at = data_ + first * row;
        if (fseeko(file_.handle(), static_cast<off_t>(at), SEEK_SET) != 0)
            throw InvalidFile(path(), fmt::format("no way to row {}", first));
        const Bytes got = file_.read(to);
        if (got != rows * row)
            throw InvalidFile(path(),
                              fmt::format("ends in row {}, expected {} rows: it was changed "
                                          "while it was read",
                                          first + got / row, shape().height));
    }

  private:
    SourceFile file_;
    Bytes data_;
};

class NpySink final : public RowSink {
  public:
    NpySink(const std::string& path, int planes, ImageShape shape)
        : file_(path), shape_(shape), planes_(planes) {
        const std::string dimensions =
            planes == 1 ? fmt::format("{}, {}", shape.height, shape.width)
                        : fmt::format("{}, {}, {}", planes, shape.height, shape.width);
        std::string header =
            fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", dimensions);
        constexpr std::size_t before = 10, unit = 64; // samples begin at a multiple of 64
        header.append(unit - (before + header.size() + 1) % unit, ' ');
        header += '\n';
        const auto size = static_cast<std::uint16_t>(header.size());
        file_.write(magic);
        file_.write(std::string{'\x01', '\0', static_cast<char>(size & 0xff),
                                static_cast<char>(size >> 8)});
        file_.write(header);
        data_ = file_.position();
    }

    void write(int plane, Elements first, std::span<const float> rows) override {
        const auto floats = static_cast<Elements>(rows.size());
        if (plane < 0 || plane >= planes_ || first < 0 ||
            first * shape_.width + floats > shape_.elements())
            throw std::logic_error("rows that the file has no place for");
        file_.seek(data_ + (plane * shape_.elements() + first * shape_.width) *
                               static_cast<Bytes>(sizeof(float)));
        file_.write(std::as_bytes(rows));
    }

    void commit() override {
        file_.require_intact();
        file_.commit();
    }

  private:
    AtomicFile file_;
    const ImageShape shape_;
    const int planes_;
    Bytes data_ = 0;
};

} // namespace

std::unique_ptr<RowSource> open_npy(const std::string& path) {
    SourceFile file(path);
    const Described found = described(file);
    return std::make_unique<NpySource>(std::move(file), found);
}

std::unique_ptr<RowSink> create_npy(const std::string& path, int planes, ImageShape shape) {
    return std::make_unique<NpySink>(path, planes, shape);
}

} // namespace sextant::format
