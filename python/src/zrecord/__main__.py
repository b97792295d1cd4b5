"""Runs the command line: ``python -m zrecord``, and the script ``zrecord`` of an installed package."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from zrecord import _launcher
from zrecord.errors import LauncherError

#: Of docs/reference/exit-codes.md: neither damage nor a wrong call.
_FAILED = 3


def main() -> int:
    """Runs the command line with the arguments of this process, and returns its exit code.

    Where a process can become another one this one does, so that signals reach the command line.
    """
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    words: list[str] = []
    try:
        words = [*_launcher.command(terminal=is_terminal), *sys.argv[1:]]
        if os.name == "posix":
            os.execvpe(words[0], words, _launcher.environment())
        # An interrupt at the terminal reaches the command line as well, which ends by it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return subprocess.run(words, env=_launcher.environment()).returncode
    except LauncherError as e:
        message = str(e)
    except OSError as e:
        message = f"Cannot run {words[0] if words else 'zrecord'}: {e.strerror}; see JAVA_HOME, ZRECORD_HOME and ZRECORD_COMMAND"
    print(f"zrecord: {message}", file=sys.stderr)
    return _FAILED


if __name__ == "__main__":
    sys.exit(main())
