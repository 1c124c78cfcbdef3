// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/child_process.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/temporary_files.hpp"
#include "sextant/lab/catalogue.hpp"
#include "sextant/lab/mpi_algorithms.hpp"
#include "sextant/lab/tune_choice.hpp"
#include "sextant/lab/tune_launch.hpp"
#include "sextant/lab/tuning_rules.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sched.h>

namespace sextant::lab {

namespace {

/// The options of `sextant tune`.
struct TuneCommand {
    std::string output, verify, launcher, csv;
    bool once = false, commutative = false;
    int launches = 5, pairs = 15;
    TuneTask task;
    command::Reports reports;

    std::vector<std::string> outputs() const {
        return command::files_named({output, csv, reports.json, reports.report});
    }
    bool prints() const {
        return reports.json != command::standard_output &&
               reports.report != command::standard_output && csv != command::standard_output;
    }
};

Record record_of(TuneCommand& command) {
    Record record;
    record
        .add("output", command.output, "FILE",
             "write confirmed rules: an Open MPI rules file, or variables for MPICH")
        .file()
        .letter('o');
    record
        .add("verify", command.verify, "FILE",
             "compare launches with and without this file; exit code 1 unless faster")
        .file();
    record.add("once", command.once,
               "time all algorithms in this launch by mpirun, without choosing rules");
    record.add("launcher", command.launcher, "COMMAND",
               "command that starts the ranks of each launch; default: mpirun");
    record.add("launches", command.launches, "N", "number of launches that time all algorithms")
        .between(2, 100);
    record
        .add("pairs", command.pairs, "N",
             "number of pairs of launches, one with and one without the rules")
        .between(2, 100);
    record.add("commutative", command.commutative,
               "assume commutative operators: also use algorithms that require them");
    record.include(record_of(command.task));
    record.add("csv", command.csv, "FILE", "write all latencies as CSV").file();
    record.include(record_of(command.reports));
    return record;
}

Effects effects_of(TuneCommand& command) {
    return {{{"launcher", "launches", "pairs", "commutative"},
             "--once is a single launch",
             [&] { return !command.once; }},
            {{"algorithms"}, "expected --once", [&] { return command.once; }},
            {{"collectives", "launches", "commutative"},
             "--verify compares the rules of the file",
             [&] { return command.verify.empty(); }}};
}

void write_results(const TuneCommand& command, const TuneResults& results, const std::string& json,
                   const std::string& text) {
    if (!command.csv.empty())
        command::write_text(command.csv, csv_of(results));
    if (!command.reports.json.empty())
        command::write_text(command.reports.json, json);
    if (!command.reports.report.empty())
        command::write_text(command.reports.report, page_of(results));
    if (command.prints())
        command::print_text(text);
}

/// Measures all algorithms in this launch.
void tune_once(const TuneCommand& command) {
    if (!command.task.only_default())
        allow_mpi_algorithms();
    launch(1, [&](Communicator communicator) {
        const bool first = communicator.rank() == 0;
        agree(communicator, [&] {
            if (first)
                command::check_outputs(command.outputs());
        });
        TuneResults results;
        results.measured = {measure_algorithms(communicator, command.task)};
        agree(communicator, [&] {
            if (first)
                write_results(command, results, to_json(results.measured.front()),
                              latency_tables(results));
        });
    });
}

bool begins_with_any(std::string_view text, std::span<const std::string_view> prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return text.starts_with(prefix); });
}

/// Returns true for variables that a launcher sets for one rank, which would confuse another
/// launcher.
bool is_of_launcher(std::string_view name) {
    static constexpr std::string_view parameters[] = {"OMPI_MCA_orte_",
                                                      "OMPI_MCA_ess",
                                                      "OMPI_MCA_pmix",
                                                      "OMPI_MCA_initial_wdir",
                                                      "OMPI_MCA_mpi_oversubscribe",
                                                      "OMPI_MCA_shmem_RUNTIME"};
    static constexpr std::string_view all[] = {"OMPI_", "PMIX_",           "PRTE_",
                                               "PMI_",  "HYDI_CONTROL_FD", "MPI_LOCAL"};
    if (name.starts_with("OMPI_MCA_"))
        return begins_with_any(name, parameters);
    return begins_with_any(name, all) && !name.starts_with("OMPI_ALLOW_RUN_AS_ROOT");
}

/// Returns true for variables that select algorithms, because the defaults could not be measured.
bool selects_algorithms(std::string_view name) {
    return name.starts_with("OMPI_MCA_coll_tuned_") ||
           (name.starts_with("MPIR_CVAR_") && name.ends_with("_INTRA_ALGORITHM"));
}

