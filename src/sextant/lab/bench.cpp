// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/lab/bench_collective.hpp"
#include "sextant/lab/bench_composite.hpp"
#include "sextant/lab/bench_filter.hpp"
#include "sextant/lab/bench_scan.hpp"
#include "sextant/lab/catalogue.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/text.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::lab {

namespace {

constexpr const char* simulated_clock = "a simulated clock";

/// The options of `sextant bench`.
struct BenchCommand {
    std::string what = "composite", cases;
    std::int64_t size = 1024;
    int rounds = 31, ranks = 4;
    bool simulated = false;
    command::Reports reports;

    std::vector<std::string> outputs() const {
        return command::files_named({reports.json, reports.report});
    }
    /// Returns true if tables are printed, that is, if no report is written to standard output.
    bool prints() const {
        return reports.json != command::standard_output &&
               reports.report != command::standard_output;
    }
};

Record record_of(BenchCommand& command) {
    Record record;
    record.add("what", command.what, "WHAT", "operation to time")
        .positional()
        .one_of({"composite", "collective", "filter", "scan"});
    record
        .add("cases", command.cases, "FILE",
             "file of cases (docs/bench.md); default: built-in cases")
        .file();
    record
        .add("size", command.size, "N", "composite: image size of the built-in case, N x N pixels")
        .between(1, 1 << 15);
    record
        .add("rounds", command.rounds, "N",
             "number of rounds; each configuration runs once per round")
        .between(5, 100000);
    record
        .add("ranks", command.ranks, "N",
             "number of ranks (threads); under mpirun: number of its processes")
        .between(1, 1 << 16);
    record.add("simulated", command.simulated,
               "scan: run on a simulated clock, with any number of ranks");
    record.include(record_of(command.reports));
    return record;
}

Effects effects_of(BenchCommand& command) {
    return {
        {{"simulated"}, "it is an option of bench scan", [&] { return command.what == "scan"; }},
        {{"size"}, "only the built-in case of bench composite uses this option", [&] {
             return command.what == "composite" && command.cases.empty();
         }}};
}

/// The results of a benchmark in all its cases.
struct Findings {
    nlohmann::ordered_json cases = nlohmann::ordered_json::array();
    std::vector<report::Section> sections;          ///< sections of the HTML page
    std::vector<TimedConfiguration> configurations; ///< configurations of all cases

    template <class Results>
    void add(const Results& results) {
        cases.push_back(to_json(results));
        sections.push_back(section_of(results));
        const std::vector<TimedConfiguration> more = configurations_of(results);
        configurations.insert(configurations.end(), more.begin(), more.end());
    }
};

/// The conditions of a benchmark.
struct BenchSetting {
    std::string operation; ///< for example "bench scan"
    int ranks = 1;
    std::string transport;
    int rounds = 1;
};

void print(const std::string& table) {
    command::print_text(table + "\n");
}

void check_files(const BenchCommand& command) {
    command::check_outputs(command.outputs(), command::files_named({command.cases}));
}

SizeOfCases size_of_cases(const std::string& operation) {
    const auto whole = [](double size) { return report::grouped(std::llround(size)); };
    if (operation == "bench collective")
        return {"bytes", report::bytes_to_text};
    return {operation == "bench scan" ? "ranks" : "pixels", whole};
}

std::string page_of(const BenchSetting& setting, const Findings& findings) {
    report::Page page;
    page.title = "Sextant: " + setting.operation;
    page.subtitle = fmt::format("{} ranks over {}, {} rounds", setting.ranks, setting.transport,
                                setting.rounds);
    page.facts = {
        {"Machine", fmt::format("{}, {}", host(), report::counted(cores_of_host(), "core"))},
        {"Made", fmt::format("{}, {}", date(), version())}};
    page.sections = summary_sections(findings.configurations, size_of_cases(setting.operation));
    page.sections.insert(page.sections.end(), findings.sections.begin(), findings.sections.end());
    return report::render(page);
}

std::string json_of(const BenchSetting& setting, const Findings& findings) {
    const nlohmann::ordered_json json = {{"operation", setting.operation},
                                         {"version", version()},
                                         {"host", host()},
                                         {"date", date()},
                                         {"cores", cores_of_host()},
                                         {"ranks", setting.ranks},
                                         {"transport", setting.transport},
                                         {"rounds", setting.rounds},
                                         {"cases", findings.cases}};
    return sextant::to_text(json) + "\n";
}

/// Writes the outputs of --json and --report.
void write_findings(const command::Reports& reports, const BenchSetting& setting,
                    const Findings& findings) {
    if (!reports.json.empty())
        command::write_text(reports.json, json_of(setting, findings));
    if (!reports.report.empty())
        command::write_text(reports.report, page_of(setting, findings));
}

/// Runs any kind of benchmark on one rank: reads the cases, measures them, and prints and writes
/// the results.
class BenchRun {
  public:
    BenchRun(const BenchCommand& command, Communicator communicator)
        : command_(command),
          communicator_(std::move(communicator)),
          progress_(communicator_.rank() == 0) {
        options_.rounds = command.rounds;
    }

