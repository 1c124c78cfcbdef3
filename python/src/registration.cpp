// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/sample_offset.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/registration/correct/corrected_frames.hpp"
#include "sextant/registration/series/division.hpp"
#include "sextant/registration/series_registration.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bindings.hpp"
#include "call.hpp"
#include "errors.hpp"
#include "frames.hpp"
#include "options.hpp"
#include "text.hpp"
#include "transforms.hpp"
#include <fmt/format.h>
#include <pybind11/stl.h>

namespace sextant::python {

namespace py = pybind11;

namespace {

using registration::AffineMotion;
using registration::DisplacementField;
using registration::PixelArea;
using registration::Point;
using registration::RigidMotion;
using registration::RowMotion;
using registration::Transform;

/// A frame's transform, from the part of the result that every rank has.
Transform transform_of(const FrameRegistration& frame) {
    if (frame.affine)
        return *frame.affine;
    if (frame.rows)
        return *frame.rows;
    return frame.result.motion;
}

/// One column per property of the frames.
py::dict columns_of(const std::vector<FrameRegistration>& frames) {
    constexpr double degrees = 180 / std::numbers::pi;
    py::dict columns;
    const auto column = [&](const char* name, auto value_of) {
        using Value = std::decay_t<decltype(value_of(frames[0]))>;
        py::array_t<Value> values(std::ssize(frames));
        Value* to = values.mutable_data();
        for (const FrameRegistration& each : frames)
            *to++ = value_of(each);
        columns[name] = values;
    };
    const auto registered = [&](const char* name, auto value_of) {
        column(name, [&](const FrameRegistration& each) -> double {
            return each.left_out.empty() ? value_of(each) : std::nan("");
        });
    };
    using Each = const FrameRegistration&;
    column("frame", [](Each each) { return each.frame; });
    column("registered", [](Each each) { return each.left_out.empty(); });
    column("averaged",
           [](Each each) { return each.left_out.empty() && each.not_averaged.empty(); });
    registered("radians", [](Each each) { return each.result.motion.alpha; });
    registered("tx", [](Each each) { return each.result.motion.tx; });
    registered("ty", [](Each each) { return each.result.motion.ty; });
    registered("alpha", [&](Each each) { return each.result.motion.alpha * degrees; });
    registered("sigma_tx", [](Each each) { return each.result.uncertainty.tx; });
    registered("sigma_ty", [](Each each) { return each.result.uncertainty.ty; });
    registered("sigma_alpha", [&](Each each) { return each.result.uncertainty.alpha * degrees; });
    registered("ncc_before", [](Each each) { return each.result.ncc_before; });
    registered("ncc_after", [](Each each) { return each.result.ncc_after; });
    registered("overlap", [](Each each) { return each.result.overlap; });
    column("ambiguous", [](Each each) { return each.result.ambiguous; });
    column("unrelated", [](Each each) { return each.result.unrelated; });
    column("converged", [](Each each) { return each.result.converged; });
    column("mended", [](Each each) { return each.mended; });
    column("in_doubt", [](Each each) { return each.in_doubt; });
    column("static", [](Each each) { return each.static_bias; });
    column("implausible", [](Each each) { return each.implausible; });
    column("gaps", [](Each each) { return each.gaps; });
    py::dict left_out, not_averaged;
    for (const FrameRegistration& each : frames) {
        if (!each.left_out.empty())
            left_out[py::int_(each.frame)] = shown_text(each.left_out);
        else if (!each.not_averaged.empty())
            not_averaged[py::int_(each.frame)] = shown_text(each.not_averaged);
    }
    columns["left_out"] = left_out;
    columns["not_averaged"] = not_averaged;
    return columns;
}

/// An image of a result, NaN at pixels that no frame covers. `wide`: if true, f64.
py::object image_of(const std::vector<float>& pixels, const std::vector<float>& count,
                    ImageShape shape, double offset, bool wide) {
    if (pixels.empty())
        return py::none();
    const auto fill = [&](auto* to) {
        using Value = std::remove_pointer_t<decltype(to)>;
        for (std::size_t i = 0; i < pixels.size(); ++i)
            to[i] = count[i] > 0 ? static_cast<Value>(pixels[i]) + static_cast<Value>(offset)
                                 : static_cast<Value>(std::nan(""));
    };
    if (wide) {
        py::array_t<double> image({shape.height, shape.width});
        fill(image.mutable_data());
        return image;
    }
    py::array_t<float> image({shape.height, shape.width});
    fill(image.mutable_data());
    return image;
}

/// Divisions into ranks and threads: the one that the caller requests, otherwise all that are worth
/// comparing, the fastest first.
std::vector<registration::Division> divisions_for(const Frames& frames,
                                                  RegistrationOptions& options,
                                                  const py::object& comm, std::optional<int> ranks,
                                                  bool has_threads) {
    if (!comm.is_none() || ranks || has_threads)
        return {{ranks.value_or(1), options.threads}};
    const int cores = std::clamp(Cores::available().count(), 1, 1024);
    return registration::divisions(
        cores, frames.header().frames,
        registration::default_costs(frames.header().shape, options.farthest,
                                    options.model == MotionModel::nonrigid),
        {}, options.reproducible);
}

registration::DetectorImages detector_of(const py::dict& detector, Call& call) {
    registration::DetectorImages images;
    const auto opener = [&](const char* name) -> registration::OpenImage {
        if (!detector.contains(name))
            return {};
        const Frames* frames = detector[name].cast<const Frames*>();
        return [frames, &call] { return frames->open(call); };
    };
    images.dark = opener("dark");
    images.gain = opener("gain");
    images.defects = opener("defects");
    return images;
}

registration::MatchedRegion region_of(const py::dict& detector, Call& call) {
    if (detector.contains("polygons"))
        return {{}, registration::read_polygons(detector["polygons"].cast<std::string>())};
    if (!detector.contains("mask"))
        return {};
    const Frames* frames = detector["mask"].cast<const Frames*>();
    return {[frames, &call] { return frames->open(call); }};
}

double row_shift_of(const RegistrationResult& result) {
    return result.bidirectional ? result.bidirectional->shift : 0;
}

/// Results that exist only on rank 0, collected while the run can still read the frames.
struct Written {
    Transforms transforms;
    bool is_set = false;
};

/// `wide`: if true, aligned frames are written as f64, otherwise as f32.
py::dict register_series(const Frames& frames, const py::dict& keywords, const py::dict& detector,
                         const py::object& out, bool wide, py::object comm,
                         std::optional<int> ranks, py::object progress) {
    RegistrationOptions options;
    const auto given = set_options(record_of(options), keywords);
    const std::vector<registration::Division> divisions =
        divisions_for(frames, options, comm, ranks, given.contains("threads"));
    const registration::Division& division = divisions.front();
    options.threads = division.threads;
    Call call(std::move(progress), comm, division.ranks);
    options.detector = detector_of(detector, call);
    options.region = region_of(detector, call);
    RegistrationResult result;
    Written written;
    int size = 1;
    RegistrationHooks hooks;
    hooks.write = [&](const RegistrationResult& found, RegisteredFrames& registered) {
        written.transforms = {
            frames.header().shape, registered.area(), found.flyback, row_shift_of(found), {}};
        for (const std::int64_t frame : registered.numbers())
            written.transforms.of.emplace(frame, registered.transform(frame));
        written.is_set = true;
        if (out.is_none())
            return;
        // The shape of aligned frames is not known earlier.
        const PixelArea& area = registered.area();
        std::optional<RowSink> sink;
        call.python([&] {
            sink.emplace(out(frames.header().frames, area.shape.height, area.shape.width),
                         static_cast<std::int64_t>(wide ? sizeof(double) : sizeof(float)));
        });
        const auto write = [&](std::int64_t frame, std::span<const float> pixels) {
            if (!wide && found.offset == 0)
                return sink->write(call, frame, 0, std::as_bytes(pixels), area.shape.width, "f4");
            std::vector<double> doubles(pixels.size());
            to_doubles(pixels, found.offset, 1, doubles, "out");
            if (wide)
                return sink->write(call, frame, 0, std::as_bytes(std::span(doubles)),
                                   area.shape.width, "f8");
            const std::vector<float> floats(doubles.begin(), doubles.end());
            sink->write(call, frame, 0, std::as_bytes(std::span(floats)), area.shape.width, "f4");
        };
        std::vector<float> gaps; // of a frame; used if any frame is left out
        for (const FrameRegistration& each : found.frames) {
            if (each.left_out.empty())
                continue;
            gaps.resize(static_cast<std::size_t>(area.shape.elements()), std::nanf(""));
            write(each.frame, gaps);
        }
        for (const std::int64_t frame : registered.numbers())
            write(frame, registered.aligned(frame));
        call.python([&] { sink.reset(); });
    };
    call.run([&](const Communicator& communicator) {
        if (!comm.is_none())
            require_same_frames(communicator, frames.header());
        std::unique_ptr<FrameSource> source;
        agree(communicator, [&] { source = frames.open(call); });
        RegistrationResult found =
            SeriesRegistration(communicator, options, call.control()).run(std::move(source), hooks);
        if (communicator.rank() == 0 || !comm.is_none()) {
            result = std::move(found);
            size = communicator.size();
        }
    });
    if (!written.is_set) { // ranks other than 0 get displacement fields from rank 0
        written.transforms = {
            frames.header().shape, result.canvas, result.flyback, row_shift_of(result), {}};
        for (const FrameRegistration& each : result.frames) {
            if (each.left_out.empty())
                written.transforms.of.emplace(each.frame, transform_of(each));
        }
    }
    py::dict all;
    const ImageShape shape = result.canvas.shape;
    const bool wide_series = exceeds_floats(frames.header().sample);
    const registration::Combined& average = result.average;
    all["average"] = image_of(average.mean, average.count, shape, result.offset, wide_series);
    all["median"] = image_of(average.median, average.count, shape, result.offset, wide_series);
    all["count"] = py::array_t<float>({shape.height, shape.width}, average.count.data());
    const registration::Combined& recorded = result.recorded;
    all["recorded_mean"] =
        image_of(recorded.mean, recorded.count, frames.header().shape, result.offset, wide_series);
    all["static_pattern"] = py::none();
    if (result.static_pattern) {
        const ImageShape of_pattern = result.static_pattern->shape;
        all["static_pattern"] = py::array_t<float>({of_pattern.height, of_pattern.width},
                                                   result.static_pattern->image().data());
    }
    all["frames"] = columns_of(result.frames);
    all["reference"] = result.reference;
    all["model"] = std::string(name(result.model));
    all["warnings"] = shown_texts(result.warnings);
    all["offset"] = result.offset;
    all["stages"] = result.stages;
    all["ranks"] = size;
    all["threads"] = options.threads;
    std::string reason;
    if (divisions.size() > 1)
        reason = fmt::format("predicted to be the fastest of {} divisions into ranks and threads",
                             divisions.size());
    if (options.threads > 1)
        reason +=
            fmt::format("{}threads {}", reason.empty() ? "" : "; ", describe_threads(result, true));
    all["plan"] = reason;
    py::list candidates;
    for (const registration::Division& each : divisions)
        candidates.append(py::make_tuple(each.ranks, each.threads, each.expected));
    all["candidates"] = candidates;
    all["transforms"] = std::make_shared<Transforms>(std::move(written.transforms));
    result.average = {};
    result.recorded = {};
    all["record"] = lazy_record(std::move(result));
    return all;
}

/// Transforms without frames, which are added one by one; angles are in radians.
std::shared_ptr<Transforms> transforms_of(std::int64_t width, std::int64_t height,
                                          const std::vector<std::int64_t>& area,
                                          std::int64_t flyback, double row_shift) {
    auto all = std::make_shared<Transforms>();
    all->shape = {width, height};
    all->area = {area.at(0), area.at(1), {area.at(2), area.at(3)}};
    all->flyback = flyback;
    all->row_shift = row_shift;
    return all;
}

} // namespace

void bind_registration(py::module_& module) {
    py::class_<Transforms, std::shared_ptr<Transforms>>(module, "Transforms")
        .def(py::init(&transforms_of))
        .def_property_readonly(
            "shape",
            [](const Transforms& all) { return py::make_tuple(all.shape.height, all.shape.width); })
        .def_property_readonly("area",
                               [](const Transforms& all) {
                                   return py::make_tuple(all.area.x, all.area.y,
                                                         all.area.shape.width,
                                                         all.area.shape.height);
                               })
        .def_readonly("flyback", &Transforms::flyback)
        .def_readonly("row_shift", &Transforms::row_shift)
        .def_property_readonly("numbers",
                               [](const Transforms& all) {
                                   std::vector<std::int64_t> numbers;
                                   for (const auto& [frame, transform] : all.of)
                                       numbers.push_back(frame);
                                   return numbers;
                               })
        .def("add_rigid",
             [](Transforms& all, std::int64_t frame, double alpha, double tx, double ty) {
                 all.of[frame] = RigidMotion{alpha, tx, ty};
             })
        .def("add_affine",
             [](Transforms& all, std::int64_t frame, const std::vector<double>& matrix, double tx,
                double ty) {
                 all.of[frame] =
                     AffineMotion{matrix.at(0), matrix.at(1), matrix.at(2), matrix.at(3), tx, ty};
             })
        /// The planes have the layout of fields.npy (docs/registration.md).
        .def("add_field",
             [](Transforms& all, std::int64_t frame, std::int64_t spacing,
                const py::array_t<float, py::array::c_style>& planes) {
                 DisplacementField field{
                     all.shape, spacing, {planes.shape(2), planes.shape(1)}, {}, {}, {}, {}};
                 const float* from = planes.data();
                 for (auto* to : {&field.x, &field.y, &field.sigma}) {
                     to->assign(from, from + field.count());
                     from += field.count();
                 }
                 field.known.assign(from, from + field.count());
                 all.of[frame] = std::move(field);
             })
        /// The table has the layout of rows.npy.
        .def("add_rows",
             [](Transforms& all, std::int64_t frame, double alpha, double tx, double ty,
                const py::array_t<float, py::array::c_style>& table) {
                 RowMotion rows{{alpha, tx, ty}, {}, {}, {}};
                 const auto from = table.unchecked<2>();
                 for (py::ssize_t row = 0; row < from.shape(0); ++row) {
                     rows.dx.push_back(from(row, 0));
                     rows.dy.push_back(from(row, 1));
                     rows.sigma.push_back(from(row, 2));
                 }
                 all.of[frame] = std::move(rows);
             })
        /// The displacement field of a frame, as planes and their spacing, or None.
        .def("field",
             [](const Transforms& all, std::int64_t frame) -> py::object {
                 const auto* field = std::get_if<DisplacementField>(&all.at(frame));
                 if (!field)
                     return py::none();
                 py::array_t<float> planes({py::ssize_t{4}, py::ssize_t{field->nodes.height},
                                            py::ssize_t{field->nodes.width}});
                 float* to = planes.mutable_data();
                 for (const auto* from : {&field->x, &field->y, &field->sigma})
                     to = std::copy(from->begin(), from->end(), to);
                 std::copy(field->known.begin(), field->known.end(), to);
                 return py::make_tuple(planes, field->spacing);
             })
        /// The displacements of the rows of a frame, as a table, or None.
        .def("rows",
             [](const Transforms& all, std::int64_t frame) -> py::object {
                 const auto* rows = std::get_if<RowMotion>(&all.at(frame));
                 if (!rows)
                     return py::none();
                 py::array_t<float> table({std::ssize(rows->dx), py::ssize_t{3}});
                 auto to = table.mutable_unchecked<2>();
                 for (std::size_t row = 0; row < rows->dx.size(); ++row) {
                     const auto at = static_cast<py::ssize_t>(row);
                     to(at, 0) = rows->dx[row];
                     to(at, 1) = rows->dy[row];
                     to(at, 2) = rows->sigma[row];
                 }
                 return table;
             })
        .def("matrix", [](const Transforms& all, std::int64_t frame) -> py::object {
            const auto* affine = std::get_if<AffineMotion>(&all.at(frame));
            if (!affine)
                return py::none();
            return py::make_tuple(affine->a, affine->b, affine->c, affine->d);
        });
    module.def("register_series", &register_series);
    bind_apply(module);
}

} // namespace sextant::python
