// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/label/label.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/label/run.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace sextant {

namespace {

constexpr Named<kernel::Neighbours> neighbours_names[] = {{"4", kernel::Neighbours::four},
                                                          {"8", kernel::Neighbours::eight},
                                                          {"6", kernel::Neighbours::six},
                                                          {"18", kernel::Neighbours::eighteen},
                                                          {"26", kernel::Neighbours::twenty_six}};

kernel::Neighbours neighbours_in(const LabelOptions& options, bool is_image) {
    return options.neighbours.value_or(is_image ? kernel::Neighbours::eight
                                                : kernel::Neighbours::twenty_six);
}

void add_neighbours(Record& record, std::optional<kernel::Neighbours>& neighbours) {
    Codec codec;
    codec.text = [&neighbours]() -> std::string {
        for (const auto& each : neighbours_names) {
            if (neighbours == each.value)
                return std::string(each.name);
        }
        return "";
    };
    codec.set = [&neighbours](const Field&, std::string_view text) -> std::string {
        for (const auto& each : neighbours_names) {
            if (text == each.name) {
                neighbours = each.value;
                return "";
            }
        }
        return "4 or 8 for images, or 6, 18 or 26 for volumes";
    };
    Field& field = record.add("neighbours", std::move(codec), "N",
                              "connectivity; default: 8 in images, 26 in volumes");
    for (const auto& each : neighbours_names)
        field.choices.push_back(each.name);
}

} // namespace

int neighbours_of(const LabelOptions& options, bool is_image) {
    const kernel::Neighbours neighbours = neighbours_in(options, is_image);
    const auto* const named =
        std::ranges::find(neighbours_names, neighbours, &Named<kernel::Neighbours>::value);
    return std::stoi(std::string(named->name));
}

Record record_of(LabelOptions& options) {
    Record record;
    add_neighbours(record, options.neighbours);
    record.add("by_value", options.by_value, "connect only samples of equal value");
    record.add("measure", options.measure, "measure each component");
    record.add(
        "columns", options.columns,
        {{"auto", LabelColumns::usual}, {"sizes", LabelColumns::sizes}, {"all", LabelColumns::all}},
        "WHICH", "table columns; auto: sizes in images, else all");
    record.add("fill_holes", options.fill_holes,
               "first fill holes: background enclosed by a component");
    record
        .add("min_size", options.min_size, "N",
             "turn components with fewer samples into background")
        .between(0, 1e15);
    record
        .add("keep_largest", options.keep_largest, "N",
             "keep only this many of the largest components; 0: all")
        .between(0, 1e15);
    record.add_memory("memory", options.memory,
                      "memory limit for samples and labels; larger inputs are streamed");
    record.add("threads", options.threads, "N", "threads per rank").between(1, 4096).by_rank();
    record.add("grid", options.grid,
               "label an image in tiles, one per rank: columns x rows of tiles");
    record.include(record_of(options.merging));
    return record;
}

Effects effects_of(const LabelOptions& options) {
    const auto in_tiles = [&] { return options.in_tiles(); };
    const auto in_slabs = [&] { return !options.in_tiles(); };
    Effects effects = {
        {{"machine", "probe"}, "merging is planned only for tiles: expected {grid}", in_tiles},
        {{"columns"},
         "tables of images in tiles list only sizes: omit {grid} and {pattern}",
         in_slabs},
        {{"fill_holes", "min_size", "keep_largest"},
         "not supported for tiles: omit {grid} and {pattern}",
         in_slabs},
        {{"grid", "pattern", "machine", "probe"},
         "whose planes are divided among ranks",
         nullptr,
         "an image"}};
    for (Effect& effect : effects_of(options.merging))
        effects.push_back(std::move(effect));
    return effects;
}

void LabelSink::sizes(ComponentNumber first, std::span<const kernel::RegionSize> sizes) {
    constexpr std::size_t at_once = 4096;
    std::vector<kernel::Body> bodies;
    for (std::size_t i = 0; i < sizes.size(); i += at_once) {
        bodies.clear();
        for (const kernel::RegionSize& size : sizes.subspan(i, std::min(at_once, sizes.size() - i)))
            bodies.push_back({size});
        rows(first + i, bodies);
    }
}

