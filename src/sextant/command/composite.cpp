// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/composite.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/node_sharing.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/composite_run.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/schedule_parameters.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/text.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace sextant::command {

namespace {

int run_composite(const Values& values) {
    int ranks = static_cast<int>(values.has("ranks") ? values.integer("ranks") : 0);
    std::shared_ptr<const Inputs> inputs; // read once if ranks are threads
    if (detect_launcher().launcher == Launcher::none) {
        inputs = find_inputs(values);
        if (ranks == 0)
            ranks = static_cast<int>(std::min<std::size_t>(inputs->paths.size(), most_threads));
    }
    launch_ranks(values, ranks, [&](Communicator communicator) {
        CompositeRun(values, std::move(communicator), inputs).run();
    });
    return 0;
}

} // namespace

Operation composite_operation() {
    return {
        "composite",
        "blend partial images, one or more a rank, into one picture",
        "  sextant composite brain/manifest.json -o brain.png --background white\n"
        "  mpirun -n 2 sextant composite part*.exr -o frame.exr --algorithm radix-k --radices 2",
        {{.name = "inputs",
          .type = Type::files,
          .value = "IN...",
          .help = "EXR (also deep), PNG or raw images, front to back, or one manifest.json",
          .positional = true,
          .required = true},
         {.name = "output",
          .type = Type::file,
          .value = "OUT",
          .help = "the picture; its ending names a format of 'sextant list formats'",
          .letter = 'o',
          .required = true},
         {.name = "algorithm",
          .value = "NAME",
          .fallback = "auto",
          .help = "predicted to be fastest; or one of 'sextant list algorithms'"},
         radices_parameter(),
         window_parameter(),
         sparse_parameter(),
         {.name = "interlace",
          .type = Type::choice,
          .value = "WHEN",
          .fallback = "auto",
          .help = "rows dealt in turn, to share what was drawn",
          .choices = {"auto", "on", "off"}},
         shared_memory_parameter(),
         {.name = "operator",
          .value = "NAME",
          .fallback = "auto",
          .help = "over, nearest, add, max or deep; auto: by what images hold"},
         {.name = "element",
          .type = Type::choice,
          .value = "TYPE",
          .fallback = "f32",
          .help = "what colours are blended as",
          .choices = {"f32", "f16", "u8"}},
         {.name = "order",
          .type = Type::integers,
          .value = "I,I,...",
          .help = "images front to back; default: as given",
          .least = 0,
          .most = 1 << 30},
         {.name = "background", .value = "COLOUR", .help = colour_forms},
         {.name = "ranks",
          .type = Type::integer,
          .value = "N",
          .help = "threads; default: one an image",
          .least = 1,
          .most = most_threads},
         {.name = "fold-threads",
          .type = Type::integer,
          .value = "N",
          .fallback = "1",
          .help = "that share a rank's blending; pictures do not depend on it",
          .least = 1,
          .most = most_threads},
         {.name = "association",
          .type = Type::choice,
          .value = "HOW",
          .fallback = "in-order",
          .help = "how operands are bracketed",
          .choices = {"in-order", "by-arrival"}},
         {.name = "machine",
          .type = Type::file,
          .value = "FILE",
          .help = "a profile to predict with; default: this machine's"},
         no_probe_parameter(),
         {.name = "plan",
          .type = Type::file,
          .value = "FILE",
          .help = "do as this plan says; if there is none, write it there"},
         {.name = "race",
          .type = Type::flag,
          .help = "time the likeliest two or three on these images, and take the fastest"},
         {.name = "json",
          .type = Type::file,
          .value = "FILE",
          .help = "write what ran as JSON; - for standard output"},
         {.name = "report",
          .type = Type::file,
          .value = "FILE",
          .help = "write a page that shows the run (HTML); - for standard output"},
         {.name = "trace",
          .type = Type::file,
          .value = "FILE",
          .help = "what each rank did when: JSON (- for here), .otf2 (docs/trace.md)"}},
        run_composite};
}

