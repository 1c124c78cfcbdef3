// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/comm/thread_team.hpp"
#include "sextant/core/element.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/units.hpp"
#include "sextant/filtering/window_program.hpp"
#include "sextant/kernel/filter/filter_bank.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::distributed {

/// A Gaussian filter and its outputs. Features have the names of kernel::find_feature.
struct Filter {
    kernel::Scales sigma = 1; ///< in pixels
    std::vector<std::string> features;
    kernel::BorderRule border;
    kernel::GaussianKernel kernel = {};
    kernel::Scales pixel =
        1; ///< size of a pixel in the unit of derivatives; 1 for derivatives per pixel
};

/// Returns the kernels of a filter.
kernel::FilterBank bank_of(const Filter& filter,
                           kernel::Dimensions dimensions = kernel::Dimensions::two);

/// A chain of filters. Each filter but the last has one feature, which is the input of the next
/// filter.
using Filters = std::vector<Filter>;

/// Rows of an image, or planes of a volume, that are filtered together, in tiles.
struct Window {
    ImageShape image;                       ///< shape of the whole image, or of each plane
    Elements first = 0, rows = 0;           ///< rows of the image, or planes of the volume
    filtering::Configuration configuration; ///< tiles, distribution and collection
    Elements depth = 0;                     ///< planes of the volume; 0 for an image

    bool is_volume() const { return depth > 0; }
    kernel::Dimensions dimensions() const {
        return is_volume() ? kernel::Dimensions::three : kernel::Dimensions::two;
    }
    bool operator==(const Window&) const = default;
};

/// Returns the pixels that a filter reads on each side of a result.
halo::Margin margin_of(const kernel::FilterBank& bank);

/// Returns the task of filtering a window; also used for models and drawings. `margins`: of each
/// filter.
filtering::WindowTask window_task(const Window& window, const Filters& filters,
                                  std::span<const halo::Margin> margins,
                                  const ElementFormat& element, bool collects, bool overlaps);

/// Numbers of infinite values and of NaNs.
struct NotFinite {
    Elements infinite = 0, nan = 0;

    void add(const float* values, Elements count);
    void add(const NotFinite& other);
};

/// Filters windows of an image or a volume on all ranks. Memory and program are reused while
/// windows have the same shape.
///
/// Every rank holds its tile with a margin, and its part of the results; if results are collected,
/// rank 0 holds all results of the window.
class WindowFilter {
  public:
    /// `team`: threads that share each part that this rank filters, in strips of rows or slabs of
    /// planes; null: the calling thread filters alone. Kept as a pointer.
    /// Throws InvalidTask unless kernel::FilterBank accepts the sigmas and features, samples are
    /// gray_f32, gray_u8 or gray_u16, and each filter but the last has one feature.
    WindowFilter(Communicator communicator, Filters filters, ElementFormat element, bool collects,
                 kernel::Dimensions dimensions = kernel::Dimensions::two, Team* team = nullptr);

    /// Called with each rectangle of the image (or of a plane of the volume) that a rank needs, and
    /// with the memory to fill.
    using Fill = std::function<void(const Tile& part, std::span<std::byte> to)>;

    /// Sets the next window. `planes`: memory for the results, `plane_elements()` floats for each
    /// feature of the last filter; if empty, this object's own memory is used.
    /// Throws    InvalidTask unless the configuration is for this number of ranks, the window is
    ///           within the image or volume, which has as many dimensions as the filters, all
    ///           planes together (of a volume: those of the window) have at most 2³⁴ pixels, and
    ///           `planes` is empty or has the required size.
    void prepare(const Window& window, std::span<float> planes = {});
    /// Calls `fill` for the pixels that this rank does not receive from others.
    void fill(const Fill& fill);
    /// True if this rank reads exactly its own tile. Then `bind` may replace `fill`.
    bool reads_own_tile() const;
    /// Filters the samples of the tile without copying them, until the next `prepare`. `planes`:
    /// unless empty, the memory for the results of the only rank, as for kernel::FilterBank; then
    /// plane() has no results.
    void bind(const kernel::SampleView& tile, std::vector<kernel::Plane> planes = {});
    /// Of the last run with bound planes: the samples and the results that are not finite.
    const NotFinite& bound_samples() const { return bound_samples_; }
    const NotFinite& bound_results() const { return bound_results_; }
    /// Filters the window. Collective. Throws the same exceptions as Execution::run.
    void run() { execution_->run(); }

