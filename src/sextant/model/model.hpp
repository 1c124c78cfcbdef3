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
/// `low` is the result if every time is low.
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

/// Thrown if a model cannot describe a schedule or machine; the message says what is missing.
/// Another model may be able to.
class CannotExpress : public Error {
  public:
    using Error::Error;
};

/// A kernel of a run, as named in profiles.
struct KernelUse {
    std::string_view name;
    /// The work per result, in the unit of `operands` in the profile's passes.
    int operands = 1;
};

/// A prediction task: one run of a schedule on a machine.
struct Question {
    const Schedule& schedule;
    const machine::Profile& machine;
    Bytes element_size = 0;
    /// The operator of the folds. If the profile lacks it, folds cost nothing and a remark says so.
    std::string_view operator_name = {};
    /// The kernels of compute steps, by number. Kernels that the profile lacks cost nothing.
    std::span<const KernelUse> kernels = {};
    /// The channel type of the elements, as named in profiles: "f32", "f16", "u8".
    std::string_view element_name = "f32";
    /// True if a fold waits for all its operands and combines them in one pass, as for operands
    /// with few digits that are rounded once (Operator::exact_when_split).
    bool folds_at_once = false;
    /// The node of each rank. If empty: each rank on its own node or, if the profile has only one
    /// class of links, ranks joined by such links.
    std::span<const int> nodes = {};
    /// The links between nodes; without `nodes`, rank i is on node i. Null: unknown.
    const machine::Wires* wires = nullptr;
    /// The link between ranks of one node: processes, or threads of one process.
    machine::Link within_node = machine::Link::same_node;
    /// The way strided messages travel.
    machine::Strategy strided = machine::Strategy::datatype;
    /// Bytes transferred per element, divided by its size: 1 except for compressed or sparse data.
    double density = 1;
    /// True if messages are compressed: the sender first passes over all elements of a message.
    bool coded = false;
    /// True to ask only for a lower bound from rank 0's work, whatever the other ranks do
    /// (least_time): of them the schedule has only their sides of rank 0's messages. No model
    /// returns more than it would predict for the whole schedule.
    bool least = false;
    /// True to fill Prediction::timeline; predicting is faster without.
    bool timeline = false;
};

/// The predicted time of a run: its median and an interval, derived from those of the profile.
struct Prediction {
    Seconds seconds = 0, low = 0, high = 0;
    Trace timeline;                   ///< if asked for
    std::vector<std::string> remarks; ///< notes for the reader: extrapolated or ignored costs
};

/// A cost model: one source file and one row of the catalogue.
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

/// Finds a model by name. Throws InvalidTask with similar names.
const Model& find(std::string_view name);

} // namespace sextant::model
