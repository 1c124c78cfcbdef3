// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositor/compositor.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/memory.hpp"

#include <span>
#include <string>

namespace sextant {

/// Blends deep images, whose pixels are lists of fragments with depths. Objects drawn by different
/// ranks may overlap and enclose each other: the fragments of a pixel are merged by depth across
/// ranks, then blended front to back.
///
/// Deterministic: the result equals one stable sort of each pixel's fragments, for every algorithm
/// and association and any number of ranks. At equal depth, the fragments are in the order of their
/// images in `CompositeOptions::order`.
class DeepCompositor {
  public:
    /// Input     the image shape; the number of this rank's images, front to back (may be 0); the
    ///           maximum number of fragments of a pixel in the images of all ranks together (see
    ///           most_fragments). `options.blend` and `options.element` are ignored.
    /// Throws    AgreedFailure in the same cases as Compositor, and unless 1 <= fragments <=
    ///           kernel::largest_capacity.
    /// Cost      an image takes 4 + 20 * fragments bytes per pixel, in memory and in messages.
    /// Collective.
    DeepCompositor(Communicator communicator, ImageShape shape, int layers, int fragments,
                   CompositeOptions options = {});

    /// Blends one frame.
    /// Input     this rank's images.
    /// Output    the same as Compositor::composite: RGBA pixels in f32, blended over the
    ///           background.
    /// Throws    AgreedFailure on every rank if an image has another shape, if fragments are out of
    ///           order or a depth is NaN (names rank, image and pixel), or if a pixel has more
    ///           fragments than planned for (names the pixel and the number).
    /// Collective.
    /// Cost      two small all-gathers in addition to the frame.
    Frame composite(std::span<const DeepImage> images, const FrameOptions& frame = {});

    /// The same as Compositor::resize. The maximum number of fragments per pixel does not change.
    /// Collective.
    void resize(ImageShape shape);

    /// Ends the use of this object on all ranks; see Compositor::fail. Not collective.
    void fail(const std::string& text);

    /// The compositor that merges the fragments.
    const Compositor& compositor() const { return compositor_; }

  private:
    void pack(std::span<const DeepImage> images);
    void check_room(const Frame& merged) const;

    Communicator communicator_;
    ImageShape shape_;
    int layers_, fragments_;
    std::optional<RgbaF32> background_; // the background from the options
    Compositor compositor_;
    Memory packed_;                // this rank's images
    std::vector<RgbaF32> blended_; // pixels of the last frame
};

/// Returns the maximum number of fragments of any pixel in all ranks' images together; 0 without
/// images.
/// Input     this rank's images, of one shape (else AgreedFailure).
/// Collective.
/// Cost      a frame of RGBA in f32.
int most_fragments(const Communicator& communicator, ImageShape shape,
                   std::span<const DeepImage> images);

} // namespace sextant
