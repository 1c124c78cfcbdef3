// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/gaussian_derivatives.hpp"

#include "sextant/comm/agree.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace sextant {

std::vector<distributed::Image> gaussian_derivatives(const distributed::Image& image,
                                                     const distributed::Filter& filter) {
    const Communicator& communicator = image.communicator();
    const Grid& grid = image.grid();
    const auto planes = static_cast<Bytes>(filter.features.size());
    const Bytes plane = image.tile().elements() * gray_f32.size;
    std::shared_ptr<Memory> memory;
    std::optional<distributed::WindowFilter> window;
    agree(communicator, [&] {
        memory = std::make_shared<Memory>(planes * plane);
        window.emplace(communicator, distributed::Filters{filter}, image.element(), false);
        window->prepare({image.shape(), 0, grid.height, {grid.columns, grid.rows}},
                        {reinterpret_cast<float*>(memory->data()),
                         static_cast<std::size_t>(planes * image.tile().elements())});
        window->fill([&](const Tile&, std::span<std::byte> to) {
            std::ranges::copy(image.bytes(), to.begin());
        });
    });
    agree(communicator, [&] { window->run(); });
    std::vector<distributed::Image> images;
    for (Bytes k = 0; k < planes; ++k)
        images.emplace_back(communicator, grid, gray_f32, memory, k * plane);
    return images;
}

} // namespace sextant
