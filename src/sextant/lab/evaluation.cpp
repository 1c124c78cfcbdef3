// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/evaluation.hpp"

#include "sextant/comm/provenance.hpp"
#include "sextant/compositing/catalogue.hpp"
#include "sextant/compositing/swap_algorithms.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/planner/compositing_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::lab {

namespace {

constexpr int evaluation_version = 1;

nlohmann::ordered_json json_of(const EvaluatedCase& one) {
    nlohmann::ordered_json json{{"name", one.what.name},           {"width", one.what.shape.width},
                                {"height", one.what.shape.height}, {"image", one.what.image},
                                {"collect", one.what.collect},     {"chosen", one.chosen}};
    for (const EvaluatedConfiguration& configuration : one.configurations) {
        nlohmann::ordered_json row{{"name", configuration.name},
                                   {"baseline", configuration.baseline},
                                   {"measured", configuration.measured}};
        if (configuration.predicted)
            row["predicted"] = *configuration.predicted;
        json["configurations"].push_back(row);
    }
    return json;
}

EvaluatedConfiguration way_from(const JsonField& field) {
    constexpr double shortest = 1e-12, longest = 1e6;
    EvaluatedConfiguration configuration{
        field.at("name").text(), field.at("baseline").boolean(), std::nullopt, {}};
    if (const auto predicted = field.find("predicted"))
        configuration.predicted = predicted->number(0, longest);
    for (const JsonField& seconds : field.at("measured").items())
        configuration.measured.push_back(seconds.number(shortest, longest));
    return configuration;
}

EvaluatedCase case_from(const JsonField& field) {
    constexpr std::int64_t widest = 1 << 20;
    EvaluatedCase one;
    one.what.name = field.at("name").text();
    one.what.shape = {field.at("width").integer(1, widest), field.at("height").integer(1, widest)};
    one.what.image = field.at("image").text();
    one.what.collect = field.at("collect").boolean();
    one.chosen = field.at("chosen").text();
    bool any_of_ours = false;
    for (const JsonField& configuration : field.at("configurations").items()) {
        one.configurations.push_back(way_from(configuration));
        any_of_ours = any_of_ours || !one.configurations.back().baseline;
        const JsonField measured = configuration.at("measured");
        if (measured.size() == 0)
            measured.fail("is empty");
        if (measured.size() != one.configurations.front().measured.size())
            measured.fail(fmt::format("has {} times, expected {}, one per launch", measured.size(),
                                      one.configurations.front().measured.size()));
    }
    if (!any_of_ours)
        field.at("configurations").fail("has only baselines");
    if (!one.find(one.chosen))
        field.at("chosen").fail("is not among the configurations");
    return one;
}

} // namespace

const EvaluatedConfiguration* EvaluatedCase::find(std::string_view name) const {
    const auto found = std::find_if(
        configurations.begin(), configurations.end(),
        [&](const EvaluatedConfiguration& configuration) { return configuration.name == name; });
    return found == configurations.end() ? nullptr : &*found;
}

std::vector<CompositeCase> draw_cases(std::uint64_t seed, int count) {
    std::mt19937_64 random(seed);
    // std::uniform_real_distribution gives different values in different standard libraries.
    const auto uniform = [&](double from, double to) {
        return from + (to - from) * static_cast<double>(random() >> 11) * 0x1p-53;
    };
    std::vector<CompositeCase> cases;
    for (int i = 0; i < count; ++i) {
        const double pixels = std::exp2(uniform(6, 23)), ratio = std::exp2(uniform(-2, 2));
        CompositeCase one;
        one.shape.width = std::max<std::int64_t>(1, std::llround(std::sqrt(pixels * ratio)));
        one.shape.height =
            std::max<std::int64_t>(1, std::llround(pixels / static_cast<double>(one.shape.width)));
        one.image = random() % 2 ? "dense" : "ellipse";
        one.collect = random() % 2 != 0;
        one.all_tunings = true;
        one.name = fmt::format("{}x{} {}, {}", one.shape.width, one.shape.height, one.image,
                               one.collect ? "collected" : "distributed");
        cases.push_back(std::move(one));
    }
    return cases;
}

