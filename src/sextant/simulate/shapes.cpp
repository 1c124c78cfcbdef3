// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/shapes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <random>

#include <fmt/format.h>

namespace sextant::simulate {

namespace {

constexpr Shape catalogue[] = {
    {"crossbar", "one non-blocking switch", crossbar},
    {"dragonfly", "groups of routers, with cables between any two groups", dragonfly, true},
    {"fat tree", "switches in levels, with parallel cables and static routing", fat_tree},
    {"mesh", "hosts are routers; messages traverse one dimension after another", mesh},
    {"torus", "a mesh whose rows and columns are closed into rings", torus, true}};

} // namespace

std::span<const Shape> shapes() {
    return catalogue;
}

Wire read_wire(const JsonField& field) {
    return {field.at("bytes_per_second").number(1, JsonField::most),
            field.at("latency").number(0, 1)};
}

std::vector<std::string> numbered_hosts(int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i)
        names.push_back(fmt::format("n{}", i));
    return names;
}

namespace {

/// A link between two vertices, which loses capacity when it is shared.
Network::Link joined(std::string name, const Wire& wire, int from, int to) {
    return {std::move(name), wire.bytes_per_second, wire.latency, true, {from, to}};
}

/// Refuses a list of extents or levels that is empty or too long.
void check_dimensions(const JsonField& list, const char* expected) {
    if (list.size() < 1 || list.size() > most_dimensions)
        list.refuse(fmt::format("{}, at most {} numbers", expected, most_dimensions));
}

void check_links(const JsonField& network, std::int64_t links) {
    if (links > most_links)
        network.fail(fmt::format("has {} links, expected at most {}", links, most_links));
}

} // namespace

Network crossbar(const JsonField& network, const Wire& wire) {
    Network made;
    const auto hosts = static_cast<int>(network.at("hosts").integer(1, most_hosts));
    made.hosts = numbered_hosts(hosts);
    made.extents = {hosts, 1};
    for (int host = 0; host < hosts; ++host) {
        const std::string& name = made.hosts[static_cast<std::size_t>(host)];
        made.links.push_back(joined(name + "-out", wire, host, hosts));
        made.links.push_back(joined(name + "-in", wire, hosts, host));
    }
    made.route = [](int from, int to, std::vector<int>& path) {
        path.insert(path.end(), {2 * from, 2 * to + 1});
    };
    return made;
}

namespace {

struct Grid {
    std::vector<int> extents;
    bool wraps = false;
    bool has_injection = false;
    int hosts = 1;

    int dimensions() const { return static_cast<int>(extents.size()); }
    int links_a_host() const { return 2 * dimensions() + (has_injection ? 2 : 0); }
    /// Returns the number of a host's link. Links are ordered by dimension, upward before downward.
    int link(int host, int dimension, bool up) const {
        return host * links_a_host() + 2 * dimension + (up ? 0 : 1);
    }
    int injection(int host) const { return host * links_a_host() + 2 * dimensions(); }
    int ejection(int host) const { return injection(host) + 1; }

    bool goes_up(int extent, int from, int to) const {
        if (!wraps)
            return to > from;
        const int up = (to - from + extent) % extent;
        return 2 * up < extent || (2 * up == extent && from % 2 == 0);
    }

    void route(int from, int to, std::vector<int>& path) const {
        if (has_injection)
            path.push_back(injection(from));
        int here = from, stride = 1;
        for (int d = 0; d < dimensions(); stride *= extents[static_cast<std::size_t>(d)], ++d) {
            const int extent = extents[static_cast<std::size_t>(d)];
            const int end = to / stride % extent;
            int at = from / stride % extent;
            const bool up = goes_up(extent, at, end);
            while (at != end) {
                path.push_back(link(here, d, up));
                const int next = (at + (up ? 1 : extent - 1)) % extent;
                here += (next - at) * stride;
                at = next;
            }
        }
        if (has_injection)
            path.push_back(ejection(to));
    }

