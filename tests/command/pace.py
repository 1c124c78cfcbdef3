# SPDX-License-Identifier: BSD-3-Clause
"""Writes the frames of an MRC file of f32 samples at a pace, as a detector does:
pace.py MOVIE TARGET KIND RATE [GATE].
KIND is mrc, tif, ser, h5, folder or raw, or mrc-cut, raw-cut: the last frame is not completed. TARGET may be a FIFO
or "-". Each frame is written in two parts, with a pause in between. With STAMPS, a file, the time at which each frame
was complete is written to it.

GATE is a file that frames wait for, so that a test does not depend on the machine's speed. If it is the live.links of
the run that follows, the producer is never more than eight frames ahead of that run. Any other file of N bytes lets
the first 10 + N frames pass; it may grow, and need not exist at first."""
import os
import struct
import sys
import time

movie, target, kind, rate = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
gate = sys.argv[5] if len(sys.argv) > 5 else None
with open(movie, "rb") as file:
    data = file.read()
width, height, count, mode = struct.unpack("<4i", data[:16])
assert mode == 2
start = 1024 + struct.unpack("<i", data[92:96])[0]
size = 4 * width * height
frames = [data[start + i * size : start + (i + 1) * size] for i in range(count)]
cut = kind.endswith("-cut")
kind = kind.removesuffix("-cut")
due = time.monotonic()
stamps = open(os.environ["STAMPS"], "w", buffering=1) if "STAMPS" in os.environ else None


def links_in(path):
    """The number of links in a journal: after the title and a text, records of a size, a checksum and an entry, which
    begins with the reference, or with -1 if it is not a link."""
    try:
        with open(path, "rb") as file:
            journal = file.read()
    except FileNotFoundError:
        return 0
    at, references = journal.find(b"\n") + 1, []
    while at + 16 <= len(journal):
        (length,) = struct.unpack_from("<Q", journal, at)
        if at + 16 + length > len(journal):
            break
        references.append(struct.unpack_from("<q", journal, at + 16)[0])
        at += 16 + length
    return sum(reference >= 0 for reference in references[1:])


def is_open(frame):
    if os.path.basename(gate) == "live.links":
        farthest = 3
        return links_in(gate) >= sum(min(before, farthest) for before in range(frame - 8))
    return frame < 10 + (os.path.getsize(gate) if os.path.exists(gate) else 0)


def wait(frame):
    """Waits for the time of the frame, which is relative to that of the frame before, and for the gate."""
    global due
    time.sleep(max(0, due - time.monotonic()))
    limit = time.monotonic() + 250
    while gate and not is_open(frame):
        if time.monotonic() > limit:
            sys.exit(f"{gate} has let no frame {frame} pass for 250 s")
        time.sleep(0.005)
    due = time.monotonic() + 1 / rate


def write_parts(file, frame, parts):
    """The parts of what belongs to a frame, with a pause after the first."""
    wait(frame)
    if cut and frame == count - 1:
        parts = [parts[0][: len(parts[0]) // 2]]
    for part in parts:
        file.write(part)
        file.flush()
        if part is not parts[-1]:
            time.sleep(0.2 / rate)
    if stamps:
        stamps.write(f"{frame} {time.time():.6f}\n")


def halves(frame):
    return [frame[: size // 3], frame[size // 3 :]]


if kind == "raw":
    with sys.stdout.buffer if target == "-" else open(target, "wb", buffering=0) as file:
        for i, frame in enumerate(frames):
            write_parts(file, i, halves(frame))
elif kind == "mrc":
    with open(target, "wb", buffering=0) as file:
        file.write(data[:start])
        for i, frame in enumerate(frames):
            write_parts(file, i, halves(frame))
elif kind == "tif":  # odd frames: the directory is linked before the samples are there
    with open(target, "w+b", buffering=0) as file:
        file.write(struct.pack("<2sHI", b"II", 42, 0))
        link, end = 4, 8
        for i, frame in enumerate(frames):
            tags = [(256, width), (257, height), (258, 32), (259, 1), (262, 1), (277, 1), (278, height), (279, size),
                    (339, 3)]
            directory = 2 + 12 * (len(tags) + 1) + 4
            samples = end if i % 2 == 0 else end + directory
            tags.append((273, samples))
            ifd = struct.pack("<H", len(tags))
            for tag, value in sorted(tags):
                ifd += struct.pack("<HHII", tag, 4, 1, value)
            ifd += struct.pack("<I", 0)
            at = end + size if i % 2 == 0 else end

            def set_link():
                file.seek(link)
                file.write(struct.pack("<I", at))
                file.seek(0, os.SEEK_END)

            if i % 2:
                set_link()
                write_parts(file, i, [ifd, *halves(frame)])
            else:
                write_parts(file, i, [*halves(frame), ifd])
                set_link()
            link, end = at + directory - 4, end + size + directory
elif kind == "ser":
    with open(target, "w+b", buffering=0) as file:
        table = 34
        file.write(struct.pack("<HHHIIIIIII", 0x4949, 0x0197, 0x0210, 0x4122, 0x4152, count, 0, table, 0, 0))
        file.write(bytes(8 * count))
        end = table + 8 * count
        for i, frame in enumerate(frames):
            head = struct.pack("<ddiddiHii", 0, 1e-10, 0, 0, 1e-10, 0, 7, width, height)
            file.seek(end)
            write_parts(file, i, [head, *halves(frame)])
            file.seek(table + 4 * i)
            file.write(struct.pack("<I", end))
            file.seek(18)
            file.write(struct.pack("<I", i + 1))
            end += len(head) + size
elif kind == "folder":
    os.makedirs(target, exist_ok=True)
    for i, frame in enumerate(frames):
        head = bytearray(data[:1024])
        struct.pack_into("<i", head, 8, 1)
        struct.pack_into("<i", head, 92, 0)
        with open(f"{target}/frame_{i}.mrc", "wb", buffering=0) as file:
            write_parts(file, i, [bytes(head), *halves(frame)])
elif kind == "h5":
    import h5py
    import numpy

    with h5py.File(target, "w", libver="latest") as file:
        images = file.create_dataset("images", (0, height, width), "f4", maxshape=(None, height, width),
                                     chunks=(1, height, width))
        file.swmr_mode = True
        for i, frame in enumerate(frames):
            wait(i)
            images.resize(i + 1, axis=0)
            images[i] = numpy.frombuffer(frame, "f4").reshape(height, width)
            images.flush()
            if stamps:
                stamps.write(f"{i} {time.time():.6f}\n")
