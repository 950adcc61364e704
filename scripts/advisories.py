#!/usr/bin/env python3
"""What RustSec knows against the crates of a Cargo.lock: advisories.py DATABASE Cargo.lock

DATABASE is a clone of github.com/rustsec/advisory-db, with or without a work tree. For machines that can't install cargo-deny or
fetch the database; needs Python 3.11 alone. Exits 1 when a locked version is vulnerable, unsound or unmaintained."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path


def advisories(database):
    crates = Path(database) / "crates"
    if crates.is_dir():
        for path in sorted(crates.glob("*/*.md")):
            yield path.parent.name, path.stem, path.read_text(encoding="utf-8")
        return
    git = ["git", "-C", database]
    names = subprocess.run([*git, "ls-tree", "-r", "--name-only", "HEAD", "crates"], capture_output=True, text=True, check=True)
    names = [name for name in names.stdout.split() if name.endswith(".md")]
    asked = "\n".join(f"HEAD:{name}" for name in names).encode()
    answer = subprocess.run([*git, "cat-file", "--batch"], input=asked, capture_output=True, check=True).stdout
    at = 0
    for name in names:
        end = answer.index(b"\n", at)
        size = int(answer[at:end].split()[-1])
        yield name.split("/")[1], name.split("/")[2][:-3], answer[end + 1 : end + 1 + size].decode()
        at = end + size + 2


def numbers(version):
    plain = re.split(r"[-+]", version)[0].split(".")
    return tuple(int(part) for part in [*plain, "0", "0"][:3])


def fits(version, requirement):
    """Whether a version meets a requirement of Cargo's, as the advisories write them."""
    for part in requirement.split(","):
        operator, bound = re.fullmatch(r"\s*(>=|<=|>|<|=|\^|~)?\s*([\w.+-]+)\s*", part).groups()
        have, want = numbers(version), numbers(bound)
        major, minor, patch = want
        above = (major, minor + 1, 0) if operator == "~" else (major + 1, 0, 0) if major else (0, minor + 1, 0) if minor else (0, 0, patch + 1)
        met = {
            ">=": have >= want, "<=": have <= want, ">": have > want, "<": have < want, "=": have == want,
        }.get(operator, want <= have < above)
        if not met:
            return False
    return True


def main(database, lock):
    locked = {}
    for package in tomllib.loads(Path(lock).read_text(encoding="utf-8"))["package"]:
        locked.setdefault(package["name"], []).append(package["version"])
    looked, found = 0, []
    for crate, name, text in advisories(database):
        looked += 1
        if crate not in locked:
            continue
        advisory = tomllib.loads(re.search(r"```toml\n(.*?)```", text, re.S).group(1))
        if advisory["advisory"].get("withdrawn"):
            continue
        versions = advisory.get("versions", {})
        fine = versions.get("patched", []) + versions.get("unaffected", [])
        title = next((line[2:] for line in text.splitlines() if line.startswith("# ")), "")
        for version in locked[crate]:
            if not any(fits(version, requirement) for requirement in fine):
                found.append(f"{name} {crate} {version}: {title}")
    print(f"{len(locked)} crates against {looked} advisories: {len(found)} found")
    for line in found:
        print(f"  {line}")
    return 1 if found or not looked else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
