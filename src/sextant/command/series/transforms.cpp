// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/series/transforms.hpp"

#include "sextant/comm/provenance.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/core/text.hpp"
#include "sextant/report/registration_sections.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

namespace {

constexpr int version_of_file = 1;
constexpr std::string_view kind = "sextant transforms";
constexpr double degrees_per_radian = 180 / std::numbers::pi;

constexpr std::string_view convention =
    "tx, ty and alpha give the displacement of a frame's content relative to the reference, to the "
    "right, downward and clockwise: a drift to the right increases tx. What the reference shows at "
    "x, the frame shows at R(alpha)(x - c) + c + t; c is the centre of a frame, ((width - 1)/2, "
    "(height - 1)/2); R(alpha) = (cos, -sin; sin, cos), alpha clockwise as seen with y downward: "
    "alpha_rad in radians, alpha_deg in degrees; t in pixels, to the right and downward; pixel "
    "centres have integer coordinates, (0, "
    "0) is the first pixel of the first row. Every motion is relative to the reference, not to the "
    "previous frame. If a frame has a matrix, that matrix replaces R(alpha), and alpha is the "
    "angle "
    "of the rotation nearest to it.";

Json json_of(const FrameRegistration& place, const SeriesTransforms& all) {
    if (!place.left_out.empty())
        return {{"frame", place.frame}, {"left_out", place.left_out}};
    const registration::RigidResult& result = place.result;
    const registration::RigidMotion& motion = result.motion;
    Json json = {{"frame", place.frame},
                 {"alpha_rad", motion.alpha},
                 {"alpha", motion.alpha}, // deprecated name, until 0.11
                 {"tx", motion.tx},
                 {"ty", motion.ty},
                 {"sigma_alpha_rad", result.uncertainty.alpha},
                 {"sigma_alpha", result.uncertainty.alpha}, // deprecated name, until 0.11
                 {"sigma_tx", result.uncertainty.tx},
                 {"sigma_ty", result.uncertainty.ty},
                 {"ncc_before", result.ncc_before},
                 {"ncc_after", result.ncc_after},
                 {"overlap", result.overlap},
                 {"iterations", result.iterations}};
    if (place.affine) {
        const registration::AffineMotion& affine = *place.affine;
        json.set("matrix", Json::array({Json::array({affine.a, affine.b}),
                                        Json::array({affine.c, affine.d})}));
    }
    if (all.pixel.known()) {
        json.set("tx_physical", motion.tx * all.pixel.x);
        json.set("ty_physical", motion.ty * all.pixel.y);
    }
    if (result.misfit.smooth.slopes > 0)
        json.set("misfit",
                 {{"pixels", result.misfit.pixels()}, {"deviations", result.misfit.deviations()}});
    if (place.field)
        json.set("field", {{"known", place.field->known},
                           {"sigma", place.field->sigma},
                           {"freedom", place.field->freedom}});
    if (const auto& rows = place.row_fit)
        json.set("rows", {{"jitter", rows->jitter},
                          {"drift_x", rows->drift_x},
                          {"drift_y", rows->drift_y},
                          {"sigma", rows->sigma}});
    if (all.with_seconds)
        json.set("seconds", place.seconds);
    json.set("not_finite", place.gaps);
    if (const registration::OutlierSummary& outliers = place.outliers; outliers.count > 0)
        json.set("outliers", {{"count", outliers.count},
                              {"largest", outliers.value},
                              {"x", outliers.x},
                              {"y", outliers.y}});
    if (place.contrast.inverted())
        json.set("inverted", true);
    json.set("flags", flags_of(place));
    return json;
}

/// Returns all fields except the frames as JSON.
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
    if (!transforms.relative_to.empty())
        json.set("relative_to", transforms.relative_to);
    if (!transforms.files.empty())
        json.set("files", transforms.files);
    if (const auto& canvas = transforms.canvas)
        json.set("canvas", record_of_area(*canvas));
    if (const auto& stack = transforms.aligned_file)
        json.set("aligned", Record{{"file", stack->path}}.include(record_of_area(stack->area)));
    if (transforms.pixel.known())
        json.set("pixel", {{"x", transforms.pixel.x},
                           {"y", transforms.pixel.y},
                           {"unit", transforms.pixel.unit}});
    if (transforms.row_shift != 0)
        json.set("bidirectional", {{"shift", transforms.row_shift}});
    if (transforms.fields)
        json.set(
            "fields",
            {{"about",
              "nodes are `spacing` pixels apart, starting at (0, 0); u is bilinear between them; "
              "what the reference shows at x, a frame shows at x + u(x); four planes for each "
              "frame that is not left out, in order: u to the right and u downward in pixels, the "
              "standard deviation of u, and 1 where u was determined from the frames"},
             {"file", transforms.fields->path},
             {"spacing", transforms.fields->spacing},
             {"columns", transforms.fields->nodes.width},
             {"rows", transforms.fields->nodes.height}});
    if (transforms.rows)
        json.set(
            "rows",
            {{"about",
              "what the reference shows at x, a frame shows at p = R(alpha)(x - c) + c + t + "
              "d, where d is that of the frame's row p_y, linear between rows; for each frame "
              "that is not left out, in order, and each of its rows: d to the right, d "
              "downward, and the standard deviation of the former, in pixels; the first `flyback` "
              "columns of all frames are disturbed and have no data"},
             {"file", transforms.rows->path},
             {"rows", transforms.rows->rows},
             {"flyback", transforms.rows->flyback}});
    return json;
}

