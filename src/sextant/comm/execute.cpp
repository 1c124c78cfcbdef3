// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/execute.hpp"

#include "sextant/comm/runner.hpp"

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
    // Inputs are never written: Dependences refuses a program that would.
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

} // namespace sextant
