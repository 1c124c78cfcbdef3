// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/scan_choice.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace sextant::planner {

namespace {

void check(const ScanQuestion& question) {
    scan::check(question.times);
    const auto require = [](bool fine, const std::string& what) {
        if (!fine)
            throw InvalidTask(what);
    };
    require(question.values >= 1, fmt::format("{} values: expected 1 or more", question.values));
    require(question.cores >= 1, fmt::format("{} cores: expected 1 or more", question.cores));
    require(question.draws >= 1, fmt::format("{} draws: expected 1 or more", question.draws));
    require(!question.speedup.empty() && question.speedup[0] == 1,
            fmt::format(
                "speedups of the operator [{}]: expected 1 on one core, then those on more cores",
                fmt::join(question.speedup, ", ")));
    for (const double speedup : question.speedup)
        require(std::isfinite(speedup) && speedup > 0,
                fmt::format("a speedup of {}: expected more than 0", speedup));
}

scan::Distribution faster(scan::Distribution times, double speedup) {
    times.mean /= speedup;
    for (Seconds& time : times.times)
        time /= speedup;
    return times;
}

/// All ways to split the cores into workers and cores per application, and workers into ranks and
/// threads.
class Candidates {
  public:
    explicit Candidates(const ScanQuestion& question) : question_(question) {
        const int most = std::min<int>(question.cores, static_cast<int>(question.speedup.size()));
        for (int each = 1; each <= most; ++each)
            add_splits(each);
    }

    std::vector<ScanCandidate> take() { return std::move(all_); }

  private:
    void add_splits(int operator_cores) {
        const int workers = question_.cores / operator_cores;
        for (int threads = 1; threads <= std::min(workers, question_.most_threads); ++threads) {
            if (workers % threads == 0)
                add_configurations(workers / threads, threads, operator_cores);
        }
        if (workers > 1) // serial, with the other cores idle
            add(1, {scan::strategies()[0], {scan::find("serial"), {}}}, operator_cores);
    }

    void add_configurations(int ranks, int threads, int operator_cores) {
        for (const scan::Strategy& strategy : scan::strategies()) {
            for (const scan::Algorithm& algorithm : scan::catalogue()) {
                for (const scan::Tuning& tuning : algorithm.tunings()) {
                    const scan::Configuration configuration{strategy, {algorithm, tuning}, threads};
                    if (threads > 1 && strategy.name != "reduce-then-scan")
                        continue;
                    add(ranks, configuration, operator_cores);
                    if (ranks == 1)
                        return; // no global scan to choose
                }
            }
        }
    }

    void add(int ranks, const scan::Configuration& configuration, int operator_cores) {
        const auto speedup = question_.speedup[static_cast<std::size_t>(operator_cores) - 1];
        all_.push_back(
            {configuration, ranks, operator_cores,
             expected_makespan(scan::even_blocks(question_.values, ranks), configuration,
                               faster(question_.times, speedup), question_.draws, question_.seed)});
    }

    const ScanQuestion& question_;
    std::vector<ScanCandidate> all_;
};

std::vector<const ScanCandidate*> by_makespan(const std::vector<ScanCandidate>& candidates) {
    std::vector<const ScanCandidate*> ranked;
    for (const ScanCandidate& candidate : candidates)
        ranked.push_back(&candidate);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const ScanCandidate* a, const ScanCandidate* b) {
                         return a->expected.mean < b->expected.mean;
                     });
    return ranked;
}

/// True if the means of two candidates differ significantly.
bool apart(const ExpectedMakespan& a, const ExpectedMakespan& b) {
    return std::abs(a.mean - b.mean) > 2 * std::hypot(a.error, b.error);
}

std::string reason_for(const std::vector<ScanCandidate>& ranked, const ScanQuestion& question) {
    const ScanCandidate& best = ranked.front();
    std::string reason =
        fmt::format("lowest expected makespan of {} candidates over {} draws of {} times",
                    ranked.size(), question.draws, scan::name(question.times.kind));
    const auto even = std::find_if(ranked.begin(), ranked.end(), [&](const ScanCandidate& other) {
        return apart(best.expected, other.expected);
    });
    if (even - ranked.begin() > 1)
        reason +=
            fmt::format("; the next {} are within the sampling error", even - ranked.begin() - 1);
    return reason;
}

} // namespace

