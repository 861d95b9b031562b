#!/usr/bin/env python3
"""Draws a session of a terminal: runs commands on one, and writes what it shows as SVG.

usage: ci/terminal_svg.py FILE.svg [--program PROGRAM] [COMMAND...]

Each COMMAND is a line of shell, run on a terminal of 80 columns in a folder with a copy of samples/, in which `tensorop` is
PROGRAM (default: target/debug/tensorop). Without COMMAND those that FILE.svg shows are run again. tests/cli/readme.rs runs
them, too, and compares the text. Needs Python alone.
"""
import argparse
import fcntl
import html
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLUMNS, ROWS = 80, 200
# of a character, in pixels; the width that monospaced fonts of 14 pixels have
WIDTH, HEIGHT, FONT, MARGIN, GAP = 8.43, 19, 14, 16, 9
FOREGROUND, BACKGROUND, PROMPT = "#d6dae0", "#1b1f27", "#7f8896"
# the eight colours of a terminal, and the eight bright ones
COLOURS = ["#3b4252", "#f2777a", "#99cc99", "#f0c674", "#6ab0f3", "#c594c5", "#62c4c4", "#d6dae0",
           "#7f8896", "#ff9da4", "#b5e8b5", "#ffe0a0", "#9ccbff", "#e0b8e0", "#90e0e0", "#ffffff"]


def run(command, folder, program):
    """What a terminal gets from a command."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    names = os.path.join(folder, ".bin")
    os.makedirs(names, exist_ok=True)
    link = os.path.join(names, "tensorop")
    if not os.path.lexists(link):
        os.symlink(program, link)
    kept = {k: v for k, v in os.environ.items() if k != "NO_COLOR" and not k.startswith("TENSOROP_")}
    environment = dict(kept, PATH=names + os.pathsep + kept["PATH"], TERM="xterm-256color", LC_ALL="C.UTF-8", HOME=folder)
    process = subprocess.Popen(["sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=child, stderr=child, start_new_session=True)
    os.close(child)
    printed = b""
    while True:
        try:
            some = os.read(parent, 65536)
        except OSError:  # the other end is closed
            break
        if not some:
            break
        printed += some
    process.wait()
    os.close(parent)
    return printed.decode("utf-8").replace("\r\n", "\n")


def colour(codes):
    """The colour that 38 or 48 begins, and the codes after it."""
    if codes[:1] == [2] and len(codes) >= 4:
        return "#%02x%02x%02x" % tuple(codes[1:4]), codes[4:]
    if codes[:1] == [5] and len(codes) >= 2 and codes[1] < 16:
        return COLOURS[codes[1]], codes[2:]
    raise SystemExit("error: a colour that is not drawn: %s" % codes)


def spans(line, style):
    """The pieces of a line that look the same, and the style that the next line begins with."""
    pieces = []
    for text, codes in re.findall(r"([^\x1b]*)(?:\x1b\[([0-9;]*)m)?", line):
        if text:
            pieces.append((text, dict(style)))
        left = [int(code or 0) for code in codes.split(";")] if codes or line.endswith("\x1b[m") else []
        while left:
            code, left = left[0], left[1:]
            if code == 0:
                style = {}
            elif code == 1:
                style = dict(style, bold=True)
            elif code == 2:
                style = dict(style, fill=PROMPT)
            elif code == 22:
                style = {key: value for key, value in style.items() if key != "bold"}
            elif 30 <= code <= 37 or 90 <= code <= 97:
                style = dict(style, fill=COLOURS[code - 30 if code < 90 else code - 82])
            elif code in (38, 48):
                found, left = colour(left)
                style = dict(style, **{"fill" if code == 38 else "behind": found})
            elif code in (39, 49):
                style = {key: value for key, value in style.items() if key != ("fill" if code == 39 else "behind")}
            else:
                raise SystemExit("error: a terminal's code that is not drawn: %d" % code)
    return pieces, style


def draw(lines):
    """The picture. Each line of text is an element of its own, which is what the test reads."""
    rows, style, top = [], {}, MARGIN
    for line in lines:
        y = top
        top += HEIGHT
        if line.startswith("$ "):
            # room above each command but the first sets its output apart; it is no line, so no test reads it as output
            if rows:
                y += GAP
                top += GAP
            pieces = [("$ ", {"fill": PROMPT}), (line[2:], {"bold": True})]
        else:
            pieces, style = spans(line, style)
        behind, text, column = "", "", 0
        for piece, look in pieces:
            if "behind" in look:
                behind += '<rect x="%.2f" y="%d" width="%.2f" height="%d" fill="%s"/>\n' % (
                    MARGIN + column * WIDTH, y, len(piece) * WIDTH, HEIGHT, look["behind"])
            attributes = (' fill="%s"' % look["fill"] if "fill" in look else "") + (
                ' font-weight="bold"' if look.get("bold") else "")
            words = html.escape(piece, quote=False)
            text += "<tspan%s>%s</tspan>" % (attributes, words) if attributes else words
            column += len(piece)
        # the length keeps columns under each other, whatever font there is
        length = ' textLength="%.2f"' % (column * WIDTH) if column else ""
        # on each element, since browsers do not let it inherit: without it they make one space of many
        rows.append('%s<text xml:space="preserve" x="%d" y="%d"%s>%s</text>' % (behind, MARGIN, y + FONT, length, text))
    width = MARGIN * 2 + WIDTH * max(COLUMNS, *(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines))
    height = top + MARGIN
    return """<svg xmlns="http://www.w3.org/2000/svg" width="%(w)d" height="%(h)d" viewBox="0 0 %(w)d %(h)d">
<!-- drawn by ci/terminal_svg.py, which says how to draw it again -->
<rect width="100%%" height="100%%" rx="8" fill="%(background)s"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="%(font)dpx"
 fill="%(foreground)s">
%(rows)s
</g>
</svg>
""" % {"w": width, "h": height, "rows": "\n".join(rows), "font": FONT, "background": BACKGROUND, "foreground": FOREGROUND}


def commands_of(path):
    """The commands that a picture shows."""
    with open(path, encoding="utf-8") as file:
        found = re.findall(r"<text [^>]*>(.*)</text>", file.read())
    lines = [html.unescape(re.sub(r"<[^>]*>", "", line)) for line in found]
    return [line[2:] for line in lines if line.startswith("$ ")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE.svg")
    parser.add_argument("--program", default=os.path.join(ROOT, "target/debug/tensorop"))
    parser.add_argument("commands", metavar="COMMAND", nargs="*")
    # commands may follow an option that follows FILE.svg
    args = parser.parse_intermixed_args()
    program = os.path.abspath(args.program)
    if not os.access(program, os.X_OK):
        sys.exit("error: %s: no program, expected what `cargo build` makes" % program)
    commands = args.commands or commands_of(args.file)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(ROOT, "samples"), os.path.join(folder, "samples"))
        for command in commands:
            lines.append("$ " + command)
            lines += run(command, folder, program).rstrip("\n").split("\n") if command else []
    # a command that prints nothing leaves no empty line
    lines = [line for n, line in enumerate(lines) if line or not lines[n - 1].startswith("$ ")]
    with open(args.file, "w", encoding="utf-8") as file:
        file.write(draw(lines))


if __name__ == "__main__":
    main()
