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

/// The partial images that a user named, in visibility order.
struct Inputs {
    std::vector<std::string> paths; ///< front to back
    format::ImageHeader header;     ///< of the first: all must have it
    bool from_manifest = false;
};

/// Finds the images behind the names given: image files, or one manifest. `order`, if not empty,
/// lists them front to back by their place in the names (or their number in the manifest). Throws
/// InvalidFile; InvalidTask for an order that is no permutation.
Inputs find_inputs(const std::vector<std::string>& names, const std::vector<int>& order);

/// What was odd about an image that was read.
struct Oddity {
    std::string path;
    format::PixelCheck check;
};

/// Reads the images [first, last) one after another, as pixels of `element`, rounded to what it has
/// (kernel::convert), into memory of the communicator; depth is dropped where `element` has none.
/// Throws InvalidFile, naming size and expectation where one differs.
Memory read_inputs(const Inputs& inputs, std::size_t first, std::size_t last,
                   const ElementFormat& element, const Communicator& communicator,
                   std::vector<Oddity>& oddities);

/// The same for deep images. Throws InvalidFile, also where one is flat or its fragments are out of
/// order, naming pixel and depths.
std::vector<DeepImage> read_deep_inputs(const Inputs& inputs, std::size_t first, std::size_t last);

} // namespace sextant::command
