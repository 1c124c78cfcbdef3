// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/tiles/tiled_image.hpp"

#include "sextant/collective/scatter_gather.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/run_control.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace sextant::distributed {

namespace {

void check(const Communicator& communicator, const Grid& grid) {
    if (grid.width < 0 || grid.height < 0 || is_too_large({grid.width, grid.height}))
        throw InvalidData(fmt::format("an image of {}x{} pixels, expected at most {}", grid.width,
                                      grid.height, most_pixels));
    if (grid.columns < 1 || grid.rows < 1 || grid.ranks() != communicator.size()) {
        throw InvalidTask(
            fmt::format("a grid of {}x{} tiles for {} ranks, expected one tile per rank",
                        grid.columns, grid.rows, communicator.size()));
    }
}

/// An operator for elements that are only moved.
Operator moved(const ElementFormat& element) {
    Operator op;
    op.element = element;
    return op;
}

} // namespace

Image::Image(Communicator communicator, const Grid& grid, ElementFormat element)
    : communicator_(std::move(communicator)), grid_(grid), element_(element) {
    check(communicator_, grid);
    memory_ = std::make_shared<Memory>(tile().elements() * element.size);
}

Image::Image(Communicator communicator, const Grid& grid, ElementFormat element,
             std::shared_ptr<Memory> memory, Bytes offset)
    : communicator_(std::move(communicator)),
      grid_(grid),
      element_(element),
      memory_(std::move(memory)),
      offset_(offset) {
    check(communicator_, grid);
}

std::span<std::byte> Image::bytes() {
    const auto size = static_cast<std::size_t>(tile().elements() * element_.size);
    return {memory_->data() + offset_, size};
}

std::span<const std::byte> Image::bytes() const {
    const auto size = static_cast<std::size_t>(tile().elements() * element_.size);
    return {memory_->data() + offset_, size};
}

Image read_tiles(const Communicator& communicator, const Grid& grid, RowSource& source,
                 Elements first) {
    Image image(communicator, grid, source.element());
    Tile tile = image.tile();
    tile.y += first;
    read_part(source, tile, image.bytes());
    return image;
}

Image scatter(const Communicator& communicator, const Grid& grid, ElementFormat element,
              std::span<const std::byte> whole) {
    Image image(communicator, grid, element);
    const int rank = communicator.rank();
    Execution execution(communicator, collective::flat_scatter(grid, rank), moved(element));
    agree(communicator, [&] {
        if (rank == 0)
            execution.bind(0, whole);
    });
    agree(communicator, [&] { execution.run(); });
    const Region& result = execution.program().result;
    if (rank == 0 && !result.empty())
        copy_part(image.tile(), {0, 0, grid.width, grid.height}, whole.data(), image.tile(),
                  image.bytes().data(), element.size);
    else if (!result.empty())
        std::ranges::copy(execution.result(), image.bytes().begin());
    return image;
}

sextant::Image gather(const Image& image) {
    const int rank = image.communicator().rank();
    if (image.communicator().size() == 1) {
        sextant::Image copy(image.shape(), image.element());
        for (std::size_t at = 0; at < copy.bytes().size(); at += much_work) {
            const auto some = std::min<std::size_t>(much_work, copy.bytes().size() - at);
            check_cancelled(static_cast<Elements>(some));
            std::ranges::copy(image.bytes().subspan(at, some),
                              copy.bytes().begin() + static_cast<std::ptrdiff_t>(at));
        }
        return copy;
    }
    Execution execution(image.communicator(), collective::flat_gather(image.grid(), rank),
                        moved(image.element()));
    sextant::Image whole;
    agree(image.communicator(), [&] {
        execution.bind(0, image.bytes());
        if (rank > 0)
            return;
        whole = sextant::Image(image.shape(), image.element());
        execution.bind(1, whole.bytes());
    });
    agree(image.communicator(), [&] { execution.run(); });
    return whole;
}

void copy_part(const Tile& part, const Tile& from_held, const std::byte* from, const Tile& to_held,
               std::byte* to, Bytes element) {
    const auto row_in = [&](const Tile& held, Elements y, Elements z) {
        return (((z - held.z) * held.height + y - held.y) * held.width + part.x - held.x) * element;
    };
    const auto bytes = static_cast<std::size_t>(part.width * element);
    for (Elements z = part.z; bytes > 0 && z < part.z + part.depth; ++z) {
        for (Elements y = part.y; y < part.y + part.height; ++y)
            std::memcpy(to + row_in(to_held, y, z), from + row_in(from_held, y, z), bytes);
    }
}

void read_part(RowSource& source, const Tile& part, std::span<std::byte> to) {
    const Bytes size = source.element().size, row = source.shape().width * size;
    if (part.elements() == 0)
        return;
    const bool whole_rows = part.width == source.shape().width;
    // Whole rows are read without a copy, in larger chunks, because compressed strips that two
    // chunks share are decoded twice.
    const Bytes chunk = Bytes{whole_rows ? 64 : 4} << 20;
    const Elements most = std::clamp<Elements>(chunk / row, 1, part.height);
    Memory rows(whole_rows ? 0 : most * row);
    for (Elements z = part.z; z < part.z + part.depth; ++z) {
        for (Elements y = 0; y < part.height; y += most) {
            const Elements count = std::min(most, part.height - y);
            check_cancelled(count * part.width);
            const auto bytes = static_cast<std::size_t>(count * part.width * size);
            if (whole_rows) {
                source.read(part.y + y, count, to.first(bytes), z);
            } else {
                const auto read = rows.bytes().first(static_cast<std::size_t>(count * row));
                source.read(part.y + y, count, read, z);
                const Tile some{part.x, 0, part.width, count};
                copy_part(some, {0, 0, source.shape().width, count}, read.data(), some, to.data(),
                          size);
            }
            to = to.subspan(bytes);
        }
    }
}

kernel::SampleView samples_of(const ElementFormat& element, const std::byte* first) {
    kernel::SampleView view;
    if (element == gray_u8)
        view.first = reinterpret_cast<const std::uint8_t*>(first);
    else if (element == gray_u16)
        view.first = reinterpret_cast<const std::uint16_t*>(first);
    else if (element == gray_f32)
        view.first = reinterpret_cast<const float*>(first);
    else
        throw InvalidTask(fmt::format("samples of {}, expected f32, u8 or u16", element.name));
    return view;
}

kernel::SampleView sample_view(const Image& image) {
    kernel::SampleView view = samples_of(image.element(), image.bytes().data());
    view.tile = image.tile();
    view.stride = view.tile.width;
    view.image = image.shape();
    return view;
}

kernel::ValueView values_of(const ElementFormat& element, const std::byte* first) {
    kernel::ValueView view;
    if (element == value_u32)
        view.first = reinterpret_cast<const std::uint32_t*>(first);
    else if (element == value_u64)
        view.first = reinterpret_cast<const std::uint64_t*>(first);
    else if (element == value_f64)
        view.first = reinterpret_cast<const double*>(first);
    else
        view = samples_of(element, first);
    return view;
}

kernel::ValueView value_view(const Image& image) {
    kernel::ValueView view = values_of(image.element(), image.bytes().data());
    view.tile = image.tile();
    view.stride = view.tile.width;
    view.image = image.shape();
    return view;
}

} // namespace sextant::distributed
