// SPDX-License-Identifier: BSD-3-Clause
// Bounds, pruning and ranking of candidates.
#include "sextant/planner/choose.hpp"

#include "sextant/compositing/catalogue.hpp"
#include "sextant/halo/stencil.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/planner/predictor.hpp"
#include "sextant/schedule/matching.hpp"

#include <array>
#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace sextant::planner {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Messages cost `latency` plus a time per byte; blending is free.
machine::Profile hockney(double latency, double seconds_per_byte) {
    return machine::parse_profile(
        fmt::format(R"({{"version": 1, "name": "test", "date": "2026", "method": "made up",
                        "links": [{{"link": "other node", "hockney":
                        {{"latency": {}, "seconds_per_byte": {}, "method": "made up"}}}}]}})",
                    latency, seconds_per_byte),
        "test");
}

struct Question {
    compositing::Task task;
    std::vector<compositing::Configuration> configurations = compositing::configurations(task);
    std::vector<Candidate> candidates = {};

    Question(int ranks, Elements elements, int root = compositing::Task::distributed)
        : task(compositing::one_image_each(ranks, elements, root)) {
        for (const compositing::Configuration& configuration : configurations)
            candidates.push_back(compositing::candidate(task, configuration));
    }
    Choice ask(const machine::Profile& machine,
               std::optional<std::int64_t> most_messages = 1'000'000) const {
        return choose(candidates, {.machine = machine,
                                   .element_size = 16,
                                   .operator_name = "over",
                                   .most_messages = most_messages});
    }
    std::string name(const PredictedCandidate& evaluated) const {
        return candidates[evaluated.candidate].text();
    }
};

TEST(Choose, prefers_few_messages_or_few_bytes_depending_on_their_costs) {
    const Question question(16, 1 << 16);
    // If bytes are free, log2 p consecutive messages are the minimum.
    const Choice few = question.ask(hockney(1e-3, 0));
    EXPECT_DOUBLE_EQ(few.chosen().predicted->seconds, 4e-3);
    // If messages cost only per byte, the minimum is to receive (p - 1) / p of an image per rank.
    const Choice even = question.ask(hockney(0, 1e-8));
    EXPECT_NE(question.name(even.chosen()), "binary-tree");
    EXPECT_NEAR(even.chosen().predicted->seconds, 15.0 / 16 * (1 << 16) * 16 * 1e-8, 1e-6);
}

TEST(Choose, ranks_every_candidate_once_with_the_fastest_first) {
    for (const int ranks : {1, 2, 3, 8, 12, 13, 16}) {
        const Question question(ranks, 1000, 0);
        const Choice choice = question.ask(machine::built_in());
        std::vector<std::size_t> seen;
        Seconds before = 0;
        for (const PredictedCandidate& evaluated : choice.ranking) {
            seen.push_back(evaluated.candidate);
            if (!evaluated.predicted)
                continue;
            EXPECT_GE(evaluated.predicted->seconds, before);
            before = evaluated.predicted->seconds;
        }
        EXPECT_EQ(seen.size(), question.candidates.size());
        std::sort(seen.begin(), seen.end());
        EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
    }
}

/// A machine with random costs of messages and passes, and `cores` cores per node.
machine::Profile random_machine(std::mt19937& random, int cores) {
    const auto draw = [&](double low, double high) { // uniform in the logarithm
        return low * std::pow(high / low, std::uniform_real_distribution<double>(0, 1)(random));
    };
    machine::Profile machine;
    machine.name = "random";
    machine.cores = cores;
    for (const machine::Link kind :
         {machine::Link::same_process, machine::Link::same_node, machine::Link::other_node}) {
        machine::LinkCosts link;
        link.link = kind;
        const double per_byte = draw(1e-11, 1e-8);
        for (const machine::Path path :
             {machine::Path::send, machine::Path::receive, machine::Path::full}) {
            const double start = draw(1e-8, 1e-4), slope = per_byte * draw(.1, 1);
            machine::Curve curve{
                .path = path, .layout = {}, .strategy = {}, .origin = {}, .points = {}};
            for (const Bytes bytes : {Bytes{0}, Bytes{1} << 12, Bytes{1} << 22})
                curve.points.push_back(
                    {bytes, bytes, machine::exactly(start + slope * static_cast<double>(bytes))});
            link.curves.push_back(curve);
        }
        link.switches = {Bytes{1} << 12};
        machine.links.push_back(link);
    }
    machine::Work over;
    over.name = "over";
    const double start = draw(1e-9, 1e-6), each = draw(1e-11, 1e-8);
    for (const Elements elements : {Elements{1}, Elements{1} << 20})
        for (const int operands : {2, 8})
            over.passes.push_back(
                {elements, operands,
                 machine::exactly(start + each * static_cast<double>(elements) * operands)});
    machine.operators.push_back(over);
    machine.copies = {{0, machine::exactly(draw(1e-11, 1e-9)), {}}};
    return machine;
}

