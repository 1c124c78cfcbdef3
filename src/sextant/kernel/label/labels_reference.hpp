// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/labels.hpp"

namespace sextant::kernel {

/// Labels and the components that have them.
struct Labelling {
    std::vector<Label> labels; ///< of the tile, row by row
    std::vector<Component> components;
};

/// Connected components from the definition: each is flooded from its first pixel. What Labeller
/// means, and is tested against.
/// Cost      O(pixels).
Labelling labels_reference(const ValueView& input, Connection connection);

} // namespace sextant::kernel
