// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"
#include "sextant/core/units.hpp"
#include "sextant/machine/interpolate.hpp"
#include "sextant/machine/profile.hpp"
#include "sextant/machine/topology.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/trace.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::model {

/// A duration or a point in time, with its interval. The three values are computed independently:
/// `low` is the result if every input time is at its low end.
struct Span {
    Seconds median = 0, low = 0, high = 0;

    Span() = default;
    explicit Span(Seconds exact) : median(exact), low(exact), high(exact) {}
    Span(Seconds m, Seconds l, Seconds h) : median(m), low(l), high(h) {}
    explicit Span(const machine::Value& value)
        : median(value.median), low(value.low), high(value.high) {}
    explicit Span(const machine::Estimate& estimate)
        : median(estimate.median), low(estimate.low), high(estimate.high) {}

    Span operator+(const Span& o) const { return {median + o.median, low + o.low, high + o.high}; }
    Span operator-(const Span& o) const { return {median - o.median, low - o.low, high - o.high}; }
    Span operator*(double factor) const { return {median * factor, low * factor, high * factor}; }
};

inline Span later(const Span& a, const Span& b) {
    return {std::max(a.median, b.median), std::max(a.low, b.low), std::max(a.high, b.high)};
}

/// Thrown if a model cannot describe a schedule or machine; the error text names what is missing.
/// Another model may be able to describe it.
class CannotExpress : public Error {
  public:
    using Error::Error;
};

/// A kernel of a run, as named in profiles.
struct KernelUse {
    std::string_view name;
    /// The work per result, in the same unit as `operands` in the passes of the profile.
    int operands = 1;
};

/// A prediction task: one run of a schedule on a machine.
struct Question {
    const Schedule& schedule;
    const machine::Profile& machine;
    Bytes element_size = 0;
    /// The operator of the folds. If the profile lacks the operator, folds cost nothing, and a
    /// remark says so.
    std::string_view operator_name = {};
    /// The kernels of compute steps, by number. Kernels that the profile lacks cost nothing.
    std::span<const KernelUse> kernels = {};
    /// The channel type of the elements, as named in profiles: "f32", "f16", "u8".
    std::string_view element_name = "f32";
    /// True if a fold waits for all its operands and combines them in one pass, as for
    /// low-precision operands whose sum is rounded only once (Operator::exact_when_split).
    bool folds_at_once = false;
    /// The node of each rank. If empty, each rank is on its own node; if the profile has only one
    /// class of links, all ranks use that class.
    std::span<const int> nodes = {};
    /// The links between ranks. Null: unknown.
    const machine::Wires* wires = nullptr;
    /// The link between ranks of one node: processes, or threads of one process.
    machine::Link within_node = machine::Link::same_node;
    /// The strategy for sending strided messages.
    machine::Strategy strided = machine::Strategy::datatype;
    /// Bytes transferred per element, divided by its size: 1 except for compressed or sparse data.
    double density = 1;
    /// True if messages are compressed: the sender first passes over all elements of a message.
    bool coded = false;
    /// True to request only a lower bound that holds whatever the other ranks do (least_time). The
    /// programs of the other ranks then contain only the sends and receives that match those of
    /// rank 0. The bound never exceeds the model's prediction for the whole schedule.
    bool least = false;
    /// True to fill Prediction::timeline; without it, predicting is faster.
    bool timeline = false;
};

/// The predicted time of a run: a median and an interval, derived from the medians and intervals of
/// the profile.
struct Prediction {
    Seconds seconds = 0, low = 0, high = 0;
    Trace timeline;                   ///< empty unless requested
    std::vector<std::string> remarks; ///< notes for the reader: extrapolated or ignored costs
};

/// A cost model, as listed in the catalogue.
struct Model {
    std::string_view name;
    std::string_view summary;
    std::string_view source;
    /// Predicts the time of a run. Throws CannotExpress; std::logic_error for a schedule with
    /// unmatched messages or a deadlock. Deterministic.
    Prediction (*predict)(const Question& question);
};

/// All models, the simplest first.
std::span<const Model> catalogue();

/// Finds a model by name. If there is none, throws InvalidTask that suggests similar names.
const Model& find(std::string_view name);

/// Hockney: T(n) = α + n β for each of sender, receiver and path; messages and work do not overlap
/// on a rank. The parameters come from the profile or, if it has none, from a line fitted to its
/// times of contiguous messages from start to arrival.
///
/// Source    Hockney, Parallel Computing 20(3), 1994, doi:10.1016/S0167-8191(06)80021-9
Prediction hockney(const Question& question);

/// LogGP in terms of send, receive and full time: each side is busy for g + n G, of which the
/// processor is busy for o; the message takes 2 o + L + n G in full. Work overlaps with messages
/// except for o. If the profile has no LogGP parameters, they follow from contiguous messages: g
/// and o are the send time of an empty message, G is the slope of the full time, and 2 o + L is the
/// full time of an empty message.
///
/// Source    Alexandrov, Ionescu, Schauser, Scheiman, SPAA 1995, doi:10.1145/215399.215427
Prediction loggp(const Question& question);

/// LogGP*, the model that P-3PC was compared with: g = t_cs, L = t_cf, G = t_a,full,cc(n),
/// piecewise linear; T_send = T_recv = t_cs + t_a,full,cc(n) and T_full = t_cf + t_a,full,cc(n),
/// for any layout.
///
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 5.1
Prediction loggp_star(const Question& question);

/// 3PC: sending, receiving and the full path each have a constant and a time per byte, for any
/// layout: lines fitted to the costs of contiguous messages.
///
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 3.1
Prediction three_paths(const Question& question);

/// P-3PC as published: the costs of sending, of receiving and of the full path are each piecewise
/// linear in the message size, for each of the four layouts. Ignores block lengths, gaps, protocols
/// and contention. A rank can send and receive at the same time, as in the paper's border exchange.
///
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 3.3
Prediction p3pc(const Question& question);

} // namespace sextant::model
