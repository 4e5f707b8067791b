"""Connections: the head of a request must be short, and must not take long to come.

uvicorn bounds neither, so a client could hold memory and sockets by sending a header
that does not end, or a letter a minute.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from manylabel.server.limits import Limits

TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)
HEAD = b"HTTP/1.1 2"  # begins an answer that has a body, not 100 Continue


class OneWrite:
    """A transport that holds the head of an answer until its body comes.

    uvicorn writes the two one after the other, and each write is a call of the system
    in which another thread may take its turn.

    Parameters
    ----------
    transport : Transport
        That is written to.
    loop : AbstractEventLoop
        In whose next turn a head goes out that no body has followed.
    """

    def __init__(
        self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._transport, self._loop = transport, loop
        self._head = b""

    def write(self, data: bytes) -> None:
        """Write, now or with what comes next."""
        if data.startswith(HEAD) and not self._head:
            self._head = data
            self._loop.call_soon(self.flush)
            return
        if self._head:
            data, self._head = self._head + data, b""
        self._transport.write(data)

    def flush(self) -> None:
        """Write what is held."""
        if self._head:
            data, self._head = self._head, b""
            self._transport.write(data)

    def close(self) -> None:
        """Close the connection once all is written."""
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Connection(HttpToolsProtocol):
    """A connection whose heads are bounded in size and time."""

    limits = Limits()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = self._fields_bytes = 0
        self._in_head = True
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect the first head."""
        super().connection_made(transport)
        self.transport = OneWrite(transport, self.loop)  # type: ignore[assignment]
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect nothing any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Refuse a head that is too long before it has ended."""
        super().data_received(data)
        if self._in_head and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > self.limits.header_bytes:
                self.transport.write(TOO_LARGE)
                self.transport.close()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Refuse fields that are too long; a head may come in one piece."""
        self._fields_bytes += len(name) + len(value)
        if self._fields_bytes > self.limits.header_bytes:
            raise ValueError("The head must be shorter.")
        super().on_header(name, value)

    def send_400_response(self, msg: str) -> None:
        """Answer what cannot be read, or is too long."""
        if self._fields_bytes <= self.limits.header_bytes:
            super().send_400_response(msg)
            return
        self.transport.write(TOO_LARGE)
        self.transport.close()

    def on_message_begin(self) -> None:
        """Expect the next head."""
        self._expect_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Note that the head has come."""
        self._in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def _expect_head(self) -> None:
        self._stop_waiting()
        self._in_head, self._head_bytes, self._fields_bytes = True, 0, 0
        self._patience = self.loop.call_later(
            self.limits.header_seconds, self.transport.close
        )

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None


def bounded(limits: Limits) -> type[HttpToolsProtocol]:
    """Return a class of connections with these limits, for uvicorn to use.

    Examples
    --------
    >>> issubclass(bounded(Limits()), HttpToolsProtocol)
    True
    """
    return type("Bounded", (Connection,), {"limits": limits})
