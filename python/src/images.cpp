// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/sample_offset.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/contours/canny.hpp"
#include "sextant/contours/contour_tracing.hpp"
#include "sextant/filter/filter_configurations.hpp"
#include "sextant/filter/filtering.hpp"
#include "sextant/filter/window_filter.hpp"

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

/// The reason in a plan for an image in memory.
std::string reason_in_memory(int threads) {
    return threads == 1
               ? "one thread, which reads and writes the arrays in place"
               : fmt::format("{} threads, which read and write the arrays in place", threads);
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

/// The samples of a view for filters; nullopt for types that must be converted first.
std::optional<kernel::SampleView> samples_in(const kernel::ValueView& view,
                                             const py::array& image) {
    const char kind = image.dtype().kind();
    kernel::SampleView samples{{}, view.stride, view.tile, view.image};
    if (const auto* const* first = std::get_if<const float*>(&view.first))
        samples.first = *first;
    else if (const auto* const* bytes = std::get_if<const std::uint8_t*>(&view.first);
             bytes && kind != 'i')
        samples.first = *bytes;
    else if (const auto* const* words = std::get_if<const std::uint16_t*>(&view.first);
             words && kind != 'i')
        samples.first = *words;
    else
        return std::nullopt;
    return samples;
}

/// Filters an image in memory, without copies of the image or the planes, unless an offset must be
/// subtracted from its samples.
std::optional<py::dict> filter_in_place(const ImageCall& image, const py::object& source,
                                        const FilterOptions& options,
                                        const distributed::Filters& filters,
                                        const py::object& out) {
    const std::optional<kernel::ValueView> view = view_of(source, 2);
    const bool plans = options.distribute != "any" || !options.machine.empty() ||
                       options.probing == planner::Probing::now || options.shared_memory == "off";
    if (!view || !py::isinstance<py::array>(out) || filters.size() != 1 || options.grid || plans)
        return std::nullopt;
    const auto array = py::reinterpret_borrow<py::array>(source);
    const std::optional<kernel::SampleView> samples = samples_in(*view, array);
    auto planes = py::reinterpret_borrow<py::array>(out);
    constexpr auto size = static_cast<py::ssize_t>(sizeof(float));
    if (!samples || planes.strides(0) % size != 0 || planes.strides(1) % size != 0)
        return std::nullopt;
    std::vector<kernel::Plane> outputs;
    auto* const first = static_cast<float*>(planes.mutable_data());
    for (py::ssize_t k = 0; k < planes.shape(0); ++k)
        outputs.push_back({first + k * (planes.strides(0) / size), planes.strides(1) / size});
    FilterResult result{.image = view->image, .element = gray_f32, .windows = 1};
    if (array.itemsize() != size)
        result.element = array.itemsize() == 1 ? gray_u8 : gray_u16;
    distributed::FilterTask task{
        .filters = filters, .image = view->image, .element = result.element};
    result.plan = distributed::strips_plan(task, reason_in_memory(image.ranks));
    // The calling thread cannot check for signals while it waits for long parts of other threads.
    constexpr double long_work = 1 << 24; // about 0.1 s
    const bool is_long =
        static_cast<double>(view->image.elements()) * filters.front().sigma.x > long_work;
    Call call(image.progress, py::none(), 1, image.ranks > 1 && is_long);
    const RunControl control = call.control();
    bool has_offset = false;
    call.run([&](const Communicator&) {
        has_offset = image.frames.image(call, image.frame, ReadAs::scaled)->offset() != 0;
        if (has_offset)
            return;
        timed(result.filter, [&] {
            Team team(image.ranks);
            distributed::NotFinite results;
            result.not_a_number = distributed::filter_in_memory(*samples, filters.front(), outputs,
                                                                team, control, &results);
            result.overflowed = results.infinite + (result.not_a_number == 0 ? results.nan : 0);
        });
    });
    if (has_offset)
        return std::nullopt;
    result.warnings = remarks_on_values(result, "array");
    const std::vector<std::string> losses = result.warnings;
    return found_planes(std::move(result), image.ranks, losses);
}

/// The options of a filter of images or volumes, and the filters that they describe.
struct ParsedFilter {
    ParsedFilter(const py::dict& keywords, kernel::Dimensions of) : dimensions(of) {
        set_options(filter_record(options), keywords);
        filters = filters_of(options, dimensions);
    }
    bool of_volumes() const { return dimensions == kernel::Dimensions::three; }

    FilterOptions options;
    kernel::Dimensions dimensions;
    distributed::Filters filters;
};

struct ParsedImageFilter : ParsedFilter {
    explicit ParsedImageFilter(const py::dict& keywords)
        : ParsedFilter(keywords, kernel::Dimensions::two) {}
};

struct ParsedVolumeFilter : ParsedFilter {
    explicit ParsedVolumeFilter(const py::dict& keywords)
        : ParsedFilter(keywords, kernel::Dimensions::three) {}
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
py::dict filter(const ImageCall& image, const py::object& array, const ParsedFilter& parsed,
                const py::object& out, bool wide) {
    const FilterOptions& options = parsed.options;
    const bool of_volumes = parsed.of_volumes();
    if (image.comm.is_none() && !of_volumes && !wide) {
        if (auto found = filter_in_place(image, array, options, parsed.filters, out))
            return *std::move(found);
    }
    FilterOutput output(out, of_volumes, wide);
    Call call(image.progress, image.comm, image.ranks);
    FilterResult result;
    std::vector<std::string> losses;
    int ranks = 1;
    const ImageShape shape = image.frames.header().shape;
    call.run([&](const Communicator& communicator) {
        if (!image.comm.is_none())
            require_same_frames(communicator, image.frames.header(), image.frame);
        std::unique_ptr<RowSource> source;
        agree(communicator, [&] {
            source = of_volumes
                         ? std::make_unique<RowSource>(image.frames.open(call), ReadAs::scaled)
                         : image.frames.image(call, image.frame, ReadAs::scaled);
        });
        Filtering filtering(communicator, options, call.control(), parsed.dimensions);
        if (communicator.rank() == 0)
            output.restore(filtering.offsets(source->offset()), filtering.scales(source->scale()),
                           source->stored());
        FilterResult found = filtering.run(
            source.get(), [&](int derivative, Elements first, std::span<const float> rows) {
                output.write(call, derivative, first, rows, shape);
            });
        if (communicator.rank() == 0 || !image.comm.is_none()) {
            result = std::move(found);
            ranks = communicator.size();
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
            if (!image.comm.is_none())
                require_same_frames(communicator, image.frames.header(), image.frame);
            std::unique_ptr<RowSource> source;
            agree(communicator,
                  [&] { source = image.frames.image(call, image.frame, ReadAs::floats); });
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
        set_options(canny_record(options), keywords);
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
        if (!image.comm.is_none())
            require_same_frames(communicator, image.frames.header(), image.frame);
        std::unique_ptr<RowSource> source;
        agree(communicator,
              [&] { source = image.frames.image(call, image.frame, ReadAs::floats); });
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
    py::class_<ParsedFilter>(module, "AnyFilterOptions")
        .def_property_readonly(
            "derivatives", [](const ParsedFilter& parsed) { return parsed.options.derivatives; });
    py::class_<ParsedImageFilter, ParsedFilter>(module, "FilterOptions")
        .def(py::init<const py::dict&>());
    py::class_<ParsedVolumeFilter, ParsedFilter>(module, "VolumeFilterOptions")
        .def(py::init<const py::dict&>());
    py::class_<Parsed<ContoursOptions>>(module, "ContoursOptions").def(py::init<const py::dict&>());
    py::class_<ParsedCanny>(module, "CannyOptions").def(py::init<const py::dict&>());
    module.def("filter", [](const Frames& frames, std::int64_t frame, const py::object& array,
                            const ParsedFilter& parsed, const py::object& out, bool wide,
                            py::object comm, int ranks, py::object progress) {
        return filter(image_call(frames, frame, std::move(progress), std::move(comm), ranks), array,
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