/// A ring of nodes, each with a link to the next. Each node has `each` consecutive ranks.
machine::Wires ring(int each, Seconds seconds_per_byte) {
    constexpr int nodes = 12;
    return {.links = nodes,
            .route =
                [each](int from, int to, std::vector<int>& path) {
                    for (int at = from / each; at != to / each; at = (at + 1) % nodes)
                        path.push_back(at);
                },
            .busy = [=](int, double bytes, int) { return bytes * seconds_per_byte; }};
}

TEST(Choose, prunes_no_candidate_predicted_to_be_faster_on_any_machine) {
    std::mt19937 random(19);
    const auto pick = [&](auto... values) {
        const std::array all{values...};
        return all[random() % all.size()];
    };
    int pruned = 0, bounds = 0;
    for (int round = 0; round < 600; ++round) {
        const int ranks = pick(2, 3, 4, 6, 8, 12), each = pick(1, 2, 4, 12);
        const machine::Profile machine = random_machine(random, pick(0, 1, 2, 8));
        const Question question(ranks, pick(1, 100, 5000, 1 << 20),
                                pick(0, compositing::Task::distributed));
        std::vector<int> nodes;
        for (int rank = 0; rank < ranks; ++rank)
            nodes.push_back(rank / each);
        const bool sparse = pick(0, 0, 1) == 1;
        const bool on_wires = pick(0, 0, 0, 1) == 1;
        const machine::Wires wires = ring(each, pick(1e-10, 1e-8));
        const Setting setting{.machine = machine,
                              .element_size = pick(16, 4),
                              .operator_name = "over",
                              .folds_at_once = pick(0, 1) == 1,
                              .nodes = nodes,
                              .wires = on_wires ? &wires : nullptr,
                              .within_node =
                                  pick(machine::Link::same_process, machine::Link::same_node),
                              .density = sparse ? .3 : 1,
                              .coded = sparse,
                              .model = pick("", "", "p3pc", "loggp", "hockney"),
                              .most_messages = 10'000'000};
        const Choice choice = choose(question.candidates, setting);
        const Seconds chosen = choice.chosen().predicted->seconds;
        for (const PredictedCandidate& evaluated : choice.ranking) {
            if (!evaluated.bound || evaluated.remark.starts_with("same work as "))
                continue;
            Seconds predicted = evaluated.predicted ? evaluated.predicted->seconds : 0;
            if (!evaluated.predicted) {
                EXPECT_THAT(evaluated.remark, HasSubstr("its lower bound exceeds the best time"));
                const Choice one =
                    choose(std::span(&question.candidates[evaluated.candidate], 1), setting);
                predicted = one.chosen().predicted->seconds;
                EXPECT_GE(predicted, chosen) << question.name(evaluated) << ", round " << round;
                ++pruned;
            }
            ++bounds;
            EXPECT_LE(*evaluated.bound, predicted * (1 + 1e-9))
                << question.name(evaluated) << " by " << choice.model << ", round " << round;
        }
    }
    EXPECT_GT(bounds, 1000);
    EXPECT_GT(pruned, 100);
}

TEST(Choose, lower_bounds_do_not_exceed_predictions_with_kernels) {
    constexpr int ranks = 4;
    const std::vector<int> nodes(ranks, 0);
    std::vector<Candidate> candidates;
    for (const int columns : {1, 2, 4}) {
        halo::Stencil stencil{.grid = {{600, 600, columns, ranks / columns}, {3, 3}}, .planes = 2};
        stencil.collects = true;
        candidates.push_back({"stencil", std::to_string(columns), ranks,
                              [=](int rank) { return halo::stencil(stencil, rank); }});
    }
    const Choice choice = choose(candidates, {.machine = machine::built_in(),
                                              .element_size = 4,
                                              .nodes = nodes,
                                              .within_node = machine::Link::same_process,
                                              .most_messages = 1'000'000});
    for (const PredictedCandidate& evaluated : choice.ranking) {
        ASSERT_TRUE(evaluated.predicted)
            << candidates[evaluated.candidate].text() << evaluated.remark;
        EXPECT_LE(*evaluated.bound, evaluated.predicted->seconds * (1 + 1e-9));
    }
}

