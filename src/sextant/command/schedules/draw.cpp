// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/schedule_file.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/schedules/families.hpp"
#include "sextant/command/schedules/platform_drawing.hpp"
#include "sextant/core/error.hpp"
#include "sextant/report/graph_drawing.hpp"

#include <fmt/format.h>

namespace sextant::command {

namespace {

struct DrawCommand {
    ScheduleRequest request = {.elements = 4096};
    bool collect = false;
    std::string platform, output;
};

Record record_of(DrawCommand& command) {
    Record record = record_of(command.request);
    record.add("collect", command.collect, "gather the composited image on rank 0");
    record
        .add("platform", command.platform, "FILE",
             "draw this platform (JSON file or installed name) instead of a schedule")
        .file();
    declare_output(record, command.output, "OUT",
                   "SVG, or the schedule if OUT ends in .json; - for standard output");
    return record;
}

Effects effects_of(DrawCommand& command) {
    Effects effects = effects_of(command.request, {"collect"});
    std::vector<std::string_view> schedule = effects.front().options;
    schedule.push_back("family");
    effects.push_back({std::move(schedule), "--platform draws a network",
                       [&] { return command.platform.empty(); }});
    return effects;
}

int run_draw(const DrawCommand& command, const Call&) {
    if (!command.platform.empty()) {
        const std::string path = machine::shared_file(simulate::platforms, command.platform);
        if (command.output.ends_with(".json"))
            throw InvalidTask(command.output + " cannot be written: --platform draws SVG");
        check_outputs({&command.output, 1}, {&path, 1});
        write_text(command.output, draw_platform(simulate::read_platform(path)));
        return 0;
    }
    ScheduleRequest request = command.request;
    if (command.collect)
        request.root = 0;
    check_outputs({&command.output, 1},
                  files_named({is_file(request) ? request.family : std::string()}));
    const NamedSchedule made = make_schedule(request);
    if (command.output.ends_with(".json")) {
        write_text(command.output,
                   sextant::json_of(ScheduleFile{made.schedule(), made.kind, made.commutative}));
        return 0;
    }
    report::DrawOptions options;
    options.title = made.title;
    options.subtitle = fmt::format("{} ranks, {} elements", made.ranks(), made.elements);
    write_text(command.output,
               with_errors_of(request, [&] { return report::draw(made.schedule(), options); }));
    return 0;
}

} // namespace

Operation draw_operation() {
    return declare_command<DrawCommand>(
        "draw", "draw a schedule's messages and dependences, or a platform (SVG)",
        "  sextant draw compositing --algorithm radix-k --radices 4,2 --ranks 8 -o radix.svg\n"
        "  sextant draw collective --algorithm ring-all-reduce --ranks 4 -o ring.json\n"
        "  sextant draw --platform dragonfly-72 -o dragonfly.svg",
        run_draw, RunOn::one_rank);
}

} // namespace sextant::command
