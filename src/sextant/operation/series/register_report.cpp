// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/provenance.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/operation/series/register_run.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

namespace {

using registration::FramePlace;

std::vector<FramePlace> registered(const RegisterSummary& summary) {
    std::vector<FramePlace> places = summary.transforms.frames;
    std::erase_if(places, [](const FramePlace& place) { return !place.left_out.empty(); });
    return places;
}

template <class Of>
double median_of(const std::vector<FramePlace>& places, const Of& of) {
    std::vector<double> values;
    std::transform(places.begin(), places.end(), std::back_inserter(values), of);
    return median(values);
}

/// How far the middle of any frame lies from that of the reference, in pixels.
double farthest(const std::vector<FramePlace>& places) {
    double most = 0;
    for (const FramePlace& place : places)
        most = std::max(most, std::hypot(place.result.motion.tx, place.result.motion.ty));
    return most;
}

double deviation_of(const FramePlace& place) {
    return place.field ? place.field->sigma : place.result.uncertainty.tx;
}

std::ptrdiff_t flagged(const std::vector<FramePlace>& places) {
    return std::count_if(places.begin(), places.end(),
                         [](const FramePlace& place) { return !flags_of(place).empty(); });
}

} // namespace

std::string to_text(const RegisterSummary& summary) {
    const SeriesTransforms& transforms = summary.transforms;
    const std::vector<FramePlace> places = registered(summary);
    std::string text = fmt::format(
        "{}: {} of {} of {}x{} registered to frame {}, {}, in {}, on {} of {}\n", transforms.series,
        places.size(), report::counted(std::ssize(transforms.frames), "frame"),
        transforms.shape.width, transforms.shape.height, transforms.reference, transforms.model,
        report::counted(transforms.stages, "stage"), report::counted(summary.ranks, "rank"),
        summary.transport);
    if (summary.team > 1)
        text.insert(text.size() - 1, fmt::format(", {} threads each", summary.team));
    const double pixels = farthest(places);
    text += fmt::format("up to {:.2f} px away", pixels);
    if (transforms.pixel.known())
        text += fmt::format(" ({:.4g} {})", pixels * transforms.pixel.x, transforms.pixel.unit);
    text += fmt::format(", NCC {:.3f}, deviation of a shift {:.3f} px (medians), {} flagged\n",
                        median_of(places, [](const auto& p) { return p.result.ncc_after; }),
                        median_of(places, deviation_of), flagged(places));
    text += fmt::format("look {:.2f} s  register {:.2f} s  stages {:.2f} s  combine {:.2f} s  "
                        "write {:.2f} s\n",
                        summary.look, summary.registered, summary.stages, summary.combine,
                        summary.write);
    return text + fmt::format("{}\n", fmt::join(summary.files, "\n"));
}

std::string to_json(const RegisterSummary& summary) {
    const SeriesTransforms& transforms = summary.transforms;
    const std::vector<FramePlace> places = registered(summary);
    nlohmann::ordered_json json;
    json["operation"] = "register";
    json["series"] = transforms.series;
    json["output"] = summary.output;
    json["width"] = transforms.shape.width;
    json["height"] = transforms.shape.height;
    json["frames"] = transforms.frames.size();
    json["registered"] = places.size();
    json["left_out"] = nlohmann::ordered_json::array();
    for (const FramePlace& place : transforms.frames) {
        if (!place.left_out.empty())
            json["left_out"].push_back({{"frame", place.frame}, {"why", place.left_out}});
    }
    json["flagged"] = flagged(places);
    json["reference"] = transforms.reference;
    json["model"] = transforms.model;
    json["stages"] = transforms.stages;
    json["ranks"] = summary.ranks;
    json["team"] = summary.team;
    json["transport"] = summary.transport;
    json["resumed"] = summary.resumed;
    json["seconds"] = {{"look", summary.look},
                       {"register", summary.registered},
                       {"stages", summary.stages},
                       {"combine", summary.combine},
                       {"write", summary.write}};
    json["files"] = summary.files;
    json["warnings"] = summary.warnings;
    json["host"] = host();
    json["date"] = date();
    return sextant::to_text(json);
}

} // namespace sextant::operation
