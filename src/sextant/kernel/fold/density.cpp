// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/density.hpp"

#include "sextant/kernel/fold/active_cells.hpp"

#include <algorithm>
#include <vector>

namespace sextant::kernel {

namespace {

/// Calls `look(element, drawn)` for some thousands of places, evenly spread.
template <class Look>
void look_around(std::span<const std::byte> images, const Operator& op, Look&& look) {
    const Bytes size = op.element.size;
    const Elements elements = static_cast<Elements>(images.size()) / size;
    std::vector<std::byte> nothing(static_cast<std::size_t>(size));
    op.fill_identity(nothing.data(), 1);
    const ActiveCells active(nothing);
    // Odd, so that the places wander through the rows of images of usual widths.
    const Elements apart = std::max(cell_elements, elements / 4096) | 1;
    for (Elements at = 0; at < elements; at += apart)
        look(at, active(images.data() + at * size, std::min(cell_elements, elements - at)) != 0);
}

} // namespace

double sampled_density(std::span<const std::byte> images, const Operator& op) {
    if (images.empty() || !op.fill_identity)
        return 1;
    Elements looked = 0, drawn = 0;
    look_around(images, op, [&](Elements, bool here) {
        ++looked;
        drawn += here;
    });
    return static_cast<double>(drawn) / static_cast<double>(looked);
}

std::vector<double> sampled_bands(std::span<const std::byte> images, Elements pixels,
                                  const Operator& op, int bands) {
    std::vector<double> shares(static_cast<std::size_t>(bands), 1);
    if (images.empty() || !op.fill_identity)
        return shares;
    std::vector<Elements> looked(shares.size(), 0), drawn(shares.size(), 0);
    look_around(images, op, [&](Elements element, bool here) {
        const auto band = static_cast<std::size_t>(element % pixels * bands / pixels);
        ++looked[band];
        drawn[band] += here;
    });
    for (std::size_t b = 0; b < shares.size(); ++b) {
        if (looked[b] > 0)
            shares[b] = static_cast<double>(drawn[b]) / static_cast<double>(looked[b]);
    }
    return shares;
}

} // namespace sextant::kernel
