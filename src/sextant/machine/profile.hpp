// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/machine/topology.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace sextant::machine {

/// Names of the enumerators in a profile file, in enumerator order.
inline constexpr std::string_view link_names[] = {"same process", "same node", "other node"};
inline constexpr std::string_view path_names[] = {"send", "receive", "full"};
inline constexpr std::string_view layout_names[] = {"cc", "cn", "nc", "nn"};
inline constexpr std::string_view strategy_names[] = {"contiguous", "datatype", "packing",
                                                      "lending"};
inline constexpr std::string_view element_names[] = {"f32", "f16", "u8"};
inline constexpr std::string_view routing_names[] = {"store and forward", "wormhole"};

// The items of a list in a profile have distinct keys; points and passes are in order of theirs.

/// A measured or published quantity: the median of `samples` measurements and an interval around
/// it. A published value without spread has no samples and an empty interval.
struct Value {
    double median = 0, low = 0, high = 0;
    std::int64_t samples = 0;
    Value times(double factor) const {
        return {median * factor, low * factor, high * factor, samples};
    }
    bool operator==(const Value&) const = default;
};

/// A value without spread.
constexpr Value exactly(double value) {
    return {value, value, value, 0};
}

/// The source of values: date and method of a measurement, or the table of a publication.
struct Origin {
    std::string date, method;
    bool operator==(const Origin&) const = default;
};

/// The relation between the two ranks that exchange a message.
enum class Link : std::uint8_t { same_process, same_node, other_node };

/// The three times that describe a message: the time that the sender is busy, the time that the
/// receiver is busy, and the time from the start of the send until the whole message has arrived.
enum class Path : std::uint8_t { send, receive, full };

/// The layouts of the data at the sender and at the receiver: contiguous (c) or not (n).
enum class Layout : std::uint8_t { cc, cn, nc, nn };

/// The method of transfer: contiguous data as one block, other data as a derived datatype or
/// packed. With `lending`, nothing is copied: the receiver folds directly from the sender's memory,
/// and the cost is the time that this adds to the fold.
enum class Strategy : std::uint8_t { contiguous, datatype, packing, lending };

std::string_view name(Link link);
std::string_view name(Path path);
std::string_view name(Layout layout);
std::string_view name(Strategy strategy);

/// The cost of one message of `bytes` bytes in pieces of `block` bytes. A contiguous message is one
/// piece: block == bytes.
struct Point {
    Bytes bytes = 0, block = 0;
    Value seconds;
    std::pair<Bytes, Bytes> key() const { return {bytes, block}; }
    bool operator==(const Point&) const = default;
};

/// The costs measured for one path, layout and strategy, at several sizes.
struct Curve {
    Path path = Path::full;
    Layout layout = Layout::cc;
    Strategy strategy = Strategy::contiguous;
    Origin origin;
    std::vector<Point> points; ///< ordered by bytes, then block; at least one
    std::tuple<Path, Layout, Strategy> key() const { return {path, layout, strategy}; }
    bool operator==(const Curve&) const = default;
};

/// Hockney's model: T(n) = latency + n · seconds_per_byte.
struct Hockney {
    Value latency, seconds_per_byte;
    Origin origin;
    bool operator==(const Hockney&) const = default;
};

/// The parameters L, o, g and G of the LogGP paper.
struct LogGP {
    Value latency, overhead, gap, gap_per_byte;
    Origin origin;
    bool operator==(const LogGP&) const = default;
};

/// The known costs of messages over one kind of link.
struct LinkCosts {
    Link link = Link::other_node;
    std::vector<Curve> curves;
    /// Sizes above which the protocol changes. Above the last, a send waits for the matching
    /// receive (rendezvous).
    std::vector<Bytes> switches;
    /// The time that a run of ranks which start together takes beyond the times of its messages.
    std::optional<Value> start;
    /// The time that sending a message of each size takes from the other work of the sender's
    /// processor; empty if unknown.
    std::vector<Point> sending;
    /// The time per message in a saturated stream; empty if unknown.
    std::vector<Point> gap;
    Origin gap_origin;
    std::optional<Hockney> hockney;
    std::optional<LogGP> loggp;
    Link key() const { return link; }
    bool operator==(const LinkCosts&) const = default;
};

/// One pass of an operator over `elements` elements of each of `operands` operands; or one run of a
/// kernel that computes `elements` results of `operands` units of work each.
struct Pass {
    Elements elements = 0;
    int operands = 1;
    Value seconds;
    std::pair<Elements, int> key() const { return {elements, operands}; }
    bool operator==(const Pass&) const = default;
};

