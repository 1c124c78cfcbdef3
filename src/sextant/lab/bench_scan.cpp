// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/bench_scan.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/command/pages/trace_clocks.hpp"
#include "sextant/core/error.hpp"
#include "sextant/lab/bench_cases.hpp"
#include "sextant/prefix/scan.hpp"
#include "sextant/scan/rehearsal.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::lab {

Record record_of(ScanCase& what) {
    using Kind = scan::Distribution::Kind;
    constexpr double most_values = 1 << 24, most_ranks = 1 << 16, longest = 1e18;
    std::vector<Named<Kind>> kinds;
    for (const Kind kind : {Kind::constant, Kind::exponential, Kind::correlated, Kind::recorded})
        kinds.push_back({name(kind), kind});
    Record times;
    times.add("kind", what.times.kind, kinds, "KIND", "distribution");
    times.add("mean", what.mean, "S", "mean operator time in seconds").between(0, longest);
    times.add("spread", what.times.spread, "", "standard deviation of the logarithm of a time")
        .between(0, longest);
    times
        .add("correlation", what.times.correlation, "",
             "correlation between the logarithms of adjacent times")
        .between(0, 1);
    times.add("file", what.recorded, "FILE", "file of recorded times").file();
    Record record;
    record.add("name", what.name, "NAME", "name of the case");
    record.add("values", what.values, "N", "number of values in the series")
        .between(1, most_values);
    record.add("times", std::move(times));
    record.add("busy", what.busy, "let the operator compute instead of sleep");
    record.add("ranks", what.ranks, "N", "number of simulated ranks").between(1, most_ranks);
    record.add("threads", what.threads, "N,N", "threads per rank").between(1, 1024);
    record.add("boundaries", what.boundaries, "NAME", "rules for the boundaries between threads");
    record.add("strategies", what.strategies, "NAME", "strategies for scanning the series");
    record.add("algorithms", what.algorithms, "NAME", "algorithms for the global scan");
    record.add("baselines", what.baselines, "time MPI's scans for comparison");
    record
        .add("neighbours", what.neighbours, "X", "operator applications per value before the scan")
        .between(0, longest);
    record
        .add("time_limit", what.time_limit, "S", "time limit of an operator application in seconds")
        .between(0, longest);
    record.add("fails_at", what.fails_at, "N", "value at which the operator fails, for tests")
        .between(1, most_values);
    return record;
}

namespace {

/// Reads recorded times and checks names before any measurement. Throws InvalidTask.
void complete(ScanCase& what, const std::filesystem::path& folder) {
    const bool recorded = what.times.kind == scan::Distribution::Kind::recorded;
    what.times.mean = what.mean.value_or(recorded ? 0 : what.times.mean);
    if (!what.recorded.empty())
        what.times.times = scan::read_times((folder / what.recorded).string());
    scan::check(what.times);
    if (what.threads.empty())
        throw InvalidTask("threads is empty");
    if (what.boundaries.empty())
        throw InvalidTask("boundaries is empty");
    for (const std::string& name : what.boundaries)
        scan::find_boundaries(name);
    for (const std::string& name : what.strategies)
        scan::find_strategy(name);
    for (const std::string& name : what.algorithms)
        scan::find(name);
    if (configurations_of(what).empty())
        throw InvalidTask("no strategy supports these numbers of threads");
    if (what.name.empty())
        what.name = fmt::format("{} values, {} times", what.values, name(what.times.kind));
}

bool requested(const std::vector<std::string>& wanted, std::string_view name) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

/// Adds `configuration` with each kind of boundary between threads; only once if it has one thread.
void add_configurations(std::vector<scan::Configuration>& configurations, const ScanCase& what,
                        scan::Configuration configuration) {
    for (const std::string& boundaries : what.boundaries) {
        configuration.boundaries = scan::find_boundaries(boundaries);
        configurations.push_back(configuration);
        if (configuration.threads == 1)
            break;
    }
}

} // namespace

std::vector<ScanCase> read_scan_cases(const std::string& path) {
    return read_cases<ScanCase>(
        path, [&](ScanCase& what) { complete(what, std::filesystem::path(path).parent_path()); });
}

