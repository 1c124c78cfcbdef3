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

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace sextant {

Record record_of(LabelOptions& options) {
    Record record;
    record.add("neighbours", options.neighbours,
               {{"4", kernel::Neighbours::four}, {"8", kernel::Neighbours::eight}}, "N",
               "pixel connectivity");
    record.add("by_value", options.by_value, "connect only pixels of equal value");
    record.add("measure", options.measure, "area, bounding box and centroid of each component");
    record.add_memory("memory", options.memory,
                      "memory limit for image and labels; larger images are streamed");
    record.add("grid", options.grid, "columns and rows of tiles; default: nearly square");
    return record.include(record_of(options.merging));
}

Record record_of(const LabelResult& result) {
    return {
        {"components", result.components, "number of components"},
        {"nan", result.nan, "samples that are NaN, and therefore background"},
        {"strips", result.strips, "strips of rows that were labelled one after another"},
        {"columns", result.grid.columns, "number of columns of tiles, in the image or in a strip"},
        {"rows", result.grid.rows, "rows of tiles"},
        {"plan", json_of(result.plan), "the pattern that merged the tiles, with the reason"},
        {"seconds",
         {{"read", result.read}, {"label", result.label}, {"write", result.write}},
         "on this rank"}};
}

namespace {

kernel::Connection connection_of(const LabelOptions& options) {
    return {options.neighbours,
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

/// Throws InvalidTask for an empty image and, if pixels are connected by value, for a colour image
/// in which different colours may have the same luminance.
void check_image(const RowSource& source, const LabelOptions& options) {
    const FrameHeader& header = source.header();
    if (header.shape.elements() == 0)
        throw InvalidData(fmt::format("{}: {}x{} pixels, expected positive numbers", source.path(),
                                      header.shape.width, header.shape.height));
    if (options.by_value && header.channels >= 3 && size_of(header.sample) > 2)
        throw InvalidTask(fmt::format(
            "by_value: {} has colours of {}, expected 8 or 16 bits per channel, or one channel",
            source.path(), name(header.sample)));
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

/// One rank's part in labelling one image.
class LabelRun {
  public:
    LabelRun(const Communicator& communicator, LabelOptions options, const RunControl& control)
        : communicator_(communicator),
          options_(std::move(options)),
          control_(control),
          connection_(connection_of(options_)),
          seams_(connection_) {
        require_same(communicator, options_);
    }

    LabelResult run(RowSource& source, const LabelSink& write);
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
    void write(const Strip& strip, const LabelSink& to);
    bool is_root() const { return communicator_.rank() == 0; }

    const Communicator& communicator_;
    LabelOptions options_;
    const RunControl& control_;
    const kernel::Connection connection_;
    kernel::StripSeams seams_;
    LabelResult result_; // its table holds the components of each strip until all are numbered
};

LabelResult LabelRun::run(RowSource& source, const LabelSink& to) {
    agree(communicator_, [&] {
        const ImageShape shape = source.shape();
        check_image(source, options_);
        const Elements rows = rows_of_strips(source, options_);
        result_.grid = grid_of(options_.grid, communicator_.size(), shape.width, rows);
        result_.strips = (shape.height + rows - 1) / rows;
    });
    const bool streams = result_.strips > 1;
    if (streams) {
        each_strip(source, "label", [&](const Strip& strip) { join(strip); });
        number();
    }
    each_strip(source, streams ? "write" : "label", [&](const Strip& strip) {
        if (!streams) {
            result_.components = strip.labelled.components;
            measure(strip.labelled, 0);
        }
        result_.nan += strip.labelled.nan;
        timed(result_.write, [&] { write(strip, to); });
    });
    add_up_nan();
    return std::move(result_);
}

LabelResult LabelRun::run(const distributed::Image& image) {
    agree(communicator_, [&] { control_.check(); });
    result_.grid = image.grid();
    const Labelled labelled = label(image);
    result_.components = labelled.components;
    measure(labelled, 0);
    result_.labels = labelled.labels;
    result_.nan = labelled.nan;
    add_up_nan();
    return std::move(result_);
}

void LabelRun::each_strip(RowSource& source, const char* part,
                          const std::function<void(const Strip&)>& take) {
    const Elements height = source.shape().height;
    for (Elements first = 0; first < height; first += result_.grid.height) {
        if (is_root())
            control_.report(part, first, height);
        take(read_and_label(source, first));
    }
}

LabelRun::Strip LabelRun::read_and_label(RowSource& source, Elements first) {
    Grid grid = result_.grid;
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
        component.first += first * result_.grid.width;
        component.box.y += first;
        component.sum_y += first * component.area;
        result_.table.push_back(component);
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
            result_.table.empty() ? 0 : static_cast<std::size_t>(components));
        auto part = result_.table.begin();
        for (Elements strip = 0; strip < result_.strips && !all.empty(); ++strip) {
            for (const kernel::Label number : seams_.numbers(static_cast<std::size_t>(strip)))
                all[static_cast<std::size_t>(number - 1)].add(*part++);
        }
        result_.table = std::move(all);
    });
    result_.components = communicator_.all_gather(components)[0];
}

/// Adds up the numbers of NaN samples of all ranks.
void LabelRun::add_up_nan() {
    const std::vector<Elements> of_ranks = communicator_.all_gather(result_.nan);
    result_.nan = std::accumulate(of_ranks.begin(), of_ranks.end(), Elements{0});
}

void LabelRun::write(const Strip& strip, const LabelSink& to) {
    Image whole = distributed::gather(strip.labelled.labels);
    agree(communicator_, [&] {
        if (!is_root())
            return;
        const auto labels = whole.pixels<kernel::Label>();
        if (result_.strips > 1) {
            const std::span<const kernel::Label> numbers =
                seams_.numbers(static_cast<std::size_t>(strip.first / result_.grid.height));
            std::transform(labels.begin(), labels.end(), labels.begin(),
                           [numbers](kernel::Label label) {
                               return label == 0 ? 0 : numbers[static_cast<std::size_t>(label - 1)];
                           });
        }
        to(strip.first, labels);
    });
}

} // namespace

Labelling::Labelling(Communicator communicator, LabelOptions options, RunControl control)
    : communicator_(scope_later(communicator, "Labelling")),
      options_(std::move(options)),
      control_(std::move(control)) {
    options_.merging.check();
}

void Labelling::fail(const std::string& text) const {
    sextant::fail(communicator_, text);
}

LabelResult Labelling::run(RowSource& image, const LabelSink& write) const {
    const CancellationScope cancellable(control_, communicator_.size());
    return LabelRun(communicator_, options_, control_).run(image, write);
}

LabelResult Labelling::run(const distributed::Image& image) const {
    const CancellationScope cancellable(control_, communicator_.size());
    return LabelRun(communicator_, options_, control_).run(image);
}

} // namespace sextant
