// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/series/transforms.hpp"

#include "sextant/core/complaint.hpp"
#include "sextant/core/error.hpp"
#include "sextant/operation/provenance.hpp"

#include <fstream>
#include <numbers>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

namespace {

using Json = nlohmann::ordered_json;
using registration::FramePlace;

constexpr int version_of_file = 1;
constexpr std::string_view kind = "sextant transforms";
constexpr double degrees = 180 / std::numbers::pi;

constexpr std::string_view convention =
    "a frame's motion takes x of the reference to R(alpha)(x - c) + c + t, where the frame shows "
    "what the reference shows at x; c is the middle of a frame, ((width - 1)/2, (height - 1)/2); "
    "R(alpha) = (cos, -sin; sin, cos), alpha in radians, clockwise as seen with y downward; t in "
    "pixels, to the right and downward; middles of pixels have whole coordinates, (0, 0) is the "
    "first of the first row. Every motion is from the reference, not from the frame before.";

Json json_of(const FramePlace& place, const SeriesTransforms& all) {
    if (!place.left_out.empty())
        return {{"frame", place.frame}, {"left_out", place.left_out}};
    const registration::RigidResult& result = place.result;
    const registration::RigidMotion& motion = result.motion;
    Json json = {{"frame", place.frame},
                 {"alpha", motion.alpha},
                 {"tx", motion.tx},
                 {"ty", motion.ty},
                 {"sigma_alpha", result.uncertainty.alpha},
                 {"sigma_tx", result.uncertainty.tx},
                 {"sigma_ty", result.uncertainty.ty},
                 {"ncc_before", result.ncc_before},
                 {"ncc_after", result.ncc_after},
                 {"overlap", result.overlap},
                 {"iterations", result.iterations}};
    if (all.pixel.known()) {
        json["tx_physical"] = motion.tx * all.pixel.x;
        json["ty_physical"] = motion.ty * all.pixel.y;
    }
    if (place.field)
        json["field"] = {{"known", place.field->known},
                         {"sigma", place.field->sigma},
                         {"freedom", place.field->freedom}};
    if (all.with_seconds)
        json["seconds"] = place.seconds;
    json["not_finite"] = place.gaps;
    json["flags"] = flags_of(place);
    return json;
}

/// All but the frames.
Json head_of(const SeriesTransforms& transforms) {
    Json json = {{"kind", kind},
                 {"version", version_of_file},
                 {"sextant", version()},
                 {"convention", convention},
                 {"series", transforms.series},
                 {"model", transforms.model},
                 {"reference", transforms.reference},
                 {"stages", transforms.stages},
                 {"width", transforms.shape.width},
                 {"height", transforms.shape.height}};
    if (transforms.pixel.known())
        json["pixel"] = {
            {"x", transforms.pixel.x}, {"y", transforms.pixel.y}, {"unit", transforms.pixel.unit}};
    if (transforms.fields)
        json["fields"] = {{"about",
                           "nodes lie `spacing` pixels apart from (0, 0) on, u is bilinear between "
                           "them; a frame shows at x + u(x) what the reference shows at x; of each "
                           "frame that is not left out, in order, four planes: u to the right and "
                           "downward in pixels, its standard deviation, and 1 where the frames say "
                           "anything of it"},
                          {"file", transforms.fields->path},
                          {"spacing", transforms.fields->spacing},
                          {"columns", transforms.fields->nodes.width},
                          {"rows", transforms.fields->nodes.height}};
    return json;
}

std::string unit_of(const SeriesTransforms& transforms) {
    return transforms.pixel.unit.empty() ? "unit" : transforms.pixel.unit;
}

std::string csv_of(const FramePlace& place, const SeriesTransforms& all) {
    if (!place.left_out.empty()) {
        std::string reason = place.left_out;
        for (char& letter : reason)
            letter = letter == '"' || letter == '\n' ? '\'' : letter;
        return fmt::format("{},,,,,,,,,,,,,,,\"left out: {}\"\n", place.frame, reason);
    }
    const registration::RigidResult& result = place.result;
    const registration::RigidMotion& motion = result.motion;
    const auto physical = [&](double pixels, double size) {
        return all.pixel.known() ? fmt::format("{:.6g}", pixels * size) : "";
    };
    return fmt::format(
        "{},{:.7f},{:.5f},{:.5f},{},{},{:.5f},{:.5f},{:.4f},{},{},{:.3g},{:.3g},{:.3g},{},{}\n",
        place.frame, motion.alpha * degrees, motion.tx, motion.ty, physical(motion.tx, all.pixel.x),
        physical(motion.ty, all.pixel.y), result.ncc_before, result.ncc_after, result.overlap,
        result.iterations, all.with_seconds ? fmt::format("{:.4f}", place.seconds) : "",
        result.uncertainty.alpha * degrees, result.uncertainty.tx, result.uncertainty.ty,
        place.gaps, fmt::join(flags_of(place), " "));
}

/// A file's JSON, of which every error names the file.
class Fields {
  public:
    Fields(std::string path, const Json& json) : path_(std::move(path)), json_(json) {}

