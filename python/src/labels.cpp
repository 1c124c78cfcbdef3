// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/format/block_list.hpp"
#include "sextant/label/label.hpp"
#include "sextant/label/stitching.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "call.hpp"
#include "errors.hpp"
#include "frames.hpp"
#include "keywords.hpp"
#include "options.hpp"
#include "text.hpp"
#include <fmt/format.h>
#include <pybind11/stl.h>

namespace sextant::python {

namespace py = pybind11;

namespace {

/// A column of a table: value_of(i) of `count` rows.
template <class ValueOf>
py::array column_of(std::size_t count, const ValueOf& value_of) {
    py::array_t<decltype(value_of(std::size_t{0}))> values(static_cast<py::ssize_t>(count));
    auto* to = values.mutable_data();
    for (std::size_t i = 0; i < count; ++i)
        *to++ = value_of(i);
    return values;
}

/// Adds the columns of integers: i64 and u64 unchanged, other types as f64. Sums are f64 if they
/// exceed 64 bits. Returns the number of sums that are rounded.
template <class Integer>
std::int64_t add_integers(py::dict& table, std::span<const kernel::Body> bodies) {
    using kernel::Body;
    const auto holds = [](const Body& each) {
        return kernel::WideInteger{static_cast<Integer>(each.integer_sum())} == each.integer_sum();
    };
    const auto column = [&](const char* name, auto type, const auto& value_of) {
        table[name] = column_of(bodies.size(), [&](std::size_t i) {
            return static_cast<decltype(type)>(value_of(bodies[i]));
        });
    };
    const bool fits = std::ranges::all_of(bodies, holds);
    if (fits)
        column("sum", Integer{}, [](const Body& each) { return each.integer_sum(); });
    else
        column("sum", double{}, [](const Body& each) { return each.intensity_sum(); });
    column("mean", double{}, [](const Body& each) { return each.intensity_mean(); });
    column("minimum", Integer{}, [](const Body& each) { return each.integer_minimum(); });
    column("maximum", Integer{}, [](const Body& each) { return each.integer_maximum(); });
    return fits ? 0 : std::ranges::count_if(bodies, [](const Body& each) {
        return static_cast<kernel::WideInteger>(each.intensity_sum()) != each.integer_sum();
    });
}

/// Adds the columns of intensities. Returns warnings.
std::vector<std::string> add_intensities(py::dict& table, std::span<const kernel::Body> bodies,
                                         Sample sample) {
    using kernel::Body;
    const auto column = [&](const char* name, const auto& value_of) {
        table[name] = column_of(bodies.size(), [&](std::size_t i) { return value_of(bodies[i]); });
    };
    std::int64_t rounded = 0;
    if (sample == Sample::i64) {
        rounded = add_integers<std::int64_t>(table, bodies);
    } else if (sample == Sample::u64) {
        rounded = add_integers<std::uint64_t>(table, bodies);
    } else {
        column("sum", [](const Body& each) { return each.intensity_sum(); });
        column("mean", [](const Body& each) { return each.intensity_mean(); });
        column("minimum", [](const Body& each) { return each.minimum(); });
        column("maximum", [](const Body& each) { return each.maximum(); });
        if (sample != Sample::f16 && sample != Sample::f32 && sample != Sample::f64)
            rounded = std::ranges::count_if(bodies, [](const Body& each) {
                return static_cast<kernel::WideInteger>(each.intensity_sum()) != each.integer_sum();
            });
    }
    std::vector<std::string> losses;
    if (rounded > 0)
        losses.push_back(fmt::format("sums of intensities that are rounded to f64: {}", rounded));
    if (const auto beyond = std::ranges::count_if(bodies, &Body::sum_is_beyond); beyond > 0)
        losses.push_back(fmt::format(
            "sums of intensities that exceed the range of f64 and are inf: {}", beyond));
    return losses;
}

/// Adds sizes, boxes and centroids.
template <class Region>
void add_sizes(py::dict& table, std::span<const Region> regions, bool is_image) {
    const auto column = [&](const std::string& name, const auto& value_of) {
        table[name.c_str()] =
            column_of(regions.size(), [&](std::size_t i) { return value_of(regions[i]); });
    };
    constexpr std::string_view axes = "zyx";
    constexpr std::array<const char*, 3> sides = {"depth", "height", "width"};
    const std::vector<std::size_t> own =
        is_image ? std::vector<std::size_t>{2, 1} : std::vector<std::size_t>{0, 1, 2};
    column(is_image ? "area" : "voxels", [](const Region& each) { return each.voxels; });
    for (const std::size_t k : own)
        column(std::string(1, axes[k]), [k](const Region& each) { return each.low[k]; });
    for (const std::size_t k : own)
        column(sides[k], [k](const Region& each) { return each.high[k] - each.low[k] + 1; });
    for (const std::size_t k : own)
        column(fmt::format("centroid_{}", axes[k]),
               [k](const Region& each) { return each.centroid()[k]; });
}

/// Adds the columns of `sextant label --table`, except the label. Returns warnings.
std::vector<std::string> add_measures(py::dict& table, std::span<const kernel::Body> bodies,
                                      const Frames* intensity, bool is_image, bool only_sizes) {
    add_sizes(table, bodies, is_image);
    if (only_sizes)
        return intensity ? add_intensities(table, bodies, intensity->header().sample)
                         : std::vector<std::string>();
    const auto column = [&](const std::string& name, const auto& value_of) {
        table[name.c_str()] =
            column_of(bodies.size(), [&](std::size_t i) { return value_of(bodies[i]); });
    };
    using kernel::Body;
    constexpr std::string_view axes = "zyx";
    const std::size_t dimensions = is_image ? 2 : 3;
    std::vector<kernel::BodyAxes> ellipsoids;
    ellipsoids.reserve(bodies.size());
    for (const Body& each : bodies)
        ellipsoids.push_back(kernel::axes_of(each));
    for (std::size_t k = 0; k < dimensions; ++k)
        table[fmt::format("axis_{}", k + 1).c_str()] =
            column_of(bodies.size(), [&](std::size_t i) { return ellipsoids[i].deviations[k]; });
    for (std::size_t k = 3 - dimensions; k < 3; ++k)
        table[fmt::format("axis_1_{}", axes[k]).c_str()] =
            column_of(bodies.size(), [&](std::size_t i) { return ellipsoids[i].directions[0][k]; });
    if (is_image)
        column("perimeter", [](const Body& each) { return each.perimeter(); });
    else
        column("faces", [](const Body& each) { return each.faces(); });
    column("at_border", [](const Body& each) { return each.at_border; });
    if (!intensity)
        return {};
    return add_intensities(table, bodies, intensity->header().sample);
}

/// The input of a call: an image or volume.
struct LabelCall {
    const Frames& frames;
    std::optional<std::int64_t> frame; ///< frame number, for an image
    const Frames* intensity;           ///< may be null
    std::optional<kernel::ValueView> view = frames.view(frame);

