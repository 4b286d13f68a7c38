"""Every dialect that is known, as rows: `marked` (announced by a marker), `thinking` (reasoning tags), `registries`.

Adding a model family with a known notation is one row and one recorded reply in `tests/cases/`.
"""
