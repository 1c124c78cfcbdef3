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

/// A duration, or a point in time, with the interval it may lie in. The three are computed alike:
/// the low of a run is the run in which everything is low.
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

/// A schedule or machine that a model has no words for; the message says what is missing. Another
/// model may have.
class CannotExpress : public Error {
  public:
    using Error::Error;
};

/// A kernel of a run, as profiles know it.
struct KernelUse {
    std::string_view name;
    /// How much it does for an element that it makes, as the operands of its passes count it; its
    /// passes say what that costs.
    int operands = 1;
};

/// What is to be predicted: one run of a schedule on a machine.
struct Question {
    const Schedule& schedule;
    const machine::Profile& machine;
    Bytes element_size = 0;
    /// Of folds. Where the profile does not know it, folds cost nothing, and a remark says so.
    std::string_view operator_name = {};
    /// Of compute steps, by number. Those that the profile does not know cost nothing either.
    std::span<const KernelUse> kernels = {};
    /// The channels of what is combined or computed, as profiles name them: "f32", "f16", "u8".
    std::string_view element_name = "f32";
    /// Whether a fold waits for all its operands and combines them in one pass, as where operands
    /// of few digits are rounded once (Operator::exact_when_split).
    bool folds_at_once = false;
    /// The node on which each rank lies. Empty: each on its own, or, where the profile knows only
    /// one class of links, joined by such links.
    std::span<const int> nodes = {};
    /// The links between nodes; without nodes given, rank i is on node i. Null: unknown.
    const machine::Wires* wires = nullptr;
    /// How ranks of one node are joined: as processes, or as threads of one.
    machine::Link within_node = machine::Link::same_node;
    /// How strided messages travel.
    machine::Strategy strided = machine::Strategy::datatype;
    /// The bytes that travel for one element, over its size: 1 but for compressed or sparse data.
    double density = 1;
    /// Whether messages are codes: who sends one first goes over all that it stands for.
    bool coded = false;
    /// Whether only what rank 0 needs is asked for, whatever the other ranks do (least_time): the
    /// schedule has no more of them than their sides of its messages. No model exceeds with it what
    /// it predicts of a whole schedule.
    bool least = false;
    /// Whether the prediction holds a timeline; without it, it is made faster.
    bool timeline = false;
};

/// The time of a run: its median and an interval, from those of the profile.
struct Prediction {
    Seconds seconds = 0, low = 0, high = 0;
    Trace timeline;                   ///< where asked for
    std::vector<std::string> remarks; ///< what the reader should know: extrapolated, left out
};

/// A cost model: one file of code and one row of the catalogue.
struct Model {
    std::string_view name;
    std::string_view summary;
    std::string_view source;
    /// Throws CannotExpress; std::logic_error for a schedule that does not match or deadlocks.
    /// Deterministic.
    Prediction (*predict)(const Question& question);
};

/// Every model, the simplest first.
std::span<const Model> catalogue();

/// By name. Throws InvalidTask with near names.
const Model& find(std::string_view name);

} // namespace sextant::model