/// The cost of an operator or kernel: measured passes, or one number.
struct Work {
    std::string name;
    std::string element = "f32"; ///< channel type of its elements: "f32", "f16" or "u8"
    /// The cost of combining one more operand, per element; used only if no pass was measured.
    std::optional<Value> seconds_per_element;
    std::vector<Pass>
        passes; ///< sorted by elements, then operands; measured with all cores of the node busy
    std::vector<Pass> alone; ///< like `passes`, with the other cores idle; empty if unknown
    Origin origin;
    std::pair<std::string, std::string> key() const { return {name, element}; }
    bool operator==(const Work&) const = default;
};

/// The cost of copying within memory in pieces of `block` bytes; 0: contiguous.
struct CopyRate {
    Bytes block = 0;
    Value seconds_per_byte;
    Origin origin;
    Bytes key() const { return block; }
    bool operator==(const CopyRate&) const = default;
};

/// A network with shared links, and the time per byte on a link.
struct Network {
    Topology topology;
    Value seconds_per_byte;
    Origin origin;
    bool operator==(const Network&) const = default;
};

enum class Routing : std::uint8_t { store_and_forward, wormhole };

std::string_view name(Routing routing);

/// The parameters of the C³ cost model. A communication unit is the time of one packet on a link; a
/// computation unit is the time that a processor needs to access the bytes of one packet.
struct C3 {
    Topology topology;
    Routing routing = Routing::wormhole;
    bool blocking_sends = false;
    Bytes packet = 0; ///< l: bytes in a packet
    Value setup;      ///< s: cost of setting up a message, in communication units
    Value seconds_per_unit, seconds_per_computation_unit;
    /// Rounded mean distances from the paper, by width and height of the (sub)machine. All other
    /// distances are computed from the topology.
    struct Distance {
        int width = 0, height = 0;
        double latency = 0;
        bool operator==(const Distance&) const = default;
    };
    std::vector<Distance> published;
    Origin origin;
    bool operator==(const C3&) const = default;
};

/// The measured costs of one machine in one state, with one MPI and transport: the input of the
/// cost models.
struct Profile {
    std::string name;
    bool provisional = false; ///< true for probes, and if many values did not converge
    std::string host, topology, transport;
    int cores = 0; ///< cores per node; 0 if unknown
    std::string mpi, mpi_version;
    std::string state; ///< state of the machine, which varies; empty if not observed
    Value state_probe; ///< round trip of 64 KiB that identifies the state, in seconds
    Origin origin;     ///< origin of values without an origin of their own
    /// The measured time of whole schedules on more ranks than cores, divided by their prediction
    /// (`seconds` is this ratio), by the size of each rank's data; empty if not measured.
    std::vector<Point> crowding;
    std::vector<LinkCosts> links;
    std::vector<Work> operators, kernels;
    std::vector<CopyRate> copies;
    std::optional<Network> network;
    std::optional<C3> c3;
    bool operator==(const Profile&) const = default;

    /// The costs of a link; nullptr if unknown.
    const LinkCosts* find(Link link) const;
    /// The costs of an operator on elements of this type; nullptr if not measured.
    const Work* find_operator(std::string_view wanted, std::string_view element) const;
    /// The costs of a kernel for elements of this type; nullptr if not measured.
    const Work* find_kernel(std::string_view wanted, std::string_view element) const;
};

/// The curve of a path, layout and strategy; nullptr if not measured.
const Curve* find(const LinkCosts& link, Path path, Layout layout, Strategy strategy);

/// One measured value of a profile, with its name.
struct NamedValue {
    std::string group; ///< the curve or operator: "same node full nn datatype", "over f32"
    std::string what;  ///< the point on the curve: "4096 B in 64"
    Value value;
};

/// Every measured value of a profile (messages, operators, kernels, copies), in the order of the
/// profile.
std::vector<NamedValue> values_of(const Profile& profile);

/// Multiplies all measured times of messages, and of work (operators, kernels and copies).
void scale_times(Profile& profile, double messages, double work);

/// The precision of the measured values of a profile. `requested`: the desired ratio of half the
/// interval to the median.
struct Precision {
    int values = 0;
    int wide = 0;                       ///< number of values whose ratio exceeds the requested one
    double median = 0, nine_in_ten = 0; ///< median and 90th percentile of the ratios
};

Precision worth_of(const Profile& profile, double requested);

} // namespace sextant::machine
