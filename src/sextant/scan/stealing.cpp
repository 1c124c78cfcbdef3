// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/stealing.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace sextant::scan {

namespace {

Elements number_of(const Interval& values) {
    return values.last - values.first;
}

bool any(const Interval& values) {
    return number_of(values) > 0;
}

/// The mean time of an application; 0 if there was none.
Seconds mean(Seconds taken, Elements applications) {
    return applications > 0 ? taken / static_cast<double>(applications) : 0;
}

} // namespace

Stealing::Stealing(Elements values, int threads, Boundaries boundaries) : boundaries_(boundaries) {
    Elements first = 0;
    for (const Elements own : even_blocks(values, threads)) {
        const Interval share{first, first + own};
        const auto number = static_cast<int>(threads_.size());
        Elements start = share.first;
        // A block with fixed boundaries is reduced from left to right, so that the order of
        // association does not depend on the times of applications.
        if (number > 0 && boundaries != Boundaries::fixed)
            start = number == threads - 1 ? share.last - 1 : share.first + own / 2;
        threads_.push_back({share, {start, start + 1}, start});
        first = share.last;
    }
}

/// Returns the unclaimed values directly before a thread's segment that the thread may claim.
Interval Stealing::left_before(int thread) const {
    const bool bounded = thread == 0 || boundaries_ == Boundaries::fixed;
    const Elements from = bounded ? at(thread).share.first : at(thread - 1).claimed.last;
    return {from, at(thread).claimed.first};
}

Interval Stealing::left_after(int thread) const {
    const bool bounded =
        thread == static_cast<int>(threads_.size()) - 1 || boundaries_ == Boundaries::fixed;
    const Elements to = bounded ? at(thread).share.last : at(thread + 1).claimed.first;
    return {at(thread).claimed.last, to};
}

/// The current estimate of a thread's time per application.
Seconds Stealing::pace(int thread, Seconds now) const {
    const Thread& own = at(thread);
    const Seconds known = mean(own.busy, own.applied);
    if (!own.working)
        return known;
    return std::max(known, mean(own.busy + now - own.began, own.applied + 1));
}

/// A neighbour's need for help with the values `left` between it and a thread. A neighbour that
/// also has values on its other side has only half of its time for the values `left`.
Seconds Stealing::need(int neighbour, const Interval& left, const Interval& elsewhere,
                       Seconds now) const {
    if (boundaries_ == Boundaries::towards_slower)
        return pace(neighbour, now);
    return pace(neighbour, now) * static_cast<double>(number_of(left)) * (any(elsewhere) ? 2 : 1);
}

Seconds Stealing::need_before(int thread, Seconds now) const {
    return thread == 0 ? 0 : need(thread - 1, left_before(thread), left_before(thread - 1), now);
}

Seconds Stealing::need_after(int thread, Seconds now) const {
    const bool is_last = thread == static_cast<int>(threads_.size()) - 1;
    return is_last ? 0 : need(thread + 1, left_after(thread), left_after(thread + 1), now);
}

bool Stealing::prefers_before(int thread, Seconds now) const {
    if (!any(left_before(thread)) || !any(left_after(thread)))
        return any(left_before(thread));
    const Seconds before = need_before(thread, now), after = need_after(thread, now);
    if (before != after)
        return before > after;
    const Thread& own = at(thread);
    return number_of({own.share.first, own.claimed.first}) >
           number_of({own.claimed.last, own.share.last});
}

std::optional<Extension> Stealing::next(int thread, Seconds now) {
    Thread& own = threads_[static_cast<std::size_t>(thread)];
    if (own.working) {
        own.busy += now - own.began;
        ++own.applied;
        own.working = false;
    }
    if (!any(left_before(thread)) && !any(left_after(thread)))
        return std::nullopt;
    const bool before = prefers_before(thread, now);
    const Elements value = before ? --own.claimed.first : own.claimed.last++;
    own.working = true;
    own.began = now;
    if (value < own.share.first || value >= own.share.last)
        ++stolen_;
    return Extension{value, before};
}

int employed(Elements values, int threads) {
    return static_cast<int>(std::min<Elements>(values, threads));
}

Totals totals(const Series& series, const GlobalScan& global, int rank) {
    if (series[static_cast<std::size_t>(rank)] == 0)
        return {};
    const Workers workers = workers_of(series, rank);
    ProgramBuilder builder;
    const Region total = builder.input(1);
    const Prefixes known = scan_totals(builder, {workers.values, workers.number}, global, total);
    Totals made{{}, !known.before.empty(), !known.through.empty()};
    const Region output = builder.output((made.before ? 1 : 0) + (made.through ? 1 : 0));
    if (made.before)
        builder.copy(nth(output, 0), known.before);
    if (made.through)
        builder.copy(nth(output, made.before ? 1 : 0), known.through);
    made.program = with_peers(builder.finish(output), workers.ranks);
    return made;
}

LastPhase last_phase(const Interval& segment, int thread, bool is_last, const Totals& known,
                     bool is_first_rank) {
    if (is_first_rank && thread == 0)
        return {};
    // The prefix at the segment's last value is not needed from this thread if the next thread
    // computes it or, for the last segment, if the scan of the totals has (`known.through`).
    const bool last_is_known = !is_last || known.through;
    LastPhase phase{known.before && thread > 0, segment};
    if (last_is_known)
        --phase.applied.last;
    return phase;
}

namespace {

constexpr NamedBoundaries boundary_rows[] = {
    {"fixed", "each thread processes its own block", Boundaries::fixed},
    {"moving", "a thread takes values from the neighbour that would take longest to finish",
     Boundaries::moving},
    {"towards-slower", "a thread takes values from the neighbour that is slower per application",
     Boundaries::towards_slower},
    {"look-ahead",
     "on one rank, idle threads reduce values ahead of the scan; on several ranks, as moving",
     Boundaries::look_ahead},
};

} // namespace

std::span<const NamedBoundaries> all_boundaries() {
    return boundary_rows;
}

std::string_view name(Boundaries boundaries) {
    return std::find_if(std::begin(boundary_rows), std::end(boundary_rows),
                        [&](const auto& row) { return row.boundaries == boundaries; })
        ->name;
}

Boundaries find_boundaries(std::string_view name) {
    return find_by_name<NamedBoundaries>("boundaries", name, boundary_rows).boundaries;
}

void check(const Configuration& configuration) {
    if (configuration.threads < 1)
        throw InvalidTask(
            fmt::format("{} threads per rank: expected 1 or more", configuration.threads));
    if (configuration.threads > 1 && configuration.strategy.program != reduce_then_scan) {
        throw InvalidTask(fmt::format(
            "{} does not support {} threads per rank: expected reduce-then-scan, or 1 thread",
            configuration.strategy.name, configuration.threads));
    }
}

std::string to_text(const Configuration& configuration) {
    std::string text =
        fmt::format("{} over {}", configuration.strategy.name,
                    to_text(configuration.global.algorithm, configuration.global.tuning));
    if (configuration.threads > 1)
        text += fmt::format(", {} threads, boundaries {}", configuration.threads,
                            name(configuration.boundaries));
    return text;
}

} // namespace sextant::scan
