// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/layers.hpp"

namespace sextant::compositing {

Region in_all_layers(const Region& pixels, Elements image, int layers) {
    return {pixels.buffer, pixels.offset, pixels.length, image, layers};
}

void append_runs(std::vector<Region>& operands, const Region& region) {
    for (Elements i = 0; i < region.count; ++i) {
        operands.push_back(block(region.buffer, region.offset + i * region.stride, region.length));
    }
}

Region blended(ProgramBuilder& builder, const Region& region) {
    if (region.count == 1)
        return region;
    std::vector<Region> layers;
    append_runs(layers, region);
    const Region sum = builder.scratch(region.length);
    builder.fold(sum, layers);
    return sum;
}

} // namespace sextant::compositing