/// Prepares this process, which may be a rank, for starting launches: removes environment variables
/// of the launcher and core binding.
void leave_launcher(Launcher launcher) {
    std::vector<std::string> names;
    for (char** each = environ; *each; ++each) {
        const std::string_view entry = *each;
        const std::string_view name = entry.substr(0, entry.find('='));
        if (selects_algorithms(name) || (launcher != Launcher::none && is_of_launcher(name)))
            names.emplace_back(name);
    }
    for (const std::string& name : names)
        unsetenv(name.c_str());
    cpu_set_t all; // undoes the binding to cores by a launcher
    CPU_ZERO(&all);
    for (int core = 0; core < CPU_SETSIZE; ++core)
        CPU_SET(core, &all);
    if (launcher != Launcher::none)
        sched_setaffinity(0, sizeof all, &all);
}

/// Returns an option with its values; "" if there are no values.
std::string option_with(std::string_view option, const std::vector<std::string>& values) {
    std::string text;
    for (const std::string& each : values)
        text += fmt::format(" {}", shell_quoted(each));
    return values.empty() ? text : fmt::format(" {}{}", option, text);
}

/// Starts launches, chooses rules and verifies the rules.
class TuneCampaign {
  public:
    TuneCampaign(const TuneCommand& command, std::string program, const LaunchedBy& by)
        : command_(command),
          program_(std::move(program)),
          launcher_(command.launcher),
          folder_(folder_of(command.verify.empty() ? command.output : command.verify)) {
        if (launcher_.empty())
            launcher_ = fmt::format(
                "{} -n {}", mpi_of_build().starts_with("MPICH") ? "mpiexec.hydra" : "mpirun",
                by.size > 0 ? by.size : 2);
    }

    TuneResults tune() {
        TuneResults results;
        for (int i = 0; i < command_.launches; ++i) {
            progress_.say(fmt::format("all algorithms, launch {} of {}", i + 1, command_.launches));
            results.measured.push_back(launch(command_.task, {{dynamic, "1"}}));
        }
        results.rules = choose_rules(results.measured, command_.commutative);
        const std::string candidate = folder_.file("rules");
        if (!results.rules.empty()) {
            TuningRules rules = heading(results.any());
            for (const TunedRule& each : results.rules)
                rules.rules.push_back(each.rule);
            command::write_text(candidate, to_text(rules));
            compare(results, rules, candidate);
        }
        results.written = heading(results.any());
        for (const TunedRule& each : results.rules) {
            if (each.kept())
                results.written.rules.push_back(each.rule);
        }
        if (!results.written.rules.empty()) {
            results.output = command_.output;
            command::write_text(results.output, to_text(results.written));
        }
        return results;
    }

    TuneResults verify() {
        TuneResults results;
        const TuningRules stated = read_rules(command_.verify, 0);
        require_match(stated, command_.verify, mpi_of_build(), 0);
        // The rules depend on the number of ranks, which the file may not state.
        TuneTask least = command_.task;
        least.sizes.resize(1);
        least.rounds = 3;
        least.collectives = {"bcast"};
        const int ranks = launch(default_only(least), {}).ranks;
        require_match(stated, command_.verify, mpi_of_build(), ranks);
        const TuningRules rules = read_rules(command_.verify, ranks);
        for (const TuningRule& each : rules.rules)
            results.rules.push_back({each, {}, {}});
        if (results.rules.empty())
            throw InvalidTask(fmt::format("{}: has no rule for {} ranks and the collectives that "
                                          "tune times",
                                          command_.verify, ranks));
        compare(results, rules, command_.verify);
        return results;
    }

    void end() { progress_.clear(); }

  private:
    static constexpr const char* dynamic = "OMPI_MCA_coll_tuned_use_dynamic_rules";

    static TuneTask default_only(TuneTask task) {
        task.algorithms = {"default"};
        return task;
    }

    static TuningRules heading(const TuneLaunch& launch) {
        return {launch.mpi,
                launch.ranks,
                fmt::format("{}, {}, sextant {}", launch.host, launch.date, version()),
                {}};
    }

