"""The routes below ``/v1`` for those who run a service: versions, jobs, events."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path as File
from typing import Annotated

from fastapi import Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from manylabel.server import handlers, uploads
from manylabel.server.api import JSON, Model, Routes, acknowledge
from manylabel.server.errors import Busy, UnknownJob
from manylabel.server.gate import DEADLINE
from manylabel.server.lifecycle import Life
from manylabel.server.limits import Limits, NotTar
from manylabel.server.replica import Replica
from manylabel.server.schemas import (
    ActivateRequest,
    RetrainRequest,
    RollbackRequest,
    ShadowRequest,
)
from manylabel.server.security import Guard
from manylabel.server.service import Service
from manylabel.server.store import check_name
from manylabel.server.subscription import Update

TAR = "application/x-tar"
STREAM = "text/event-stream"
LOOK = 0.1  # seconds between looks at what is learnt
SILENCE = 15.0  # seconds after which a stream says that it lives

Job = Annotated[str, Path(max_length=100, description="The job's id.")]
NewModel = Annotated[
    str,
    Path(
        description="The model's name: letters, digits, ., - and _.",
        examples=["tags"],
    ),
]


class Operations(Routes):
    """What those do who run a service.

    Parameters
    ----------
    service : Service
        The models.
    guard : Guard
        Who may do what.
    folder : Path
        Where models are.
    limits : Limits
        How many streams there may be.
    life : Life
        Tells whether the server is about to stop, so that streams end.
    """

    def __init__(
        self,
        service: Service,
        guard: Guard,
        folder: File,
        limits: Limits,
        life: Life,
    ) -> None:
        super().__init__(service, guard)
        self.folder = folder
        self.limits = limits
        self.life = life
        self.n_streams = 0

    async def versions(self, request: Request, model: Model) -> Response:
        """Return the versions of a model, with what each costs on live feedback."""
        self.guard.admit(request, "read", model)
        replica = self.service.replica(model)
        found = await run_in_threadpool(replica.versions)
        content = {
            "active": replica.version,
            "versions": [each._asdict() for each in found],
        }
        return Response(handlers.write_json(content), media_type=JSON)

    async def activate(
        self, request: Request, model: Model, asked: ActivateRequest
    ) -> Response:
        """Let another version answer from now on."""
        who = self.guard.admit(request, "admin", model)
        replica = self.service.replica(model)
        return await acknowledge(
            await run_in_threadpool(replica.activate, asked.version, who)
        )

    async def rollback(
        self, request: Request, model: Model, asked: RollbackRequest
    ) -> Response:
        """Take out all feedback after an event; the log keeps it, and this too."""
        who = self.guard.admit(request, "admin", model)
        replica = self.service.replica(model)
        return await acknowledge(
            await run_in_threadpool(replica.rollback, asked.sequence, who)
        )

    async def shadow(
        self, request: Request, model: Model, asked: ShadowRequest
    ) -> Response:
        """Score a version that is not active on live feedback, or stop that."""
        who = self.guard.admit(request, "admin", model)
        score = partial(self.service.replica(model).shadow, is_on=asked.is_on)
        return await acknowledge(await run_in_threadpool(score, asked.version, who))

    async def retrain(
        self, request: Request, model: Model, asked: RetrainRequest
    ) -> Response:
        """Begin to learn a new version from the log and the original data."""
        who = self.guard.admit(request, "admin", model)
        replica = self.service.replica(model)
        job = await run_in_threadpool(handlers.retrain, replica, asked, who)
        return Response(handlers.write_job(job), 202, media_type=JSON)

    async def job(self, request: Request, model: Model, job: Job) -> Response:
        """Return how far a background job is."""
        self.guard.admit(request, "read", model)
        replica = self.service.replica(model)
        found = await run_in_threadpool(replica.job, job)
        if found.model != model:
            raise UnknownJob(job)
        return Response(handlers.write_job(found), media_type=JSON)

    async def upload(self, request: Request, model: NewModel) -> Response:
        """Put a model folder, as a tar archive, in the place of a model, or as new."""
        who = self.guard.admit(request, "admin", model)
        check_name(model)
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != TAR:
            raise NotTar(f"The content type must be {TAR}. Got {kind[:80]!r}.")
        with tempfile.TemporaryDirectory(prefix="manylabel-upload-") as folder:
            archive = File(folder, "model.tar")
            with archive.open("wb") as file:
                async for part in request.stream():
                    await run_in_threadpool(file.write, part)
            await run_in_threadpool(uploads.install, archive, self.folder, model, who)
        return Response(status_code=204)

    async def events(self, request: Request, model: Model) -> Response:
        """Stream what is learnt: the applied sequence and the running costs."""
        self.guard.admit(request, "read", model)
        replica = self.service.replica(model)
        if self.n_streams >= self.limits.streams:
            raise Busy(
                f"At most {self.limits.streams} streams of events are kept open."
            )
        request.scope[DEADLINE].reschedule(None)  # a stream has no end
        return StreamingResponse(self._stream(replica), media_type=STREAM)

    async def _stream(self, replica: Replica) -> AsyncIterator[bytes]:
        self.n_streams += 1
        news = replica.subscribe()
        try:
            figures = await run_in_threadpool(replica.figures)
            told = Update(replica.applied, figures["costs"])
            yield handlers.write_update(told)
            silence = 0.0
            while not (self.life.is_stopping or news.is_closed):
                update = news.get(timeout=0)
                if update is not None and update != told:
                    yield handlers.write_update(update)
                    told, silence = update, 0.0
                elif silence >= SILENCE:
                    yield b": still here\n\n"
                    silence = 0.0
                elif update is None:
                    await asyncio.sleep(LOOK)
                    silence += LOOK
        finally:
            news.close()
            self.n_streams -= 1
