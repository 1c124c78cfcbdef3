// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/filter/window_filter.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/image.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace sextant::distributed {

namespace {

constexpr Bytes float_size = sizeof(float);

const ElementFormat& checked(const ElementFormat& element) {
    if (element != gray_f32 && element != gray_u8 && element != gray_u16)
        throw InvalidTask(
            fmt::format("filters: samples of {}, expected f32, u8 or u16", element.name));
    return element;
}

std::vector<kernel::FilterBank> banks_of(const Filters& filters, kernel::Dimensions dimensions) {
    if (filters.empty())
        throw InvalidTask("no filters given, expected at least one");
    for (std::size_t k = 0; k + 1 < filters.size(); ++k) {
        if (filters[k].features.size() != 1)
            throw InvalidTask(fmt::format("filter {} of {} computes {} planes, expected one", k + 1,
                                          filters.size(), filters[k].features.size()));
    }
    std::vector<kernel::FilterBank> banks;
    for (const Filter& filter : filters)
        banks.push_back(bank_of(filter, dimensions));
    return banks;
}

void check(const Window& window, Elements planes, int ranks) {
    const auto& [image, first, rows, configuration, depth] = window;
    if (configuration.columns < 1 || configuration.ranks() != ranks)
        throw InvalidTask(fmt::format("{} for {} ranks, expected one tile per rank",
                                      configuration.tiles_text(), ranks));
    const Elements most_planes = most_pixels / std::max<Elements>(1, planes);
    if (image.width < 1 || image.height < 1 || (window.is_volume() && rows > most_planes) ||
        is_too_large(image, window.is_volume() ? planes * std::max<Elements>(1, rows) : planes))
        throw InvalidTask(fmt::format("{} planes of {}x{} pixels, expected 1 to {} pixels", planes,
                                      image.width, image.height, most_pixels));
    const Elements all = window.is_volume() ? depth : image.height;
    const char* const name = window.is_volume() ? "plane" : "row";
    if (first < 0 || rows < 1 || rows > all - first)
        throw InvalidTask(fmt::format("{0} {1}s starting at {1} {2} do not fit in {3} {1}s", rows,
                                      name, first, all));
}

/// True if the same program can filter both windows of an image.
bool same_program(const filtering::WindowTask& a, const filtering::WindowTask& b,
                  const Window& before, const Window& now) {
    const auto same = [](const halo::Stencil& one, const halo::Stencil& other) {
        const auto key = [](const halo::Grid& g) {
            return std::array{g.width, g.height, g.depth, g.above, g.below, g.before, g.after};
        };
        return key(one.grid) == key(other.grid);
    };
    return before.configuration == now.configuration &&
           std::ranges::equal(a.filters, b.filters, same);
}

/// Returns the address of a region in a kernel's buffers.
std::byte* at(const Computation& computation, const Region& region, Bytes element) {
    std::byte* const buffer = computation.buffers[static_cast<std::size_t>(region.buffer)];
    return buffer + region.offset * element;
}

} // namespace

kernel::FilterBank bank_of(const Filter& filter, kernel::Dimensions dimensions) {
    return {filter.sigma, filter.features, filter.border, filter.kernel, dimensions, filter.pixel};
}

filtering::WindowTask window_task(const Window& window, const Filters& filters,
                                  const ElementFormat& element, bool collects, bool overlaps) {
    filtering::WindowTask task;
    task.collect = collects;
    // Goes from the last filter to the first, because each filter must compute the rows or planes
    // that the next one reads.
    Elements first = window.first, end = window.first + window.rows;
    int number = static_cast<int>(filters.size());
    for (auto filter = filters.rbegin(); filter != filters.rend(); ++filter) {
        const Tiles tiles = window.configuration.tiles_of(--number);
        const kernel::FilterBank bank = bank_of(*filter, window.dimensions());
        halo::Stencil stencil;
        stencil.grid.width = window.image.width;
        stencil.grid.columns = tiles.columns;
        stencil.grid.rows = tiles.rows;
        stencil.grid.layers = tiles.layers;
        stencil.grid.margin = {bank.reach_x(), bank.reach_y(), bank.reach_z()};
        const Elements all = window.is_volume() ? window.depth : window.image.height;
        const Elements reach = window.is_volume() ? bank.reach_z() : bank.reach_y();
        const Elements back = std::min(first, reach), ahead = std::min(all - end, reach);
        if (window.is_volume()) {
            stencil.grid.height = window.image.height;
            stencil.grid.depth = end - first;
            stencil.grid.before = back, stencil.grid.after = ahead;
        } else {
            stencil.grid.height = end - first;
            stencil.grid.above = back, stencil.grid.below = ahead;
        }
        stencil.planes = static_cast<int>(filter->features.size());
        stencil.overlaps = overlaps;
        first -= back, end += ahead;
        task.filters.insert(task.filters.begin(), stencil);
    }
    if (!task.filters.empty())
        task.filters.front().sample = element.size;
    return task;
}

