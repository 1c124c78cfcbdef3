// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositor/compositor.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/memory.hpp"

#include <span>

namespace sextant {

/// Blends deep images, whose pixels are fragments with depths, so that what ranks drew may overlap
/// and reach around each other: a pixel's fragments are merged by depth, whoever drew them, and
/// blended from the front at the end.
///
/// Deterministic: exactly what one stable sort of each pixel's fragments gives, by every algorithm
/// and association, on any number of ranks. Of equal depths those of images further in front in
/// `CompositeOptions::order` come first.
class DeepCompositor {
  public:
    /// Input     the shape of an image; how many this rank brings, front to back (0: none); the
    ///           most fragments a pixel may have, of all images together (most_fragments finds it).
    ///           `options.blend` and `element` are of no meaning.
    /// Cost      each image is held, and sent, with room for that many fragments in every pixel:
    ///           4 + 20 * fragments bytes.
    /// Throws    AgreedFailure, as Compositor; unless fragments is 1 to kernel::largest_capacity.
    /// Collective.
    DeepCompositor(Communicator communicator, ImageShape shape, int layers, int fragments,
                   CompositeOptions options = {});

    /// Blends one frame.
    /// Input     this rank's images.
    /// Output    as Compositor::composite: pixels of rgba f32, with the background behind them.
    /// Throws    AgreedFailure on every rank: an image of another shape, fragments out of order or
    ///           a depth of NaN (with rank, image and pixel), a pixel of more fragments than
    ///           planned for (with pixel and number).
    /// Collective.
    /// Cost      two small all-gathers besides the frame.
    Frame composite(std::span<const DeepImage> images, const FrameOptions& frame = {});

    /// How the fragments are merged.
    const Compositor& compositor() const { return compositor_; }

  private:
    void pack(std::span<const DeepImage> images);
    void check_room(const Frame& merged) const;

    Communicator communicator_;
    ImageShape shape_;
    int layers_, fragments_;
    std::optional<RgbaF32> background_; // of the options
    Compositor compositor_;
    Memory packed_;                // this rank's images
    std::vector<RgbaF32> blended_; // of the last frame
};

/// The most fragments that any pixel has, of all ranks' images together; 0 where there are none.
/// Input     this rank's images, of one shape (AgreedFailure).
/// Collective.
/// Cost      a frame of rgba f32.
int most_fragments(const Communicator& communicator, ImageShape shape,
                   std::span<const DeepImage> images);

} // namespace sextant