TEST(Choose, marks_candidates_evaluated_only_by_a_lower_bound_for_thousands_of_ranks) {
    const Question question(2048, 1 << 20);
    const Choice choice = question.ask(machine::built_in(), 100'000);
    EXPECT_NE(question.name(choice.chosen()), "binary-tree") << "although it is cheap to evaluate";
    const auto bound_only = [](const PredictedCandidate& w) {
        return w.remark.starts_with("lower bound only");
    };
    EXPECT_TRUE(std::any_of(choice.ranking.begin(), choice.ranking.end(), bound_only));
}

TEST(Choose, evaluates_equivalent_candidates_only_once) {
    const Question question(2, 1000);
    const Choice choice = question.ask(machine::built_in());
    const auto as =
        std::count_if(choice.ranking.begin(), choice.ranking.end(), [](auto& evaluated) {
            return evaluated.remark.starts_with("same work as ");
        });
    EXPECT_GE(as, 2) << "radix-k 2, binary swap and direct send are the same on two ranks";
}

TEST(Choose, evaluating_a_subset_for_64_ranks_loses_at_most_10_percent) {
    double missed = 0;
    int questions = 0;
    for (Elements elements = 1 << 13; elements <= 1 << 19; elements *= 2) {
        const Question question(64, elements, 0);
        const Choice all = question.ask(machine::built_in());
        const Choice some = question.ask(machine::built_in(), std::nullopt);
        const auto walked = [](const PredictedCandidate& w) { return w.predicted.has_value(); };
        EXPECT_LT(std::count_if(some.ranking.begin(), some.ranking.end(), walked),
                  std::count_if(all.ranking.begin(), all.ranking.end(), walked));
        const double loss = some.chosen().predicted->seconds / all.chosen().predicted->seconds - 1;
        EXPECT_LE(loss, .1) << elements << " pixels: " << question.name(some.chosen()) << ", not "
                            << question.name(all.chosen());
        missed += loss;
        ++questions;
    }
    EXPECT_LE(missed / questions, .04);
}

/// Nodes of 8 ranks, each with one link out and one link in.
const machine::Wires links_of_nodes{.links = 32,
                                    .route =
                                        [](int from, int to, std::vector<int>& path) {
                                            from /= 8, to /= 8;
                                            if (from != to)
                                                path.insert(path.end(), {2 * from, 2 * to + 1});
                                        },
                                    .busy = [](int, double bytes, int) { return bytes / 1e9; }};

TEST(Choose, evaluating_a_subset_with_shared_links_loses_at_most_10_percent) {
    std::vector<int> nodes(128);
    for (int rank = 0; rank < 128; ++rank)
        nodes[static_cast<std::size_t>(rank)] = rank / 8;
    for (const Elements elements : {1 << 14, 1 << 20}) {
        const Question question(128, elements, 0);
        const auto ask = [&](std::optional<std::int64_t> most_messages) {
            return choose(question.candidates, {.machine = machine::built_in(),
                                                .element_size = 16,
                                                .operator_name = "over",
                                                .nodes = nodes,
                                                .wires = &links_of_nodes,
                                                .most_messages = most_messages});
        };
        const Choice all = ask(1'000'000), some = ask(20'000);
        const auto walked = [](const PredictedCandidate& w) { return w.predicted.has_value(); };
        EXPECT_LT(2 * std::count_if(some.ranking.begin(), some.ranking.end(), walked),
                  std::count_if(all.ranking.begin(), all.ranking.end(), walked));
        EXPECT_LE(some.chosen().predicted->seconds, 1.1 * all.chosen().predicted->seconds)
            << elements << " pixels: " << question.name(some.chosen()) << ", not "
            << question.name(all.chosen());
    }
}

TEST(Choose, prefers_a_candidate_that_was_evaluated) {
    const Question question(2048, 1 << 20, 0);
    EXPECT_TRUE(question.ask(machine::built_in(), 30'000).chosen().predicted);
}

TEST(Choose, reports_that_nothing_was_predicted) {
    const Question question(16, 1000);
    const Choice choice = question.ask(machine::built_in(), 0);
    EXPECT_FALSE(choice.chosen().predicted);
    EXPECT_THAT(choice.reason, HasSubstr("lower bounds only"));
    EXPECT_THAT(choice.chosen().remark, HasSubstr("lower bound only"));
}

TEST(Choose, reports_oversubscribed_cores) {
    std::mt19937 random(1);
    const Question question(4, 1000);
    const std::vector<int> nodes{0, 0, 0, 1};
    const auto reason = [&](int cores) {
        const machine::Profile machine = random_machine(random, cores);
        return choose(question.candidates, {.machine = machine,
                                            .element_size = 16,
                                            .operator_name = "over",
                                            .nodes = nodes})
            .reason;
    };
    EXPECT_THAT(reason(2), HasSubstr("; 3 ranks share 2 cores"));
    EXPECT_THAT(reason(1), HasSubstr("; 3 ranks share 1 core"));
    EXPECT_THAT(reason(3), Not(HasSubstr("take turns")));
}

TEST(Choose, reports_that_no_model_describes_the_schedules) {
    machine::Profile nothing;
    nothing.name = "nothing";
    EXPECT_THAT([&] { Question(4, 100).ask(nothing); },
                testing::ThrowsMessage<model::CannotExpress>(HasSubstr("no available cost model")));
}

TEST(SingleRank, predicts_one_rank_with_peers_that_mirror_its_messages) {
    const compositing::Task task = compositing::one_image_each(8, 800, 0);
    const compositing::Configuration configuration{&compositing::find("radix-k"), {{4, 2}, 0}};
    for (const int rank : {0, 3, 7}) {
        const SingleRank one =
            alone(compositing::candidate(task, configuration).program(rank), rank);
        EXPECT_EQ(one.ranks.front(), rank);
        EXPECT_EQ(one.ranks.size(), one.schedule.size());
        EXPECT_NO_THROW(match_messages(one.schedule));
    }
}

} // namespace
} // namespace sextant::planner
