// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/topology.hpp"
#include "sextant/model/c3.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "papers/experiments.hpp"
#include <fmt/format.h>

namespace sextant::papers {

namespace {

/// A network as a graph. The first `processors` nodes are processors, the others switches.
struct Graph {
    int processors = 0, nodes = 0;
    std::vector<std::pair<int, int>> links;
    /// The node at which messages to processor 0 arrive; messages to processor i arrive i nodes
    /// later.
    int first_end = 0;

    std::vector<std::vector<int>> neighbours() const {
        std::vector<std::vector<int>> all(static_cast<std::size_t>(nodes));
        for (const auto& [a, b] : links) {
            all[static_cast<std::size_t>(a)].push_back(b);
            all[static_cast<std::size_t>(b)].push_back(a);
        }
        return all;
    }
};

/// The mean and the largest distance between two processors, by breadth-first search. The mean is
/// over all ordered pairs, including those of a processor with itself, as in the paper.
struct Distances {
    double mean = 0;
    int largest = 0;
};

Distances distances(const Graph& graph) {
    const auto neighbours = graph.neighbours();
    Distances found;
    for (int from = 0; from < graph.processors; ++from) {
        std::vector<int> distance(static_cast<std::size_t>(graph.nodes), -1), queue{from};
        distance[static_cast<std::size_t>(from)] = 0;
        for (std::size_t head = 0; head < queue.size(); ++head) {
            for (const int next : neighbours[static_cast<std::size_t>(queue[head])]) {
                if (distance[static_cast<std::size_t>(next)] >= 0)
                    continue;
                distance[static_cast<std::size_t>(next)] =
                    distance[static_cast<std::size_t>(queue[head])] + 1;
                queue.push_back(next);
            }
        }
        for (int to = graph.first_end; to < graph.first_end + graph.processors; ++to) {
            found.mean += distance[static_cast<std::size_t>(to)];
            found.largest = std::max(found.largest, distance[static_cast<std::size_t>(to)]);
        }
    }
    found.mean /= static_cast<double>(graph.processors) * graph.processors;
    return found;
}

constexpr int most_to_halve = 24;

/// The minimum number of links between two halves of the processors, over all halvings. Requires a
/// graph without switches and an even number of at most `most_to_halve` processors.
int bisection(const Graph& graph) {
    std::vector<std::pair<unsigned, unsigned>> ends;
    for (const auto& [a, b] : graph.links)
        ends.emplace_back(1u << a, 1u << b);
    const unsigned last = 1u << (graph.processors - 1); // always in the same half
    int least = static_cast<int>(ends.size());
    for (unsigned half = (1u << (graph.processors / 2)) - 1; half < last;) {
        int cut = 0;
        for (const auto& [a, b] : ends)
            cut += ((half & a) != 0) != ((half & b) != 0);
        least = std::min(least, cut);
        const unsigned low = half & -half,
                       next = half + low; // the next larger number with the same number of one bits
        half = next | ((half ^ next) / low >> 2);
    }
    return least;
}

Graph mesh(const std::vector<int>& sides) {
    Graph graph;
    graph.nodes = std::accumulate(sides.begin(), sides.end(), 1, std::multiplies<>());
    graph.processors = graph.nodes;
    int stride = 1;
    for (const int side : sides) {
        for (int node = 0; node < graph.nodes; ++node) {
            if (node / stride % side + 1 < side)
                graph.links.emplace_back(node, node + stride);
        }
        stride *= side;
    }
    return graph;
}

/// A graph with a link between each pair of nodes for which `joins` is true.
Graph graph_where(int nodes, const std::function<bool(int, int)>& joins) {
    Graph graph{nodes, nodes, {}};
    for (int a = 0; a < nodes; ++a) {
        for (int b = a + 1; b < nodes; ++b) {
            if (joins(a, b))
                graph.links.emplace_back(a, b);
        }
    }
    return graph;
}

Graph binary_tree(int nodes) {
    return graph_where(nodes, [](int a, int b) { return (b + 1) / 2 == a + 1; });
}

Graph hypercube(int nodes) {
    return graph_where(nodes, [](int a, int b) {
        return std::has_single_bit(static_cast<unsigned>(a) ^ static_cast<unsigned>(b));
    });
}

Graph complete(int nodes) {
    return graph_where(nodes, [](int, int) { return true; });
}

Graph shuffle_exchange(int nodes) {
    const int bits = std::countr_zero(static_cast<unsigned>(nodes));
    return graph_where(nodes, [=](int a, int b) {
        const auto shuffled = [=](int v) { return (v << 1 | v >> (bits - 1)) & (nodes - 1); };
        return (a ^ b) == 1 || shuffled(a) == b || shuffled(b) == a;
    });
}

/// A butterfly of k levels of 2^k nodes whose last level is joined to the first level. Every node
/// is a processor.
Graph wrapped_butterfly(int k) {
    const int rows = 1 << k;
    Graph graph{k * rows, k * rows, {}};
    for (int level = 0; level < k; ++level) {
        for (int row = 0; row < rows; ++row) {
            const int next = (level + 1) % k * rows;
            graph.links.emplace_back(level * rows + row, next + row);
            graph.links.emplace_back(level * rows + row, next + (row ^ (1 << level)));
        }
    }
    return graph;
}

/// A butterfly of k + 1 levels of 2^k switches. Messages enter at the first level, where the
/// processors are, and leave at the last level.
Graph butterfly_between_ends(int k) {
    const int rows = 1 << k;
    Graph graph{rows, (k + 1) * rows, {}, k * rows};
    for (int level = 0; level < k; ++level) {
        for (int row = 0; row < rows; ++row) {
            graph.links.emplace_back(level * rows + row, (level + 1) * rows + row);
            graph.links.emplace_back(level * rows + row, (level + 1) * rows + (row ^ (1 << level)));
        }
    }
    return graph;
}

/// A tree of switches of the given arity with the processors at its leaves.
Graph tree_of_switches(int processors, int arity) {
    Graph graph{processors, processors, {}};
    std::vector<int> level(static_cast<std::size_t>(processors));
    std::iota(level.begin(), level.end(), 0);
    while (level.size() > 1) {
        std::vector<int> above;
        for (std::size_t i = 0; i < level.size(); ++i) {
            if (i % static_cast<std::size_t>(arity) == 0)
                above.push_back(graph.nodes++);
            graph.links.emplace_back(level[i], above.back());
        }
        level = above;
    }
    return graph;
}

// Figure 1.

double log2_of(int p) {
    return std::log2(static_cast<double>(p));
}

/// A claim "Θ(f)" about networks of growing size. It holds if the quotient by f varies by at most a
/// factor of 2.
Claim has_order(std::string text, const std::vector<double>& quotients) {
    const auto [least, most] = std::minmax_element(quotients.begin(), quotients.end());
    return {std::move(text), *most <= 2 * *least,
            fmt::format("the quotient is {:.2f} to {:.2f}", *least, *most)};
}

std::vector<double> quotients(const std::vector<int>& sizes, Graph (*graph)(int),
                              double (*order)(int processors)) {
    std::vector<double> all;
    for (const int size : sizes) {
        const Graph made = graph(size);
        all.push_back(distances(made).mean / order(made.processors));
    }
    return all;
}

std::vector<double> bisection_quotients(const std::vector<int>& sizes, Graph (*graph)(int)) {
    std::vector<double> all;
    for (const int size : sizes) {
        const Graph made = graph(size);
        all.push_back(bisection(made) * log2_of(made.processors) / made.processors);
    }
    return all;
}

Graph cube_of(int side) {
    return mesh({side, side, side});
}

Result figure_1(Extent) {
    Result result{"links", {"counted in the graph"}};
    const auto add = [&](std::string label, double theirs, double ours) {
        result.rows.push_back({std::move(label), theirs, {ours}});
    };
    const auto add_shape = [&](const char* name, machine::Shape shape, std::vector<int> extents,
                               const Graph& graph) {
        const machine::Wiring published = machine::published_wiring({shape, std::move(extents)});
        add(fmt::format("{}, {} processors, latency", name, graph.processors), published.latency,
            distances(graph).mean);
        if (graph.processors <= most_to_halve) {
            add(fmt::format("{}, {} processors, bisection", name, graph.processors),
                published.bisection, bisection(graph));
        }
    };
    using Network = machine::Shape;
    add_shape("linear array", Network::linear_array, {16}, mesh({16}));
    add_shape("binary tree", Network::binary_tree, {16}, binary_tree(16));
    add_shape("square mesh", Network::mesh, {4, 4}, mesh({4, 4}));
    add_shape("3-D mesh", Network::mesh, {2, 2, 2}, mesh({2, 2, 2}));
    add_shape("3-D mesh", Network::mesh, {8, 8, 8}, mesh({8, 8, 8}));
    add_shape("butterfly", Network::butterfly, {24}, wrapped_butterfly(3));
    add_shape("shuffle-exchange", Network::shuffle_exchange, {16}, shuffle_exchange(16));
    add_shape("hypercube", Network::hypercube, {16}, hypercube(16));
    add_shape("complete graph", Network::complete_graph, {16}, complete(16));
    for (const int k : {4, 8}) {
        const Graph graph = butterfly_between_ends(k);
        add(fmt::format("butterfly, {} processors at its ends, latency", graph.processors),
            machine::published_wiring({Network::butterfly, {graph.processors}}).latency,
            distances(graph).mean);
    }
    for (const int p : {16, 256}) {
        const double published = machine::published_wiring({machine::Shape::fat_tree, {p}}).latency;
        add(fmt::format("fat tree of arity 4, {} processors, latency", p), published,
            distances(tree_of_switches(p, 4)).mean);
        add(fmt::format("fat tree of arity 2, {} processors, latency", p), published,
            distances(tree_of_switches(p, 2)).mean);
        add(fmt::format("fat tree of arity 2, {} processors, largest distance", p), published,
            distances(tree_of_switches(p, 2)).largest);
    }
    result.claims = {
        has_order("binary tree: latency of order log p, from 16 to 1024 processors",
                  quotients({16, 64, 256, 1024}, binary_tree, log2_of)),
        has_order("3-D mesh: latency of order p^(1/3), from 8 to 1000 processors",
                  quotients({2, 4, 6, 8, 10}, cube_of, [](int p) { return std::cbrt(p); })),
        has_order("butterfly: latency of order log p, from 24 to 896 processors",
                  quotients({3, 4, 5, 6, 7}, wrapped_butterfly, log2_of)),
        has_order("shuffle-exchange: latency of order log p, from 16 to 1024 processors",
                  quotients({16, 64, 256, 1024}, shuffle_exchange, log2_of)),
        has_order("butterfly: bisection width of order p / log p, for 8 and 24 processors",
                  bisection_quotients({2, 3}, wrapped_butterfly)),
        has_order("shuffle-exchange: bisection width of order p / log p, for 4 to 16 processors",
                  bisection_quotients({4, 8, 16}, shuffle_exchange))};
    return result;
}

// Figures 2 to 4, and the closed forms in section 3.

constexpr double s = 8, h = 10;
constexpr int p = 256;
constexpr double b = 16;
constexpr Bytes packet = 512;

machine::C3 machine_with(machine::Routing routing, bool blocking) {
    machine::C3 c3;
    c3.routing = routing;
    c3.blocking_sends = blocking;
    c3.packet = packet;
    c3.setup = machine::exactly(s);
    return c3;
}

/// S_i + R_i of the busiest processor, which is the charge without congestion.
double busiest(const machine::C3& c3, const std::map<model::Pair, Bytes>& messages) {
    double packets = 0;
    for (const auto& [pair, bytes] : messages)
        packets += static_cast<double>(bytes) / packet;
    const double mean = packets / static_cast<double>(messages.size());
    const double congestion = mean + mean * h; // one pair per link and per processor
    return model::charge({{h, 1e9}, 1 << 20, messages}, c3, model::Counting::exact).total(s) -
           congestion;
}

struct Protocol {
    const char* name;
    machine::Routing routing;
    bool blocking;
    /// The formulas of Figure 2 for a message of k packets, and those of Figure 3 for n messages of
    /// k packets each.
    double (*send)(double k), (*receive)(double k), (*sends)(double n, double k),
        (*receives)(double n, double k);
};

const Protocol protocols[] = {
    {"store-and-forward, nonblocking", machine::Routing::store_and_forward, false,
     [](double k) { return s + k * h; }, [](double k) { return k; },
     [](double n, double k) { return s * n + h * k + n * k; },
     [](double n, double k) { return n * k; }},
    {"wormhole, nonblocking", machine::Routing::wormhole, false, [](double k) { return s + k + h; },
     [](double k) { return k; }, [](double n, double k) { return s * n + h + n * k; },
     [](double n, double k) { return n * k; }},
    {"store-and-forward, blocking sends", machine::Routing::store_and_forward, true,
     [](double k) { return 2 * (s + h) + k * h; }, [](double k) { return s + h + k * h; },
     [](double n, double k) { return 2 * (s + h) * n + h * n * k; },
     [](double n, double k) { return (s + h) * n + h * n * k; }},
    {"wormhole, blocking sends", machine::Routing::wormhole, true,
     [](double k) { return 2 * (s + h) + k + h; }, [](double k) { return s + 2 * h + k; },
     [](double n, double k) { return 2 * (s + h) * n + h + n * k; },
     [](double n, double k) { return (s + h) * n + h + n * k; }}};

/// The charged send time of n messages of k packets, and the charged receive time. The receive time
/// is the additional charge for a processor that sends one message and also receives n.
std::pair<double, double> charged_times(const Protocol& protocol, int n, int k) {
    const machine::C3 c3 = machine_with(protocol.routing, protocol.blocking);
    std::map<model::Pair, Bytes> sent, also_received;
    for (int i = 1; i <= n; ++i)
        sent[{0, i}] = k * packet;
    const std::map<model::Pair, Bytes> one{{{0, 1}, k * packet}};
    also_received = one;
    for (int i = 2; i < 2 + n; ++i)
        also_received[{i, 0}] = k * packet;
    return {busiest(c3, sent), busiest(c3, also_received) - busiest(c3, one)};
}

Result figure_2(Extent) {
    Result result{"communication units, one message of 3 packets", {"charged"}};
    for (const Protocol& each : protocols) {
        const auto [send, receive] = charged_times(each, 1, 3);
        result.rows.push_back({fmt::format("{}, send time", each.name), each.send(3), {send}});
        result.rows.push_back(
            {fmt::format("{}, receive time", each.name), each.receive(3), {receive}});
    }
    return result;
}

Result figure_3(Extent) {
    Result result{"communication units, 5 messages of 3 packets", {"charged"}};
    for (const Protocol& each : protocols) {
        const auto [send, receive] = charged_times(each, 5, 3);
        result.rows.push_back(
            {fmt::format("{}, total send time", each.name), each.sends(5, 3), {send}});
        result.rows.push_back(
            {fmt::format("{}, total receive time", each.name), each.receives(5, 3), {receive}});
    }
    return result;
}

/// The messages of a pattern between `p` processors, of one size each.
std::map<model::Pair, Bytes> messages_where(const std::function<bool(int from, int to)>& sends,
                                            Bytes bytes) {
    std::map<model::Pair, Bytes> messages;
    for (int from = 0; from < p; ++from) {
        for (int to = 0; to < p; ++to) {
            if (from != to && sends(from, to))
                messages[{from, to}] = bytes;
        }
    }
    return messages;
}

bool is_next(int from, int to) {
    return to == (from + 1) % p;
}

Result figure_4(Extent) {
    Result result{"communication units, 256 processors", {"charged"}};
    const machine::C3 c3 = machine_with(machine::Routing::wormhole, false);
    const auto add = [&](const char* label, double theirs, const machine::Wiring& wiring,
                         bool (*sends)(int, int), double k) {
        const auto messages = messages_where(sends, static_cast<Bytes>(k) * packet);
        const model::Superstep superstep{wiring, p, messages};
        result.rows.push_back(
            {label, theirs, {model::charge(superstep, c3, model::Counting::exact).total(s)}});
    };
    constexpr double k = 3;
    const machine::Wiring delta{h, b};
    add("one-to-one", s + k + h + k + k * std::ceil(p / b) + k * h, delta, is_next, k);
    add(
        "one-to-all", (p - 1) * (s + k) + h + k * std::ceil((p - 1) / b) + k * h, delta,
        [](int from, int) { return from == 0; }, k);
    add(
        "all-to-one", k * (p - 1) + k * std::ceil((p - 1) / b) + k * h, delta,
        [](int, int to) { return to == 0; }, k);
    add(
        "all-to-all",
        (p - 1) * (s + k) + h + k * (p - 1) + k * std::ceil(p * (p - 1) / b) + k * h * (p - 1),
        delta, [](int, int) { return true; }, k);
    const double root = std::sqrt(p), log = log2_of(p);
    add("one-to-one on a square mesh", s + 2 * root / 3 + k * (2 + 5 * root / 3),
        machine::published_wiring({machine::Shape::mesh, {16, 16}}), is_next, k);
    add("one-to-one on a hypercube", s + log / 2 + k * (4 + log / 2),
        machine::published_wiring({machine::Shape::hypercube, {p}}), is_next, k);
    add("one-to-one on a tree", s + log + k * (2 + p + log),
        machine::published_wiring({machine::Shape::binary_tree, {p}}), is_next, k);
    return result;
}

constexpr std::string_view charged_setting =
    "h = 10 and s = 8; the column \"paper\" evaluates the formulas of the figure, the column "
    "\"charged\" is the charge of Sextant's C³ model";

constexpr Experiment experiments[] = {
    {"c3", "Figure 1", "latency and bisection width of networks",
     "latencies are mean distances over all pairs, found by breadth-first search, and bisection "
     "widths are found by trying all halvings; constants of orders are taken as 1. Unless stated, "
     "every node of the butterfly is a processor. The fat tree of arity 4 has the processors at "
     "its leaves",
     "the latency 4 log4 p of the fat tree equals 2 log2 p, the largest distance in a fat tree of "
     "arity 2 and 1.14 times its mean distance at 256 processors; in one of arity 4, the mean is "
     "less than half of that. The latency log2 p of the butterfly is the distance between its "
     "ends; with a processor at every node, it is half of that. The other differences are "
     "constants that the paper's orders leave open: the claims check the orders",
     figure_1},
    {"c3", "Figure 2", "send and receive times of one message", charged_setting, "", figure_2,
     Basis::own},
    {"c3", "Figure 3", "total send and receive times", charged_setting, "", figure_3, Basis::own},
    {"c3", "Figure 4", "charges of plain communication patterns",
     "p = 256, b = 16, h = 10, s = 8 and messages of 3 packets; the last three rows are the closed "
     "forms in section 3, with the latencies and bisection widths of Figure 1",
     "", figure_4, Basis::own}};

} // namespace

constinit const std::span<const Experiment> c3_definitions = experiments;

} // namespace sextant::papers
