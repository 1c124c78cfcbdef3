// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/tune_choice.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace sextant::lab {

namespace {

/// The ratios of times at one size, by launch.
struct RatiosAtSize {
    Bytes size = 0;
    std::vector<double> by_launch;
};

RuleEvidence evidence_of(std::span<const RatiosAtSize> ratios) {
    RuleEvidence evidence;
    evidence.worst = 0;
    std::vector<double> means(ratios.front().by_launch.size(), 1);
    for (const RatiosAtSize& each : ratios) {
        const double at_size = median(each.by_launch);
        if (at_size > evidence.worst) {
            evidence.worst = at_size;
            evidence.worst_size = each.size;
        }
        for (std::size_t i = 0; i < means.size(); ++i)
            means[i] *= std::pow(each.by_launch[i], 1.0 / static_cast<double>(ratios.size()));
    }
    const Interval interval = interval_by_rank(means);
    evidence.median = median(means);
    evidence.low = interval.low;
    evidence.high = interval.high;
    return evidence;
}

/// Returns the sizes at which an operation was measured, in increasing order.
std::vector<Bytes> timed_sizes(const TuneLaunch& launch, std::string_view operation) {
    std::set<Bytes> sizes;
    for (const AlgorithmTimes& each : launch.times) {
        if (each.operation == operation)
            sizes.insert(each.size);
    }
    return {sizes.begin(), sizes.end()};
}

/// Returns the ratio of an algorithm's time to that of the default in one launch, paired by round.
std::optional<double> ratio_in(const TuneLaunch& launch, std::string_view operation, Bytes size,
                               const MpiAlgorithm& algorithm) {
    const AlgorithmTimes* const times = find_times(launch, operation, size, algorithm);
    const AlgorithmTimes* const usual = find_times(launch, operation, size, {});
    if (!times || !usual)
        return std::nullopt;
    std::vector<double> ratios;
    const auto& ours = launch.crowded ? times->cpu : times->wall;
    const auto& reference = launch.crowded ? usual->cpu : usual->wall;
    for (std::size_t i = 0; i < std::min(ours.size(), reference.size()); ++i)
        ratios.push_back(ours[i] / reference[i]);
    return ratios.empty() ? std::nullopt : std::optional(median(ratios));
}

/// Returns the evidence for an algorithm at some sizes; empty if it was not measured at all of
/// them.
std::optional<RuleEvidence> evidence_for(std::span<const TuneLaunch> launches,
                                         std::string_view operation, std::span<const Bytes> sizes,
                                         const MpiAlgorithm& algorithm) {
    std::vector<RatiosAtSize> ratios;
    for (const Bytes size : sizes) {
        RatiosAtSize& at_size = ratios.emplace_back();
        at_size.size = size;
        for (const TuneLaunch& launch : launches) {
            const auto ratio = ratio_in(launch, operation, size, algorithm);
            if (!ratio)
                return std::nullopt;
            at_size.by_launch.push_back(*ratio);
        }
    }
    return evidence_of(ratios);
}

/// Returns the algorithms of MPI for which a rule is allowed.
std::vector<MpiAlgorithm> eligible(std::span<const TuneLaunch> launches, std::string_view operation,
                                   bool commutative) {
    std::vector<MpiAlgorithm> all;
    std::set<int> wrong;
    for (const TuneLaunch& launch : launches) {
        for (const AlgorithmTimes& each : launch.times) {
            if (each.operation != operation || each.ours || each.algorithm.number == 0)
                continue;
            if ((!each.in_order && !commutative) || !each.refused.empty())
                wrong.insert(each.algorithm.number);
            if (std::find(all.begin(), all.end(), each.algorithm) == all.end())
                all.push_back(each.algorithm);
        }
    }
    std::erase_if(all, [&](const MpiAlgorithm& each) { return wrong.contains(each.number); });
    return all;
}

/// Returns the best rule for a class. `sizes` are the ends of the class, or all sizes, and must
/// have been measured. Empty if no algorithm is better than the default.
std::optional<TunedRule> best_rule(std::span<const TuneLaunch> launches, TuningRule rule,
                                   std::span<const Bytes> sizes,
                                   std::span<const MpiAlgorithm> algorithms) {
    constexpr double worth_a_rule = .95;
    std::optional<TunedRule> best;
    for (const MpiAlgorithm& algorithm : algorithms) {
        const auto evidence = evidence_for(launches, rule.operation, sizes, algorithm);
        if (!evidence || !evidence->faster_by(0) || evidence->median > worth_a_rule)
            continue;
        rule.algorithm = algorithm;
        if (!best || evidence->median < best->chosen.median)
            best = TunedRule{rule, *evidence, {}};
    }
    return best;
}

} // namespace