std::vector<scan::Configuration> configurations_of(const ScanCase& what) {
    std::vector<scan::Configuration> configurations;
    for (const int threads : what.threads) {
        for (const scan::Strategy& strategy : scan::strategies()) {
            const bool takes = threads == 1 || strategy.name == "reduce-then-scan";
            if (!takes || !requested(what.strategies, strategy.name))
                continue;
            for (const scan::Algorithm& algorithm : scan::catalogue()) {
                if (!requested(what.algorithms, algorithm.name))
                    continue;
                for (const scan::Tuning& tuning : algorithm.tunings())
                    add_configurations(configurations, what,
                                       {strategy, {algorithm, tuning}, threads});
            }
        }
    }
    return configurations;
}

namespace {

using scan::Interval;

/// Returns the operator times of a round, which are the same on every rank and in the simulation.
scan::Draws draws_of(const ScanCase& what, int round) {
    // Warm-up rounds have negative numbers.
    return {what.times, what.values, static_cast<std::uint64_t>(round + 3)};
}

/// An implementation, ready to run.
struct Contestant {
    ScanResult result;
    std::shared_ptr<prefix::Scan> scan; ///< null for baselines
    std::unique_ptr<scan::Rehearsal> rehearsal;
    std::function<void()> run;
    std::span<const std::byte> shown; ///< result of the last run
};

/// All contestants of a case, on one rank.
class ScanField {
  public:
    ScanField(const Communicator& communicator, const ScanCase& what)
        : communicator_(communicator),
          what_(what),
          series_(scan::even_blocks(what.values, communicator.size())),
          first_(
              std::accumulate(series_.begin(), series_.begin() + communicator.rank(), Elements{0})),
          operator_(mock_operator(time_, what.busy, error_)) {
        const Elements own = series_[static_cast<std::size_t>(communicator.rank())];
        for (Elements i = 0; i < own; ++i)
            values_.push_back({first_ + i, first_ + i + 1});
        if (what.baselines && what.fails_at == 0 && what.values >= communicator.size())
            add_baselines();
        for (const scan::Configuration& configuration : configurations_of(what))
            add(configuration);
    }

    std::vector<Contestant>& contestants() { return contestants_; }
    /// Draws the operator times of a round.
    void draw(int round) { draws_.emplace(draws_of(what_, round)); }
    Seconds sleep_error() const { return error_.mean(); }

