// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/p3pc_extended.hpp"

#include "sextant/model/contention.hpp"
#include "sextant/model/critical_path.hpp"
#include "sextant/model/paths.hpp"
#include "sextant/model/work_costs.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::model {

namespace {

using machine::Layout;
using machine::Path;
using machine::Strategy;

/// Prices messages as if alone in the network.
class Pricing {
  public:
    explicit Pricing(const Question& question)
        : question_(question), work_(question), lookup_(question) {}

    MessageCost operator()(const Message& message) {
        MessageCost cost = paths(message);
        const machine::LinkCosts& link = costs_of(question_.machine, message.link);
        if (!link.gap.empty())
            cost.send = later(cost.send, lookup_.at_size(link.gap, message.bytes));
        cost.rendezvous = !link.switches.empty() && message.bytes > link.switches.back();
        if (message.link == machine::Link::other_node) {
            Message empty = message;
            empty.bytes = 0;
            const MessageCost overhead = paths(empty);
            cost.send_processor = overhead.send;
            cost.receive_processor = overhead.receive;
        } else {
            cost.send_processor = cost.send;
            cost.receive_processor = cost.receive;
        }
        return cost;
    }

    const Lookup& lookup() const { return lookup_; }

  private:
    MessageCost paths(const Message& message) {
        if (message.layout != Layout::cc && packs(message))
            return packed(message);
        const auto path = [&](Path which) {
            return lookup_.at_size_and_block(message, which, question_.strided);
        };
        return {path(Path::send), path(Path::receive), path(Path::full), {}, {}};
    }

    bool packs(const Message& message) const {
        const auto& link = costs_of(question_.machine, message.link);
        return question_.strided == Strategy::packing &&
               !machine::find(link, Path::full, message.layout, Strategy::packing);
    }

    /// A contiguous message, and a copy at each strided side, which delays the whole path.
    MessageCost packed(const Message& message) {
        if (question_.machine.copies.empty()) {
            throw CannotExpress("the profile of " + question_.machine.name +
                                " has neither measured packing nor a rate of copies");
        }
        Message contiguous = message;
        contiguous.layout = Layout::cc;
        MessageCost cost = paths(contiguous);
        if (message.layout != Layout::cn) {
            const Span packing = work_.copy(message.bytes, message.sent_block);
            cost.send = cost.send + packing;
            cost.full = cost.full + packing;
        }
        if (message.layout != Layout::nc) {
            const Span unpacking = work_.copy(message.bytes, message.received_block);
            cost.receive = cost.receive + unpacking;
            cost.full = cost.full + unpacking;
        }
        return cost;
    }

    const Question& question_;
    WorkCosts work_;
    Lookup lookup_;
};

/// The schedule with links used for a share of the time.
Prediction at_use(const Question& question, Pricing& pricing, const Contention& contention,
                  double use) {
    const auto price = [&](const Message& message) {
        MessageCost cost = pricing(message);
        if (message.link == machine::Link::other_node)
            cost.full = cost.full + contention.delay(message.bytes, use);
        return cost;
    };
    return critical_path(question, {price, false});
}

/// The use of links at which the run takes as long as it is predicted to. More use makes a longer
/// run, and a longer run less use: bisection finds where they meet.
double settled_use(const Question& question, Pricing& pricing, const Contention& contention) {
    Question quick = question;
    quick.timeline = false;
    constexpr double least = 1e-3;
    double low = 0;
    double high = std::min(0.99, contention.use(at_use(quick, pricing, contention, 0).seconds));
    for (int i = 0; i < 12 && high - low > least; ++i) {
        const double use = (low + high) / 2;
        const Seconds seconds = at_use(quick, pricing, contention, use).seconds;
        (contention.use(seconds) > use ? low : high) = use;
    }
    return high;
}

} // namespace

Prediction p3pc_extended(const Question& question) {
    Pricing pricing(question);
    const Contention contention(question);
    const double use = contention.known() ? settled_use(question, pricing, contention) : 0;
    Prediction prediction =
        with_remarks(at_use(question, pricing, contention, use), pricing.lookup());
    if (!contention.known()) {
        prediction.remarks.push_back("no contention: the profile of " + question.machine.name +
                                     " describes no network");
    }
    return prediction;
}

} // namespace sextant::model
