// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/registration/pair/motion.hpp"

#include <cstdint>
#include <span>

// The areas that registered frames cover, in the coordinates of the reference.
namespace sextant::registration {

/// A rectangle of pixels in the coordinates of an image. The first pixel may be outside the image.
struct PixelArea {
    std::int64_t x = 0, y = 0; ///< first column and row
    ImageShape shape;
    bool operator==(const PixelArea&) const = default;
};

/// Returns the area of a whole image.
inline PixelArea area_of(ImageShape image) {
    return {0, 0, image};
}

/// True if `area` contains `part`.
bool contains(const PixelArea& area, const PixelArea& part);

/// Returns the intersection of two areas; an area of zero size if they do not overlap.
PixelArea common_area(const PixelArea& one, const PixelArea& other);

/// Returns the smallest area that contains both. An area of zero size contains nothing.
PixelArea enclosing_area(const PixelArea& one, const PixelArea& other);

/// Returns the fraction of the pixels of the reference that a motion maps into a frame of this
/// shape, estimated from 256 positions.
double predicted_overlap(const RigidMotion& motion, ImageShape shape);

/// Returns the area that contains all pixels in which a registered frame has data.
/// Requires  a motion that is not a displacement field (std::logic_error).
PixelArea area_of_frame(const Transform& transform, ImageShape shape);

/// Returns the area that contains all pixels in which any of the frames has data.
/// Requires  the same as area_of_frame().
PixelArea covered_by_any(std::span<const std::int64_t> frames, const TransformOf& transform_of,
                         ImageShape shape);

/// Returns the largest rectangle within the area of the reference in which all given frames have
/// data; an area of zero size if there is none. Gaps inside a frame are ignored.
///
/// Cost      a few evaluations of the motion per row and frame; for displacement fields, one per
///           pixel and frame.
PixelArea covered_by_all(std::span<const std::int64_t> frames, const TransformOf& transform_of,
                         ImageShape shape);

} // namespace sextant::registration
