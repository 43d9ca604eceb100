# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Draw docs/images/wiring.svg: a Raspberry Pi, a PCA9685, the servos of nut_arm, their supply.

    ./arm exec python3 docs/figures/make_wiring.py

Which servo is on which channel stands in the shipped calibration. Pins: Raspberry Pi's 40-pin
header (documentation of Raspberry Pi, "GPIO and the 40-pin header"); the order of the board's pins
is that of Adafruit's board 815, others differ, their labels do not.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
CALIBRATION = REPOSITORY / "src/arm_hardware/config/nut_arm_servos.yaml"
TARGET = REPOSITORY / "docs/images/wiring.svg"

V33, SDA, SCL, GROUND, POWER, OFF = (
    "#e8590c",
    "#1971c2",
    "#2f9e44",
    "#343a40",
    "#c92a2a",
    "#862e9c",
)
PI, BOARD, INK, PALE = "#d3f0dd", "#d0e6fb", "#1f2933", "#5f6b76"
PIN_1 = (
    100.0,
    118.0,
)  # of the Pi's header, on the page; the odd pins to its right, the even above
PITCH = 22.0
PINS = {1: ("3.3 V", V33), 3: ("SDA", SDA), 5: ("SCL", SCL), 9: ("ground", GROUND)}
EDGE = 430.0  # the board's left side, with its pins from top to bottom
BOARD_PINS = {"GND": 472.0, "OE": 500.0, "SCL": 528.0, "SDA": 556.0, "VCC": 584.0, "V+": 612.0}
WIRES = {1: "VCC", 3: "SDA", 5: "SCL", 9: "GND"}
CHANNEL_0, CHANNEL_STEP, BOTTOM = 490.0, 34.0, 650.0
SERVO_0, SERVO_STEP, SERVO_TOP = 452.0, 138.0, 752.0


def channels() -> dict[str, int]:
    """Return joint name -> channel of the shipped calibration, the gripper last."""
    calibration = yaml.safe_load(CALIBRATION.read_text(encoding="utf-8"))
    joints = {name: servo["channel"] for name, servo in calibration["joints"].items()}
    return joints | {"gripper": calibration["gripper"]["channel"]}


def text(x: float, y: float, words: str, size: int = 15, **style: str) -> str:
    """Return a line of text; style: anchor, fill, weight."""
    anchor, fill = style.get("anchor", "start"), style.get("fill", INK)
    weight = style.get("weight", "400")
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{fill}" '
        f'font-weight="{weight}">{escape(words)}</text>'
    )


