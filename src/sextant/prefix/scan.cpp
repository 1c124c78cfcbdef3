// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/prefix/scan.hpp"

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/core/error.hpp"
#include "sextant/scan/strategies.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include <fmt/format.h>

namespace sextant::prefix {

Bytes sized_slot(Bytes capacity) {
    return static_cast<Bytes>(sizeof(Bytes)) + capacity;
}

void put_sized(std::span<const std::byte> bytes, std::span<std::byte> slot) {
    const auto size = static_cast<Bytes>(bytes.size());
    const std::size_t capacity = slot.size() - sizeof size;
    if (bytes.size() > capacity) {
        throw InvalidTask(
            fmt::format("a value of {} bytes, expected {} or fewer", bytes.size(), capacity));
    }
    std::memcpy(slot.data(), &size, sizeof size);
    if (size > 0)
        std::memcpy(slot.data() + sizeof size, bytes.data(), bytes.size());
}

std::span<const std::byte> get_sized(std::span<const std::byte> slot) {
    Bytes size = 0;
    std::memcpy(&size, slot.data(), sizeof size);
    return slot.subspan(sizeof size, static_cast<std::size_t>(size));
}

Record record_of(ScanOptions& options) {
    constexpr int most_threads = 1024, most_rounds = 64, most_samples = 1 << 20;
    constexpr Seconds a_year = 365. * 86400;
    using scan::Boundaries;
    Record record;
    record.add("strategy", options.strategy, "NAME",
               "how each rank's values and the totals of ranks are combined (docs/scans.md)");
    record.add("algorithm", options.algorithm, "NAME",
               "prefix circuit that scans the totals of ranks");
    record
        .add("k", options.tuning.k, "ROUNDS",
             "extra rounds of ladner-fischer, which save operator applications")
        .between(0, most_rounds);
    record.add("gives_last", options.gives_last,
               "pass on the last result of each rank instead of its total, if possible");
    record.add("association", options.association,
               {{"in-order", Association::in_order}, {"by-arrival", Association::by_arrival}},
               "HOW", "order in which operands are combined");
    record.add("trace", options.trace, "record the schedule and the time of each application");
    record.add("threads", options.threads, "N", "threads per rank").between(1, most_threads);
    record.add("boundaries", options.boundaries,
               {{name(Boundaries::fixed), Boundaries::fixed},
                {name(Boundaries::moving), Boundaries::moving},
                {name(Boundaries::towards_slower), Boundaries::towards_slower},
                {name(Boundaries::look_ahead), Boundaries::look_ahead}},
               "HOW", "how the boundaries between the threads' blocks of values move");
    record
        .add("time_limit", options.time_limit, "SECONDS",
             "end the process if one application takes longer (seconds); 0: no limit")
        .between(0, a_year);
    record.add("names_elements", options.names_elements,
               "name the combined elements in error messages of the operator");
    record
        .add("commutative_samples", options.commutative_samples, "N",
             "number of pairs of values combined in both orders to check a commutative operator")
        .between(0, most_samples);
    return record;
}

scan::Configuration configuration_of(const ScanOptions& options) {
    const scan::Configuration configuration{
        scan::find_strategy(options.strategy),
        {scan::find(options.algorithm), options.tuning, options.gives_last},
        options.threads,
        options.boundaries};
    check(configuration);
    return configuration;
}

namespace {

/// The parameters of a rank, exchanged so that all ranks can check that they are the same.
struct Declaration {
    Elements values;
    Bytes element;
    std::size_t options; ///< hash of the options; 0 for a shift, which has none
};

/// True if values travel with labels that name their elements.
bool labels(const ScanOptions& options) {
    return options.trace || options.time_limit > 0 || options.names_elements;
}

std::size_t hash_of(const ScanOptions& options) {
    return std::hash<std::string>()(
        fmt::format("{} {} {} {} {} {} {} {}", options.strategy, options.algorithm,
                    options.tuning.k, options.gives_last, name(options.association),
                    options.threads, name(options.boundaries), labels(options)));
}

/// Returns the number of values of each rank. Runs the same check on the same data on every rank:
/// either all throw, or none.
scan::Series series_of(const std::vector<Declaration>& all) {
    scan::Series series;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        const Declaration &own = all[rank], &first = all[0];
        if (own.values < 0) {
            throw InvalidTask(
                fmt::format("rank {}: {} values, expected 0 or more", rank, own.values));
        }
        if (own.element != first.element) {
            throw InvalidTask(
                fmt::format("rank {} has values of {} bytes, but rank 0 has values of {}", rank,
                            own.element, first.element));
        }
        if (own.options != first.options)
            throw InvalidTask(fmt::format("rank {} has different options from rank 0", rank));
        series.push_back(own.values);
    }
    return series;
}

/// Combines the first `samples` pairs of neighbouring values in both orders. Throws InvalidTask if
/// the results differ.
void check_commutes(const Operator& op, std::span<const std::byte> values, Elements first,
                    int samples) {
    const auto size = static_cast<std::size_t>(op.element.size);
    std::vector<std::byte> forth(size), back(size);
    for (int i = 0; i < samples && (static_cast<std::size_t>(i) + 2) * size <= values.size(); ++i) {
        const std::byte* const left = values.data() + static_cast<std::size_t>(i) * size;
        const std::byte* const right = left + size;
        std::fill(forth.begin(), forth.end(), std::byte{});
        std::fill(back.begin(), back.end(), std::byte{});
        op.fold(std::array{left, right}, forth.data(), 1);
        op.fold(std::array{right, left}, back.data(), 1);
        if (forth != back) {
            throw InvalidTask(fmt::format("{} is declared commutative, but elements {} and {} "
                                          "combine to a different value in reverse order",
                                          op.name, first + i, first + i + 1));
        }
    }
}

} // namespace