    /// Returns the host that a host's link leads to; -1 at the border of a mesh.
    int neighbour(int host, int dimension, bool up) const {
        int stride = 1;
        for (int d = 0; d < dimension; ++d)
            stride *= extents[static_cast<std::size_t>(d)];
        const int extent = extents[static_cast<std::size_t>(dimension)];
        const int at = host / stride % extent, next = at + (up ? 1 : -1);
        if (extent == 1 || (!wraps && (next < 0 || next == extent)))
            return -1;
        return host + ((next + extent) % extent - at) * stride;
    }
};

Grid read_grid(const JsonField& network, bool wraps) {
    Grid grid;
    grid.wraps = wraps;
    grid.has_injection = network.find("injection").has_value();
    const JsonField extents = network.at("extents");
    check_dimensions(extents, "the number of hosts along each dimension");
    for (const JsonField& extent : extents.items()) {
        const int most = std::min(longest_extent, most_hosts / grid.hosts);
        grid.extents.push_back(static_cast<int>(extent.integer(1, most)));
        grid.hosts *= grid.extents.back();
    }
    check_links(network, std::int64_t{grid.hosts} * grid.links_a_host());
    return grid;
}

Network build(const JsonField& network, const Wire& wire, bool wraps) {
    const Grid grid = read_grid(network, wraps);
    Network made;
    made.hosts = numbered_hosts(grid.hosts);
    made.kind = Network::Kind::grid;
    made.extents = grid.extents;
    for (int i = 0; i < grid.hosts; ++i) {
        const std::string& host = made.hosts[static_cast<std::size_t>(i)];
        for (int d = 0; d < grid.dimensions(); ++d) {
            for (const bool up : {true, false})
                made.links.push_back(joined(fmt::format("{}-{}{}", host, up ? "up" : "down", d),
                                            wire, i, grid.neighbour(i, d, up)));
        }
        if (!grid.has_injection)
            continue;
        const Wire injection{network.at("injection").number(1, JsonField::most), 0};
        made.links.push_back(joined(host + "-out", injection, i, i));
        made.links.push_back(joined(host + "-in", injection, i, i));
    }
    made.route = [grid](int from, int to, std::vector<int>& path) { grid.route(from, to, path); };
    return made;
}

} // namespace

Network mesh(const JsonField& network, const Wire& wire) {
    return build(network, wire, false);
}

Network torus(const JsonField& network, const Wire& wire) {
    return build(network, wire, true);
}

namespace {

/// The connections between a level of the tree and the one above.
struct TreeLevel {
    int down = 1, up = 1, cables = 1;
    int ports() const { return up * cables; }
};

/// A fat tree. Nodes are identified by their position within their level; hosts are level 0.
/// Positions are mixed-radix numbers. The positions of a node and its parent differ in one digit:
/// the index of the child among its siblings is replaced by the index of the parent among the
/// child's parents.
class Tree {
  public:
    explicit Tree(std::vector<TreeLevel> steps) : steps_(std::move(steps)) {
        for (int level = 0; level <= levels(); ++level)
            first_link_.push_back(level == 0 ? 0
                                             : first_link_.back() +
                                                   2 * nodes(level - 1) * step(level - 1).ports());
    }

    int levels() const { return static_cast<int>(steps_.size()); }
    const TreeLevel& step(int level) const { return steps_[static_cast<std::size_t>(level)]; }
    int links() const { return first_link_.back(); }

    /// The number of leaves below a node of this level.
    int leaves_below(int level) const {
        int count = 1;
        for (int l = 0; l < level; ++l)
            count *= step(l).down;
        return count;
    }
    int ups_below(int level) const {
        int count = 1;
        for (int l = 0; l < level; ++l)
            count *= step(l).up;
        return count;
    }
    int nodes(int level) const {
        return leaves_below(levels()) / leaves_below(level) * ups_below(level);
    }
    /// Returns the number of the subtree that a node belongs to; its first leaf is this number
    /// times leaves_below(level).
    int part_of(int level, int node) const { return node / ups_below(level); }

    int parent(int level, int node, int port) const {
        const int part = part_of(level, node) / step(level).down;
        return (part * step(level).up + port % step(level).up) * ups_below(level) +
               node % ups_below(level);
    }
    /// Returns the child of a node on the path down to a leaf position (slot).
    int child(int level, int node, int slot) const {
        const int below = ups_below(level - 1);
        return slot / leaves_below(level - 1) * below + node % below;
    }
    int link(int level, int node, int port, bool up) const {
        return first_link_[static_cast<std::size_t>(level)] +
               2 * (node * step(level).ports() + port) + (up ? 0 : 1);
    }

