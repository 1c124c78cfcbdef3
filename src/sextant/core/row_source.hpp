// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/image.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace sextant {

/// A gray image whose rows are read when they are asked for, so that it need not fit in memory.
/// Row 0 is the top. For one thread at a time; each opens its own.
class RowSource {
  public:
    RowSource(std::string path, ImageShape shape, ElementFormat element)
        : path_(std::move(path)), shape_(shape), element_(element) {}
    virtual ~RowSource() = default;

    const std::string& path() const { return path_; }
    ImageShape shape() const { return shape_; }
    /// gray_f32, gray_u8 or gray_u16.
    const ElementFormat& element() const { return element_; }

    /// Rows first ... first + rows − 1 as they are stored, one after another.
    /// Requires  rows of the image, and room for exactly that (std::logic_error).
    /// Throws    InvalidFile where the file does not hold them any more.
    virtual void read(Elements first, Elements rows, std::span<std::byte> to) = 0;

  private:
    std::string path_;
    ImageShape shape_;
    ElementFormat element_;
};

/// Takes planes of floats of one shape, in any order of rows, and keeps them: all or nothing.
class RowSink {
  public:
    virtual ~RowSink() = default;

    /// Some rows of a plane, from row `first` on. Throws InvalidFile where they cannot be written.
    virtual void write(int plane, Elements first, std::span<const float> rows) = 0;
    /// Makes the file appear, whole. Throws InvalidFile.
    virtual void commit() = 0;
};

} // namespace sextant
