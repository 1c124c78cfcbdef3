// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/row_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/node_sharing.hpp"
#include "sextant/core/record.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/filter/filter_options.hpp"
#include "sextant/filter/filter_plan.hpp"
#include "sextant/filter/window_filter.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// The result of filtering an image. The same on every rank unless stated otherwise.
struct FilterResult {
    ImageShape image;                  ///< of a volume: the shape of each plane
    Elements depth = 0;                ///< planes of a volume; 0: an image
    ElementFormat element;             ///< format of the samples as they are stored
    distributed::FilterPlan plan = {}; ///< only rank 0 has alternatives and predictions
    /// whether processes of a node shared memory, and the reason
    NodeSharingChoice sharing = {};
    int windows = 0;           ///< number of windows; 1 if the image fits in memory
    Elements not_a_number = 0; ///< number of NaN samples
    std::vector<distributed::Image> planes = {}; ///< one per derivative; only for an image in tiles
    Seconds read = 0, filter = 0, write = 0;     ///< times on this rank
    std::vector<std::string> warnings = {};      ///< warnings for the user, on rank 0
    /// Number of samples other than the offset, usually 0, that are too near to it for 32-bit
    /// floats and count as equal. If there are any, the last warning states it.
    alignas(8) Elements vanished = 0;
    /// Number of results that are infinite, or, if no sample is NaN, NaN: products of large samples
    /// exceed the range of 32-bit floats.
    alignas(8) Elements overflowed = 0;
};

/// Says how many samples of the image at `path` are NaN, and how many results overflowed. They are
/// among the warnings of Filtering::run().
std::vector<std::string> remarks_on_values(const FilterResult& result, const std::string& path);

/// Returns a record of the result without the planes and the warnings.
Record record_of(const FilterResult& result);

/// Receives whole rows of a derivative's plane, starting at row `first`; of a volume, whole planes,
/// starting at plane `first`.
using FilterSink = std::function<void(int derivative, Elements first, std::span<const float> rows)>;

/// Computes Gaussian derivatives of an image, and features made of them, in tiles, one per rank.
/// Ranks, tiles and collectives are chosen by prediction (filter/filter_plan.hpp). An image
/// that exceeds the memory is processed in windows of rows. Likewise for a volume, in boxes and
/// windows of planes.
///
/// Input     an image or volume that rank 0 can read. If every rank can, each from a source of its
/// own, ranks
///           may read their own tiles. Or an image in tiles.
/// Output    one plane of floats for each derivative; a derivative of order n has the unit of the
///           samples divided by pixelⁿ, or by the n-th power of FilterOptions::unit. Rank 0 passes
///           all rows to `write`, window by window and, within a window, derivative by derivative.
/// Throws    InvalidTask for filters that are not valid, or a number of tiles other than that of
///           ranks (constructor). On every rank AgreedFailure, if options or images differ between
///           ranks, if the memory cannot hold a row, if the plan does not suit the ranks or the
///           filters, and if a rank cannot read or write; Cancelled. No output remains except the
///           rows passed to `write`.
/// Collective.
/// Cost      a plan, which may probe the machine (FilterOptions::probing); then each window's image
///           is read once, and its borders are exchanged while inner pixels are computed.
///           A border that wraps around is read as a margin, whose rows and columns are filtered
///           too.
/// Deterministic  the same bits for every plan, memory, number of ranks and processor.
class Filtering {
  public:
    /// The constructor is not collective. `dimensions`: those of the images or volumes to filter.
    explicit Filtering(Communicator communicator, FilterOptions options = {},
                       RunControl control = {},
                       kernel::Dimensions dimensions = kernel::Dimensions::two);

    /// `image`: null on ranks other than 0 that cannot read it. A volume is a RowSource of all
    /// frames.
    FilterResult run(RowSource* image, const FilterSink& write);
    /// Filters an image in tiles on this communicator, whose planes stay in the same tiles. Options
    /// that concern the plan have no effect.
    /// Requires  a border other than wrap on several ranks.
    FilterResult run(const distributed::Image& image) const;

    /// Ends the use of this object on all ranks: ranks that wait for this one in run(), or call it
    /// later, throw PeerFailed with this rank and `text`. An exception that destroys the object
    /// after its first run has the same effect. Not collective.
    void fail(const std::string& text) const;

    /// Returns the offset to add to the values of each derivative if the image is read with an
    /// offset subtracted (RowSource::offset): this offset for smoothed images, otherwise 0.
    std::vector<double> offsets(double offset) const;
    /// Returns the factor of the values of each derivative if the image is read divided by a scale
    /// (RowSource::scale), by which they are multiplied before the offset is added: this scale, or
    /// its square for eigenvalues of the structure tensor.
    std::vector<double> scales(double scale) const;

  private:
    Communicator communicator_;
    FilterOptions options_;
    kernel::Dimensions dimensions_;
    distributed::Filters filters_;
    RunControl control_;
    std::optional<OfferedSharing> sharing_; // set up by the first run
};

} // namespace sextant