  private:
    std::vector<TreeLevel> steps_;
    std::vector<int> first_link_;
};

/// A function that returns the port through which a node sends messages for host `to` upward.
using Port = std::function<int(int level, int node, int to)>;

/// D-mod-k routing; for parallel cables it also selects the cable on the way down.
int port_by_modulus(const Tree& tree, int level, int to) {
    return to / tree.ups_below(level) % tree.step(level).ports();
}

/// A pseudorandom number for a switch and a destination, independent of other calls.
std::uint64_t drawn(std::uint64_t seed, int level, int node, int to) {
    std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                        static_cast<std::uint32_t>(level), static_cast<std::uint32_t>(node),
                        static_cast<std::uint32_t>(to)};
    std::array<std::uint32_t, 2> words;
    mixed.generate(words.begin(), words.end());
    return std::uint64_t{words[0]} << 32 | words[1];
}

/// The port to each host, for each node that has several ports upward.
class PortTables {
  public:
    PortTables(const JsonField& network, const Tree& tree, std::size_t hosts) : hosts_(hosts) {
        constexpr std::int64_t most_choices = 1 << 27; // takes a second
        std::int64_t choices = 0;
        for (int level = 0; level < tree.levels(); ++level) {
            const int ports = tree.step(level).ports();
            const std::int64_t entries =
                ports > 1 ? std::int64_t{tree.nodes(level)} * static_cast<std::int64_t>(hosts) : 0;
            choices += entries * ports;
            if (choices > most_choices)
                network.at("routing").fail("needs tables that are too large for this tree");
            ports_.emplace_back(static_cast<std::size_t>(entries));
        }
    }
    bool has(int level) const { return !ports_[static_cast<std::size_t>(level)].empty(); }
    /// Requires has(level).
    int& at(int level, int node, int to) {
        return ports_[static_cast<std::size_t>(level)]
                     [static_cast<std::size_t>(node) * hosts_ + static_cast<std::size_t>(to)];
    }
    int port(int level, int node, int to) { return has(level) ? at(level, node, to) : 0; }

  private:
    std::size_t hosts_;
    std::vector<std::vector<int>> ports_;
};

/// The leaf positions (slots) of the tree that have a host.
std::vector<int> filled_slots(const Tree& tree, int hosts_a_leaf) {
    std::vector<int> slots;
    for (int slot = 0; slot < tree.leaves_below(tree.levels()); ++slot) {
        if (slot % tree.step(0).down < hosts_a_leaf)
            slots.push_back(slot);
    }
    return slots;
}

std::vector<int> drawn_order(std::size_t count, std::uint64_t seed) {
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::mt19937_64 draw(seed); // not std::shuffle, whose result depends on the library
    for (std::size_t i = count; i > 1; --i)
        std::swap(order[i - 1], order[draw() % i]);
    return order;
}

Port min_hop(const JsonField& network, const Tree& tree, const std::vector<int>& slots,
             std::uint64_t seed) {
    const auto tables = std::make_shared<PortTables>(network, tree, slots.size());
    const std::vector<int> order = drawn_order(slots.size(), seed);
    for (int level = 0; level < tree.levels(); ++level) {
        if (!tables->has(level))
            continue;
        const int below = tree.leaves_below(level);
        for (int node = 0; node < tree.nodes(level); ++node) {
            std::vector<int> assigned(static_cast<std::size_t>(tree.step(level).ports()));
            for (const int to : order) {
                if (slots[static_cast<std::size_t>(to)] / below == tree.part_of(level, node))
                    continue; // there is only one path down
                const auto least = std::min_element(assigned.begin(), assigned.end());
                ++*least;
                tables->at(level, node, to) = static_cast<int>(least - assigned.begin());
            }
        }
    }
    return [tables](int level, int node, int to) { return tables->port(level, node, to); };
}