WindowFilter::WindowFilter(Communicator communicator, Filters filters, ElementFormat element,
                           bool collects, kernel::Dimensions dimensions)
    : communicator_(std::move(communicator)),
      filters_(std::move(filters)),
      element_(checked(element)),
      collects_(collects),
      dimensions_(dimensions),
      banks_(banks_of(filters_, dimensions)) {}

void WindowFilter::prepare(const Window& window, std::span<float> planes) {
    check(window, std::ssize(filters_.back().features), communicator_.size());
    if (window.dimensions() != dimensions_)
        throw InvalidTask(window.is_volume() ? "filters for images cannot be applied to a volume"
                                             : "filters for volumes cannot be applied to an image");
    filtering::WindowTask task =
        window_task(window, filters_, element_, collects_, communicator_.size() > 1);
    const bool alike = execution_ && same_program(task_, task, window_, window);
    window_ = window;
    task_ = std::move(task);
    if (!alike)
        open_execution();
    bind_planes(planes);
}

void WindowFilter::open_execution() {
    filtering::WindowProgram made =
        filtering::window_program(task_, window_.configuration, communicator_.rank());
    image_buffer_ = made.image, planes_buffer_ = made.planes;
    Operator floats;
    floats.element = gray_f32;
    std::vector<Kernel> kernels;
    for (std::size_t k = 0; k < banks_.size(); ++k)
        kernels.push_back([this, k](const Computation& computation) { compute(k, computation); });
    execution_.reset();
    execution_.emplace(communicator_, std::move(made.program), floats, ExecuteOptions{},
                       std::move(kernels));
    if (image_buffer_ < 0)
        return;
    const auto& buffer = execution_->program().buffers[static_cast<std::size_t>(image_buffer_)];
    image_ = communicator_.memory(buffer.size * element_.size);
    execution_->bind(image_buffer_, image_.bytes());
}

void WindowFilter::bind_planes(std::span<float> planes) {
    const Elements floats = this->planes() * plane_elements();
    if (!planes.empty() && std::ssize(planes) != floats)
        throw InvalidTask(fmt::format("the buffer for the planes holds {} floats, expected {}",
                                      planes.size(), floats));
    if (planes.empty()) {
        if (own_planes_.size() != floats * float_size)
            own_planes_ = communicator_.memory(floats * float_size);
        planes = {reinterpret_cast<float*>(own_planes_.data()), static_cast<std::size_t>(floats)};
    }
    planes_ = planes;
    if (planes_buffer_ >= 0)
        execution_->bind(planes_buffer_, std::as_writable_bytes(planes_));
}

/// Returns the tiles that `fill` must provide on this rank, in coordinates of the first
/// filter's grid. With a distribution, rank 0 gets all available pixels; otherwise each rank gets
/// its tile and its part of the margins around the grid.
std::vector<Tile> WindowFilter::given_parts() const {
    const halo::Grid& grid = task_.filters.front().grid;
    const int rank = communicator_.rank();
    if (window_.configuration.distribute)
        return rank == 0 ? std::vector{grid.at_hand()} : std::vector<Tile>{};
    std::vector<Tile> parts = halo::beyond(grid, rank);
    parts.insert(parts.begin(), tile(grid, rank));
    return parts;
}

void WindowFilter::fill(const Fill& fill) {
    const halo::Grid& grid = task_.filters.front().grid;
    const Tile held = window_.configuration.distribute
                          ? grid.at_hand()
                          : halo::clipped_tile(grid, communicator_.rank());
    for (const Tile& given : given_parts()) {
        for (Elements z = 0; given.elements() > 0 && z < given.depth; ++z) {
            const Tile part{given.x, given.y, given.width, given.height, given.z + z, 1};
            fill_plane(fill, held, part);
        }
    }
}

/// Fills this rank's part of one plane of the image.
void WindowFilter::fill_plane(const Fill& fill, const Tile& held, const Tile& part) {
    const Region place = halo::places_in(held, part, image_buffer_)[0];
    std::byte* const to = image_.data() + place.offset * element_.size;
    const auto bytes = static_cast<std::size_t>(part.elements() * element_.size);
    if (place.contiguous())
        return fill(in_image(0, part), {to, bytes});
    Memory packed(part.elements() * element_.size);
    fill(in_image(0, part), packed.bytes());
    copy_part(part, part, packed.data(), held, image_.data(), element_.size);
}

