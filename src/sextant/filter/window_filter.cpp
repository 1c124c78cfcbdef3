// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/filter/window_filter.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/image.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
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

/// Returns the kernels of each filter, for the first of `members` threads.
std::vector<std::vector<std::optional<kernel::FilterBank>>>
banks_of(const Filters& filters, kernel::Dimensions dimensions, int members) {
    if (filters.empty())
        throw InvalidTask("no filters given, expected at least one");
    for (std::size_t k = 0; k + 1 < filters.size(); ++k) {
        if (filters[k].features.size() != 1)
            throw InvalidTask(fmt::format("filter {} of {} computes {} planes, expected one", k + 1,
                                          filters.size(), filters[k].features.size()));
    }
    std::vector<std::vector<std::optional<kernel::FilterBank>>> banks;
    for (const Filter& filter : filters)
        banks.emplace_back(static_cast<std::size_t>(members))[0] = bank_of(filter, dimensions);
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

halo::Margin margin_of(const kernel::FilterBank& bank) {
    return {bank.reach_x(), bank.reach_y(), bank.reach_z()};
}

filtering::WindowTask window_task(const Window& window, const Filters& filters,
                                  std::span<const halo::Margin> margins,
                                  const ElementFormat& element, bool collects, bool overlaps) {
    filtering::WindowTask task;
    task.collect = collects;
    // Goes from the last filter to the first, because each filter must compute the rows or planes
    // that the next one reads.
    Elements first = window.first, end = window.first + window.rows;
    for (std::size_t k = filters.size(); k-- > 0;) {
        const Tiles tiles = window.configuration.tiles_of(static_cast<int>(k));
        halo::Stencil stencil;
        stencil.grid.width = window.image.width;
        stencil.grid.columns = tiles.columns;
        stencil.grid.rows = tiles.rows;
        stencil.grid.layers = tiles.layers;
        stencil.grid.margin = margins[k];
        const Elements all = window.is_volume() ? window.depth : window.image.height;
        const Elements reach = window.is_volume() ? margins[k].z : margins[k].y;
        const Elements back = std::min(first, reach), ahead = std::min(all - end, reach);
        if (window.is_volume()) {
            stencil.grid.height = window.image.height;
            stencil.grid.depth = end - first;
            stencil.grid.before = back, stencil.grid.after = ahead;
        } else {
            stencil.grid.height = end - first;
            stencil.grid.above = back, stencil.grid.below = ahead;
        }
        stencil.planes = static_cast<int>(filters[k].features.size());
        stencil.overlaps = overlaps;
        first -= back, end += ahead;
        task.filters.insert(task.filters.begin(), stencil);
    }
    if (!task.filters.empty())
        task.filters.front().sample = element.size;
    return task;
}

WindowFilter::WindowFilter(Communicator communicator, Filters filters, ElementFormat element,
                           bool collects, kernel::Dimensions dimensions, Team* team)
    : communicator_(std::move(communicator)),
      filters_(std::move(filters)),
      element_(checked(element)),
      collects_(collects),
      dimensions_(dimensions),
      team_(team),
      banks_(banks_of(filters_, dimensions, members_of(team))) {}

void WindowFilter::prepare(const Window& window, std::span<float> planes) {
    check(window, std::ssize(filters_.back().features), communicator_.size());
    if (window.dimensions() != dimensions_)
        throw InvalidTask(window.is_volume() ? "filters for images cannot be applied to a volume"
                                             : "filters for volumes cannot be applied to an image");
    std::vector<halo::Margin> margins;
    for (const auto& banks : banks_)
        margins.push_back(margin_of(*banks.front()));
    filtering::WindowTask task =
        window_task(window, filters_, margins, element_, collects_, communicator_.size() > 1);
    const bool alike = execution_ && same_program(task_, task, window_, window);
    window_ = window;
    task_ = std::move(task);
    if (!alike)
        open_execution();
    bind_planes(planes);
    bound_tile_.reset();
    bound_planes_.clear();
    bound_samples_ = bound_results_ = {};
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

void WindowFilter::bind(const kernel::SampleView& tile, std::vector<kernel::Plane> planes) {
    if (!reads_own_tile())
        throw std::logic_error(
            "an image cannot be bound: the filter reads pixels outside the rank's tile");
    bound_tile_ = tile;
    bound_planes_ = std::move(planes);
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

std::vector<kernel::Plane> WindowFilter::outputs_of(std::size_t k, const Computation& computation,
                                                    const Tile& part) const {
    const int features = task_.filters[k].planes;
    const auto regions = computation.places.size() / static_cast<std::size_t>(features);
    const Elements planes =
        regions == 1 ? part.depth : 1; // number of planes in a region, see halo::rows_in
    std::vector<kernel::Plane> outputs;
    for (const Blocks& place : computation.places) {
        const Elements stride = place.stride / float_size;
        for (Elements z = 0; z < planes; ++z)
            outputs.push_back(
                {reinterpret_cast<float*>(place.base) + z * part.height * stride, stride});
    }
    return outputs;
}

kernel::FilterBank& WindowFilter::bank(std::size_t k, int member) {
    std::optional<kernel::FilterBank>& own = banks_[k][static_cast<std::size_t>(member)];
    return own ? *own : own.emplace(bank_of(filters_[k], dimensions_));
}

std::vector<Tile> divided(const Tile& part, int threads, const kernel::FilterBank& bank) {
    constexpr Elements per_thread = 2;
    // A row in the margin of a strip costs about a third of a row inside.
    const Elements fewest_rows = std::max<Elements>(32, 4 * bank.reach_y());
    const Elements fewest_planes = std::max<Elements>(1, 2 * bank.reach_z());
    const bool in_slabs = part.depth >= threads * fewest_planes;
    const Elements length = in_slabs ? part.depth : part.height;
    const Elements most = length / (in_slabs ? fewest_planes : fewest_rows);
    const Elements count = threads == 1 ? 1 : std::clamp<Elements>(most, 1, per_thread * threads);
    std::vector<Tile> all(static_cast<std::size_t>(count), part);
    for (Elements i = 0; i < count; ++i) {
        Tile& one = all[static_cast<std::size_t>(i)];
        const Elements begin = length * i / count, size = length * (i + 1) / count - begin;
        (in_slabs ? one.z : one.y) += begin;
        (in_slabs ? one.depth : one.height) = size;
    }
    return all;
}

void WindowFilter::compute(std::size_t k, const Computation& computation) {
    const bool is_last = k + 1 == task_.filters.size();
    halo::Stencil stencil = task_.filters[k];
    stencil.collects = is_last && collects_ && !window_.configuration.collect;
    const Tile part = halo::part_made(stencil, communicator_.rank(), computation.made);
    const Tile made = in_image(k, part);
    const kernel::SampleView samples =
        k == 0 && bound_tile_ ? *bound_tile_ : view(k, computation, part);
    const std::vector<kernel::Plane> outputs =
        is_last && !bound_planes_.empty() ? bound_planes_ : outputs_of(k, computation, part);
    const std::vector<Tile> shares = divided(made, members_of(team_), bank(k, 0));
    std::vector<NotFinite> of_samples(shares.size()), of_results(shares.size());
    run_parts(team_, static_cast<int>(shares.size()), [&](int index, int member) {
        const Tile& share = shares[static_cast<std::size_t>(index)];
        std::vector<kernel::Plane> planes;
        for (Elements feature = 0; feature < stencil.planes; ++feature) {
            for (Elements z = share.z; z < share.z + share.depth; ++z) {
                planes.push_back(
                    outputs[static_cast<std::size_t>(feature * made.depth + z - made.z)]);
                planes.back().first += (share.y - made.y) * planes.back().stride;
            }
        }
        static const std::function<void()> none;
        bank(k, member).apply(samples, share, planes, member == 0 ? computation.progress : none);
        if (bound_planes_.empty())
            return;
        const auto i = static_cast<std::size_t>(index);
        const auto* const* floats = std::get_if<const float*>(&samples.first);
        for (Elements z = share.z; z < share.z + share.depth && k == 0 && floats; ++z) {
            for (Elements y = share.y; y < share.y + share.height; ++y)
                of_samples[i].add(*floats + z * samples.next_plane + y * samples.stride,
                                  share.width);
        }
        for (const kernel::Plane& plane : planes) {
            for (Elements y = 0; y < share.height && is_last; ++y)
                of_results[i].add(plane.first + y * plane.stride, share.width);
        }
    });
    for (std::size_t i = 0; i < shares.size(); ++i) {
        bound_samples_.add(of_samples[i]);
        bound_results_.add(of_results[i]);
    }
}

void NotFinite::add(const NotFinite& other) {
    infinite += other.infinite;
    nan += other.nan;
}

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
            return window->bind(sample_view(image));
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
