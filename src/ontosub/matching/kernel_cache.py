"""The compiled kernels of this machine: whether they are all there, and how they come to be.

Numba keeps what it has compiled beside the package, in NUMBA_CACHE_DIR, or in the user's cache. To compile everything
takes a minute or two, so one process does it for all: it holds a lock, goes through a rehearsal that calls every
kernel, and leaves a note. The name of the note is a digest of the sources, the libraries and the processor. A process
that is killed leaves what it has compiled, and the next one goes on from there.

Numba itself looks only at the file that a kernel is in, though kernels call into other files; so what was compiled from
other sources is thrown away as a whole.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from pkgutil import walk_packages
from threading import Lock, Thread
from typing import Any

_PACKAGE = "ontosub.matching.compiled"
_SOURCES = Path(__file__).parent / "compiled"
_OF_SOURCES = "kernels.sha256"
"""The note that says which sources all cached kernels are of."""

_NICENESS = 19
"""How far the process that compiles stands back behind those that have work to do."""


class KernelCache:
    """What Numba keeps of our kernels, with a lock and notes beside it; in `folder`, if that is given.

    `rehearse` calls every kernel; the one that does so is imported when it is needed.
    """

    def __init__(self, folder: Path | None = None, rehearse: Callable[[], None] | None = None) -> None:
        self._given = folder
        self._rehearse = rehearse
        self._process: subprocess.Popen[bytes] | None = None
        self._requesting = Lock()
        self._is_ready = False

    def is_ready(self) -> bool:
        """Say whether all kernels are compiled, by whomever. It costs a look at one file, and nothing once it is so."""
        self._is_ready = self._is_ready or self._ready.exists()
        return self._is_ready

    def has_failed(self) -> bool:
        """Say whether a process that was to compile them is over, and they are not there: waiting is of no use."""
        return self._process is not None and self._process.poll() is not None and not self.is_ready()

    def request(self) -> None:
        """See to it that some process compiles them, unless they are there or that has failed; return at once.

        A process that is started for it has a low priority, and ends with this one at the latest.
        """
        with self._requesting:
            if self._process is None and not self.is_ready() and not self._is_locked():
                self._process = subprocess.Popen(  # noqa: S603 - our own program
                    [sys.executable, "-c", f"from {__name__} import follow; follow({self._told!r})"],
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    # Ctrl-C is for who works, and ends this one only with it. It stays in the session: a session of its
                    # own would have the same share of the processors as all who work together, whatever its niceness.
                    process_group=0,
                )

    def close(self) -> None:
        """End the process that was started for a request, if it is not done yet."""
        with self._requesting:
            if self._process is not None:
                self._process.communicate()
                self._process = None

    def fill(self) -> None:
        """Compile all that are not there, or wait until the process that is at it has done so."""
        if self.is_ready():
            return
        with self._locked():
            if not self._ready.exists():
                self.discard_stale()
                (self._rehearse or import_module(f"{_PACKAGE}.rehearsal").rehearse)()
                self._ready.touch()

    def discard_stale(self) -> None:
        """Throw away what was compiled from other sources."""
        note, sources = self._folder / _OF_SOURCES, sources_digest()
        if note.exists() and note.read_text() == sources:
            return
        for folder in numba_folders() if self._given is None else {self._given}:
            for stale in (*folder.glob("*.nb[ci]"), *folder.glob("kernels-*.ready")):
                stale.unlink(missing_ok=True)
        note.write_text(sources)

    @cached_property
    def _folder(self) -> Path:
        folder = min(numba_folders()) if self._given is None else self._given
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def _told(self) -> str | None:
        return None if self._given is None else str(self._given)

    @cached_property
    def _ready(self) -> Path:
        return self._folder / f"kernels-{_digest()}.ready"

    def _is_locked(self) -> bool:
        try:
            with self._locked(fcntl.LOCK_NB):
                return False
        except BlockingIOError:
            return True

    @contextmanager
    def _locked(self, how: int = 0) -> Iterator[None]:
        descriptor = os.open(self._folder / "kernels.lock", os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | how)
            yield
            # Explicitly, because a forked child would go on holding what was only closed here.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        finally:
            os.close(descriptor)


KERNELS = KernelCache()
"""The cache of this machine."""


def follow(folder: str | None) -> None:
    """Fill a cache on behalf of the process at the other end of standard input, and end when that one does."""
    os.nice(_NICENESS)
    Thread(target=_end_with, args=(sys.stdin.fileno(),), daemon=True).start()
    KernelCache(None if folder is None else Path(folder)).fill()


def _end_with(descriptor: int) -> None:
    os.read(descriptor, 1)
    os._exit(1)


def kernels() -> list[Any]:
    """Return all kernels that are kept in files, after importing what they are in."""
    modules = [import_module(each.name) for each in walk_packages([str(_SOURCES)], f"{_PACKAGE}.")]
    found = [value for module in modules for value in vars(module).values() if hasattr(value, "py_func")]
    return [kernel for kernel in dict.fromkeys(found) if kernel.stats.cache_path is not None]


def numba_folders() -> set[Path]:
    """Return where Numba keeps our kernels."""
    return {Path(kernel.stats.cache_path) for kernel in kernels()}


def sources_digest() -> str:
    """Return a digest of the sources of all kernels."""
    digest = sha256()
    for source in sorted(_SOURCES.rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _digest() -> str:
    """Return a digest of all that kernels are compiled from and for."""
    import llvmlite.binding as llvm

    told = [sources_digest(), sys.version, *(version(each) for each in ("numba", "llvmlite", "numpy"))]
    told += [llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()]
    return sha256("\n".join(told).encode()).hexdigest()[:32]
