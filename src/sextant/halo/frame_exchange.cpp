// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/halo/frame_exchange.hpp"

#include "sextant/schedule/builder.hpp"

#include <numeric>

namespace sextant::halo {

Frame frame_of(const Grid& grid, int rank) {
    const Tile own = tile(grid, rank), held = clipped_tile(grid, rank);
    const Elements right = own.x + own.width, bottom = own.y + own.height;
    return {{{held.x, held.y, held.width, own.y - held.y},
             {held.x, own.y, own.x - held.x, own.height},
             {right, own.y, held.x + held.width - right, own.height},
             {held.x, bottom, held.width, held.y + held.height - bottom}}};
}

Program frame_exchange(const Grid& grid, int rank) {
    const Tile own = tile(grid, rank), held = clipped_tile(grid, rank);
    const Frame frame = frame_of(grid, rank);
    ProgramBuilder builder;
    const Region whole = builder.input(own.elements());
    const Region around = builder.output(
        std::accumulate(frame.begin(), frame.end(), Elements{0},
                        [](Elements sum, const Tile& band) { return sum + band.elements(); }));
    for (const int peer : peers_of(grid, rank, held)) {
        builder.send(peer, place_in(own, common(own, clipped_tile(grid, peer)), whole.buffer));
        Elements first = 0; // of a band: a peer's tile meets one
        for (const Tile& band : frame) {
            Region place = place_in(band, common(tile(grid, peer), band), around.buffer);
            place.offset += first;
            builder.receive(peer, place);
            first += band.elements();
        }
    }
    return builder.finish(around);
}

} // namespace sextant::halo