void add_launches(Evaluation& evaluation, const Evaluation& more) {
    const auto differ = [&](const std::string& what) {
        throw InvalidTask(fmt::format("the launches cannot be combined: {} differ", what));
    };
    if (evaluation.seed != more.seed || evaluation.cases.size() != more.cases.size())
        differ("their cases");
    if (evaluation.ranks != more.ranks || evaluation.transport != more.transport)
        differ("ranks or transport");
    evaluation.round_trips.insert(evaluation.round_trips.end(), more.round_trips.begin(),
                                  more.round_trips.end());
    for (std::size_t c = 0; c < more.cases.size(); ++c) {
        EvaluatedCase& own = evaluation.cases[c];
        const EvaluatedCase& theirs = more.cases[c];
        if (own.what.name != theirs.what.name || own.chosen != theirs.chosen)
            differ("the choices for " + own.what.name);
        for (EvaluatedConfiguration& configuration : own.configurations) {
            const EvaluatedConfiguration* other = theirs.find(configuration.name);
            if (!other)
                differ("the configurations of " + own.what.name);
            configuration.measured.insert(configuration.measured.end(), other->measured.begin(),
                                          other->measured.end());
        }
    }
}

std::string to_json(const Evaluation& evaluation) {
    nlohmann::ordered_json json{{"operation", "evaluate"},
                                {"version", version()},
                                {"evaluate_version", evaluation_version},
                                {"seed", evaluation.seed},
                                {"ranks", evaluation.ranks},
                                {"cores", evaluation.cores},
                                {"transport", evaluation.transport},
                                {"host", evaluation.host},
                                {"machine", evaluation.machine},
                                {"date", evaluation.date},
                                {"profile_round_trip", evaluation.profile_round_trip},
                                {"round_trips", evaluation.round_trips}};
    json["cases"] = nlohmann::ordered_json::array();
    for (const EvaluatedCase& one : evaluation.cases)
        json["cases"].push_back(json_of(one));
    return sextant::to_text(json, 1);
}

Evaluation read_evaluation(const std::string& path) {
    constexpr Bytes longest = Bytes{1} << 24;
    constexpr std::int64_t most_ranks = 1 << 24;
    const JsonField file = JsonField::read(path, {longest});
    file.at("evaluate_version").require_version(evaluation_version);
    Evaluation evaluation;
    evaluation.seed = static_cast<std::uint64_t>(file.at("seed").integer(0, 1 << 30));
    evaluation.ranks = static_cast<int>(file.at("ranks").integer(1, most_ranks));
    evaluation.cores = static_cast<int>(file.at("cores").integer(1, most_ranks));
    evaluation.transport = file.at("transport").text();
    evaluation.host = file.at("host").text();
    evaluation.machine = file.at("machine").text();
    evaluation.date = file.at("date").text();
    evaluation.profile_round_trip = file.at("profile_round_trip").number(0, 1);
    for (const JsonField& trip : file.at("round_trips").items())
        evaluation.round_trips.push_back(trip.number(0, 1));
    for (const JsonField& one : file.at("cases").items())
        evaluation.cases.push_back(case_from(one));
    if (evaluation.cases.empty())
        file.at("cases").fail("is empty");
    return evaluation;
}

