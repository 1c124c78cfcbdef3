// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/contour/tile_lists.hpp"
#include "sextant/contours/components.hpp"
#include "sextant/core/error.hpp"
#include "sextant/label/planes.hpp"
#include "sextant/label/run.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace sextant::label {

namespace {

/// Returns the expected length of a tile's border list: the number of border pixels times the
/// fraction of non-background pixels.
Elements entries_expected(const distributed::Image& image) {
    const Tile tile = image.tile();
    if (tile.elements() == 0)
        return 0;
    const Elements inside = std::visit(
        [&](const auto* first) -> Elements {
            return tile.elements() - std::count(first, first + tile.elements(), 0);
        },
        distributed::value_view(image).first);
    return 2 * (tile.width + tile.height) * inside / tile.elements();
}

/// Throws InvalidTask unless the memory of all ranks can hold each pixel's sample and label, copies
/// of the labels on rank 0, and the labeller's working memory.
void require_memory(const RowSource& source, const LabelOptions& options) {
    const ImageShape shape = source.shape();
    constexpr Bytes label = sizeof(kernel::Label), mebibyte = Bytes{1} << 20;
    const Bytes pixel = source.element().size + 2 * label + (options.by_value ? label : label / 2);
    const Bytes needed = shape.elements() * (pixel + 1);
    if (needed > options.memory)
        throw InvalidTask(fmt::format(
            "memory {:g} MiB is too small: {}x{} pixels and their labels take {} MiB in tiles; "
            "without a grid or pattern, larger images are labelled in strips",
            static_cast<double>(options.memory) / mebibyte, shape.width, shape.height,
            (needed + mebibyte - 1) / mebibyte));
}

} // namespace

LabelResult label_tiles(const Communicator& communicator, const LabelOptions& options,
                        const RunControl& control, const distributed::Image& image) {
    LabelResult result;
    agree(communicator, [&] { control.check(); });
    result.grid = image.grid();
    result.shape = {image.shape().height, 1, image.shape().width, true};
    result.slab_planes = result.shape.depth;
    result.plan = distributed::plan_merging(communicator, options.merging, image.grid(),
                                            entries_expected(image), sizeof(contour::BorderPixel));
    std::optional<Labelled> labelled;
    timed(result.label, [&] {
        labelled = label_components(image, connection_of(options), *result.plan.configuration,
                                    options.merging.timeline ? &result.merging : nullptr);
    });
    result.components = labelled->components;
    if (options.measure) {
        for (const kernel::RegionSize& component : gather_components(*labelled))
            result.table.push_back({component});
    }
    const std::vector<Elements> nan = communicator.all_gather(labelled->nan);
    result.nan = std::accumulate(nan.begin(), nan.end(), Elements{0});
    result.labels = std::move(labelled->labels);
    return result;
}

LabelResult label_in_tiles(const Communicator& communicator, const LabelOptions& options,
                           const RunControl& control, RowSource& source, LabelSink& sink) {
    const bool is_root = communicator.rank() == 0;
    std::optional<distributed::Image> image;
    Seconds read = 0;
    agree(communicator, [&] {
        const ImageShape shape = source.shape();
        ImageRows(source, options.by_value); // checks the image
        require_memory(source, options);
        const Grid grid = grid_of(options.grid, communicator.size(), shape.width, shape.height);
        if (is_root)
            control.report("label", 0, shape.height);
        control.check();
        timed(read, [&] { image = distributed::read_tiles(communicator, grid, source, 0); });
    });
    LabelResult result = label_tiles(communicator, options, control, *image);
    result.read = read;
    agree(communicator, [&] {
        if (is_root && options.measure)
            sink.rows(1, std::exchange(result.table, {}));
    });
    const distributed::Image labels = *std::exchange(result.labels, std::nullopt);
    sink.begin(result, 0, result.shape.depth);
    timed(result.write, [&] {
        const Image whole = distributed::gather(labels);
        agree(communicator, [&] {
            if (!is_root)
                return;
            const auto pixels = whole.pixels<kernel::Label>();
            sink.planes(
                0, std::span(reinterpret_cast<const std::uint32_t*>(pixels.data()), pixels.size()));
        });
    });
    return result;
}

} // namespace sextant::label
