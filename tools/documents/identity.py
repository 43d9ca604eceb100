# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Version, maintainer and addresses of the packages, from one file: identity.yaml.

`python3 tools/documents/identity.py --release` refuses placeholders.
"""

import re
import sys
from pathlib import Path

import yaml

FILE = Path(__file__).with_suffix(".yaml")
REPOSITORY = FILE.parents[2]
PLACEHOLDER = "example.org"
URLS = ("website", "repository", "bugtracker")


def identity(file: Path = FILE) -> dict[str, str]:
    """Return version, maintainer and addresses."""
    values = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {name: str(value) for name, value in values.items()}


def manifest(text: str, values: dict[str, str]) -> str:
    """Return the text of a package.xml with this identity."""
    author = f'  <maintainer email="{values["email"]}">{values["maintainer"]}</maintainer>'
    urls = "".join(f'\n  <url type="{kind}">{values[kind]}</url>' for kind in URLS)
    text = re.sub(r"<version>.*</version>", f"<version>{values['version']}</version>", text)
    text = re.sub(r"  <maintainer .*</maintainer>", author, text)
    text = re.sub(r"\n  <url .*</url>", "", text)
    return re.sub(r"(<license>.*</license>)", rf"\1{urls}", text)


def setup(text: str, values: dict[str, str]) -> str:
    """Return the text of a setup.py with this identity."""
    fields = {
        "version": values["version"],
        "maintainer": values["maintainer"],
        "maintainer_email": values["email"],
        "url": values["website"],
    }
    for name, value in fields.items():
        text = re.sub(rf'^    {name}="[^"]*"', f'    {name}="{value}"', text, flags=re.MULTILINE)
    return text


def identified_files() -> dict[Path, str]:
    """Return the text of each package.xml and setup.py by its path."""
    values = identity()
    made = {}
    for kind, rewrite in (("package.xml", manifest), ("setup.py", setup)):
        for file in sorted((REPOSITORY / "src").glob(f"*/{kind}")):
            made[file] = rewrite(file.read_text(encoding="utf-8"), values)
    return made


def placeholders(values: dict[str, str]) -> list[str]:
    """Return the names of the values that are placeholders."""
    return [name for name, value in values.items() if PLACEHOLDER in value]


def main() -> str:
    """Return why this cannot be released, or ""."""
    unset = placeholders(identity())
    if "--release" in sys.argv and unset:
        return f"{FILE.name}: {', '.join(unset)} name {PLACEHOLDER}; put in the real addresses"
    return ""


if __name__ == "__main__":
    sys.exit(main())
