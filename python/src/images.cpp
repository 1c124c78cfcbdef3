// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/sample_offset.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/contours/canny.hpp"
#include "sextant/contours/contour_tracing.hpp"
#include "sextant/filter/filtering.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
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

/// The image of a call: a frame of a series, and the ranks that process it.
struct ImageCall {
    const Frames& frames;
    std::int64_t frame;
    py::object progress, comm;
    int ranks;
};

/// Opens the image of a call, or all frames as a volume, on a rank. Collective.
std::unique_ptr<RowSource> opened(const ImageCall& image, Call& call,
                                  const Communicator& communicator, ReadAs read_as,
                                  bool as_volume = false) {
    if (!image.comm.is_none())
        require_same_frames(communicator, image.frames.header(), image.frame);
    std::unique_ptr<RowSource> source;
    agree(communicator, [&] {
        source = as_volume ? std::make_unique<RowSource>(image.frames.open(call), read_as)
                           : image.frames.image(call, image.frame, read_as);
    });
    return source;
}

/// Returns planes as a dictionary. `losses`: the warnings about samples or results that lost
/// precision.
py::dict found_planes(FilterResult&& result, int ranks,
                      const std::vector<std::string>& losses = {}) {
    py::dict all;
    all["ranks"] = ranks;
    all["not_a_number"] = result.not_a_number;
    all["warnings"] = shown_texts(result.warnings);
    all["losses"] = shown_texts(losses);
    result.planes.clear();
    all["record"] = lazy_record(std::move(result));
    return all;
}

/// The samples of an image or volume and the memory for all results; nullopt if they cannot be used
/// without copies. `out`: one array for an image, or one per derivative of a volume.
std::optional<FilterMemory> memory_of(const ImageCall& image, bool of_volumes,
                                      const py::object& out) {
    const Sample sample = image.frames.header().sample;
    if (sample != Sample::u8 && sample != Sample::u16 && sample != Sample::f32)
        return std::nullopt;
    const std::optional<kernel::ValueView> view =
        image.frames.view(of_volumes ? std::nullopt : std::optional(image.frame));
    if (!view)
        return std::nullopt;
    FilterMemory memory{{{}, view->stride, view->tile, view->image, view->next_plane, view->planes},
                        {}};
    memory.samples.tile.depth = view->planes;
    std::visit(
        [&](const auto* first) {
            if constexpr (std::is_assignable_v<decltype(memory.samples.first)&, decltype(first)>)
                memory.samples.first = first;
        },
        view->first);
    constexpr auto size = static_cast<py::ssize_t>(sizeof(float));
    for (const py::handle each : of_volumes ? out : py::object(py::make_tuple(out))) {
        if (!py::isinstance<py::array>(each))
            return std::nullopt;
        auto planes = py::reinterpret_borrow<py::array>(each);
        if (planes.strides(0) % size != 0 || planes.strides(1) % size != 0)
            return std::nullopt;
        auto* const first = static_cast<float*>(planes.mutable_data());
        for (py::ssize_t k = 0; k < planes.shape(0); ++k)
            memory.planes.push_back(
                {first + k * (planes.strides(0) / size), planes.strides(1) / size});
    }
    return memory;
}

/// The options of a filter of images or volumes, and the filters that they describe.
struct ParsedFilter {
    explicit ParsedFilter(const py::dict& keywords, kernel::Dimensions of = kernel::Dimensions::two)
        : dimensions(of) {
        set_options(options, filter_record(options), keywords);
        filters = filters_of(options, dimensions);
    }
    bool of_volumes() const { return dimensions == kernel::Dimensions::three; }

    FilterOptions options;
    kernel::Dimensions dimensions;
    distributed::Filters filters;
};

/// The destination of results: the sinks of a volume's derivatives, or the sink of an image.
class FilterOutput {
  public:
    /// `wide`: if true, results are f64, otherwise f32.
    FilterOutput(const py::object& out, bool of_volumes, bool wide)
        : of_volumes_(of_volumes), wide_(wide) {
        const Bytes size = wide ? sizeof(double) : sizeof(float);
        if (!of_volumes || out.is_none())
            sinks_.emplace_back(out, size);
        else
            for (const py::handle volume : out)
                sinks_.emplace_back(py::reinterpret_borrow<py::object>(volume), size);
    }

    /// Sets, for each derivative, the offset that was subtracted from samples and the factor that
    /// they were divided by. `stored`: the type of the samples.
    void restore(std::vector<double> offsets, std::vector<double> scales, Sample stored) {
        of_floats_ = stored == Sample::f32;
        offsets_ = std::move(offsets);
        scales_ = std::move(scales);
    }

    /// True if an offset is added to results that are then rounded to f32.
    bool rounds() const {
        return !wide_ && std::ranges::any_of(offsets_, [](double offset) { return offset != 0; });
    }

    /// The number of results that were lost (to_nearest_floats).
    Elements lost() const { return lost_; }

