// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/hanging_edges.hpp"

#include "sextant/kernel/edge/hysteresis.hpp"

namespace sextant {

namespace {

constexpr kernel::Connection edges_hang_together{kernel::Neighbours::eight,
                                                 kernel::Sameness::foreground};

} // namespace

HangingEdges::HangingEdges(const kernel::EdgePlane& codes, const Tile& tile, ImageShape image)
    : codes_(codes), view_{codes.first, codes.stride, tile, image}, labeller_(edges_hang_together) {
    const kernel::Label components = labeller_.find(view_);
    first_pixels_ = labeller_.first_pixels();
    strong_ =
        kernel::strong_components({codes.first, codes.stride, tile, image}, labeller_, components);
}

ComponentsOfTile HangingEdges::components() const {
    return {view_, edges_hang_together, labeller_, first_pixels_, strong_};
}

void HangingEdges::keep(std::span<const PartOf> parts) const {
    std::vector<std::uint8_t> kept;
    for (const PartOf& part : parts)
        kept.push_back(part.marked ? 1 : 0);
    kernel::keep_components(codes_, view_.tile, labeller_, kept);
}

} // namespace sextant
