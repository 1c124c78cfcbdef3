// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/label/tiled_labelling.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/contour/tile_lists.hpp"
#include "sextant/core/cancellation.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/invalid_data.hpp"
#include "sextant/distributed/components.hpp"
#include "sextant/kernel/label/strip_seams.hpp"
#include "sextant/label/planes.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace sextant::label {

namespace {

kernel::Connection connection_of(const LabelOptions& options) {
    return {*options.neighbours,
            options.by_value ? kernel::Sameness::value : kernel::Sameness::foreground};
}

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

/// Returns the memory of all ranks per pixel of a strip, in whole bytes: its sample and label,
/// copies of both on rank 0 if they are gathered, and the working memory of the labeller.
Bytes bytes_of_pixel(const ElementFormat& element, bool by_value) {
    const Bytes label = sizeof(kernel::Label);
    return element.size * (by_value ? 2 : 1) + 2 * label + (by_value ? label : label / 2) + 1;
}

/// Returns the number of rows per strip that fit in memory.
Elements rows_of_strips(const RowSource& source, const LabelOptions& options) {
    const ImageShape shape = source.shape();
    const Bytes row = shape.width * bytes_of_pixel(source.element(), options.by_value);
    const Elements rows = options.memory / row;
    constexpr Bytes mebibyte = Bytes{1} << 20;
    if (rows < 1)
        throw InvalidTask(fmt::format(
            "memory {:g} MiB is too small: a row of {} pixels and its labels takes {} MiB",
            static_cast<double>(options.memory) / mebibyte, shape.width, row / mebibyte + 1));
    return std::min(rows, shape.height);
}

/// Returns a row of samples as value codes.
std::vector<std::uint64_t> row_of(const Image& image, Elements y) {
    std::vector<std::uint64_t> row;
    std::visit(
        [&](const auto* first) {
            const auto* const begin = first + y * image.shape().width;
            std::transform(begin, begin + image.shape().width, std::back_inserter(row),
                           [](auto value) { return kernel::value_code(value); });
        },
        distributed::values_of(image.element(), image.bytes().data()).first);
    return row;
}

/// What is measured in tiles.
kernel::Body body_of(const kernel::Component& component) {
    kernel::Body body;
    body.first = component.first;
    body.voxels = component.area;
    body.low = {0, component.box.y, component.box.x};
    body.high = {0, component.box.y + component.box.height - 1,
                 component.box.x + component.box.width - 1};
    body.sums = {0, component.sum_y, component.sum_x};
    return body;
}

/// One rank's part in labelling one image.
class LabelRun {
  public:
    LabelRun(const Communicator& communicator, LabelOptions options, const RunControl& control)
        : communicator_(communicator),
          options_(std::move(options)),
          control_(control),
          connection_(connection_of(options_)),
          seams_(connection_) {}

    LabelResult run(RowSource& source, LabelSink& sink);
    LabelResult run(const distributed::Image& image);

  private:
    struct Strip {
        Elements first; ///< first row of the strip in the image
        distributed::Image image;
        Labelled labelled;
    };
    Strip read_and_label(RowSource& source, Elements first);
    void each_strip(RowSource& source, const char* part,
                    const std::function<void(const Strip&)>& take);
    Labelled label(const distributed::Image& image);
    void join(const Strip& strip);
    void measure(const Labelled& labelled, Elements first);
    void number();
    void add_up_nan();
    void write(const Strip& strip, LabelSink& to);
    void begin(LabelSink& sink);
    bool is_root() const { return communicator_.rank() == 0; }