    /// Writes rows of a derivative, or planes of a volume.
    void write(Call& call, int derivative, Elements first, std::span<const float> values,
               ImageShape shape) {
        const auto k = static_cast<std::size_t>(derivative);
        if (!wide_ && offsets_[k] == 0 && scales_[k] == 1)
            return write(call, derivative, first, std::as_bytes(values), shape, "f4");
        const auto unit = static_cast<std::size_t>(of_volumes_ ? shape.elements() : shape.width);
        const std::size_t step = std::max<std::size_t>(1, (1 << 18) / unit) * unit;
        std::vector<double> doubles;
        std::vector<float> floats;
        for (std::size_t done = 0; done < values.size(); done += step) {
            const auto some = values.subspan(done, std::min(step, values.size() - done));
            const Elements at = first + static_cast<Elements>(done / unit);
            doubles.resize(some.size());
            to_doubles(some, offsets_[k], scales_[k], doubles, "out");
            if (wide_) {
                write(call, derivative, at, std::as_bytes(std::span(doubles)), shape, "f8");
                continue;
            }
            floats.resize(some.size());
            if (of_floats_)
                lost_ += to_nearest_floats(doubles, floats);
            else
                to_floats(doubles, floats, "out");
            write(call, derivative, at, std::as_bytes(std::span(floats)), shape, "f4");
        }
    }

  private:
    void write(Call& call, int derivative, Elements first, std::span<const std::byte> values,
               ImageShape shape, const char* type) const {
        if (of_volumes_)
            sinks_[static_cast<std::size_t>(derivative)].write_planes(call, first, values, shape,
                                                                      type);
        else
            sinks_.front().write(call, derivative, first, values, shape.width, type);
    }

    bool of_volumes_, wide_, of_floats_ = false;
    Elements lost_ = 0;
    std::vector<RowSink> sinks_;
    std::vector<double> offsets_, scales_;
};

/// Filters an image, or all frames as the planes of a volume. `wide`: if true, results are f64,
/// otherwise f32.
py::dict filter(const ImageCall& image, const ParsedFilter& parsed, const py::object& out,
                bool wide) {
    FilterOptions options = parsed.options;
    const bool of_volumes = parsed.of_volumes();
    const ImageShape shape = image.frames.header().shape;
    const bool in_tiles = options.grid || options.distribute != "any" || !options.machine.empty() ||
                          options.probing == planner::Probing::now ||
                          options.shared_memory == "off";
    options.threads = image.comm.is_none() && !in_tiles ? image.ranks : 1;
    std::optional<FilterMemory> memory;
    if (image.comm.is_none() && !in_tiles && !wide)
        memory = memory_of(image, of_volumes, out);
    // The calling thread cannot check for signals while it waits for long parts of other threads.
    constexpr double long_work = 1 << 24; // about 0.1 s
    const bool is_long = static_cast<double>(shape.elements()) *
                             static_cast<double>(of_volumes ? image.frames.header().frames : 1) *
                             options.sigma.x >
                         long_work;
    FilterOutput output(out, of_volumes, wide);
    Call call(image.progress, image.comm, in_tiles ? image.ranks : 1,
              options.threads > 1 && is_long);
    FilterResult result;
    std::vector<std::string> losses;
    int ranks = 1;
    call.run([&](const Communicator& communicator) {
        const std::unique_ptr<RowSource> source =
            opened(image, call, communicator, ReadAs::scaled, of_volumes);
        Filtering filtering(communicator, options, parsed.filters, call.control(),
                            parsed.dimensions);
        if (communicator.rank() == 0)
            output.restore(filtering.offsets(source->offset()), filtering.scales(source->scale()),
                           source->stored());
        FilterResult found = filtering.run(
            source.get(),
            [&](int derivative, Elements first, std::span<const float> rows) {
                output.write(call, derivative, first, rows, shape);
            },
            memory ? &*memory : nullptr);
        if (communicator.rank() == 0 || !image.comm.is_none()) {
            result = std::move(found);
            ranks = communicator.size() * options.threads;
        }
        if (communicator.rank() != 0)
            return;
        losses = remarks_on_values(result, source->path());
        if (result.vanished > 0)
            losses.push_back(result.warnings.back());
        if (output.lost() > 0) {
            losses.push_back(remark_on_lost_results(output.lost(), source->path()));
            result.warnings.push_back(losses.back());
        }
        if (output.rounds() && !floats_hold_offset(source->stored(), source->offset())) {
            losses.push_back(fmt::format(
                "out is float32, which holds 7 digits of samples of about {:g}; float64 "
                "holds 16",
                source->offset()));
            result.warnings.push_back(losses.back());
        }
    });
    return found_planes(std::move(result), ranks, losses);
}

