"""Adds the command line to a wheel, where ``python/build`` has put the command line beside the sources.

A checkout has no directory ``java``: what is installed from there runs ``bin/zrecord`` of the checkout.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BundledCommandLine(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the jar into the package, and the list of what is in the jar beside the licenses."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        java = Path(self.root, "java")
        if version == "editable" or not java.is_dir():
            return
        for file in ("zrecord.jar", "zrecord.jar.sha256"):
            build_data["force_include"][str(java / file)] = f"zrecord/java/{file}"
        build_data["sbom_files"].append("java/zrecord.cdx.json")
