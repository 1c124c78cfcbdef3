// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/composite.hpp"

#include "sextant/comm/launch.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/composite_run.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace sextant::command {

namespace {

int run_composite(const CompositeCommand& command, const Call& call) {
    int ranks = static_cast<int>(command.ranks.value_or(0));
    std::shared_ptr<const Inputs> inputs; // set if ranks are threads, which share them
    if (detect_launcher().launcher == Launcher::none) {
        inputs = std::make_shared<Inputs>(find_inputs(command.inputs, command.order));
        if (ranks == 0)
            ranks = static_cast<int>(std::min<std::size_t>(inputs->paths.size(), most_threads));
    }
    launch_ranks(call, ranks, [&](Communicator communicator) {
        CompositeRun(command, call, std::move(communicator), inputs).run();
    });
    return 0;
}

} // namespace

Record record_of(CompositeCommand& command) {
    Record record;
    record
        .add("inputs", command.inputs, "IN...",
             "EXR (also deep), PNG or raw images, front to back, or one manifest.json")
        .file()
        .positional()
        .required();
    record
        .add("output", command.output, "OUT",
             "the composited image; formats: see 'sextant list formats'")
        .file()
        .letter('o')
        .required();
    Record composite = record_of(command.composite);
    for (const char* name : {"element", "fragments", "order", "root", "frames", "density", "trace"})
        composite.without(name);
    composite["operator"].meaning += "; auto: depends on the images";
    composite["plan"].meaning += "; if the file does not exist, write it";
    composite["plan"].differs = false; // as other files of the command
    offer_no_probe(composite, command.composite.probing);
    record.include(std::move(composite));
    record.add("element", command.element, "TYPE", "pixel element type for blending")
        .one_of({"f32", "f16", "u8"});
    record
        .add("order", command.order, "I,I,...",
             "visibility order of the images, front to back; default: as given")
        .between(0, 1 << 30);
    declare_ranks(record, command.ranks, "one per image");
    declare_shared_memory(record, command.shared_memory);
    record.add("race", command.race,
               "time the best two or three candidates on these images; use the fastest");
    record.include(record_of(command.reports));
    record
        .add("trace", command.trace, "FILE", "write a trace of all ranks, as JSON (docs/trace.md)")
        .file();
    return record;
}

Effects effects_of(CompositeCommand& command) {
    Effects effects = effects_of_planning(command.composite.machine);
    effects.push_back(
        {{"machine", "no_probe"}, "the algorithm is stated, and there is no --report", [&] {
             const CompositeOptions& options = command.composite;
             return (options.algorithm == "auto" && !is_saved(options.plan)) ||
                    !command.reports.report.empty();
         }});
    return effects;
}

Operation composite_operation() {
    return declare_command<CompositeCommand>(
        "composite", "blend the partial images of many ranks into one image",
        "  sextant composite brain/manifest.json -o brain.png --background white\n"
        "  mpirun -n 2 sextant composite part*.exr -o frame.exr --algorithm radix-k --radices 2",
        run_composite);
}

namespace {

/// The number of frames that --race plans for: that of a long-running program.
constexpr int frames_of_a_race = 1000;

/// The operator's name, with "auto" resolved. Throws InvalidTask unless "deep" is used for deep
/// images and another operator for flat images.
std::string operator_for(const std::string& name, const ElementFormat& element) {
    const bool deep = is_deep(element);
    if (name == "auto")
        return deep ? "deep" : element == rgba_depth_f32 ? "nearest" : "over";
    if (deep && name != "deep")
        throw InvalidTask(
            fmt::format("--operator {}: expected deep or auto, because the images are deep", name));
    if (!deep && name == "deep")
        throw InvalidTask("--operator deep: the images are flat, expected deep images");
    return name;
}

} // namespace

CompositeOptions options_for(const CompositeCommand& command, const ElementFormat& element) {
    CompositeOptions options = command.composite;
    options.blend = operator_for(options.blend, element);
    if (options.blend != "deep")
        options.element = element_named(command.element, options.blend);
    else if (command.element != "f32")
        throw InvalidTask(fmt::format("--element {}: expected f32, because the images are deep",
                                      command.element));
    options.frames = command.race ? frames_of_a_race : 1;
    options.trace = !command.trace.empty() || !command.reports.report.empty();
    return options;
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
