# SPDX-License-Identifier: BSD-3-Clause
"""Clients of the page of a series that is followed: good, curious, too many, and slow ones.
Usage: live_clients.py URL GATE. Each byte that is added to the file GATE lets the producer write one more frame, so what
clients receive does not depend on the machine's speed."""
import base64
import json
import re
import socket
import sys
import threading
import time

url, gate = sys.argv[1:]
patience = 100  # seconds
port, token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", url).groups()
port = int(port)


def connect(buffer=None):
    client = socket.socket()
    if buffer:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    client.settimeout(patience)
    client.connect(("127.0.0.1", port))
    return client


def ask(path, method="GET", host=f"127.0.0.1:{port}", more="", raw=None):
    """The status, the headers and the body of an answer."""
    with connect() as client:
        request = f"{method} {path} HTTP/1.1\r\n" + (f"Host: {host}\r\n" if host is not None else "") + more + "\r\n"
        client.sendall(raw or request.encode())
        answer = b""
        while piece := client.recv(1 << 16):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    return int(lines[0].split()[1]) if lines[0] else 0, dict(line.split(": ", 1) for line in lines[1:]), body


def stream(**options):
    """A client that follows events, and the status of the answer."""
    client = connect(**options)
    client.sendall(f"GET /{token}/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        piece = client.recv(1)
        if not piece:
            break
        answer += piece
    return client, int(answer.split()[1])


def stream_when_free(**options):
    """A client, when one that has gone was noticed: within a second, by a comment."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        client, status = stream(**options)
        if status == 200:
            return client
        client.close()
        time.sleep(0.1)
    sys.exit("no place became free")


def let_pass(frames):
    with open(gate, "ab") as file:
        file.write(bytes(frames))


def events_until(client, enough):
    """The events of a stream, pairs of name and data, until they are enough. Each average lets one frame pass."""
    text, end, found = b"", time.monotonic() + patience, []
    while not enough(found):
        assert time.monotonic() < end, f"not enough events in {patience} s: {[name for name, _ in found]}"
        text += client.recv(1 << 16)
        *blocks, text = text.split(b"\n\n")
        for block in blocks:
            if block != b":":
                name, data = block.split(b"\n")
                found.append((name.removeprefix(b"event: ").decode(), json.loads(data.removeprefix(b"data: "))))
                let_pass(name == b"event: average")
    return found


def named(name, found):
    return [data for other, data in found if other == name]


def rows_of(found):
    return [row for data in named("frames", found) for row in data]


# The page.
status, headers, body = ask(f"/{token}/")
assert status == 200 and b"<canvas" in body, (status, body[:200])
policy = headers["Content-Security-Policy"]
assert "default-src 'none'" in policy and "connect-src 'self'" in policy, policy
assert headers["Cache-Control"] == "no-store" and headers["Referrer-Policy"] == "no-referrer", headers
assert ask(f"/{token}/", host=f"localhost:{port}")[0] == 200
assert ask(f"/{token}/", method="HEAD")[2] == b""

# Other names of the server, other paths and other methods.
for host in ["evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", f"10.0.0.1:{port}", "", None,
             f"127.0.0.1.evil.example:{port}", f"user@127.0.0.1:{port}"]:
    assert ask(f"/{token}/", host=host)[0] in (400, 421), host
assert ask(f"/{token}/", more="Host: evil.example\r\n")[0] == 421
for path in ["/", "/events", f"/{token}", f"/{token[:-1]}/", f"/{token[:-1]}x/", f"/{token}x/", f"/{token}/../",
             f"/{token}/page", f"/{token}//events", "/" + "0" * 32 + "/", "/" + "0" * 32 + "/events"]:
    status, _, body = ask(path)
    assert status == 404 and token.encode() not in body, (path, status)
for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]:
    assert ask(f"/{token}/", method=method, more="Content-Length: 0\r\n")[0] == 405, method
assert ask("", raw=b"GET /" + b"x" * 100000 + b" HTTP/1.1\r\n\r\n")[0] in (0, 400, 414)
assert ask("", raw=b"\x16\x03\x01\r\n\r\n")[0] in (0, 400)

# The events: only the average, motions and flags, and numbers of frames.
first, status = stream()
assert status == 200
found = events_until(first, lambda found: len(rows_of(found)) > 15 and len(named("average", found)) > 5
                     and len(rows_of(found)) == named("state", found)[-1]["taken"])
assert {name for name, _ in found} == {"average", "frames", "state"}, {name for name, _ in found}
rows = rows_of(found)
assert [row[0] for row in rows] == list(range(len(rows))), "frames are missing or repeated"
assert rows[0][1:] == [0, 0, 0, ""] and rows[5][4] != "", rows
average = named("average", found)
assert set(average[-1]) == {"width", "height", "grey"} and len(base64.b64decode(average[-1]["grey"])) == 256 * 256
states = named("state", found)
assert set(states[-1]) == {"frames", "taken", "averaged", "behind", "ended"}, states[-1]
assert states[-1]["averaged"] == states[-1]["taken"] - 1, states[-1]

# At most 16 clients; a place becomes free when one goes away.
clients = [first] + [stream()[0] for _ in range(15)]
refused, status = stream()
assert status == 503, status
refused.close()
assert ask(f"/{token}/")[0] == 200, "the page itself is still there"
clients.pop().close()
for client in [*clients, stream_when_free()]:
    client.close()

# Clients that send their requests byte by byte do not block the page, however many they are.
done = threading.Event()


def send_slowly():
    with connect() as client:
        try:
            for byte in f"GET /{token}/ HTTP/1.1\r\nX-Filler: ".encode() + b"x" * 10000:
                client.send(bytes([byte]))
                if done.wait(0.1):
                    break
        except OSError:
            pass  # disconnected


crowd = [threading.Thread(target=send_slowly) for _ in range(64)]
for each in crowd:
    each.start()
assert ask(f"/{token}/")[0] == 200, "slow requests block the page"
done.set()
for each in crowd:
    each.join()

# A slow client is disconnected, and does not hold up another one.
slow = stream_when_free(buffer=4096)
fast = stream_when_free()
events_until(fast, lambda found: len(named("average", found)) > 120)
fast.close()
let_pass(1000)
taken = 0
try:
    while piece := slow.recv(1 << 16):
        taken += len(piece)
except ConnectionResetError:
    pass
print(f"the slow client was disconnected after {taken} bytes")
