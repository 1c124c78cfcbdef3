// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/sample_offset.hpp"
#include "sextant/comm/thread_team.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/registration/correct/bidirectional.hpp"
#include "sextant/registration/correct/corrected_frames.hpp"
#include "sextant/registration/transform/array_alignment.hpp"
#include "sextant/registration/transform/array_choices.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "call.hpp"
#include "errors.hpp"
#include "frames.hpp"
#include "options.hpp"
#include "text.hpp"
#include "transforms.hpp"
#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

namespace sextant::python {

namespace py = pybind11;

namespace {

using registration::AlignBy;
using registration::PixelArea;
using registration::Point;
using registration::Transform;

/// Writes aligned frames to a sink: the registered frames, or a single frame that is transformed
/// like frame `like` of the registered series.
std::int64_t apply_to_frames(const Transforms& transforms, const Frames& frames,
                             std::optional<std::int64_t> like, const py::object& out,
                             py::object progress) {
    const ImageShape shape = frames.header().shape;
    if (shape != transforms.shape)
        throw InvalidTask(fmt::format("frames are {}x{}, expected {}x{}, the size of the "
                                      "registered frames",
                                      shape.width, shape.height, transforms.shape.width,
                                      transforms.shape.height));
    if (like && frames.header().frames != 1)
        throw InvalidTask(
            fmt::format("{} frames, expected one because frame is given", frames.header().frames));
    if (like)
        transforms.at(*like);
    const RowSink sink(out, sizeof(float));
    const PixelArea area = transforms.area;
    Call call(std::move(progress), py::none(), 1);
    call.run([&](const Communicator&) {
        const RunControl control = call.control();
        auto [source, offset] = less_offset(frames.open(call));
        registration::ChangedFrames aligned(
            *source,
            registration::with_aligned_rows(transforms.row_shift, source->header().shape.width));
        registration::ChangedFrames without_flyback(
            aligned,
            registration::without_columns(transforms.flyback, source->header().shape.width));
        registration::Resampler resampler(without_flyback);
        std::vector<float> pixels(static_cast<std::size_t>(area.shape.elements()));
        const std::int64_t count = frames.header().frames;
        for (std::int64_t frame = 0; frame < count; ++frame) {
            control.check();
            control.report("apply", frame, count);
            const auto found = transforms.of.find(like.value_or(frame));
            if (found == transforms.of.end())
                std::fill(pixels.begin(), pixels.end(), std::nanf(""));
            else
                resampler.resample(frame, found->second, area, pixels);
            for (float& pixel : pixels)
                pixel = static_cast<float>(pixel + offset);
            sink.write(call, frame, 0, std::as_bytes(std::span(pixels)), area.shape.width, "f4");
        }
    });
    return frames.header().frames;
}

/// Maps points, given as rows of frame, x and y, between their frames and the aligned frames.
py::array_t<double> apply_to_points(const Transforms& transforms,
                                    const py::array_t<double, py::array::c_style>& points,
                                    bool from_reference) {
    const auto from = points.unchecked<2>();
    py::array_t<double> mapped({points.shape(0), py::ssize_t{3}});
    auto to = mapped.mutable_unchecked<2>();
    const auto left = static_cast<double>(transforms.area.x),
               top = static_cast<double>(transforms.area.y);
    for (py::ssize_t i = 0; i < points.shape(0); ++i) {
        const Transform& transform = transforms.at(static_cast<std::int64_t>(from(i, 0)));
        const Point at{from(i, 1), from(i, 2)};
        Point found;
        if (from_reference) {
            found = apply(transform, {at.x + left, at.y + top}, transforms.shape);
        } else {
            found = apply_inverse(transform, at, transforms.shape);
            found = {found.x - left, found.y - top};
        }
        to(i, 0) = from(i, 0);
        to(i, 1) = found.x;
        to(i, 2) = found.y;
    }
    return mapped;
}

// Arrays with any number of axes.

py::tuple tuple_of(const std::vector<std::int64_t>& numbers) {
    return py::tuple(py::cast(numbers));
}

/// The strides of an array in samples; nullopt if they are not multiples of the sample size, or the
/// byte order is not this machine's.
std::optional<std::vector<Elements>> steps_in_memory(const py::array& array) {
    std::vector<Elements> steps;
    for (py::ssize_t axis = 0; axis < array.ndim(); ++axis) {
        if (array.strides(axis) % array.itemsize() != 0)
            return std::nullopt;
        steps.push_back(array.strides(axis) / array.itemsize());
    }
    return is_swapped(array.dtype()) ? std::nullopt : std::optional(std::move(steps));
}

/// An array in memory.
class MemorySource final : public ArraySource {
  public:
    MemorySource(ArrayHeader header, const py::array& array, std::vector<Elements> steps)
        : ArraySource("data", std::move(header)),
          data_(static_cast<const std::byte*>(array.data())),
          steps_(std::move(steps)) {}

