// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench_scan.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/core/error.hpp"
#include "sextant/operation/gather_trace.hpp"
#include "sextant/operation/mock_operator.hpp"
#include "sextant/operation/scan_baseline.hpp"
#include "sextant/prefix/scan.hpp"
#include "sextant/scan/neighbours.hpp"
#include "sextant/scan/rehearsal.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

using scan::Interval;

/// The draws of a round: the same on every rank, and in its rehearsal.
scan::Draws draws_of(const ScanCase& what, int round) {
    return {what.times, what.values, static_cast<std::uint64_t>(round + 3)}; // warm-ups are below 0
}

/// One way to scan, ready to run.
struct Contestant {
    ScanResult result;
    std::shared_ptr<prefix::Scan> scan; ///< none of baselines
    std::unique_ptr<scan::Rehearsal> rehearsal;
    std::function<void()> run;
    std::span<const std::byte> shown; ///< what the last run gave
};

/// All that run in one case on one rank.
class ScanField {
  public:
    ScanField(const Communicator& communicator, const ScanCase& what)
        : communicator_(communicator),
          what_(what),
          series_(scan::dealt(what.values, communicator.size())),
          first_(
              std::accumulate(series_.begin(), series_.begin() + communicator.rank(), Elements{0})),
          operator_(mock_operator(time_, what.busy, error_)) {
        const Elements own = series_[static_cast<std::size_t>(communicator.rank())];
        for (Elements i = 0; i < own; ++i)
            values_.push_back({first_ + i, first_ + i + 1});
        if (what.baselines && what.fails_at == 0 && what.values >= communicator.size())
            add_baselines();
        for (const scan::Way& way : ways_of(what))
            add(way);
    }

    std::vector<Contestant>& contestants() { return contestants_; }
    void draw(int round) { draws_.emplace(draws_of(what_, round)); }
    Seconds sleep_error() const { return error_.mean(); }

    /// Throws std::logic_error unless every value reaches back to the first.
    void check(const Contestant& contestant) const {
        bool right = contestant.shown.size() == values_.size() * sizeof(Interval);
        for (std::size_t i = 0; right && i < values_.size(); ++i) {
            Interval is;
            std::memcpy(&is, contestant.shown.data() + i * sizeof is, sizeof is);
            right = is == Interval{0, values_[i].last};
        }
        if (!right)
            throw std::logic_error(fmt::format("{} gave no scan", contestant.result.name));
    }

  private:
    std::span<const std::byte> input() const { return std::as_bytes(std::span(values_)); }

    void add_baselines() {
        for (const ScanBaseline& row : mpi_scan_baselines(communicator_)) {
            const auto run = std::make_shared<ScanBaselineRun>(
                communicator_, row, operator_, static_cast<Elements>(values_.size()));
            const std::size_t place = contestants_.size();
            Contestant& contestant = contestants_.emplace_back();
            contestant.result.name = row.name;
            contestant.result.baseline = true;
            contestant.run = [this, run, place] { contestants_[place].shown = run->run(input()); };
        }
    }

    void add(const scan::Way& way) {
        prefix::ScanOptions options{std::string(way.strategy.name),
                                    std::string(way.global.algorithm.name), way.global.tuning};
        options.trace = true;
        options.threads = way.threads;
        options.boundaries = way.boundaries;
        options.time_limit = what_.time_limit;
        const std::size_t place = contestants_.size();
        Contestant& contestant = contestants_.emplace_back();
        contestant.result.name = to_text(way);
        contestant.result.threads = way.threads;
        contestant.scan = std::make_shared<prefix::Scan>(
            communicator_, static_cast<Elements>(values_.size()), operator_, options);
        if (communicator_.rank() == 0)
            contestant.rehearsal = std::make_unique<scan::Rehearsal>(series_, way);
        contestant.run = [this, place] {
            contestants_[place].shown = contestants_[place].scan->run(input());
        };
    }

