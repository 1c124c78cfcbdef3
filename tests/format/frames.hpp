// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/format/catalogue.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace sextant::test {

/// Writes numbers byte by byte, independently of the code under test.
class Bytewise {
  public:
    explicit Bytewise(std::endian order = std::endian::little) : order_(order) {}

    template <class T>
    Bytewise& put(std::type_identity_t<T> value) {
        std::string bytes(sizeof(T), '\0');
        std::memcpy(bytes.data(), &value, sizeof(T));
        if (order_ != std::endian::native)
            bytes = std::string(bytes.rbegin(), bytes.rend());
        text_ += bytes;
        return *this;
    }
    template <class T>
    Bytewise& put_all(const std::vector<T>& values) {
        for (const T& value : values)
            put<T>(value);
        return *this;
    }
    Bytewise& text(const std::string& bytes) {
        text_ += bytes;
        return *this;
    }
    /// Writes zeros up to a position.
    Bytewise& fill_to(std::size_t position) {
        text_.resize(position);
        return *this;
    }
    std::size_t size() const { return text_.size(); }
    const std::string& bytes() const { return text_; }

  private:
    std::endian order_;
    std::string text_;
};

/// The test pattern: values differ between neighbours along every axis and fit every sample type.
inline float pattern(std::int64_t frame, std::int64_t x, std::int64_t y) {
    return static_cast<float>((17 * frame + 5 * y + 3 * x) % 120);
}

template <class T>
std::vector<T> pattern_frame(std::int64_t frame, ImageShape shape) {
    std::vector<T> values;
    for (std::int64_t y = 0; y < shape.height; ++y) {
        for (std::int64_t x = 0; x < shape.width; ++x)
            values.push_back(static_cast<T>(pattern(frame, x, y)));
    }
    return values;
}

/// Writes a value as a sample of this type.
inline void put_sample(Bytewise& to, Sample sample, float value) {
    visit_sample(sample, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_same_v<T, Half>)
            to.put<std::uint16_t>(to_half(value).bits);
        else
            to.put<T>(static_cast<T>(value));
    });
}

inline std::vector<float> read_frame(FrameSource& source, std::int64_t frame) {
    std::vector<float> values(static_cast<std::size_t>(source.header().shape.elements()));
    source.read_frame(frame, values);
    return values;
}

inline std::vector<float> read_rows(FrameSource& source, std::int64_t frame, Rows rows) {
    std::vector<float> values(static_cast<std::size_t>(source.header().shape.width * rows.count()));
    source.read_rows(frame, rows, values);
    return values;
}

/// True if every frame contains the pattern. Frames are read in reverse order, whole and as a range
/// of rows.
inline bool holds_pattern(FrameSource& source) {
    const ImageShape shape = source.header().shape;
    for (std::int64_t frame = source.header().frames - 1; frame >= 0; --frame) {
        const auto expected = pattern_frame<float>(frame, shape);
        if (read_frame(source, frame) != expected)
            return false;
        const Rows rows{shape.height / 3, shape.height - shape.height / 4};
        const auto part = read_rows(source, frame, rows);
        if (!std::equal(part.begin(), part.end(), expected.begin() + rows.first * shape.width))
            return false;
    }
    return true;
}

/// Writes the pattern to a sink, some rows at a time.
inline void write_pattern(const std::string& path, const FrameHeader& header,
                          const format::SinkOptions& options = {}) {
    const auto sink = format::create_frames(path, header, options);
    for (std::int64_t frame = 0; frame < header.frames; ++frame) {
        const auto values = pattern_frame<float>(frame, header.shape);
        const auto cut = static_cast<std::size_t>(header.shape.height / 3 * header.shape.width);
        sink->write(std::span(values).first(cut));
        sink->write(std::span(values).subspan(cut));
    }
    sink->commit();
}

/// The remarks of a source in one line.
inline std::string remarks(const FrameSource& source) {
    std::string all;
    for (const std::string& remark : source.header().remarks)
        all += (all.empty() ? "" : "; ") + remark;
    return all;
}

} // namespace sextant::test