Record record_in_slabs(LabelOptions& options) {
    Record record = record_of(options);
    record.without("grid");
    for (const Field& field : record_of(options.merging).fields)
        record.without(field.name);
    return record;
}

Record record_in_measure(LabelOptions& options) {
    Record record, all = record_of(options);
    all["memory"].meaning = "memory limit for samples; larger volumes are read in slabs";
    for (const char* const name : {"columns", "memory"})
        record.fields.push_back(std::move(all[name]));
    return record;
}

Record record_of(const LabelResult& result) {
    const bool is_image = result.shape.of_rows;
    Record record = {{"components", result.components},
                     {"label_bits", result.label_bits},
                     {"holes", result.holes},
                     {"removed", result.removed}};
    if (is_image)
        record.include({{"strips", result.slabs}, {"strip_rows", result.slab_planes}});
    else
        record.include({{"slabs", result.slabs}, {"slab_planes", result.slab_planes}});
    if (result.grid)
        record.include({{"columns", result.grid->columns},
                        {"rows", result.grid->rows},
                        {"plan", json_of(result.plan)}});
    else
        record.include({{"kept", result.kept},
                        {"reason", result.reason},
                        {"resumed", result.resumed},
                        {"bytes_sent", result.sent}});
    record.include(
        {{"nan", result.nan},
         {"seconds", {{"read", result.read}, {"label", result.label}, {"write", result.write}}}});
    if (!result.grid)
        record.include(
            {{"predicted", {{"read", result.predicted_read}, {"label", result.predicted_label}}}});
    return record;
}

Sample LabelInput::sample() const {
    if (auto* const* image = std::get_if<RowSource*>(&source_))
        return (*image)->stored();
    if (auto* const* frames = std::get_if<FrameSource*>(&source_))
        return (*frames)->header().sample;
    return stored_;
}

std::string LabelInput::path() const {
    if (auto* const* image = std::get_if<RowSource*>(&source_))
        return (*image)->path();
    if (auto* const* frames = std::get_if<FrameSource*>(&source_))
        return (*frames)->path();
    return "array";
}

RowSource* LabelInput::rows() const {
    auto* const* image = std::get_if<RowSource*>(&source_);
    return image ? *image : nullptr;
}

namespace {

using label::ArrayPlanes;
using label::Checkpoint;
using label::Components;
using label::FramePlanes;
using label::ImageRows;
using label::LabelRun;
using label::PlaneRange;
using label::Planes;
using label::Slabs;

std::string shape_of(const kernel::VolumeShape& shape) {
    return fmt::format("{}x{}x{}", shape.depth, shape.height, shape.width);
}

/// The connection of the samples of an image, in a volume whose planes are its rows.
kernel::Connection of_rows(kernel::Connection connection) {
    using kernel::Neighbours;
    connection.neighbours =
        connection.neighbours == Neighbours::four ? Neighbours::six : Neighbours::twenty_six;
    return connection;
}

kernel::Connection dual(kernel::Connection connection) {
    using kernel::Neighbours;
    connection.neighbours =
        connection.neighbours == Neighbours::six ? Neighbours::twenty_six : Neighbours::six;
    return connection;
}

Slabs::Options slab_options(const Communicator& communicator, const LabelOptions& options,
                            const kernel::Connection& connection, const PlaneRange& planes) {
    return {connection,          planes.begin,    planes.end, options.memory,
            communicator.size(), options.threads, 0,          options.fill_holes ? 2 : 1};
}

/// Opens this rank's checkpoint of a stage, if a folder is given and some rank has several slabs.
/// Collective.
Checkpoint checkpoint_of(const Communicator& communicator, const LabelOptions& options,
                         const Slabs& slabs, std::string_view stage) {
    const std::vector<Elements> slabs_of = communicator.all_gather(slabs.slabs());
    if (options.checkpoint.empty() || *std::ranges::max_element(slabs_of) < 2)
        return {};
    agree(communicator, [&] {
        std::error_code failed;
        if (communicator.rank() == 0)
            std::filesystem::create_directory(options.checkpoint, failed);
        if (failed)
            throw InvalidFile(options.checkpoint, "cannot be created: " + failed.message());
    });
    std::optional<Checkpoint> checkpoint;
    agree(communicator, [&] {
        LabelOptions listed = options;
        const std::string identity = fmt::format(
            "sextant: {}\n{}volume: {}\n{}ranks: {}\nslabs: {} of {} planes in {} parts\n",
            version(), options.identity, shape_of(slabs.shape()),
            record_in_slabs(listed).without("memory").settings(), communicator.size(),
            slabs.slabs(), slabs.slab_planes(), slabs.parts_of_slab());
        checkpoint.emplace(fmt::format("{}/{}.{}", options.checkpoint, stage, communicator.rank()),
                           identity);
    });
    return std::move(*checkpoint);
}

/// A volume with filled holes. Its planes are read in the same slabs in which the background was
/// labelled.
class FilledPlanes final : public label::BitPlanes {
  public:
    /// Collective.
    FilledPlanes(const Communicator& communicator, const LabelOptions& options,
                 const RunControl& control, Planes& volume, const kernel::Connection& connection,
                 const PlaneRange& range)
        : BitPlanes(volume.shape()),
          background_(volume),
          slabs_(background_, nullptr,
                 slab_options(communicator, options, dual(connection), range)),
          checkpoint_(checkpoint_of(communicator, options, slabs_, "holes")),
          components_(communicator, slabs_, {.extents = true}, checkpoint_) {
        components_.find(control);
        Elements holes = 0;
        for (const Components::Part& part : components_.parts())
            holes += part.enclosed;
        for (const Components::Set& set : components_.sets())
            holes += set.leads && set.extent.at_border == 0 ? 1 : 0;
        for (const Elements of_rank : communicator.all_gather(holes))
            holes_ += of_rank;
    }