    /// Throws std::logic_error unless result i combines exactly the values up to i.
    void check(const Contestant& contestant) const {
        bool right = contestant.shown.size() == values_.size() * sizeof(Interval);
        for (std::size_t i = 0; right && i < values_.size(); ++i) {
            Interval is;
            std::memcpy(&is, contestant.shown.data() + i * sizeof is, sizeof is);
            right = is == Interval{0, values_[i].last};
        }
        if (!right)
            throw std::logic_error(fmt::format("{} computed a wrong scan", contestant.result.name));
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

    void add(const scan::Configuration& configuration) {
        const std::size_t place = contestants_.size();
        Contestant& contestant = contestants_.emplace_back();
        contestant.result.name = to_text(configuration);
        contestant.result.threads = configuration.threads;
        contestant.scan = planned(configuration);
        if (communicator_.rank() == 0)
            contestant.rehearsal = std::make_unique<scan::Rehearsal>(series_, configuration);
        contestant.run = [this, place] {
            contestants_[place].shown = contestants_[place].scan->run(input());
        };
    }

    /// Returns a scan prepared for a configuration.
    std::shared_ptr<prefix::Scan> planned(const scan::Configuration& configuration) const {
        prefix::ScanOptions options{std::string(configuration.strategy.name),
                                    std::string(configuration.global.algorithm.name),
                                    configuration.global.tuning};
        options.trace = true;
        options.threads = configuration.threads;
        options.boundaries = configuration.boundaries;
        options.time_limit = what_.time_limit;
        return std::make_shared<prefix::Scan>(communicator_, static_cast<Elements>(values_.size()),
                                              operator_, options);
    }

    const Communicator& communicator_;
    const ScanCase& what_;
    const scan::Series series_;
    const Elements first_;
    std::optional<scan::Draws> draws_;
    const scan::OperatorTime time_ = [this](const auto& what) {
        if (what_.fails_at > 0 && what.middle == what_.fails_at)
            throw Error("the operator fails, as requested");
        return (*draws_)(what);
    };
    SleepError error_;
    const Operator operator_;
    std::vector<Interval> values_;
    std::vector<Contestant> contestants_;
};

/// Simulates all rounds, for comparison with the measured times.
void rehearse(const ScanCase& what, Contestant& contestant, const std::vector<Seconds>& measured) {
    ScanResult& result = contestant.result;
    result.measured = estimate(measured);
    if (!contestant.rehearsal)
        return;
    std::vector<Seconds> rehearsed;
    for (std::size_t i = 0; i < measured.size(); ++i) {
        const scan::Draws draws = draws_of(what, static_cast<int>(i));
        rehearsed.push_back(contestant.rehearsal->run(std::cref(draws)).makespan);
        result.balanced +=
            contestant.rehearsal->balanced(std::cref(draws)) / static_cast<double>(measured.size());
    }
    result.rehearsed = estimate(rehearsed);
    result.ratio = estimate_ratio(measured, rehearsed);
}

void look_at_last_run(const Communicator& communicator, const command::TraceClocks& clocks,
                      ScanResult& result, const prefix::Scan& scan, Seconds serial) {
    result.bars = clocks.gather(scan.applications(), scan.origin());
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
    const command::TraceClocks clocks(communicator);
    const std::vector<Score> scores = contest_of(communicator, field.contestants(), with_draws);
    ScanResults results{what,
                        communicator.size(),
                        draws_of(what, options.rounds - 1).serial(),
                        field.sleep_error(),
                        {}};
    for (std::size_t i = 0; i < scores.size(); ++i) {
        Contestant& contestant = field.contestants()[i];
        agree(communicator, [&] { field.check(contestant); });
        if (contestant.scan)
            look_at_last_run(communicator, clocks, contestant.result, *contestant.scan,
                             results.serial);
        rehearse(what, contestant, scores[i].wall);
        results.results.push_back(std::move(contestant.result));
    }
    return results;
}

ScanResults rehearse_scan(const ScanCase& what, int ranks, int draws) {
    const scan::Series series = scan::even_blocks(what.values, ranks);
    ScanResults results{what, ranks, draws_of(what, draws - 1).serial(), 0, {}};
    results.serial *= 1 + what.neighbours;
    for (const scan::Configuration& configuration : configurations_of(what)) {
        const scan::Rehearsal rehearsal(series, configuration);
        ScanResult result;
        result.name = to_text(configuration);
        result.threads = configuration.threads;
        double efficiency = 0; // mean over the draws
        std::vector<Seconds> makespans;
        for (int draw = 0; draw < draws; ++draw) {
            const scan::Draws drawn = draws_of(what, draw);
            const std::vector<Seconds> starts = scan::neighbours_done(
                series, configuration.threads, what.neighbours, std::cref(drawn));
            scan::Performance performance =
                rehearsal.run(std::cref(drawn), starts, draw == draws - 1);
            makespans.push_back(performance.makespan);
            efficiency += (1 + what.neighbours) * drawn.serial() / performance.makespan / draws /
                          (ranks * configuration.threads);
            result.balanced += rehearsal.balanced(std::cref(drawn), starts) / draws;
            result.stolen = performance.stolen;
            result.bars = std::move(performance.bars);
        }
        result.rehearsed = estimate(makespans);
        result.usage = scan::usage(result.bars, ranks, configuration.threads, results.serial);
        result.usage.efficiency = efficiency;
        results.results.push_back(std::move(result));
    }
    return results;
}

} // namespace sextant::lab

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace sextant::lab {

namespace {

using Clock = std::chrono::steady_clock;

/// Reduces this thread's timer slack from the default of 50 microseconds to a nanosecond.
void sharpen_timers() {
#ifdef __linux__
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
#endif
}

void work_for(Seconds time) {
    const auto end = Clock::now() + std::chrono::duration<double>(time);
    while (Clock::now() < end) {
    }
}

void sleep_for(Seconds time, SleepError& error) {
    thread_local Seconds debt = [] { // accumulated oversleep of this thread
        sharpen_timers();
        return 0.0;
    }();
    const auto begin = Clock::now();
    const Seconds requested = std::max(0.0, time - debt);
    const auto whole = static_cast<time_t>(requested);
    const timespec duration{whole,
                            static_cast<long>((requested - static_cast<Seconds>(whole)) * 1e9)};
    nanosleep(&duration, nullptr);
    const Seconds slept = std::chrono::duration<double>(Clock::now() - begin).count();
    debt += slept - time;
    error.nanoseconds += static_cast<std::int64_t>((slept - requested) * 1e9);
    ++error.sleeps;
}

scan::Interval interval_at(const std::byte* place) {
    scan::Interval interval;
    std::memcpy(&interval, place, sizeof interval);
    return interval;
}

} // namespace

Seconds SleepError::mean() const {
    return sleeps > 0 ? 1e-9 * static_cast<Seconds>(nanoseconds) / static_cast<Seconds>(sleeps) : 0;
}

Operator mock_operator(const scan::OperatorTime& time, bool busy, SleepError& error) {
    Operator op;
    op.name = "mock";
    op.element = {"interval", sizeof(scan::Interval)};
    op.fold = [&time, busy, &error](FoldFunction::Sources sources, std::byte* to,
                                    Elements elements) {
        for (std::size_t at = 0; at < static_cast<std::size_t>(elements) * sizeof(scan::Interval);
             at += sizeof(scan::Interval)) {
            scan::Interval sum = interval_at(sources[0] + at);
            for (const std::byte* source : sources.subspan(1)) {
                const scan::Interval next = interval_at(source + at);
                if (sum.last != next.first) {
                    throw std::logic_error(fmt::format(
                        "elements [{}, {}) are combined with [{}, {}), which do not follow them",
                        sum.first, sum.last, next.first, next.last));
                }
                const Seconds takes = time({sum.first, next.first, next.last});
                busy ? work_for(takes) : sleep_for(takes, error);
                sum.last = next.last;
            }
            std::memcpy(to + at, &sum, sizeof sum);
        }
    };
    return op;
}

namespace {

/// Returns a program in which each rank sends its element to the next rank.
Program shift_right(int rank, int ranks) {
    ProgramBuilder builder;
    const Region own = builder.input(1);
    if (rank + 1 < ranks)
        builder.send(rank + 1, own);
    const Region received = builder.output(rank > 0 ? 1 : 0);
    if (rank > 0)
        builder.receive(rank - 1, received);
    return builder.finish(received);
}

} // namespace

ScanBaselineRun::ScanBaselineRun(const Communicator& communicator, const ScanBaseline& row,
                                 const Operator& op, Elements values)
    : communicator_(communicator),
      operator_(op),
      exclusive_(row.exclusive),
      size_(static_cast<std::size_t>(op.element.size)),
      values_(static_cast<std::size_t>(values)),
      totals_(row.prepare(communicator, op, 1)),
      total_(op.element.size),
      output_(values * op.element.size) {
    if (exclusive_)
        return;
    shift_ = std::make_unique<Execution>(communicator,
                                         shift_right(communicator.rank(), communicator.size()), op);
    shift_->bind(0, totals_->result());
}

const std::byte* ScanBaselineRun::before() {
    if (exclusive_)
        return totals_->result().data();
    shift_->run();
    return shift_->result().data();
}

std::span<const std::byte> ScanBaselineRun::run(std::span<const std::byte> values) {
    const auto apply = [&](const std::byte* left, const std::byte* right, std::byte* to) {
        operator_.fold(std::array{left, right}, to, 1);
    };
    std::memcpy(total_.data(), values.data(), size_);
    for (std::size_t i = 1; i < values_; ++i)
        apply(total_.data(), values.data() + i * size_, total_.data());
    totals_->run(total_.bytes());
    const std::byte* sum = before();
    for (std::size_t i = 0; i < values_; ++i) {
        std::byte* const to = output_.data() + i * size_;
        if (i + 1 == values_ && !exclusive_)
            std::memcpy(to, totals_->result().data(), size_); // saves one operator application
        else if (sum)
            apply(sum, values.data() + i * size_, to);
        else
            std::memcpy(to, values.data(), size_);
        sum = to;
    }
    return std::as_const(output_).bytes();
}

} // namespace sextant::lab
