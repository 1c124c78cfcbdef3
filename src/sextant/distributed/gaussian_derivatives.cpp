// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/gaussian_derivatives.hpp"

#include "sextant/comm/agree.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace sextant {

namespace {

bool same_grid(const Grid& a, const Grid& b) {
    return a.width == b.width && a.height == b.height && a.columns == b.columns && a.rows == b.rows;
}

/// Planes of one memory, as new_planes() makes them, in which nothing of the image lies.
bool may_be_written(std::vector<distributed::Image>& planes, const distributed::Image& image,
                    std::size_t features) {
    if (planes.size() != features)
        return false;
    const std::span<std::byte> first = planes.front().bytes();
    for (std::size_t k = 0; k < planes.size(); ++k) {
        if (!same_grid(planes[k].grid(), image.grid()) || planes[k].element() != gray_f32 ||
            planes[k].bytes().data() != first.data() + k * first.size())
            return false;
    }
    const std::less<const std::byte*> before;
    const std::byte* const end = first.data() + features * first.size();
    const std::span<const std::byte> read = image.bytes();
    return !before(read.data(), end) || !before(first.data(), read.data() + read.size());
}

std::vector<distributed::Image> new_planes(const distributed::Image& image, std::size_t features) {
    const Bytes plane = image.tile().elements() * gray_f32.size;
    const auto memory = std::make_shared<Memory>(static_cast<Bytes>(features) * plane);
    std::vector<distributed::Image> planes;
    for (std::size_t k = 0; k < features; ++k)
        planes.emplace_back(image.communicator(), image.grid(), gray_f32, memory,
                            static_cast<Bytes>(k) * plane);
    return planes;
}

} // namespace

void gaussian_derivatives(const distributed::Image& image, const distributed::Filter& filter,
                          std::vector<distributed::Image>& planes) {
    const Communicator& communicator = image.communicator();
    const Grid& grid = image.grid();
    const std::size_t features = filter.features.size();
    std::optional<distributed::WindowFilter> window;
    agree(communicator, [&] {
        window.emplace(communicator, distributed::Filters{filter}, image.element(), false);
        if (!may_be_written(planes, image, features))
            planes = new_planes(image, features);
        const auto samples = static_cast<std::size_t>(image.tile().elements()) * features;
        window->prepare({image.shape(), 0, grid.height, {grid.columns, grid.rows}},
                        {reinterpret_cast<float*>(planes.front().bytes().data()), samples});
        if (window->reads_own_tile())
            return window->bind_image(image.bytes());
        window->fill([&](const Tile&, std::span<std::byte> to) {
            std::ranges::copy(image.bytes(), to.begin());
        });
    });
    agree(communicator, [&] { window->run(); });
}

std::vector<distributed::Image> gaussian_derivatives(const distributed::Image& image,
                                                     const distributed::Filter& filter) {
    std::vector<distributed::Image> planes;
    gaussian_derivatives(image, filter, planes);
    return planes;
}

} // namespace sextant
