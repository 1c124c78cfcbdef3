// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/nonrigid.hpp"

#include "tests/registration/trials.hpp"
#include "tests/support/counting_new.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(Rigid, allocates_nothing_when_repeated) {
    Trial trial;
    trial.shape = {200, 150};
    const Pair pair = make_pair(trial);
    Registrar registrar(trial.shape);
    const kernel::SampleView reference = pair.reference.samples(), moved = pair.moved.samples();
    registrar.align(reference, moved);
    const long before = allocations;
    const RigidMotion found = registrar.align(reference, moved).motion;
    registrar.registration.refine(registrar.reference, registrar.moved, found);
    EXPECT_EQ(allocations - before, 0);
}

TEST(Nonrigid, allocates_nothing_when_repeated) {
    Trial trial;
    trial.shape = {200, 150};
    const Pair pair = make_pair(trial);
    registration::NonrigidRegistration registration(trial.shape);
    const kernel::SampleView reference = pair.reference.samples(), moved = pair.moved.samples();
    registration.run(reference, moved, usual_motion);
    const long before = allocations;
    registration.run(reference, moved, usual_motion);
    EXPECT_EQ(allocations - before, 0);
}

} // namespace
} // namespace sextant::test