    Elements holes() const { return holes_; }
    const Components& components() const { return components_; }
    Elements slab_planes() const { return slabs_.slab_planes(); }
    Bytes bytes_per_voxel() const override { return background_.bytes_per_voxel() + 1; }

    Elements read(Elements first, Elements count) override {
        const std::span<std::uint8_t> to = room(count);
        std::ranges::fill(to, std::uint8_t{1});
        const Elements slab = (first - slabs_.first_of(0)) / slabs_.slab_planes();
        Seconds reading = 0, labelling = 0; // not used: the caller measures the time of reading
        slabs_.find_again(slab, reading, labelling);
        slabs_.each_part([&](std::size_t index, const Slabs::Part& part) {
            clear_outside(slab * static_cast<Elements>(slabs_.parts_of_slab()) +
                              static_cast<Elements>(index),
                          part, first, to);
        });
        return 0;
    }

  private:
    /// Sets the background of a part to 0, except holes.
    void clear_outside(Elements number, const Slabs::Part& part, Elements first,
                       std::span<std::uint8_t> to) const {
        std::vector<kernel::Extent> extents = slabs_.extents_of(part);
        const std::span<const kernel::Label> edges = components_.edges(number);
        for (std::size_t edge = 0; edge < edges.size(); ++edge) {
            const Elements set = components_.set_of(number, static_cast<Elements>(edge));
            extents[edges[edge] - 1] = components_.sets()[static_cast<std::size_t>(set)].extent;
        }
        const Elements first_row = (part.first - first) * shape().height;
        for (Elements row = 0; row < part.planes * shape().height; ++row)
            kernel::each_run(part.runs_of(row), shape().width,
                             [&](Elements begin, Elements end, kernel::Label label) {
                                 if (extents[label - 1].at_border == 0)
                                     return;
                                 const auto at = to.begin() + (first_row + row) * shape().width;
                                 std::fill(at + begin, at + end, std::uint8_t{0});
                             });
    }

