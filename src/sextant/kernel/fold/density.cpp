// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/density.hpp"

#include "sextant/kernel/fold/active_cells.hpp"

#include <algorithm>
#include <vector>

namespace sextant::kernel {

double sampled_density(std::span<const std::byte> images, const Operator& op) {
    const Bytes size = op.element.size;
    const Elements elements = static_cast<Elements>(images.size()) / size;
    if (elements == 0 || !op.fill_identity)
        return 1;
    std::vector<std::byte> nothing(static_cast<std::size_t>(size));
    op.fill_identity(nothing.data(), 1);
    const ActiveCells active(nothing);
    // Odd, so that the places wander through the rows of images of usual widths.
    const Elements apart = std::max(cell_elements, elements / 4096) | 1;
    Elements looked = 0, drawn = 0;
    for (Elements at = 0; at < elements; at += apart, ++looked)
        drawn += active(images.data() + at * size, std::min(cell_elements, elements - at)) != 0;
    return static_cast<double>(drawn) / static_cast<double>(looked);
}

} // namespace sextant::kernel
