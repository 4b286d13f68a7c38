"""Every dialect that is known, as rows: `marked` (announced by a marker) and `thinking` (reasoning tags).

Adding a model family with a known notation is one row and one recorded reply in `tests/cases/`.
"""