namespace {

/// Indices of the launches to use.
using Launches = std::vector<std::size_t>;

Launches all_of(const EvaluatedCase& one) {
    Launches launches(one.configurations.front().measured.size());
    std::iota(launches.begin(), launches.end(), std::size_t{0});
    return launches;
}

/// Returns the time of each configuration, relative to the median configuration of the same launch.
std::vector<double> shares(const EvaluatedCase& one, const Launches& launches) {
    std::vector<std::vector<double>> of_configuration(one.configurations.size());
    for (const std::size_t launch : launches) {
        std::vector<double> times;
        for (const EvaluatedConfiguration& configuration : one.configurations)
            times.push_back(configuration.measured[launch]);
        const double middle = median(times);
        for (std::size_t w = 0; w < times.size(); ++w)
            of_configuration[w].push_back(times[w] / middle);
    }
    std::vector<double> shares;
    for (const std::vector<double>& times : of_configuration)
        shares.push_back(median(times));
    return shares;
}

/// Returns the fastest configuration in the catalogue; baselines are ignored.
std::size_t best_of(const EvaluatedCase& one, const std::vector<double>& shares) {
    std::size_t best = one.configurations.size();
    for (std::size_t w = 0; w < shares.size(); ++w) {
        if (!one.configurations[w].baseline &&
            (best == one.configurations.size() || shares[w] < shares[best]))
            best = w;
    }
    return best;
}

double regret(const EvaluatedCase& one, const std::vector<double>& shares, std::size_t taken) {
    return shares[taken] / shares[best_of(one, shares)] - 1;
}

/// A policy: a rule that returns a configuration for a number of ranks, or "" if it has none.
struct Policy {
    const char* name;
    std::string (*configuration)(int ranks, bool collect);
};

std::string radix(const std::vector<int>& radices) {
    return compositing::Configuration{&compositing::find("radix-k"), {radices, 0}}.text();
}

std::vector<int> ascending_primes(int ranks) {
    std::vector<int> primes;
    for (int k = 2; ranks > 1; ++k) {
        for (; ranks % k == 0; ranks /= k)
            primes.push_back(k);
    }
    return primes;
}

constexpr Policy policies[] = {
    {"binary swap, or 2-3 swap",
     [](int ranks, bool) -> std::string {
         return (ranks & (ranks - 1)) == 0 ? "binary-swap" : "two-three-swap";
     }},
    {"direct send", [](int, bool) -> std::string { return "direct-send"; }},
    {"Shift-Based", [](int, bool) -> std::string { return "shift-based, window 1"; }},
    {"radix-k, 8 first, then 4 and 2",
     [](int ranks, bool) {
         const std::vector<int> radices = planner::largest_first_radices(ranks);
         return radix(radices.empty() ? std::vector<int>{ranks} : radices);
     }},
    {"radix-k, ascending primes", [](int ranks, bool) { return radix(ascending_primes(ranks)); }},
    {"MPI_Reduce, if the image is collected",
     [](int, bool collect) -> std::string { return collect ? "mpi-reduce" : ""; }},
    {"MPI_Reduce_scatter, if the image stays distributed",
     [](int, bool collect) -> std::string { return collect ? "" : "mpi-reduce-scatter"; }}};

/// Returns the regret of an oracle that chooses the configuration that is fastest in one half of
/// the launches and is judged by the other half; the mean over both assignments of the halves.
double floor_of(const EvaluatedCase& one) {
    Launches halves[2];
    for (const std::size_t launch : all_of(one))
        halves[launch % 2].push_back(launch);
    const std::vector<double> a = shares(one, halves[0]), b = shares(one, halves[1]);
    return (regret(one, b, best_of(one, a)) + regret(one, a, best_of(one, b))) / 2;
}

void add_errors(std::vector<double>& errors, const EvaluatedCase& one) {
    for (const EvaluatedConfiguration& configuration : one.configurations) {
        if (configuration.predicted)
            errors.push_back(
                std::abs(*configuration.predicted / median(configuration.measured) - 1));
    }
}

} // namespace

double Regrets::mean() const {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Regrets::p95() const {
    return quantile(values, .95);
}

double Regrets::worst() const {
    return *std::max_element(values.begin(), values.end());
}

namespace {

void judge(const Evaluation& evaluation, Verdict& verdict) {
    constexpr double worth_naming = .02;
    for (const EvaluatedCase& one : evaluation.cases) {
        const std::vector<double> of_configurations = shares(one, all_of(one));
        const auto place = [&](const std::string& name) {
            return static_cast<std::size_t>(one.find(name) - one.configurations.data());
        };
        const double lost = regret(one, of_configurations, place(one.chosen));
        verdict.planner.values.push_back(lost);
        if (lost > worth_naming) {
            verdict.losses.push_back({one.what.name, one.chosen,
                                      one.configurations[best_of(one, of_configurations)].name,
                                      lost});
        }
        const std::vector<std::string> taken =
            configurations_of_policies(evaluation.ranks, one.what.collect);
        for (std::size_t i = 0; i < taken.size(); ++i) {
            if (one.find(taken[i]))
                verdict.policies[i].values.push_back(
                    regret(one, of_configurations, place(taken[i])));
        }
        if (one.configurations.front().measured.size() > 1)
            verdict.floor.values.push_back(floor_of(one));
        add_errors(verdict.errors, one);
    }
}

} // namespace

std::vector<std::string> configurations_of_policies(int ranks, bool collect) {
    std::vector<std::string> configurations;
    for (const Policy& policy : policies)
        configurations.push_back(policy.configuration(ranks, collect));
    return configurations;
}

Verdict judge(std::span<const Evaluation> evaluations) {
    Verdict verdict;
    verdict.planner.policy = "the planner";
    verdict.floor.policy =
        "noise floor: the choice that is best in half of the launches, judged by the other half";
    for (const Policy& policy : policies)
        verdict.policies.push_back({policy.name, {}});
    for (const Evaluation& evaluation : evaluations)
        judge(evaluation, verdict);
    std::erase_if(verdict.policies, [](const Regrets& each) { return each.values.empty(); });
    std::stable_sort(verdict.losses.begin(), verdict.losses.end(),
                     [](const Loss& a, const Loss& b) { return a.regret > b.regret; });
    return verdict;
}

} // namespace sextant::lab