namespace {

/// The number of frames that --race plans for: a program that composites for a while.
constexpr int frames_of_a_race = 1000;

/// Returns the operator's name. Deep images take "deep", other images do not.
std::string operator_for(const Values& values, const ElementFormat& element) {
    const std::string asked = values.text("operator");
    const bool deep = is_deep(element);
    if (asked == "auto")
        return deep ? "deep" : element == rgba_depth_f32 ? "nearest" : "over";
    if (deep && asked != "deep")
        throw InvalidTask(fmt::format("--operator {}: deep images take deep, or auto", asked));
    if (!deep && asked == "deep")
        throw InvalidTask("--operator deep: for deep images, these are flat");
    return asked;
}

planner::Interlace interlace_from(const Values& values) {
    const std::string when = values.text("interlace");
    return when == "on"    ? planner::Interlace::on
           : when == "off" ? planner::Interlace::off
                           : planner::Interlace::automatic;
}

} // namespace

CompositeOptions composite_options(const Values& values, const ElementFormat& element) {
    CompositeOptions options;
    options.algorithm = values.text("algorithm");
    const compositing::Tuning tuning = tuning_from(values);
    options.radices = tuning.radices;
    options.window = tuning.window;
    options.sparse = sparse_from(values);
    options.interlace = interlace_from(values);
    options.blend = operator_for(values, element);
    if (options.blend != "deep")
        options.element = element_named(values.text("element"), options.blend);
    if (values.has("background"))
        options.background = parse_colour(values.text("background"));
    if (values.text("association") == "by-arrival")
        options.association = Association::by_arrival;
    options.machine = values.text("machine");
    options.probing = probing_of(values);
    options.plan = values.text("plan");
    options.fold_threads = static_cast<int>(values.integer("fold-threads"));
    if (options.blend == "deep" && values.text("element") != "f32") {
        throw InvalidTask(
            fmt::format("--element {}: deep images are blended as f32", values.text("element")));
    }
    options.frames = values.flag("race") ? frames_of_a_race : 1;
    options.trace = values.has("trace") || values.has("report");
    return options;
}

namespace {

std::optional<std::array<float, 4>> from_hexadecimal(const std::string& text) {
    if (text.size() != 7 && text.size() != 9)
        return std::nullopt;
    if (text.find_first_not_of("0123456789abcdefABCDEF", 1) != std::string::npos)
        return std::nullopt;
    std::array<float, 4> channels = {0, 0, 0, 1};
    for (std::size_t i = 0; 2 * i + 1 < text.size(); ++i) {
        channels[i] =
            static_cast<float>(std::stoi(text.substr(2 * i + 1, 2), nullptr, 16)) / 255.0f;
    }
    return channels;
}

std::optional<std::array<float, 4>> from_numbers(const std::string& text) {
    std::array<float, 4> channels = {0, 0, 0, 1};
    std::size_t count = 0;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ','); ++count) {
        const auto number = parsed_number<double>(part);
        if (count == channels.size() || !number || *number < 0 || *number > 1)
            return std::nullopt;
        channels[count] = static_cast<float>(*number);
    }
    return count >= 3 && !text.ends_with(',') ? std::optional(channels) : std::nullopt;
}

std::optional<std::array<float, 4>> parse(const std::string& text) {
    if (text == "white")
        return std::array<float, 4>{1, 1, 1, 1};
    if (text == "black")
        return std::array<float, 4>{0, 0, 0, 1};
    if (text == "gray" || text == "grey")
        return std::array<float, 4>{.5f, .5f, .5f, 1};
    return text.starts_with('#') ? from_hexadecimal(text) : from_numbers(text);
}

} // namespace

RgbaF32 parse_colour(const std::string& text) {
    const auto channels = parse(text);
    if (!channels) {
        throw InvalidTask(fmt::format("--background {}: expected {}", text, colour_forms));
    }
    const auto& [r, g, b, a] = *channels;
    return {r * a, g * a, b * a, a};
}

ElementFormat element_named(const std::string& name, const std::string& blend) {
    struct Row {
        std::string_view name;
        ElementFormat colour, with_depth;
    };
    static constexpr Row rows[] = {{"f32", rgba_f32, rgba_depth_f32},
                                   {"f16", rgba_f16, rgba_f16},
                                   {"u8", rgba_u8, rgba_u8_depth_f32}};
    const Row& row = find_by_name<Row>("pixel format", name, rows);
    const bool depth = has_depth(kernel::find_family(blend).operators.front().element);
    return depth ? row.with_depth : row.colour;
}

} // namespace sextant::command