    const Communicator& communicator_;
    LabelOptions options_;
    const RunControl& control_;
    const kernel::Connection connection_;
    kernel::StripSeams seams_;
    LabelResult result_;
    std::vector<kernel::Component> components_; // of each strip, until all are numbered
};

LabelResult LabelRun::run(RowSource& source, LabelSink& to) {
    agree(communicator_, [&] {
        const ImageShape shape = source.shape();
        ImageRows(source, options_.by_value); // checks the image
        const Elements rows = rows_of_strips(source, options_);
        result_.shape = {shape.height, 1, shape.width, true};
        result_.grid = grid_of(options_.grid, communicator_.size(), shape.width, rows);
        result_.slab_planes = rows;
        result_.slabs = (shape.height + rows - 1) / rows;
    });
    const bool streams = result_.slabs > 1;
    if (streams) {
        each_strip(source, "label", [&](const Strip& strip) {
            join(strip);
            result_.nan += strip.labelled.nan;
        });
        number();
        add_up_nan();
        begin(to);
    }
    each_strip(source, streams ? "write" : "label", [&](const Strip& strip) {
        if (!streams) {
            result_.components = strip.labelled.components;
            measure(strip.labelled, 0);
            result_.nan = strip.labelled.nan;
            add_up_nan();
            begin(to);
        }
        timed(result_.write, [&] { write(strip, to); });
    });
    return std::move(result_);
}

/// Passes measures to the sink, and prepares it for labels.
void LabelRun::begin(LabelSink& sink) {
    agree(communicator_, [&] {
        if (is_root() && options_.measure) {
            std::vector<kernel::Body> bodies;
            bodies.reserve(components_.size());
            for (const kernel::Component& component : std::exchange(components_, {}))
                bodies.push_back(body_of(component));
            sink.rows(1, bodies);
        }
    });
    sink.begin(result_, 0, result_.shape.depth);
}

LabelResult LabelRun::run(const distributed::Image& image) {
    agree(communicator_, [&] { control_.check(); });
    result_.grid = image.grid();
    result_.shape = {image.shape().height, 1, image.shape().width, true};
    const Labelled labelled = label(image);
    result_.components = labelled.components;
    measure(labelled, 0);
    result_.nan = labelled.nan;
    for (const kernel::Component& component : components_)
        result_.table.push_back(body_of(component));
    result_.labels = labelled.labels;
    add_up_nan();
    return std::move(result_);
}

void LabelRun::each_strip(RowSource& source, const char* part,
                          const std::function<void(const Strip&)>& take) {
    const Elements height = source.shape().height;
    for (Elements first = 0; first < height; first += result_.slab_planes) {
        if (is_root())
            control_.report(part, first, height);
        take(read_and_label(source, first));
    }
}

LabelRun::Strip LabelRun::read_and_label(RowSource& source, Elements first) {
    Grid grid = *result_.grid;
    grid.height = std::min(grid.height, source.shape().height - first);
    std::optional<distributed::Image> image;
    timed(result_.read, [&] {
        agree(communicator_, [&] {
            control_.check();
            image = distributed::read_tiles(communicator_, grid, source, first);
        });
    });
    return {first, *image, label(*image)};
}

/// Labels a strip. For the first strip, also plans the merging and records it if requested.
Labelled LabelRun::label(const distributed::Image& image) {
    const bool is_first = !result_.plan.configuration;
    if (is_first)
        result_.plan =
            distributed::plan_merging(communicator_, options_.merging, image.grid(),
                                      entries_expected(image), sizeof(contour::BorderPixel));
    MergingTrace* const record = is_first && options_.merging.timeline ? &result_.merging : nullptr;
    std::optional<Labelled> labelled;
    timed(result_.label, [&] {
        labelled = label_components(image, connection_, *result_.plan.configuration, record);
    });
    return std::move(*labelled);
}

/// Joins components that touch across the seam with the strip above.
void LabelRun::join(const Strip& strip) {
    const Image labels = distributed::gather(strip.labelled.labels);
    const Image samples = options_.by_value ? distributed::gather(strip.image) : Image();
    measure(strip.labelled, strip.first);
    agree(communicator_, [&] {
        if (!is_root())
            return;
        const auto width = static_cast<std::size_t>(labels.shape().width);
        const auto all = labels.pixels<kernel::Label>();
        std::vector<std::uint64_t> top, bottom;
        if (options_.by_value) {
            top = row_of(samples, 0);
            bottom = row_of(samples, samples.shape().height - 1);
        }
        seams_.add(static_cast<kernel::Label>(strip.labelled.components), {all.first(width), top},
                   {all.last(width), bottom});
    });
}

/// Adds the components of a strip that begins at row `first` to the table.
void LabelRun::measure(const Labelled& labelled, Elements first) {
    if (!options_.measure)
        return;
    for (kernel::Component component : gather_components(labelled)) {
        component.first += first * result_.shape.width;
        component.box.y += first;
        component.sum_y += first * component.area;
        components_.push_back(component);
    }
}

/// Numbers the components of the image and adds up their parts in the strips.
void LabelRun::number() {
    Elements components = 0;
    agree(communicator_, [&] {
        if (!is_root())
            return;
        components = seams_.finish();
        std::vector<kernel::Component> all(
            components_.empty() ? 0 : static_cast<std::size_t>(components));
        auto part = components_.begin();
        for (Elements strip = 0; strip < result_.slabs && !all.empty(); ++strip) {
            for (const kernel::Label number : seams_.numbers(static_cast<std::size_t>(strip)))
                all[static_cast<std::size_t>(number - 1)].add(*part++);
        }
        components_ = std::move(all);
    });
    result_.components = communicator_.all_gather(components)[0];
}

/// Adds up the numbers of NaN samples of all ranks.
void LabelRun::add_up_nan() {
    const std::vector<Elements> of_ranks = communicator_.all_gather(result_.nan);
    result_.nan = std::accumulate(of_ranks.begin(), of_ranks.end(), Elements{0});
}

void LabelRun::write(const Strip& strip, LabelSink& to) {
    Image whole = distributed::gather(strip.labelled.labels);
    agree(communicator_, [&] {
        if (!is_root())
            return;
        const auto labels = whole.pixels<kernel::Label>();
        if (result_.slabs > 1) {
            const std::span<const kernel::Label> numbers =
                seams_.numbers(static_cast<std::size_t>(strip.first / result_.slab_planes));
            std::transform(labels.begin(), labels.end(), labels.begin(),
                           [numbers](kernel::Label label) {
                               return label == 0 ? 0 : numbers[static_cast<std::size_t>(label - 1)];
                           });
        }
        to.planes(strip.first,
                  std::span(reinterpret_cast<const std::uint32_t*>(labels.data()), labels.size()));
    });
}

} // namespace

LabelResult label_in_tiles(const Communicator& communicator, const LabelOptions& options,
                           const RunControl& control, RowSource& image, LabelSink& sink) {
    return LabelRun(communicator, options, control).run(image, sink);
}

LabelResult label_tiles(const Communicator& communicator, const LabelOptions& options,
                        const RunControl& control, const distributed::Image& image) {
    return LabelRun(communicator, options, control).run(image);
}

} // namespace sextant::label
