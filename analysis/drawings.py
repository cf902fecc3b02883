"""Drawing beside the process that writes the page: drawings are most of a report's time, and none needs another."""

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor

from . import plots

MOST = 8  # processes


def cores():
    """How many this process may use."""
    return len(os.sched_getaffinity(0))


class Drawings:
    """Draws plots, in `workers` processes beside this one (None: one a core), or at once where that is one. The same
    drawings either way."""

    def __init__(self, workers=None):
        self._workers = min(MOST, workers or cores())
        self._processes = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self._processes is not None:
            self._processes.shutdown(cancel_futures=True)

    def draw(self, plot):
        """What returns plots.draw(plot) when called, or raises what that raised."""
        if self._workers > 1:
            try:
                return self._submit(plot)
            except OSError:  # no process, or no semaphore: /dev/shm is missing or full
                self._workers = 1
                for process in multiprocessing.active_children():
                    process.terminate()
                    process.join()
        drawn = plots.draw(plot)
        return lambda: drawn

    def _submit(self, plot):
        if self._processes is None:
            # forked, not started anew: importing matplotlib takes as long as a dozen drawings
            self._processes = ProcessPoolExecutor(
                self._workers, mp_context=multiprocessing.get_context("fork"), initializer=_begin
            )
        return self._processes.submit(plots.draw, plot).result


def _begin():
    """In a worker: Ctrl-C is for the process that waits for the drawings; where that one ends, the worker does too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent():
    multiprocessing.parent_process().join()
    os._exit(1)