ExpectedMakespan expected_makespan(const scan::Series& series,
                                   const scan::Configuration& configuration,
                                   const scan::Distribution& times, int draws, std::uint64_t seed) {
    Elements values = 0;
    for (const Elements own : series)
        values += own;
    const scan::Rehearsal rehearsal(series, configuration);
    ExpectedMakespan expected;
    Seconds squares = 0;
    const bool varies = times.kind != scan::Distribution::Kind::constant;
    const int repeats = varies ? draws : 1;
    for (int draw = 0; draw < repeats; ++draw) {
        const scan::Draws drawn(times, values, seed + static_cast<std::uint64_t>(draw));
        const scan::Performance performance = rehearsal.run(std::cref(drawn));
        expected.mean += performance.makespan / repeats;
        squares += performance.makespan * performance.makespan / repeats;
        expected.balanced += rehearsal.balanced(std::cref(drawn)) / repeats;
        expected.stolen += static_cast<double>(performance.stolen) / repeats;
    }
    const double variance = std::max(0.0, squares - expected.mean * expected.mean);
    expected.error = std::sqrt(variance / std::max(1, repeats - 1));
    return expected;
}

std::string ScanCandidate::text() const {
    std::string text = ranks == 1 && configuration.threads == 1
                           ? "one after another"
                           : fmt::format("{} {}, {}", ranks, ranks == 1 ? "rank" : "ranks",
                                         scan::to_text(configuration));
    if (operator_cores > 1)
        text += fmt::format(", {} cores per application", operator_cores);
    return text;
}

ScanChoice choose_scan(const ScanQuestion& question) {
    check(question);
    const std::vector<ScanCandidate> made = Candidates(question).take();
    ScanChoice choice{question, {}, ""};
    for (const ScanCandidate* candidate : by_makespan(made))
        choice.candidates.push_back(*candidate);
    choice.reason = reason_for(choice.candidates, question);
    return choice;
}

std::string to_text(const ScanChoice& choice, std::size_t rows) {
    std::string text = fmt::format("{} values on {} cores: {}\n{}\n", choice.question.values,
                                   choice.question.cores, choice.best().text(), choice.reason);
    const Seconds best = choice.best().expected.mean;
    for (std::size_t i = 0; i < std::min(rows, choice.candidates.size()); ++i) {
        const ScanCandidate& each = choice.candidates[i];
        text += fmt::format("  {:>10.4g} s  {:>6.3f}  {}\n", each.expected.mean,
                            best > 0 ? each.expected.mean / best : 1.0, each.text());
    }
    if (choice.candidates.size() > rows)
        text += fmt::format("  and {} more\n", choice.candidates.size() - rows);
    return text;
}

std::string to_json(const ScanChoice& choice) {
    nlohmann::ordered_json candidates = nlohmann::ordered_json::array();
    for (const ScanCandidate& each : choice.candidates) {
        candidates.push_back({{"strategy", each.configuration.strategy.name},
                              {"algorithm", each.configuration.global.algorithm.name},
                              {"k", each.configuration.global.tuning.k},
                              {"ranks", each.ranks},
                              {"threads", each.configuration.threads},
                              {"boundaries", scan::name(each.configuration.boundaries)},
                              {"operator_cores", each.operator_cores},
                              {"seconds", each.expected.mean},
                              {"error", each.expected.error},
                              {"balanced_seconds", each.expected.balanced}});
    }
    const nlohmann::ordered_json json = {{"values", choice.question.values},
                                         {"cores", choice.question.cores},
                                         {"times", scan::name(choice.question.times.kind)},
                                         {"mean_seconds", choice.question.times.mean},
                                         {"draws", choice.question.draws},
                                         {"choice", choice.best().text()},
                                         {"reason", choice.reason},
                                         {"candidates", candidates}};
    return sextant::to_text(json) + "\n";
}

} // namespace sextant::planner