    template <class Value>
    Value get(const std::string& name) const {
        try {
            return json_.at(name).get<Value>();
        } catch (const nlohmann::json::exception& error) {
            throw InvalidFile(path_, fmt::format("{}: not as expected: {}", name, error.what()));
        }
    }
    bool has(const std::string& name) const { return json_.is_object() && json_.contains(name); }
    /// What stands there, as it is.
    const Json& at(const std::string& name) const {
        if (!has(name))
            throw InvalidFile(path_, fmt::format("{}: is missing", name));
        return json_.at(name);
    }

  private:
    std::string path_;
    const Json& json_;
};

Json parsed(const std::string& path) {
    std::ifstream file(path);
    if (!file)
        throw InvalidFile(path, "cannot be read");
    try {
        return Json::parse(file);
    } catch (const nlohmann::json::exception& error) {
        throw InvalidFile(path, "is not JSON: " + json_complaint(error.what()));
    }
}

FramePlace frame_from(const Fields& fields) {
    FramePlace place;
    place.frame = fields.get<std::int64_t>("frame");
    if (fields.has("left_out")) {
        place.left_out = fields.get<std::string>("left_out");
        return place;
    }
    place.result.motion = {fields.get<double>("alpha"), fields.get<double>("tx"),
                           fields.get<double>("ty")};
    return place;
}

void check_version(const std::string& path, const Fields& fields) {
    if (!fields.has("kind") || fields.get<std::string>("kind") != kind)
        throw InvalidFile(path, fmt::format("is not of kind \"{}\"", kind));
    if (const int version = fields.get<int>("version"); version != version_of_file)
        throw InvalidFile(path,
                          fmt::format("is of version {}, expected {}", version, version_of_file));
}

ImageShape shape_from(const std::string& path, const Fields& fields, const std::string& width,
                      const std::string& height) {
    const ImageShape shape{fields.get<std::int64_t>(width), fields.get<std::int64_t>(height)};
    constexpr std::int64_t most = std::int64_t{1} << 24;
    if (std::min(shape.width, shape.height) < 1 || std::max(shape.width, shape.height) > most)
        throw InvalidFile(path, fmt::format("{} x {}: {}x{}, expected 1 to {}", width, height,
                                            shape.width, shape.height, most));
    return shape;
}

} // namespace

std::vector<std::string> flags_of(const FramePlace& place) {
    const registration::RigidResult& result = place.result;
    std::vector<std::string> flags;
    const auto flag = [&](bool raised, const char* name) {
        if (raised)
            flags.emplace_back(name);
    };
    flag(result.ambiguous, "ambiguous");
    flag(result.unrelated, "unrelated");
    flag(!result.converged, "not-converged");
    flag(place.mended, "mended");
    flag(place.in_doubt, "in-doubt");
    flag(place.gaps > 0, "gaps");
    return flags;
}

void write_json(const SeriesTransforms& transforms, const TextSink& sink) {
    std::string head = head_of(transforms).dump(1, ' ', false, Json::error_handler_t::replace);
    head.resize(head.rfind('\n')); // what closes it follows the frames
    sink(head + ",\n \"frames\": [");
    const char* comma = "\n";
    for (const FramePlace& place : transforms.frames) {
        sink(comma);
        sink(json_of(place, transforms).dump(1, ' ', false, Json::error_handler_t::replace));
        comma = ",\n";
    }
    sink("]\n}\n");
}

void write_csv(const SeriesTransforms& transforms, const TextSink& sink) {
    const std::string unit = unit_of(transforms);
    sink(fmt::format("# {}: {} motions of frames of {}x{} pixels to frame {}\n# {}\n",
                     transforms.series, transforms.model, transforms.shape.width,
                     transforms.shape.height, transforms.reference, convention));
    sink(
        fmt::format("# here alpha is in degrees; t also in {}, where the size of a pixel is known\n"
                    "frame,alpha_deg,tx_px,ty_px,tx_{},ty_{},ncc_before,ncc_after,overlap,"
                    "iterations,seconds,sigma_alpha_deg,sigma_tx_px,sigma_ty_px,not_finite,flags"
                    "\n",
                    unit, unit, unit));
    for (const FramePlace& place : transforms.frames)
        sink(csv_of(place, transforms));
}

SeriesTransforms read_transforms(const std::string& path) {
    const Json json = parsed(path);
    const Fields fields(path, json);
    check_version(path, fields);
    SeriesTransforms transforms;
    transforms.series = fields.get<std::string>("series");
    transforms.model = fields.get<std::string>("model");
    transforms.reference = fields.get<std::int64_t>("reference");
    transforms.shape = shape_from(path, fields, "width", "height");
    const Json& frames = fields.at("frames");
    if (!frames.is_array())
        throw InvalidFile(path, "frames: is no list");
    for (const Json& frame : frames)
        transforms.frames.push_back(frame_from({path, frame}));
    if (transforms.model == "nonrigid" && !fields.has("fields"))
        throw InvalidFile(path, "fields: missing, expected as the model is nonrigid");
    if (fields.has("fields")) {
        const Fields inner(path, fields.at("fields"));
        transforms.fields = {inner.get<std::string>("file"), inner.get<Elements>("spacing"),
                             shape_from(path, inner, "columns", "rows")};
        if (transforms.fields->spacing < 1)
            throw InvalidFile(
                path, fmt::format("spacing: {}, expected 1 or more", transforms.fields->spacing));
    }
    return transforms;
}

} // namespace sextant::operation
