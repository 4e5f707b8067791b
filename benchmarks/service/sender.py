"""A client of raw sockets and one loop, quick enough not to be what is measured."""

import json
import select
import socket
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

OK = (200, 202)
LENGTH = b"content-length: "


class Lane(NamedTuple):
    """Requests of one kind: which, by how many connections, how many a second.

    Without a rate, each connection sends the next request once it has its answer.
    """

    requests: Sequence[bytes]
    n_connections: int
    rate: float | None = None


class Connection:
    """One connection that is kept open, with at most one request on its way."""

    def __init__(self, host: str, port: int, lane: int) -> None:
        self.socket = socket.create_connection((host, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.lane = lane
        self.due = 0.0
        self._found, self._missing = b"", 0

    def send(self, request: bytes, due: float) -> None:
        """Send a request that was due at some time."""
        self.due, self._found, self._missing = due, b"", 0
        self.socket.sendall(request)

    def receive(self) -> bool:
        """Read some of the answer; return whether it is whole."""
        found = self.socket.recv(1 << 20)
        if not found:
            raise RuntimeError("the server has closed a connection")
        if self._missing:
            self._missing -= len(found)
            return not self._missing
        self._found += found
        end = self._found.find(b"\r\n\r\n")
        if end < 0:
            return False
        if int(self._found[9:12]) not in OK:
            raise RuntimeError(f"the server answered {self._found[:500]!r}")
        start = self._found.index(LENGTH) + len(LENGTH)
        length = int(self._found[start : self._found.index(b"\r\n", start)])
        self._missing = end + 4 + length - len(self._found)
        return not self._missing


class Sender:
    """Sends lanes of requests to one server, all at the same time.

    Parameters
    ----------
    host : str
        Of the server.
    port : int
        Of the server.
    lanes : sequence of Lane
        What to send.
    """

    def __init__(self, host: str, port: int, lanes: Sequence[Lane]) -> None:
        self.lanes = lanes
        self.times: list[list[float]] = [[] for _ in lanes]
        self._n_sent = [0] * len(lanes)
        self._free: list[list[Connection]] = [
            [Connection(host, port, lane) for _ in range(each.n_connections)]
            for lane, each in enumerate(lanes)
        ]
        self._all = {c.socket.fileno(): c for free in self._free for c in free}
        self._poll = select.epoll()
        for number in self._all:
            self._poll.register(number, select.EPOLLIN)

    def run(self, seconds: float) -> list[list[float]]:
        """Send for some seconds; return how long each answer took since it was due."""
        start = time.perf_counter()
        end = start + seconds
        while True:
            now = time.perf_counter()
            pause = min(
                self._send_due(n, start, now, end) for n in range(len(self.lanes))
            )
            busy = len(self._all) - sum(map(len, self._free))
            if now >= end and not busy:
                break
            for number, _ in self._poll.poll(max(pause, 0.0)):
                connection = self._all[number]
                if connection.receive():
                    taken = time.perf_counter() - connection.due
                    self.times[connection.lane].append(taken)
                    self._free[connection.lane].append(connection)
        for connection in self._all.values():
            connection.socket.close()
        return self.times

    def _send_due(self, number: int, start: float, now: float, end: float) -> float:
        """Send what is due on a lane; return the seconds until more is."""
        lane, free = self.lanes[number], self._free[number]
        while free:
            due = now if lane.rate is None else start + self._n_sent[number] / lane.rate
            if due >= end:
                break
            if due > now:
                return due - now
            request = lane.requests[self._n_sent[number] % len(lane.requests)]
            free.pop(0).send(request, due)
            self._n_sent[number] += 1
        return 0.1


def post(host: str, port: int, path: str, content: Any) -> bytes:
    """Return a request that sends JSON."""
    body = json.dumps(content).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