  private:
    void load(const ArrayBlock& block, std::span<std::byte> to) override {
        const Bytes size = size_of(header().sample);
        copy_block(block.count, size, data_ + index_of(block.start, steps_) * size, steps_,
                   to.data(), steps_of(block.count));
    }

    const std::byte* data_;
    std::vector<Elements> steps_;
};

/// An array in Python, read by `read(start, count)`, which returns blocks as C-contiguous arrays.
class ReaderSource final : public ArraySource {
  public:
    ReaderSource(ArrayHeader header, py::handle read, Call& call)
        : ArraySource("data", std::move(header)), read_(read), call_(call) {}

  private:
    void load(const ArrayBlock& block, std::span<std::byte> to) override {
        call_.python([&] {
            const py::array array = read_(tuple_of(block.start), tuple_of(block.count));
            if (static_cast<std::size_t>(array.nbytes()) != to.size() ||
                sample_of(array.dtype()) != header().sample || is_swapped(array.dtype()) ||
                !(array.flags() & py::array::c_style))
                throw InvalidFile(
                    path(),
                    fmt::format("a block has shape {} and type {}, expected {} and {}",
                                utf8_of(py::str(array.attr("shape"))),
                                utf8_of(py::str(array.dtype())),
                                utf8_of(py::str(tuple_of(block.count))), name(header().sample)));
            std::memcpy(to.data(), array.data(), to.size());
        });
    }

    py::handle read_;
    Call& call_;
};

/// An output to Python: an array in memory, or a function of start and block. The output has all
/// frames of the series; block indices count only the registered ones.
class PythonSink final : public ArraySink {
  public:
    PythonSink(ArrayHeader header, py::object out, std::optional<std::size_t> frame_axis,
               std::vector<std::int64_t> frames, Call& call)
        : ArraySink("out", std::move(header)),
          out_(std::move(out)),
          frame_axis_(frame_axis),
          frames_(std::move(frames)),
          call_(call) {
        if (!py::isinstance<py::array>(out_))
            return;
        auto array = py::reinterpret_borrow<py::array>(out_);
        const auto steps = steps_in_memory(array);
        if (!steps || sample_of(array.dtype()) != this->header().sample)
            throw std::logic_error("an array in memory must have the sample type of the result");
        steps_ = *steps;
        data_ = static_cast<std::byte*>(array.mutable_data());
    }

    void commit() override {}

  private:
    void store(const ArrayBlock& block, std::span<const std::byte> from) override {
        if (!frame_axis_)
            return put(block, from.data(), steps_of(block.count));
        const std::vector<Elements> steps = steps_of(block.count);
        const Bytes frame_bytes = steps[*frame_axis_] * size_of(header().sample);
        ArrayBlock one = block;
        one.count[*frame_axis_] = 1;
        for (std::int64_t i = 0; i < block.count[*frame_axis_]; ++i) {
            one.start[*frame_axis_] =
                frames_[static_cast<std::size_t>(block.start[*frame_axis_] + i)];
            put(one, from.data() + i * frame_bytes, steps);
        }
    }

    void put(const ArrayBlock& block, const std::byte* from, const std::vector<Elements>& steps) {
        const Bytes size = size_of(header().sample);
        if (data_)
            return copy_block(block.count, size, from, steps,
                              data_ + index_of(block.start, steps_) * size, steps_);
        call_.python([&] {
            const py::array samples(
                type_of(header().sample),
                std::vector<py::ssize_t>(block.count.begin(), block.count.end()));
            copy_block(block.count, size, from, steps,
                       static_cast<std::byte*>(const_cast<void*>(samples.data())),
                       steps_of(block.count));
            out_(tuple_of(block.start), samples);
        });
    }

