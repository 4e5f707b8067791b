"""A client of a few lines, quick enough not to be what is measured."""

import asyncio
import json
from typing import Any


class Wire:
    """One connection that is kept open.

    Parameters
    ----------
    host : str
        Of the server.
    port : int
        Of the server.
    """

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(
        self, path: str, body: bytes, headers: str = ""
    ) -> tuple[int, bytes]:
        """Send JSON; return the status and the body of the answer."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(self.host, self.port)
        reader, writer = self._streams
        writer.write(
            f"POST {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n{headers}"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            "".encode()
            + body
        )
        head = await reader.readuntil(b"\r\n\r\n")
        status = int(head[9:12])
        start = head.index(b"content-length: ") + 16
        length = int(head[start : head.index(b"\r\n", start)])
        return status, await reader.readexactly(length)

    async def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            await self._streams[1].wait_closed()


def dump(content: Any) -> bytes:
    """Return content as the body of a request."""
    return json.dumps(content).encode()