Port from_table(const JsonField& network, const Tree& tree, std::size_t hosts) {
    if (tree.levels() != 2 || tree.step(0).ports() != 1)
        network.at("routing").fail("is \"table\", which requires a tree of two levels");
    const auto tables = std::make_shared<PortTables>(network, tree, hosts);
    const JsonField rows = network.at("spines");
    rows.require_size(static_cast<std::size_t>(tree.nodes(1)), "one row per leaf switch");
    for (int leaf = 0; leaf < tree.nodes(1); ++leaf) {
        const JsonField row = rows[static_cast<std::size_t>(leaf)];
        row.require_size(hosts, "one spine per host");
        for (std::size_t to = 0; to < hosts; ++to) {
            const std::int64_t port = row[to].integer(0, tree.step(1).ports() - 1);
            if (tables->has(1))
                tables->at(1, leaf, static_cast<int>(to)) = static_cast<int>(port);
        }
    }
    return [tables](int level, int node, int to) { return tables->port(level, node, to); };
}

Port port_rule(const JsonField& network, const Tree& tree, const std::vector<int>& slots) {
    constexpr std::array<std::string_view, 5> names{"d-mod-k", "min-hop", "first-port", "random",
                                                    "table"};
    enum class Routing { d_mod_k, min_hop, first_port, random, table };
    const auto seed = [&] {
        return static_cast<std::uint64_t>(network.at("seed").integer(0, INT64_MAX));
    };
    switch (network.at("routing").one_of<Routing>(names)) {
    case Routing::min_hop:
        return min_hop(network, tree, slots, seed());
    case Routing::first_port:
        return [](int, int, int) { return 0; };
    case Routing::random:
        return [tree, seed = seed()](int level, int node, int to) {
            return static_cast<int>(drawn(seed, level, node, to) %
                                    static_cast<std::uint64_t>(tree.step(level).ports()));
        };
    case Routing::table:
        return from_table(network, tree, slots.size());
    case Routing::d_mod_k:
        break;
    }
    return [tree](int level, int, int to) { return port_by_modulus(tree, level, to); };
}

Tree read_tree(const JsonField& network) {
    const JsonField down = network.at("down"), up = network.at("up"), cables = network.at("cables");
    up.require_size(down.size(), "as many levels as `down`");
    cables.require_size(down.size(), "as many levels as `down`");
    check_dimensions(down, "the number of children of a switch at each level");
    std::vector<TreeLevel> steps;
    std::int64_t hosts = 1, parents = 1;
    for (std::size_t level = 0; level < down.size(); ++level) {
        steps.push_back({static_cast<int>(down[level].integer(1, most_hosts / hosts)),
                         static_cast<int>(up[level].integer(1, most_hosts / parents)),
                         static_cast<int>(cables[level].integer(1, 1024))});
        hosts *= steps.back().down;
        parents *= steps.back().up;
    }
    std::int64_t nodes = hosts, links = 0; // the nodes of a level, from the hosts upward
    for (const TreeLevel& step : steps) {
        links += 2 * nodes * step.up * step.cables;
        check_links(network, links);
        nodes = nodes / step.down * step.up;
    }
    return Tree(std::move(steps));
}

void add_links(const Tree& tree, const std::vector<int>& slots, const Wire& wire,
               Network& network) {
    network.links.resize(static_cast<std::size_t>(tree.links()));
    network.extents = {static_cast<int>(slots.size())};
    std::vector<int> vertices(static_cast<std::size_t>(tree.nodes(0)), -1); // of a level
    for (std::size_t host = 0; host < slots.size(); ++host)
        vertices[static_cast<std::size_t>(slots[host])] = static_cast<int>(host);
    int above = network.extents[0];
    for (int level = 0; level < tree.levels(); ++level) {
        for (int node = 0; node < tree.nodes(level); ++node) {
            const int below = vertices[static_cast<std::size_t>(node)];
            for (int port = 0; port < tree.step(level).ports(); ++port) {
                const int parent = below < 0 ? -1 : above + tree.parent(level, node, port);
                for (const bool up : {true, false}) {
                    network.links[static_cast<std::size_t>(tree.link(level, node, port, up))] =
                        joined(fmt::format("{}-{}-{}-{}", level, node, up ? "up" : "down", port),
                               wire, up ? below : parent, up ? parent : below);
                }
            }
        }
        vertices.resize(static_cast<std::size_t>(tree.nodes(level + 1)));
        std::iota(vertices.begin(), vertices.end(), above);
        network.extents.push_back(tree.nodes(level + 1));
        above += tree.nodes(level + 1);
    }
}

} // namespace