    void run() {
        const std::string& what = command_.what;
        if (what == "scan")
            run_all(scan_cases);
        else if (what == "collective")
            run_all(collective_cases);
        else if (what == "filter")
            run_all(filter_cases);
        else
            run_all(composite_cases);
        agree(communicator_, [&] { write(); });
    }

    static std::vector<CompositeCase> composite_cases(const BenchCommand& command) {
        if (!command.cases.empty())
            return read_composite_cases(command.cases);
        CompositeCase what;
        what.shape.width = what.shape.height = command.size;
        what.name = fmt::format("dense {0}x{0} over", what.shape.width);
        what.all_transports = true;
        return {what};
    }

    static std::vector<ScanCase> scan_cases(const BenchCommand& command) {
        if (!command.cases.empty())
            return read_scan_cases(command.cases);
        ScanCase what;
        what.name = "exponential times, mean 2 ms";
        what.threads = {1, 2};
        return {what};
    }

    static std::vector<CollectiveCase> collective_cases(const BenchCommand& command) {
        return command.cases.empty() ? usual_collective_cases()
                                     : read_collective_cases(command.cases);
    }

    static std::vector<FilterCase> filter_cases(const BenchCommand& command) {
        return command.cases.empty() ? usual_filter_cases() : read_filter_cases(command.cases);
    }

  private:
    template <class Case>
    void run_all(std::vector<Case> (*find_cases)(const BenchCommand& command)) {
        std::vector<Case> cases;
        agree(communicator_, [&] {
            if (communicator_.rank() == 0)
                check_files(command_);
            cases = find_cases(command_);
        });
        std::size_t number = 0;
        for (const Case& what : cases) {
            ++number;
            options_.progress = [&](int round) {
                progress_.say(fmt::format("{}, case {} of {}: {}", what.name, number, cases.size(),
                                          round_text(round)));
            };
            run(what);
        }
    }

    std::string round_text(int round) const {
        return round < 0 ? "warming up" : fmt::format("round {} of {}", round + 1, options_.rounds);
    }

    void run(const CompositeCase& what) { tell(bench_composite(communicator_, what, options_)); }

    void run(const CollectiveCase& what) { tell(bench_collective(communicator_, what, options_)); }

    void run(const FilterCase& what) { tell(bench_filter(communicator_, what, options_)); }

    void run(const ScanCase& what) { tell(bench_scan(communicator_, what, options_)); }

    template <class Results>
    void tell(const Results& results) {
        progress_.clear();
        if (communicator_.rank() != 0)
            return;
        findings_.add(results);
        if (command_.prints())
            print(to_text(results, transport_of(communicator_), options_.rounds));
    }

    void write() const {
        if (communicator_.rank() != 0)
            return;
        write_findings(command_.reports,
                       {"bench " + command_.what, communicator_.size(), transport_of(communicator_),
                        options_.rounds},
                       findings_);
    }

    const BenchCommand& command_;
    const Communicator communicator_;
    Progress progress_;
    ContestOptions options_;
    Findings findings_;
};

/// Runs the scan cases on a simulated clock, without starting ranks.
void rehearse_cases(const BenchCommand& command) {
    check_files(command);
    const int ranks = command.ranks, draws = command.rounds;
    Findings findings;
    for (const ScanCase& what : BenchRun::scan_cases(command)) {
        const ScanResults results = rehearse_scan(what, what.ranks > 0 ? what.ranks : ranks, draws);
        findings.add(results);
        if (command.prints())
            print(to_text(results, simulated_clock, draws));
    }
    write_findings(command.reports, {"bench scan", ranks, simulated_clock, draws}, findings);
}

int run_bench(const BenchCommand& command, const command::Call& call) {
    if (command.simulated) {
        rehearse_cases(command);
        return 0;
    }
    if (command.ranks > command::most_threads && detect_launcher().launcher == Launcher::none) {
        throw InvalidTask(fmt::format("--ranks {}: expected {} or fewer threads, or --simulated",
                                      command.ranks, command::most_threads));
    }
    command::launch_ranks(call, command.ranks, [&](const Communicator& communicator) {
        BenchRun(command, communicator).run();
    });
    return 0;
}

} // namespace

command::Operation bench_operation() {
    return command::declare_command<BenchCommand>(
        "bench", "compare the times of Sextant's algorithms with those of MPI",
        "  mpirun -n 2 sextant bench composite --cases bench/cases/composite.json\n"
        "  mpirun -n 2 sextant bench collective --cases bench/cases/collective.json\n"
        "  sextant bench scan --simulated --ranks 1024 --cases bench/cases/scan_1024.json",
        run_bench);
}

} // namespace sextant::lab