bool WindowFilter::reads_own_tile() const {
    const halo::Grid& grid = task_.filters.front().grid;
    const int rank = communicator_.rank();
    return !window_.configuration.distribute &&
           halo::clipped_tile(grid, rank).elements() == tile(grid, rank).elements();
}

void WindowFilter::bind_image(std::span<const std::byte> tile) {
    if (!reads_own_tile())
        throw std::logic_error(
            "an image cannot be bound: the filter reads pixels outside the rank's tile");
    execution_->bind(image_buffer_, tile);
}

Tile WindowFilter::in_image(std::size_t k, Tile part) const {
    Elements first = window_.first; // first row or plane that filter k computes
    for (std::size_t later = k + 1; later < task_.filters.size(); ++later)
        first -= task_.filters[later].grid.above + task_.filters[later].grid.before;
    (window_.is_volume() ? part.z : part.y) += first;
    return part;
}

Elements WindowFilter::plane_elements() const {
    if (planes_buffer_ < 0)
        return 0;
    const auto& buffer = execution_->program().buffers[static_cast<std::size_t>(planes_buffer_)];
    return buffer.size / planes();
}

std::span<const float> WindowFilter::plane(int k) const {
    const auto size = static_cast<std::size_t>(plane_elements());
    return planes_.subspan(static_cast<std::size_t>(k) * size, size);
}

kernel::SampleView WindowFilter::view(std::size_t k, const Computation& computation,
                                      const Tile& part) const {
    const Region& read = computation.read[0];
    const ElementFormat& element = k > 0 ? gray_f32 : element_;
    kernel::SampleView view = samples_of(element, at(computation, read, element.size));
    view.stride = read.stride;
    view.tile = in_image(k, halo::part_read(task_.filters[k], part));
    view.image = window_.image;
    if (window_.is_volume()) {
        const Tile held = halo::clipped_tile(task_.filters[k].grid, communicator_.rank());
        view.next_plane = held.height * held.width;
        view.depth = window_.depth;
    }
    return view;
}

void WindowFilter::compute(std::size_t k, const Computation& computation) {
    halo::Stencil stencil = task_.filters[k];
    stencil.collects = k + 1 == task_.filters.size() && collects_ && !window_.configuration.collect;
    const Tile part = halo::part_made(stencil, communicator_.rank(), computation.made);
    const auto regions = computation.places.size() / static_cast<std::size_t>(stencil.planes);
    const Elements planes =
        regions == 1 ? part.depth : 1; // number of planes in a region, see halo::rows_in
    std::vector<kernel::Plane> outputs;
    for (const Blocks& place : computation.places) {
        const Elements stride = place.stride / float_size;
        for (Elements z = 0; z < planes; ++z)
            outputs.push_back(
                {reinterpret_cast<float*>(place.base) + z * part.height * stride, stride});
    }
    banks_[k].apply(view(k, computation, part), in_image(k, part), outputs, computation.progress);
}

namespace {

/// Returns the number of rows of a strip. Each thread gets several strips, so that all threads end
/// at about the same time, but strips are high enough that the work on their borders is negligible.
Elements rows_of_strips(const Tile& tile, int threads, Elements fewest) {
    constexpr Elements most_pixels = Elements{1} << 22; // a few milliseconds between checks
    constexpr Elements per_thread = 2;
    if (threads == 1 && tile.elements() <= 2 * most_pixels)
        return tile.height;
    const Elements parts = threads == 1 ? 1 : per_thread * threads;
    const Elements equal = (tile.height + parts - 1) / parts;
    const Elements limit = std::max<Elements>(most_pixels / std::max<Elements>(tile.width, 1), 1);
    return std::clamp(std::min(equal, limit), std::min(fewest, tile.height), tile.height);
}

std::vector<Tile> strips_of(const Tile& tile, Elements rows) {
    std::vector<Tile> strips;
    for (Elements y = 0; y < tile.height; y += rows)
        strips.push_back({tile.x, tile.y + y, tile.width, std::min(rows, tile.height - y)});
    return strips;
}

/// Counts finished strips; one thread reports the count as progress.
class StripProgress {
  public:
    StripProgress(const RunControl& control, const char* part, std::size_t strips)
        : control_(control), part_(part), strips_(static_cast<std::int64_t>(strips)) {}

    void begin(int member) const {
        control_.check();
        if (member == 0)
            control_.report(part_, done_, strips_);
    }
    void end() { ++done_; }

  private:
    const RunControl& control_;
    const char* const part_;
    const std::int64_t strips_;
    std::atomic<std::int64_t> done_{0};
};

} // namespace