std::string unit_of(const SeriesTransforms& transforms) {
    return transforms.pixel.unit.empty() ? "unit" : transforms.pixel.unit;
}

/// Returns true if the model has non-rigid motions that a matrix describes.
bool has_matrices(const SeriesTransforms& transforms) {
    return transforms.model == name(MotionModel::similarity) ||
           transforms.model == name(MotionModel::affine);
}

std::string matrix_of(const FrameRegistration& place, const SeriesTransforms& all) {
    if (!has_matrices(all))
        return "";
    const registration::AffineMotion matrix = place.affine.value_or(as_affine(place.result.motion));
    return fmt::format(",{:.8f},{:.8f},{:.8f},{:.8f}", matrix.a, matrix.b, matrix.c, matrix.d);
}

std::string csv_of(const FrameRegistration& place, const SeriesTransforms& all) {
    if (!place.left_out.empty()) {
        std::string reason = place.left_out;
        for (char& letter : reason)
            letter = letter == '"' || letter == '\n' ? '\'' : letter;
        return fmt::format("{},,,,,,,,,,,,,,,\"left out: {}\"{}\n", place.frame, reason,
                           has_matrices(all) ? ",,,," : "");
    }
    const registration::RigidResult& result = place.result;
    const registration::RigidMotion& motion = result.motion;
    const auto physical = [&](double pixels, double size) {
        return all.pixel.known() ? fmt::format("{:.6g}", pixels * size) : "";
    };
    return fmt::format(
        "{},{:.7f},{:.5f},{:.5f},{},{},{:.5f},{:.5f},{:.4f},{},{},{:.3g},{:.3g},{:.3g},{},{}{}\n",
        place.frame, motion.alpha * degrees_per_radian, motion.tx, motion.ty,
        physical(motion.tx, all.pixel.x), physical(motion.ty, all.pixel.y), result.ncc_before,
        result.ncc_after, result.overlap, result.iterations,
        all.with_seconds ? fmt::format("{:.4f}", place.seconds) : "",
        result.uncertainty.alpha * degrees_per_radian, result.uncertainty.tx, result.uncertainty.ty,
        place.gaps, fmt::join(flags_of(place), " "), matrix_of(place, all));
}

constexpr std::int64_t most_transforms = std::int64_t{1} << 40;
constexpr std::int64_t most_pixels = std::int64_t{1} << 24; ///< per side
/// The names of MotionModel's values, in their order, without `automatic`.
constexpr std::array<std::string_view, 5> models{"rigid", "nonrigid", "translation", "similarity",
                                                 "affine"};
using Names = std::vector<std::string_view>;

double number(const JsonField& json) {
    return json.number(-JsonField::most, JsonField::most);
}

/// Checks that optional fields that are not used are numbers; null is accepted, because JSON has no
/// NaN.
void check_numbers(const JsonField& json, const Names& names) {
    for (const std::string_view name : names) {
        if (const auto field = json.find(std::string(name)); field && !field->is_null())
            number(*field);
    }
}

