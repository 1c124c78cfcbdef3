// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/commands.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/registration/synthetic.hpp"
#include "sextant/report/text.hpp"

#include <array>
#include <cstdio>
#include <numbers>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::command {

namespace {

using Json = nlohmann::ordered_json;
using registration::RigidMotion;
using registration::SeriesPlan;
using registration::SyntheticSeries;

constexpr double degree = std::numbers::pi / 180;

std::vector<registration::Jump> jumps_from(const Values& values) {
    if (!values.has("jumps"))
        return {};
    const std::vector<int> given = values.integers("jumps");
    if (given.size() % 3 != 0)
        throw InvalidTask(fmt::format("--jumps has {} numbers, expected three a jump: a frame and "
                                      "how far it moves right and down",
                                      given.size()));
    std::vector<registration::Jump> jumps;
    for (std::size_t i = 0; i < given.size(); i += 3)
        jumps.push_back(
            {given[i], static_cast<double>(given[i + 1]), static_cast<double>(given[i + 2])});
    return jumps;
}

SeriesPlan plan_from(const Values& values) {
    SeriesPlan plan;
    plan.shape = {values.integer("width"), values.integer("height")};
    plan.frames = static_cast<int>(values.integer("frames"));
    plan.dose = values.number("dose");
    plan.drift = {values.number("turn") * degree, values.number("drift-x"),
                  values.number("drift-y")};
    plan.wander = values.number("wander");
    plan.turn_wander = values.number("turn-wander") * degree;
    plan.warp = values.number("warp");
    plan.warp_length = values.number("warp-length");
    if (values.has("blanks"))
        plan.blanks = values.integers("blanks");
    plan.jumps = jumps_from(values);
    plan.seed = static_cast<std::uint64_t>(values.integer("seed"));
    return plan;
}

/// The first frame of a file, as floats.
kernel::FloatPlane first_frame(const std::string& path) {
    const std::unique_ptr<FrameSource> source = format::open_frames(path);
    print_remarks(*source);
    const ImageShape shape = source->header().shape;
    kernel::FloatPlane image(shape);
    for (std::int64_t y = 0; y < shape.height; ++y)
        source->read_rows(0, {y, y + 1}, {image.row(y), static_cast<std::size_t>(shape.width)});
    return image;
}

/// Throws if the field of view of all frames together, which the specimen must cover, is too large.
void check_field(ImageShape field) {
    constexpr Elements most = Elements{1} << 28;
    if (field.elements() > most)
        throw InvalidTask(fmt::format("these frames drift over {}x{} pixels, which take {} MiB, "
                                      "expected up to {}; take less --drift-x, --drift-y or "
                                      "--wander",
                                      field.width, field.height, field.elements() >> 18,
                                      most >> 18));
}

/// Refuses options that the specimen does not use.
void check_specimen(const Values& values) {
    if (values.has("image"))
        refuse_given(values, {"specimen", "contrast", "period", "amorphous", "detail"},
                     "the image is shown as it is");
    else if (values.text("specimen") != "lattice")
        refuse_given(values, {"period", "amorphous"}, "it is of the lattice");
}

registration::Specimen specimen_from(const Values& values, const SeriesPlan& plan) {
    check_field(plan.shape);
    if (values.has("image"))
        return registration::specimen_of(first_frame(values.text("image")).image());
    registration::SpecimenPlan specimen;
    specimen.field = registration::field_for(plan);
    check_field(specimen.field);
    specimen.contrast = values.number("contrast");
    specimen.period = values.number("period");
    specimen.amorphous = values.number("amorphous");
    specimen.detail = values.number("detail");
    specimen.seed = plan.seed;
    return registration::find_specimen(values.text("specimen")).make(specimen);
}

Json as_json(const RigidMotion& motion) {
    return {{"alpha", motion.alpha}, {"tx", motion.tx}, {"ty", motion.ty}};
}

Json truth_of(const SyntheticSeries& series, const Values& values) {
    const SeriesPlan& plan = series.plan();
    Json truth = {
        {"about", "a motion takes x to R(alpha)(x - c) + c + t about the middle c of a frame, "
                  "((width - 1)/2, (height - 1)/2); alpha in radians, clockwise as seen with y "
                  "downward, t in pixels to the right and downward, middles of pixels at whole "
                  "numbers"},
        {"to_first", "registers frame i to frame 0, warp aside: frame i at the place of x shows "
                     "what frame 0 does at x, so what drifts to the right has a growing tx"},
        {"to_specimen", "the inverse of to_first: where what frame i shows at x lies in the "
                        "specimen, in pixels of frame 0; x is first moved by the warp"},
        {"specimen", values.has("image") ? values.text("image") : values.text("specimen")},
        {"width", plan.shape.width},
        {"height", plan.shape.height},
        {"dose", plan.dose},
        {"seed", plan.seed}};
    if (plan.warp != 0) {
        const auto [a, b] = series.warp_phases();
        truth["warp"] = {{"about", "frame i of n moves x by i/(n - 1) amplitude (sin(k(y + x/2) + "
                                   "phase_x), sin(k(x - y/2) + phase_y)), k = 2 pi / length"},
                         {"amplitude", plan.warp},
                         {"length", plan.warp_length},
                         {"phase_x", a},
                         {"phase_y", b}};
    }
    truth["frames"] = Json::array();
    for (int frame = 0; frame < plan.frames; ++frame)
        truth["frames"].push_back({{"frame", frame},
                                   {"blank", series.is_blank(frame)},
                                   {"to_specimen", as_json(series.between(frame, 0))},
                                   {"to_first", as_json(series.between(0, frame))}});
    return truth;
}

void write_frames(const SyntheticSeries& series, FrameSink& sink) {
    Progress progress(true);
    const SeriesPlan& plan = series.plan();
    for (int frame = 0; frame < plan.frames; ++frame) {
        progress.say("frame", frame, plan.frames);
        const kernel::FloatPlane image = series.counted(frame);
        for (std::int64_t y = 0; y < plan.shape.height; ++y)
            sink.write({image.image().row(y), static_cast<std::size_t>(plan.shape.width)});
    }
}

int run_synthesize(const Values& values) {
    const std::string path = values.text("output");
    const std::string truth_path = values.has("truth") ? values.text("truth") : path + ".json";
    const std::array outputs{path, truth_path};
    check_frames_name(path, Sample::f32);
    keep_inputs(files_given(values, {"image"}), outputs);
    check_outputs(outputs);
    check_specimen(values);
    const SeriesPlan plan = plan_from(values);
    const SyntheticSeries series(plan, specimen_from(values, plan));
    FrameHeader header;
    header.frames = plan.frames;
    header.shape = plan.shape;
    const std::unique_ptr<FrameSink> sink = format::create_frames(path, header);
    write_frames(series, *sink);
    sink->commit();
    write_text(truth_path, sextant::to_text(truth_of(series, values)) + "\n");
    if (truth_path != standard_output)
        print_text(fmt::format("{}: {} of {}x{} f32, counts of {:g} electrons a pixel\n"
                               "{}: where each lies\n",
                               path, report::counted(plan.frames, "frame"), plan.shape.width,
                               plan.shape.height, plan.dose, truth_path));
    return 0;
}

constexpr double most_frames = 1 << 24;

struct Bounds {
    double least, most;
};

constexpr Bounds pixels{0, 1 << 20}, either_way{-(1 << 20), 1 << 20}, degrees{-360, 360};

Parameter number(std::string_view name, std::string_view unit, std::string_view fallback,
                 Bounds bounds, std::string_view help) {
    return {.name = name,
            .type = Type::number,
            .value = unit,
            .fallback = fallback,
            .help = help,
            .least = bounds.least,
            .most = bounds.most};
}

Parameter count(std::string_view name, std::string_view fallback, double most,
                std::string_view help) {
    return {.name = name,
            .type = Type::integer,
            .value = "N",
            .fallback = fallback,
            .help = help,
            .least = 1,
            .most = most};
}

std::vector<Parameter> parameters() {
    Parameter specimen{.name = "specimen",
                       .type = Type::choice,
                       .value = "NAME",
                       .fallback = "lattice",
                       .help = "what the frames show"};
    for (const registration::SpecimenKind& kind : registration::specimens())
        specimen.choices.push_back(kind.name);
    return {
        {"output", Type::file, "FILE", "", "the series", 'o', false, true},
        {.name = "truth", .type = Type::file, .value = "FILE", .help = "default: FILE.json"},
        specimen,
        {.name = "image", .type = Type::file, .value = "FILE", .help = "shown instead"},
        count("frames", "16", most_frames, "how many"),
        count("width", "512", 1 << 20, "pixels"),
        count("height", "512", 1 << 20, "pixels"),
        number("dose", "E", "10", {1e-6, 1e6}, "electrons a pixel"),
        number("contrast", "C", ".25", {0, 10}, "deviation of the brightness, of mean 1"),
        number("period", "PX", "24", {2, 1 << 20}, "of the lattice"),
        number("amorphous", "SHARE", ".38", {0, 1},
               "of the lattice's contrast that is not periodic"),
        number("detail", "PX", "6", {registration::smallest_detail, registration::largest_detail},
               "size of what is not periodic"),
        number("drift-x", "PX", "-1.3", either_way, "how far the content moves right each frame"),
        number("drift-y", "PX", ".7", either_way, "how far it moves down"),
        number("turn", "DEG", "0", degrees, "how far it turns clockwise"),
        number("wander", "PX", ".5", pixels, "deviation of a random step, each frame"),
        number("turn-wander", "DEG", "0", {0, 360}, "the same of the angle"),
        number("warp", "PX", "0", either_way,
               "amplitude of a smooth distortion, at the last frame"),
        number("warp-length", "PX", "512", {1, 1 << 20}, "of its waves"),
        {.name = "blanks",
         .type = Type::integers,
         .value = "I,J",
         .help = "frames, beam off",
         .least = 0,
         .most = most_frames},
        {.name = "jumps",
         .type = Type::integers,
         .value = "I,X,Y",
         .help = "content jumps X px right, Y down before frame I; three numbers each",
         .least = -(1 << 20),
         .most = most_frames},
        {.name = "seed",
         .type = Type::integer,
         .value = "N",
         .fallback = "1",
         .help = "another one, another series",
         .least = 0,
         .most = most_count}};
}

} // namespace

Operation synthesize_operation() {
    return {"synthesize",
            "make a series of frames whose every motion is known",
            "  sextant synthesize -o lattice.tif --frames 32 --dose 5 --drift-x 2 --turn .05\n"
            "  sextant synthesize -o movie.tif --specimen carbon --blanks 7 --jumps 12,30,-20",
            parameters(),
            run_synthesize,
            true};
}

} // namespace sextant::command