    /// Runs pairs of launches, with and without the rules, and sets the rules' evidence. The order
    /// within pairs alternates.
    void compare(TuneResults& results, const TuningRules& rules, const std::string& path) {
        TuneTask task = default_only(command_.task);
        std::set<std::string> collectives;
        std::set<std::int64_t> sizes;
        for (const TuningRule& each : rules.rules) {
            collectives.emplace(each.operation);
            for (const std::int64_t size : sizes_to_verify(each, command_.task.sizes))
                sizes.insert(size);
        }
        task.collectives = {collectives.begin(), collectives.end()};
        task.sizes = {sizes.begin(), sizes.end()};
        const std::vector<Variable> variables = environment_of(rules, path);
        for (int i = 0; i < command_.pairs; ++i) {
            progress_.say(
                fmt::format("with and without the rules, pair {} of {}", i + 1, command_.pairs));
            if (i % 2 == 0)
                results.without.push_back(launch(task, {}));
            results.with.push_back(launch(task, variables));
            if (i % 2 == 1)
                results.without.push_back(launch(task, {}));
        }
        verify_rules(results.rules, results.without, results.with);
    }

    TuneLaunch launch(const TuneTask& task, const std::vector<Variable>& variables) const {
        constexpr Seconds patience = 3600;
        const std::string file = folder_.file("launch.json");
        std::string line = "env";
        for (const Variable& each : variables)
            line += fmt::format(" {}={}", each.name, shell_quoted(each.value));
        line += fmt::format(" {} {} tune --once --json={} --rounds {}", launcher_, program_,
                            shell_quoted(file), task.rounds);
        std::string sizes;
        for (const std::int64_t size : task.sizes)
            sizes += fmt::format("{}{}", sizes.empty() ? "" : ",", size);
        line += " --sizes " + sizes + option_with("--collectives", task.collectives) +
                option_with("--algorithms", task.algorithms);
        try {
            run_process(line, patience);
        } catch (const Error& error) {
            throw Error(fmt::format("a launch by '{}' failed: {}", launcher_, error.what()));
        }
        return read_launch(file);
    }

    const TuneCommand& command_;
    const std::string program_;
    std::string launcher_;
    const PrivateFolder folder_; ///< readable by all nodes of a cluster
    Progress progress_{true};
};

/// Checks the mode and the values.
void check_modes(const TuneCommand& command) {
    const int modes = command.once + !command.verify.empty() + !command.output.empty();
    if (modes != 1)
        throw InvalidTask("expected one of --output FILE, --verify FILE and --once");
    check_task(command.task);
    if (!command.output.empty() && command.task.sizes.size() < 2)
        throw InvalidTask("--sizes: expected two sizes or more, the limits of size classes");
}

/// Returns text on how to use a file of rules.
std::string usage_of(const TuneResults& results, const std::string& output) {
    if (results.output.empty())
        return fmt::format("keep the defaults; {} was not written\n", output);
    std::string text = "wrote " + results.output + "; to use it:\n";
    for (const Variable& each : environment_of(results.written, results.output))
        text += fmt::format("  export {}={}\n", each.name, each.value);
    return text;
}

int run_tune(const TuneCommand& command, const command::Call& call) {
    const LaunchedBy by = detect_launcher();
    if (command.once) {
        check_modes(command);
        tune_once(command);
        return 0;
    }
    if (by.rank > 0)
        return 0; // rank 0 starts the launches
    check_modes(command);
    const std::string mismatch = launcher_mismatch(by);
    if (!mismatch.empty())
        throw InvalidTask(mismatch);
    if (by.launcher == Launcher::pmix)
        throw InvalidTask("tune starts launches by itself: run it without srun, and with "
                          "--launcher 'srun -n RANKS --mpi=pmix'");
    if (mpi_of_build().empty())
        throw InvalidTask("tune measures MPI, but this sextant was built without it");
    if (by.size == 1 && command.launcher.empty())
        throw InvalidTask("nothing to tune for one rank: expected two ranks or more");
    command::check_outputs(command.outputs(), command::files_named({command.verify}));
    leave_launcher(by.launcher);
    TuneCampaign campaign(command, call.own_command(), by);
    const TuneResults results = command.verify.empty() ? campaign.tune() : campaign.verify();
    campaign.end();
    const bool verifies = !command.verify.empty();
    write_results(command, results, json_of(results),
                  fastest_tables(results) + rules_table(results) +
                      (verifies ? "" : usage_of(results, command.output)));
    const bool confirmed = std::all_of(results.rules.begin(), results.rules.end(),
                                       [](const TunedRule& each) { return each.kept(); });
    return verifies && !confirmed ? 1 : 0;
}

} // namespace

command::Operation tune_operation() {
    return command::declare_command<TuneCommand>(
        "tune", "find the fastest algorithms of MPI's collectives on this machine",
        "  mpirun -n 2 sextant tune -o rules.conf --collectives bcast --sizes 1024,65536\n"
        "  sextant tune --launcher 'mpirun -n 2' -o rules.conf --csv latencies.csv\n"
        "  mpirun -n 2 sextant tune --once --collectives allreduce",
        run_tune);
}

} // namespace sextant::lab
