// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/scope.hpp"

#include "sextant/comm/agreement.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant {

namespace {

/// Creates the scope at the first collective call.
class LaterTransport : public Transport, public Scoping {
  public:
    LaterTransport(Communicator base, std::string what)
        : base_(std::move(base)), what_(std::move(what)) {}

    const Communicator& now() const { return made_ ? *made_ : base_; }

    int rank() const override { return base_.rank(); }
    int size() const override { return base_.size(); }
    bool shares_memory() const override { return base_.shares_memory(); }
    bool shares_nodes() const override { return base_.shares_nodes(); }
    int node_of_host() const override { return base_.transport().node_of_host(); }
    std::string shortage() const override { return base_.shortage(); }
    Memory memory(Bytes size) override { return base_.memory(size); }
    std::unique_ptr<Exchange> open(std::vector<Message> messages) override {
        return now().open(std::move(messages));
    }
    std::vector<Segment> shared_segments(Bytes size) override {
        return made().shared_segments(size);
    }
    void barrier() override { made().barrier(); }
    void all_gather(std::span<const std::byte> own, std::span<std::byte> all) override {
        made().all_gather(own, all);
    }
    std::shared_ptr<Transport> split(int color, int key) override {
        return made().split(color, key).handle();
    }
    std::shared_ptr<Transport> split_for_notices(int color, int key) override {
        return made().split_for_notices(color, key).handle();
    }

    std::shared_ptr<Transport> make_scope(const std::string& what, RunsOf runs) override {
        return scope_of(made(), what, runs).handle();
    }
    void fail(const std::string& text) override { sextant::fail(now(), text); }
    void look() override {
        if (Scoping* const scoping = scoping_of(now()))
            scoping->look();
    }
    void begin_run() override {
        if (Scoping* const scoping = scoping_of(now()))
            scoping->begin_run();
    }
    void end_run() override {
        if (Scoping* const scoping = scoping_of(now()))
            scoping->end_run();
    }

  private:
    const Communicator& made() {
        if (!made_)
            made_ = scope_of(base_, what_);
        return *made_;
    }

    const Communicator base_;
    const std::string what_;
    std::optional<Communicator> made_;
};

} // namespace

std::uint64_t hash_of_kind(const std::string& what) {
    return std::hash<std::string>()(what.substr(0, what.find(',')));
}

void throw_different_names(Transport& transport, const std::string& own, int other) {
    constexpr std::size_t room = 100;
    std::array<char, room> text{};
    std::copy_n(own.begin(), std::min(own.size(), room - 1), text.begin());
    std::vector<std::array<char, room>> all(static_cast<std::size_t>(transport.size()));
    transport.all_gather(std::as_bytes(std::span(text)), std::as_writable_bytes(std::span(all)));
    throw AgreedFailure(
        fmt::format("ranks make collective calls in different orders: rank 0 makes a {}, rank {} "
                    "a {}",
                    all[0].data(), other, all[static_cast<std::size_t>(other)].data()),
        AgreedFailure::Fault::task);
}

Scoping* scoping_of(const Communicator& communicator) {
    return dynamic_cast<Scoping*>(communicator.handle().get());
}

void fail(const Communicator& communicator, const std::string& text) {
    constexpr std::size_t most = 2000;
    try {
        if (Scoping* const scoping = scoping_of(communicator))
            scoping->fail(text.substr(0, most));
    } catch (const Error&) { // the communicator has failed: no rank can be notified
    }
}

Communicator scope_of(const Communicator& communicator, const std::string& what, RunsOf runs) {
    Scoping* const scoping = scoping_of(communicator);
    return scoping ? Communicator(scoping->make_scope(what, runs)) : communicator;
}

Communicator scope_later(const Communicator& communicator, const std::string& what) {
    if (!scoping_of(communicator))
        return communicator;
    return Communicator(std::make_shared<LaterTransport>(communicator, what));
}

const Communicator& made_scope(const Communicator& communicator) {
    const auto* const later = dynamic_cast<const LaterTransport*>(&communicator.transport());
    return later ? made_scope(later->now()) : communicator;
}

} // namespace sextant
