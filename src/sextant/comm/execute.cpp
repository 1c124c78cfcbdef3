// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/execute.hpp"

#include "sextant/comm/runner.hpp"

#include <thread>
#include <utility>

namespace sextant {

Execution::Execution(Communicator communicator, Program program, Operator op,
                     ExecuteOptions options, std::vector<Kernel> kernels)
    : runner_(std::make_unique<Runner>(std::move(communicator), std::move(program), std::move(op),
                                       options, std::move(kernels))) {}
Execution::Execution(Execution&&) noexcept = default;
Execution& Execution::operator=(Execution&&) noexcept = default;
Execution::~Execution() = default;

void Execution::bind(int buffer, std::span<const std::byte> memory) {
    // Inputs are never written: Dependences rejects a program that would write one.
    runner_->bind(buffer, const_cast<std::byte*>(memory.data()), memory.size());
}

void Execution::bind(int buffer, std::span<std::byte> memory) {
    runner_->bind(buffer, memory.data(), memory.size());
}

void Execution::set_peers(std::span<const int> ranks) {
    runner_->set_peers(ranks);
}

void Execution::run() {
    runner_->run();
}
void Execution::run_failed(std::exception_ptr failure) {
    runner_->run_failed(std::move(failure));
}
void Execution::start() {
    runner_->start();
}
void Execution::start_failed(std::exception_ptr failure) {
    runner_->start_failed(std::move(failure));
}
bool Execution::advance() {
    return runner_->advance();
}
bool Execution::over() const {
    return runner_->over();
}
void Execution::rest() {
    runner_->rest();
}
void Execution::finish() {
    runner_->finish();
}
void Execution::abandon() {
    runner_->abandon();
}
std::span<const std::byte> Execution::result() const {
    return runner_->result();
}
const Program& Execution::program() const {
    return runner_->program();
}
const Sent& Execution::sent() const {
    return runner_->sent();
}
const Trace& Execution::trace() const {
    return runner_->trace();
}

void Flight::start(Execution& execution) {
    execution.start();
    under_way_.push_back(&execution);
}

void Flight::start_failed(Execution& execution, std::exception_ptr failure) {
    execution.start_failed(std::move(failure));
    under_way_.push_back(&execution);
}

bool Flight::ready(Execution& execution) {
    advance_all();
    return execution.over();
}

void Flight::wait(Execution& execution) {
    while (!execution.over()) {
        if (advance_all())
            continue;
        if (under_way_.size() == 1)
            under_way_.front()->rest();
        else // do not block: a message may arrive for another run
            std::this_thread::yield();
    }
    execution.finish();
}

void Flight::abandon(Execution& execution) {
    execution.abandon();
    std::erase(under_way_, &execution);
}

/// Makes progress on all runs; returns true if any of them had something to do.
bool Flight::advance_all() {
    bool any = false;
    for (Execution* execution : under_way_)
        any = execution->advance() || any;
    std::erase_if(under_way_, [](const Execution* execution) { return execution->over(); });
    return any;
}

} // namespace sextant