    bool is_image() const { return frame.has_value(); }
    std::int64_t samples() const {
        return frames.header().shape.elements() * (is_image() ? 1 : frames.header().frames);
    }
    /// True if the calling thread must only wait, because it could not check for signals while it
    /// waits for long parts of other threads.
    bool waits(int threads) const {
        constexpr std::int64_t long_work = 1 << 24; // about 0.1 s
        return threads > 1 && (!is_image() || samples() > long_work);
    }
};

/// The sources of a call, opened by one rank.
class OpenInput {
  public:
    /// Collective. `copies`: if true, samples are read from a source, even if they are in an array.
    OpenInput(const Communicator& communicator, Call& call, const LabelCall& given, bool copies) {
        agree(communicator, [&] {
            if (given.view && !copies) {
                input_.emplace(*given.view, given.frames.header().sample, given.is_image());
            } else if (given.is_image()) {
                rows_ = given.frames.image(call, *given.frame, ReadAs::values);
                input_.emplace(*rows_);
            } else {
                volume_ = given.frames.open(call);
                input_.emplace(*volume_);
            }
            if (!given.intensity)
                return;
            intensity_ = given.intensity->open(call);
            measured_ = given.is_image() ? LabelInput(*intensity_, 0) : LabelInput(*intensity_);
        });
    }

    const LabelInput& input() const { return *input_; }
    const LabelInput* intensity() const { return measured_ ? &*measured_ : nullptr; }