    label::BackgroundPlanes background_;
    Slabs slabs_;
    Checkpoint checkpoint_;
    Components components_;
    Elements holes_ = 0;
};

std::unique_ptr<Planes> open(const LabelInput& input, FramePlanes::Use use, bool by_value) {
    if (RowSource* const image = input.rows())
        return std::make_unique<ImageRows>(*image, by_value);
    if (auto* const* frames = std::get_if<FrameSource*>(&input.source()))
        return std::make_unique<FramePlanes>(**frames, use, input.frame());
    return std::make_unique<ArrayPlanes>(*std::get<const kernel::ValueView*>(input.source()),
                                         input.is_image());
}

/// An opened image or volume and, if given, intensities of the same shape.
struct Opened {
    Opened(const LabelInput& input, const LabelInput* measured, bool by_value)
        : samples(open(input, FramePlanes::Use::comparison, by_value)) {
        if (!measured)
            return;
        intensity = open(*measured, FramePlanes::Use::computation, false);
        const kernel::VolumeShape &own = samples->shape(), &other = intensity->shape();
        if (!(own == other))
            throw InvalidData(
                own.of_rows
                    ? fmt::format("{} has {}x{} pixels, expected {}x{}, as {}", measured->path(),
                                  other.width, other.depth, own.width, own.depth, input.path())
                    : fmt::format("{} has {} voxels, expected {}, as {}", measured->path(),
                                  shape_of(other), shape_of(own), input.path()));
    }

    std::unique_ptr<Planes> samples, intensity;
};

/// Passes rows of 32-bit labels to a function, and collects measures.
class RowsTo final : public LabelSink {
  public:
    explicit RowsTo(const LabelRows& write) : write_(write) {}

    void rows(ComponentNumber, std::span<const kernel::Body> bodies) override {
        table_.insert(table_.end(), bodies.begin(), bodies.end());
    }
    Elements begin(const LabelResult&, Elements, Elements) override { return 0; }
    void planes(Elements plane, const LabelPlanes& labels) override {
        const auto* const narrow = std::get_if<std::span<const std::uint32_t>>(&labels);
        if (!narrow)
            throw InvalidData("the labels need 64 bits, expected 2147483647 components or fewer");
        write_(plane, {reinterpret_cast<const kernel::Label*>(narrow->data()), narrow->size()});
    }
    std::vector<kernel::Body> take_table() { return std::move(table_); }

