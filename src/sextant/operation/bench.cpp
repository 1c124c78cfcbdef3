// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/cores.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/core/error.hpp"
#include "sextant/operation/bench_composite.hpp"
#include "sextant/operation/outputs.hpp"
#include "sextant/operation/progress.hpp"
#include "sextant/operation/provenance.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

namespace {

std::string transport(const Communicator& communicator) {
    return communicator.shares_memory() ? "threads" : mpi_of_build();
}

std::string interval(const Estimate& estimate, double unit, int digits) {
    return fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", estimate.median * unit, digits,
                       estimate.interval.low * unit, digits, estimate.interval.high * unit, digits);
}

void print(const CompositeResults& results, const Communicator& communicator, int rounds) {
    std::string text = fmt::format("{}: {} ranks over {}, {}; medians of {} rounds, [95 %]\n",
                                   results.what.name, results.ranks, transport(communicator),
                                   results.what.collect ? "collected" : "distributed", rounds);
    text += fmt::format("  {:<30} {:>24} {:>24} {:>9} {:>9}\n", "", "ms", "of " + results.reference,
                        "CPU ms", "messages");
    for (const CompositeResult& result : results.results) {
        const std::string name =
            result.tuning.empty() ? result.name : result.name + ", " + result.tuning;
        text += fmt::format("  {:<30} {:>24} {:>24} {:>9.2f} {:>9}\n", name,
                            interval(result.wall, 1e3, 2), interval(result.ratio, 1, 3),
                            result.cpu.median * 1e3,
                            result.baseline ? "" : std::to_string(result.messages));
    }
    std::fputs((text + "\n").c_str(), stdout);
}

nlohmann::ordered_json to_json(const Estimate& estimate) {
    return {{"median", estimate.median},
            {"low", estimate.interval.low},
            {"high", estimate.interval.high}};
}

nlohmann::ordered_json to_json(const CompositeResults& results) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const CompositeResult& result : results.results) {
        list.push_back({{"name", result.name},
                        {"tuning", result.tuning},
                        {"baseline", result.baseline},
                        {"seconds", to_json(result.wall)},
                        {"cpu_seconds", to_json(result.cpu)},
                        {"ratio", to_json(result.ratio)},
                        {"messages", result.messages},
                        {"pixels", result.pixels}});
    }
    return {{"name", results.what.name},
            {"width", results.what.shape.width},
            {"height", results.what.shape.height},
            {"operator", results.what.blend},
            {"element", results.what.element},
            {"image", results.what.image},
            {"collect", results.what.collect},
            {"reference", results.reference},
            {"results", list}};
}

/// One rank's way through the benchmark.
class BenchRun {
  public:
    BenchRun(const Values& values, Communicator communicator)
        : values_(values),
          communicator_(std::move(communicator)),
          progress_(communicator_.rank() == 0) {
        options_.rounds = static_cast<int>(values.integer("rounds"));
    }

    void run() {
        std::vector<CompositeCase> cases;
        agree(communicator_, [&] {
            if (communicator_.rank() == 0 && values_.has("json"))
                check_outputs(std::array{values_.text("json")});
            cases = find_cases();
        });
        for (const CompositeCase& what : cases)
            run(what);
        agree(communicator_, [&] { write(); });
    }

  private:
    std::vector<CompositeCase> find_cases() const {
        if (values_.has("cases"))
            return read_composite_cases(values_.text("cases"));
        CompositeCase what;
        what.shape.width = what.shape.height = values_.integer("size");
        what.name = fmt::format("dense {0}x{0} over", what.shape.width);
        return {what};
    }

    void run(const CompositeCase& what) {
        options_.progress = [&](int round) {
            progress_.say(fmt::format("{}: round {} of {}", what.name, std::max(0, round + 1),
                                      options_.rounds));
        };
        const CompositeResults results = bench_composite(communicator_, what, options_);
        progress_.clear();
        if (communicator_.rank() != 0)
            return;
        cases_.push_back(to_json(results));
        if (values_.text("json") != standard_output)
            print(results, communicator_, options_.rounds);
    }

    void write() const {
        if (communicator_.rank() != 0 || !values_.has("json"))
            return;
        const nlohmann::ordered_json json = {{"operation", "bench composite"},
                                             {"version", version()},
                                             {"host", host()},
                                             {"date", date()},
                                             {"cores", Cores::available().count()},
                                             {"ranks", communicator_.size()},
                                             {"transport", transport(communicator_)},
                                             {"rounds", options_.rounds},
                                             {"cases", cases_}};
        write_text(values_.text("json"), json.dump(2) + "\n");
    }

    const Values& values_;
    const Communicator communicator_;
    Progress progress_;
    ContestOptions options_;
    nlohmann::ordered_json cases_ = nlohmann::ordered_json::array();
};

int run_bench(const Values& values) {
    const int ranks = static_cast<int>(values.integer("ranks"));
    launch(ranks, [&](Communicator communicator) { BenchRun(values, communicator).run(); });
    return 0;
}

} // namespace

Operation bench_operation() {
    return {
        "bench",
        "time our algorithms and what MPI offers against each other",
        "  mpirun -n 4 sextant bench composite --cases bench/cases/composite.json",
        {{"what", Type::choice, "WHAT", "composite", "what to time", 0, true, false, {"composite"}},
         {"cases", Type::file, "FILE", "", "cases to run (docs/bench.md); default: one, dense"},
         {"size",
          Type::integer,
          "N",
          "1024",
          "of that one: N x N pixels",
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
          1024},
         {"json", Type::file, "FILE", "", "write the results there; - for here"}},
        run_bench};
}

} // namespace sextant::operation