  private:
    std::unique_ptr<RowSource> rows_;
    std::unique_ptr<FrameSource> volume_, intensity_;
    std::optional<LabelInput> input_, measured_;
};

/// Passes labels to Python, and keeps the measures of components.
class LabelsToPython final : public LabelSink {
  public:
    /// Keeps references to the arguments. `open(bits, components)` returns the argument for
    /// RowSink, which is stored in `sink`. The destructor of `sink` requires the GIL.
    LabelsToPython(const Communicator& communicator, Call& call, const py::object& open,
                   const LabelCall& given, std::optional<RowSink>& sink,
                   std::vector<kernel::Body>& bodies, std::vector<kernel::RegionSize>& sizes)
        : communicator_(communicator),
          call_(call),
          open_(open),
          shape_(given.frames.header().shape),
          is_image_(given.is_image()),
          sink_(sink),
          bodies_(bodies),
          sizes_(sizes) {}

    void rows(ComponentNumber, std::span<const kernel::Body> bodies) override {
        bodies_.insert(bodies_.end(), bodies.begin(), bodies.end());
    }
    void sizes(ComponentNumber, std::span<const kernel::RegionSize> sizes) override {
        sizes_.assign(sizes.begin(), sizes.end());
    }

    Elements begin(const LabelResult& result, Elements, Elements) override {
        agree(communicator_, [&] {
            if (communicator_.rank() == 0)
                call_.python([&] {
                    sink_.emplace(open_(result.label_bits, result.components),
                                  result.label_bits / 8);
                });
        });
        return 0;
    }

    kernel::LabelPlane memory() override { return sink_->label_plane(shape_.height, is_image_); }

    void planes(Elements plane, const LabelPlanes& labels) override {
        std::visit(
            [&](const auto& values) {
                const char* const type = sizeof(values[0]) == 8 ? "u8" : is_image_ ? "i4" : "u4";
                if (is_image_)
                    sink_->write(call_, 0, plane, std::as_bytes(values), shape_.width, type);
                else
                    sink_->write_planes(call_, plane, std::as_bytes(values), shape_, type);
            },
            labels);
    }

