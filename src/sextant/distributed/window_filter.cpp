// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/window_filter.hpp"

#include "sextant/core/error.hpp"
#include "sextant/distributed/sample_view.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace sextant::distributed {

namespace {

constexpr Bytes float_size = sizeof(float);

const ElementFormat& checked(const ElementFormat& element) {
    if (element != gray_f32 && element != gray_u8 && element != gray_u16)
        throw InvalidTask(
            fmt::format("filters take samples of f32, u8 or u16; these are {}", element.name));
    return element;
}

/// All that a filter reads but its own tile, in the window's coordinates: rows above, rows below.
std::vector<Tile> given_parts(const halo::Grid& grid, int rank) {
    const Tile held = halo::clipped_tile(grid, rank), own = tile(grid, rank);
    const Tile above{held.x, held.y, held.width, -held.y};
    const Tile below{held.x, grid.height, held.width, held.y + held.height - grid.height};
    std::vector<Tile> parts = {own};
    for (const Tile& part : {above, below}) {
        if (part.height > 0 && held.elements() > 0)
            parts.push_back(part);
    }
    return parts;
}

/// Of windows of one image.
bool same_program(const halo::Stencil& a, const halo::Stencil& b) {
    return a.grid.height == b.grid.height && a.grid.above == b.grid.above &&
           a.grid.below == b.grid.below && a.grid.width == b.grid.width &&
           a.grid.columns == b.grid.columns && a.grid.rows == b.grid.rows;
}

Tile moved_down(Tile part, Elements rows) {
    part.y += rows;
    return part;
}

} // namespace

halo::Stencil stencil_of(const Window& window, const Filter& filter, const ElementFormat& element,
                         bool collects, bool overlaps) {
    const kernel::FilterBank bank(filter.sigma, filter.features, filter.border);
    const ImageShape image = window.image;
    halo::Stencil stencil;
    stencil.grid.width = image.width;
    stencil.grid.height = window.rows;
    stencil.grid.columns = window.columns;
    stencil.grid.rows = window.rows_of_tiles;
    stencil.grid.margin = {bank.reach_x(), bank.reach_y()};
    stencil.grid.above = std::min<Elements>(window.first, bank.reach_y());
    stencil.grid.below =
        std::min<Elements>(image.height - window.first - window.rows, bank.reach_y());
    stencil.planes = static_cast<int>(filter.features.size());
    stencil.sample = element.size;
    stencil.overlaps = overlaps;
    stencil.collects = collects;
    return stencil;
}

WindowFilter::WindowFilter(Communicator communicator, Filter filter, ElementFormat element,
                           bool collects)
    : communicator_(std::move(communicator)),
      filter_(std::move(filter)),
      element_(checked(element)),
      collects_(collects),
      bank_(filter_.sigma, filter_.features, filter_.border) {}

void WindowFilter::prepare(const Window& window, std::span<float> planes) {
    if (window.columns < 1 || window.columns * window.rows_of_tiles != communicator_.size())
        throw InvalidTask(fmt::format("a grid of {}x{} tiles for {} ranks", window.columns,
                                      window.rows_of_tiles, communicator_.size()));
    const halo::Stencil stencil =
        stencil_of(window, filter_, element_, collects_, communicator_.size() > 1);
    const bool alike = execution_ && same_program(stencil_, stencil);
    window_ = window;
    stencil_ = stencil;
    if (!alike)
        open_execution();
    bind_planes(planes);
}

void WindowFilter::open_execution() {
    const int rank = communicator_.rank();
    Operator floats;
    floats.element = gray_f32;
    execution_.reset();
    image_ = Memory(halo::clipped_tile(stencil_.grid, rank).elements() * element_.size);
    execution_.emplace(
        communicator_, halo::stencil(stencil_, rank), floats, ExecuteOptions{},
        std::vector<Kernel>{[this](const Computation& computation) { compute(computation); }});
    execution_->bind(halo::image_buffer, image_.bytes());
}

void WindowFilter::bind_planes(std::span<float> planes) {
    const Elements floats = stencil_.planes * plane_elements();
    if (planes.empty()) {
        if (own_planes_.size() != floats * float_size)
            own_planes_ = Memory(floats * float_size);
        planes = {reinterpret_cast<float*>(own_planes_.data()), static_cast<std::size_t>(floats)};
    }
    planes_ = planes;
    execution_->bind(halo::planes_buffer, std::as_writable_bytes(planes_));
}

void WindowFilter::fill(const Fill& fill) {
    const Tile held = halo::clipped_tile(stencil_.grid, communicator_.rank());
    for (const Tile& part : given_parts(stencil_.grid, communicator_.rank())) {
        if (part.elements() == 0)
            continue;
        const Region place = halo::place_in(held, part, halo::image_buffer);
        const Tile in_image = moved_down(part, window_.first);
        std::byte* const to = image_.data() + place.offset * element_.size;
        const auto bytes = static_cast<std::size_t>(part.elements() * element_.size);
        if (place.contiguous()) {
            fill(in_image, {to, bytes});
            continue;
        }
        Memory packed(part.elements() * element_.size);
        fill(in_image, packed.bytes());
        for (Elements row = 0; row < part.height; ++row)
            std::memcpy(to + row * held.width * element_.size,
                        packed.data() + row * part.width * element_.size,
                        static_cast<std::size_t>(part.width * element_.size));
    }
}

Tile WindowFilter::kept() const {
    return moved_down(halo::kept_tile(stencil_, communicator_.rank()), window_.first);
}

std::span<const float> WindowFilter::plane(int k) const {
    const auto size = static_cast<std::size_t>(plane_elements());
    return planes_.subspan(static_cast<std::size_t>(k) * size, size);
}

Bytes WindowFilter::memory() const {
    return image_.size() + stencil_.planes * plane_elements() * float_size;
}

kernel::SampleView WindowFilter::view(const Region& read, const Tile& part,
                                      const std::byte* image) const {
    kernel::SampleView view = samples_of(element_, image + read.offset * element_.size);
    view.stride = read.stride;
    view.tile = moved_down(halo::part_read(stencil_, part), window_.first);
    view.image = window_.image;
    return view;
}

void WindowFilter::compute(const Computation& computation) {
    const Tile part = halo::part_made(stencil_, communicator_.rank(), computation.made[0]);
    auto* const planes = reinterpret_cast<float*>(computation.buffers[halo::planes_buffer]);
    std::vector<kernel::Plane> outputs;
    for (const Region& region : computation.made)
        outputs.push_back({planes + region.offset, region.stride});
    bank_.apply(view(computation.read[0], part, computation.buffers[halo::image_buffer]),
                moved_down(part, window_.first), outputs, computation.progress);
}

} // namespace sextant::distributed