/// Checks fields that `apply` does not use.
void check_measures(const JsonField& json) {
    check_numbers(json, {"sigma_alpha_rad", "sigma_alpha", "sigma_tx", "sigma_ty", "ncc_before",
                         "ncc_after", "overlap", "tx_physical", "ty_physical", "seconds"});
    for (const char* count : {"iterations", "not_finite"}) {
        if (const auto field = json.find(count))
            field->integer(0, most_transforms);
    }
    const std::pair<const char*, Names> nested[] = {
        {"field", {"known", "sigma", "freedom"}},
        {"outliers", {"count", "largest", "x", "y"}},
        {"rows", {"jitter", "drift_x", "drift_y", "sigma"}},
        {"misfit", {"pixels", "deviations"}}};
    for (const auto& [name, numbers] : nested) {
        if (const auto field = json.find(name)) {
            field->require_known(numbers);
            check_numbers(*field, numbers);
        }
    }
    if (const auto inverted = json.find("inverted"))
        inverted->boolean();
    Names flags;
    for (const report::FrameFlag& flag : report::frame_flags())
        flags.push_back(flag.name);
    for (const JsonField& flag : json.items_or_none("flags"))
        flag.one_of<std::size_t>(flags);
}

/// Reads the matrix of a motion; the translation is that of `motion`.
registration::AffineMotion affine_from(const JsonField& json,
                                       const registration::RigidMotion& motion) {
    constexpr std::string_view expected = "two rows of two numbers";
    json.require_size(2, std::string(expected));
    json[0].require_size(2, std::string(expected));
    json[1].require_size(2, std::string(expected));
    const registration::AffineMotion affine{number(json[0][0]), number(json[0][1]),
                                            number(json[1][0]), number(json[1][1]),
                                            motion.tx,          motion.ty};
    constexpr double least = 1e-9; // the least determinant that inverse() accepts
    if (!(std::abs(affine.a * affine.d - affine.b * affine.c) > least))
        json.refuse("a matrix that has an inverse");
    return affine;
}

/// Returns the rotation in radians. Files of earlier versions have only the deprecated name
/// `alpha`.
double angle_from(const JsonField& json) {
    const auto old = json.find("alpha");
    if (old && !json.find("alpha_rad"))
        return number(*old);
    const double angle = number(json.at("alpha_rad"));
    if (old && number(*old) != angle)
        old->refuse(fmt::format("{}, as alpha_rad, or no alpha", angle));
    return angle;
}

FrameRegistration frame_from(const JsonField& json) {
    FrameRegistration frame;
    frame.frame = json.at("frame").integer(0, most_transforms);
    if (const auto left_out = json.find("left_out")) {
        json.require_known({"frame", "left_out"});
        frame.left_out = left_out->text();
        return frame;
    }
    json.require_known(
        {"alpha_rad", "sigma_alpha_rad", "frame",       "alpha",       "tx",         "ty",
         "matrix",    "sigma_alpha",     "sigma_tx",    "sigma_ty",    "ncc_before", "ncc_after",
         "overlap",   "iterations",      "tx_physical", "ty_physical", "misfit",     "field",
         "seconds",   "not_finite",      "outliers",    "inverted",    "flags",      "rows"});
    check_measures(json);
    frame.result.motion = {angle_from(json), number(json.at("tx")), number(json.at("ty"))};
    if (const auto matrix = json.find("matrix"))
        frame.affine = affine_from(*matrix, frame.result.motion);
    return frame;
}

/// Checks the kind and version of the file.
void check_version(const JsonField& json) {
    if (json.text_or_empty("kind") != kind)
        json.fail(fmt::format("is not of kind \"{}\"", kind));
    json.at("version").require_version(version_of_file);
}

/// Reads an area of at least this many pixels per side.
registration::PixelArea area_from(const JsonField& json, std::int64_t least) {
    return {json.at("x").integer(-most_pixels, most_pixels),
            json.at("y").integer(-most_pixels, most_pixels),
            {json.at("width").integer(least, most_pixels),
             json.at("height").integer(least, most_pixels)}};
}

/// Checks the description of the aligned stack, which `apply` does not use.
void check_aligned(const JsonField& json) {
    const auto stack = json.find("aligned");
    if (!stack)
        return;
    stack->require_known({"file", "x", "y", "width", "height"});
    stack->at("file").any_text();
    area_from(*stack, 0);
}

/// Reads the area of the average. `fields`: the model has displacement fields.
std::optional<registration::PixelArea> canvas_from(const JsonField& json, ImageShape reference,
                                                   bool fields) {
    const auto canvas = json.find("canvas");
    if (!canvas)
        return std::nullopt;
    canvas->require_known({"x", "y", "width", "height"});
    const registration::PixelArea area = area_from(*canvas, 1);
    if (area.shape.elements() > largest_canvas)
        canvas->refuse(fmt::format("at most {} pixels", largest_canvas));
    if (fields && !contains(registration::area_of(reference), area))
        canvas->refuse(fmt::format("an area within the {}x{} pixels of the reference, because "
                                   "displacement fields are defined only there",
                                   reference.width, reference.height));
    return area;
}

