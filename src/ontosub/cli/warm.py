"""`ontosub warm`: the kernels of the index, compiled before anybody waits for them."""

from __future__ import annotations

from ontosub.cli.faults import reported, say
from ontosub.matching.kernel_cache import KERNELS
from ontosub.model import Diagnostic, Severity

_COMPILING = Diagnostic("compiling the matching kernels, once for this machine …", Severity.NOTE)


def command() -> None:
    """Compile the kernels of the index, unless this machine has them.

    It takes a minute or two, once for each version. Commands that need them would compile them, too; `ontosub run`
    answers more slowly meanwhile.

    \b
    Examples:
      ontosub warm && ontosub run pipeline.toml
    """
    with reported():
        if not KERNELS.is_ready():
            say(_COMPILING)
            KERNELS.fill()


def request_kernels() -> None:
    """Have another process compile the kernels, and say so, unless this machine has them."""
    if not KERNELS.is_ready():
        say(_COMPILING)
        KERNELS.request()
