"""The command line that a wheel has: a jar, and how Java runs it."""

from __future__ import annotations

import os
from pathlib import Path

from zrecord import _archive, _java

JAR = Path(__file__).resolve().parent / "java" / "zrecord.jar"
_MAIN = "io.zrecord.cli.Zrecord"
# The first Java that warns of native libraries that nobody has allowed: those of the codecs.
_WARNS_OF_NATIVE_LIBRARIES = 22


def is_present() -> bool:
    """Tells whether this package was built with the jar."""
    return JAR.is_file()


def command(terminal: bool) -> list[str]:
    """Returns the words that start the command line of the jar, as ``bin/zrecord`` does for a checkout.

    With ``terminal``, the standard error of the command is a terminal, where it may show its progress. Uses an
    archive of the classes if there is one, and begins to make one otherwise. Raises ``LauncherError`` without Java.
    """
    java = _java.find()
    # The standard output is for what commands print: a warning of the virtual machine would damage a stream.
    options = ["-Dfile.encoding=UTF-8", "-XX:+DisplayVMOutputToStderr", "-Xlog:disable", "-Xlog:all=warning:stderr"]
    if java.version >= _WARNS_OF_NATIVE_LIBRARIES:
        options.append("--enable-native-access=ALL-UNNAMED")
    own = os.environ.get("ZRECORD_JAVA_OPTIONS", "").split()
    more = os.environ.get("ZRECORD_CLASS_PATH")
    main = ["-cp", f"{JAR}{os.pathsep}{more}" if more else str(JAR), _MAIN]
    options += _archive.options(java, JAR, [str(java.executable), *options, *main])
    return [str(java.executable), *options, *(["-Dzrecord.terminal=true"] if terminal else []), *own, *main]
