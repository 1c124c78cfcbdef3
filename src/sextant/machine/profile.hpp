// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/machine/topology.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::machine {

/// How the enumerations are written in a profile, in their order.
inline constexpr std::string_view link_names[] = {"same process", "same node", "other node"};
inline constexpr std::string_view path_names[] = {"send", "receive", "full"};
inline constexpr std::string_view layout_names[] = {"cc", "cn", "nc", "nn"};
inline constexpr std::string_view strategy_names[] = {"contiguous", "datatype", "packing",
                                                      "lending"};
inline constexpr std::string_view element_names[] = {"f32", "f16", "u8"};
inline constexpr std::string_view routing_names[] = {"store and forward", "wormhole"};
inline constexpr std::string_view shape_names[] = {"linear array", "mesh",      "torus",
                                                   "binary tree",  "butterfly", "shuffle-exchange",
                                                   "hypercube",    "fat tree",  "complete graph"};

/// A measured or published quantity: the median of so many samples and an interval around it. What
/// was published without spread has no samples, and an interval of nothing.
struct Value {
    double median = 0, low = 0, high = 0;
    std::int64_t samples = 0;
    bool operator==(const Value&) const = default;
};

/// A value of which nothing but itself is known.
constexpr Value exactly(double value) {
    return {value, value, value, 0};
}

/// When and how values came about: a protocol of measurement, or the table of a publication.
struct Origin {
    std::string date, method;
    bool operator==(const Origin&) const = default;
};

/// Which ranks a cost holds between.
enum class Link : std::uint8_t { same_process, same_node, other_node };

/// The three paths of communication: how long the sender is busy, how long the receiver, and from
/// the start of the send until the receiver has everything.
enum class Path : std::uint8_t { send, receive, full };

/// Whether data is contiguous (c) or not (n), at the sender and at the receiver.
enum class Layout : std::uint8_t { cc, cn, nc, nn };

/// How data travels: whole where it is contiguous, otherwise as a derived datatype or packed. Lent
/// data does not travel: its receiver reads it where it lies, which costs a fold more by this much.
enum class Strategy : std::uint8_t { contiguous, datatype, packing, lending };

std::string_view name(Link link);
std::string_view name(Path path);
std::string_view name(Layout layout);
std::string_view name(Strategy strategy);

/// The cost of one message: of so many bytes, in pieces of `block` bytes where it is not
/// contiguous, and of the size of the message where it is.
struct Point {
    Bytes bytes = 0, block = 0;
    Value seconds;
    bool operator==(const Point&) const = default;
};

/// One cell of what is measured of messages: one path, layout and strategy, at several sizes.
struct Curve {
    Path path = Path::full;
    Layout layout = Layout::cc;
    Strategy strategy = Strategy::contiguous;
    Origin origin;
    std::vector<Point> points; ///< by bytes, then block; at least one
    bool operator==(const Curve&) const = default;
};

/// T(n) = latency + n · seconds_per_byte.
struct Hockney {
    Value latency, seconds_per_byte;
    Origin origin;
    bool operator==(const Hockney&) const = default;
};

/// The paper's L, o, g and G.
struct LogGP {
    Value latency, overhead, gap, gap_per_byte;
    Origin origin;
    bool operator==(const LogGP&) const = default;
};

/// What is known of messages between ranks that lie so.
struct LinkCosts {
    Link link = Link::other_node;
    std::vector<Curve> curves;
    /// Sizes above which the protocol changes. From the last on, a send waits for its receive.
    std::vector<Bytes> switches;
    /// The time from one message to the next in a saturated stream; empty if unknown.
    std::vector<Point> gap;
    Origin gap_origin;
    std::optional<Hockney> hockney;
    std::optional<LogGP> loggp;
    bool operator==(const LinkCosts&) const = default;
};

/// One pass of an operator or kernel: so many elements, of so many operands at once.
struct Pass {
    Elements elements = 0;
    int operands = 1;
    Value seconds;
    bool operator==(const Pass&) const = default;
};

/// What an operator or kernel costs: by what was measured of its passes, or as one number.
struct Work {
    std::string name;
    std::string element = "f32"; ///< the channels of its elements: "f32", "f16" or "u8"
    /// Of combining one more operand. Counts only where no pass was measured.
    std::optional<Value> seconds_per_element;
    std::vector<Pass> passes; ///< by elements, then operands; all cores of a node work
    std::vector<Pass> alone;  ///< the same while the other cores rest; empty if unknown
    Origin origin;
    bool operator==(const Work&) const = default;
};

/// What moving bytes within memory costs: in pieces of `block` bytes; 0 for contiguous copies.
struct CopyRate {
    Bytes block = 0;
    Value seconds_per_byte;
    Origin origin;
    bool operator==(const CopyRate&) const = default;
};

/// A network that messages share: its links, of this much each.
struct Network {
    Topology topology;
    Value seconds_per_byte;
    Origin origin;
    bool operator==(const Network&) const = default;
};

enum class Routing : std::uint8_t { store_and_forward, wormhole };

std::string_view name(Routing routing);

/// The parameters of C³. Times are counted in units: of a packet on a link, and of as many bytes
/// that a processor touches.
struct C3 {
    Topology topology;
    Routing routing = Routing::wormhole;
    bool blocking_sends = false;
    Bytes packet = 0; ///< l: what a unit carries
    Value setup;      ///< s, in units
    Value seconds_per_unit, seconds_per_computation_unit;
    /// Average distances that the paper rounds, by the sides of the (sub)machine; others follow
    /// from the topology.
    struct Distance {
        int width = 0, height = 0;
        double latency = 0;
        bool operator==(const Distance&) const = default;
    };
    std::vector<Distance> published;
    Origin origin;
    bool operator==(const C3&) const = default;
};

/// One machine, in one state, under one MPI and transport: what models compute with. Data only.
struct Profile {
    std::string name;
    std::string host, topology, transport;
    int cores = 0; ///< of a node; 0 if unknown
    std::string mpi, mpi_version;
    std::string state; ///< machines differ from launch to launch; empty if it was not observed
    Value state_probe; ///< the round trip of 64 KiB by which the state is recognised, in seconds
    Origin origin;     ///< of what names no other
    std::vector<LinkCosts> links;
    std::vector<Work> operators, kernels;
    std::vector<CopyRate> copies;
    std::optional<Network> network;
    std::optional<C3> c3;
    bool operator==(const Profile&) const = default;

    /// What is known of a link; nullptr if nothing.
    const LinkCosts* find(Link link) const;
    /// An operator on such elements; nullptr if it was not measured.
    const Work* find_operator(std::string_view wanted, std::string_view element) const;
    /// Likewise a kernel.
    const Work* find_kernel(std::string_view wanted, std::string_view element) const;
};

/// The curve of a path, layout and strategy; nullptr if it was not measured.
const Curve* find(const LinkCosts& link, Path path, Layout layout, Strategy strategy);

/// One measured value of a profile and what it is of.
struct NamedValue {
    std::string group; ///< "same node full nn datatype", "over f32": a curve or an operator
    std::string what;  ///< "4096 B in 64": a point of it
    Value value;
};

/// Every value of a profile that was measured: of messages, operators and copies, in its order.
std::vector<NamedValue> values_of(const Profile& profile);

/// How well a profile is known.
struct Worth {
    int values = 0;
    int wide = 0;                       ///< of them, whose half interval is more than was asked
    double median = 0, nine_in_ten = 0; ///< half intervals as shares of their medians
};

Worth worth_of(const Profile& profile, double asked);

} // namespace sextant::machine