  private:
    const Communicator& communicator_;
    Call& call_;
    const py::object& open_;
    const ImageShape shape_;
    const bool is_image_;
    std::optional<RowSink>& sink_;
    std::vector<kernel::Body>& bodies_;
    std::vector<kernel::RegionSize>& sizes_;
};

py::dict label(const LabelCall& given, const LabelKeywords& keywords, const py::object& open,
               const py::object& comm, int threads, py::object progress) {
    LabelOptions options = keywords;
    const bool in_tiles = options.in_tiles();
    options.threads = in_tiles ? 1 : threads;
    std::optional<RowSink> sink;
    std::vector<kernel::Body> bodies;
    std::vector<kernel::RegionSize> sizes;
    LabelResult result;
    int ranks = threads;
    Call call(std::move(progress), comm, in_tiles ? threads : 1, !in_tiles && given.waits(threads));
    call.run([&](const Communicator& communicator) {
        if (!comm.is_none())
            require_same_frames(communicator, given.frames.header(), given.frame.value_or(0));
        const OpenInput opened(communicator, call, given, in_tiles);
        LabelsToPython labels(communicator, call, open, given, sink, bodies, sizes);
        LabelResult found = Labelling(communicator, options, call.control())
                                .run(opened.input(), opened.intensity(), labels);
        if (communicator.rank() == 0 || !comm.is_none()) {
            result = std::move(found);
            ranks = comm.is_none() ? threads : communicator.size();
        }
    });
    py::dict all;
    all["components"] = result.components;
    all["not_a_number"] = result.nan;
    if (options.measure) {
        py::dict table;
        const bool has_sizes = !sizes.empty();
        table["label"] = column_of(has_sizes ? sizes.size() : bodies.size(),
                                   [](std::size_t i) { return static_cast<std::int64_t>(i) + 1; });
        if (has_sizes)
            add_sizes<kernel::RegionSize>(table, sizes, given.is_image());
        else
            all["losses"] = add_measures(table, bodies, given.intensity, given.is_image(),
                                         options.measures_sizes(given.is_image()));
        all["table"] = table;
    }
    all["ranks"] = ranks;
    all["record"] = lazy_record(std::move(result));
    return all;
}

/// Measures the regions of a labelled image or volume, connected or not.
py::dict measure(const LabelCall& given, const MeasureKeywords& keywords, int threads,
                 py::object progress) {
    LabelOptions options = keywords.options;
    options.threads = threads;
    LabelRegions regions;
    Call call(std::move(progress), py::none(), 1, given.waits(threads));
    call.run([&](const Communicator& communicator) {
        const OpenInput opened(communicator, call, given, false);
        regions = Labelling(communicator, options, call.control())
                      .measure(opened.input(), opened.intensity());
    });
    const std::vector<kernel::Body>& bodies = regions.table;
    const Sample sample = given.frames.header().sample;
    py::dict table;
    if (sample == Sample::u64)
        table["label"] = column_of(bodies.size(), [&](std::size_t i) { return bodies[i].value; });
    else
        table["label"] = column_of(
            bodies.size(), [&](std::size_t i) { return signed_label(bodies[i].value, sample); });
    py::dict all;
    all["losses"] = add_measures(table, bodies, given.intensity, given.is_image(),
                                 options.measures_sizes(given.is_image()));
    all["table"] = table;
    return all;
}

/// Adds the columns z, y and x, with a suffix: the positions of block_of(i).
template <class BlockOf>
void add_positions(py::dict& table, const std::string& suffix, std::size_t count,
                   const label::LabelBlocks& blocks, const BlockOf& block_of) {
    for (std::size_t k = 0; k < 3; ++k) {
        const std::string name = std::string(1, "zyx"[k]) + suffix;
        table[name.c_str()] = column_of(count, [&](std::size_t i) {
            return blocks.cover().blocks()[static_cast<std::size_t>(block_of(i))].low[k];
        });
    }
}

py::dict table_of(const std::vector<StitchedLabel>& labels, const label::LabelBlocks& blocks) {
    py::dict table;
    const auto column = [&](const char* name, const auto& value_of) {
        table[name] = column_of(labels.size(), [&](std::size_t i) { return value_of(labels[i]); });
    };
    column("label", [](const StitchedLabel& each) { return std::int64_t{each.number}; });
    add_positions(table, "", labels.size(), blocks, [&](std::size_t i) { return labels[i].block; });
    column("block_label", [](const StitchedLabel& each) { return each.label; });
    column("voxels", [](const StitchedLabel& each) { return each.voxels; });
    column("kept", [](const StitchedLabel& each) { return each.kept; });
    return table;
}

py::dict joins_of(const std::vector<kernel::LabelMatch>& matches,
                  const label::LabelBlocks& blocks) {
    py::dict table;
    using kernel::LabelMatch;
    const std::size_t count = matches.size();
    const auto column = [&](const char* name, const auto& value_of) {
        table[name] = column_of(count, [&](std::size_t i) { return value_of(matches[i]); });
    };
    add_positions(table, "_a", count, blocks, [&](std::size_t i) { return matches[i].block_a; });
    column("label_a", [](const LabelMatch& each) { return each.a; });
    add_positions(table, "_b", count, blocks, [&](std::size_t i) { return matches[i].block_b; });
    column("label_b", [](const LabelMatch& each) { return each.b; });
    column("voxels", [](const LabelMatch& each) { return each.voxels; });
    column("union", [](const LabelMatch& each) { return each.either; });
    column("iou", [](const LabelMatch& each) { return each.iou(); });
    py::list outcomes;
    for (const LabelMatch& each : matches)
        outcomes.append(each.outcome == kernel::MatchOutcome::joined     ? "joined"
                        : each.outcome == kernel::MatchOutcome::conflict ? "conflict"
                                                                         : "below");
    table["outcome"] = outcomes;
    return table;
}

/// A block passed from Python.
struct GivenBlock {
    std::string name;
    const Frames* frames;
    std::array<Elements, 3> position; // z, y, x
};

/// Stitches blocks. `open(depth, height, width)` returns the argument for RowSink. `of_images`: if
/// true, the sizes of blocks and of the stitched volume may have two numbers, rows and columns.
py::dict stitch(const std::vector<GivenBlock>& given, StitchOptions options, bool of_images,
                const py::object& open, const py::object& comm, int ranks, py::object progress) {
    if (of_images && options.block.size() == 2)
        options.block.insert(options.block.begin(), 0);
    if (of_images && options.size.size() == 2)
        options.size.insert(options.size.begin(), 1);
    std::optional<RowSink> sink; // the destructor of RowSink requires the GIL
    std::optional<label::LabelBlocks> blocks;
    StitchResult result;
    bool in_files = true;
    for (const GivenBlock& block : given)
        in_files = in_files && block.frames->in_files();
    Call call(std::move(progress), comm, ranks);
    const auto run = [&](const Communicator& communicator) {
        const Stitching stitching(communicator, options, call.control());
        std::optional<label::LabelBlocks> own;
        agree(communicator, [&] {
            std::vector<LabelBlock> listed;
            for (const GivenBlock& block : given)
                listed.push_back({block.name, block.position,
                                  [&call, &block] { return block.frames->open(call); }});
            own.emplace(stitching.open(std::move(listed)));
            if (communicator.rank() == 0)
                call.python([&] {
                    const kernel::VolumeShape& shape = own->shape();
                    sink.emplace(open(shape.depth, shape.height, shape.width),
                                 sizeof(ObjectNumber));
                });
        });
        Elements row = 0; // row index over all planes
        const Elements height = own->shape().height, width = own->shape().width;
        StitchResult found = stitching.stitch(*own, [&](std::span<const ObjectNumber> rows) {
            sink->write(call, row / height, row % height, std::as_bytes(rows), width, "u4");
            row += std::ssize(rows) / width;
        });
        if (communicator.rank() == 0 || !comm.is_none()) {
            result = std::move(found);
            blocks = std::move(own);
        }
        if (communicator.rank() == 0)
            ranks = communicator.size();
    };
    try {
        call.run(run);
    } catch (const AgreedFailure& error) {
        if (error.fault() != AgreedFailure::Fault::file || in_files)
            throw;
        throw InvalidTask(error.what()); // a label of the array is invalid
    }
    py::dict all;
    all["objects"] = result.objects;
    all["table"] = table_of(result.table, *blocks);
    all["joins"] = joins_of(result.matches, *blocks);
    all["ranks"] = ranks;
    result.table.clear();
    result.matches.clear();
    all["record"] = lazy_record(std::move(result));
    return all;
}

/// The frames of an argument that may be None.
const Frames* frames_in(const py::object& argument) {
    return argument.is_none() ? nullptr : argument.cast<const Frames*>();
}

} // namespace

void bind_labels(py::module_& module) {
    py::class_<Parsed<LabelKeywords>>(module, "LabelOptions").def(py::init<const py::dict&>());
    py::class_<Parsed<MeasureKeywords>>(module, "MeasureOptions").def(py::init<const py::dict&>());
    py::class_<Parsed<StitchOptions>>(module, "StitchOptions").def(py::init<const py::dict&>());
    module.def("label", [](const Frames& frames, std::optional<std::int64_t> frame,
                           const py::object& intensity, const Parsed<LabelKeywords>& parsed,
                           const py::object& open, const py::object& comm, int threads,
                           py::object progress) {
        return label({frames, frame, frames_in(intensity)}, parsed.options, open, comm, threads,
                     std::move(progress));
    });
    module.def("measure", [](const Frames& labels, std::optional<std::int64_t> frame,
                             const py::object& intensity, const Parsed<MeasureKeywords>& parsed,
                             int threads, py::object progress) {
        return measure({labels, frame, frames_in(intensity)}, parsed.options, threads,
                       std::move(progress));
    });
    module.def("stitch", [](const py::list& blocks, const Parsed<StitchOptions>& parsed,
                            bool of_images, const py::object& open, const py::object& comm,
                            int ranks, py::object progress) {
        std::vector<GivenBlock> given;
        for (const py::handle block : blocks) {
            const auto parts = py::reinterpret_borrow<py::tuple>(block);
            given.push_back({utf8_of(parts[0]), parts[1].cast<const Frames*>(),
                             parts[2].cast<std::array<Elements, 3>>()});
        }
        return stitch(given, parsed.options, of_images, open, comm, ranks, std::move(progress));
    });
    module.def("read_block_list", [](const py::object& path) {
        const format::BlockList list = format::read_block_list(path_of("blocks", path));
        py::list blocks;
        for (const format::BlockFile& block : list.blocks)
            blocks.append(py::make_tuple(name_text(block.file), block.position));
        return py::make_tuple(blocks, list.of_images);
    });
}

} // namespace sextant::python
