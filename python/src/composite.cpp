// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositor/compositor.hpp"
#include "sextant/planner/compositing_plan.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "call.hpp"
#include "errors.hpp"
#include "options.hpp"
#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

namespace sextant::python {

namespace py = pybind11;

namespace {

/// The images of this process: one contiguous array of images, height, width and channels.
std::span<const std::byte> bytes_of(const py::array& images) {
    return {static_cast<const std::byte*>(images.data()),
            static_cast<std::size_t>(images.nbytes())};
}

/// Blends images. Without a communicator, each image belongs to a separate rank, which is a thread;
/// otherwise all images belong to this rank. At the root, the composited image is written to `out`,
/// an array of height, width and channels.
py::dict composite(const py::array& images, const std::string& element,
                   const Parsed<CompositeOptions>& parsed, py::array out, py::object comm) {
    CompositeOptions options = parsed.options;
    for (const ElementFormat& each : {rgba_f32, rgba_f16, rgba_u8, rgba_depth_f32}) {
        if (each.name == element)
            options.element = each;
    }
    const ImageShape shape{images.shape(2), images.shape(1)};
    const bool has_comm = !comm.is_none();
    const auto count = static_cast<int>(images.shape(0));
    Call call(py::none(), comm, has_comm ? 1 : count);
    const std::span<const std::byte> all = bytes_of(images);
    const std::size_t one = all.size() / static_cast<std::size_t>(std::max(1, count));
    std::byte* const to = static_cast<std::byte*>(out.mutable_data());
    const auto room = static_cast<std::size_t>(out.nbytes());
    std::optional<planner::CompositingPlan> plan;
    std::vector<std::string> warnings;
    bool is_root = false;
    double seconds = 0;
    const RunControl control = call.control();
    constexpr std::size_t bytes_between_checks = std::size_t{1} << 20;
    call.run([&](const Communicator& communicator) {
        if (!has_comm)
            control.check();
        Compositor compositor(communicator, shape, has_comm ? count : 1, options);
        const std::size_t first =
            has_comm ? 0 : static_cast<std::size_t>(communicator.rank()) * one;
        double time = 0;
        Frame frame;
        timed(time,
              [&] { frame = compositor.composite(has_comm ? all : all.subspan(first, one)); });
        if (communicator.rank() == options.root && frame.count > 0) {
            if (frame.bytes.size() != room)
                throw std::logic_error(
                    "the size of the composited image differs from that of its array");
            for (std::size_t at = 0; at < room; at += bytes_between_checks) {
                if (!has_comm) // with processes, other ranks would wait for this one
                    control.check();
                std::memcpy(to + at, frame.bytes.data() + at,
                            std::min(bytes_between_checks, room - at));
            }
            is_root = true;
            seconds = time;
        }
        if (communicator.rank() == 0) {
            plan = compositor.plan();
            warnings = compositor.warnings();
        }
    });
    py::dict result;
    result["is_root"] = is_root;
    result["plan"] = py::none();
    if (plan) {
        result["text"] = plan->text();
        result["plan"] = LazyRecord([plan = *std::move(plan)] { return planner::to_json(plan); });
    }
    result["seconds"] = seconds;
    result["warnings"] = warnings;
    return result;
}

} // namespace

void bind_composite(py::module_& module) {
    py::class_<Parsed<CompositeOptions>>(module, "CompositeOptions")
        .def(py::init<const py::dict&>());
    module.def("composite", &composite);
}

} // namespace sextant::python
