// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/surroundings.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/distributed/sample_view.hpp"
#include "sextant/halo/frame_exchange.hpp"

#include <optional>
#include <utility>

namespace sextant::distributed {

Surrounded with_surroundings(const Image& image, Elements margin) {
    const Communicator& communicator = image.communicator();
    halo::Grid grid;
    static_cast<sextant::Grid&>(grid) = image.grid();
    grid.margin = margin;
    Surrounded made;
    std::optional<Execution> execution;
    agree(communicator, [&] {
        made.pieces.push_back(sample_view(image));
        Bytes size = 0;
        for (const Tile& band : halo::frame_of(grid, communicator.rank()))
            size += band.elements() * image.element().size;
        made.around = Memory(size);
        Operator moved;
        moved.element = image.element();
        execution.emplace(communicator, halo::frame_exchange(grid, communicator.rank()), moved);
        execution->bind(0, image.bytes());
        execution->bind(1, made.around.bytes());
    });
    agree(communicator, [&] { execution->run(); });
    const std::byte* first = made.around.data();
    for (const Tile& band : halo::frame_of(grid, communicator.rank())) {
        kernel::SampleView piece = samples_of(image.element(), first);
        piece.tile = band;
        piece.stride = band.width;
        piece.image = image.shape();
        if (band.elements() > 0)
            made.pieces.push_back(piece);
        first += band.elements() * image.element().size;
    }
    return made;
}

} // namespace sextant::distributed
