// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/registration/synthetic.hpp"
#include "sextant/report/text.hpp"

#include <array>
#include <cstdio>
#include <numbers>
#include <string>

#include <fmt/format.h>

namespace sextant::command {

namespace {

using registration::RigidMotion;
using registration::SeriesPlan;
using registration::SyntheticSeries;

constexpr double degree = std::numbers::pi / 180;

struct SynthesizeCommand {
    std::string output, truth, specimen = "lattice", image;
    SeriesPlan plan = {.shape = {512, 512}, .frames = 16, .drift = {0, -1.3, .7}, .wander = .5};
    registration::SpecimenPlan look;
    double turn = 0, rotation_wander = 0; ///< degrees
    /// Three numbers per jump: its frame, and the motion to the right and downward.
    std::vector<int> jumps;
    std::int64_t seed = 1;
};

constexpr double most_frames = 1 << 24;

Record record_of(SynthesizeCommand& command) {
    constexpr double most = 1 << 20;
    SeriesPlan& plan = command.plan;
    registration::SpecimenPlan& look = command.look;
    std::vector<std::string_view> specimens;
    for (const registration::SpecimenKind& kind : registration::specimens())
        specimens.push_back(kind.name);
    Record record;
    declare_output(record, command.output, "FILE", "file of the series");
    record.add("truth", command.truth, "FILE", "file of the true motions; default: FILE.json")
        .file();
    record.add("specimen", command.specimen, "NAME", "specimen shown in the frames")
        .one_of(specimens);
    record.add("image", command.image, "FILE", "image to show instead of a specimen").file();
    record.add("frames", plan.frames, "N", "number of frames").between(1, most_frames);
    record.add("width", plan.shape.width, "N", "width of a frame in pixels").between(1, most);
    record.add("height", plan.shape.height, "N", "height of a frame in pixels").between(1, most);
    record.add("dose", plan.dose, "E", "mean number of electrons per pixel").between(1e-6, 1e6);
    record
        .add("contrast", look.contrast, "C",
             "standard deviation of the brightness, relative to its mean")
        .between(0, 10);
    record.add("period", look.period, "PX", "period of the lattice in pixels").between(2, most);
    record
        .add("amorphous", look.amorphous, "FRACTION",
             "fraction of the lattice's contrast that is not periodic")
        .between(0, 1);
    record.add("detail", look.detail, "PX", "size in pixels of the features that are not periodic")
        .between(registration::smallest_detail, registration::largest_detail);
    record
        .add("drift_x", plan.drift.tx, "PX",
             "motion of the content to the right per frame, in pixels")
        .between(-most, most);
    record
        .add("drift_y", plan.drift.ty, "PX", "motion of the content downward per frame, in pixels")
        .between(-most, most);
    record.add("rotation", command.turn, "DEG", "clockwise rotation per frame in degrees")
        .between(-360, 360);
    record
        .add("random_step", plan.wander, "PX",
             "standard deviation of a random step per frame, in pixels")
        .between(0, most);
    record
        .add("random_rotation", command.rotation_wander, "DEG",
             "standard deviation of a random rotation per frame, in degrees")
        .between(0, 360);
    record
        .add("warp", plan.warp, "PX",
             "amplitude in pixels of a distortion that grows until the last frame")
        .between(-most, most);
    record.add("warp_length", plan.warp_length, "PX", "wavelength of the distortion in pixels")
        .between(1, most);
    record.add("blanks", plan.blanks, "I,J", "indices of frames recorded with the beam off")
        .between(0, most_frames);
    record
        .add("jumps", command.jumps, "I,X,Y",
             "shift by X px right, Y px down before frame I; three numbers per jump")
        .between(-most, most_frames);
    record.add("seed", command.seed, "N", "seed of the random numbers").between(0, most_count);
    return record;
}

Effects effects_of(SynthesizeCommand& command) {
    return {{{"specimen", "contrast", "period", "amorphous", "detail"},
             "the image is used unchanged",
             [&] { return command.image.empty(); }},
            {{"period", "amorphous"},
             "only the lattice uses this option",
             [&] { return command.specimen == "lattice"; }},
            {{"drift_x", "drift_y", "rotation", "random_step", "random_rotation", "warp", "jumps"},
             "one frame does not move: expected --frames 2 or more",
             [&] { return command.plan.frames > 1; }},
            {{"warp_length"}, "expected --warp", [&] { return command.plan.warp != 0; }}};
}

std::vector<registration::Jump> jumps_from(const std::vector<int>& given) {
    if (given.size() % 3 != 0)
        throw InvalidTask(fmt::format("--jumps has {} numbers, expected three per jump: a frame, "
                                      "and the motion to the right and downward",
                                      given.size()));
    std::vector<registration::Jump> jumps;
    for (std::size_t i = 0; i < given.size(); i += 3)
        jumps.push_back(
            {given[i], static_cast<double>(given[i + 1]), static_cast<double>(given[i + 2])});
    return jumps;
}

SeriesPlan plan_from(const SynthesizeCommand& command) {
    SeriesPlan plan = command.plan;
    plan.drift.alpha = command.turn * degree;
    plan.rotation_wander = command.rotation_wander * degree;
    plan.jumps = jumps_from(command.jumps);
    plan.seed = static_cast<std::uint64_t>(command.seed);
    return plan;
}

/// Reads the first frame of a file as floats.
kernel::FloatPlane first_frame(const std::string& path) {
    const std::unique_ptr<FrameSource> source = format::open_frames(path);
    print_remarks(*source);
    const ImageShape shape = source->header().shape;
    kernel::FloatPlane image(shape);
    for (std::int64_t y = 0; y < shape.height; ++y)
        source->read_rows(0, {y, y + 1}, {image.row(y), static_cast<std::size_t>(shape.width)});
    return image;
}

/// Throws if the combined field of view of all frames, which the specimen must cover, is too large.
void check_field(ImageShape field) {
    constexpr Elements most = Elements{1} << 28;
    if (field.elements() > most)
        throw InvalidTask(
            fmt::format("these frames drift over {}x{} pixels, which need {} MiB, "
                        "expected up to {}; reduce --drift-x, --drift-y or --random-step",
                        field.width, field.height, field.elements() >> 18, most >> 18));
}

registration::Specimen specimen_from(const SynthesizeCommand& command, const SeriesPlan& plan) {
    check_field(plan.shape);
    if (!command.image.empty())
        return registration::specimen_of(first_frame(command.image).image());
    registration::SpecimenPlan specimen = command.look;
    specimen.field = registration::field_for(plan);
    check_field(specimen.field);
    specimen.seed = plan.seed;
    return registration::find_specimen(command.specimen).make(specimen);
}

Json as_json(const RigidMotion& motion) {
    return {{"alpha_rad", motion.alpha},
            {"alpha", motion.alpha}, // deprecated name, until 0.11
            {"tx", motion.tx},
            {"ty", motion.ty}};
}

Json truth_of(const SyntheticSeries& series, const std::string& specimen) {
    const SeriesPlan& plan = series.plan();
    Json truth = {
        {"about",
         "a motion maps x to R(alpha)(x - c) + c + t; c is the centre of a frame, ((width "
         "- 1)/2, (height - 1)/2); alpha_rad in radians, clockwise as seen with y downward; t "
         "in pixels to the right and downward; pixel centres have integer coordinates"},
        {"to_first", "registers frame i to frame 0, without the warp: what frame 0 shows at x, "
                     "frame i shows where to_first maps x, so a drift to the right increases tx"},
        {"to_specimen", "the inverse of to_first: maps a position x in frame i to the specimen, in "
                        "pixels of frame 0; the warp is applied to x first"},
        {"specimen", specimen},
        {"width", plan.shape.width},
        {"height", plan.shape.height},
        {"dose", plan.dose},
        {"seed", plan.seed}};
    if (plan.warp != 0) {
        const auto [a, b] = series.warp_phases();
        truth.set("warp",
                  {{"about", "frame i of n displaces x by i/(n - 1) amplitude (sin(k(y + x/2) + "
                             "phase_x), sin(k(x - y/2) + phase_y)), k = 2 pi / length"},
                   {"amplitude", plan.warp},
                   {"length", plan.warp_length},
                   {"phase_x", a},
                   {"phase_y", b}});
    }
    Json frames = Json::array();
    for (int frame = 0; frame < plan.frames; ++frame)
        frames.add({{"frame", frame},
                    {"blank", series.is_blank(frame)},
                    {"to_specimen", as_json(series.between(frame, 0))},
                    {"to_first", as_json(series.between(0, frame))}});
    truth.set("frames", frames);
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

int run_synthesize(const SynthesizeCommand& command, const Call&) {
    const std::string& path = command.output;
    const std::string truth_path = command.truth.empty() ? path + ".json" : command.truth;
    const std::array outputs{path, truth_path};
    check_frames_name(path, Sample::f32);
    std::vector<std::string> inputs;
    if (!command.image.empty())
        inputs = files_of_series(command.image, {}, outputs);
    check_outputs(outputs, inputs);
    const SeriesPlan plan = plan_from(command);
    const SyntheticSeries series(plan, specimen_from(command, plan));
    FrameHeader header;
    header.frames = plan.frames;
    header.shape = plan.shape;
    const std::unique_ptr<FrameSink> sink = format::create_frames(path, header);
    write_frames(series, *sink);
    const std::string& specimen = command.image.empty() ? command.specimen : command.image;
    JointCommit together;
    sink->commit();
    write_text(truth_path, truth_of(series, specimen).text() + "\n");
    together.commit();
    if (truth_path != standard_output)
        print_text(fmt::format(
            "{}: {} of {}x{} f32, counts of {:g} electrons per pixel\n{}: the true motions\n", path,
            report::counted(plan.frames, "frame"), plan.shape.width, plan.shape.height, plan.dose,
            truth_path));
    return 0;
}

} // namespace

Operation synthesize_operation() {
    return declare_command<SynthesizeCommand>(
        "synthesize", "make a test series of frames with known motions",
        "  sextant synthesize -o lattice.tif --frames 32 --dose 5 --drift-x 2 --rotation 0.05\n"
        "  sextant synthesize -o movie.tif --specimen carbon --blanks 7 --jumps 12,30,-20",
        run_synthesize, RunOn::one_rank);
}

} // namespace sextant::command