Scan::Scan(Communicator communicator, Elements values, Operator op, const ScanOptions& options)
    : communicator_(scope_of(communicator, "Scan", RunsOf::all_ranks)),
      values_(values),
      operator_(std::move(op)),
      commutative_samples_(operator_.commutative ? options.commutative_samples : 0) {
    const std::vector<Declaration> all =
        communicator_.all_gather(Declaration{values, operator_.element.size, hash_of(options)});
    agree(communicator_, [&] { prepare(series_of(all), configuration_of(options), options); });
}

void Scan::prepare(const scan::Series& series, const scan::Configuration& configuration,
                   const ScanOptions& options) {
    const int rank = communicator_.rank();
    first_ = std::accumulate(series.begin(), series.begin() + rank, Elements{0});
    if (labels(options))
        watch_ = std::make_unique<OrderCheck>(operator_, rank, configuration.threads,
                                              options.time_limit);
    std::vector<Operator> operators;
    for (int thread = 0; thread < configuration.threads; ++thread)
        operators.push_back(watch_ ? watch_->operator_of(thread) : operator_);
    if (configuration.threads > 1) {
        threaded_ = std::make_unique<ThreadedScan>(communicator_, series, configuration, operators);
        return;
    }
    execution_.emplace(communicator_,
                       scan::program(configuration.strategy, series, configuration.global, rank),
                       operators[0], ExecuteOptions{options.association, options.trace});
}

std::span<const std::byte> Scan::run(std::span<const std::byte> values) {
    agree(communicator_, [&] { check_and_run(values); });
    return result_;
}

void Scan::fail(const std::string& text) {
    sextant::fail(communicator_, text);
}

std::vector<scan::Bar> Scan::applications() const {
    return watch_ ? watch_->bars() : std::vector<scan::Bar>();
}

/// A rank that has failed must still take part in the run, because other ranks wait for it.
void Scan::run_failed(std::exception_ptr failure) {
    if (threaded_)
        threaded_->run_failed(failure);
    execution_->run_failed(failure);
    std::rethrow_exception(failure);
}

std::span<const std::byte> Scan::checked(std::span<const std::byte> values) {
    const Bytes given = static_cast<Bytes>(values.size());
    const Bytes expected = values_ * operator_.element.size;
    if (given != expected) {
        throw InvalidTask(fmt::format("rank {}: {} bytes given, expected {} ({} values)",
                                      communicator_.rank(), given, expected, values_));
    }
    check_commutes(operator_, values, first_, commutative_samples_);
    return watch_ ? watch_->begin(values, first_) : values;
}

std::span<const std::byte> Scan::scanned(std::span<const std::byte> values) {
    if (threaded_)
        return threaded_->run(values);
    if (values_ > 0)
        execution_->bind(0, values);
    execution_->run();
    return execution_->result();
}

void Scan::check_and_run(std::span<const std::byte> values) {
    Stages stages;
    stages.alone([&] { values = checked(values); });
    stages.together([&] { values = scanned(values); }, [&](auto failure) { run_failed(failure); });
    stages.rethrow();
    result_ = watch_ ? watch_->end(values) : values;
}

namespace {

/// The operator of a program without folds; it only states the size of an element.
Operator only_moved(Bytes size) {
    Operator op;
    op.name = "shift";
    op.element = {"value", size};
    return op;
}

} // namespace

Shift::Shift(Communicator communicator, Elements values, Bytes size)
    : communicator_(scope_of(communicator, "Shift", RunsOf::all_ranks)),
      values_(values),
      size_(size) {
    const std::vector<Declaration> all = communicator_.all_gather(Declaration{values, size, 0});
    agree(communicator_, [&] {
        const scan::Series series = series_of(all);
        const int own = communicator_.rank();
        first_ = std::accumulate(series.begin(), series.begin() + own, Elements{0});
        execution_.emplace(communicator_, scan::shift(series, own), only_moved(size));
    });
}

std::span<const std::byte> Shift::run(std::span<const std::byte> values) {
    agree(communicator_, [&] { check_and_run(values); });
    return received() > 0 ? execution_->result() : std::span<const std::byte>();
}

void Shift::check_and_run(std::span<const std::byte> values) {
    Stages stages;
    stages.alone([&] {
        if (static_cast<Bytes>(values.size()) != values_ * size_)
            throw InvalidTask(fmt::format("rank {}: {} bytes given, expected {} ({} values)",
                                          communicator_.rank(), values.size(), values_ * size_,
                                          values_));
        if (values_ > 0)
            execution_->bind(0, values);
    });
    stages.together([&] { execution_->run(); },
                    [&](auto failure) { execution_->run_failed(failure); });
    stages.rethrow();
}

} // namespace sextant::prefix