void NotFinite::add(const float* values, Elements count) {
    // Compares bits, because compilers vectorise this comparison.
    constexpr std::uint32_t magnitude = 0x7fffffff, infinity = 0x7f800000;
    const auto bits = [&](Elements i) {
        return std::bit_cast<std::uint32_t>(values[i]) & magnitude;
    };
    std::uint32_t largest = 0;
    for (Elements i = 0; i < count; ++i)
        largest = std::max(largest, bits(i));
    if (largest < infinity)
        return;
    for (Elements i = 0; i < count; ++i) {
        infinite += bits(i) == infinity;
        nan += bits(i) > infinity;
    }
}

Elements filter_in_memory(const kernel::SampleView& image, const Filter& filter,
                          std::span<const kernel::Plane> outputs, Team& team,
                          const RunControl& control, NotFinite* results) {
    std::vector<std::optional<kernel::FilterBank>> banks(static_cast<std::size_t>(team.size()));
    banks[0].emplace(bank_of(filter));
    // A row in a strip's margin costs about a third of a row inside.
    const Elements fewest = std::max<Elements>(32, 4 * banks[0]->reach_y());
    const Elements rows =
        team.size() == 1 ? image.tile.height : rows_of_strips(image.tile, team.size(), fewest);
    const std::vector<Tile> tiles = strips_of(image.tile, std::max<Elements>(rows, 1));
    std::vector<Elements> not_numbers(tiles.size());
    std::vector<NotFinite> not_finite(tiles.size());
    StripProgress filtered(control, "filter", tiles.size());
    team.run(static_cast<int>(tiles.size()), [&](int part, int member) {
        filtered.begin(member);
        const Tile& tile = tiles[static_cast<std::size_t>(part)];
        auto& bank = banks[static_cast<std::size_t>(member)];
        if (!bank)
            bank.emplace(bank_of(filter));
        std::vector<kernel::Plane> planes(outputs.begin(), outputs.end());
        for (kernel::Plane& plane : planes)
            plane.first += (tile.y - image.tile.y) * plane.stride;
        bank->apply(image, tile, planes, [&] { control.check(); });
        for (const kernel::Plane& plane : planes) {
            for (Elements y = 0; results && y < tile.height; ++y)
                not_finite[static_cast<std::size_t>(part)].add(plane.first + y * plane.stride,
                                                               tile.width);
        }
        if (const auto* const* floats = std::get_if<const float*>(&image.first)) {
            for (Elements y = 0; y < tile.height; ++y) {
                const float* const row = *floats + (tile.y - image.tile.y + y) * image.stride;
                not_numbers[static_cast<std::size_t>(part)] += std::count_if(
                    row, row + tile.width, [](float value) { return value != value; });
            }
        }
        filtered.end();
    });
    for (const NotFinite& each : not_finite) {
        if (results) {
            results->infinite += each.infinite;
            results->nan += each.nan;
        }
    }
    return std::accumulate(not_numbers.begin(), not_numbers.end(), Elements{0});
}

namespace {

bool same_grid(const Grid& a, const Grid& b) {
    return a.width == b.width && a.height == b.height && a.columns == b.columns && a.rows == b.rows;
}

/// True if planes can be overwritten: they are one block of memory, like those from new_planes(),
/// and do not overlap the image.
bool may_be_written(std::vector<Image>& planes, const Image& image, std::size_t features) {
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

std::vector<Image> new_planes(const Image& image, std::size_t features) {
    const Bytes plane = image.tile().elements() * gray_f32.size;
    const auto memory = std::make_shared<Memory>(static_cast<Bytes>(features) * plane);
    std::vector<Image> planes;
    for (std::size_t k = 0; k < features; ++k)
        planes.emplace_back(image.communicator(), image.grid(), gray_f32, memory,
                            static_cast<Bytes>(k) * plane);
    return planes;
}

} // namespace

void filter_tiles(const Image& image, const Filters& filters, std::vector<Image>& planes) {
    const Communicator& communicator = image.communicator();
    const Grid& grid = image.grid();
    const std::size_t features = filters.back().features.size();
    std::optional<WindowFilter> window;
    agree(communicator, [&] {
        window.emplace(communicator, filters, image.element(), false);
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

} // namespace sextant::distributed

namespace sextant {

void gaussian_derivatives(const distributed::Image& image, const distributed::Filter& filter,
                          std::vector<distributed::Image>& planes) {
    distributed::filter_tiles(image, {filter}, planes);
}

std::vector<distributed::Image> gaussian_derivatives(const distributed::Image& image,
                                                     const distributed::Filter& filter) {
    std::vector<distributed::Image> planes;
    gaussian_derivatives(image, filter, planes);
    return planes;
}

} // namespace sextant