Seconds time_of(const AlgorithmTimes& times, bool crowded) {
    return median(crowded ? times.cpu : times.wall);
}

const AlgorithmTimes* find_times(const TuneLaunch& launch, std::string_view operation, Bytes size,
                                 const MpiAlgorithm& algorithm) {
    for (const AlgorithmTimes& each : launch.times) {
        const bool same =
            each.algorithm.number == algorithm.number &&
            each.algorithm.segment == (algorithm.segment >= size ? 0 : algorithm.segment);
        if (each.operation == operation && each.size == size && !each.ours && same)
            return each.wall.empty() ? nullptr : &each;
    }
    return nullptr;
}

std::vector<TunedRule> choose_rules(std::span<const TuneLaunch> launches, bool commutative) {
    for (const TuneLaunch& launch : launches) {
        if (launch.mpi != launches[0].mpi || launch.ranks != launches[0].ranks)
            throw InvalidTask(
                fmt::format("the launches differ: one has {} ranks of {}, another {} ranks of {}",
                            launches[0].ranks, launches[0].mpi, launch.ranks, launch.mpi));
    }
    const bool by_size = !launches[0].mpi.starts_with("MPICH");
    std::vector<TunedRule> rules;
    for (const TunedOperation& operation : tuned_operations()) {
        const std::vector<Bytes> sizes = timed_sizes(launches[0], operation.name);
        const auto algorithms = eligible(launches, operation.name, commutative);
        const auto add = [&](TuningRule rule, std::span<const Bytes> at) {
            if (auto best = best_rule(launches, rule, at, algorithms))
                rules.push_back(std::move(*best));
        };
        if (!by_size && !sizes.empty())
            add({.operation = operation.name, .algorithm = {}}, sizes);
        for (std::size_t i = 1; by_size && i < sizes.size(); ++i)
            add({operation.name, sizes[i - 1], sizes[i], {}}, std::span(sizes).subspan(i - 1, 2));
    }
    return rules;
}

std::vector<std::int64_t> sizes_to_verify(const TuningRule& rule,
                                          std::span<const std::int64_t> sizes) {
    constexpr Bytes unit = sizeof(float);
    const auto up = [&](Bytes size) { return std::max(unit, (size + unit - 1) / unit * unit); };
    std::set<std::int64_t> all;
    const auto add = [&](Bytes size) {
        if (size >= rule.from && size < rule.to)
            all.insert(size);
    };
    for (const std::int64_t size : sizes)
        add(size);
    if (rule.from > 0)
        add(up(rule.from));
    if (rule.to != TuningRule::no_limit) {
        const double middle = std::sqrt(static_cast<double>(std::max(rule.from, unit)) *
                                        static_cast<double>(rule.to));
        add(up(static_cast<Bytes>(middle)));
        add(up(rule.to) - unit);
    }
    return {all.begin(), all.end()};
}

void verify_rules(std::vector<TunedRule>& rules, std::span<const TuneLaunch> without,
                  std::span<const TuneLaunch> with) {
    for (TunedRule& each : rules) {
        std::vector<RatiosAtSize> ratios;
        for (const Bytes size : timed_sizes(without[0], each.rule.operation)) {
            if (size < each.rule.from || size >= each.rule.to)
                continue;
            RatiosAtSize at_size{size, {}};
            for (std::size_t i = 0; i < without.size(); ++i) {
                const AlgorithmTimes* const before =
                    find_times(without[i], each.rule.operation, size, {});
                const AlgorithmTimes* const after =
                    find_times(with[i], each.rule.operation, size, {});
                if (!before || !after)
                    throw InvalidTask("the launches with and without rules timed different sizes");
                const bool crowded = without[i].crowded;
                at_size.by_launch.push_back(time_of(*after, crowded) / time_of(*before, crowded));
            }
            ratios.push_back(std::move(at_size));
        }
        if (!ratios.empty())
            each.verified = evidence_of(ratios);
    }
}

} // namespace sextant::lab