    const Communicator& communicator_;
    const ScanCase& what_;
    const scan::Series series_;
    const Elements first_;
    std::optional<scan::Draws> draws_;
    const scan::OperatorTime time_ = [this](const auto& what) {
        if (what_.fails_at > 0 && what.middle == what_.fails_at)
            throw Error("the operator fails, as it was told to");
        return (*draws_)(what);
    };
    SleepError error_;
    const Operator operator_;
    std::vector<Interval> values_;
    std::vector<Contestant> contestants_;
};

/// The rehearsals of all rounds beside what was measured.
void rehearse(Contestant& contestant, const ScanCase& what, const std::vector<Seconds>& measured) {
    ScanResult& result = contestant.result;
    result.measured = estimate(measured);
    if (!contestant.rehearsal)
        return;
    std::vector<Seconds> rehearsed;
    for (std::size_t round = 0; round < measured.size(); ++round) {
        const scan::Draws draws = draws_of(what, static_cast<int>(round));
        rehearsed.push_back(contestant.rehearsal->play(std::cref(draws)).makespan);
        result.balanced +=
            contestant.rehearsal->balanced(std::cref(draws)) / static_cast<double>(measured.size());
    }
    result.rehearsed = estimate(rehearsed);
    result.ratio = estimate_ratio(measured, rehearsed);
}

void look_at_last_run(const Communicator& communicator, ScanResult& result,
                      const prefix::Scan& scan, Seconds serial) {
    result.bars = gather_bars(communicator, scan.applications(), scan.origin());
    result.usage = scan::usage(result.bars, communicator.size(), result.threads, serial);
    for (const Elements stolen : communicator.all_gather(scan.stolen()))
        result.stolen += stolen;
}

} // namespace

ScanResults bench_scan(const Communicator& communicator, const ScanCase& what,
                       const ContestOptions& options) {
    ScanField field(communicator, what);
    ContestOptions with_draws = options;
    with_draws.progress = [&](int round) {
        field.draw(round);
        if (options.progress)
            options.progress(round);
    };
    std::vector<std::function<void()>> runs;
    for (const Contestant& contestant : field.contestants())
        runs.push_back(contestant.run);
    const std::vector<Score> scores = contest(communicator, runs, with_draws);
    ScanResults results{what,
                        communicator.size(),
                        draws_of(what, options.rounds - 1).serial(),
                        field.sleep_error(),
                        {}};
    for (std::size_t i = 0; i < scores.size(); ++i) {
        Contestant& contestant = field.contestants()[i];
        agree(communicator, [&] { field.check(contestant); });
        if (contestant.scan)
            look_at_last_run(communicator, contestant.result, *contestant.scan, results.serial);
        rehearse(contestant, what, scores[i].wall);
        results.results.push_back(std::move(contestant.result));
    }
    return results;
}

ScanResults rehearse_scan(const ScanCase& what, int ranks, int draws) {
    const scan::Series series = scan::dealt(what.values, ranks);
    ScanResults results{what, ranks, draws_of(what, draws - 1).serial(), 0, {}};
    results.serial *= 1 + what.neighbours;
    for (const scan::Way& way : ways_of(what)) {
        const scan::Rehearsal rehearsal(series, way);
        ScanResult result;
        result.name = to_text(way);
        result.threads = way.threads;
        double efficiency = 0; // mean over the draws
        std::vector<Seconds> makespans;
        for (int draw = 0; draw < draws; ++draw) {
            const scan::Draws drawn = draws_of(what, draw);
            const auto starts =
                scan::neighbours_done(series, way.threads, what.neighbours, std::cref(drawn));
            scan::Performance performance =
                rehearsal.play(std::cref(drawn), starts, draw == draws - 1);
            makespans.push_back(performance.makespan);
            efficiency += (1 + what.neighbours) * drawn.serial() / performance.makespan / draws /
                          (ranks * way.threads);
            result.balanced += rehearsal.balanced(std::cref(drawn), starts) / draws;
            result.stolen = performance.stolen;
            result.bars = std::move(performance.bars);
        }
        result.rehearsed = estimate(makespans);
        result.usage = scan::usage(result.bars, ranks, way.threads, results.serial);
        result.usage.efficiency = efficiency;
        results.results.push_back(std::move(result));
    }
    return results;
}

} // namespace sextant::operation
