"""Questions on servers that no rule was made for, half of them held out: see `questions.py` and `bench/e2e_unseen.py`."""