  private:
    const LabelRows& write_;
    std::vector<kernel::Body> table_;
};

bool is_signed(Sample type) {
    return type == Sample::i8 || type == Sample::i16 || type == Sample::i32 || type == Sample::i64;
}

/// Throws InvalidTask if options conflict with each other or with the input.
void check(const LabelOptions& options, const LabelInput& input) {
    const bool is_image = input.is_image();
    const int neighbours = neighbours_of(options, is_image);
    if (is_image != (neighbours == 4 || neighbours == 8))
        throw InvalidTask(
            fmt::format("neighbours {}: {} is {}", neighbours, input.path(),
                        is_image ? "an image, expected 4 or 8" : "a volume, expected 6, 18 or 26"));
    if (options.fill_holes && options.by_value)
        throw InvalidTask(fmt::format(
            "fill_holes: filled holes have no value, so {} cannot be connected by_value",
            is_image ? "pixels" : "voxels"));
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

LabelResult Labelling::run(const LabelInput& input, const LabelInput* intensity,
                           LabelSink& sink) const {
    const CancellationScope cancellable(control_, communicator_.size());
    LabelOptions options = options_;
    require_same(communicator_, options);
    if (!options.in_tiles())
        return run_in_slabs(input, intensity, sink);
    agree(communicator_, [&] {
        check_effects(options, record_of(options), false,
                      input.is_image() ? "an image" : "a volume", input.path());
        check(options, input);
        if (!input.rows() || intensity)
            throw InvalidTask(fmt::format("{}: tiles require an image, and cannot be combined with "
                                          "intensities",
                                          options.grid ? "grid" : "pattern"));
    });
    options.neighbours = neighbours_in(options, true);
    return label::label_in_tiles(communicator_, options, control_, *input.rows(), sink);
}

LabelResult Labelling::run_in_slabs(const LabelInput& input, const LabelInput* intensity,
                                    LabelSink& sink) const {
    LabelOptions options = options_;
    std::optional<Opened> opened;
    PlaneRange range;
    kernel::Connection connection;
    agree(communicator_, [&] {
        check(options, input);
        opened.emplace(input, options.measure ? intensity : nullptr, options.by_value);
        options.identity +=
            fmt::format("samples: {}\nmeasured intensities: {}\n", name(input.sample()),
                        opened->intensity ? name(intensity->sample()) : "none");
        if (options.measure)
            kernel::check_measurable(opened->samples->shape());
        options.neighbours = neighbours_in(options, input.is_image());
        connection = label::connection_of(options);
        if (input.is_image())
            connection = of_rows(connection);
        range = label::planes_of(communicator_.rank(), communicator_.size(),
                                 opened->samples->shape().depth,
                                 std::max<Elements>(1, sink.planes_per_part()));
    });
    std::optional<FilledPlanes> filled;
    if (options.fill_holes) {
        // Checks the memory for labelling the background, before any message.
        agree(communicator_, [&] {
            label::BackgroundPlanes background(*opened->samples);
            Slabs(background, nullptr,
                  slab_options(communicator_, options, dual(connection), range));
        });
        filled.emplace(communicator_, options, control_, *opened->samples, connection, range);
    }
    std::optional<Slabs> slabs;
    agree(communicator_, [&] {
        Slabs::Options own = slab_options(communicator_, options, connection, range);
        if (filled)
            own.slab_planes = filled->slab_planes();
        slabs.emplace(filled ? static_cast<Planes&>(*filled) : *opened->samples,
                      opened->intensity.get(), own);
    });
    Checkpoint checkpoint = checkpoint_of(communicator_, options, *slabs, "labels");
    LabelRun labelling(communicator_, options, control_, *slabs, checkpoint);
    if (filled)
        labelling.set_holes(filled->holes(), filled->components().nan());
    return labelling.run(sink);
}

LabelResult Labelling::run(RowSource& image, const LabelRows& write) const {
    RowsTo sink(write);
    LabelResult result = run(LabelInput(image), nullptr, sink);
    result.table = sink.take_table();
    return result;
}

LabelResult Labelling::run(const distributed::Image& image) const {
    const CancellationScope cancellable(control_, communicator_.size());
    LabelOptions options = options_;
    require_same(communicator_, options);
    options.neighbours = neighbours_in(options, true);
    return label::label_tiles(communicator_, options, control_, image);
}

std::int64_t signed_label(std::uint64_t value, Sample type) {
    const int unused = is_signed(type) ? 64 - 8 * static_cast<int>(size_of(type)) : 0;
    return static_cast<std::int64_t>(value << unused) >> unused;
}

LabelRegions Labelling::measure(const LabelInput& labels, const LabelInput* intensity) const {
    const CancellationScope cancellable(control_, communicator_.size());
    LabelOptions options;
    options.memory = options_.memory;
    options.threads = options_.threads;
    options.columns = options_.columns;
    options.by_value = true;
    require_same(communicator_, options);
    // The cheapest neighbourhood suffices: the parts of a region are added up by value.
    const kernel::Connection connection{kernel::Neighbours::six, kernel::Sameness::value};
    std::optional<Opened> opened;
    std::optional<Slabs> slabs;
    const Sample sample = labels.sample();
    agree(communicator_, [&] {
        opened.emplace(labels, intensity, true);
        const kernel::VolumeShape& shape = opened->samples->shape();
        kernel::check_measurable(shape);
        if (sample == Sample::f16 || sample == Sample::f32 || sample == Sample::f64)
            throw InvalidData(fmt::format("{} holds {}, expected labels, which are integers",
                                          labels.path(), name(sample)));
        const PlaneRange range =
            label::planes_of(communicator_.rank(), communicator_.size(), shape.depth);
        slabs.emplace(*opened->samples, opened->intensity.get(),
                      slab_options(communicator_, options, connection, range));
    });
    const bool only_sizes = !intensity && options.measures_sizes(labels.is_image());
    LabelRegions regions = label::measure_regions(communicator_, control_, *slabs, only_sizes);
    if (regions.shape.of_rows)
        std::ranges::transform(regions.table, regions.table.begin(), &kernel::Body::of_image);
    if (is_signed(sample)) { // compared as unsigned, negative labels are the largest
        const std::uint64_t negative = std::uint64_t{1} << (8 * size_of(sample) - 1);
        std::rotate(regions.table.begin(),
                    std::ranges::lower_bound(regions.table, negative, {}, &kernel::Body::value),
                    regions.table.end());
    }
    return regions;
}

} // namespace sextant
