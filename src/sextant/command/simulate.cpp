// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/commands.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/schedule_parameters.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
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
#include <nlohmann/json.hpp>

namespace sextant::command {

namespace {

/// Time per element of an application, from passes over two operands of the size that a rank blends
/// if all ranks blend the same.
double seconds_per_application(const machine::Work& work, const Values& values) {
    if (work.passes.empty())
        return work.seconds_per_element->median;
    const Elements elements =
        std::max<Elements>(1, values.integer("elements") / values.integer("ranks"));
    return machine::at_pass(work.passes, elements, 2).median / static_cast<double>(elements);
}

/// Takes operator and copy costs from a profile.
void take_profile(const Values& values, simulate::Costs& costs) {
    const machine::Profile profile = machine::read_profile(values.text("machine"));
    const std::string name = values.text("operator");
    const machine::Work* work = profile.find_operator(name, "f32");
    if (!work)
        throw InvalidTask(fmt::format("the profile of {} has no operator {}", profile.name, name));
    costs.seconds_per_application = seconds_per_application(*work, values);
    for (const machine::CopyRate& rate : profile.copies) {
        if (rate.block == 0)
            costs.copy_seconds_per_byte = rate.seconds_per_byte.median;
    }
}

/// Costs from the parameters, else from the profile, else from the platform.
simulate::Costs costs_from(const Values& values, const std::string& platform) {
    simulate::Costs costs;
    if (simulate::is_json(platform))
        costs = simulate::read_platform(platform).costs;
    if (values.has("machine"))
        take_profile(values, costs);
    if (values.has("send-overhead"))
        costs.send_overhead = values.number("send-overhead");
    if (values.has("receive-overhead"))
        costs.receive_overhead = values.number("receive-overhead");
    if (values.has("blend-rate")) {
        const double rate = values.number("blend-rate");
        costs.seconds_per_application = rate > 0 ? 1 / rate : 0;
    }
    return costs;
}

report::Recording recording_of(const NamedSchedule& made, Bytes element_size, const Trace& trace) {
    return {.name = made.title,
            .origin = report::Origin::simulated,
            .ranks = static_cast<int>(made.schedule.size()),
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

/// The name of a platform: its file without folder and extension.
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

nlohmann::ordered_json json_of(const simulate::Costs& costs) {
    return {{"send_overhead", costs.send_overhead},
            {"receive_overhead", costs.receive_overhead},
            {"send_seconds_per_byte", costs.send_seconds_per_byte},
            {"receive_seconds_per_byte", costs.receive_seconds_per_byte},
            {"seconds_per_application", costs.seconds_per_application},
            {"copy_seconds_per_byte", costs.copy_seconds_per_byte}};
}

std::string json_text(const Values& values, const NamedSchedule& made,
                      const simulate::Question& question, const simulate::Simulation& run) {
    const nlohmann::ordered_json json{{"operation", "simulate"},
                                      {"family", values.text("family")},
                                      {"algorithm", made.title},
                                      {"ranks", made.schedule.size()},
                                      {"elements", values.integer("elements")},
                                      {"element_size", question.element_size},
                                      {"platform", question.platform},
                                      {"order", values.text("order")},
                                      {"association", name(question.association)},
                                      {"costs", json_of(question.costs)},
                                      {"seconds", run.seconds},
                                      {"finished", run.finished}};
    return sextant::to_text(json) + "\n";
}

std::string plain_text(const NamedSchedule& made, const simulate::Question& question,
                       const simulate::Simulation& run) {
    const auto [first, last] = std::minmax_element(run.finished.begin(), run.finished.end());
    std::string text =
        fmt::format("{} on {} of {}, operands combined {}\n{}, {:.4g} a second; the first rank is "
                    "done after {}\n",
                    made.title, report::counted(std::ssize(made.schedule), "rank"),
                    called(question), name(question.association), report::to_text(run.seconds),
                    1 / run.seconds, report::to_text(*first));
    if (question.costs.seconds_per_application == 0)
        text += "combining costs nothing: the platform says no rate, and none was given\n";
    return text;
}

/// Simulates with SimGrid, unless --clock is given or SimGrid is not available for this platform.
simulate::Simulation simulated(const Values& values, const simulate::Question& question) {
    if (values.flag("clock"))
        return simulate::simulate_on_clock(question);
    if (simulate::available() || !simulate::is_json(question.platform))
        return simulate::simulate(question);
    print_note(
        fmt::format("warning: simulated by our own clock (--clock): {}", simulate::unavailable()));
    return simulate::simulate_on_clock(question);
}

int run_simulate(const Values& values) {
    if (!values.has("machine"))
        refuse_given(values, {"operator"}, "expected --machine, whose profile knows what it costs");
    const ScheduleRequest request = schedule_request(values);
    const auto shown = files_given(values, {"trace", "report"}); // timelines
    keep_inputs(files_given(values, {"platform", "order", "machine"}), shown);
    check_outputs(shown, values.text("trace"));
    const std::string platform = machine::shared_file(simulate::platforms, values.text("platform"));
    const simulate::Costs costs = costs_from(values, platform);
    std::vector<simulate::OrderedHost> order;
    if (values.has("order"))
        order = simulate::read_order(machine::shared_file(simulate::orders, values.text("order")));
    const NamedSchedule made = make_schedule(request);
    const simulate::Question question{.schedule = made.schedule,
                                      .platform = platform,
                                      .order = std::move(order),
                                      .element_size = values.integer("element-size"),
                                      .costs = costs,
                                      .association = values.text("association") == "in-order"
                                                         ? Association::in_order
                                                         : Association::by_arrival,
                                      .timeline = !shown.empty()};
    const simulate::Simulation run = simulated(values, question);
    const report::Recording recording = recording_of(made, question.element_size, run.timeline);
    if (values.has("trace"))
        write_shown(values.text("trace"), recording);
    if (values.has("report"))
        write_text(values.text("report"), page_text(recording, question));
    if (std::find(shown.begin(), shown.end(), standard_output) == shown.end()) {
        const std::string text = values.flag("json") ? json_text(values, made, question, run)
                                                     : plain_text(made, question, run);
        print_text(text);
    }
    return 0;
}

std::vector<Parameter> parameters() {
    std::vector<Parameter> all = schedule_parameters("1048576");
    const std::vector<Parameter> rest = {
        element_size_parameter(),
        {.name = "platform",
         .type = Type::file,
         .value = "FILE",
         .help = "a platform (JSON, or SimGrid's XML), or the name of a shipped one",
         .required = true},
        {.name = "order",
         .type = Type::file,
         .value = "FILE",
         .help = "hosts in the order in which they take ranks, one a line"},
        {.name = "association",
         .type = Type::choice,
         .value = "HOW",
         .fallback = "by-arrival",
         .help = "how folds combine operands",
         .choices = {"by-arrival", "in-order"}},
        {.name = "send-overhead",
         .type = Type::number,
         .value = "S",
         .help = "seconds a rank spends on a message it sends",
         .least = 0,
         .most = 1},
        {.name = "receive-overhead",
         .type = Type::number,
         .value = "S",
         .help = "likewise on one that it receives",
         .least = 0,
         .most = 1},
        {.name = "blend-rate",
         .type = Type::number,
         .value = "PX/S",
         .help = "elements that a rank combines a second; 0: free",
         .least = 0,
         .most = 1e15},
        {.name = "machine",
         .type = Type::file,
         .value = "FILE",
         .help = "a machine's profile, for what combining and copying cost"},
        {.name = "operator",
         .value = "NAME",
         .fallback = "over",
         .help = "what folds apply, as that profile names it"},
        {.name = "clock",
         .type = Type::flag,
         .help = "by our own clock, not SimGrid: faster where many messages meet"},
        {.name = "json", .type = Type::flag, .help = "as JSON"},
        {.name = "trace",
         .type = Type::file,
         .value = "OUT",
         .help = "what ranks did when: .svg, or a trace: JSON, .otf2 (docs/trace.md)"},
        {.name = "report",
         .type = Type::file,
         .value = "FILE",
         .help = "the same as a page (HTML); - for standard output"}};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
}

} // namespace

Operation simulate_operation() {
    return {"simulate",
            "how long a schedule takes on a machine that need not be there, links shared",
            "  sextant simulate compositing --algorithm shift-based --ranks 144 \\\n"
            "      --elements 8388608 --platform fat-tree-144-calibrated",
            parameters(),
            run_simulate,
            true};
}

} // namespace sextant::command
