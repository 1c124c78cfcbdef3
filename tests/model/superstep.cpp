// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/c3.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace sextant::model {
namespace {

struct Case {
    int p;
    double b, h, s;
    Bytes L;
};

// Both cases have packets of l = 512 bytes.
const Case cases[] = {{16, 4, 2.5, 8, 700}, {64, 8, 5, 3, 512}};

machine::C3 c3_of(const Case& c) {
    machine::C3 c3;
    c3.packet = 512;
    c3.setup = machine::exactly(c.s);
    return c3;
}

/// Cost of a superstep, in units.
double units(const Case& c, const std::map<Pair, Bytes>& messages) {
    return charge({{c.h, c.b}, c.p, messages}, c3_of(c), Counting::exact).total(c.s);
}

double packets(const Case& c) {
    return std::ceil(static_cast<double>(c.L) / 512);
}

TEST(Superstep, patterns_cost_as_much_as_in_figure_4) {
    for (const Case& c : cases) {
        std::map<Pair, Bytes> to_next, one_to_all, all_to_one, all_to_all;
        for (int i = 0; i < c.p; ++i) {
            to_next[{i, (i + 1) % c.p}] = c.L;
            if (i > 0)
                one_to_all[{0, i}] = all_to_one[{i, 0}] = c.L;
            for (int j = 0; j < c.p; ++j) {
                if (i != j)
                    all_to_all[{i, j}] = c.L;
            }
        }
        const double k = packets(c), p = c.p, rest = p - 1;
        EXPECT_DOUBLE_EQ(units(c, to_next), c.s + k + c.h + k + k * std::ceil(p / c.b) + k * c.h);
        EXPECT_DOUBLE_EQ(units(c, one_to_all),
                         rest * (c.s + k) + c.h + k * std::ceil(rest / c.b) + k * c.h);
        EXPECT_DOUBLE_EQ(units(c, all_to_one), k * rest + k * std::ceil(rest / c.b) + k * c.h);
        EXPECT_DOUBLE_EQ(units(c, all_to_all), rest * (c.s + k) + c.h + rest * k +
                                                   k * std::ceil(p * rest / c.b) + k * c.h * rest);
    }
}

TEST(Superstep, a_permutation_has_the_published_cost_on_mesh_hypercube_and_tree) {
    const double s = 8, k = 3;
    const Bytes L = 3 * 512;
    for (int p : {16, 64, 256}) {
        std::map<Pair, Bytes> messages;
        for (int i = 0; i < p; ++i)
            messages[{i, (i + 1) % p}] = L;
        const auto on = [&](machine::Shape shape, std::vector<int> extents) {
            const auto wiring = machine::published_wiring({shape, std::move(extents)});
            return charge({wiring, p, messages}, c3_of({p, 0, 0, s, L}), Counting::exact).total(s);
        };
        const double root = std::sqrt(p), log = std::log2(p);
        const int side = static_cast<int>(root);
        EXPECT_NEAR(on(machine::Shape::mesh, {side, side}),
                    s + 2.0 / 3 * root + k * (2 + 5.0 / 3 * root), 1e-9);
        EXPECT_NEAR(on(machine::Shape::hypercube, {p}), s + log / 2 + k * (4 + log / 2), 1e-9);
        EXPECT_NEAR(on(machine::Shape::binary_tree, {p}), s + log + k * (2 + p + log), 1e-9);
    }
}

/// S_i + R_i of a processor that sends messages of 1 and 3 packets and receives one of 2, without
/// congestion: the total minus C_l = 2 and C_p = 2 h.
Units busiest(machine::Routing routing, bool blocking, double h) {
    machine::C3 c3 = c3_of({4, 1, h, 10, 0});
    c3.routing = routing;
    c3.blocking_sends = blocking;
    const std::map<Pair, Bytes> messages = {{{0, 1}, 1}, {{0, 2}, 3 * 512}, {{3, 0}, 2 * 512}};
    Units units = charge({{h, 100}, 4, messages}, c3, Counting::exact);
    units.packets -= 2 + 2 * h;
    return units;
}

void expect_units(const Units& units, double setups, double latency, double packets) {
    EXPECT_DOUBLE_EQ(units.setups, setups);
    EXPECT_DOUBLE_EQ(units.latency, latency);
    EXPECT_DOUBLE_EQ(units.packets, packets);
}

TEST(Superstep, costs_as_much_as_in_figure_3_under_all_four_protocols) {
    const double h = 5;
    using machine::Routing;
    expect_units(busiest(Routing::store_and_forward, false, h), 2, 0, h * 3 + 4 + 2);
    expect_units(busiest(Routing::wormhole, false, h), 2, h, 4 + 2);
    expect_units(busiest(Routing::store_and_forward, true, h), 2 * 2 + 1, 2 * 2 * h + h,
                 h * 4 + h * 2);
    expect_units(busiest(Routing::wormhole, true, h), 2 * 2 + 1, 2 * 2 * h + h + h + h, 4 + 2);
}

TEST(Superstep, a_message_by_store_and_forward_costs_one_packet_more_than_in_figure_2) {
    // S_i = s + h k + k, where Figure 2 has s_ij = s + h k: the paper contradicts itself.
    machine::C3 c3 = c3_of({4, 1, 5, 10, 0});
    c3.routing = machine::Routing::store_and_forward;
    const Units units = charge({{5, 100}, 4, {{{0, 1}, 2 * 512}}}, c3, Counting::exact);
    EXPECT_DOUBLE_EQ(units.packets, 5 * 2 + 2 + 2 + 2 * 5);
}

TEST(Superstep, rounds_packets_up_except_when_counting_as_in_the_paper) {
    const std::map<Pair, Bytes> messages = {{{0, 1}, 256}};
    const machine::C3 c3 = c3_of({2, 1, 1, 8, 0});
    EXPECT_DOUBLE_EQ(charge({{1, 1}, 2, messages}, c3, Counting::exact).packets, 3);
    EXPECT_DOUBLE_EQ(charge({{1, 1}, 2, messages}, c3, Counting::paper).packets, 1.5);
}

TEST(Superstep, without_messages_costs_nothing) {
    EXPECT_EQ(charge({{1, 1}, 2, {}}, c3_of(cases[0]), Counting::exact).total(8), 0);
}

} // namespace
} // namespace sextant::model
