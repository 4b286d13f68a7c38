"""What several hubs of one installation hold in common: the data folder, signals, and who else is there.

On one machine the data folder is common as it is. On several, a database is the truth of the files that `mirror` names,
and each folder is a copy of it: whoever reads and writes whole files through `stores.files.atomic` notices nothing.
"""
