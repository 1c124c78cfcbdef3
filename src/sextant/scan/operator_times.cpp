// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/operator_times.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <fmt/format.h>

namespace sextant::scan {

Usage usage(std::span<const Bar> bars, int ranks, int threads, Seconds serial) {
    const auto workers = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(threads);
    std::vector<Seconds> busy(workers, 0);
    Usage usage;
    for (const Bar& bar : bars) {
        const auto worker = static_cast<std::size_t>(bar.rank * threads + bar.thread);
        busy[worker] += bar.end - bar.begin;
        usage.busy += bar.end - bar.begin;
        usage.makespan = std::max(usage.makespan, bar.end);
        ++usage.applications;
    }
    const auto count = static_cast<double>(workers);
    usage.idle = count * usage.makespan - usage.busy;
    if (usage.busy > 0)
        usage.imbalance = *std::max_element(busy.begin(), busy.end()) * count / usage.busy;
    if (usage.makespan > 0)
        usage.efficiency = serial / (count * usage.makespan);
    return usage;
}

namespace {

/// The mixing step of SplitMix64: decorrelates neighbouring inputs. (The distributions of the
/// standard library differ between implementations.)
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/// Returns a number uniformly distributed in (0, 1].
double uniform(std::uint64_t bits) {
    return static_cast<double>((bits >> 11) + 1) * 0x1p-53;
}

/// Returns a normally distributed number (Box and Muller).
double normal(std::uint64_t seed, std::uint64_t i) {
    const std::uint64_t bits = mixed(seed ^ mixed(i));
    return std::sqrt(-2 * std::log(uniform(bits))) *
           std::cos(2 * std::numbers::pi * uniform(mixed(bits)));
}

/// Returns times whose logarithms are a first-order autoregressive series.
std::vector<Seconds> correlated(const Distribution& distribution, Elements values,
                                std::uint64_t seed) {
    const double rho = distribution.correlation, sigma = distribution.spread;
    std::vector<Seconds> times;
    double z = normal(seed, 0);
    for (Elements i = 0; i < values; ++i) {
        times.push_back(distribution.mean * std::exp(sigma * z - sigma * sigma / 2));
        z = rho * z + std::sqrt(1 - rho * rho) * normal(seed, static_cast<std::uint64_t>(i) + 1);
    }
    return times;
}

std::vector<Seconds> recorded(const Distribution& distribution, Elements values,
                              std::uint64_t seed) {
    const std::vector<Seconds>& list = distribution.times;
    const Seconds mean =
        std::accumulate(list.begin(), list.end(), 0.0) / static_cast<double>(list.size());
    const double scale = distribution.mean > 0 && mean > 0 ? distribution.mean / mean : 1;
    const std::size_t enter = seed == 0 ? 0 : mixed(seed) % list.size();
    std::vector<Seconds> times;
    for (Elements i = 0; i < values; ++i)
        times.push_back(scale * list[(enter + static_cast<std::size_t>(i)) % list.size()]);
    return times;
}

} // namespace

std::string_view name(Distribution::Kind kind) {
    switch (kind) {
    case Distribution::Kind::constant:
        return "constant";
    case Distribution::Kind::exponential:
        return "exponential";
    case Distribution::Kind::correlated:
        return "correlated";
    case Distribution::Kind::recorded:
        return "recorded";
    }
    return "";
}

std::vector<Seconds> read_times(const std::string& path) {
    const JsonField list = JsonField::read(path);
    std::vector<Seconds> times;
    for (const JsonField& time : list.items())
        times.push_back(time.number(0, JsonField::most));
    if (times.empty())
        list.refuse("one or more times in seconds");
    return times;
}

void check(const Distribution& distribution) {
    const auto fine = [](double number) { return std::isfinite(number) && number >= 0; };
    const bool is_recorded = distribution.kind == Distribution::Kind::recorded;
    if (!fine(distribution.mean))
        throw InvalidTask(
            fmt::format("an operator time of {} s: expected 0 or more", distribution.mean));
    if (!fine(distribution.spread))
        throw InvalidTask(fmt::format("a spread of {}: expected 0 or more", distribution.spread));
    if (!(distribution.correlation >= 0 && distribution.correlation < 1))
        throw InvalidTask(fmt::format("a correlation of {}: expected at least 0 and less than 1",
                                      distribution.correlation));
    if (is_recorded && distribution.times.empty())
        throw InvalidTask("no recorded times: expected one or more");
    for (std::size_t i = 0; i < distribution.times.size(); ++i) {
        if (!fine(distribution.times[i]))
            throw InvalidTask(fmt::format("recorded time {} is {} s: expected 0 or more", i,
                                          distribution.times[i]));
    }
}

Draws::Draws(const Distribution& distribution, Elements values, std::uint64_t seed)
    : kind_(distribution.kind), mean_(distribution.mean), values_(values), seed_(mixed(seed)) {
    check(distribution);
    if (kind_ == Distribution::Kind::correlated)
        at_ = correlated(distribution, values, seed_);
    if (kind_ == Distribution::Kind::recorded)
        at_ = recorded(distribution, values, seed);
}

Seconds Draws::operator()(const Application& what) const {
    if (kind_ == Distribution::Kind::constant)
        return mean_;
    if (kind_ != Distribution::Kind::exponential)
        return at_[static_cast<std::size_t>(what.middle)];
    std::uint64_t bits = seed_;
    for (const Elements edge : {what.first, what.middle, what.last})
        bits = mixed(bits ^ static_cast<std::uint64_t>(edge));
    return -mean_ * std::log(uniform(bits));
}

Seconds Draws::serial() const {
    Seconds sum = 0;
    for (Elements value = 1; value < values_; ++value)
        sum += (*this)({0, value, value + 1});
    return sum;
}

} // namespace sextant::scan