Network fat_tree(const JsonField& network, const Wire& wire) {
    const Tree tree = read_tree(network);
    int hosts_a_leaf = tree.step(0).down;
    if (const auto filled = network.find("hosts_a_leaf"))
        hosts_a_leaf = static_cast<int>(filled->integer(1, hosts_a_leaf));
    const std::vector<int> slots = filled_slots(tree, hosts_a_leaf);
    Network made;
    made.hosts = numbered_hosts(static_cast<int>(slots.size()));
    add_links(tree, slots, wire, made);
    made.route = [tree, slots, port = port_rule(network, tree, slots)](int from, int to,
                                                                       std::vector<int>& path) {
        const int end = slots[static_cast<std::size_t>(to)];
        int node = slots[static_cast<std::size_t>(from)], level = 0;
        do {
            const int chosen = port(level, node, to);
            path.push_back(tree.link(level, node, chosen, true));
            node = tree.parent(level, node, chosen);
            ++level;
        } while (tree.part_of(level, node) != end / tree.leaves_below(level));
        for (; level > 0; --level) {
            // The destination selects among parallel cables; the parent follows from the node.
            const int child = tree.child(level, node, end);
            const TreeLevel& below = tree.step(level - 1);
            const int parent = node / tree.ups_below(level - 1) % below.up;
            const int cable = port_by_modulus(tree, level - 1, to) / below.up;
            path.push_back(tree.link(level - 1, child, cable * below.up + parent, false));
            node = child;
        }
    };
    return made;
}

namespace {

/// The numbers of a dragonfly's routers and links. Routers are numbered within their group.
class Dragonfly {
  public:
    /// Throws InvalidFile.
    explicit Dragonfly(const JsonField& network) {
        groups_ = static_cast<int>(network.at("groups").integer(1, most_hosts));
        const JsonField extents = network.at("routers");
        check_dimensions(extents, "the number of routers of a group along each dimension");
        for (const JsonField& extent : extents.items()) {
            extents_.push_back(
                static_cast<int>(extent.integer(1, most_hosts / groups_ / routers_)));
            routers_ *= extents_.back();
            ports_ += extents_.back() - 1;
        }
        const int most = most_hosts / groups_ / routers_;
        hosts_ = static_cast<int>(network.at("hosts").integer(1, most));
        cables_ = static_cast<int>(network.at("global").at("cables").integer(1, 1024));
        const std::int64_t routers = std::int64_t{groups_} * routers_;
        const std::int64_t local = 2 * routers * hosts_, global = local + routers * ports_;
        check_links(network, global + std::int64_t{groups_} * (groups_ - 1) * cables_);
        first_local_ = static_cast<int>(local);
        first_global_ = static_cast<int>(global);
    }

    int groups() const { return groups_; }
    int hosts() const { return first_local_ / 2; }
    int group_of(int host) const { return host / hosts_ / routers_; }

    /// Adds the links in the order of their numbers.
    void add_links(const Wire& host, const Wire& local, const Wire& global, Network& made) const {
        const auto add = [&made](const std::string& name, const Wire& wire, int from, int to) {
            made.links.push_back(joined(name, wire, from, to));
        };
        const int first = hosts(); // the first router
        made.kind = Network::Kind::groups;
        made.extents = {groups_, routers_, hosts_};
        for (int i = 0; i < hosts(); ++i) {
            const std::string& name = made.hosts[static_cast<std::size_t>(i)];
            add(name + "-out", host, i, first + i / hosts_);
            add(name + "-in", host, first + i / hosts_, i);
        }
        for (int router = 0; router < groups_ * routers_; ++router) {
            int port = 0, stride = 1;
            for (const int extent : extents_) {
                const int here = router / stride % extent;
                for (int there = 0; there < extent; ++there) {
                    if (there != here)
                        add(fmt::format("r{}-local{}", router, port++), local, first + router,
                            first + router + (there - here) * stride);
                }
                stride *= extent;
            }
        }
        for (int group = 0; group < groups_; ++group) {
            for (int port = 0; port < (groups_ - 1) * cables_; ++port) {
                const int next = port % (groups_ - 1), other = next < group ? next : next + 1;
                const int cable = port / (groups_ - 1);
                add(fmt::format("g{}-global{}", group, port), global,
                    first + group * routers_ + port_to(group, other, cable).router,
                    first + other * routers_ + port_to(other, group, cable).router);
            }
        }
    }

