// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/built_in.hpp"

#include "sextant/machine/profile_file.hpp"

namespace sextant::machine {

namespace {

// Threads: the receiver copies, or folds from where it lies. A node: shared memory, both sides
// move bytes. Nodes: 100 Gbit/s, the processor only starts messages.
constexpr const char* text = R"({
 "version": 1, "name": "a built-in machine", "date": "2026",
 "method": "round figures of servers and clusters of the 2020s; nothing was measured",
 "links": [
  {"link": "same process", "curves": [
   {"path": "send", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 2e-7], [16777216, 16777216, 2.2e-7]]},
   {"path": "receive", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 2e-7], [65536, 65536, 7e-6], [1048576, 1048576, 1.2e-4], [16777216, 16777216, 2.1e-3]]},
   {"path": "full", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 5e-7], [65536, 65536, 7.5e-6], [1048576, 1048576, 1.2e-4], [16777216, 16777216, 2.1e-3]]},
   {"path": "full", "layout": "cc", "strategy": "lending",
    "points": [[0, 0, 5e-7], [65536, 65536, 1.5e-6], [16777216, 16777216, 2e-4]]}]},
  {"link": "same node", "curves": [
   {"path": "send", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 2e-7], [65536, 65536, 8e-6], [1048576, 1048576, 1.3e-4], [16777216, 16777216, 2.2e-3]]},
   {"path": "receive", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 2e-7], [65536, 65536, 8e-6], [1048576, 1048576, 1.3e-4], [16777216, 16777216, 2.2e-3]]},
   {"path": "full", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 6e-7], [65536, 65536, 1e-5], [1048576, 1048576, 1.4e-4], [16777216, 16777216, 2.3e-3]]}],
   "switches": [4096]},
  {"link": "other node", "curves": [
   {"path": "send", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 4e-7], [16777216, 16777216, 1.4e-3]]},
   {"path": "receive", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 4e-7], [16777216, 16777216, 1.4e-3]]},
   {"path": "full", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 1.6e-6], [16777216, 16777216, 1.4e-3]]}],
   "switches": [16384]}],
 "operators": [
  {"name": "over", "points": [[1, 2, 3e-8], [1, 8, 1e-7], [16384, 2, 1.6e-5], [16384, 8, 8e-5],
                              [65536, 2, 1.2e-4], [65536, 8, 4.2e-4],
                              [8388608, 2, 2.2e-2], [8388608, 8, 5.8e-2]]},
  {"name": "over", "element": "f16", "seconds_per_element": 2e-9},
  {"name": "over", "element": "u8", "seconds_per_element": 8e-10},
  {"name": "nearest", "seconds_per_element": 3e-9},
  {"name": "nearest", "element": "f16", "seconds_per_element": 2e-9},
  {"name": "nearest", "element": "u8", "seconds_per_element": 1e-9},
  {"name": "add", "seconds_per_element": 2e-9},
  {"name": "add", "element": "f16", "seconds_per_element": 2e-9},
  {"name": "add", "element": "u8", "seconds_per_element": 6e-10},
  {"name": "max", "seconds_per_element": 2e-9},
  {"name": "max", "element": "f16", "seconds_per_element": 2e-9},
  {"name": "max", "element": "u8", "seconds_per_element": 6e-10}],
 "kernels": [
  {"name": "gaussian-derivatives", "points": [[1024, 8, 6e-7], [1024, 32, 1.8e-6],
                                              [1048576, 8, 6e-4], [1048576, 32, 1.8e-3]]}],
 "copies": [{"block": 0, "seconds_per_byte": 1.2e-10}]
})";

} // namespace

const Profile& built_in() {
    static const Profile profile = parse_profile(text, "built-in");
    return profile;
}

} // namespace sextant::machine
