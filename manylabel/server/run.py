"""Running a service: in this process, or by several."""

from collections.abc import Callable

from manylabel.exceptions import MissingExtra
from manylabel.server.log import open_log
from manylabel.server.plan import Plan
from manylabel.server.security import make_private
from manylabel.server.workers import supervise

try:
    from manylabel.server.worker import serve
except ModuleNotFoundError as error:
    if error.name is not None and error.name.startswith("manylabel"):
        raise
    raise MissingExtra("The service", error.name or "fastapi", "serve") from error


def run(plan: Plan, tell: Callable[[str], None]) -> None:
    """Serve what a plan says, until a signal comes.

    Parameters
    ----------
    plan : Plan
        What to serve, where, by how many.
    tell : callable
        Is told what people should know.
    """
    plan.check()
    make_private(plan.folder)
    open_log(plan.log_url).close()  # what is wrong with it is said before all else
    with plan.listen() as listener:
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        tell(f"Serving {plan.models} at http://{shown}:{port}/ (Ctrl-C ends it).")
        if plan.n_workers == 1:
            serve(plan, listener, tell=tell)
        else:
            supervise(plan, listener, tell)
    tell("Ended; all that was acknowledged is in the log.")