def box(x: float, y: float, w: float, h: float, fill: str, radius: float = 12) -> str:
    """Return a rounded box."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{radius:g}" fill="{fill}" '
        f'stroke="{INK}" stroke-width="1.5"/>'
    )


def wire(path: str, colour: str, width: float = 4.0, dashes: str = "") -> str:
    """Return a wire with a white rim, so that it stands out from what it crosses."""
    rim = f'<path d="{path}" fill="none" stroke="white" stroke-width="{width + 3:g}"/>'
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    line = f'stroke="{colour}" stroke-width="{width:g}" stroke-linejoin="round"{dashed}'
    return f'{rim}<path d="{path}" fill="none" {line}/>'


def dot(x: float, y: float, fill: str, radius: float = 6.5) -> str:
    """Return a pin or a joint of wires."""
    return (
        f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}" stroke="{INK}" '
        f'stroke-width="1.2"/>'
    )


def pin_place(pin: int) -> tuple[float, float]:
    """Return where a pin of the Pi's header is."""
    return PIN_1[0] + PITCH * ((pin - 1) // 2), PIN_1[1] - PITCH * ((pin - 1) % 2)


def computer() -> list[str]:
    """The Pi with its header."""
    parts = [box(60, 60, 520, 310, PI, 18)]
    parts += [dot(x, y, "#b8c4bd", 9) for x in (80, 560) for y in (80, 350)]
    parts.append(box(PIN_1[0] - 15, PIN_1[1] - 37, 20 * PITCH + 8, 2 * PITCH + 8, "#3b4750", 4))
    for pin in range(1, 41):
        parts.append(dot(*pin_place(pin), PINS[pin][1] if pin in PINS else "#dfe5e8"))
    parts.append(box(330, 190, 110, 110, "#f1f3f5", 6))
    parts.append(text(385, 250, "Pi 4 or 5", 15, anchor="middle", fill=PALE))
    parts += [box(540, y, 62, 56, "#e9ecef", 4) for y in (150, 222, 294)]
    parts.append(text(330, 347, "Raspberry Pi", 22, anchor="middle", weight="600"))
    for pin, words in ((2, "2"), (40, "40")):
        x, y = pin_place(pin)
        parts.append(text(x, y - 24, words, 13, anchor="middle", fill=PALE))
    x, y = pin_place(3)
    parts.append(text(x - 8, y - 72, "2 and 4 are 5 V: not for servos", 14, fill=POWER))
    return parts


def bus() -> list[str]:
    """The four wires between the Pi and the board."""
    parts = []
    for pin, (words, colour) in PINS.items():
        (x, y), turn = pin_place(pin), BOARD_PINS[WIRES[pin]]
        parts.append(wire(f"M{x:g} {y:g} V{turn:g} H{EDGE:g}", colour))
        parts.append(dot(x, y, colour))
        parts.append(text(x + PITCH * 4.5 - (x - PIN_1[0]) + 10, turn - 7, words, 14, fill=colour))
        label = f"pin {pin}"
        parts.append(text(EDGE - 92, turn - 7, label, 14, fill=colour))
    return parts


def board() -> list[str]:
    """The PCA9685 board: pins on its left, terminals above, channels below."""
    parts = [box(EDGE - 18, 440, 640, 210, BOARD)]
    parts.append(text(770, 560, "PCA9685, address 0x40", 22, anchor="middle", weight="600"))
    for name, y in BOARD_PINS.items():
        parts.append(dot(EDGE, y, "#ffd43b"))
        parts.append(text(EDGE + 14, y + 5, name, 15, weight="600"))
    parts.append(
        f'<path d="M{EDGE + 58:g} {BOARD_PINS["GND"] - 0:g} H838 V452" fill="none" '
        f'stroke="{GROUND}" stroke-width="2" stroke-dasharray="2 5"/>'
    )
    parts.append(text(660, 492, "grounds are joined on the board", 14, anchor="middle", fill=PALE))
    parts.append(box(764, 424, 96, 34, "#7bc96f", 4))
    parts += [dot(790, 441, POWER, 9), dot(838, 441, GROUND, 9)]
    parts.append(text(750, 428, "V+", 15, anchor="end", weight="600"))
    parts.append(text(872, 428, "GND", 15, weight="600"))
    for channel in range(16):
        x = CHANNEL_0 + CHANNEL_STEP * channel
        for k, colour in enumerate(("#ffd43b", POWER, GROUND)):
            parts.append(
                f'<rect x="{x - 5:g}" y="{608 + 13 * k}" width="10" height="10" fill="{colour}"/>'
            )
        parts.append(text(x, 600, str(channel), 13, anchor="middle", fill=PALE))
    return parts


def supply() -> list[str]:
    """The servos' own supply, its fuse and its switch."""
    parts = [box(720, 70, 300, 120, "#fff3bf")]
    parts.append(text(870, 106, "Supply of the servos", 20, anchor="middle", weight="600"))
    parts.append(text(870, 134, "volts: as the servos' data sheet says", 15, anchor="middle"))
    parts.append(text(870, 156, "amperes: all of them stalled", 15, anchor="middle"))
    parts += [dot(790, 190, POWER, 9), dot(950, 190, GROUND, 9)]
    parts += [text(768, 184, "+", 20, weight="600"), text(966, 184, "\u2212", 20, weight="600")]
    parts.append(wire("M790 190 V250 M790 290 V330 M790 372 V441", POWER, 6))
    parts.append(wire("M950 190 V400 H838 V441", GROUND, 6))
    parts.append(box(778, 250, 24, 40, "white", 4))
    parts.append(f'<path d="M790 250 V290" stroke="{POWER}" stroke-width="2"/>')
    parts.append(text(764, 275, "fuse", 15, anchor="end"))
    parts += [dot(790, 330, POWER), dot(790, 372, POWER)]
    parts.append(
        f'<path d="M790 330 L818 366" stroke="{POWER}" stroke-width="6" stroke-linecap="round"/>'
    )
    parts.append(text(764, 350, "switch in reach,", 15, anchor="end"))
    parts.append(text(764, 369, "open while you wire", 15, anchor="end"))
    parts += [dot(790, 410, POWER, 5), dot(838, 410, GROUND, 5)]
    parts.append(
        f'<path d="M790 410 H809 M819 410 H838 M809 396 V424 M819 396 V424" fill="none" '
        f'stroke="{INK}" stroke-width="3"/>'
    )
    parts.append(text(1000, 300, "100 \u00b5F a servo,", 15))
    parts.append(text(1000, 319, "near the board,", 15))
    parts.append(text(1000, 338, "\u2212 to ground", 15))
    parts.append(f'<path d="M994 312 L830 396" stroke="{PALE}" stroke-width="1"/>')
    return parts


def servos() -> list[str]:
    """One servo a channel, its three wires as they lie in the plug."""
    parts = []
    for k, (name, channel) in enumerate(channels().items()):
        x, to = CHANNEL_0 + CHANNEL_STEP * channel, SERVO_0 + SERVO_STEP * k
        lean = 1.1 if to > x else -1.1  # keeps the three apart where they lie flat
        for side, colour in ((-7, "#f08c00"), (0, POWER), (7, GROUND)):
            start, end, high = x + side, to + side, 694 - lean * side
            path = f"M{start:g} 646 C{start:g} {high:g} {end:g} {high:g} {end:g} {SERVO_TOP:g}"
            parts.append(wire(path, colour, 3))
        parts.append(box(to - 42, SERVO_TOP, 84, 62, "#dee2e6", 8))
        parts.append(dot(to - 14, SERVO_TOP + 30, "white", 15))
        parts.append(box(to - 18, SERVO_TOP + 26, 52, 8, "white", 4))
        parts.append(text(to, SERVO_TOP + 84, name, 17, anchor="middle", weight="600"))
        parts.append(
            text(to, SERVO_TOP + 104, f"channel {channel}", 14, anchor="middle", fill=PALE)
        )
    return parts


def stop_button() -> list[str]:
    """What may be at OE, as an inset."""
    parts = [box(60, 660, 310, 206, "#f8f0fc")]
    parts.append(text(78, 690, "OE: leave it open, or a button", 17, weight="600", fill=OFF))
    parts.append(wire("M118 740 H142 M202 740 H316", OFF, 3))
    parts.append(box(142, 730, 60, 20, "white", 3))
    parts.append(text(172, 722, "1 k\u03a9", 14, anchor="middle"))
    parts.append(text(110, 745, "VCC", 15, anchor="end", weight="600"))
    parts.append(text(324, 745, "OE", 15, weight="600"))
    parts += [dot(240, 740, OFF, 5), wire("M240 740 V772 M240 806 V826", OFF, 3)]
    parts += [dot(240, 772, OFF, 5), dot(240, 806, OFF, 5)]
    parts.append(f'<path d="M240 772 V806" stroke="{OFF}" stroke-width="5"/>')
    parts.append(text(228, 786, "opens when", 14, anchor="end"))
    parts.append(text(228, 803, "pressed", 14, anchor="end"))
    parts.append(text(240, 846, "GND", 15, anchor="middle", weight="600"))
    parts.append(wire(f"M{EDGE:g} {BOARD_PINS['OE']:g} H392", OFF, 4, "8 5"))
    return parts


def picture() -> str:
    """Return the whole picture as SVG."""
    parts = [*computer(), *supply(), *board(), *bus(), *servos(), *stop_button()]
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1140 890" role="img" '
        'aria-labelledby="title" font-family="Helvetica, Arial, sans-serif">'
        '<title id="title">A Raspberry Pi, a PCA9685 board, the servos and their supply</title>'
    )
    white = '<rect width="1140" height="890" fill="white"/>'
    return "\n".join([head, white, *parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