/// The contours of an image: the pixel indices y · width + x of all points; the index of the first
/// point of each contour, followed by the number of points; and a flag for closed contours. Empty
/// on ranks other than 0.
py::dict contours(const ImageCall& image, const ContoursOptions& options) {
    Call call(image.progress, image.comm, image.ranks);
    ContoursResult result;
    ContourLines lines;
    int ranks = 1;
    try {
        call.run([&](const Communicator& communicator) {
            const std::unique_ptr<RowSource> source =
                opened(image, call, communicator, ReadAs::floats);
            ContoursResult found =
                ContourTracing(communicator, options, call.control())
                    .run(*source, [&](LineReader& reader) { lines = read_lines(reader); });
            if (communicator.rank() == 0 || !image.comm.is_none()) {
                result = std::move(found);
                ranks = communicator.size();
            }
        });
    } catch (const AgreedFailure& error) {
        const bool is_sample = options.directions && !image.frames.in_files();
        if (error.fault() != AgreedFailure::Fault::file || !is_sample)
            throw;
        throw InvalidTask(error.what()); // a sample of the array is not a direction
    }
    py::dict all;
    py::array_t<std::int64_t> points(
        {static_cast<py::ssize_t>(lines.pixels.size()), py::ssize_t{2}});
    auto to = points.mutable_unchecked<2>();
    const Elements width = std::max<Elements>(1, result.grid.width);
    for (std::size_t i = 0; i < lines.pixels.size(); ++i) {
        to(static_cast<py::ssize_t>(i), 0) = lines.pixels[i] / width;
        to(static_cast<py::ssize_t>(i), 1) = lines.pixels[i] % width;
    }
    py::array_t<std::int64_t> first(std::ssize(lines.lines) + 1);
    py::array_t<bool> closed(std::ssize(lines.lines));
    for (std::size_t i = 0; i < lines.lines.size(); ++i) {
        first.mutable_at(static_cast<py::ssize_t>(i)) = lines.lines[i].first;
        closed.mutable_at(static_cast<py::ssize_t>(i)) = lines.lines[i].closed;
    }
    first.mutable_at(std::ssize(lines.lines)) = std::ssize(lines.pixels);
    all["points"] = points;
    all["first"] = first;
    all["closed"] = closed;
    all["ranks"] = ranks;
    all["record"] = lazy_record(std::move(result));
    return all;
}

/// The options that concern edges.
Record canny_record(ContoursOptions& options) {
    Record record = record_of(options);
    for (const char* name :
         {"directions", "min_length", "simplify", "memory", "scratch", "timeline"})
        record.without(name);
    return record;
}

struct ParsedCanny {
    explicit ParsedCanny(const py::dict& keywords) {
        set_options(options, canny_record(options), keywords);
        require_edge_quantiles(options.quantiles.low, options.quantiles.high);
        options.merging.check();
    }
    ContoursOptions options;
};

/// Canny's edges as a map of directions: −1 for no edge, otherwise the same values as
/// ContoursOptions::directions. None on ranks other than 0.
py::object canny(const ImageCall& image, const ContoursOptions& options) {
    Call call(image.progress, image.comm, image.ranks);
    Image directions;
    call.run([&](const Communicator& communicator) {
        const std::unique_ptr<RowSource> source = opened(image, call, communicator, ReadAs::floats);
        Image whole = ContourTracing(communicator, options, call.control()).edges(*source);
        if (communicator.rank() == 0)
            directions = std::move(whole);
    });
    if (directions.shape().elements() == 0)
        return py::none();
    const ImageShape shape = directions.shape();
    return py::array(py::dtype("i1"), {shape.height, shape.width}, directions.bytes().data());
}

ImageCall image_call(const Frames& frames, std::int64_t frame, py::object progress, py::object comm,
                     int ranks) {
    return {frames, frame, std::move(progress), std::move(comm), ranks};
}

} // namespace

void bind_images(py::module_& module) {
    py::class_<ParsedFilter>(module, "FilterOptions")
        .def(py::init<const py::dict&>())
        .def_static("of_volume",
                    [](const py::dict& keywords) {
                        return ParsedFilter(keywords, kernel::Dimensions::three);
                    })
        .def_property_readonly(
            "derivatives", [](const ParsedFilter& parsed) { return parsed.options.derivatives; });
    py::class_<Parsed<ContoursOptions>>(module, "ContoursOptions").def(py::init<const py::dict&>());
    py::class_<ParsedCanny>(module, "CannyOptions").def(py::init<const py::dict&>());
    module.def("filter", [](const Frames& frames, std::int64_t frame, const ParsedFilter& parsed,
                            const py::object& out, bool wide, py::object comm, int ranks,
                            py::object progress) {
        return filter(image_call(frames, frame, std::move(progress), std::move(comm), ranks),
                      parsed, out, wide);
    });
    module.def("contours", [](const Frames& frames, std::int64_t frame,
                              const Parsed<ContoursOptions>& parsed, py::object comm, int ranks,
                              py::object progress) {
        return contours(image_call(frames, frame, std::move(progress), std::move(comm), ranks),
                        parsed.options);
    });
    module.def("canny", [](const Frames& frames, std::int64_t frame, const ParsedCanny& parsed,
                           py::object comm, int ranks, py::object progress) {
        return canny(image_call(frames, frame, std::move(progress), std::move(comm), ranks),
                     parsed.options);
    });
}

} // namespace sextant::python
