"""The command line's front door: what went wrong becomes one line on stderr and an exit code.

0 done, and for `lookup` a hit; 1 a miss; 2 an error; 3 a bypass; 130 stopped by the user.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence

from semcache import __version__
from semcache.errors import SemcacheError

__all__ = ["__version__", "main"]

ERROR = 2
STOPPED = 130

_log = logging.getLogger("semcache")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    # On a busy machine threads that spin while they wait make embedding ten times slower. Read by
    # OpenMP when torch is loaded, so it has to be set this early.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        import click

        from semcache.cli.commands import cli
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in ("click", "rich"):
            raise
        return _fail(
            f"{missing} is not installed. Install it with: pip install click rich openpyxl"
        )
    try:
        code = cli.main(argv, prog_name="semcache", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except SemcacheError as error:
        return _fail(str(error))
    except click.ClickException as error:
        return _fail(f"{error.format_message()} See semcache --help.")
    except (click.Abort, KeyboardInterrupt):
        _fail("stopped; what was done so far is kept")
        return STOPPED
    except (BrokenPipeError, SystemExit):
        # Whoever read our output has seen enough, which click and rich call SystemExit. Nothing
        # more can be written, at exit neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        _log.debug("semcache: the command failed", exc_info=True)
        return _fail(f"{type(error).__name__}: {error} (-v before the command shows where)")


def _fail(message: str) -> int:
    sys.stderr.write(f"semcache: {' '.join(message.split())}\n")
    return ERROR