    /// Appends the links from one host to another, through the group `via` if it is none of theirs.
    void route(int from, int to, int via, std::vector<int>& path) const {
        const int end = group_of(to), target = to / hosts_ % routers_;
        Position at{group_of(from), from / hosts_ % routers_};
        path.push_back(2 * from);
        if (via != at.group && via != end)
            leave(at, via, -1, to, path);
        if (at.group != end)
            leave(at, end, target, to, path);
        traverse(at, target, path);
        path.push_back(2 * to + 1);
    }

  private:
    struct Position {
        int group = 0, router = 0;
    };

    /// The router at one end of a cable, and the cable's port in its group.
    struct Port {
        int router = 0, port = 0;
    };

    Port port_to(int group, int other, int cable) const {
        const int port = cable * (groups_ - 1) + (other < group ? other : other - 1);
        return {static_cast<int>(std::int64_t{port} * routers_ / ((groups_ - 1) * cables_)), port};
    }

    int distance(int from, int to) const {
        int count = 0;
        for (const int extent : extents_) {
            count += from % extent == to % extent ? 0 : 1;
            from /= extent;
            to /= extent;
        }
        return count;
    }

    /// Goes to a router of the same group.
    void traverse(Position& at, int to, std::vector<int>& path) const {
        int stride = 1, first = 0;
        for (const int extent : extents_) {
            const int here = at.router / stride % extent, there = to / stride % extent;
            if (here != there) {
                const int port = first + (there < here ? there : there - 1);
                path.push_back(first_local_ + (at.group * routers_ + at.router) * ports_ + port);
                at.router += (there - here) * stride;
            }
            stride *= extent;
            first += extent - 1;
        }
    }

    /// Goes to another group, in which the path continues to router `target` (-1: to any).
    void leave(Position& at, int group, int target, int to, std::vector<int>& path) const {
        int fewest = std::numeric_limits<int>::max();
        Port out;
        int entry = 0;
        for (int i = 0; i < cables_; ++i) {
            const int cable = (to + i) % cables_;
            const Port near = port_to(at.group, group, cable);
            const int far = port_to(group, at.group, cable).router;
            const int hops =
                distance(at.router, near.router) + (target < 0 ? 0 : distance(far, target));
            if (hops >= fewest)
                continue;
            fewest = hops;
            out = near;
            entry = far;
        }
        traverse(at, out.router, path);
        path.push_back(first_global_ + at.group * (groups_ - 1) * cables_ + out.port);
        at = {group, entry};
    }

    std::vector<int> extents_; ///< of a group's routers
    int groups_ = 1, routers_ = 1, hosts_ = 1, cables_ = 1;
    int ports_ = 0; ///< local ports of a router
    int first_local_ = 0, first_global_ = 0;
};

} // namespace

Network dragonfly(const JsonField& network, const Wire& wire) {
    constexpr std::array<std::string_view, 2> names{"minimal", "valiant"};
    const Dragonfly shape(network);
    Network made;
    made.hosts = numbered_hosts(shape.hosts());
    shape.add_links(wire, read_wire(network.at("local")), read_wire(network.at("global")), made);
    const bool detours = network.at("routing").one_of<std::size_t>(names) == 1;
    const auto seed =
        static_cast<std::uint64_t>(detours ? network.at("seed").integer(0, INT64_MAX) : 0);
    made.route = [shape, detours, seed](int from, int to, std::vector<int>& path) {
        const auto [first, second] = std::minmax({shape.group_of(from), shape.group_of(to)});
        int via = first;
        if (const int others = shape.groups() - 2; detours && first != second && others > 0) {
            via = static_cast<int>(drawn(seed, 0, from, to) % static_cast<std::uint64_t>(others));
            via += via >= first ? 1 : 0;
            via += via >= second ? 1 : 0;
        }
        shape.route(from, to, via, path);
    };
    return made;
}

} // namespace sextant::simulate