    /// Returns the number of floats per plane on this rank, after `prepare`: if results are
    /// collected, all pixels of the window on rank 0; otherwise the pixels of this rank's tile.
    Elements plane_elements() const;
    /// Returns plane k of the last run, row by row.
    std::span<const float> plane(int k) const;

  private:
    void open_execution();
    void bind_planes(std::span<float> planes);
    int planes() const { return task_.filters.back().planes; }
    std::vector<Tile> given_parts() const;
    kernel::FilterBank& bank(std::size_t k, int member);
    void compute(std::size_t k, const Computation& computation);
    std::vector<kernel::Plane> outputs_of(std::size_t k, const Computation& computation,
                                          const Tile& part) const;
    kernel::SampleView view(std::size_t k, const Computation& computation, const Tile& part) const;
    void fill_plane(const Fill& fill, const Tile& held, const Tile& part);
    /// Converts from coordinates of a filter's grid to those of the image.
    Tile in_image(std::size_t k, Tile part) const;

    const Communicator communicator_;
    const Filters filters_;
    const ElementFormat element_;
    const bool collects_;
    const kernel::Dimensions dimensions_;
    Team* const team_;
    std::vector<std::vector<std::optional<kernel::FilterBank>>> banks_; // [filter][member]
    std::optional<kernel::SampleView> bound_tile_;
    std::vector<kernel::Plane> bound_planes_;
    NotFinite bound_samples_, bound_results_;
    Window window_;
    filtering::WindowTask task_;
    int image_buffer_ = -1, planes_buffer_ = -1;
    Memory image_, own_planes_;
    std::span<float> planes_;
    std::optional<Execution> execution_;
};

/// Filters a tiled image; see gaussian_derivatives.
void filter_tiles(const Image& image, const Filters& filters, std::vector<Image>& planes);

/// Divides a part among threads: in slabs of planes or, if there are few planes, in strips of rows.
/// Each thread gets several, so that all threads end at about the same time, but they are large
/// enough that the work on their borders is negligible.
std::vector<Tile> divided(const Tile& part, int threads, const kernel::FilterBank& bank);

} // namespace sextant::distributed

namespace sextant {

/// Computes Gaussian derivatives of a tiled image, and features computed from them: one image per
/// feature, in the same tiles.
///
/// Input     samples of gray_f32, gray_u8 or gray_u16; `filter`: sigma, the features ("x", "xy",
///           "gradient-magnitude"; see kernel::find_feature), the values beyond the border, and the
///           discrete weights of the Gaussian (default: those of scipy.ndimage).
/// Output    images of gray_f32, in the order of the features.
/// Requires  the same as kernel::FilterBank; otherwise every rank throws AgreedFailure.
/// Collective.
/// Cost      pixels around tiles are exchanged while inner pixels are computed.
/// Deterministic  the same bits for every grid and any number of ranks, threads or processes.
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 4
std::vector<distributed::Image> gaussian_derivatives(const distributed::Image& image,
                                                     const distributed::Filter& filter);

/// Computes features into `planes`. Planes from an earlier call with the same grid and number of
/// features are overwritten, and so are all their copies; other planes are replaced. Overwriting
/// avoids allocating new memory, which takes about as long as filtering.
void gaussian_derivatives(const distributed::Image& image, const distributed::Filter& filter,
                          std::vector<distributed::Image>& planes);

} // namespace sextant
