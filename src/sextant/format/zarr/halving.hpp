// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/array/sample.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace sextant::format {

/// The method that reduces two, four or eight samples to one.
enum class HalvedBy {
    nearest, ///< the sample at even coordinates, for labels, which must not be averaged
    mean     ///< the mean, ignoring NaN; integers are rounded to nearest, ties upwards
};

/// Halves the width and height of frames, rounded up, while the rows arrive in order. If frames are
/// slices of a volume, their number is halved, too. A side of length 1 stays 1.
class Halving {
  public:
    virtual ~Halving() = default;
    Halving(const Halving&) = delete;
    Halving& operator=(const Halving&) = delete;

    /// Adds the next rows of a frame. Passes the rows of the halved series to `take`, in order.
    virtual void add(std::int64_t frame, Rows rows, std::span<const std::byte> samples,
                     const TakeRows& take) = 0;

  protected:
    Halving() = default;
};

/// Returns an object that halves a series.
///
/// Cost      memory for a frame if slices are averaged, otherwise for two rows.
std::unique_ptr<Halving> make_halving(HalvedBy by, Sample sample, std::int64_t frames,
                                      ImageShape shape, bool slices);

} // namespace sextant::format
