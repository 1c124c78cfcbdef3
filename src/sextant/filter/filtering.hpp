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
    ImageShape image;                  ///< shape of the image, or of each plane of a volume
    Elements depth = 0;                ///< planes of a volume; 0 for an image
    ElementFormat element;             ///< format of the samples as they are stored
    distributed::FilterPlan plan = {}; ///< only rank 0 has alternatives and predictions
    /// the use of shared memory between processes of a node, and the reason
    NodeSharingChoice sharing = {};
    int windows = 0;           ///< number of windows; 1 if the image fits in memory
    Elements not_a_number = 0; ///< number of NaN samples
    std::vector<distributed::Image> planes = {}; ///< one per derivative; only for a tiled image
    Seconds read = 0, filter = 0, write = 0;     ///< times on this rank
    std::vector<std::string> warnings = {};      ///< warnings for the user, on rank 0
    /// Number of samples that differ from the offset (usually 0) but are so close to it that they
    /// become equal as 32-bit floats. If there are any, the last warning states the number.
    alignas(8) Elements vanished = 0;
    /// Number of results that are infinite or, if no sample is NaN, NaN. They occur if products of
    /// large samples exceed the range of 32-bit floats.
    alignas(8) Elements overflowed = 0;
};

/// Returns remarks on the number of NaN samples in the image at `path`, and on the number of
/// overflowed results. Filtering::run() adds them to its warnings.
std::vector<std::string> remarks_on_values(const FilterResult& result, const std::string& path);

/// Returns a record of the result without the planes and the warnings.
Record record_of(const FilterResult& result);

/// All samples of an image or volume in memory, and memory for all results, as kernel::FilterBank
/// takes them.
struct FilterMemory {
    kernel::SampleView samples;
    std::vector<kernel::Plane> planes;
};

/// Receives whole rows of a derivative's plane, starting at row `first`; for a volume, whole
/// planes, starting at plane `first`.
using FilterSink = std::function<void(int derivative, Elements first, std::span<const float> rows)>;

/// Computes Gaussian derivatives of an image, and features computed from them, in tiles, one per
/// rank. Ranks, tiles and collectives are chosen by prediction (filter/filter_plan.hpp). An image
/// that exceeds the memory is processed in windows of rows. A volume is processed in boxes and
/// windows of planes.
///
/// Input     an image or volume that rank 0 can read, or a tiled image. If every rank can read the
///           image, each from its own source, ranks may read their own tiles.
/// Output    one plane of floats for each derivative; a derivative of order n has the unit of the
///           samples divided by pixelⁿ, or by the n-th power of FilterOptions::unit. Rank 0 passes
///           all rows to `write`, window by window and, within a window, derivative by derivative.
/// Throws    the constructor: InvalidTask for invalid filters, or a number of tiles that differs
///           from the number of ranks. On every rank AgreedFailure if options or images differ
///           between ranks, if the memory cannot hold a row, if the plan does not suit the ranks or
///           the filters, or if a rank cannot read or write; Cancelled. No output remains except
///           the rows passed to `write`.
/// Collective.
/// Cost      a plan, which may probe the machine (FilterOptions::probing); then each window's image
///           is read once, and its borders are exchanged while inner pixels are computed. A border
///           that wraps around is read as a margin, whose rows and columns are filtered too.
/// Deterministic  the same bits for every plan, memory, number of ranks and processor.
class Filtering {
  public:
    /// Not collective. `dimensions`: the number of dimensions of the images or volumes to filter.
    explicit Filtering(Communicator communicator, FilterOptions options = {},
                       RunControl control = {},
                       kernel::Dimensions dimensions = kernel::Dimensions::two);
    /// The same for filters that are known: those of filters_of(options, dimensions).
    Filtering(Communicator communicator, FilterOptions options, distributed::Filters filters,
              RunControl control, kernel::Dimensions dimensions);

    /// `image`: may be null on ranks other than 0 that cannot read the image. A volume is a
    /// RowSource of all frames. `memory`: unless null, the samples of `image` as stored, and memory
    /// for the results: both are used without copies, instead of `image` and `write`, if there is
    /// one rank and no plan, samples have no offset, scale or border that wraps around, and
    /// intermediate results of several filters fit in FilterOptions::memory.
    FilterResult run(RowSource* image, const FilterSink& write,
                     const FilterMemory* memory = nullptr);
    /// Filters a tiled image on this communicator; the planes have the same tiles. Options that
    /// concern the plan have no effect.
    /// Requires  a border other than wrap on several ranks.
    FilterResult run(const distributed::Image& image) const;

    /// Ends the use of this object on all ranks. Ranks that wait for this rank in run(), or call
    /// run() later, throw PeerFailed with this rank and `text`. An exception that destroys the
    /// object after its first run has the same effect. Not collective.
    void fail(const std::string& text) const;

    /// Returns the offset to add to each derivative's values if the image is read with an offset
    /// subtracted (RowSource::offset): this offset for smoothed images, otherwise 0.
    std::vector<double> offsets(double offset) const;
    /// Returns the factor for each derivative's values if the image is read divided by a scale
    /// (RowSource::scale): this scale, or its square for eigenvalues of the structure tensor.
    /// Multiply the values by this factor before adding the offset.
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
