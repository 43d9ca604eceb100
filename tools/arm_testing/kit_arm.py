# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A robot file with two servos on one joint and a crank, of no shipped robot."""

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
