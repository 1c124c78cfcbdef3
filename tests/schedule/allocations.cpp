// SPDX-License-Identifier: BSD-3-Clause
// Guarantees about memory, checked by counting the allocations of this program.
#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/walk.hpp"

#include <cstdlib>
#include <new>

#include "tests/support/random_programs.hpp"
#include <gtest/gtest.h>

namespace {

std::size_t allocations = 0, allocated = 0; // number of calls, and bytes

void* allocate(std::size_t size) {
    ++allocations;
    allocated += size;
    if (void* memory = std::malloc(size > 0 ? size : 1))
        return memory;
    throw std::bad_alloc();
}

} // namespace

void* operator new(std::size_t size) {
    return allocate(size);
}
void* operator new[](std::size_t size) {
    return allocate(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return std::malloc(size > 0 ? size : 1);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return std::malloc(size > 0 ? size : 1);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace sextant {
namespace {

/// Traverses a program until it ends or no step can start.
int walk_through(Walk& walk) {
    int steps = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int s = walk.next_message(); s != Walk::none; s = walk.next_message()) {
            walk.finish(s);
            moved = true, ++steps;
        }
        for (int s = walk.next_work(); s != Walk::none; s = walk.next_work()) {
            walk.finish(s);
            moved = true, ++steps;
        }
    }
    return steps;
}

TEST(Allocations, traversal_allocates_only_in_its_constructor) {
    test::Random random(91);
    for (int trial = 0; trial < 500; ++trial) {
        const Program program = test::RandomProgram(random).make(20, 5, random.number(0, 3));
        const Dependences dependences(program);
        Walk walk(program, dependences);
        const std::size_t before = allocations;
        for (int again = 0; again < 3; ++again) {
            walk_through(walk);
            walk.reset();
        }
        ASSERT_EQ(allocations, before) << trial;
    }
}

/// A rank's program in which each of `messages` has its own receive buffer, as in Direct-Send.
Program a_buffer_a_message(int messages) {
    ProgramBuilder builder;
    const Region in = builder.input(4);
    std::vector<Region> operands = {in};
    for (int i = 0; i < messages; ++i) {
        operands.push_back(builder.scratch(4));
        builder.receive(i, operands.back());
        builder.send(i, in);
    }
    builder.fold(operands[1], operands);
    return builder.finish(operands[1]);
}

TEST(Allocations, memory_of_dependences_grows_linearly_with_the_program) {
    const auto bytes_for = [](int messages) {
        const Program program = a_buffer_a_message(messages);
        const std::size_t before = allocated;
        const Dependences dependences(program);
        return static_cast<double>(allocated - before);
    };
    const double few = bytes_for(128), many = bytes_for(512);
    EXPECT_LT(many / few, 4 * 1.5) << few << " bytes for 128 messages, " << many << " for 512";
}

} // namespace
} // namespace sextant
