// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/kernel/filter/samples.hpp"

namespace sextant::kernel {

/// A whole image of floats whose rows are readable up to their width rounded up to `line_unit`, and
/// the last as far beyond, so that a vector may begin at any pixel.
struct FloatImage {
    const float* first = nullptr;
    Elements stride = 0;
    ImageShape shape;

    const float* row(Elements y) const { return first + y * stride; }
    float at(Elements x, Elements y) const { return row(y)[x]; }
};

/// An owned one, of zeros.
class FloatPlane {
  public:
    FloatPlane() = default;
    explicit FloatPlane(ImageShape shape);

    ImageShape shape() const { return shape_; }
    FloatImage image() const { return {first(), stride_, shape_}; }
    /// For what filters images of such samples.
    SampleView samples() const {
        return {first(), stride_, {0, 0, shape_.width, shape_.height}, shape_};
    }
    Plane plane() { return {reinterpret_cast<float*>(memory_.data()), stride_}; }
    float* row(Elements y) { return plane().first + y * stride_; }

  private:
    const float* first() const { return reinterpret_cast<const float*>(memory_.data()); }

    ImageShape shape_;
    Elements stride_ = 0;
    Memory memory_;
};

} // namespace sextant::kernel
