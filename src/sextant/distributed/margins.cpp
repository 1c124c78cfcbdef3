// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/margins.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/halo/axis_exchange.hpp"

#include <cstring>
#include <optional>

namespace sextant::distributed {

Padded with_margin(const Image& image, Elements margin) {
    const Communicator& communicator = image.communicator();
    halo::Grid grid;
    static_cast<sextant::Grid&>(grid) = image.grid();
    grid.margin = margin;
    const Tile own = image.tile();
    const Bytes size = image.element().size;
    Padded padded{halo::clipped_tile(grid, communicator.rank()), {}};
    std::optional<Execution> execution;
    agree(communicator, [&] {
        padded.pixels = Memory(padded.held.elements() * size);
        for (Elements y = 0; y < own.height && own.width > 0; ++y) {
            const Elements at =
                (own.y - padded.held.y + y) * padded.held.width + own.x - padded.held.x;
            std::memcpy(padded.pixels.data() + at * size,
                        image.bytes().data() + y * own.width * size,
                        static_cast<std::size_t>(own.width * size));
        }
        Operator moved;
        moved.element = image.element();
        execution.emplace(communicator, halo::axis_exchange(grid, communicator.rank()), moved);
        execution->bind(0, padded.pixels.bytes());
    });
    agree(communicator, [&] { execution->run(); });
    return padded;
}

} // namespace sextant::distributed
