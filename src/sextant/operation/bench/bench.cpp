// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/bench.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/cores.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/core/error.hpp"
#include "sextant/operation/bench/bench_collective.hpp"
#include "sextant/operation/bench/bench_collective_report.hpp"
#include "sextant/operation/bench/bench_composite.hpp"
#include "sextant/operation/bench/bench_composite_report.hpp"
#include "sextant/operation/bench/bench_filter.hpp"
#include "sextant/operation/bench/bench_filter_report.hpp"
#include "sextant/operation/bench/bench_scan.hpp"
#include "sextant/operation/bench/bench_scan_report.hpp"
#include "sextant/operation/bench/bench_summary.hpp"
#include "sextant/operation/launch_ranks.hpp"
#include "sextant/operation/outputs.hpp"
#include "sextant/operation/progress.hpp"
#include "sextant/operation/provenance.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

namespace {

constexpr const char* simulated_clock = "a simulated clock";

std::string transport(const Communicator& communicator) {
    return communicator.shares_memory() ? "threads" : mpi_of_build();
}

void print(const std::string& table) {
    std::fputs((table + "\n").c_str(), stdout);
}

std::vector<std::string> bench_outputs(const Values& values) {
    return files_given(values, {"json", "gantt", "report"});
}

void check_files(const Values& values) {
    keep_inputs(files_given(values, {"cases"}), bench_outputs(values));
    check_outputs(bench_outputs(values));
}

/// Whether tables go to standard output, or what is written there.
bool prints(const Values& values) {
    const std::vector<std::string> paths = bench_outputs(values);
    return std::find(paths.begin(), paths.end(), standard_output) == paths.end();
}

/// What a benchmark found, for all that tell of it.
struct Findings {
    nlohmann::ordered_json cases = nlohmann::ordered_json::array();
    std::vector<report::Section> sections; ///< of a page
    std::vector<TimedWay> ways;            ///< of all cases
    std::string picture;                   ///< of the last case
};

SizeOfCases size_of_cases(const std::string& operation) {
    const auto whole = [](double size) { return report::grouped(std::llround(size)); };
    if (operation == "bench collective")
        return {"bytes", report::bytes_to_text};
    return {operation == "bench scan" ? "ranks" : "pixels", whole};
}

std::string page_of(const nlohmann::ordered_json& json, const Findings& findings) {
    report::Page page;
    page.title = "Sextant: " + json["operation"].get<std::string>();
    page.subtitle = fmt::format("{} ranks over {}, {} rounds", json["ranks"].get<int>(),
                                json["transport"].get<std::string>(), json["rounds"].get<int>());
    page.facts = {{"Machine", fmt::format("{}, {} cores", json["host"].get<std::string>(),
                                          json["cores"].get<int>())},
                  {"Made", fmt::format("{}, {}", json["date"].get<std::string>(),
                                       json["version"].get<std::string>())}};
    page.sections = summary_sections(findings.ways, size_of_cases(json["operation"]));
    page.sections.insert(page.sections.end(), findings.sections.begin(), findings.sections.end());
    return report::render(page);
}

void write_outputs(const Values& values, const nlohmann::ordered_json& json,
                   const Findings& findings) {
    if (values.has("json"))
        write_text(values.text("json"), json.dump(2) + "\n");
    if (values.has("gantt"))
        write_text(values.text("gantt"), findings.picture);
    if (values.has("report"))
        write_text(values.text("report"), page_of(json, findings));
}

template <class Results>
void add(Findings& findings, const Results& results) {
    findings.cases.push_back(to_json(results));
    findings.sections.push_back(section_of(results));
    const std::vector<TimedWay> ways = ways_of(results);
    findings.ways.insert(findings.ways.end(), ways.begin(), ways.end());
}

/// What a benchmark's results have in common.
nlohmann::ordered_json document(std::string_view operation, int ranks, const std::string& transport,
                                int rounds, const nlohmann::ordered_json& cases) {
    return {{"operation", operation},
            {"version", version()},
            {"host", host()},
            {"date", date()},
            {"cores", Cores::available().count()},
            {"ranks", ranks},
            {"transport", transport},
            {"rounds", rounds},
            {"cases", cases}};
}

/// One rank's way through a benchmark: how cases are found, run, told and written is the same,
/// whatever they are of.
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
        for (const Case& what : cases) {
            options_.progress = [&](int round) {
                progress_.say(fmt::format("{}: round {} of {}", what.name, std::max(0, round + 1),
                                          options_.rounds));
            };
            run(what);
        }
    }

    void run(const CompositeCase& what) { tell(bench_composite(communicator_, what, options_)); }

    void run(const CollectiveCase& what) { tell(bench_collective(communicator_, what, options_)); }

    void run(const FilterCase& what) { tell(bench_filter(communicator_, what, options_)); }

    void run(const ScanCase& what) {
        const ScanResults results = bench_scan(communicator_, what, options_);
        if (communicator_.rank() == 0)
            findings_.picture = picture_of(results);
        tell(results);
    }

    template <class Results>
    void tell(const Results& results) {
        progress_.clear();
        if (communicator_.rank() != 0)
            return;
        add(findings_, results);
        if (prints(values_))
            print(to_text(results, transport(communicator_), options_.rounds));
    }

    void write() const {
        if (communicator_.rank() != 0)
            return;
        write_outputs(values_,
                      document(fmt::format("bench {}", values_.text("what")), communicator_.size(),
                               transport(communicator_), options_.rounds, findings_.cases),
                      findings_);
    }

    const Values& values_;
    const Communicator communicator_;
    Progress progress_;
    ContestOptions options_;
    Findings findings_;
};

/// Scans by simulated clock: no rank is started.
void rehearse_cases(const Values& values) {
    check_files(values);
    const int ranks = static_cast<int>(values.integer("ranks"));
    const int draws = static_cast<int>(values.integer("rounds"));
    Findings findings;
    for (const ScanCase& what : BenchRun::scan_cases(values)) {
        const ScanResults results = rehearse_scan(what, what.ranks > 0 ? what.ranks : ranks, draws);
        add(findings, results);
        findings.picture = picture_of(results);
        if (prints(values))
            print(to_text(results, simulated_clock, draws));
    }
    write_outputs(values, document("bench scan", ranks, simulated_clock, draws, findings.cases),
                  findings);
}

/// What only one kind of benchmark has.
void check_asked(const Values& values) {
    const bool scans = values.text("what") == "scan";
    if (!scans && (values.flag("simulated") || values.has("gantt")))
        throw InvalidTask("--simulated and --gantt are for scans: expected sextant bench scan");
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
        "  mpirun -n 4 sextant bench composite --cases bench/cases/composite.json\n"
        "  mpirun -n 4 sextant bench collective --cases bench/cases/collective.json\n"
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
         {"gantt", Type::file, "FILE", "", "scans: who did what when, of the last case; an SVG"},
         {"report", Type::file, "FILE", "", "write a page of the results (HTML); - for here"},
         {"json", Type::file, "FILE", "", "write the results there; - for here"}},
        run_bench};
}

} // namespace sextant::operation
