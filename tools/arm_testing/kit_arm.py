# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Robot files of no shipped robot: two servos on one joint and a crank; dependent limits."""

KIT = """\
name: kit_arm
convention: standard
units: {length: mm, angle: deg}
joints:
  - {name: waist, type: revolute, d: 90, a: 0, alpha: 90,
     limits: {lower: -90, upper: 90, velocity: 100}}
  - {name: shoulder, type: revolute, d: 0, a: 105, alpha: 0,
     limits: {lower: 0, upper: 120, velocity: 100}}
  - {name: elbow, type: revolute, d: 0, a: 90, alpha: 0,
     limits: {lower: -140, upper: -20, velocity: 100}}
transmissions:
  - {type: several, joint: shoulder, actuators: [left, right], mirrored: [false, true],
     allowed_difference: 3}
  - {type: crank, joint: elbow, against: shoulder, ground: 105, crank: 30, rod: 105, rocker: 31,
     rocker_angle: 180, crank_angle: 180}
postures: {rest: {waist: 0, shoulder: 60, elbow: -90}}
"""

# The limits of a joint depend on another one, and a third follows both.
LINKAGE = """\
name: linkage
convention: modified
units: {length: mm, angle: deg}
joints:
  - {name: waist, type: revolute, d: 92, a: 0, alpha: 0, limits: {lower: -90, upper: 90}}
  - {name: shoulder, type: revolute, d: 0, a: 0, alpha: 90, limits: {lower: 39, upper: 120}}
  - {name: elbow, type: revolute, d: 0, a: 135, alpha: 0,
     limits: {lower: -0.6755*shoulder - 70.768, upper: -0.7165*shoulder - 13.144}}
  - {name: level, type: revolute, theta: -(shoulder + elbow), d: 0, a: 147, alpha: 0}
tool: {xyz: [87, 0, 0]}
"""
