"""Files of the data folder: changed as a whole, watched, and what is said when one cannot be used."""
