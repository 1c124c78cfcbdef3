// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/schedules/families.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/machine/interpolate.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/report/run_comparison.hpp"
#include "sextant/report/text.hpp"
#include "sextant/report/trace_timeline.hpp"
#include "sextant/simulate/platform.hpp"
#include "sextant/simulate/simulation.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

namespace sextant::command {

namespace {

struct SimulateCommand {
    ScheduleRequest request = {.elements = 1 << 20};
    std::int64_t element_size = 16;
    std::string platform, order, machine, operator_name = "over";
    Association association = Association::by_arrival;
    std::optional<double> send_overhead, receive_overhead, blend_rate;
    bool clock = false;
    std::string trace;
    Reports reports;
};

Record record_of(SimulateCommand& command) {
    Record record = record_of(command.request);
    record.add("element_size", command.element_size, "BYTES", "size of an element in bytes")
        .between(1, 1 << 20);
    record
        .add("platform", command.platform, "FILE",
             "platform (JSON, or SimGrid's XML), or the name of an installed one")
        .file()
        .required();
    record
        .add("order", command.order, "FILE",
             "file that lists the hosts of ranks 0, 1, ..., one per line")
        .file();
    record.add("association", command.association,
               {{"by-arrival", Association::by_arrival}, {"in-order", Association::in_order}},
               "HOW", "order of combining operands");
    record
        .add("send_overhead", command.send_overhead, "S",
             "time in seconds that a rank needs to send a message")
        .between(0, 1);
    record
        .add("receive_overhead", command.receive_overhead, "S",
             "time in seconds that a rank needs to receive a message")
        .between(0, 1);
    record
        .add("blend_rate", command.blend_rate, "PX/S",
             "elements that a rank combines per second; 0: combining is free")
        .between(0, 1e15);
    record
        .add("machine", command.machine, "FILE",
             "profile with the costs of combining and copying: file or installed name")
        .file();
    record.add("operator", command.operator_name, "NAME",
               "operator to apply, as named in the profile");
    record.add("clock", command.clock,
               "use Sextant's simulator, not SimGrid; faster if contention is high");
    record
        .add("trace", command.trace, "OUT",
             "write a trace of all ranks: .svg or JSON (docs/trace.md)")
        .file();
    record.include(record_of(command.reports));
    return record;
}

Effects effects_of(SimulateCommand& command) {
    Effects effects = effects_of(command.request);
    effects.insert(
        effects.end(),
        {{{"operator"},
          "expected --machine with a profile that has the operator's cost",
          [&] { return !command.machine.empty(); }},
         {{"operator"}, "--blend-rate specifies its cost", [&] { return !command.blend_rate; }}});
    return effects;
}

/// Returns the operator's time per element, from passes over two operands of the size that each
/// rank blends if the image is divided evenly.
double seconds_per_application(const machine::Work& work, const NamedSchedule& made) {
    if (work.passes.empty())
        return work.seconds_per_element->median;
    const Elements elements = std::max<Elements>(1, made.elements / made.ranks());
    return machine::at_pass(work.passes, elements, 2).median / static_cast<double>(elements);
}

/// Reads the costs of operators and copies from a profile.
void take_profile(const SimulateCommand& command, const NamedSchedule& made,
                  simulate::Costs& costs) {
    const machine::Profile profile =
        machine::read_profile(machine::shared_file(machine::machines, command.machine));
    const std::string& name = command.operator_name;
    const machine::Work* work = profile.find_operator(name, "f32");
    if (!work)
        throw InvalidTask(fmt::format("the profile of {} has no operator {}", profile.name, name));
    costs.seconds_per_application = seconds_per_application(*work, made);
    for (const machine::CopyRate& rate : profile.copies) {
        if (rate.block == 0)
            costs.copy_seconds_per_byte = rate.seconds_per_byte.median;
    }
}

/// Returns costs from the options, else from the profile, else from the platform.
simulate::Costs costs_from(const SimulateCommand& command, const NamedSchedule& made,
                           const std::string& platform) {
    simulate::Costs costs;
    if (simulate::is_json(platform))
        costs = simulate::read_platform(platform).costs;
    if (!command.machine.empty())
        take_profile(command, made, costs);
    costs.send_overhead = command.send_overhead.value_or(costs.send_overhead);
    costs.receive_overhead = command.receive_overhead.value_or(costs.receive_overhead);
    if (command.blend_rate)
        costs.seconds_per_application = *command.blend_rate > 0 ? 1 / *command.blend_rate : 0;
    return costs;
}

report::Recording recording_of(const NamedSchedule& made, Bytes element_size, const Trace& trace) {
    return {.name = made.title,
            .origin = report::Origin::simulated,
            .ranks = made.ranks(),
            .element_size = element_size,
            .trace = trace};
}

/// Writes a drawing if the name ends in .svg, else a trace.
void write_shown(const std::string& path, const report::Recording& recording) {
    if (path.ends_with(".svg"))
        write_text(path, report::timeline(recording.trace, recording.ranks,
                                          {.title = recording.name, .subtitle = "simulated"}));
    else
        write_trace(path, recording);
}

/// Returns the name of a platform: its file name without folder and extension.
std::string called(const simulate::Question& question) {
    return std::filesystem::path(question.platform).stem();
}

std::string page_text(const report::Recording& recording, const simulate::Question& question) {
    const std::span all(&recording, 1);
    report::Page page = report::comparison("Sextant: " + recording.title(), all);
    page.subtitle = called(question);
    page.facts.push_back({"Association", std::string(name(question.association))});
    return report::render(page);
}

Json json_of(const simulate::Costs& costs) {
    return {{"send_overhead", costs.send_overhead},
            {"receive_overhead", costs.receive_overhead},
            {"send_seconds_per_byte", costs.send_seconds_per_byte},
            {"receive_seconds_per_byte", costs.receive_seconds_per_byte},
            {"seconds_per_application", costs.seconds_per_application},
            {"copy_seconds_per_byte", costs.copy_seconds_per_byte},
            {"pack_seconds_per_byte", costs.pack_seconds_per_byte},
            {"waits_while_sending", costs.waits_while_sending}};
}

std::string json_text(const SimulateCommand& command, const NamedSchedule& made,
                      const simulate::Question& question, const simulate::Simulation& run) {
    return to_json(results_of("simulate")
                       .include({{"family", command.request.family},
                                 {"algorithm", made.title},
                                 {"ranks", made.ranks()},
                                 {"elements", made.elements},
                                 {"element_size", question.element_size},
                                 {"platform", question.platform},
                                 {"order", command.order},
                                 {"association", name(question.association)},
                                 {"costs", json_of(question.costs)},
                                 {"seconds", run.seconds},
                                 {"finished", run.finished}}));
}

std::string plain_text(const NamedSchedule& made, const simulate::Question& question,
                       const simulate::Simulation& run) {
    const auto [first, last] = std::minmax_element(run.finished.begin(), run.finished.end());
    std::string text = fmt::format(
        "{} on {} of {}, operands combined {}\n{} per run, {:.4g} runs per second; the first rank "
        "finishes after {}\n",
        made.title, report::counted(made.ranks(), "rank"), called(question),
        name(question.association), report::to_text(run.seconds), 1 / run.seconds,
        report::to_text(*first));
    if (question.costs.seconds_per_application == 0)
        text += "combining is free: neither the platform nor an option gives a rate\n";
    return text;
}

/// Simulates with SimGrid, unless --clock is given or SimGrid is not available for this platform.
simulate::Simulation simulated(const SimulateCommand& command, const simulate::Question& question) {
    if (command.clock)
        return simulate::simulate_on_clock(question);
    if (simulate::available() || !simulate::is_json(question.platform))
        return simulate::simulate(question);
    print_note(fmt::format("warning: simulated with Sextant's own simulator (--clock): {}",
                           simulate::unavailable()));
    return simulate::simulate_on_clock(question);
}

int run_simulate(const SimulateCommand& command, const Call&) {
    const Reports& reports = command.reports;
    const std::vector<std::string> outputs =
        files_named({command.trace, reports.json, reports.report});
    check_outputs(outputs,
                  files_named({command.platform, command.order, command.machine,
                               is_file(command.request) ? command.request.family : std::string()}));
    const std::string platform = machine::shared_file(simulate::platforms, command.platform);
    const NamedSchedule made = make_schedule(command.request);
    const simulate::Costs costs = costs_from(command, made, platform);
    std::vector<simulate::OrderedHost> order;
    if (!command.order.empty())
        order = simulate::read_order(machine::shared_file(simulate::orders, command.order));
    const simulate::Question question{.schedule = made.programs,
                                      .platform = platform,
                                      .order = std::move(order),
                                      .element_size = command.element_size,
                                      .costs = costs,
                                      .association = command.association,
                                      .timeline =
                                          !command.trace.empty() || !reports.report.empty()};
    const simulate::Simulation run =
        with_errors_of(command.request, [&] { return simulated(command, question); });
    const report::Recording recording = recording_of(made, question.element_size, run.timeline);
    if (!command.trace.empty())
        write_shown(command.trace, recording);
    write_reports(reports, {}, json_text(command, made, question, run),
                  command.trace == standard_output ? "" : plain_text(made, question, run),
                  reports.report.empty() ? "" : page_text(recording, question));
    return 0;
}

} // namespace

Operation simulate_operation() {
    return declare_command<SimulateCommand>(
        "simulate", "simulate a schedule on a network, with contention",
        "  sextant simulate compositing --algorithm shift-based --ranks 144 \\\n"
        "      --elements 8388608 --platform fat-tree-144-calibrated",
        run_simulate, RunOn::one_rank);
}

} // namespace sextant::command
