// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/prefix/scan.hpp"

#include "sextant/core/error.hpp"

#include <functional>

#include <fmt/format.h>

namespace sextant::prefix {

namespace {

/// What every rank says of itself, so that all can tell whether they agree.
struct Declaration {
    Elements values;
    Bytes element;
    std::size_t options; ///< a hash
};

std::size_t hash_of(const ScanOptions& options) {
    return std::hash<std::string>()(fmt::format("{} {} {} {} {}", options.strategy,
                                                options.algorithm, options.tuning.k,
                                                options.gives_last, name(options.association)));
}

/// The same check on the same data on every rank: all throw, or none.
void check_alike(const std::vector<Declaration>& all) {
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        const Declaration &own = all[rank], &first = all[0];
        if (own.values < 0) {
            throw InvalidTask(
                fmt::format("rank {}: {} values, expected 0 or more", rank, own.values));
        }
        if (own.element != first.element) {
            throw InvalidTask(fmt::format("rank {} has values of {} bytes, rank 0 of {}", rank,
                                          own.element, first.element));
        }
        if (own.options != first.options)
            throw InvalidTask(fmt::format("rank {} gives other options than rank 0", rank));
    }
}

Program plan(const std::vector<Declaration>& all, const ScanOptions& options, int rank) {
    check_alike(all);
    scan::Series series;
    for (const Declaration& own : all)
        series.push_back(own.values);
    return scan::program(scan::find_strategy(options.strategy), series,
                         {scan::find(options.algorithm), options.tuning, options.gives_last}, rank);
}

} // namespace

Scan::Scan(Communicator communicator, Elements values, Operator op, const ScanOptions& options)
    : communicator_(std::move(communicator)), values_(values) {
    const std::vector<Declaration> all =
        communicator_.all_gather(Declaration{values, op.element.size, hash_of(options)});
    agree(communicator_, [&] {
        execution_.emplace(communicator_, plan(all, options, communicator_.rank()), std::move(op),
                           ExecuteOptions{options.association, options.trace});
    });
}

std::span<const std::byte> Scan::run(std::span<const std::byte> values) {
    agree(communicator_, [&] { bind_and_run(values); });
    return execution_->result();
}

void Scan::bind_and_run(std::span<const std::byte> values) {
    try {
        if (values_ > 0)
            execution_->bind(0, values);
        else if (!values.empty())
            throw InvalidTask(fmt::format("{} bytes given, expected none", values.size()));
    } catch (const InvalidTask&) {
        execution_->run_failed(std::current_exception()); // others wait for this rank
    }
    execution_->run();
}

} // namespace sextant::prefix
