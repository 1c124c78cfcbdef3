// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/format/frame_catalogue.hpp"

#include <cstdint>
#include <string>

namespace sextant::format {

/// The first lines of a file of ImageJ's: number and axis of the images, unit, frame interval.
std::string imagej_description(const FrameHeader& header, const SinkOptions& options);

/// OME-XML of one image: its axes, samples, pixel size and frame interval.
std::string ome_description(const FrameHeader& header, const SinkOptions& options);

/// A positive number as TIFF stores it; both parts are below 2^31, since ImageJ reads signed ones.
struct TiffRational {
    std::uint32_t numerator = 0, denominator = 1;
};

/// The rational next to a number; 0 if none is within a millionth of it.
TiffRational tiff_rational(double number);

/// A pixel size in a unit in which one over it is a rational as above: its own unit if possible,
/// otherwise another unit of length. Not known where there is none.
PixelSize in_storable_unit(const PixelSize& pixel);

/// The same in centimetres, TIFF's own unit; not known where its unit is no length.
PixelSize in_centimetres(const PixelSize& pixel);

} // namespace sextant::format
