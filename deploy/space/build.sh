#!/usr/bin/env bash
# Write a folder that can be pushed as a Hugging Face Space (Docker): the studio with the chats of a made-up tea shop.
# Usage: deploy/space/build.sh FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=${1:?usage: deploy/space/build.sh FOLDER}
mkdir -p "$folder/wheels"
cp "$here"/{README.md,Dockerfile,requirements.txt,app.py,make_studio.sh} "$root/examples/shop.py" "$folder/"
python3 -m pip wheel -q --no-deps --wheel-dir "$folder/wheels" "$root" "$root/models/turnloom-mini"
# The Hub keeps large files with git-lfs.
echo '*.whl filter=lfs diff=lfs merge=lfs -text' >"$folder/.gitattributes"
echo "written: $folder. Next: git init, add the Space as a remote, commit, push"
