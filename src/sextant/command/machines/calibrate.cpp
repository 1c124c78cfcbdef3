// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/campaign.hpp"
#include "sextant/calibrate/completion.hpp"
#include "sextant/calibrate/estimate.hpp"
#include "sextant/calibrate/validation.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/child_process.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/core/temporary_files.hpp"
#include "sextant/core/text.hpp"
#include "sextant/machine/installation.hpp"
#include "sextant/machine/profile.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace sextant::command {

namespace {

using calibrate::HeldOut;
using machine::Profile;

struct Unit {
    std::string_view name;
    double factor;
};

/// Returns a codec for numbers with a unit.
Codec quantity(double& value, std::vector<Unit> units, double least, double most,
               std::string (*text_of)(double), const char* expected) {
    return {[&value, text_of] { return text_of(value); },
            [&value, units = std::move(units), least, most, expected](const Field&,
                                                                      std::string_view text) {
                const auto end = std::min(text.find_first_not_of("0123456789.eE+-"), text.size());
                const auto number = parsed_number<double>(text.substr(0, end));
                for (const Unit& unit : units) {
                    const double given = number.value_or(0) * unit.factor;
                    if (unit.name == text.substr(end) && given >= least && given <= most) {
                        value = given;
                        return "";
                    }
                }
                return expected;
            }};
}

/// Returns a codec for seconds, written as "60s", "1.5m" or "500ms".
Codec duration(Seconds& seconds) {
    constexpr double a_millisecond = 1e-3, a_day = 86400;
    return quantity(
        seconds, {{"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}}, a_millisecond, a_day,
        [](double value) { return fmt::format("{:g}s", value); },
        "a time from 1ms to 1440m, such as 60s, 500ms or 2m");
}

/// Returns a codec for fractions up to 1, written as percentages such as "2%".
Codec percentage(double& share) {
    return quantity(
        share, {{"%", .01}}, 1e-4, 1,
        [](double value) { return fmt::format("{:g}%", 100 * value); },
        "a fraction from 0.01% to 100%, such as 2%");
}

struct CalibrateCommand {
    std::string output;
    Seconds budget = 60;
    double ci = .02;
    int launches = 5;
    bool append = false;
    std::string transport = "auto", launcher = "mpirun -n 2";
    std::int64_t seed = 1;
    std::string check, json;
};

Record record_of(CalibrateCommand& command) {
    Record record;
    record
        .add("output", command.output, "FILE",
             "profile to write; default: the file that commands read by default")
        .file()
        .letter('o');
    record.add("budget", duration(command.budget), "TIME", "total time limit of all launches");
    record.add("ci", percentage(command.ci), "FRACTION",
               "target half-width of confidence intervals, relative to the median");
    record
        .add("launches", command.launches, "N",
             "number of separate launches; always 1 if started by a launcher")
        .between(1, 1000);
    record.add("append", command.append, "add launches to those already in the file");
    record.add("transport", command.transport, "NAME", "transport; auto is mpi under mpirun")
        .one_of({"auto", "threads", "mpi"});
    record.add("launcher", command.launcher, "COMMAND",
               "command that starts processes, for transport mpi");
    record.add("seed", command.seed, "N", "random seed of the measurement order and of checks")
        .between(0, 1 << 30);
    record
        .add("check", command.check, "FILE",
             "check the predictions of the profile FILE against new measurements")
        .file();
    declare_json(record, command.json);
    return record;
}

bool under_a_launcher() {
    return detect_launcher().launcher != Launcher::none;
}

Effects effects_of(CalibrateCommand& command) {
    return {{{"output", "budget", "ci", "launches", "append", "transport", "launcher"},
             "--check only measures messages, for the profile that it names",
             [&] { return command.check.empty(); }},
            {{"launcher"},
             "this option starts processes for --transport mpi, unless a launcher has started them",
             [&] { return command.transport == "mpi" && !under_a_launcher(); }},
            {{"launches"}, "a launcher has started this process, so there is one launch", [&] {
                 return command.launches == 1 || !under_a_launcher();
             }}};
}

/// The command's options, with the defaults for the transport and the path of the profile filled
/// in.
struct Request : CalibrateCommand {
    explicit Request(const CalibrateCommand& command)
        : CalibrateCommand(command), launched(under_a_launcher()) {
        if (transport == "auto")
            transport = launched ? "mpi" : "threads";
        if (launched && transport == "threads") {
            throw InvalidTask("--transport threads: threads run in one process, but a launcher "
                              "started several; run without it");
        }
        if (!launched && transport == "mpi" && mpi_of_build().empty())
            throw InvalidTask("--transport mpi: this sextant was built without MPI");
        if (output.empty())
            output = machine::default_profile_path(transport);
        if (output.empty())
            throw InvalidTask(
                "-o is missing, and there is no home directory for a default profile");
    }

    /// Returns true if this process measures; false if it starts other processes that measure.
    bool here() const { return launched || (launches == 1 && transport == "threads"); }

    bool launched;
};

/// Returns the path of the profile of a state: "machines/mpi.json" for the first state,
/// "machines/mpi.state-2.json" for the second.
std::string path_of_state(const std::string& path, std::size_t state) {
    if (state == 0)
        return path;
    std::filesystem::path file(path);
    const std::string name =
        fmt::format("{}.state-{}{}", file.stem().string(), state + 1, file.extension().string());
    return file.replace_filename(name).string();
}

/// Marks a profile if many of its values did not converge, also in its name, which plans print.
void mark_if_provisional(Profile& profile) {
    constexpr double wide = .1;
    const machine::Precision worth = machine::worth_of(profile, wide);
    profile.provisional = 4 * worth.wide > worth.values;
    if (profile.provisional)
        profile.name += fmt::format(" (provisional: {} of {} values did not converge to {:g} %)",
                                    worth.wide, worth.values, 100 * wide);
}

std::vector<Profile> write_profiles(const std::string& path, std::span<const Profile> launches) {
    std::vector<Profile> states = calibrate::merged(launches);
    for (Profile& state : states) {
        mark_if_provisional(state);
        calibrate::complete(state, true);
    }
    for (std::size_t i = 0; i < states.size(); ++i)
        write_text(path_of_state(path, i), machine::text_with_launches(states[i], launches));
    return states;
}

/// Prints what was measured, and how well its predictions hold.
void tell(const std::vector<Profile>& states, const Request& request, const std::string& checked) {
    Json found = Json::array();
    std::string text;
    for (std::size_t i = 0; i < states.size(); ++i) {
        const Profile& profile = states[i];
        const machine::Precision worth = machine::worth_of(profile, request.ci);
        const std::string path = path_of_state(request.output, i);
        found.add({{"file", path},
                   {"name", profile.name},
                   {"state", profile.state},
                   {"method", profile.origin.method},
                   {"probe_round_trip", profile.state_probe.median},
                   {"values", worth.values},
                   {"wide", worth.wide},
                   {"requested", request.ci},
                   {"half_interval_median", worth.median},
                   {"half_interval_nine_in_ten", worth.nine_in_ten}});
        text += fmt::format("{}{}: {}\n", profile.name,
                            profile.state.empty() ? "" : ", state " + profile.state,
                            profile.origin.method);
        text +=
            fmt::format("  round trip of 64 KiB: {}; {} values, half-width of confidence "
                        "intervals: median {:.1f} %, 90th percentile {:.1f} %\n",
                        report::to_text(profile.state_probe.median), report::grouped(worth.values),
                        100 * worth.median, 100 * worth.nine_in_ten);
        if (worth.wide > 0) {
            text += fmt::format("  {} did not converge to {:g} %: allow more time (--budget), or "
                                "stop other programs\n",
                                report::counted(worth.wide, "value"), 100 * request.ci);
        }
        text += fmt::format("  {}\n", path);
    }
    Json json = {{"operation", "calibrate"}, {"version", version()}, {"states", found}};
    std::array<double, 1> load{};
    if (getloadavg(load.data(), 1) == 1) {
        json.set("load_average", load[0]);
        text += fmt::format("load average {:.1f} on {} cores\n", load[0], states[0].cores);
    }
    write_reports({request.json, ""}, {}, json.text(), text + checked, "");
}

void make_folder_of(const std::string& path) {
    if (std::filesystem::path(path).filename().empty())
        return; // the path is that of a folder, not of a profile
    const auto folder = std::filesystem::path(path).parent_path();
    std::error_code error;
    if (!folder.empty() && !std::filesystem::create_directories(folder, error) && error)
        throw InvalidFile(folder.string(),
                          error.message() + "; name another file for the profile with --output");
}

std::vector<Profile> earlier_launches(const Request& request) {
    if (!request.append || !std::filesystem::exists(request.output))
        return {};
    std::vector<Profile> launches = machine::read_launches(request.output);
    if (launches.front().transport != request.transport) {
        throw InvalidTask(fmt::format(
            "{} was measured with transport {}, expected {}: write these launches to another file",
            request.output, launches.front().transport, request.transport));
    }
    return launches;
}

/// The prediction errors of one kind of message.
struct Errors {
    std::string kind;
    std::vector<double> values;

    double median() const { return sextant::median(values); }
    double nine_in_ten() const { return quantile(values, .9); }
};

/// Errors of predictions, as JSON and as text.
struct Reported {
    Json json;
    std::string text;
};

Reported errors_of(machine::Link link, const std::vector<HeldOut>& held) {
    Errors errors[] = {{"contiguous", {}}, {"tiles of images", {}}};
    Json messages, summary;
    for (const HeldOut& one : held) {
        errors[one.cell.layout == machine::Layout::cc ? 0 : 1].values.push_back(one.error());
        messages.add({{"layout", name(one.cell.layout)},
                      {"bytes", one.cell.bytes},
                      {"block", one.cell.block},
                      {"row", one.cell.row},
                      {"predicted", one.predicted},
                      {"measured", one.measured}});
    }
    std::string text;
    for (const Errors& of : errors) {
        if (of.values.empty())
            continue;
        text += fmt::format(
            "{}, {}: {} messages not used in the calibration, median error {:.1f} %, "
            "90th percentile {:.1f} %\n",
            name(link), of.kind, of.values.size(), 100 * of.median(), 100 * of.nine_in_ten());
        summary.add({{"kind", of.kind},
                     {"messages", of.values.size()},
                     {"median", of.median()},
                     {"nine_in_ten", of.nine_in_ten()}});
    }
    return {{{"link", name(link)}, {"messages", messages}, {"errors", summary}}, text};
}

Reported errors_of(const std::vector<calibrate::TimedFrame>& frames) {
    Reported reported{Json::array(), "composited frames:"};
    for (const calibrate::TimedFrame& frame : frames) {
        reported.json.add(
            {{"bytes", frame.bytes}, {"predicted", frame.predicted}, {"measured", frame.measured}});
        reported.text += fmt::format(
            "{} {} predicted {}, measured {}", frame.bytes == frames.front().bytes ? "" : ";",
            report::bytes_to_text(static_cast<double>(frame.bytes)),
            report::to_text(frame.predicted), report::to_text(frame.measured));
    }
    reported.text += "\n";
    return reported;
}

/// Measures messages of random sizes and composited frames, and compares their times with the
/// predictions of a profile. Throws InvalidTask if the profile lacks the costs of contiguous
/// messages.
/// Collective.
Reported check(const Communicator& communicator, const Profile& profile, std::int64_t seed,
               int messages, int rounds) {
    constexpr Bytes memory = Bytes{200} << 20;
    constexpr Elements sizes[] = {5000, 80000, 600000};
    constexpr Seconds duration = .03;
    const std::vector<calibrate::Cell> drawn =
        calibrate::draw_held_out(static_cast<unsigned>(seed), messages, messages);
    Json links;
    std::string text;
    calibrate::with_rigs(communicator, memory, [&](auto& stopwatch, machine::Link link) {
        // Short calibrations lack some layouts.
        std::vector<calibrate::Cell> cells = drawn;
        std::erase_if(cells, [&](const calibrate::Cell& cell) {
            const machine::LinkCosts* costs = profile.find(link);
            return cell.layout != machine::Layout::cc && costs &&
                   !machine::find(*costs, machine::Path::full, cell.layout, cell.strategy);
        });
        const Reported errors = errors_of(link, hold_out(stopwatch, cells, profile, link, rounds));
        links.add(errors.json);
        text += errors.text;
    });
    const Reported frames = errors_of(calibrate::time_frames(
        communicator, profile, communicator.shares_memory(), sizes, duration));
    return {{{"operation", "calibrate --check"},
             {"version", version()},
             {"links", links},
             {"frames", frames.json},
             {"host", host()},
             {"date", date()}},
            text + frames.text};
}

/// Measures one launch on this communicator. Collective.
void measure_here(const Request& request, const Communicator& communicator) {
    const bool first = communicator.rank() == 0;
    std::vector<Profile> launches;
    agree(communicator, [&] {
        // Every rank reads the file, because all ranks must plan the same measurements.
        if (first) {
            make_folder_of(request.output);
            check_outputs(files_named({request.output, request.json}));
        }
        launches = earlier_launches(request);
    });
    Progress progress(first);
    calibrate::CampaignOptions options;
    options.budget = request.budget, options.ci = request.ci;
    options.seed = static_cast<unsigned>(request.seed) + static_cast<unsigned>(launches.size());
    options.progress = [&](double share) {
        progress.say(
            fmt::format("launch {}: {:.0f} %", launches.size() + 1, 100 * std::min(1.0, share)));
    };
    const Profile earlier = launches.empty() ? Profile() : calibrate::merged(launches).front();
    Profile launch;
    agree(communicator,
          [&] { launch = calibrate::measure_launch(communicator, &earlier, options); });
    progress.clear();
    std::vector<Profile> states;
    agree(communicator, [&] {
        if (!first)
            return;
        launches.push_back(std::move(launch));
        states = write_profiles(request.output, launches);
    });
    std::string checked;
    if (!request.append) {
        agree(communicator, [&] {
            constexpr int messages = 20, rounds = 3;
            const Profile profile = machine::read_profile(request.output);
            checked = check(communicator, profile, request.seed, messages, rounds).text;
        });
    }
    agree(communicator, [&] {
        if (first)
            tell(states, request, checked);
    });
}

/// The command line that starts this program with the launcher of the request.
std::string started(const Request& request, const std::string& program) {
    return (request.transport == "mpi" ? request.launcher + " " : "") + program;
}

/// Runs `sextant calibrate` for each launch, one after another. Each launch adds its results to the
/// file and gets an equal part of the remaining budget. Throws Error, naming the command, if a
/// launch fails or does not end.
void run_launches(const Request& request, const std::string& program, const std::string& file) {
    using Clock = std::chrono::steady_clock;
    constexpr Seconds grace = 120; // extra time for a launcher on a busy machine
    const auto since = [](Clock::time_point begin) {
        return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    const auto begin = Clock::now();
    // Estimated time to start the first launch and to finish its last burst.
    Seconds starting = request.transport == "mpi" ? .6 : .1;
    for (int k = 0; k < request.launches; ++k) {
        const Seconds part = (request.budget - since(begin)) / (request.launches - k);
        const Seconds own = std::max(1e-3, part - starting);
        const auto launched = Clock::now();
        run_process(fmt::format("{} calibrate --launches 1 --append --budget {:.0f}ms -o {} "
                                "--ci {:g}% --seed {}",
                                started(request, program), own * 1e3, shell_quoted(file),
                                100 * request.ci, request.seed),
                    2 * part + grace);
        starting = std::max(0.0, since(launched) - own);
    }
}

void measure_in_launches(const Request& request, const std::string& program) {
    make_folder_of(request.output);
    check_outputs(files_named({request.output, request.json}));
    std::vector<Profile> launches = earlier_launches(request);
    const PrivateFolder work(folder_of(request.output));
    const std::string file = work.file("launches.json");
    run_launches(request, program, file);
    for (Profile& launch : machine::read_launches(file)) {
        if (launch.transport != request.transport)
            throw Error(fmt::format("--launcher {}: a launch measured transport {}, expected {}: "
                                    "the command must start MPI processes",
                                    request.launcher, launch.transport, request.transport));
        launches.push_back(std::move(launch));
    }
    const std::vector<Profile> states = write_profiles(request.output, launches);
    const std::string checked = work.file("check.txt");
    constexpr Seconds patience = 120;
    run_process(fmt::format("{} calibrate --check {} >{}", started(request, program),
                            shell_quoted(request.output), shell_quoted(checked)),
                patience);
    constexpr Bytes most = 1 << 20;
    tell(states, request, read_text(checked, most));
}

/// Prints a note if the machine is not in the state of the profile, because the prediction errors
/// then include the difference between the states. Collective.
void tell_state(const Communicator& communicator, const Profile& profile) {
    const Seconds now = calibrate::probe_state(communicator);
    const std::string other = calibrate::difference_of_state(profile, now);
    if (communicator.rank() == 0 && profile.state_probe.median > 0 && !other.empty())
        print_note(
            fmt::format("the machine has changed since the profile was measured; {}", other));
}

/// Checks a profile between two threads, or the ranks of a launcher, and prints the errors of its
/// predictions.
void check_predictions(const Request& request, const Call& call) {
    launch_ranks(call, 2, [&](Communicator communicator) {
        Profile profile;
        agree(communicator, [&] {
            const std::vector<std::string> outputs = files_named({request.json});
            keep_inputs(std::array{request.check}, outputs);
            if (communicator.rank() == 0)
                check_outputs(outputs);
            profile = machine::read_profile(request.check);
        });
        agree(communicator, [&] { tell_state(communicator, profile); });
        agree(communicator, [&] {
            constexpr int messages = 60, rounds = 6;
            const Reported errors = check(communicator, profile, request.seed, messages, rounds);
            if (communicator.rank() == 0)
                write_reports({request.json, ""}, {}, errors.json.text(), errors.text, "");
        });
    });
}

int run_calibrate(const CalibrateCommand& command, const Call& call) {
    const Request request(command);
    if (!request.check.empty())
        check_predictions(request, call);
    else if (request.here())
        launch_ranks(call, 2, [&](const Communicator& communicator) {
            measure_here(request, communicator);
        });
    else
        measure_in_launches(request, call.own_command());
    return 0;
}

} // namespace

Operation calibrate_operation() {
    return declare_command<CalibrateCommand>(
        "calibrate", "measure messages and computation on this machine, and write its profile",
        "  sextant calibrate\n"
        "  sextant calibrate --transport mpi --launcher 'mpirun -n 2' -o mpi.json\n"
        "  mpirun -n 2 sextant calibrate --check mpi.json",
        run_calibrate);
}

} // namespace sextant::command