/// Reads all fields except the frames and displacement fields.
SeriesTransforms head_from(const JsonField& json) {
    json.require_known({"kind", "version", "sextant", "convention", "series", "model", "reference",
                        "stages", "width", "height", "pixel", "fields", "frames", "relative_to",
                        "files", "aligned", "canvas", "rows", "bidirectional"});
    json.text_or_empty("sextant");
    json.text_or_empty("convention");
    json.text_or_empty("relative_to");
    for (const JsonField& file : json.items_or_none("files"))
        file.any_text();
    check_aligned(json);
    SeriesTransforms transforms;
    transforms.series = json.at("series").any_text();
    transforms.model = name(json.at("model").one_of<MotionModel>(models));
    transforms.reference = json.at("reference").integer(0, most_transforms);
    if (const auto stages = json.find("stages"))
        transforms.stages = static_cast<int>(stages->integer(1, 1 << 20));
    transforms.shape = {json.at("width").integer(1, most_pixels),
                        json.at("height").integer(1, most_pixels)};
    if (const auto rows = json.find("bidirectional"))
        transforms.row_shift = number(rows->at("shift"));
    transforms.canvas = canvas_from(json, transforms.shape, transforms.model == "nonrigid");
    if (const auto pixel = json.find("pixel")) {
        pixel->require_known({"x", "y", "unit"});
        transforms.pixel = {number(pixel->at("x")), number(pixel->at("y")),
                            pixel->at("unit").any_text()};
    }
    return transforms;
}

/// Reads the file of displacement fields, if any.
std::optional<FieldFile> field_file_from(const JsonField& json, const std::string& model) {
    if (model != "nonrigid") {
        if (const auto fields = json.find("fields"))
            fields->refuse("none, because the model is " + model);
        return std::nullopt;
    }
    const JsonField fields = json.at("fields");
    fields.require_known({"about", "file", "spacing", "columns", "rows"});
    fields.text_or_empty("about");
    return FieldFile{
        fields.at("file").any_text(),
        fields.at("spacing").integer(1, most_pixels),
        {fields.at("columns").integer(1, most_pixels), fields.at("rows").integer(1, most_pixels)}};
}

/// Reads the file of row displacements, if any.
std::optional<RowFile> row_file_from(const JsonField& json, const SeriesTransforms& transforms) {
    const auto rows = json.find("rows");
    if (!rows)
        return std::nullopt;
    if (transforms.model != name(MotionModel::rigid) &&
        transforms.model != name(MotionModel::translation))
        rows->refuse("none, because the model is " + transforms.model);
    rows->require_known({"about", "file", "rows", "flyback"});
    rows->text_or_empty("about");
    RowFile file{rows->at("file").any_text(), rows->at("rows").integer(1, most_pixels)};
    if (const auto flyback = rows->find("flyback"))
        file.flyback = flyback->integer(0, transforms.shape.width - 1);
    if (file.rows != transforms.shape.height)
        rows->at("rows").refuse(fmt::format("{}, the height of a frame", transforms.shape.height));
    return file;
}

/// Checks that each frame is listed once, and that the reference is listed.
void check_frames(const JsonField& json, const SeriesTransforms& transforms) {
    std::vector<std::int64_t> numbers;
    for (const FrameRegistration& frame : transforms.frames)
        numbers.push_back(frame.frame);
    std::sort(numbers.begin(), numbers.end());
    if (const auto twice = std::adjacent_find(numbers.begin(), numbers.end());
        twice != numbers.end())
        json.fail(fmt::format("lists frame {} twice", *twice));
    if (!std::binary_search(numbers.begin(), numbers.end(), transforms.reference))
        json.at("reference")
            .refuse(fmt::format("one of the {} in the file",
                                report::counted(std::ssize(numbers), "frame")));
}

} // namespace

std::vector<std::string> flags_of(const FrameRegistration& place) {
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
    flag(place.static_bias, "static");
    flag(place.implausible, "implausible");
    flag(place.gaps > 0, "gaps");
    return flags;
}

void write_json(const SeriesTransforms& transforms, const TextSink& sink) {
    std::string head = head_of(transforms).text(1);
    head.resize(head.rfind('\n')); // the closing brace is written after the frames
    sink(head + ",\n \"frames\": [");
    const char* comma = "\n";
    for (const FrameRegistration& place : transforms.frames) {
        sink(comma);
        sink(json_of(place, transforms).text(1));
        comma = ",\n";
    }
    sink("]\n}\n");
}

