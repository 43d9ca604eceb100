#!/bin/bash
set -e
# shellcheck source=/dev/null
source "/opt/ros/${ROS_DISTRO}/setup.bash"
# shellcheck source=/dev/null
source /opt/arm/local_setup.bash
exec "$@"
