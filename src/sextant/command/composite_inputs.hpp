// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/checks.hpp"

#include <span>
#include <string>
#include <vector>

namespace sextant::command {

/// The partial images given by the user, in visibility order.
struct Inputs {
    std::vector<std::string> paths; ///< front to back
    format::ImageHeader header;     ///< header of the first image; all must have its shape
    bool from_manifest = false;
};

/// Finds the images for the given names: image files, or one manifest. `order`, if not empty, lists
/// them front to back by their index in the names (or in the manifest). Throws InvalidFile;
/// InvalidTask if `order` is not a permutation.
Inputs find_inputs(const std::vector<std::string>& names, const std::vector<int>& order);

/// Unusual pixel values found in an image.
struct Oddity {
    std::string path;
    format::PixelCheck check;
};

/// Reads images [first, last) one after another into memory of the communicator. Converts pixels to
/// `element` (kernel::convert), which rounds; drops depth if `element` has none. Throws
/// InvalidFile, naming both sizes, if the images differ in size.
Memory read_inputs(const Inputs& inputs, std::size_t first, std::size_t last,
                   const ElementFormat& element, const Communicator& communicator,
                   std::vector<Oddity>& oddities);

/// Reads deep images [first, last). Throws InvalidFile as read_inputs does, if an image is flat, or
/// (naming the pixel and the depths) if fragments are not ordered by depth.
std::vector<DeepImage> read_deep_inputs(const Inputs& inputs, std::size_t first, std::size_t last);

} // namespace sextant::command