    py::object out_;
    std::optional<std::size_t> frame_axis_;
    std::vector<std::int64_t> frames_;
    Call& call_;
    std::byte* data_ = nullptr;
    std::vector<Elements> steps_;
};

/// The options of apply() for arrays with any number of axes.
struct ArrayOptions {
    AlignBy by = AlignBy::bilinear;
    bool sum = false;
    Bytes memory = Bytes{1} << 30;
    int zarr = 3;
};

Record record_of(ArrayOptions& options) {
    Record record;
    record.add("by", options.by, registration::align_by_names(), "NAME", "resampling method");
    record.add("sum", options.sum, "add up the aligned frames");
    record.add_memory("memory", options.memory,
                      "memory limit; larger data are processed in blocks");
    record.add("zarr", options.zarr, "N", "Zarr version to write").between(2, 3);
    return record;
}

/// The array that Python passes: frames, a path, an array, or (read, lengths, type, chunk, names).
struct GivenArray {
    py::object data;
    std::optional<std::string> axes; ///< names, as in --axes
    registration::ArrayChoice choice;
};

std::unique_ptr<ArraySource> open_given(const GivenArray& given, const ArrayOptions& options,
                                        Call& call) {
    if (py::isinstance<Frames>(given.data)) {
        const auto& frames = given.data.cast<const Frames&>();
        const py::gil_scoped_release released;
        const std::shared_ptr<FrameSource> source = frames.open(call);
        FrameHeader series = source->header();
        series.axes = {}; // only t, y and x
        return array_of_frames("data", series,
                               {[source](auto... rows) { source->read_samples(rows...); }});
    }
    if (!py::isinstance<py::array>(given.data) && !py::isinstance<py::tuple>(given.data)) {
        format::SourceOptions source;
        source.axes = given.axes.value_or("");
        return format::open_array(path_of("data", given.data), source, options.memory / 4);
    }
    ArrayHeader header;
    const bool in_memory = py::isinstance<py::array>(given.data);
    const py::object dtype =
        in_memory ? py::object(given.data.attr("dtype")) : py::object(given.data[py::int_(2)]);
    header.sample = sample_of(dtype);
    header.lengths =
        (in_memory ? py::object(given.data.attr("shape")) : py::object(given.data[py::int_(1)]))
            .cast<std::vector<std::int64_t>>();
    if (given.axes) {
        header.names = format::parse_axis_names("data", *given.axes);
        if (header.names.size() != header.lengths.size())
            throw InvalidTask(fmt::format("axes names {} axes, but data has shape {}",
                                          header.names.size(),
                                          utf8_of(py::str(tuple_of(header.lengths)))));
    }
    if (in_memory) {
        const auto array = py::reinterpret_borrow<py::array>(given.data);
        auto steps = steps_in_memory(array);
        if (!steps)
            throw std::logic_error(
                "the strides of an array in memory must be multiples of its sample size");
        header.check("data");
        return std::make_unique<MemorySource>(std::move(header), array, std::move(*steps));
    }
    header.chunk = given.data[py::int_(3)].cast<std::vector<std::int64_t>>();
    header.check("data");
    return std::make_unique<ReaderSource>(std::move(header), py::object(given.data[py::int_(0)]),
                                          call);
}

/// Aligns frames of an array, or adds them up. `open_out(lengths, type, gap)` returns a path, an
/// array or a function of start and block; it also returns the chunk lengths to write, or None.
/// Returns properties of the result.
py::dict align(const Transforms& transforms, const py::object& data,
               std::optional<std::string> axes, const py::dict& keywords,
               std::optional<std::int64_t> like, std::optional<std::int64_t> channel,
               std::optional<std::int64_t> slice, const py::object& type, std::int64_t frames,
               const py::function& open_out, py::object progress) {
    ArrayOptions options;
    set_options(record_of(options), keywords);
    Call call(std::move(progress), py::none(), 1, true);
    std::unique_ptr<ArraySource> opened = open_given(
        {data, std::move(axes), {channel, slice, std::nullopt, like.has_value()}}, options, call);
    registration::ChosenArray chosen = registration::choose_axes(
        std::move(opened), {channel, slice, std::nullopt, like.has_value()});
    ArraySource& source = *chosen.array;
    const ArrayHeader& header = source.header();
    const ImageShape shape{header.lengths[chosen.axes.column], header.lengths[chosen.axes.row]};
    if (shape != transforms.shape)
        throw InvalidTask(fmt::format(
            "{} has frames of shape ({}, {}), expected ({}, {}) as in the registered series",
            source.path(), shape.height, shape.width, transforms.shape.height,
            transforms.shape.width));
    const std::int64_t count = chosen.axes.frame ? header.lengths[*chosen.axes.frame] : 1;
    std::vector<registration::MovedFrame> moved;
    std::vector<std::int64_t> positions;
    if (like) {
        transforms.at(*like);
        moved = {{0, *like}};
    } else if (count != frames) {
        throw InvalidTask(fmt::format(
            "{} has {} frames, expected {} as in the registered series; for one image, add frame=N",
            source.path(), count, frames));
    } else {
        for (const auto& [frame, transform] : transforms.of)
            moved.push_back({frame, frame});
    }
    for (const registration::MovedFrame& each : moved)
        positions.push_back(each.position);
    if (options.sum && !chosen.axes.frame)
        throw InvalidTask(fmt::format("sum: {} has a single frame", source.path()));

    if (transforms.row_shift != 0)
        throw InvalidTask("the rows of a bidirectional scan are not aligned in arrays with axes; "
                          "expected a series of images");
    registration::AlignOptions align;
    align.by = options.by;
    align.sum = options.sum;
    align.area = transforms.area;
    align.flyback = transforms.flyback;
    align.memory = options.memory / 2;
    const Sample sample = type.is_none() ? registration::usual_sample(header.sample, align)
                                         : sample_of(py::dtype::from_args(type));
    align.gap = registration::usual_gap(sample, align);
    ArrayHeader result;
    result.lengths = registration::aligned_lengths(header, chosen.axes, std::ssize(moved), align);
    result.names = header.names;
    if (chosen.axes.frame && align.sum && !result.names.empty())
        result.names.erase(result.names.begin() + static_cast<std::ptrdiff_t>(*chosen.axes.frame));
    result.sample = sample;
    result.chunk = registration::aligned_chunks(header, chosen.axes, result.lengths, sample, align);
    result.pixel = header.pixel;
    std::vector<std::int64_t> lengths = result.lengths;
    std::optional<std::size_t> frame_axis;
    if (chosen.axes.frame && !align.sum) {
        frame_axis = chosen.axes.frame;
        lengths[*frame_axis] = count;
    }
    const auto [out, chunk] =
        open_out(tuple_of(lengths), type_of(sample), align.gap)
            .cast<std::pair<py::object, std::optional<std::vector<std::int64_t>>>>();
    const bool in_file = py::isinstance<py::str>(out) || py::isinstance<py::bytes>(out);
    if (chunk) {
        result.chunk = *chunk;
        if (frame_axis)
            result.chunk[*frame_axis] = 1;
    }
    std::unique_ptr<ArraySink> sink;
    registration::AlignResult found;
    if (!in_file) {
        align.overwrites = true;
        result.check("out");
        sink = std::make_unique<PythonSink>(std::move(result), out, frame_axis, positions, call);
    }
    const std::string path = in_file ? path_of("out", out) : "";
    const std::string lost_pixel =
        in_file ? format::remark_on_lost_pixel(path, result) : std::string();
    call.run([&](const Communicator&) {
        if (in_file) {
            format::SinkOptions sink_options;
            sink_options.zarr_version = options.zarr;
            sink = format::create_array(path, std::move(result), sink_options);
        }
        Team team(std::clamp(Cores::available().count(), 1, 64));
        found = registration::align_array(
            source, chosen.axes, moved, [&](std::int64_t frame) { return transforms.at(frame); },
            *sink, align, &team, call.control());
        sink->commit();
    });
    py::dict all;
    all["total"] = found.total;
    all["outside"] = found.outside;
    all["farthest"] = found.farthest;
    all["vanished"] = found.vanished;
    all["lost_pixel"] = lost_pixel;
    all["rounded"] = registration::remark_on_rounding(found, header.sample, sample, align);
    if (align.sum)
        all["count"] = py::array_t<float>(
            {transforms.area.shape.height, transforms.area.shape.width}, found.count.data());
    return all;
}

/// The same as align(), but errors name keywords instead of command-line options.
py::dict apply_to_array(const Transforms& transforms, const py::object& data,
                        std::optional<std::string> axes, const py::dict& keywords,
                        std::optional<std::int64_t> like, std::optional<std::int64_t> channel,
                        std::optional<std::int64_t> slice, const py::object& type,
                        std::int64_t frames, const py::function& open_out, py::object progress) {
    try {
        return align(transforms, data, std::move(axes), keywords, like, channel, slice, type,
                     frames, open_out, std::move(progress));
    } catch (const InvalidKeyword&) {
        throw;
    } catch (const WrongType&) {
        throw;
    } catch (const InvalidFile& error) {
        const std::string text = error.what();
        throw InvalidFile(error.path(), text_with_keywords(text.substr(error.path().size() + 2)));
    } catch (const InvalidTask& error) {
        throw InvalidTask(text_with_keywords(error.what()));
    }
}

} // namespace

void bind_apply(py::module_& module) {
    module.def("apply_to_frames", &apply_to_frames);
    module.def("apply_to_points", &apply_to_points);
    module.def("apply_to_array", &apply_to_array);
    /// The names of axes, separated and in lower case.
    module.def("axis_names",
               [](const std::string& axes) { return format::parse_axis_names("signal", axes); });
}

} // namespace sextant::python
