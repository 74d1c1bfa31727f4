"""Write what an installation with all extras contains, as a CycloneDX bill of materials.

Usage: python -m tools.sbom FILE
"""

from __future__ import annotations

import sys
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from tools.licences import TOOLS, brought_along, licence, normal, requirements_of
from tools.requirements import wanted
from turnloom import __version__


def _component(name: str, version: str, said: str, kind: ComponentType) -> Component:
    url = PackageURL("pypi", name=name, version=version)
    page = ExternalReference(
        type=ExternalReferenceType.DISTRIBUTION, url=XsUri(f"https://pypi.org/project/{name}/{version}/")
    )
    return Component(
        name=name,
        version=version,
        type=kind,
        purl=url,
        bom_ref=str(url),
        licenses=[LicenseFactory().make_from_string(said)],
        external_references=[page],
    )


def bill_of_materials() -> Bom:
    """Describe Turnloom and everything that it and its extras bring along, with the versions installed here.

    Raises:
        SystemExit: If a direct dependency is not installed here: the bill would be incomplete.
    """
    rows = [row for row in wanted() if row.extra not in TOOLS]
    direct = sorted({normal(row.name) for row in rows})
    packages = brought_along(row.wish for row in rows)
    if missing := [name for name in direct if name not in packages]:
        extras = ",".join(sorted({row.extra for row in rows if row.extra}))
        sys.exit(f"not installed here: {', '.join(missing)}. Fix: pip install '.[{extras}]'")
    bom = Bom()
    own = _component("turnloom", __version__, "Apache-2.0", ComponentType.APPLICATION)
    bom.metadata.component = own
    parts = {
        name: _component(name, package.version, licence(package), ComponentType.LIBRARY)
        for name, package in packages.items()
    }
    for part in parts.values():
        bom.components.add(part)
    bom.register_dependency(own, [parts[name] for name in direct])
    for name, package in packages.items():
        needs = {
            normal(need.name)
            for need in requirements_of(package, ["", *(package.metadata.get_all("Provides-Extra") or [])])
        }
        bom.register_dependency(parts[name], [parts[need] for need in sorted(needs) if need in parts])
    return bom


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        sys.exit("usage: python -m tools.sbom FILE")
    bom = bill_of_materials()
    text = JsonV1Dot6(bom).output_as_string(indent=2)
    if problem := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        sys.exit(f"the bill of materials is not valid CycloneDX: {problem}")
    Path(arguments[0]).write_text(text + "\n", encoding="utf-8")
    print(f"{arguments[0]}: {len(bom.components)} packages")


if __name__ == "__main__":
    main(sys.argv[1:])
