// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/bench.hpp"

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
#include "sextant/lab/bench_scan_report.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

namespace sextant::command {

namespace {

constexpr const char* simulated_clock = "a simulated clock";

void print(const std::string& table) {
    print_text((table + "\n"));
}

void check_files(const Values& values) {
    keep_inputs(files_given(values, {"cases"}), bench_outputs(values));
    check_outputs(bench_outputs(values));
}

/// True if tables go to standard output, because no file does.
bool prints(const Values& values) {
    const std::vector<std::string> paths = bench_outputs(values);
    return std::find(paths.begin(), paths.end(), standard_output) == paths.end();
}

/// One rank's run of a benchmark of any kind: reads the cases, runs them, and prints and writes the
/// results.
class BenchRun {
  public:
    BenchRun(const Values& values, Communicator communicator)
        : values_(values),
          communicator_(std::move(communicator)),
          progress_(communicator_.rank() == 0) {
        options_.rounds = static_cast<int>(values.integer("rounds"));
    }

    void run() {
        const std::string what = values_.text("what");
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

    static std::vector<CompositeCase> composite_cases(const Values& values) {
        if (values.has("cases"))
            return read_composite_cases(values.text("cases"));
        CompositeCase what;
        what.shape.width = what.shape.height = values.integer("size");
        what.name = fmt::format("dense {0}x{0} over", what.shape.width);
        what.all_transports = true;
        return {what};
    }

    static std::vector<ScanCase> scan_cases(const Values& values) {
        if (values.has("cases"))
            return read_scan_cases(values.text("cases"));
        ScanCase what;
        what.name = "exponential times of 2 ms";
        what.threads = {1, 2};
        return {what};
    }

    static std::vector<CollectiveCase> collective_cases(const Values& values) {
        return values.has("cases") ? read_collective_cases(values.text("cases"))
                                   : usual_collective_cases();
    }

    static std::vector<FilterCase> filter_cases(const Values& values) {
        return values.has("cases") ? read_filter_cases(values.text("cases"))
                                   : std::vector{usual_filter_case()};
    }

  private:
    template <class Case>
    void run_all(std::vector<Case> (*find_cases)(const Values& values)) {
        std::vector<Case> cases;
        agree(communicator_, [&] {
            if (communicator_.rank() == 0)
                check_files(values_);
            cases = find_cases(values_);
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
        if (prints(values_))
            print(to_text(results, transport_of(communicator_), options_.rounds));
    }

    void write() const {
        if (communicator_.rank() != 0)
            return;
        write_findings(values_,
                       {fmt::format("bench {}", values_.text("what")), communicator_.size(),
                        transport_of(communicator_), options_.rounds},
                       findings_);
    }

    const Values& values_;
    const Communicator communicator_;
    Progress progress_;
    ContestOptions options_;
    Findings findings_;
};

/// Scans on a simulated clock; no ranks are started.
void rehearse_cases(const Values& values) {
    check_files(values);
    const int ranks = static_cast<int>(values.integer("ranks"));
    const int draws = static_cast<int>(values.integer("rounds"));
    Findings findings;
    for (const ScanCase& what : BenchRun::scan_cases(values)) {
        const ScanResults results = rehearse_scan(what, what.ranks > 0 ? what.ranks : ranks, draws);
        findings.add(results);
        if (prints(values))
            print(to_text(results, simulated_clock, draws));
    }
    write_findings(values, {"bench scan", ranks, simulated_clock, draws}, findings);
}

/// Refuses options that do not apply to this kind of benchmark.
void check_asked(const Values& values) {
    const bool scans = values.text("what") == "scan";
    if (!scans && values.flag("simulated"))
        throw InvalidTask("--simulated is for scans: expected sextant bench scan");
    if (values.text("what") != "composite" || values.has("cases"))
        refuse_given(values, {"size"}, "it is of the usual case of bench composite");
}

int run_bench(const Values& values) {
    check_asked(values);
    if (values.flag("simulated")) {
        rehearse_cases(values);
        return 0;
    }
    const int ranks = static_cast<int>(values.integer("ranks"));
    if (ranks > most_threads && detect_launcher().launcher == Launcher::none) {
        throw InvalidTask(fmt::format("--ranks {}: expected {} or fewer threads, or --simulated",
                                      ranks, most_threads));
    }
    launch(ranks, [&](Communicator communicator) { BenchRun(values, communicator).run(); });
    return 0;
}

} // namespace

Operation bench_operation() {
    return {
        "bench",
        "time our algorithms and what MPI offers against each other",
        "  mpirun -n 2 sextant bench composite --cases bench/cases/composite.json\n"
        "  mpirun -n 2 sextant bench collective --cases bench/cases/collective.json\n"
        "  sextant bench scan --simulated --ranks 1024 --cases bench/cases/scan_1024.json",
        {{.name = "what",
          .type = Type::choice,
          .value = "WHAT",
          .fallback = "composite",
          .help = "what to time",
          .positional = true,
          .choices = {"composite", "collective", "filter", "scan"}},
         {"cases", Type::file, "FILE", "", "cases to run (docs/bench.md); default: the usual"},
         {"size",
          Type::integer,
          "N",
          "1024",
          "of composite's usual one: N x N pixels",
          0,
          false,
          false,
          {},
          1,
          1 << 15},
         {"rounds",
          Type::integer,
          "N",
          "31",
          "each runs once a round",
          0,
          false,
          false,
          {},
          5,
          100000},
         {"ranks",
          Type::integer,
          "N",
          "4",
          "threads, where no mpirun started more",
          0,
          false,
          false,
          {},
          1,
          1 << 16},
         {"simulated", Type::flag, "", "", "scans: by a simulated clock, with any number of ranks"},
         {"report", Type::file, "FILE", "", "write a page of the results (HTML); - for here"},
         {"json", Type::file, "FILE", "", "write the results there; - for here"}},
        run_bench};
}

namespace {

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
    page.sections = summary_sections(findings.ways, size_of_cases(setting.operation));
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

} // namespace

std::vector<std::string> bench_outputs(const Values& values) {
    return files_given(values, {"json", "report"});
}

void write_findings(const Values& values, const BenchSetting& setting, const Findings& findings) {
    if (values.has("json"))
        write_text(values.text("json"), json_of(setting, findings));
    if (values.has("report"))
        write_text(values.text("report"), page_of(setting, findings));
}

} // namespace sextant::command
