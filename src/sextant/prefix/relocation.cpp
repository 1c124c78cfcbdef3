// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/prefix/relocation.hpp"

#include "sextant/scan/redistribution.hpp"

namespace sextant::prefix {

namespace {

std::span<const std::byte> carried(Execution& execution, std::span<const std::byte> values) {
    execution.bind(0, values);
    execution.run();
    return execution.result();
}

} // namespace

Relocation::Relocation(const Communicator& communicator, const scan::Series& lies,
                       const scan::Series& scanned, const Operator& op)
    : there_(communicator, scan::redistribution(lies, scanned, communicator.rank()), op),
      back_(communicator, scan::redistribution(scanned, lies, communicator.rank()), op) {}

std::span<const std::byte> Relocation::there(std::span<const std::byte> values) {
    return carried(there_, values);
}

std::span<const std::byte> Relocation::back(std::span<const std::byte> results) {
    return carried(back_, results);
}

} // namespace sextant::prefix