void write_csv(const SeriesTransforms& transforms, const TextSink& sink) {
    const std::string unit = unit_of(transforms);
    sink(fmt::format("# {}: {} motions, frames of {}x{} pixels, registered to frame {}{}\n# {}\n",
                     transforms.series, transforms.model, transforms.shape.width,
                     transforms.shape.height, transforms.reference,
                     transforms.relative_to.empty()
                         ? ""
                         : fmt::format("; motions are relative to {}", transforms.relative_to),
                     convention));
    sink(fmt::format(
        "# tx, ty: to the right and downward; t also in {} if the pixel size is "
        "known\nframe,alpha_deg,tx_px,ty_px,tx_{},ty_{},ncc_before,ncc_after,overlap,"
        "iterations,seconds,sigma_alpha_deg,sigma_tx_px,sigma_ty_px,not_finite,flags{}\n",
        unit, unit, unit,
        has_matrices(transforms) ? ",matrix_xx,matrix_xy,matrix_yx,matrix_yy" : ""));
    for (const FrameRegistration& place : transforms.frames)
        sink(csv_of(place, transforms));
}

SeriesTransforms read_transforms(const std::string& path) {
    constexpr Bytes most_bytes = Bytes{1} << 28;
    constexpr std::size_t most_values = std::size_t{1} << 22; // enough for some 200,000 frames
    const JsonField json = JsonField::read(path, {most_bytes, most_values});
    check_version(json);
    SeriesTransforms transforms = head_from(json);
    transforms.fields = field_file_from(json, transforms.model);
    transforms.rows = row_file_from(json, transforms);
    const JsonField frames = json.at("frames");
    for (std::size_t i = 0; i < frames.size(); ++i)
        transforms.frames.push_back(frame_from(frames[i]));
    check_frames(json, transforms);
    return transforms;
}

namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Returns the trimmed cells of a line, at most one more than expected.
Cells cells_of(std::string_view line, std::size_t expected) {
    Cells cells;
    for (std::size_t at = 0; at <= line.size() && cells.size() <= expected;) {
        const std::size_t end = std::min(line.find(',', at), line.size());
        cells.push_back(trimmed(line.substr(at, end - at)));
        at = end + 1;
    }
    return cells;
}

/// Returns true if each cell contains the name of its column, in any case.
bool are_names(const Cells& cells, const Cells& columns) {
    return std::ranges::equal(cells, columns, [](std::string_view cell, std::string_view name) {
        std::string text(cell);
        std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
        return text.find(name) != text.npos;
    });
}

} // namespace

void read_table(const std::string& path, const Cells& columns, std::string_view expected,
                const std::function<bool(const Cells& cells, int line)>& take) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf"; // written by spreadsheet programs
    constexpr Bytes longest = Bytes{1} << 28;
    std::istringstream file(read_text(path, longest));
    bool names_may_come = true;
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        std::string_view text = line;
        if (number == 1 && text.starts_with(byte_order_mark))
            text.remove_prefix(byte_order_mark.size());
        text = trimmed(text);
        if (text.empty() || text.front() == '#')
            continue;
        const Cells cells = cells_of(text, columns.size());
        const bool first = std::exchange(names_may_come, false);
        if (first && are_names(cells, columns))
            continue;
        if (cells.size() != columns.size() || !take(cells, number))
            throw InvalidFile(
                path,
                fmt::format("line {}: \"{}\", expected {}{}", number, shortened(text, 40),
                            first ? fmt::format("the header {} or ", fmt::join(columns, ",")) : "",
                            expected));
    }
}

std::vector<FramePoint> read_coordinates(const std::string& path) {
    std::vector<FramePoint> points;
    read_table(path, {"frame", "x", "y"}, "a frame number, x and y, separated by commas",
               [&](const Cells& cells, int line) {
                   const auto frame = parsed_number<std::int64_t>(cells[0]);
                   const auto x = parsed_number<double>(cells[1]);
                   const auto y = parsed_number<double>(cells[2]);
                   if (frame && x && y)
                       points.push_back({*frame, {*x, *y}, line});
                   return frame && x && y;
               });
    return points;
}

std::string to_csv(const std::vector<FramePoint>& points) {
    std::string csv = "frame,x,y\n";
    for (const FramePoint& point : points)
        csv += fmt::format("{},{:.4f},{:.4f}\n", point.frame, point.at.x, point.at.y);
    return csv;
}

} // namespace sextant::command
