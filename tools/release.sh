#!/usr/bin/env bash
# Check everything that a release needs and build it; with --go, also tag it. Nothing is uploaded: that is the last step by hand.
# Usage: tools/release.sh VERSION [--go]
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?usage: tools/release.sh VERSION [--go]}
go=${2:-}
stop() { echo "not released: $1" >&2; exit 1; }

[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+((a|b|rc)[0-9]+)?$ ]] || stop "$version is no version; write it as 0.2.0 or 0.2.0rc1"
[ -z "$go" ] || [ "$go" = --go ] || stop "$go is unknown; the only option is --go"
[ -z "$(git status --porcelain)" ] || stop "the tree is not clean; commit or stash first"
said=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' src/turnloom/__init__.py)
[ "$said" = "$version" ] || stop "src/turnloom/__init__.py says $said; set __version__ to $version and commit"
git rev-parse -q --verify "refs/tags/v$version" >/dev/null && stop "the tag v$version exists already"
section=$(awk -v head="## [$version]" 'index($0, head) == 1 {on = 1; next} /^## \[/ {on = 0} on' CHANGELOG.md)
[ -n "${section//[[:space:]]/}" ] || stop "CHANGELOG.md has no section '## [$version]' with something in it"

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
python3 -m pip --version >/dev/null || stop "pip is missing"
# From a clean export, so that nothing which is not committed can slip in.
git archive HEAD | (mkdir "$out/source" && tar -x -C "$out/source")
if python3 -c 'import build' 2>/dev/null; then
  python3 -m build --outdir "$out/dist" "$out/source" >/dev/null
else
  python3 -m pip wheel -q --no-deps --wheel-dir "$out/dist" "$out/source"
  (cd "$out/source" && python3 -c "import hatchling.build as b; b.build_sdist('$out/dist')" >/dev/null) ||
    stop "the sdist needs hatchling: pip install build"
fi
python3 -m tools.check_dist "$out/dist" "$version"
python3 -m tools.licences --check || stop "a dependency has a licence that is not accepted"
# What an installation with all extras contains, beside the files of the release.
python3 -m tools.sbom "$out/dist/turnloom-$version.cdx.json" || stop "there is no bill of materials"

if [ "$go" = --go ]; then
  mkdir -p dist && cp "$out"/dist/* dist/
  git tag -a "v$version" -m "Turnloom $version"
  echo "tagged v$version; the files are in dist/. Next: git push --tags, and upload dist/*"
else
  echo "ready: nothing was tagged. Next: tools/release.sh $version --go"
fi
