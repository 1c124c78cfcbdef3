// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/element.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/distributed/tiled_image.hpp"
#include "sextant/filtering/window_program.hpp"
#include "sextant/kernel/filter/filter_bank.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::distributed {

/// Which images are made of an image: names as kernel::find_feature takes them.
struct Filter {
    double sigma = 1;
    std::vector<std::string> features;
    kernel::BorderRule border;
    kernel::GaussianKernel kernel = {};
};

/// What makes them.
kernel::FilterBank bank_of(const Filter& filter);

/// Filters one after another, each on what the one before made: all but the last have one feature.
using Filters = std::vector<Filter>;

/// Rows of an image that are filtered together, in tiles.
struct Window {
    ImageShape image; ///< the whole
    Elements first = 0, rows = 0;
    filtering::Way way; ///< the tiles, and how the image comes and the planes go
    bool operator==(const Window&) const = default;
};

/// The program of filters on a window, for models and pictures as well.
filtering::WindowTask window_task(const Window& window, const Filters& filters,
                                  const ElementFormat& element, bool collects,
                                  bool overlaps = true);

/// Filters of windows of an image over ranks: memory and program are kept for as long as windows
/// have the same shape.
///
/// Every rank holds its tile and the pixels around it, and its part of the results; where they are
/// collected, rank 0 holds all of the window's.
class WindowFilter {
  public:
    /// Requires  sigmas and features that kernel::FilterBank takes, samples of gray_f32, gray_u8
    ///           or gray_u16, one feature of each filter but the last (InvalidTask).
    WindowFilter(Communicator communicator, Filters filters, ElementFormat element, bool collects);

    /// What a rank must be given before a run: rectangles of the image, one after another, and
    /// where each is to go.
    using Fill = std::function<void(const Tile& part, std::span<std::byte> to)>;

    /// Takes a window on. `planes`: where the results are to go, of `plane_elements()` floats for
    /// each feature of the last filter; empty: memory of its own.
    /// Requires  as many tiles, of some filter, as there are ranks; rows of an image of which all
    ///           planes together have at most 2³⁴ pixels; `planes` of that size (InvalidTask).
    void prepare(const Window& window, std::span<float> planes = {});
    /// Asks `fill` for the pixels that no other rank sends.
    void fill(const Fill& fill);
    /// Whether the pixels that this rank filters are those of its tile and no others, so that they
    /// may also stay where they are: `bind_image`, instead of `fill`, until the next `prepare`.
    bool reads_own_tile() const;
    void bind_image(std::span<const std::byte> tile);
    /// Filters. Collective; throws as Execution::run.
    void run() { execution_->run(); }

    /// How many floats this rank has of each plane, after `prepare`: of a window that is collected
    /// rank 0 has all, of others each its tile.
    Elements plane_elements() const;
    /// Plane k of the last run, row by row.
    std::span<const float> plane(int k) const;

  private:
    void open_execution();
    void bind_planes(std::span<float> planes);
    int planes() const { return task_.filters.back().planes; }
    std::vector<Tile> given_parts() const;
    void compute(std::size_t k, const Computation& computation);
    kernel::SampleView view(std::size_t k, const Computation& computation, const Tile& part) const;
    /// From the coordinates of a filter's grid to those of the image.
    Tile in_image(std::size_t k, Tile part) const;

    const Communicator communicator_;
    const Filters filters_;
    const ElementFormat element_;
    const bool collects_;
    std::vector<kernel::FilterBank> banks_;
    Window window_;
    filtering::WindowTask task_;
    int image_buffer_ = -1, planes_buffer_ = -1;
    Memory image_, own_planes_;
    std::span<float> planes_;
    std::optional<Execution> execution_;
};

} // namespace sextant::distributed

namespace sextant {

/// Gaussian derivatives, and what is made of them, of an image that lies in tiles: an image each,
/// in the same tiles.
///
/// Input     samples of gray_f32, gray_u8 or gray_u16; in `filter` the scale, the features ("x",
///           "xy", "gradient-magnitude": kernel::find_feature), what is seen beyond the border, and
///           which weights stand for the Gaussian: those of scipy.ndimage unless others are named.
/// Output    images of gray_f32, in the order of the features.
/// Requires  as kernel::FilterBank; otherwise every rank throws AgreedFailure.
/// Collective.
/// Cost      pixels around tiles travel while the inner ones are computed.
/// Deterministic  the same bits for every grid and any number of ranks, threads or processes.
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 4
std::vector<distributed::Image> gaussian_derivatives(const distributed::Image& image,
                                                     const distributed::Filter& filter);

/// The same into planes that the caller keeps: images that an earlier call made on the same grid
/// from as many features are written again, with all their copies; other images are replaced by new
/// ones. New memory takes as long as much of the filtering, so programs with many images keep it.
void gaussian_derivatives(const distributed::Image& image, const distributed::Filter& filter,
                          std::vector<distributed::Image>& planes);

} // namespace sextant
