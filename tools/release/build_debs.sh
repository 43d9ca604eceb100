#!/bin/sh
# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Builds and installs a Debian package of each package, in the order of their dependencies, as the
# build farm of ROS does: tools/release/build_debs.sh FOLDER, as root where ROS 2 is sourced.
set -eu
mkdir -p "$1/rosdep"
folder=$(realpath "$1")
# shellcheck source=/dev/null
. /etc/os-release

# rosdep knows the packages of ROS, but not these, which are not in its index.
export ROSDEP_SOURCE_PATH="$folder/rosdep"
cp "${ROSDEP_DEFAULT:-/etc/ros/rosdep/sources.list.d/20-default.list}" "$folder/rosdep/"
echo "yaml file://$folder/rosdep/arm.yaml" > "$folder/rosdep/10-arm.list"
packages=$(colcon list --base-paths src --names-only --topological-order)
for package in $packages; do
  echo "$package: {ubuntu: [ros-$ROS_DISTRO-$(echo "$package" | tr _ -)]}"
done > "$folder/rosdep/arm.yaml"
rosdep update --rosdistro "$ROS_DISTRO"

export DEB_BUILD_OPTIONS=nocheck DEB_BUILD_PROFILES=nocheck # colcon test runs the tests
for package in $packages; do
  cp -r "src/$package" "$folder/"
  (
    cd "$folder/$package"
    bloom-generate rosdebian --ros-distro "$ROS_DISTRO" --os-name ubuntu --os-version "$UBUNTU_CODENAME"
    apt-get build-dep -y .
    dpkg-buildpackage -b -us -uc
  )
  apt-get install -y "$folder/ros-$ROS_DISTRO-$(echo "$package" | tr _ -)"_*.deb
done
