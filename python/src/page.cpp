// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/page.hpp"

#include "sextant/core/error.hpp"
#include "sextant/report/alternatives_section.hpp"
#include "sextant/report/picture_sections.hpp"
#include "sextant/report/registration_sections.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

namespace sextant::python {

namespace py = pybind11;

namespace {

using report::Section;

/// A value of a dictionary; empty if the key is missing.
template <class Value>
Value get(const py::dict& content, const char* key) {
    return content.contains(key) ? content[key].cast<Value>() : Value();
}

std::vector<std::byte> bytes_of(const py::handle& png) {
    const std::string_view view = png.cast<std::string_view>();
    const auto* first = reinterpret_cast<const std::byte*>(view.data());
    return {first, first + view.size()};
}

template <class Value>
std::vector<Value> column(const py::dict& columns, const char* name) {
    const auto array = py::array_t<Value, py::array::c_style | py::array::forcecast>(columns[name]);
    return {array.data(), array.data() + array.size()};
}

/// The motions and normalised cross-correlations of the registered frames, given as columns. The
/// drift is shown at the top of the page.
void show_frames(const py::dict& content, report::Page& page) {
    const py::dict columns = content["frames"];
    const auto numbers = column<std::int64_t>(columns, "frame");
    const auto x = column<double>(columns, "tx"), y = column<double>(columns, "ty"),
               angle = column<double>(columns, "alpha"),
               sigma_x = column<double>(columns, "sigma_tx"),
               sigma_y = column<double>(columns, "sigma_ty"),
               sigma_angle = column<double>(columns, "sigma_alpha"),
               before = column<double>(columns, "ncc_before"),
               after = column<double>(columns, "ncc_after"),
               sigma = column<double>(columns, "sigma");
    const auto left_out = content["left_out"].cast<std::vector<std::string>>();
    const auto flags = content["flags"].cast<std::vector<std::vector<std::string>>>();
    std::vector<report::RegisteredFrame> frames;
    for (std::size_t i = 0; i < numbers.size(); ++i)
        frames.push_back({numbers[i], left_out[i], x[i], y[i], angle[i], sigma_x[i], sigma_y[i],
                          sigma_angle[i], before[i], after[i], sigma[i], flags[i]});
    std::vector<report::PicturedFrame> remarkable;
    for (const report::RegisteredFrame& frame : frames) {
        if (!frame.left_out.empty() || !frame.flags.empty())
            remarkable.push_back({frame, {}});
    }
    constexpr std::size_t most_shown = 50;
    const auto others = std::ssize(remarkable);
    remarkable.resize(std::min(remarkable.size(), most_shown));
    page.shown.insert(page.shown.begin(),
                      drift_section(frames, content["reference"].cast<std::int64_t>(), ""));
    page.sections = {rotation_section(frames),
                     frames_section(remarkable, others - std::ssize(remarkable)),
                     likeness_section(frames, content["likeness"].cast<std::string>())};
}

Section before_after(const py::dict& content) {
    const py::tuple given = content["before_after"];
    return report::before_after_section(
        {bytes_of(given[0]), bytes_of(given[1]), given[2].cast<std::string>(),
         "The average, before and after", report::scale_bar(given[3].cast<double>(), 0, "")});
}

/// Configurations as tuples: name, predicted time or None, measured time or None.
Section alternatives(const py::dict& content) {
    report::Alternatives shown{"Candidates", get<std::string>(content, "compared"), {}};
    for (const py::handle each : content["alternatives"]) {
        const auto [name, predicted, measured] =
            each.cast<std::tuple<std::string, std::optional<double>, std::optional<double>>>();
        const auto range = [](std::optional<double> seconds) -> std::optional<report::TimeRange> {
            if (!seconds)
                return std::nullopt;
            return report::TimeRange{*seconds, *seconds, *seconds};
        };
        shown.all.push_back(
            {.name = name, .predicted = range(predicted), .measured = range(measured)});
    }
    return alternatives_section(shown);
}

/// The image of a result with outlines: tuples of points (y, x), number of points, and closed.
Section outlines(const py::dict& content, std::vector<std::byte> png) {
    const auto [width, height] = content["size"].cast<std::pair<Elements, Elements>>();
    report::OutlinedPicture picture{
        .title = "Contours", .png = std::move(png), .width = width, .height = height};
    for (const py::handle each : content["outlines"]) {
        const auto [points, length, closed] =
            each.cast<std::tuple<py::array_t<std::int64_t>, Elements, bool>>();
        report::Outline& outline = picture.outlines.emplace_back();
        outline.length = length;
        outline.closed = closed;
        const auto at = points.unchecked<2>();
        for (py::ssize_t i = 0; i < at.shape(0); ++i)
            outline.points.push_back({at(i, 1), at(i, 0)});
    }
    return outlines_section(picture);
}

/// The page of a result.
///
/// Input     keys: title, subtitle; pictures (tuples of PNG, alternative text and caption); facts
///           and phases (pairs); and optionally before_after, frames, alternatives, outlines.
std::string page(const py::dict& content) {
    report::Page page;
    page.title = get<std::string>(content, "title");
    page.subtitle = get<std::string>(content, "subtitle");
    for (const auto& [label, value] :
         get<std::vector<std::pair<std::string, std::string>>>(content, "facts"))
        page.facts.push_back({label, value});
    for (const auto& [name, seconds] :
         get<std::vector<std::pair<std::string, double>>>(content, "phases"))
        page.phases.push_back({name, seconds});
    const py::list pictures = get<py::list>(content, "pictures");
    if (content.contains("outlines") && !pictures.empty())
        page.shown.push_back(outlines(content, bytes_of(py::tuple(pictures[0])[0])));
    else if (content.contains("before_after"))
        page.shown.push_back(before_after(content));
    else if (!pictures.empty()) {
        const py::tuple first = pictures[0];
        page.picture = {bytes_of(first[0]), first[1].cast<std::string>(),
                        first[2].cast<std::string>()};
    }
    if (content.contains("frames"))
        show_frames(content, page);
    if (content.contains("alternatives"))
        page.sections.push_back(alternatives(content));
    return report::render(page);
}

} // namespace

void bind_page(py::module_& module) {
    module.def("page", &page);
}

} // namespace sextant::python
